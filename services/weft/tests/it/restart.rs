//! Stopped and started again on the same data: nothing is lost, what was under way is taken up.

use std::path::Path;

use weft_proto::a2a::TaskState;

use crate::client::{Events, Failure, artifacts, said, said_at_once, said_to, state, state_of};
use crate::world::{Form, World};

/// Reads until the stream breaks off; it must not end as if all were said. The number of the last event.
async fn broken_off(mut events: Events) -> u64 {
    let mut last = 0;
    loop {
        match events.next().await {
            Some(Ok((seq, _))) => last = seq,
            Some(Err(Failure::Refused { reason, message, .. })) => {
                assert_eq!(reason, "UNAVAILABLE", "{message}");
                assert!(message.contains("SubscribeToTask"), "it says how to go on: {message}");
                return last;
            }
            other => panic!("a stream that was not over ended with {other:?}"),
        }
    }
}

async fn check(form: Form, data: &Path) {
    let before = World::start(form, data).await;
    let client = &before.client;
    let done = client.send(&said("job done"), &[("idempotency-key", "done")]).await.unwrap();
    let asked = client.send(&said("ask"), &[]).await.unwrap();
    let parked = client.send(&said("ask and forget"), &[]).await.unwrap();
    let key = [("idempotency-key", "again")];
    let running = client.send(&said_at_once("again"), &key).await.unwrap();
    client.until_state(&running.id, TaskState::Working).await;
    client.until(&running.id, |task| format!("{:?}", task.status).contains("first try")).await;
    let reader = client.subscribe(&running.id, None).await.unwrap();
    let (_, seen) = tokio::join!(before.stop(), broken_off(reader));

    let after = World::start(form, data).await;
    let client = &after.client;
    assert_eq!(client.task(&done.id).await.unwrap(), done, "{form:?}: what was done reads as it did");
    assert_eq!(client.task(&parked.id).await.unwrap(), parked);
    let replayed = client.send(&said("job done"), &[("idempotency-key", "done")]).await.unwrap();
    assert_eq!(replayed, done, "{form:?}: the same key is the same task");

    // The mock plays the second try only when it hears that it is one.
    let missed = client.subscribe(&running.id, Some(seen)).await.unwrap().rest().await;
    assert_eq!(missed.first().unwrap().0, seen + 1, "{form:?}: a returning reader misses nothing");
    assert_eq!(state_of(&missed.last().unwrap().1), Some(TaskState::Completed));
    let finished = client.send(&said_at_once("again"), &key).await.unwrap();
    assert_eq!((finished.id.as_str(), state(&finished)), (running.id.as_str(), TaskState::Completed));
    assert_eq!(artifacts(&finished), "second try");

    let answered = client.send(&said_to(&asked.id, "echo a name"), &[]).await.unwrap();
    assert_eq!((answered.id.as_str(), state(&answered)), (asked.id.as_str(), TaskState::Completed));
    assert_eq!(answered.history.first(), asked.history.first());
    assert_eq!(client.list(&serde_json::json!({})).await.unwrap().total_size, 4);
    assert!(after.stop().await);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_mesh_in_one_process_goes_on_where_it_stopped() {
    let data = tempfile::tempdir().unwrap();
    check(Form::Together, data.path()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_mesh_of_roles_apart_goes_on_where_it_stopped() {
    let data = tempfile::tempdir().unwrap();
    check(Form::Apart, data.path()).await;
}
