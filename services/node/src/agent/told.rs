//! The agent's events as steps of our task, each once: pure.
//!
//! A Task among the events says all there is anew; of that, only what was not said before becomes a step.

use std::collections::BTreeMap;

use prost::Message as _;
use weft_proto::a2a::stream_response::Payload;
use weft_proto::a2a::{
    Artifact, Message, Part, Role, StreamResponse, Task, TaskArtifactUpdateEvent, TaskState, TaskStatus,
};
use weft_proto::weft::{ArtifactChunk, Progress, progress};
use weft_proto::wkt::Struct;

use super::Turn;

/// What one call has said so far.
#[derive(Debug)]
pub(super) struct Told {
    key: String,
    task_id: String,
    context_id: String,
    /// Parts of each artifact.
    artifacts: BTreeMap<String, Vec<Part>>,
    /// The latest status that was said, and its message's id.
    latest: Option<(TaskState, String)>,
    replies: u32,
    bytes: usize,
    ended: bool,
}

impl Told {
    pub(super) fn new(turn: &Turn) -> Told {
        Told {
            key: turn.key.clone(),
            task_id: turn.task_id.clone(),
            context_id: turn.context_id.clone(),
            artifacts: BTreeMap::new(),
            latest: None,
            replies: 0,
            bytes: 0,
            ended: false,
        }
    }

    /// True when the last step was one after which the run has nothing more to say.
    pub(super) fn is_over(&self) -> bool {
        self.ended
    }

    /// How much was said, in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// The steps that an event adds.
    pub(super) fn take(&mut self, event: StreamResponse) -> Vec<Progress> {
        let steps = match event.payload {
            Some(Payload::Task(task)) => self.task(task),
            Some(Payload::StatusUpdate(update)) => {
                self.status(update.status.unwrap_or_default(), update.metadata).into_iter().collect()
            }
            Some(Payload::ArtifactUpdate(update)) => self.artifact(update).into_iter().collect(),
            Some(Payload::Message(message)) => self.answer(message).into_iter().collect(),
            None => Vec::new(),
        };
        self.bytes += steps.iter().map(Progress::encoded_len).sum::<usize>();
        steps
    }

    /// Says that the agent is away and is tried again.
    pub(super) fn away(&mut self, reason: &str) -> Progress {
        let text = format!("the remote agent cannot be reached ({reason}); trying again");
        let part = weft_proto::a2a::part::Content::Text(text);
        let message =
            Message { parts: vec![Part { content: Some(part), ..Part::default() }], ..Message::default() };
        let status = TaskStatus {
            state: TaskState::Working.into(),
            message: self.message(message),
            ..TaskStatus::default()
        };
        step(progress::Step::Status(status), None)
    }

    fn task(&mut self, task: Task) -> Vec<Progress> {
        let mut steps = Vec::new();
        for artifact in task.artifacts {
            if self.artifacts.get(&artifact.artifact_id) == Some(&artifact.parts) {
                continue;
            }
            let whole = TaskArtifactUpdateEvent {
                artifact: Some(artifact),
                append: false,
                last_chunk: true,
                ..TaskArtifactUpdateEvent::default()
            };
            steps.extend(self.artifact(whole));
        }
        steps.extend(self.status(task.status.unwrap_or_default(), None));
        steps
    }

    fn artifact(&mut self, update: TaskArtifactUpdateEvent) -> Option<Progress> {
        // Parts make an artifact; a store takes none without.
        let artifact: Artifact = update.artifact.filter(|artifact| !artifact.parts.is_empty())?;
        let known = self.artifacts.entry(artifact.artifact_id.clone()).or_default();
        let append = update.append && !known.is_empty();
        if !append {
            known.clear();
        }
        known.extend(artifact.parts.iter().cloned());
        let chunk = ArtifactChunk { artifact: Some(artifact), append, last_chunk: update.last_chunk };
        Some(step(progress::Step::Artifact(chunk), update.metadata))
    }

    fn status(&mut self, status: TaskStatus, metadata: Option<Struct>) -> Option<Progress> {
        let state = status.state();
        let said = (state, status.message.as_ref().map_or_else(String::new, |m| m.message_id.clone()));
        let says_nothing = match state {
            TaskState::Unspecified | TaskState::Submitted => true,
            TaskState::Working => status.message.is_none() && metadata.is_none(),
            _ => false,
        };
        let repeated = metadata.is_none() && self.latest.as_ref() == Some(&said);
        if says_nothing || repeated {
            return None;
        }
        self.latest = Some(said);
        self.ended = state != TaskState::Working;
        let message = status.message.and_then(|message| self.message(message));
        let status = TaskStatus { state: state.into(), message, timestamp: None };
        Some(step(progress::Step::Status(status), metadata))
    }

    fn answer(&mut self, message: Message) -> Option<Progress> {
        let message = self.message(message)?;
        self.ended = true;
        Some(step(progress::Step::Message(message), None))
    }

    /// A message of the agent as one of our task; nothing when it holds nothing.
    fn message(&mut self, message: Message) -> Option<Message> {
        self.replies += 1;
        let message_id = match message.message_id.as_str() {
            "" => format!("{}-reply-{}", self.key, self.replies),
            id => id.to_owned(),
        };
        (!message.parts.is_empty()).then(|| Message {
            message_id,
            task_id: self.task_id.clone(),
            context_id: self.context_id.clone(),
            role: Role::Agent.into(),
            // Tasks of the agent mean nothing to our callers.
            reference_task_ids: Vec::new(),
            ..message
        })
    }
}

fn step(step: progress::Step, metadata: Option<Struct>) -> Progress {
    Progress { step: Some(step), metadata }
}

#[cfg(test)]
mod tests;
