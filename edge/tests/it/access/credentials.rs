//! What counts as a credential, for how long an answer holds, and what becomes of it.

use std::sync::atomic::Ordering;

use axum::body::Body;
use http::{Request, StatusCode};
use serde_json::json;
use weft_proto::weft::submit_request::Start;
use weft_proto::weft::{AccessPolicy, Quota};

use super::{Guarded, closed};
use crate::store::lock;
use crate::world::{get, hello, post, rpc};

fn task() -> serde_json::Value {
    json!({"id": "t1"})
}

#[tokio::test]
async fn where_nobody_has_credentials_everybody_is_local_whatever_they_show() {
    let guarded = Guarded::new(AccessPolicy::default()).await;
    for shown in [&[][..], &[("authorization", "Bearer nobody")], &[("cookie", "weft_session=x")]] {
        assert_eq!(guarded.call(shown, "GetTask", &task()).await.status, StatusCode::OK, "{shown:?}");
    }
    assert!(guarded.asked().is_empty());
    assert!(lock(&guarded.world.script.got).iter().all(|asked| asked.owner == "local"));
    assert_eq!(guarded.world.get("/api/catalog").await.status, StatusCode::OK);
}

#[tokio::test]
async fn a_principal_owns_what_it_makes_and_a_message_of_the_same_id_is_the_same_message() {
    let guarded = Guarded::new(closed()).await;
    let reply = guarded.call_as("small-token", "SendMessage", &hello("network state")).await;
    assert_eq!(reply.status, StatusCode::OK, "{reply:?}");
    assert!(!reply.headers.contains_key("task-access-token") && !reply.text.contains("taskAccessToken"));
    let submitted = lock(&guarded.world.script.submitted).remove(0);
    assert_eq!((submitted.owner.as_str(), submitted.replay_by_message_id), ("p:small", true));
    let quota = Quota { tasks_max: 5, bytes_max: 6, context_turns_max: 7, keep_hours: 0 };
    assert_eq!(submitted.quota, Some(quota));
    guarded.call_as("ci-token", "SendMessage", &hello("network state")).await;
    assert_eq!(lock(&guarded.world.script.submitted).remove(0).quota, None, "the settings of the store hold");
}

#[tokio::test]
async fn an_answer_is_kept_until_the_policy_changes() {
    let guarded = Guarded::new(closed()).await;
    for _ in 0..5 {
        assert_eq!(guarded.call_as("ci-token", "GetTask", &task()).await.status, StatusCode::OK);
    }
    assert_eq!(guarded.asked().len(), 1);
    guarded.gate.0.away.store(true, Ordering::SeqCst);
    assert_eq!(guarded.call_as("ci-token", "GetTask", &task()).await.status, StatusCode::OK);
    let other = guarded.call_as("other-token", "GetTask", &task()).await;
    assert_eq!(other.status, StatusCode::SERVICE_UNAVAILABLE, "nobody can say: {other:?}");
    guarded.policy.send_modify(|policy| policy.version += 1);
    guarded.until_status("ci-token", StatusCode::SERVICE_UNAVAILABLE).await;
    guarded.gate.0.away.store(false, Ordering::SeqCst);
    assert_eq!(guarded.call_as("ci-token", "GetTask", &task()).await.status, StatusCode::OK);
}

#[tokio::test]
async fn bad_credentials_are_never_kept_and_all_that_is_shown_is_judged_together() {
    let guarded = Guarded::new(closed()).await;
    for _ in 0..3 {
        assert_eq!(guarded.call_as("nobody", "GetTask", &task()).await.status, StatusCode::UNAUTHORIZED);
    }
    assert_eq!(guarded.asked().len(), 3);
    for (bearer, status) in [("ci-token", StatusCode::OK), ("other-token", StatusCode::UNAUTHORIZED)] {
        let bearer = format!("Bearer {bearer}");
        let both = [("authorization", bearer.as_str()), ("x-api-key", "ci-key")];
        assert_eq!(guarded.call(&both, "GetTask", &task()).await.status, status);
    }
    assert_eq!(guarded.asked().len(), 2, "a key is not taken for what was proved together with another");
}

#[tokio::test]
async fn a_sealed_call_is_judged_as_a_whole_and_each_time_anew() {
    let guarded =
        Guarded::with(closed(), |settings| settings.public_url = "https://mesh.example/x".into()).await;
    let body = rpc("GetTask", &task());
    for (signature, status) in
        [("good", StatusCode::OK), ("good", StatusCode::OK), ("bad", StatusCode::UNAUTHORIZED)]
    {
        let request = post().header("signature-input", "weft=()").header("signature", signature);
        let reply = guarded.world.send(request.body(body.clone().into()).unwrap()).await;
        assert_eq!(reply.status, status, "{reply:?}");
    }
    let asked = guarded.asked();
    assert_eq!(asked.len(), 3);
    let sealed = asked[0].sealed.clone().unwrap();
    assert_eq!((sealed.method.as_str(), sealed.target_uri.as_str()), ("POST", "https://mesh.example/x/a2a"));
    let digest: [u8; 32] = <sha2::Sha256 as sha2::Digest>::digest(&body).into();
    assert_eq!(sealed.body_sha256, digest);
    assert!(sealed.headers.iter().any(|header| header.name == "signature-input"));
    let grpc =
        super::grpc("/lf.a2a.v1.A2AService/GetTask", &[("signature-input", "x"), ("signature", "good")]);
    guarded.world.open(grpc).await;
    let sealed = guarded.asked().remove(0).sealed.unwrap();
    assert_eq!(sealed.target_uri, "https://mesh.example/lf.a2a.v1.A2AService/GetTask");
}

#[tokio::test]
async fn a_capability_that_is_not_for_a_principal_is_refused_and_never_reached() {
    let guarded = Guarded::new(closed()).await;
    let named = |id: &str| {
        let mut message = hello("x");
        message["message"]["metadata"] = json!({"skillId": id});
        message
    };
    for kept in [named("sector.movement"), hello("Which sectors moved most?")] {
        let reply = guarded.call_as("narrow-token", "SendMessage", &kept).await;
        assert_eq!(reply.status, StatusCode::FORBIDDEN, "{reply:?}");
        assert_eq!(reply.json()["error"]["code"], -32053);
        assert!(!reply.headers.contains_key("www-authenticate"), "no scope would help");
    }
    assert!(guarded.is_untouched());
    for free in [named("network.state"), hello("network state")] {
        assert_eq!(guarded.call_as("narrow-token", "SendMessage", &free).await.status, StatusCode::OK);
    }
    lock(&guarded.world.script.submitted).clear();
    let reply = guarded.call_as("narrow-token", "SendMessage", &hello("zzz")).await;
    assert_eq!(reply.status, StatusCode::OK, "{reply:?}");
    let Some(Start::Parked(menu)) = lock(&guarded.world.script.submitted).remove(0).start else { panic!() };
    let shown = format!("{menu:?}");
    assert!(shown.contains("network.state") && !shown.contains("sector.movement"), "{shown}");
    // A task that was parked is not started by words that lead elsewhere.
    let mut turn = hello("Which sectors moved most?");
    turn["message"]["taskId"] = json!("t1");
    assert_eq!(guarded.call_as("narrow-token", "SendMessage", &turn).await.status, StatusCode::OK);
    let start = lock(&guarded.world.script.submitted).remove(0).start;
    assert!(matches!(start, Some(Start::Parked(_))), "{start:?}");
}

#[tokio::test]
async fn the_console_is_for_administrators_and_its_page_for_everybody() {
    let guarded = Guarded::new(closed()).await;
    let at = |path: &str, token: &str| {
        get(path).header("authorization", format!("Bearer {token}")).body(Body::empty()).unwrap()
    };
    for path in ["/api/catalog", "/api/tasks/feed"] {
        assert_eq!(guarded.world.get(path).await.status, StatusCode::UNAUTHORIZED, "{path}");
        let reply = guarded.world.send(at(path, "ci-token")).await;
        assert_eq!(reply.status, StatusCode::FORBIDDEN, "{path}");
        assert!(reply.header("www-authenticate").contains(r#"scope="weft:admin""#));
        assert_eq!(guarded.world.open(at(path, "admin-token")).await.status(), StatusCode::OK, "{path}");
    }
    assert_eq!(lock(&guarded.world.script.fed).remove(0).owner, "p:root");
    for path in
        ["/", "/tasks", "/healthz", "/readyz", "/.well-known/agent-card.json", "/.well-known/jwks.json"]
    {
        assert_eq!(guarded.world.get(path).await.status, StatusCode::OK, "{path}");
    }
}

#[tokio::test]
async fn a_file_is_for_whoever_may_read_its_task() {
    let guarded = Guarded::new(closed()).await;
    let path = format!("/files/t1/{}", "0".repeat(64));
    assert_eq!(guarded.world.get(&path).await.status, StatusCode::UNAUTHORIZED);
    let request = |token: &str| {
        Request::get(&path)
            .header("host", "localhost")
            .header("authorization", format!("Bearer {token}"))
            .body(Body::empty())
            .unwrap()
    };
    assert_eq!(guarded.world.send(request("writer-token")).await.status, StatusCode::FORBIDDEN);
    assert!(guarded.is_untouched());
    assert_eq!(guarded.world.send(request("ci-token")).await.status, StatusCode::NOT_FOUND);
    assert_eq!(lock(&guarded.world.script.got).remove(0).owner, "p:ci");
}
