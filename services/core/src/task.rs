//! The task machine: what may happen to a task, decided on values. Nothing here writes, waits or asks the time.
//!
//! A rule takes the task as it is and answers a [`Change`]: the events to commit and publish, in order. Folding the
//! events of all its changes ([`fold`]) gives the task back; the ledger and a reader of a stream run the same code.
//!
//! ```text
//! SUBMITTED ──▶ WORKING ◀──▶ INPUT_REQUIRED, AUTH_REQUIRED
//!     └────────────┴──────────────┴──▶ COMPLETED, FAILED, CANCELED, REJECTED   (never left)
//! ```

mod fold;
mod progress;
mod turn;

pub use fold::{Bounds, fold, show};
pub use progress::{cancel, fail, is_silent, progress, within};
pub use turn::{Start, next, open};

use weft_proto::a2a::stream_response::Payload;
use weft_proto::a2a::{Message, StreamResponse, Task, TaskState, TaskStatus, TaskStatusUpdateEvent};
use weft_proto::wkt::Timestamp;

/// What is decided to happen to a task.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Change {
    /// In order. The first change of a task begins with the task itself, without history.
    pub events: Vec<StreamResponse>,
    /// The caller's message, when the change is a turn; it joins the history after the events.
    pub said: Option<Message>,
}

impl Change {
    /// See [`published`].
    pub fn published(&self) -> impl Iterator<Item = StreamResponse> + '_ {
        published(&self.events, self.said.as_ref())
    }

    /// See [`apply`].
    pub fn apply(&self, task: &mut Task) {
        apply(task, &self.events, self.said.as_ref());
    }
}

/// The events of a change as readers see them: the opening task carries the message that opened it.
pub fn published<'a>(
    events: &'a [StreamResponse],
    said: Option<&'a Message>,
) -> impl Iterator<Item = StreamResponse> + 'a {
    events.iter().map(move |event| {
        let mut event = event.clone();
        if let Some(Payload::Task(task)) = &mut event.payload {
            task.history.extend(said.cloned());
        }
        event
    })
}

/// Lets a change happen to `task`; the first change makes it.
pub fn apply(task: &mut Task, events: &[StreamResponse], said: Option<&Message>) {
    for event in events {
        fold(task, event);
    }
    task.history.extend(said.cloned());
}

/// True for a state that is never left.
pub fn is_terminal(state: TaskState) -> bool {
    matches!(state, TaskState::Completed | TaskState::Failed | TaskState::Canceled | TaskState::Rejected)
}

/// True for a state that waits for the caller.
pub fn is_interrupted(state: TaskState) -> bool {
    matches!(state, TaskState::InputRequired | TaskState::AuthRequired)
}

/// True when nothing runs: the task is terminal or waits for its caller.
pub fn is_settled(state: TaskState) -> bool {
    is_terminal(state) || is_interrupted(state)
}

/// The state of a task; UNSPECIFIED when it has no status.
pub fn state(task: &Task) -> TaskState {
    task.status.as_ref().map_or(TaskState::Unspecified, |status| status.state())
}

/// The state of an event that changes it; a message ends what it answers.
pub fn state_of(event: &StreamResponse) -> Option<TaskState> {
    match event.payload.as_ref()? {
        Payload::Task(task) => Some(state(task)),
        Payload::StatusUpdate(update) => update.status.as_ref().map(TaskStatus::state),
        Payload::Message(_) => Some(TaskState::Completed),
        Payload::ArtifactUpdate(_) => None,
    }
}

/// `COMPLETED` for `TASK_STATE_COMPLETED`, for messages.
pub fn name(state: TaskState) -> &'static str {
    state.as_str_name().trim_start_matches("TASK_STATE_")
}

/// When a status that begins at `now` is said to begin: whole milliseconds, never before the status it follows.
fn stamp(before: Option<&TaskStatus>, now: Timestamp) -> Timestamp {
    let now = Timestamp { seconds: now.seconds, nanos: now.nanos - now.nanos % 1_000_000 };
    before.and_then(|status| status.timestamp).map_or(now, |before| before.max(now))
}

/// A status event of `task`.
fn status_event(task: &Task, mut status: TaskStatus, now: Timestamp) -> TaskStatusUpdateEvent {
    status.timestamp = Some(stamp(task.status.as_ref(), now));
    if let Some(message) = &mut status.message {
        message.task_id.clone_from(&task.id);
        message.context_id.clone_from(&task.context_id);
    }
    TaskStatusUpdateEvent {
        task_id: task.id.clone(),
        context_id: task.context_id.clone(),
        status: Some(status),
        metadata: None,
    }
}

#[cfg(test)]
mod laws;
