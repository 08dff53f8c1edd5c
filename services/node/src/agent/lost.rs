//! What became of a message whose answer was lost: the agent is asked, nothing is sent again.

use weft_client::Agent as Reached;
use weft_proto::a2a::{GetTaskRequest, ListTasksRequest, Task, TaskState};

use super::memory::Kept;
use super::trouble::is_passing;
use super::{Remote, Trouble, call, message_id};

/// Tasks of the agent that are looked through, the latest first.
const TASKS: i32 = 100;
/// Messages of each.
const MESSAGES: i32 = 20;

/// What became of a message.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// It became this task, or a turn of it.
    Taken { task_id: String, context_id: String },
    /// The agent does not have it.
    NotTaken,
    /// The agent does not say.
    Unknown,
}

impl Remote {
    pub(super) async fn fate(&self, agent: &Reached, kept: &Kept) -> Result<Fate, Trouble> {
        let (call, id) = (call(self.spec.timeout), message_id(&kept.key));
        if !kept.remote_task.is_empty() {
            let request = GetTaskRequest { id: kept.remote_task.clone(), ..GetTaskRequest::default() };
            return match agent.get_task(request, &call).await {
                Ok(answer) => Ok(of_next_turn(&answer.body, &id)),
                Err(error) => Err(Trouble::of(&error, true)),
            };
        }
        let request = ListTasksRequest {
            page_size: Some(TASKS),
            history_length: Some(MESSAGES),
            include_artifacts: Some(false),
            ..ListTasksRequest::default()
        };
        match agent.list_tasks(request, &call).await {
            Ok(answer) => Ok(of_new_task(&answer.body.tasks, &id)),
            Err(error) if is_passing(&error) => Err(Trouble::of(&error, true)),
            Err(_) => Ok(Fate::Unknown),
        }
    }
}

/// A task that goes on, or has ended, was taken up by the message; one that still waits shows its messages, if any.
fn of_next_turn(task: &Task, message_id: &str) -> Fate {
    let state = task.status.as_ref().map_or(TaskState::Unspecified, |status| status.state());
    let waits = matches!(state, TaskState::InputRequired | TaskState::AuthRequired);
    if !waits || holds(task, message_id) {
        Fate::Taken { task_id: task.id.clone(), context_id: task.context_id.clone() }
    } else if task.history.is_empty() {
        Fate::Unknown
    } else {
        Fate::NotTaken
    }
}

/// A list proves that a message was taken, never that it was not: an agent may show less than it has.
fn of_new_task(tasks: &[Task], message_id: &str) -> Fate {
    match tasks.iter().find(|task| holds(task, message_id)) {
        Some(task) => Fate::Taken { task_id: task.id.clone(), context_id: task.context_id.clone() },
        None => Fate::Unknown,
    }
}

fn holds(task: &Task, message_id: &str) -> bool {
    task.history.iter().any(|message| message.message_id == message_id)
}

#[cfg(test)]
mod tests {
    use weft_proto::a2a::{Message, TaskStatus};

    use super::*;

    fn task(state: TaskState, messages: &[&str]) -> Task {
        let message = |id: &&str| Message { message_id: (*id).into(), ..Message::default() };
        Task {
            id: "far-1".into(),
            context_id: "ctx".into(),
            status: Some(TaskStatus { state: state.into(), ..TaskStatus::default() }),
            history: messages.iter().map(message).collect(),
            ..Task::default()
        }
    }

    fn taken() -> Fate {
        Fate::Taken { task_id: "far-1".into(), context_id: "ctx".into() }
    }

    #[test]
    fn a_next_turn_was_taken_when_the_task_shows_it_or_does_not_wait_any_more() {
        let fate = |state, messages: &[&str]| of_next_turn(&task(state, messages), "m2");
        assert_eq!(fate(TaskState::InputRequired, &["m1", "m2"]), taken());
        assert_eq!(fate(TaskState::Working, &[]), taken());
        assert_eq!(fate(TaskState::Completed, &["m1"]), taken());
        assert_eq!(fate(TaskState::InputRequired, &["m1"]), Fate::NotTaken);
        assert_eq!(fate(TaskState::AuthRequired, &[]), Fate::Unknown, "it may only show no messages");
    }

    #[test]
    fn a_new_task_is_found_by_its_message_and_otherwise_nothing_is_known() {
        let tasks = [task(TaskState::Working, &["m0"]), task(TaskState::Working, &["m1", "a1"])];
        assert_eq!(of_new_task(&tasks, "m1"), taken());
        assert_eq!(of_new_task(&tasks, "m2"), Fate::Unknown);
        assert_eq!(of_new_task(&[], "m2"), Fate::Unknown);
    }
}
