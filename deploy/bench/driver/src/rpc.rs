//! The three calls of the load, and what makes an answer to each of them right.

use anyhow::{Context, Result, bail};
use memchr::memmem;
use serde_json::{Value, json};

use crate::http::{Connection, Endpoint};

const COMPLETED: &[u8] = b"TASK_STATE_COMPLETED";

/// A call that the load repeats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Call {
    /// Blocking `SendMessage` of a text that the agent echoes.
    Send,
    /// `GetTask` of one finished task.
    Get,
    /// `SendStreamingMessage`, read to the end of its stream.
    Stream,
}

impl Call {
    /// All of them, in the order of the table.
    pub(crate) const ALL: [Self; 3] = [Self::Send, Self::Get, Self::Stream];

    /// The JSON-RPC method.
    pub(crate) fn method(self) -> &'static str {
        match self {
            Self::Send => "SendMessage",
            Self::Get => "GetTask",
            Self::Stream => "SendStreamingMessage",
        }
    }
}

/// The message with the word `tag`, which the answer has to repeat in an artifact.
pub(crate) fn send(endpoint: &Endpoint, call: Call, tag: &str) -> String {
    let accept = if call == Call::Stream { "text/event-stream" } else { "application/json" };
    let body = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"{}","params":{{"message":{{"messageId":"{tag}","role":"ROLE_USER","parts":[{{"text":"echo {tag}"}}],"metadata":{{"skillId":"scenario.play"}}}}}}}}"#,
        call.method()
    );
    endpoint.post(accept, &body)
}

/// The question for one task.
pub(crate) fn get(endpoint: &Endpoint, task_id: &str) -> String {
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "GetTask", "params": {"id": task_id}});
    endpoint.post("application/json", &body.to_string())
}

/// Sends one message, reads the answer as JSON with all its parts, and returns the id of the finished task.
pub(crate) async fn seed(connection: &mut Connection, endpoint: &Endpoint, tag: &str) -> Result<String> {
    let body = connection.call(&send(endpoint, Call::Send, tag)).await?;
    let answer: Value = serde_json::from_slice(&body)?;
    let task = &answer["result"]["task"];
    let completed = task["status"]["state"] == "TASK_STATE_COMPLETED";
    let echoed = task["artifacts"].as_array().is_some_and(|artifacts| {
        artifacts
            .iter()
            .flat_map(|artifact| artifact["parts"].as_array().into_iter().flatten())
            .any(|part| part["text"].as_str().is_some_and(|text| text.contains(tag)))
    });
    if !completed || !echoed {
        bail!("the message was not echoed by a completed task: {answer}");
    }
    Ok(task["id"].as_str().context("the task has no id")?.to_owned())
}

/// Whether a unary answer is the right one: no error, a completed task, and `tag` (the echoed word, or the task's id).
///
/// The measured answers are searched, not parsed: [`seed`] has parsed one of the same shape, and the driver must stay cheap.
pub(crate) fn check(body: &[u8], tag: &str) -> Result<()> {
    let right = memmem::find(body, COMPLETED).is_some()
        && memmem::find(body, tag.as_bytes()).is_some()
        && memmem::find(body, br#""result""#).is_some();
    if right { Ok(()) } else { bail!("wrong answer: {}", excerpt(body)) }
}

/// What was seen of one stream.
#[derive(Default)]
pub(crate) struct Seen {
    events: usize,
    echoed: bool,
    completed: bool,
}

// === impl Seen ===

impl Seen {
    /// Takes one event in; the first one is told apart by the return value.
    pub(crate) fn event(&mut self, event: &[u8], tag: &str) -> bool {
        self.events += 1;
        self.echoed |=
            memmem::find(event, b"rtifact").is_some() && memmem::find(event, tag.as_bytes()).is_some();
        self.completed = memmem::find(event, COMPLETED).is_some();
        self.events == 1
    }

    /// Whether the echo came and the last event completed the task.
    pub(crate) fn check(&self) -> Result<()> {
        if self.echoed && self.completed {
            return Ok(());
        }
        bail!(
            "wrong stream: {} events, echo seen: {}, ends completed: {}",
            self.events,
            self.echoed,
            self.completed
        )
    }
}

fn excerpt(body: &[u8]) -> String {
    String::from_utf8_lossy(&body[..body.len().min(400)]).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_an_unfinished_task_and_a_foreign_echo_are_wrong_answers() {
        let right =
            br#"{"result":{"task":{"status":{"state":"TASK_STATE_COMPLETED"},"artifacts":["echo t1"]}}}"#;
        assert!(check(right, "t1").is_ok());
        assert!(check(right, "t2").is_err());
        assert!(check(br#"{"error":{"message":"t1"}}"#, "t1").is_err());
        assert!(
            check(br#"{"result":{"task":{"status":{"state":"TASK_STATE_WORKING"},"x":"t1"}}}"#, "t1")
                .is_err()
        );
    }

    #[test]
    fn a_stream_that_does_not_end_completed_is_wrong() {
        let mut seen = Seen::default();
        assert!(seen.event(br#"data: {"artifactUpdate":"t1"}"#, "t1"));
        assert!(seen.check().is_err());
        assert!(!seen.event(br#"data: {"state":"TASK_STATE_COMPLETED"}"#, "t1"));
        assert!(seen.check().is_ok());
        seen.event(br#"data: {"state":"TASK_STATE_WORKING"}"#, "t1");
        assert!(seen.check().is_err());
    }
}
