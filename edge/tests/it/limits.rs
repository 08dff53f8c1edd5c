//! Bounds on what comes in: size, time, rate, room.

use std::time::Duration;

use axum::body::Body;
use bytes::Bytes;
use futures::stream::{self, StreamExt};
use http::StatusCode;
use serde_json::json;

use crate::store::{lock, open};
use crate::world::{World, hello, post, rpc};

#[tokio::test]
async fn a_body_over_the_limit_is_refused_whether_or_not_it_says_how_long_it_is() {
    let world = World::with(|settings| settings.body_bytes_max = 2_048).await;
    let padded = |bytes: usize| {
        let body = rpc("ListTasks", &json!({}));
        format!("{body}{}", " ".repeat(bytes - body.len()))
    };
    let pieces = |body: String| {
        let pieces: Vec<_> = body
            .into_bytes()
            .chunks(500)
            .map(|c| Ok::<_, std::io::Error>(Bytes::copy_from_slice(c)))
            .collect();
        Body::from_stream(stream::iter(pieces))
    };
    for (bytes, status) in [(2_048, StatusCode::OK), (2_049, StatusCode::PAYLOAD_TOO_LARGE)] {
        for body in [Body::from(padded(bytes)), pieces(padded(bytes))] {
            let reply = world.post(body).await;
            assert_eq!(reply.status, status, "{bytes}");
            if status != StatusCode::OK {
                assert_eq!(reply.json()["error"]["code"], -32054);
                assert!(reply.text.contains("edge.body_bytes_max"), "{}", reply.text);
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_body_that_never_ends_is_given_up() {
    let world = World::new().await;
    let slow =
        stream::once(async { Ok::<_, std::io::Error>(Bytes::from_static(b"{")) }).chain(stream::pending());
    let reply = world.post(Body::from_stream(slow)).await;
    assert_eq!(
        (reply.status, reply.json()["error"]["code"].clone()),
        (StatusCode::REQUEST_TIMEOUT, json!(-32057))
    );
}

#[tokio::test]
async fn a_broken_body_is_no_request() {
    let world = World::new().await;
    let broken = stream::iter([Err::<Bytes, _>(std::io::Error::other("reset"))]);
    assert_eq!(world.post(Body::from_stream(broken)).await.status, StatusCode::BAD_REQUEST);
}

#[tokio::test]
async fn a_caller_over_its_rate_is_told_when_to_come_again_and_may_still_see_the_card_and_health() {
    let world = World::with(|settings| {
        settings.rate_per_second = 1;
        settings.rate_burst = 2;
    })
    .await;
    let call = || world.post(rpc("ListTasks", &json!({})));
    assert_eq!(call().await.status, StatusCode::OK);
    assert_eq!(call().await.status, StatusCode::OK);
    let refused = call().await;
    assert_eq!((refused.status, refused.header("retry-after")), (StatusCode::TOO_MANY_REQUESTS, "1"));
    let error = &refused.json()["error"];
    assert_eq!(error["code"], -32055);
    assert_eq!(error["data"][1]["@type"], "type.googleapis.com/google.rpc.RetryInfo");
    for path in ["/.well-known/agent-card.json", "/healthz", "/readyz"] {
        assert_eq!(world.get(path).await.status, StatusCode::OK, "{path}");
    }
}

#[tokio::test]
async fn calls_under_way_are_bounded() {
    let world = World::with(|settings| settings.calls_max = 1).await;
    *lock(&world.script.submit) = Some(Ok(open([])));
    let waiting =
        world.open(post().body(rpc("SendMessage", &hello("which sectors moved most")).into()).unwrap());
    let mut waiting = Box::pin(waiting);
    // Polled until it waits for the store.
    assert!(futures::poll!(waiting.as_mut()).is_pending());
    while lock(&world.script.submitted).is_empty() {
        assert!(futures::poll!(waiting.as_mut()).is_pending());
        tokio::task::yield_now().await;
    }
    let refused = world.post(rpc("ListTasks", &json!({}))).await;
    assert_eq!((refused.status, refused.header("retry-after")), (StatusCode::TOO_MANY_REQUESTS, "1"));
    drop(waiting);
    assert_eq!(world.post(rpc("ListTasks", &json!({}))).await.status, StatusCode::OK);
}

#[tokio::test(start_paused = true)]
async fn a_store_that_never_answers_is_given_up() {
    let world = World::with(|settings| {
        settings.upstream_ms = 100;
        settings.send_wait_ms = 1_000;
    })
    .await;
    *lock(&world.script.submit) = Some(Ok(open([])));
    let before = tokio::time::Instant::now();
    assert_eq!(world.code("SendMessage", hello("which sectors moved most")).await, -32057);
    assert!(before.elapsed() >= Duration::from_millis(1_100), "the caller's wait and the call's own time");
}
