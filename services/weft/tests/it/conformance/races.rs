//! The same profile under haste: many tasks at once, cancels that race with the end, artifacts in pieces.

use futures::StreamExt;
use futures::stream;
use serde_json::{Value, json};
use weft_proto::a2a::stream_response::Payload;
use weft_proto::a2a::{StreamResponse, Task, TaskState};

use super::{form, message};
use crate::client::{Client, artifacts, settled, state, state_of};

/// Tasks that are sent at the same time.
const AT_ONCE: usize = 64;

#[tokio::test(flavor = "multi_thread")]
async fn a_thousand_tasks_that_take_no_time_all_end_with_their_artifact() {
    let form = form("full.toml").await;
    let client = form.client();
    let sent = stream::iter(0..1_000).map(|n| async move {
        client.send(&message(&format!("tck-artifact-text-{n}"), "hello"), &[]).await.unwrap()
    });
    let tasks: Vec<Task> = sent.buffer_unordered(AT_ONCE).collect().await;
    let good = |task: &&Task| {
        state(task) == TaskState::Completed
            && artifacts(task) == "Generated text content"
            && task.history.len() == 1
    };
    assert_eq!(tasks.iter().filter(good).count(), 1_000);
    form.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_an_answer_showed_is_what_a_read_right_after_it_shows() {
    let form = form("full.toml").await;
    for n in 0..100 {
        let params = message(&format!("tck-artifact-data-{n}"), "hello");
        let sent = form.client().send(&params, &[]).await.unwrap();
        assert_eq!(form.client().task(&sent.id).await.unwrap(), sent);
        let events = form.client().stream("SendStreamingMessage", &params, &[]).await.unwrap().rest().await;
        let folded = folded(events.iter().map(|(_, event)| event));
        let read = form.client().task(&folded.id).await.unwrap();
        assert_eq!((&read.status, &read.artifacts), (&folded.status, &folded.artifacts));
    }
    form.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cancel_that_races_with_the_end_leaves_one_terminal_state() {
    let form = form("full.toml").await;
    let raced = stream::iter(0..100).map(|n| race(form.client(), n)).buffer_unordered(8);
    let ends: Vec<TaskState> = raced.collect().await;
    assert!(ends.iter().all(|end| [TaskState::Canceled, TaskState::Completed].contains(end)), "{ends:?}");
    form.stop().await;
}

/// Streams a task, cancels it while it runs; the state in which it ended, for every reader alike.
async fn race(client: &Client, n: usize) -> TaskState {
    let params = message(&format!("tck-stream-ordering-001-{n}"), "hello");
    let mut events = client.stream("SendStreamingMessage", &params, &[]).await.unwrap();
    let (_, first) = events.next().await.unwrap().unwrap();
    let Some(Payload::Task(task)) = first.payload.clone() else { panic!("{first:?}") };
    let (canceled, rest) = tokio::join!(client.cancel(&task.id), events.rest());
    let told = std::iter::once(&first).chain(rest.iter().map(|(_, event)| event));
    let states: Vec<TaskState> = told.filter_map(state_of).filter(|state| settled(*state)).collect();
    assert_eq!(states.len(), 1, "{states:?}");
    match canceled {
        Ok(task) => assert_eq!((state(&task), states[0]), (TaskState::Canceled, TaskState::Canceled)),
        Err(failure) => assert_eq!((failure.code(), states[0]), (-32002, TaskState::Completed)),
    }
    assert_eq!(state(&client.task(&task.id).await.unwrap()), states[0]);
    states[0]
}

#[tokio::test(flavor = "multi_thread")]
async fn artifacts_in_pieces_are_the_same_to_a_reader_of_the_stream_and_of_the_task() {
    let form = form("full.toml").await;
    let cases = [
        ("weft-interleaved", json!([["one, two, three"], ["first, second"]])),
        ("weft-append-to-nothing", json!([["begun by its second piece"]])),
    ];
    for (prefix, expected) in cases {
        let params = message(&format!("{prefix}-1"), "hello");
        let events = form.client().stream("SendStreamingMessage", &params, &[]).await.unwrap().rest().await;
        let streamed = folded(events.iter().map(|(_, event)| event));
        let read = form.client().task(&streamed.id).await.unwrap();
        assert_eq!((state(&read), &streamed.artifacts), (TaskState::Completed, &read.artifacts), "{prefix}");
        assert_eq!(texts(&read), expected, "{prefix}");
    }
    form.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_node_that_breaks_in_the_middle_fails_the_task_with_a_reason_and_keeps_what_it_gave() {
    let form = form("full.toml").await;
    let answer = form.said("weft-break-1", "hello").await;
    let task = &answer["task"];
    assert_eq!(task["status"]["state"], "TASK_STATE_FAILED", "{task}");
    assert_eq!(task["status"]["message"]["parts"][1]["data"]["code"], "STREAM_BROKEN", "{task}");
    assert_eq!(task["artifacts"][0]["parts"][0]["text"], "as far as it came", "{task}");
    form.stop().await;
}

/// What a reader of a stream knows in the end.
fn folded<'a>(events: impl Iterator<Item = &'a StreamResponse>) -> Task {
    let mut task = Task::default();
    events.for_each(|event| weft_core::task::fold(&mut task, event));
    task
}

/// The texts of each artifact, joined.
fn texts(task: &Task) -> Value {
    let alone = |artifact: &weft_proto::a2a::Artifact| {
        vec![artifacts(&Task { artifacts: vec![artifact.clone()], ..Task::default() })]
    };
    json!(task.artifacts.iter().map(alone).collect::<Vec<_>>())
}
