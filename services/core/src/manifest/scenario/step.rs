//! `[[scenario.rule.step]]`: one of `status`, `artifact`, `message`, `answer`, `fail`, `drop`, or nothing but a delay.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use weft_proto::a2a::part::Content;
use weft_proto::{a2a, wkt};

use super::{Action, Artifact, Parts, Step, ends};
use crate::manifest::reader::Reader;
use crate::manifest::value;

/// Longest text of a step, in characters.
const TEXT_CHARS_MAX: usize = 65_536;
/// Most parts of one artifact or message.
const PARTS_MAX: usize = 64;
/// The kinds of step.
const ACTIONS: [&str; 6] = ["status", "artifact", "message", "answer", "fail", "drop"];

/// Reads one step; nothing when it is wrong.
pub(super) fn read(section: Reader<'_>) -> Option<Step> {
    let named: Vec<_> = ACTIONS.into_iter().filter(|key| section.has(key)).collect();
    if let [_, second, ..] = named[..] {
        section.wrong(
            second,
            "a second action",
            "one step does one of status, artifact, message, answer, fail, drop: split it",
        );
    }
    let action = match named.first().copied() {
        None => {
            if !section.has("delay_ms") {
                section.wrong(
                    "delay_ms",
                    "",
                    "a step needs status, artifact, message, answer, fail, drop or a delay_ms",
                );
            }
            Some(Action::Wait)
        }
        Some("status") => status(&section),
        Some("artifact") => section.table("artifact").map(|inner| Action::Artifact(artifact(inner))),
        Some("message") => section.table("message").map(|inner| Action::Message(message(inner))),
        Some("answer") => {
            section.value("answer").and_then(|v| json(&section, "answer", v)).map(Action::Answer)
        }
        Some("fail") => section.table("fail").map(fail),
        Some(_) => {
            if !section.flag("drop") {
                section.wrong("drop", "not true", "must be true, or be left out");
            }
            Some(Action::Drop)
        }
    };
    // A second action was reported above: its keys need not be judged.
    for key in named.iter().skip(1) {
        section.value(key);
    }
    let delay_ms = section.number("delay_ms", 0, 0..=600_000);
    let repeat = u32::try_from(section.number("repeat", 1, 1..=10_000)).unwrap_or(1);
    let step = action.map(|action| Step { delay_ms, repeat, action });
    if repeat > 1 && step.as_ref().is_some_and(ends) {
        section.wrong("repeat", repeat, "this step ends the play: it cannot be repeated");
    }
    section.finish();
    step
}

/// The JSON form of a TOML value.
pub(super) fn json(section: &Reader<'_>, key: &str, found: &toml::Value) -> Option<wkt::Value> {
    value::json(found).map_err(|remedy| section.wrong(key, found, remedy)).ok()
}

fn status(section: &Reader<'_>) -> Option<Action> {
    use a2a::TaskState as State;
    let state = match section.text("status", 32).as_str() {
        "working" => State::Working,
        "completed" => State::Completed,
        "failed" => State::Failed,
        "rejected" => State::Rejected,
        "canceled" => State::Canceled,
        "input_required" => State::InputRequired,
        "auth_required" => State::AuthRequired,
        other => {
            let remedy =
                "must be working, completed, failed, rejected, canceled, input_required or auth_required";
            section.wrong("status", format!("\"{other}\""), remedy);
            return None;
        }
    };
    Some(Action::Status { state, parts: contents(section) })
}

fn message(section: Reader<'_>) -> Vec<a2a::Part> {
    let listed = contents(&section);
    if listed.is_empty() {
        section.wrong("parts", "", "give the message a `text` or `parts`");
    }
    section.finish();
    listed
}

fn artifact(section: Reader<'_>) -> Artifact {
    let (echo, chunked) = (section.flag("echo"), section.flag("chunked"));
    let (append, more) = (section.flag("append"), section.flag("more"));
    let listed = contents(&section);
    if chunked && (append || more) {
        section.wrong("chunked", "true", "its repetitions are the chunks: leave out `append` and `more`");
    }
    if echo && !listed.is_empty() {
        section.wrong("echo", "true", "an artifact echoes the message or has parts of its own, not both");
    }
    if !echo && listed.is_empty() {
        section.wrong("parts", "", "give the artifact a `text`, `parts`, or echo = true");
    }
    let artifact = Artifact {
        id: Some(section.text("id", 128)).filter(|id| !id.is_empty()),
        name: section.text("name", 128),
        description: section.text("description", 500),
        parts: if echo { Parts::Echo } else { Parts::Listed(listed) },
        chunked,
        append,
        more,
    };
    section.finish();
    artifact
}

fn fail(section: Reader<'_>) -> Action {
    let code = section.required("code", 64, "a stable reason, for example \"SOURCE_UNAVAILABLE\"");
    let shape = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
    if !code.chars().all(shape) {
        section.wrong("code", format!("\"{code}\""), "must be upper case letters, digits and `_`");
    }
    let error =
        section.prose("text", TEXT_CHARS_MAX).unwrap_or_else(|| "this failure was asked for".to_owned());
    section.finish();
    Action::Fail { code, error }
}

/// `text` as the first part, then `parts`.
fn contents(section: &Reader<'_>) -> Vec<a2a::Part> {
    let mut parts: Vec<_> = section.tables("parts", PARTS_MAX).into_iter().filter_map(listed).collect();
    if let Some(text) = section.prose("text", TEXT_CHARS_MAX) {
        parts.insert(0, part(Content::Text(text)));
    }
    parts
}

/// One part: exactly one of `text`, `data`, `raw` (base64) and `url`.
fn listed(section: Reader<'_>) -> Option<a2a::Part> {
    let mut contents = Vec::new();
    contents.extend(section.prose("text", TEXT_CHARS_MAX).map(Content::Text));
    contents.extend(section.value("data").and_then(|v| json(&section, "data", v)).map(Content::Data));
    if let Some(text) = section.prose("raw", 4 * TEXT_CHARS_MAX) {
        match BASE64_STANDARD.decode(&text) {
            Ok(bytes) => contents.push(Content::Raw(bytes)),
            Err(_) => section.wrong("raw", &text, "must be base64 with padding"),
        }
    }
    let url = section.text("url", 2_048);
    if !url.is_empty() {
        contents.push(Content::Url(url));
    }
    if contents.len() != 1 {
        section.wrong(
            "text",
            format!("one of {} contents", contents.len()),
            "a part has exactly one of text, data, raw, url",
        );
    }
    let (filename, media_type) = (section.text("filename", 200), section.text("media_type", 100));
    section.finish();
    contents.pop().map(|content| a2a::Part {
        content: Some(content),
        filename,
        media_type,
        ..a2a::Part::default()
    })
}

fn part(content: Content) -> a2a::Part {
    a2a::Part { content: Some(content), ..a2a::Part::default() }
}
