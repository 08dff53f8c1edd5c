//! One event as a line of JSON, and back. A line holds the digest of the line before it.

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use weft_proto::weft::AuditEvent;
use weft_proto::weft::audit_event::Outcome;
use weft_proto::wkt::Timestamp;

/// What the first line of all follows.
pub(super) const BEGIN: [u8; 32] = [0; 32];
/// Longest text of a field, in characters; what is beyond is cut off.
const TEXT_CHARS_MAX: usize = 512;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    number: u64,
    time: Timestamp,
    action: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    owner: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    target: String,
    outcome: Word,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    reason: String,
    #[serde(default, skip_serializing_if = "is_one")]
    count: u32,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    trace: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    peer: String,
    /// SHA-256 of the line before, hexadecimal.
    follows: String,
}

#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Word {
    Unknown,
    Ok,
    Denied,
    Failed,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde wants a reference")]
fn is_one(count: &u32) -> bool {
    *count <= 1
}

/// The line of an event, without its end.
pub(super) fn write(event: AuditEvent, number: u64, time: Timestamp, follows: &[u8; 32]) -> String {
    let outcome = match event.outcome() {
        Outcome::Unspecified => Word::Unknown,
        Outcome::Ok => Word::Ok,
        Outcome::Denied => Word::Denied,
        Outcome::Failed => Word::Failed,
    };
    let line = Line {
        number,
        time,
        action: bounded(event.action),
        owner: bounded(event.owner),
        target: bounded(event.target),
        outcome,
        reason: bounded(event.reason),
        count: event.count,
        trace: bounded(event.trace_id),
        peer: bounded(event.peer),
        follows: hex(follows),
    };
    serde_json::to_string(&line).expect("texts and numbers have a JSON form")
}

/// The event of a line, and the digest of what it follows; nothing when it is no line of the record.
pub(super) fn read(line: &[u8]) -> Option<(AuditEvent, String)> {
    let line: Line = serde_json::from_slice(line).ok()?;
    let outcome = match line.outcome {
        Word::Unknown => Outcome::Unspecified,
        Word::Ok => Outcome::Ok,
        Word::Denied => Outcome::Denied,
        Word::Failed => Outcome::Failed,
    };
    let event = AuditEvent {
        number: line.number,
        time: Some(line.time),
        action: line.action,
        owner: line.owner,
        target: line.target,
        outcome: outcome.into(),
        reason: line.reason,
        trace_id: line.trace,
        peer: line.peer,
        count: line.count,
    };
    Some((event, line.follows))
}

/// What the next line says that it follows.
pub(super) fn digest(line: &[u8]) -> [u8; 32] {
    Sha256::digest(line).into()
}

pub(super) fn hex(digest: &[u8; 32]) -> String {
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn bounded(text: String) -> String {
    match text.char_indices().nth(TEXT_CHARS_MAX) {
        Some((end, _)) => text[..end].to_owned(),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_is_one_line_whatever_is_in_it() {
        let event = AuditEvent {
            action: "authenticate".into(),
            target: "a\nb\"\u{0}".into(),
            outcome: Outcome::Denied.into(),
            reason: "x".repeat(600),
            count: 7,
            ..AuditEvent::default()
        };
        let line = write(event.clone(), 3, Timestamp::from_millis(1_000), &BEGIN);
        assert!(!line.contains('\n'));
        let (back, follows) = read(line.as_bytes()).unwrap();
        assert_eq!((back.number, back.target.as_str(), back.count), (3, event.target.as_str(), 7));
        assert_eq!((back.reason.len(), follows.as_str()), (512, "0".repeat(64).as_str()));
        assert!(read(b"{}").is_none() && read(&line.as_bytes()[1..]).is_none());
    }
}
