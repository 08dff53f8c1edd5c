//! Laws that hold for every sequence of turns, steps and cancels.

use proptest::prelude::*;
use weft_proto::a2a::{Artifact, Message, Part, Role, StreamResponse, Task, TaskState, TaskStatus, part};
use weft_proto::weft::{ArtifactChunk, Progress, progress::Step};
use weft_proto::wkt::Timestamp;

use super::*;
use crate::Kind;

const BOUNDS: Bounds = Bounds { messages_max: 1_000, artifacts_max: 100 };

fn at(seconds: i64) -> Timestamp {
    Timestamp { seconds, nanos: 1_234_567 }
}

fn text(text: &str) -> Part {
    Part { content: Some(part::Content::Text(text.into())), ..Part::default() }
}

fn user(id: &str) -> Message {
    Message { message_id: id.into(), role: Role::User.into(), parts: vec![text(id)], ..Message::default() }
}

fn agent(id: &str) -> Message {
    Message { role: Role::Agent.into(), ..user(id) }
}

fn status(state: TaskState, message: Option<Message>) -> Progress {
    let status = TaskStatus { state: state.into(), message, timestamp: None };
    Progress { step: Some(Step::Status(status)), metadata: None }
}

fn chunk(id: &str, append: bool) -> Progress {
    let artifact = Artifact { artifact_id: id.into(), parts: vec![text("x")], ..Artifact::default() };
    let chunk = ArtifactChunk { artifact: Some(artifact), append, last_chunk: false };
    Progress { step: Some(Step::Artifact(chunk)), metadata: None }
}

fn opened() -> Task {
    let mut task = Task::default();
    open("t1", "c1", &user("m1"), Start::Run, at(10)).unwrap().apply(&mut task);
    task
}

fn in_state(state: TaskState) -> Task {
    let mut task = opened();
    progress(&task, &[status(state, Some(agent("a1")))], BOUNDS, at(11)).unwrap().apply(&mut task);
    task
}

#[test]
fn an_opened_task_is_submitted_and_holds_the_message_with_its_ids() {
    let task = opened();
    assert_eq!(state(&task), TaskState::Submitted);
    assert_eq!(task.status.as_ref().unwrap().timestamp, Some(Timestamp { seconds: 10, nanos: 1_000_000 }));
    assert_eq!((task.history[0].task_id.as_str(), task.history[0].context_id.as_str()), ("t1", "c1"));
}

#[test]
fn the_opening_event_that_readers_see_is_the_whole_task() {
    let change = open("t1", "c1", &user("m1"), Start::Run, at(10)).unwrap();
    let mut read = Task::default();
    change.published().for_each(|event| fold(&mut read, &event));
    assert_eq!(read, opened());
}

#[test]
fn a_parked_task_waits_with_the_status_it_was_given() {
    let asks =
        TaskStatus { state: TaskState::InputRequired.into(), message: Some(agent("ask")), timestamp: None };
    let mut task = Task::default();
    open("t1", "c1", &user("m1"), Start::Parked(Box::new(asks)), at(10)).unwrap().apply(&mut task);
    let status = task.status.as_ref().unwrap();
    assert_eq!(
        (status.state(), status.message.as_ref().unwrap().task_id.as_str()),
        (TaskState::InputRequired, "t1")
    );
    let done = TaskStatus { state: TaskState::Completed.into(), ..TaskStatus::default() };
    assert!(open("t1", "c1", &user("m1"), Start::Parked(Box::new(done)), at(10)).is_err());
}

#[test]
fn the_next_turn_keeps_the_question_and_the_answer_in_order() {
    let mut task = in_state(TaskState::InputRequired);
    next(&task, &user("m2"), Start::Run, at(12)).unwrap().apply(&mut task);
    let ids: Vec<_> = task.history.iter().map(|m| m.message_id.as_str()).collect();
    assert_eq!((ids, state(&task)), (vec!["m1", "a1", "m2"], TaskState::Working));
}

#[test]
fn a_message_to_a_task_that_does_not_wait_is_refused() {
    for state in [
        TaskState::Completed,
        TaskState::Failed,
        TaskState::Canceled,
        TaskState::Rejected,
        TaskState::Working,
    ] {
        let fault = next(&in_state(state), &user("m2"), Start::Run, at(12)).unwrap_err();
        assert_eq!(fault.kind, Kind::UnsupportedOperation, "{state:?}");
    }
}

#[test]
fn another_context_than_the_tasks_is_refused_by_name() {
    let task = in_state(TaskState::InputRequired);
    let message = Message { context_id: "c2".into(), ..user("m2") };
    assert_eq!(
        next(&task, &message, Start::Run, at(12)).unwrap_err().violations[0].field,
        "message.contextId"
    );
    let message = Message { context_id: "c1".into(), ..user("m2") };
    assert!(next(&task, &message, Start::Run, at(12)).is_ok());
}

#[test]
fn a_canceled_task_is_canceled_again_without_a_change_and_an_ended_one_not_at_all() {
    assert_eq!(cancel(&in_state(TaskState::Canceled), None, at(12)), Ok(None));
    for state in [TaskState::Completed, TaskState::Failed, TaskState::Rejected] {
        let fault = cancel(&in_state(state), None, at(12)).unwrap_err();
        assert_eq!(fault.kind, Kind::TaskNotCancelable);
    }
    for state in [TaskState::Working, TaskState::InputRequired, TaskState::AuthRequired] {
        let mut task = in_state(state);
        cancel(&task, None, at(12)).unwrap().unwrap().apply(&mut task);
        assert_eq!(super::state(&task), TaskState::Canceled);
    }
}

#[test]
fn steps_after_the_end_of_a_run_and_steps_back_are_refused_by_name() {
    let check = |steps: &[Progress], field: &str| {
        let fault = progress(&opened(), steps, BOUNDS, at(11)).unwrap_err();
        assert_eq!(fault.violations[0].field, field);
    };
    check(&[status(TaskState::Completed, None), chunk("a", false)], "progress[1].step");
    check(&[status(TaskState::InputRequired, None), status(TaskState::Working, None)], "progress[1].step");
    check(&[status(TaskState::Submitted, None)], "progress[0].status.state");
    check(&[status(TaskState::Working, Some(user("m")))], "progress[0].status.message.role");
    check(&[status(TaskState::Working, Some(agent("")))], "progress[0].status.message.messageId");
    check(&[chunk("", false)], "progress[0].artifact.artifactId");
    check(&[Progress::default()], "progress[0].step");
}

fn says(id: &str) -> Progress {
    Progress { step: Some(Step::Message(agent(id))), metadata: None }
}

#[test]
fn a_message_instead_of_a_task_ends_it_and_does_not_name_it() {
    let task = in_state(TaskState::Working);
    let change = progress(&task, &[status(TaskState::Working, None), says("a1")], BOUNDS, at(12)).unwrap();
    let Some(weft_proto::a2a::stream_response::Payload::Message(said)) = &change.events[1].payload else {
        panic!("{change:?}")
    };
    assert_eq!((said.message_id.as_str(), said.task_id.as_str()), ("a1", ""));
    assert_eq!(said.context_id, task.context_id);
    let mut after = task.clone();
    change.apply(&mut after);
    assert_eq!(state(&after), TaskState::Completed);
    let late = [says("a1"), status(TaskState::Working, None)];
    assert_eq!(progress(&task, &late, BOUNDS, at(12)).unwrap_err().violations[0].field, "progress[1].step");
    let nameless = progress(&task, &[says("")], BOUNDS, at(12)).unwrap_err();
    assert_eq!(nameless.violations[0].field, "progress[0].message.messageId");
}

#[test]
fn a_message_of_a_task_that_was_spoken_of_is_its_end() {
    let mut task = in_state(TaskState::Working);
    progress(&task, &[within(says("a1"))], BOUNDS, at(12)).unwrap().apply(&mut task);
    let status = task.status.unwrap();
    assert_eq!((status.state(), status.message.unwrap().message_id.as_str()), (TaskState::Completed, "a1"));
    assert!(
        is_silent(&self::status(TaskState::Working, None))
            && !is_silent(&says("a1"))
            && !is_silent(&chunk("a", false))
    );
}

#[test]
fn a_full_task_takes_no_more_but_can_still_end() {
    let bounds = Bounds { messages_max: 2, artifacts_max: 1 };
    let mut task = in_state(TaskState::Working);
    let more = [status(TaskState::Working, Some(agent("a2")))];
    assert_eq!(progress(&task, &more, bounds, at(12)).unwrap_err().kind, Kind::TooLarge);
    progress(&task, &[chunk("a", false)], bounds, at(12)).unwrap().apply(&mut task);
    assert_eq!(progress(&task, &[chunk("b", false)], bounds, at(12)).unwrap_err().kind, Kind::TooLarge);
    let end = [chunk("a", true), status(TaskState::Completed, Some(agent("a3")))];
    assert!(progress(&task, &end, bounds, at(12)).is_ok());
}

#[test]
fn time_never_goes_back_within_a_task() {
    let mut task = opened();
    progress(&task, &[status(TaskState::Working, None)], BOUNDS, at(5)).unwrap().apply(&mut task);
    assert_eq!(task.status.unwrap().timestamp.unwrap().seconds, 10);
}

#[derive(Debug, Clone)]
enum Deed {
    Steps(Vec<Progress>),
    Say(String),
    Cancel,
    Fail,
}

fn deed() -> impl Strategy<Value = Deed> {
    let states = prop::sample::select(vec![
        TaskState::Working,
        TaskState::Working,
        TaskState::InputRequired,
        TaskState::AuthRequired,
        TaskState::Completed,
        TaskState::Failed,
        TaskState::Canceled,
        TaskState::Rejected,
    ]);
    let a_status = (states, any::<bool>()).prop_map(|(state, says)| status(state, says.then(|| agent("a"))));
    let a_chunk = ("[abc]", any::<bool>()).prop_map(|(id, append)| chunk(&id, append));
    prop_oneof![
        6 => prop::collection::vec(prop_oneof![a_status, a_chunk.clone(), a_chunk], 1..4).prop_map(Deed::Steps),
        3 => "[a-z]{1,4}".prop_map(Deed::Say),
        1 => Just(Deed::Cancel),
        1 => Just(Deed::Fail),
    ]
}

proptest! {
    #[test]
    fn one_terminal_state_at_most_and_it_comes_last(deeds in prop::collection::vec(deed(), 0..30), clock in prop::collection::vec(0i64..50, 31)) {
        let first = open("t1", "c1", &user("m1"), Start::Run, at(clock[0])).unwrap();
        let mut task = Task::default();
        first.apply(&mut task);
        let mut changes = vec![first];
        for (deed, now) in deeds.into_iter().zip(&clock[1..]) {
            let change = match deed {
                Deed::Steps(steps) => progress(&task, &steps, BOUNDS, at(*now)).ok(),
                Deed::Say(id) => next(&task, &user(&id), Start::Run, at(*now)).ok(),
                Deed::Cancel => cancel(&task, None, at(*now)).ok().flatten(),
                Deed::Fail => fail(&task, "f".into(), "gave up", at(*now)),
            };
            // A run only steps while it runs: the ledger asks for a lease, which ends with the run.
            let Some(change) = change else { continue };
            let before = state(&task);
            prop_assert!(!is_terminal(before));
            change.apply(&mut task);
            prop_assert!(state(&task) != TaskState::Submitted || before == TaskState::Submitted);
            changes.push(change);
        }
        let events: Vec<StreamResponse> = changes.iter().flat_map(Change::published).collect();
        let ends: Vec<usize> = events.iter().enumerate()
            .filter(|(_, event)| state_of(event).is_some_and(is_terminal)).map(|(i, _)| i).collect();
        prop_assert!(ends.is_empty() || ends == [events.len() - 1]);

        // Folding the changes anew gives the same task; folding only what a reader saw gives it without later turns.
        let mut again = Task::default();
        changes.iter().for_each(|change| change.apply(&mut again));
        prop_assert_eq!(&again, &task);
        let mut read = Task::default();
        events.iter().for_each(|event| fold(&mut read, event));
        prop_assert_eq!((&read.status, &read.artifacts), (&task.status, &task.artifacts));

        let mut last = None;
        for event in &events {
            if let Some(weft_proto::a2a::stream_response::Payload::StatusUpdate(update)) = &event.payload {
                let began = update.status.as_ref().and_then(|status| status.timestamp);
                prop_assert!(began >= last);
                last = began;
            }
        }
    }
}
