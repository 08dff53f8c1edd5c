//! What a stream has told so far: which task, how it stands, and which events came before.

use weft_proto::a2a::{StreamResponse, TaskState, stream_response::Payload};

use super::Event;
use crate::error::Why;
use crate::operation::{Answered, streamed_state};
use crate::wait::is_settled;

/// What is known of a stream.
#[derive(Debug)]
pub(super) struct Fold {
    task_id: Option<String>,
    state: TaskState,
    /// A message was the answer: there is no task.
    answered: bool,
    last_id: Option<String>,
    stage: Stage,
}

/// How the numbers of events are to be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// Every event is new.
    Fresh,
    /// A stream was taken up again; its first event has not come.
    Resumed,
    /// It goes over what came before: numbers up to the last one are repeats.
    Repeating,
}

impl Fold {
    pub(super) fn new(task_id: Option<String>) -> Fold {
        Fold { task_id, state: TaskState::Unspecified, answered: false, last_id: None, stage: Stage::Fresh }
    }

    pub(super) fn task_id(&self) -> Option<&str> {
        self.task_id.as_deref()
    }

    pub(super) fn name_task(&mut self, id: &str) {
        self.task_id = Some(id.to_owned());
    }

    pub(super) fn last_id(&self) -> Option<&str> {
        self.last_id.as_deref()
    }

    /// True when nothing more happens unless the caller wants it.
    pub(super) fn is_settled(&self) -> bool {
        self.answered || is_settled(self.state)
    }

    /// The stream begins again.
    pub(super) fn resumed(&mut self) {
        self.stage = Stage::Resumed;
    }

    /// Takes an event in; false: it came before.
    ///
    /// Numbers are trusted only where a stream goes on after a cut without saying all anew: there an event with a
    /// number that is not above the last one is a repeat. Agents that number each stream from the start begin it with
    /// the task, and everything after that is new.
    pub(super) fn admit(&mut self, event: &Event) -> Result<bool, Why> {
        self.check(&event.body)?;
        if self.stage == Stage::Resumed {
            let anew = matches!(event.body.payload, Some(Payload::Task(_)));
            self.stage = if anew { Stage::Fresh } else { Stage::Repeating };
        }
        if self.stage == Stage::Repeating {
            match (number(&event.id), number(&self.last_id)) {
                (Some(id), Some(last)) if id <= last => return Ok(false),
                _ => self.stage = Stage::Fresh,
            }
        }
        self.take(event);
        Ok(true)
    }

    fn check(&self, body: &StreamResponse) -> Result<(), Why> {
        if body.payload.is_none() {
            return Err(Why::Malformed("an event is neither task, message, status nor artifact".to_owned()));
        }
        match (body.task_id(), self.task_id()) {
            (Some(id), Some(known)) if id != known => {
                Err(Why::Malformed(format!("an event of task {id} came on the stream of task {known}")))
            }
            _ => Ok(()),
        }
    }

    fn take(&mut self, event: &Event) {
        if let Some(id) = event.body.task_id() {
            self.task_id = Some(id.to_owned());
        }
        if let Some(state) = streamed_state(&event.body) {
            self.state = state;
        }
        self.answered |= matches!(event.body.payload, Some(Payload::Message(_)));
        if event.id.is_some() {
            self.last_id.clone_from(&event.id);
        }
    }
}

fn number(id: &Option<String>) -> Option<u64> {
    id.as_deref()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use weft_proto::a2a::{Message, Task, TaskStatus, TaskStatusUpdateEvent};

    use super::*;

    fn event(id: &str, payload: Payload) -> Event {
        let id = Some(id.to_owned()).filter(|id| !id.is_empty());
        Event { id, body: StreamResponse { payload: Some(payload) } }
    }

    fn status(id: &str, state: TaskState) -> Event {
        let status = Some(TaskStatus { state: state as i32, ..TaskStatus::default() });
        let update =
            TaskStatusUpdateEvent { task_id: "t".into(), status, ..TaskStatusUpdateEvent::default() };
        event(id, Payload::StatusUpdate(update))
    }

    fn task(id: &str, task_id: &str) -> Event {
        event(id, Payload::Task(Task { id: task_id.into(), ..Task::default() }))
    }

    #[test]
    fn a_stream_that_goes_on_after_a_cut_shows_each_number_once() {
        let mut fold = Fold::new(None);
        assert!(fold.admit(&task("1", "t")).unwrap());
        assert!(fold.admit(&status("2", TaskState::Working)).unwrap());
        fold.resumed();
        assert_eq!((fold.task_id(), fold.last_id()), (Some("t"), Some("2")));
        let shown: Vec<_> =
            ["1", "2", "3", "3"].map(|id| fold.admit(&status(id, TaskState::Working)).unwrap()).to_vec();
        assert_eq!(shown, [false, false, true, true], "numbers count only at the seam");
        assert!(!fold.is_settled());
        assert!(fold.admit(&status("4", TaskState::InputRequired)).unwrap() && fold.is_settled());
    }

    #[test]
    fn a_stream_that_says_all_anew_is_new_whatever_its_numbers() {
        let mut fold = Fold::new(None);
        for event in [task("10", "t"), status("11", TaskState::Working)] {
            assert!(fold.admit(&event).unwrap());
        }
        fold.resumed();
        for event in [task("0", "t"), status("1", TaskState::Working), status("", TaskState::Completed)] {
            assert!(fold.admit(&event).unwrap());
        }
        assert!(fold.is_settled());
    }

    #[test]
    fn a_message_settles_and_what_belongs_elsewhere_is_an_error() {
        let mut fold = Fold::new(Some("t".into()));
        assert!(matches!(fold.admit(&task("", "other")), Err(Why::Malformed(_))));
        let nothing = Event { id: None, body: StreamResponse::default() };
        assert!(matches!(fold.admit(&nothing), Err(Why::Malformed(_))));
        assert!(fold.admit(&event("", Payload::Message(Message::default()))).unwrap() && fold.is_settled());
    }
}
