//! Event streams: first event, frames, ends good and bad, resuming, stopping.

use axum::body::Body;
use futures::stream::StreamExt;
use http::StatusCode;
use http_body_util::BodyExt;
use serde_json::{Value, json};
use tonic::Status;
use weft_chassis::status;
use weft_core::{Fault, Kind};
use weft_proto::a2a::TaskState;
use weft_proto::weft::Follow;

use crate::store::{Events, ended, lock, open, snapshot, update};
use crate::world::{Reply, World, hello, post, rpc};

/// The events of a finished stream: id and data.
fn events(reply: &Reply) -> Vec<(Option<u64>, Value)> {
    assert_eq!(
        (reply.status, reply.header("content-type")),
        (StatusCode::OK, "text/event-stream"),
        "{reply:?}"
    );
    let frames = reply.text.split("\n\n").filter(|frame| !frame.is_empty() && !frame.starts_with(':'));
    frames
        .map(|frame| {
            let field = |name: &str| frame.lines().find_map(|line| line.strip_prefix(name));
            assert_eq!(
                frame.lines().filter(|line| line.starts_with("data:")).count(),
                1,
                "one data line: {frame}"
            );
            (
                field("id: ").map(|id| id.parse().unwrap()),
                serde_json::from_str(field("data: ").unwrap()).unwrap(),
            )
        })
        .collect()
}

async fn send_stream(world: &World, scripted: Events) -> Reply {
    *lock(&world.script.submit) = Some(Ok(scripted));
    world.post(rpc("SendStreamingMessage", &hello("which sectors moved most"))).await
}

#[tokio::test]
async fn a_stream_is_full_envelopes_with_their_sequence_numbers_and_closes_when_the_task_rests() {
    let world = World::new().await;
    let script =
        [snapshot(1, TaskState::Submitted), update(2, TaskState::Working), update(3, TaskState::Completed)];
    let reply = send_stream(&world, ended(script)).await;
    for (name, value) in
        [("cache-control", "no-cache, no-transform"), ("x-accel-buffering", "no"), ("content-encoding", "")]
    {
        assert_eq!(reply.header(name), value);
    }
    let found = events(&reply);
    let ids: Vec<_> = found.iter().map(|(id, _)| id.unwrap()).collect();
    assert_eq!(ids, [1, 2, 3]);
    for (_, data) in &found {
        assert_eq!((&data["jsonrpc"], &data["id"]), (&json!("2.0"), &json!(1)));
    }
    assert_eq!(found[0].1["result"]["task"]["id"], "t1");
    assert_eq!(found[2].1["result"]["statusUpdate"]["status"]["state"], "TASK_STATE_COMPLETED");
    let asked = lock(&world.script.submitted).remove(0);
    assert_eq!(asked.follow(), Follow::Events);
}

#[tokio::test]
async fn a_stream_that_ends_before_the_task_rests_says_so_at_its_end() {
    let world = World::new().await;
    let cut = |reply: &Reply| {
        let last = events(reply).pop().unwrap();
        assert_eq!(last.0, None);
        last.1["error"]["code"].as_i64()
    };
    let reply =
        send_stream(&world, ended([snapshot(1, TaskState::Submitted), update(2, TaskState::Working)])).await;
    assert_eq!(cut(&reply), Some(-32056));
    let broken = ended([snapshot(1, TaskState::Working), Err(Status::internal("disk"))]);
    assert_eq!(cut(&send_stream(&world, broken).await), Some(-32603));

    // Waiting for input ends a reply well, but not a subscription.
    let waiting = || ended([snapshot(1, TaskState::InputRequired)]);
    assert!(events(&send_stream(&world, waiting()).await)[0].1["error"].is_null());
    *lock(&world.script.subscribe) = Some(Ok(waiting()));
    let reply = world.post(rpc("SubscribeToTask", &json!({"id": "t1"}))).await;
    assert_eq!(cut(&reply), Some(-32056));
}

#[tokio::test]
async fn a_fault_before_the_first_event_is_an_ordinary_answer() {
    let world = World::new().await;
    for kind in [Kind::TaskNotFound, Kind::UnsupportedOperation, Kind::Exhausted] {
        let refusal = || status::status(Fault::new(kind, "cannot"));
        let code = i64::from(kind.row().jsonrpc);
        *lock(&world.script.subscribe) = Some(Err(refusal()));
        assert_eq!(world.code("SubscribeToTask", json!({"id": "t1"})).await, code);
        *lock(&world.script.subscribe) = Some(Ok(ended([Err(refusal())])));
        assert_eq!(world.code("SubscribeToTask", json!({"id": "t1"})).await, code);
        *lock(&world.script.submit) = Some(Err(refusal()));
        assert_eq!(world.code("SendStreamingMessage", hello("which sectors moved most")).await, code);
    }
    assert_eq!(world.code("SendStreamingMessage", json!({"message": {"messageId": "m"}})).await, -32602);
    let request =
        post().header("a2a-version", "99.0").body(rpc("SendStreamingMessage", &hello("x")).into()).unwrap();
    assert_eq!(world.send(request).await.json()["error"]["code"], -32009);
}

#[tokio::test]
async fn a_returning_reader_gets_what_follows_the_event_it_saw_last() {
    let world = World::new().await;
    *lock(&world.script.subscribe) = Some(Ok(ended([update(8, TaskState::Completed)])));
    let request = post()
        .header("last-event-id", "7")
        .body(rpc("SubscribeToTask", &json!({"id": "t1"})).into())
        .unwrap();
    let found = events(&world.send(request).await);
    assert_eq!(found.iter().map(|(id, _)| *id).collect::<Vec<_>>(), [Some(8)]);
    assert_eq!(lock(&world.script.subscribed)[0].after, Some(7));

    // Even when nothing follows yet, the answer begins at once.
    *lock(&world.script.subscribe) = Some(Ok(open([])));
    let request = post()
        .header("last-event-id", "8")
        .body(rpc("SubscribeToTask", &json!({"id": "t1"})).into())
        .unwrap();
    assert_eq!(world.open(request).await.status(), StatusCode::OK);
}

#[tokio::test]
async fn a_stop_ends_open_streams_with_the_advice_to_come_back() {
    let world = World::new().await;
    let request = post().body(Body::from(rpc("SubscribeToTask", &json!({"id": "t1"})))).unwrap();
    let mut body = world.open(request).await.into_body();
    let first = body.frame().await.unwrap().unwrap().into_data().unwrap();
    assert!(first.starts_with(b"id: 3\n"));
    world.env.stop().cancel();
    let rest = body.collect().await.unwrap().to_bytes();
    let text = String::from_utf8(rest.to_vec()).unwrap();
    assert!(text.contains("-32056") && text.contains("SubscribeToTask"), "{text}");
}

#[tokio::test]
async fn a_reader_that_leaves_drops_the_watch_and_its_place() {
    let world = World::with(|settings| settings.streams_max = 1).await;
    let (gone, left) = tokio::sync::oneshot::channel::<()>();
    let watched = open([snapshot(1, TaskState::Working)]).map(move |event| {
        let _held = &gone;
        event
    });
    *lock(&world.script.subscribe) = Some(Ok(watched.boxed()));
    let subscribe = || post().body(Body::from(rpc("SubscribeToTask", &json!({"id": "t1"})))).unwrap();
    let mut body = world.open(subscribe()).await.into_body();
    body.frame().await.unwrap().unwrap();
    let refused = world.send(subscribe()).await.json();
    assert_eq!(refused["error"]["code"], -32055, "the one place is taken");
    drop(body);
    assert!(left.await.is_err(), "the store's side of the stream is dropped");
    assert_eq!(world.open(subscribe()).await.status(), StatusCode::OK);
}
