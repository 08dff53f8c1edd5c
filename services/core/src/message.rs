//! What a message must be before it is written down.
//!
//! A refused request leaves no trace: these rules run before anything is stored. Every fault names the field by its
//! JSON path.

use weft_proto::a2a::part::Content;
use weft_proto::a2a::{Message, Part, Role, SendMessageRequest};

use crate::media;
use crate::{Fault, Kind, Violation};

/// Longest id, in characters. Ids are opaque: any text without control characters that is not blank.
pub const ID_CHARS_MAX: usize = 256;
/// Most parts of one message.
pub const PARTS_MAX: usize = 1_024;
/// Most entries of any other list in a request.
pub const LIST_MAX: usize = 256;
/// Most violations that one refusal lists.
const VIOLATIONS_MAX: usize = 16;

/// Admits a request to send a message and hands out its message.
///
/// # Errors
/// `Invalid` with every field that breaks a rule.
pub fn admit(request: &SendMessageRequest) -> Result<&Message, Fault> {
    let Some(message) = &request.message else {
        return Err(Fault::invalid("message", "is required"));
    };
    let mut found = Found::default();
    check_message(message, &mut found);
    if let Some(configuration) = &request.configuration {
        found.history_length("configuration.historyLength", configuration.history_length);
        found.list("configuration.acceptedOutputModes", configuration.accepted_output_modes.len(), LIST_MAX);
    }
    found.into_result()?;
    Ok(message)
}

/// Checks an id that a request names, for example a task's.
///
/// # Errors
/// `Invalid` on `field` when it is missing, blank, too long or holds control characters.
pub fn required_id(field: &str, id: &str) -> Result<(), Fault> {
    let mut found = Found::default();
    found.required_id(field, id);
    found.into_result()
}

/// Checks a `historyLength`.
///
/// # Errors
/// `Invalid` on `field` when it is negative.
pub fn history_length(field: &str, length: Option<i32>) -> Result<(), Fault> {
    let mut found = Found::default();
    found.history_length(field, length);
    found.into_result()
}

/// Checks an `Idempotency-Key`.
///
/// # Errors
/// `Invalid` unless it is 1 to 256 visible ASCII characters.
pub fn idempotency_key(key: &str) -> Result<(), Fault> {
    let fits = (1..=ID_CHARS_MAX).contains(&key.len()) && key.bytes().all(|b| b.is_ascii_graphic());
    if fits {
        Ok(())
    } else {
        Err(Fault::invalid("Idempotency-Key", "must be 1 to 256 visible ASCII characters"))
    }
}

/// Checks the media types of a message against what a capability takes, and what the caller accepts against what it
/// gives. An empty list stands for [`media::DEFAULT`].
///
/// Only a declared type is judged. Text that is declared as any `text/…` goes where plain text goes, and data without a
/// type of its own goes everywhere: it addresses the mesh.
///
/// # Errors
/// `ContentTypeNotSupported`, naming the types that would do.
pub fn check_modes(request: &SendMessageRequest, input: &[String], output: &[String]) -> Result<(), Fault> {
    let parts = request.message.as_ref().map(|m| m.parts.as_slice()).unwrap_or_default();
    for (index, part) in parts.iter().enumerate() {
        if !part.media_type.is_empty() && !takes(input, part) {
            let description = format!("media type {} is not taken here", clipped(&part.media_type));
            return Err(unsupported(format!("message.parts[{index}].mediaType"), description, input));
        }
    }
    let accepted =
        request.configuration.as_ref().map(|c| c.accepted_output_modes.as_slice()).unwrap_or_default();
    let meets = if output.is_empty() {
        media::meet(accepted, &media::DEFAULT)
    } else {
        media::meet(accepted, output)
    };
    if !accepted.is_empty() && !meets {
        let field = "configuration.acceptedOutputModes".to_owned();
        return Err(unsupported(field, "none of them is given here".to_owned(), output));
    }
    Ok(())
}

fn check_message(message: &Message, found: &mut Found) {
    found.required_id("message.messageId", &message.message_id);
    found.optional_id("message.contextId", &message.context_id);
    found.optional_id("message.taskId", &message.task_id);
    match Role::try_from(message.role) {
        Ok(Role::User) => {}
        Ok(Role::Unspecified) => found.add("message.role", "is required: ROLE_USER"),
        _ => found.add("message.role", "must be ROLE_USER: a client speaks for the user"),
    }
    if message.parts.is_empty() {
        found.add("message.parts", "must hold at least one part");
    }
    found.list("message.parts", message.parts.len(), PARTS_MAX);
    for (index, part) in message.parts.iter().enumerate().take(PARTS_MAX) {
        if part.content.is_none() {
            found.add(format!("message.parts[{index}]"), "must hold one of text, raw, url or data");
        }
    }
    found.list("message.extensions", message.extensions.len(), LIST_MAX);
    found.list("message.referenceTaskIds", message.reference_task_ids.len(), LIST_MAX);
    for (index, id) in message.reference_task_ids.iter().enumerate().take(LIST_MAX) {
        found.required_id(&format!("message.referenceTaskIds[{index}]"), id);
    }
}

fn takes(input: &[String], part: &Part) -> bool {
    let given = part.media_type.as_str();
    let plain = matches!(part.content, Some(Content::Text(_))) && media::matches("text/*", given);
    let one =
        |pattern: &str| media::matches(pattern, given) || (plain && media::matches("text/plain", pattern));
    if input.is_empty() {
        media::DEFAULT.into_iter().any(one)
    } else {
        input.iter().any(|pattern| one(pattern))
    }
}

fn unsupported(field: String, description: String, modes: &[String]) -> Fault {
    let supported = if modes.is_empty() { media::DEFAULT.join(", ") } else { modes.join(", ") };
    let message = format!("{field}: {description}; supported: {supported}");
    let mut fault = Fault::new(Kind::ContentTypeNotSupported, message).with("supported", supported);
    fault.violations.push(Violation { field, description });
    fault
}

fn clipped(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(80).collect()
}

/// Violations found so far, bounded.
#[derive(Default)]
struct Found(Vec<Violation>);

impl Found {
    fn add(&mut self, field: impl Into<String>, description: impl Into<String>) {
        if self.0.len() < VIOLATIONS_MAX {
            self.0.push(Violation { field: field.into(), description: description.into() });
        }
    }

    fn required_id(&mut self, field: &str, id: &str) {
        if id.is_empty() {
            self.add(field, "is required");
        } else {
            self.optional_id(field, id);
        }
    }

    fn optional_id(&mut self, field: &str, id: &str) {
        // A character has at most four bytes: nearly every id is settled without counting.
        if id.len() > ID_CHARS_MAX && id.chars().count() > ID_CHARS_MAX {
            self.add(field, format!("must be at most {ID_CHARS_MAX} characters"));
        } else if id.chars().any(char::is_control) {
            self.add(field, "must not hold control characters");
        } else if !id.is_empty() && id.trim().is_empty() {
            self.add(field, "must not be blank");
        }
    }

    fn history_length(&mut self, field: &str, length: Option<i32>) {
        if length.is_some_and(|n| n < 0) {
            self.add(field, "must be 0 or more");
        }
    }

    fn list(&mut self, field: &str, len: usize, max: usize) {
        if len > max {
            self.add(field, format!("must hold at most {max} entries"));
        }
    }

    fn into_result(self) -> Result<(), Fault> {
        if self.0.is_empty() { Ok(()) } else { Err(Fault::violated(self.0)) }
    }
}

#[cfg(test)]
mod tests;
