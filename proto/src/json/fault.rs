//! What is wrong with a JSON text, and where.

use std::fmt;

use serde::{Serialize, de::DeserializeOwned, de::IgnoredAny};

use super::{MAX_DOCUMENT_DEPTH, number, token};

/// Longest path and longest reason, in bytes; both may quote the input.
const TEXT_MAX: usize = 240;

/// A JSON text that is not the message it should be, or a message that JSON cannot say.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}{}{reason}", path, if path.is_empty() { "" } else { ": " })]
pub struct JsonFault {
    /// Where, for example `message.parts[0].data.n`; empty: the whole document. At most 240 bytes.
    pub path: String,
    /// What, for people. At most 240 bytes.
    pub reason: String,
    /// True when the text is not JSON at all, so that nothing can be said about its fields.
    pub syntax: bool,
}

impl JsonFault {
    pub(crate) fn new(path: String, reason: impl Into<String>) -> JsonFault {
        JsonFault { path: clipped(path), reason: clipped(reason.into()), syntax: false }
    }
}

/// Why `json` does not read as a `T`.
#[cold]
pub(super) fn of<T: DeserializeOwned>(json: &str, long_number: bool) -> JsonFault {
    if let Err(error) = serde_json::from_str::<IgnoredAny>(json) {
        return syntax(&error);
    }
    if long_number && let Some(fault) = inexact_number(json.as_bytes()) {
        return fault;
    }
    let mut reader = serde_json::Deserializer::from_str(json);
    match serde_path_to_error::deserialize::<_, T>(&mut reader) {
        Err(error) => located(&error),
        Ok(_) => JsonFault::new(String::new(), "cannot be read"),
    }
}

/// Text that is not JSON.
#[cold]
pub(super) fn syntax(error: &dyn fmt::Display) -> JsonFault {
    JsonFault { path: String::new(), reason: clipped(error.to_string()), syntax: true }
}

/// Why `message` cannot be written.
#[cold]
pub(super) fn of_writing<T: Serialize>(message: &T) -> JsonFault {
    let mut sink = serde_json::Serializer::new(std::io::sink());
    let mut track = serde_path_to_error::Track::new();
    match message.serialize(serde_path_to_error::Serializer::new(&mut sink, &mut track)) {
        Err(error) => located(&serde_path_to_error::Error::new(track.path(), error)),
        Ok(()) => JsonFault::new(String::new(), "cannot be written"),
    }
}

/// The first number in well-formed `json` whose digits a double would change.
#[cold]
pub(super) fn inexact_number(json: &[u8]) -> Option<JsonFault> {
    let path = token::find(json, |token| match token {
        token::Token::Number(digits) => !number::is_exact(digits),
        token::Token::Open { .. } => false,
    })?;
    Some(JsonFault::new(path, number::INEXACT))
}

/// The first object or array of `json` that lies too deep.
#[cold]
pub(super) fn too_deep(json: &[u8]) -> JsonFault {
    let path = token::find(
        json,
        |token| matches!(token, token::Token::Open { depth } if depth > MAX_DOCUMENT_DEPTH),
    );
    JsonFault::new(path.unwrap_or_default(), format!("is nested more than {MAX_DOCUMENT_DEPTH} deep"))
}

fn located(error: &serde_path_to_error::Error<serde_json::Error>) -> JsonFault {
    let path = match error.path().to_string() {
        root if root == "." => String::new(),
        path => path,
    };
    let reason = error.inner().to_string();
    // The path says where; line and column would say it again.
    let reason = reason.rsplit_once(" at line ").map_or(reason.as_str(), |(reason, _)| reason);
    JsonFault::new(path, reason)
}

fn clipped(mut text: String) -> String {
    if text.len() > TEXT_MAX {
        let ellipsis = '…';
        text.truncate(text.floor_char_boundary(TEXT_MAX - ellipsis.len_utf8()));
        text.push(ellipsis);
    }
    text
}
