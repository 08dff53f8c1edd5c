//! One play of a rule: its steps unrolled into beats, each a delay and something said.

use std::sync::Arc;

use weft_core::manifest::Rule;
use weft_core::manifest::scenario::{Action, Artifact, Parts};
use weft_proto::a2a::part::Content;
use weft_proto::a2a::{self, Message, Part, Role, TaskState, TaskStatus};
use weft_proto::weft::{ArtifactChunk, InvokeResult, Progress, progress};
use weft_proto::wkt::{Kind, Value};

use super::Incoming;
use crate::failure::Failure;

/// One moment of a play.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Beat {
    /// Wait before it, in milliseconds.
    pub(crate) delay_ms: u64,
    pub(crate) said: Said,
}

/// What is said at a beat.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Said {
    Nothing,
    Step(Progress),
    /// The last beat.
    End(InvokeResult),
    /// The last beat: the node breaks.
    Drop,
}

/// Beats of one rule for one message. Ids are made from the message and the place in the play, so that playing it
/// again says the same.
#[derive(Debug, Clone)]
pub(crate) struct Play {
    rule: Arc<Rule>,
    incoming: Incoming,
    step: usize,
    repetition: u32,
    replies: u32,
    artifacts: u32,
    over: bool,
}

// === impl Play ===

impl Play {
    pub(crate) fn new(rule: Arc<Rule>, incoming: Incoming) -> Play {
        Play { rule, incoming, step: 0, repetition: 0, replies: 0, artifacts: 0, over: false }
    }

    fn message(&mut self, parts: &[Part]) -> Message {
        self.replies += 1;
        Message {
            message_id: format!("{}-reply-{}", self.incoming.message_id, self.replies),
            task_id: self.incoming.task_id.clone(),
            context_id: self.incoming.context_id.clone(),
            role: Role::Agent.into(),
            parts: parts.iter().map(|part| self.filled(part)).collect(),
            ..Message::default()
        }
    }

    fn status(&mut self, state: TaskState, parts: &[Part]) -> Progress {
        let message = (!parts.is_empty()).then(|| self.message(parts));
        let status = TaskStatus { state: state.into(), message, ..TaskStatus::default() };
        Progress { step: Some(progress::Step::Status(status)), ..Progress::default() }
    }

    fn artifact(&mut self, template: &Artifact, repeat: u32) -> Progress {
        let goes_on = template.append || (template.chunked && self.repetition > 1);
        if !goes_on {
            self.artifacts += 1;
        }
        let turn = if self.incoming.turn > 1 { format!("{}-", self.incoming.turn) } else { String::new() };
        let id = template.id.clone().unwrap_or_else(|| format!("artifact-{turn}{}", self.artifacts));
        let parts = match &template.parts {
            Parts::Echo => self.incoming.parts.clone(),
            Parts::Listed(parts) => parts.iter().map(|part| self.filled(part)).collect(),
        };
        let (name, description) = (template.name.clone(), template.description.clone());
        let artifact =
            a2a::Artifact { artifact_id: id, name, description, parts, ..a2a::Artifact::default() };
        let chunk = ArtifactChunk {
            artifact: Some(artifact),
            append: goes_on,
            last_chunk: !template.more && (!template.chunked || self.repetition == repeat),
        };
        Progress { step: Some(progress::Step::Artifact(chunk)), ..Progress::default() }
    }

    /// A part with its placeholders replaced.
    fn filled(&self, part: &Part) -> Part {
        let content = match &part.content {
            Some(Content::Text(text)) => Some(Content::Text(self.text(text))),
            Some(Content::Data(data)) => Some(Content::Data(self.value(data))),
            other => other.clone(),
        };
        Part { content, ..part.clone() }
    }

    fn value(&self, value: &Value) -> Value {
        match &value.kind {
            Some(Kind::String(text)) => Value { kind: Some(Kind::String(self.text(text))) },
            Some(Kind::Struct(object)) => {
                let mut object = object.clone();
                for value in object.fields.values_mut() {
                    *value = self.value(value);
                }
                Value { kind: Some(Kind::Struct(object)) }
            }
            Some(Kind::List(list)) => {
                let mut list = list.clone();
                for value in &mut list.values {
                    *value = self.value(value);
                }
                Value { kind: Some(Kind::List(list)) }
            }
            _ => value.clone(),
        }
    }

    /// `{n}` first: what stands in the message is never taken for a placeholder.
    fn text(&self, template: &str) -> String {
        template.replace("{n}", &self.repetition.to_string()).replace("{text}", &self.incoming.text)
    }

    fn end(&mut self, said: Said) -> Said {
        self.over = true;
        said
    }
}

impl Iterator for Play {
    type Item = Beat;

    fn next(&mut self) -> Option<Beat> {
        if self.over {
            return None;
        }
        let rule = self.rule.clone();
        let Some(step) = rule.steps.get(self.step) else {
            let said = self.end(Said::End(done()));
            return Some(Beat { delay_ms: 0, said });
        };
        self.repetition += 1;
        let said = match &step.action {
            Action::Wait => Said::Nothing,
            Action::Status { state, parts } => Said::Step(self.status(*state, parts)),
            Action::Artifact(template) => Said::Step(self.artifact(template, step.repeat)),
            Action::Message(parts) => {
                let message = self.message(parts);
                let said = progress::Step::Message(message);
                Said::Step(Progress { step: Some(said), ..Progress::default() })
            }
            Action::Answer(value) => {
                let result = Some(self.value(value));
                self.end(Said::End(InvokeResult { result, ..done() }))
            }
            Action::Fail { code, error } => {
                let failure = Failure::Played { code: code.clone(), error: self.text(error) };
                self.end(Said::End(failure.result()))
            }
            Action::Drop => self.end(Said::Drop),
        };
        if self.repetition >= step.repeat {
            self.step += 1;
            self.repetition = 0;
        }
        Some(Beat { delay_ms: step.delay_ms, said })
    }
}

/// The result of a play whose steps said everything.
fn done() -> InvokeResult {
    InvokeResult { ok: true, ..InvokeResult::default() }
}
