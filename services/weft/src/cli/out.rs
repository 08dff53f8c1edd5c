//! What the commands print: one JSON document with `--json`, short text for people otherwise.

use std::io::{self, Write};

use serde::Serialize;
use weft_proto::a2a::{Artifact, Message, Part, Task, TaskState, part::Content, stream_response::Payload};
use weft_proto::json;

/// Where output goes and in which form.
pub(super) struct Out {
    json: bool,
}

impl Out {
    /// Output for people, or JSON.
    pub(super) fn new(json: bool) -> Out {
        Out { json }
    }

    /// True with `--json`.
    pub(super) fn is_json(&self) -> bool {
        self.json
    }

    /// One line on standard output. A reader that went away (`| head`) is no failure.
    pub(super) fn line(&self, text: &str) {
        let _ = writeln!(io::stdout().lock(), "{text}");
    }

    /// One ProtoJSON document on a line.
    pub(super) fn message<T: Serialize>(&self, message: &T) {
        match json::encode(message) {
            Ok(bytes) => self.line(&String::from_utf8_lossy(&bytes)),
            Err(fault) => self.note(&format!("cannot print the answer: {fault}")),
        }
    }

    /// One line on standard error.
    pub(super) fn note(&self, text: &str) {
        let _ = writeln!(io::stderr().lock(), "{text}");
    }

    /// A task, whole.
    pub(super) fn task(&self, task: &Task) {
        if self.json {
            return self.message(task);
        }
        self.line(&format!("task {}  {}", task.id, state_word(task.status.as_ref().map_or(0, |s| s.state))));
        if let Some(message) = task.status.as_ref().and_then(|status| status.message.as_ref()) {
            self.line(&indent(&message_text(message)));
        }
        for artifact in &task.artifacts {
            self.artifact(artifact);
        }
    }

    /// One event of a stream.
    pub(super) fn event(&self, event: &weft_proto::a2a::StreamResponse) {
        if self.json {
            return self.message(event);
        }
        match &event.payload {
            Some(Payload::Task(task)) => self.task(task),
            Some(Payload::StatusUpdate(update)) => {
                let status = update.status.clone().unwrap_or_default();
                let text = status.message.as_ref().map(message_text).unwrap_or_default();
                self.line(format!("{}  {}", state_word(status.state), text).trim_end());
            }
            Some(Payload::ArtifactUpdate(update)) => {
                if let Some(artifact) = &update.artifact {
                    self.artifact(artifact);
                }
            }
            Some(Payload::Message(message)) => self.line(&message_text(message)),
            None => {}
        }
    }

    fn artifact(&self, artifact: &Artifact) {
        let name = if artifact.name.is_empty() { &artifact.artifact_id } else { &artifact.name };
        self.line(&format!("artifact {name}"));
        for part in &artifact.parts {
            self.line(&indent(&part_text(part)));
        }
    }
}

/// `TASK_STATE_INPUT_REQUIRED` → `input required`.
pub(super) fn state_word(state: i32) -> String {
    let name = TaskState::try_from(state).unwrap_or(TaskState::Unspecified).as_str_name();
    name.trim_start_matches("TASK_STATE_").to_lowercase().replace('_', " ")
}

fn message_text(message: &Message) -> String {
    message.parts.iter().map(part_text).collect::<Vec<_>>().join("\n")
}

fn part_text(part: &Part) -> String {
    match &part.content {
        Some(Content::Text(text)) => text.clone(),
        Some(Content::Data(value)) => {
            serde_json::to_string_pretty(value).unwrap_or_else(|_| "(data that is not JSON)".to_owned())
        }
        Some(Content::Url(url)) => url.clone(),
        Some(Content::Raw(bytes)) => format!("{} ({} bytes)", part.filename, bytes.len()),
        None => String::new(),
    }
}

fn indent(text: &str) -> String {
    text.lines().map(|line| format!("  {line}")).collect::<Vec<_>>().join("\n")
}
