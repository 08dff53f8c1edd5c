use std::time::Duration;

use weft_proto::a2a::part::Content;
use weft_proto::a2a::{TaskArtifactUpdateEvent, TaskStatusUpdateEvent};
use weft_proto::weft::progress::Step;

use super::*;

fn told() -> Told {
    let turn = Turn {
        key: "t:1".into(),
        task_id: "t".into(),
        context_id: "c".into(),
        message: Message::default(),
        skill: None,
        within: Duration::from_secs(1),
        bytes_max: 1_000,
    };
    Told::new(&turn)
}

fn part(text: &str) -> Part {
    Part { content: Some(Content::Text(text.into())), ..Part::default() }
}

fn said(id: &str, text: &str) -> Message {
    Message {
        message_id: id.into(),
        task_id: "far-1".into(),
        context_id: "far".into(),
        reference_task_ids: vec!["far-0".into()],
        parts: vec![part(text)],
        ..Message::default()
    }
}

fn status(state: TaskState, message: Option<Message>) -> TaskStatus {
    TaskStatus { state: state.into(), message, timestamp: None }
}

fn update(state: TaskState, message: Option<Message>) -> StreamResponse {
    let update =
        TaskStatusUpdateEvent { status: Some(status(state, message)), ..TaskStatusUpdateEvent::default() };
    StreamResponse { payload: Some(Payload::StatusUpdate(update)) }
}

fn artifact(id: &str, texts: &[&str]) -> Artifact {
    Artifact {
        artifact_id: id.into(),
        parts: texts.iter().map(|text| part(text)).collect(),
        ..Artifact::default()
    }
}

fn chunk(id: &str, text: &str, append: bool) -> StreamResponse {
    let artifact = Some(artifact(id, &[text]));
    let update = TaskArtifactUpdateEvent { artifact, append, ..TaskArtifactUpdateEvent::default() };
    StreamResponse { payload: Some(Payload::ArtifactUpdate(update)) }
}

fn snapshot(state: TaskState, message: Option<Message>, artifacts: Vec<Artifact>) -> StreamResponse {
    let status = Some(status(state, message));
    StreamResponse { payload: Some(Payload::Task(Task { status, artifacts, ..Task::default() })) }
}

fn append_of(step: &Progress) -> bool {
    match &step.step {
        Some(Step::Artifact(chunk)) => chunk.append,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_message_of_the_agent_becomes_one_of_our_task() {
    let mut told = told();
    let steps = told.take(update(TaskState::InputRequired, Some(said("a-1", "which one?"))));
    let Some(Step::Status(status)) = &steps[0].step else { panic!("{steps:?}") };
    let message = status.message.as_ref().unwrap();
    assert_eq!((message.message_id.as_str(), message.task_id.as_str()), ("a-1", "t"));
    assert_eq!((message.context_id.as_str(), message.role()), ("c", Role::Agent));
    assert!(message.reference_task_ids.is_empty());
    assert!(told.is_over() && told.bytes() > 0);
}

#[test]
fn what_says_nothing_is_not_said() {
    let mut told = told();
    for state in [TaskState::Unspecified, TaskState::Submitted, TaskState::Working] {
        assert!(told.take(update(state, None)).is_empty(), "{state:?}");
    }
    assert!(told.take(chunk("a", "", false)).len() == 1, "an empty text is a part");
    let nothing = Message { parts: Vec::new(), ..said("a-1", "") };
    let steps = told.take(update(TaskState::Completed, Some(nothing)));
    let Some(Step::Status(status)) = &steps[0].step else { panic!("{steps:?}") };
    assert_eq!(status.message, None);
}

#[test]
fn after_a_cut_only_what_is_new_is_said() {
    let mut told = told();
    let working = || Some(said("a-1", "under way"));
    assert_eq!(told.take(update(TaskState::Working, working())).len(), 1);
    assert!(!append_of(&told.take(chunk("x", "one", false))[0]));
    assert!(append_of(&told.take(chunk("x", "two", true))[0]));
    let same = snapshot(TaskState::Working, working(), vec![artifact("x", &["one", "two"])]);
    assert!(told.take(same).is_empty());
    let more = vec![artifact("x", &["one", "two", "three"]), artifact("y", &["new"])];
    let steps = told.take(snapshot(TaskState::Completed, None, more));
    assert_eq!(steps.len(), 3);
    assert!(!append_of(&steps[0]), "an artifact that grew unseen is said whole");
    assert!(told.is_over());
}

#[test]
fn a_piece_that_goes_on_from_nothing_begins_its_artifact() {
    let mut told = told();
    assert!(!append_of(&told.take(chunk("x", "late", true))[0]));
    assert!(append_of(&told.take(chunk("x", "later", true))[0]));
}

#[test]
fn every_end_is_passed_on_as_what_it_is() {
    for state in [
        TaskState::Completed,
        TaskState::Failed,
        TaskState::Canceled,
        TaskState::Rejected,
        TaskState::InputRequired,
        TaskState::AuthRequired,
    ] {
        let mut told = told();
        let steps = told.take(update(state, None));
        let Some(Step::Status(status)) = &steps[0].step else { panic!("{steps:?}") };
        assert_eq!((status.state(), told.is_over()), (state, true));
    }
    let mut told = told();
    let answer = StreamResponse { payload: Some(Payload::Message(said("", "just this"))) };
    let steps = told.take(answer);
    let Some(Step::Message(message)) = &steps[0].step else { panic!("{steps:?}") };
    assert_eq!((message.message_id.as_str(), told.is_over()), ("t:1-reply-1", true));
}
