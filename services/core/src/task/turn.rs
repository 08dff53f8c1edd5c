//! The caller's turns: a message opens a task or continues one.

use weft_proto::a2a::stream_response::Payload;
use weft_proto::a2a::{Message, StreamResponse, Task, TaskState, TaskStatus};
use weft_proto::wkt::Timestamp;

use super::{Change, is_interrupted, is_terminal, name, stamp, state, status_event};
use crate::{Fault, Kind};

/// How a turn begins.
#[derive(Debug, Clone, PartialEq)]
pub enum Start {
    /// A worker is to run it.
    Run,
    /// There is nothing to run: the task waits for its caller with this status.
    Parked(Box<TaskStatus>),
}

/// Opens a task under ids of our choosing.
///
/// # Errors
/// `Invalid` when a parked start is not in an interrupted state.
pub fn open(
    id: &str,
    context: &str,
    message: &Message,
    start: Start,
    now: Timestamp,
) -> Result<Change, Fault> {
    let mut task = Task { id: id.to_owned(), context_id: context.to_owned(), ..Task::default() };
    task.status = Some(match start {
        Start::Run => TaskStatus {
            state: TaskState::Submitted.into(),
            timestamp: Some(stamp(None, now)),
            message: None,
        },
        Start::Parked(status) => status_event(&task, parked(*status)?, now).status.unwrap_or_default(),
    });
    let said = addressed(message, &task);
    Ok(Change { events: vec![StreamResponse { payload: Some(Payload::Task(task)) }], said: Some(said) })
}

/// The next turn of a task that waits for its caller. The task goes on as WORKING, not as SUBMITTED: it never steps
/// back.
///
/// # Errors
/// `UnsupportedOperation` when the task is terminal, or is being worked on: a message to a running task is refused,
/// since the run it would belong to may end without reading it. `Invalid` on `message.contextId` when it names
/// another conversation.
pub fn next(task: &Task, message: &Message, start: Start, now: Timestamp) -> Result<Change, Fault> {
    if !message.context_id.is_empty() && message.context_id != task.context_id {
        return Err(Fault::invalid(
            "message.contextId",
            "is not the context of the task that message.taskId names; leave it out or send the task's own",
        ));
    }
    let now_in = state(task);
    if is_terminal(now_in) {
        let text = format!("the task is {} and takes no further message; start a new task", name(now_in));
        return Err(Fault::new(Kind::UnsupportedOperation, text).with("taskId", &task.id));
    }
    if !is_interrupted(now_in) {
        let text = format!(
            "the task is {} and takes a further message only when it asks for input; wait for that or cancel it",
            name(now_in)
        );
        return Err(Fault::new(Kind::UnsupportedOperation, text).with("taskId", &task.id));
    }
    let status = match start {
        Start::Run => TaskStatus { state: TaskState::Working.into(), ..TaskStatus::default() },
        Start::Parked(status) => parked(*status)?,
    };
    let update = status_event(task, status, now);
    Ok(Change {
        events: vec![StreamResponse { payload: Some(Payload::StatusUpdate(update)) }],
        said: Some(addressed(message, task)),
    })
}

fn parked(status: TaskStatus) -> Result<TaskStatus, Fault> {
    if is_interrupted(status.state()) {
        return Ok(status);
    }
    Err(Fault::invalid("parked.state", "must be TASK_STATE_INPUT_REQUIRED or TASK_STATE_AUTH_REQUIRED"))
}

/// The message with the ids of the task it now belongs to.
fn addressed(message: &Message, task: &Task) -> Message {
    Message { task_id: task.id.clone(), context_id: task.context_id.clone(), ..message.clone() }
}
