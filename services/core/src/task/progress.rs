//! What a run, its caller or the store itself does to a task that is under way.

use weft_proto::a2a::stream_response::Payload;
use weft_proto::a2a::{
    Message, Part, Role, StreamResponse, Task, TaskArtifactUpdateEvent, TaskState, TaskStatus, part,
};
use weft_proto::weft::{ArtifactChunk, Progress, progress::Step};
use weft_proto::wkt::{Struct, Timestamp};

use super::{Bounds, Change, is_settled, is_terminal, name, state, status_event};
use crate::{Fault, Kind};

/// The steps of a run, all or none.
///
/// # Errors
/// `Invalid` naming the step and its field when it breaks a rule: a state that steps back, a step after the run has
/// ended, an incomplete message or artifact. `Exhausted` when the task would grow over `bounds`; an end of the run is
/// always taken.
pub fn progress(task: &Task, steps: &[Progress], bounds: Bounds, now: Timestamp) -> Result<Change, Fault> {
    let mut change = Change::default();
    let mut sketch = Sketch::of(task);
    for (at, step) in steps.iter().enumerate() {
        let field = |rest: &str| format!("progress[{at}].{rest}");
        if is_settled(sketch.state) {
            return Err(Fault::invalid(
                field("step"),
                format!("comes after the run ended with {}", name(sketch.state)),
            ));
        }
        let payload = match &step.step {
            None => return Err(Fault::invalid(field("step"), "must be a status, an artifact or a message")),
            Some(Step::Message(message)) => {
                sketch.take_message(message).map_err(|bad| bad.under(&field("message")))?;
                // The task is never spoken of, so the message does not name it.
                Payload::Message(Message {
                    context_id: task.context_id.clone(),
                    task_id: String::new(),
                    ..message.clone()
                })
            }
            Some(Step::Status(status)) => {
                sketch.take_status(status, bounds).map_err(|bad| bad.under(&field("status")))?;
                let mut update = status_event(task, status.clone(), now);
                update.metadata.clone_from(&step.metadata);
                Payload::StatusUpdate(update)
            }
            Some(Step::Artifact(chunk)) => {
                let known =
                    sketch.take_artifact(chunk, bounds).map_err(|bad| bad.under(&field("artifact")))?;
                Payload::ArtifactUpdate(TaskArtifactUpdateEvent {
                    task_id: task.id.clone(),
                    context_id: task.context_id.clone(),
                    artifact: chunk.artifact.clone(),
                    // Appending to nothing begins it, for every reader alike.
                    append: chunk.append && known,
                    last_chunk: chunk.last_chunk,
                    metadata: step.metadata.clone(),
                })
            }
        };
        change.events.push(StreamResponse { payload: Some(payload) });
    }
    Ok(change)
}

/// True for a step that says nothing yet: WORKING, without a word.
#[must_use]
pub fn is_silent(step: &Progress) -> bool {
    let Some(Step::Status(status)) = &step.step else { return false };
    status.state() == TaskState::Working && status.message.is_none() && step.metadata.is_none()
}

/// A step of a task that was spoken of already: a message is what it ends with.
#[must_use]
pub fn within(step: Progress) -> Progress {
    match step.step {
        Some(Step::Message(message)) => {
            let (state, message) = (TaskState::Completed.into(), Some(message));
            Progress { step: Some(Step::Status(TaskStatus { state, message, timestamp: None })), ..step }
        }
        _ => step,
    }
}

/// The caller gives the task up; `None` when it is canceled already.
///
/// # Errors
/// `TaskNotCancelable` in any other terminal state.
pub fn cancel(task: &Task, metadata: Option<Struct>, now: Timestamp) -> Result<Option<Change>, Fault> {
    match state(task) {
        TaskState::Canceled => Ok(None),
        ended if is_terminal(ended) => {
            let text = format!("the task is {} and cannot be canceled any more", name(ended));
            Err(Fault::new(Kind::TaskNotCancelable, text).with("taskId", &task.id))
        }
        _ => {
            let status = TaskStatus { state: TaskState::Canceled.into(), ..TaskStatus::default() };
            let mut update = status_event(task, status, now);
            update.metadata = metadata;
            let event = StreamResponse { payload: Some(Payload::StatusUpdate(update)) };
            Ok(Some(Change { events: vec![event], said: None }))
        }
    }
}

/// The store ends a task that cannot be finished; `None` when it is terminal. `message_id` names the message that
/// tells the reason.
pub fn fail(task: &Task, message_id: String, reason: &str, now: Timestamp) -> Option<Change> {
    if is_terminal(state(task)) {
        return None;
    }
    let text = Part { content: Some(part::Content::Text(reason.to_owned())), ..Part::default() };
    let message = Message { message_id, role: Role::Agent.into(), parts: vec![text], ..Message::default() };
    let status = TaskStatus { state: TaskState::Failed.into(), message: Some(message), timestamp: None };
    let update = status_event(task, status, now);
    let event = StreamResponse { payload: Some(Payload::StatusUpdate(update)) };
    Some(Change { events: vec![event], said: None })
}

/// What the rules need to remember of a task while they look at several steps.
struct Sketch<'a> {
    state: TaskState,
    messages: usize,
    has_message: bool,
    artifacts: Vec<&'a str>,
}

struct Bad {
    field: &'static str,
    text: String,
    full: bool,
}

impl Bad {
    fn field(field: &'static str, text: impl Into<String>) -> Bad {
        Bad { field, text: text.into(), full: false }
    }

    fn under(self, parent: &str) -> Fault {
        let field =
            if self.field.is_empty() { parent.to_owned() } else { format!("{parent}.{}", self.field) };
        let mut fault = Fault::invalid(field, self.text);
        if self.full {
            fault.kind = Kind::TooLarge;
        }
        fault
    }
}

impl<'a> Sketch<'a> {
    fn of(task: &'a Task) -> Sketch<'a> {
        Sketch {
            state: state(task),
            messages: task.history.len(),
            has_message: task.status.as_ref().is_some_and(|status| status.message.is_some()),
            artifacts: task.artifacts.iter().map(|artifact| artifact.artifact_id.as_str()).collect(),
        }
    }

    fn take_status(&mut self, status: &TaskStatus, bounds: Bounds) -> Result<(), Bad> {
        let to = status.state();
        if to == TaskState::Unspecified || to == TaskState::Submitted {
            return Err(Bad::field("state", "must be WORKING, an interrupted or a terminal state"));
        }
        if let Some(message) = &status.message {
            check_message(message)?;
        }
        self.messages += usize::from(self.has_message);
        self.has_message = status.message.is_some();
        if !is_settled(to) && self.messages + usize::from(self.has_message) > bounds.messages_max {
            let text = format!("the task holds {} messages already, the most it may", bounds.messages_max);
            return Err(Bad { full: true, ..Bad::field("message", text) });
        }
        self.state = to;
        Ok(())
    }

    fn take_message(&mut self, message: &Message) -> Result<(), Bad> {
        check_message(message)
            .map_err(|bad| Bad { field: bad.field.strip_prefix("message.").unwrap_or(bad.field), ..bad })?;
        self.state = TaskState::Completed;
        Ok(())
    }

    /// True when the task has the artifact already.
    fn take_artifact(&mut self, chunk: &'a ArtifactChunk, bounds: Bounds) -> Result<bool, Bad> {
        let artifact = chunk.artifact.as_ref().ok_or_else(|| Bad::field("artifact", "must be set"))?;
        if artifact.artifact_id.is_empty() {
            return Err(Bad::field("artifactId", "must be set"));
        }
        check_parts(&artifact.parts)?;
        let known = self.artifacts.contains(&artifact.artifact_id.as_str());
        if !known {
            if self.artifacts.len() >= bounds.artifacts_max {
                let text =
                    format!("the task holds {} artifacts already, the most it may", bounds.artifacts_max);
                return Err(Bad { full: true, ..Bad::field("", text) });
            }
            self.artifacts.push(&artifact.artifact_id);
        }
        Ok(known)
    }
}

fn check_message(message: &Message) -> Result<(), Bad> {
    if message.message_id.is_empty() {
        return Err(Bad::field("message.messageId", "must be set"));
    }
    if message.role() != Role::Agent {
        return Err(Bad::field("message.role", "must be ROLE_AGENT"));
    }
    check_parts(&message.parts)
}

fn check_parts(parts: &[Part]) -> Result<(), Bad> {
    if parts.is_empty() {
        return Err(Bad::field("parts", "must hold at least one part"));
    }
    if parts.iter().any(|part| part.content.is_none()) {
        return Err(Bad::field("parts", "each must hold a text, raw, url or data"));
    }
    Ok(())
}
