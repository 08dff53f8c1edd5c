//! Callers without credentials where others have some: few capabilities, and a token of their own for what they made.

use http::StatusCode;
use serde_json::{Value, json};
use weft_core::Owner;
use weft_proto::a2a::a2a_service_client::A2aServiceClient;
use weft_proto::a2a::{SendMessageRequest, TaskState, send_message_response};
use weft_proto::weft::{AccessPolicy, Allowance, Quota};

use super::{Guarded, ajar, grpc};
use crate::bindings::cases;
use crate::store::{ended, lock, snapshot, update};
use crate::world::{get, hello, post, rpc};

const TOKEN: &str = "twenty-characters-ok";

fn message() -> Value {
    hello("network state")
}

#[tokio::test]
async fn a_first_message_is_answered_with_a_token_that_opens_its_task() {
    let guarded = Guarded::new(ajar()).await;
    let mut seen = Vec::new();
    for _ in 0..2 {
        let reply = guarded.call(&[], "SendMessage", &message()).await;
        assert_eq!(reply.status, StatusCode::OK, "{reply:?}");
        let token = reply.header("task-access-token").to_owned();
        assert_eq!(token.len(), 64);
        assert_eq!(reply.json()["result"]["task"]["metadata"]["taskAccessToken"], token);
        let submitted = lock(&guarded.world.script.submitted).remove(0);
        assert_eq!(submitted.owner, Owner::bearer_of(&token).as_str());
        assert!(!submitted.replay_by_message_id && !format!("{submitted:?}").contains(&token));
        let again = guarded.call(&[("task-access-token", &token)], "GetTask", &json!({"id": "t1"})).await;
        assert_eq!(again.status, StatusCode::OK);
        assert!(!again.text.contains("taskAccessToken") && !again.headers.contains_key("task-access-token"));
        assert_eq!(lock(&guarded.world.script.got).remove(0).owner, submitted.owner);
        seen.push(token);
    }
    assert_ne!(seen[0], seen[1]);
}

#[tokio::test]
async fn every_binding_tells_the_token_in_its_headers_and_once_in_the_task() {
    let guarded = Guarded::new(ajar()).await;
    let events = || {
        ended([
            snapshot(1, TaskState::Submitted),
            update(2, TaskState::Working),
            snapshot(3, TaskState::Completed),
        ])
    };
    let streamed = [
        post().body(rpc("SendStreamingMessage", &message()).into()).unwrap(),
        http::Request::post("/rest/message:stream")
            .header("host", "localhost")
            .body(message().to_string().into())
            .unwrap(),
    ];
    for request in streamed {
        *lock(&guarded.world.script.submit) = Some(Ok(events()));
        let reply = guarded.world.send(request).await;
        let token = reply.header("task-access-token");
        assert_eq!((token.len(), reply.text.matches("taskAccessToken").count()), (64, 1), "{reply:?}");
        assert!(reply.text.contains(token));
    }
    let old = json!({"message": {"kind": "message", "messageId": "m1", "role": "user",
                                 "parts": [{"kind": "text", "text": "network state"}]}});
    let reply = guarded.call(&[], "message/send", &old).await;
    let token = reply.header("task-access-token");
    assert_eq!(reply.json()["result"]["metadata"]["taskAccessToken"], token, "{reply:?}");
    let mut client = A2aServiceClient::new(guarded.world.peer());
    let asked: SendMessageRequest = weft_proto::json::decode(message().to_string().as_bytes()).unwrap();
    let answer = client.send_message(asked).await.unwrap();
    let token = answer.metadata().get("task-access-token").unwrap().to_str().unwrap().to_owned();
    let Some(send_message_response::Payload::Task(task)) = answer.into_inner().payload else { panic!() };
    assert!(format!("{:?}", task.metadata).contains(&token), "{task:?}");
}

#[tokio::test]
async fn a_token_of_ones_own_is_taken_and_not_said_again() {
    let guarded = Guarded::new(ajar()).await;
    let reply = guarded.call(&[("task-access-token", TOKEN)], "SendMessage", &message()).await;
    assert_eq!(reply.status, StatusCode::OK);
    assert!(!reply.headers.contains_key("task-access-token") && !reply.text.contains(TOKEN));
    assert_eq!(lock(&guarded.world.script.submitted).remove(0).owner, Owner::bearer_of(TOKEN).as_str());
    for bad in ["nineteen-characters", "", &"x".repeat(257), "twenty characters, ok"] {
        let reply = guarded.call(&[("task-access-token", bad)], "SendMessage", &message()).await;
        let error = &reply.json()["error"];
        assert_eq!(error["code"], -32602, "{bad:?}");
        assert_eq!(error["data"][1]["fieldViolations"][0]["field"], "Task-Access-Token");
    }
    let two = [("task-access-token", TOKEN), ("task-access-token", TOKEN)];
    assert_eq!(guarded.call(&two, "SendMessage", &message()).await.json()["error"]["code"], -32602);
}

#[tokio::test]
async fn nothing_that_is_kept_is_shown_without_a_token() {
    let guarded = Guarded::new(ajar()).await;
    for case in cases() {
        if case.method.starts_with("Send") || case.method == "GetExtendedAgentCard" {
            continue;
        }
        let reply = guarded.call(&[], case.method, &case.params).await;
        assert_eq!(reply.status, StatusCode::UNAUTHORIZED, "{}: {reply:?}", case.method);
        let error = &reply.json()["error"];
        assert_eq!(error["code"], -32052);
        assert_eq!(error["data"][0]["metadata"]["reason"], "TASK_ACCESS_REQUIRED", "{}", case.method);
        let wire = guarded.world.open(grpc(&format!("/lf.a2a.v1.A2AService/{}", case.method), &[])).await;
        let refused = tonic::Status::from_header_map(wire.headers()).unwrap();
        let fault = weft_chassis::status::fault(&refused);
        assert_eq!(refused.code(), tonic::Code::Unauthenticated);
        assert_eq!(fault.metadata["reason"], "TASK_ACCESS_REQUIRED", "{}", case.method);
    }
    for path in ["/rest/tasks/t1", "/rest/tasks", &format!("/files/t1/{}", "0".repeat(64))] {
        let reply = guarded.world.get(path).await;
        assert_eq!(reply.status, StatusCode::UNAUTHORIZED, "{path}");
        assert_eq!(reply.header("www-authenticate"), r#"Bearer realm="weft""#, "{path}");
    }
    assert!(guarded.is_untouched());
}

#[tokio::test]
async fn only_what_is_for_everybody_is_run_for_them() {
    let guarded = Guarded::new(ajar()).await;
    for token in [&[][..], &[("task-access-token", TOKEN)]] {
        let reply = guarded.call(token, "SendMessage", &hello("Which sectors moved most?")).await;
        assert_eq!(reply.status, StatusCode::UNAUTHORIZED, "{reply:?}");
        assert!(!reply.headers.contains_key("task-access-token"));
    }
    assert!(guarded.is_untouched());
    assert_eq!(
        guarded.call(&[("authorization", "Bearer nobody")], "SendMessage", &message()).await.status,
        401
    );
    assert_eq!(guarded.call(&[("cookie", "weft_session=old")], "SendMessage", &message()).await.status, 401);
    let console = get("/api/catalog").header("task-access-token", TOKEN).body(axum::body::Body::empty());
    assert_eq!(guarded.world.send(console.unwrap()).await.status, StatusCode::UNAUTHORIZED);
}

#[tokio::test]
async fn no_two_of_them_share_anything_with_each_other_or_with_a_principal_or_with_who_was_local() {
    let guarded = Guarded::new(ajar()).await;
    let other = "another-token-of-twenty";
    for token in [TOKEN, other] {
        guarded.call(&[("task-access-token", token)], "SendMessage", &message()).await;
    }
    guarded.call_as("ci-token", "SendMessage", &message()).await;
    // Off and on again: what was made before stays whose it was.
    guarded.policy.send_replace(AccessPolicy { version: 2, ..AccessPolicy::default() });
    guarded.until_status("nobody", StatusCode::OK).await;
    guarded.call(&[("task-access-token", TOKEN)], "SendMessage", &message()).await;
    guarded.policy.send_replace(AccessPolicy { version: 3, ..ajar() });
    guarded.until_status("nobody", StatusCode::UNAUTHORIZED).await;
    guarded.call(&[("task-access-token", TOKEN)], "SendMessage", &message()).await;
    let owners: Vec<_> =
        lock(&guarded.world.script.submitted).iter().map(|request| request.owner.clone()).collect();
    let (one, two) = (Owner::bearer_of(TOKEN).to_string(), Owner::bearer_of(other).to_string());
    assert_eq!(owners, [one.clone(), two, "p:ci".into(), "local".into(), one]);
}

#[tokio::test]
async fn what_they_may_keep_is_what_the_policy_allows_them() {
    let allowance = Allowance { tasks_max: 3, ..Allowance::default() };
    let guarded = Guarded::new(AccessPolicy { anonymous_allowance: Some(allowance), ..ajar() }).await;
    guarded.call(&[], "SendMessage", &message()).await;
    let quota = lock(&guarded.world.script.submitted).remove(0).quota;
    assert_eq!(quota, Some(Quota { tasks_max: 3, ..Quota::default() }));
}

#[tokio::test]
async fn the_extended_card_is_for_whom_the_operator_says() {
    for (setting, anonymous, principal) in
        [("off", -32007, -32007), ("authenticated", -32052, 0), ("open", 0, 0)]
    {
        let guarded = Guarded::with(ajar(), |settings| settings.extended_card = setting.into()).await;
        let code = |reply: crate::world::Reply| reply.json()["error"]["code"].as_i64().unwrap_or_default();
        let nobody = guarded.call(&[], "GetExtendedAgentCard", &json!({})).await;
        assert!(!nobody.headers.contains_key("task-access-token"));
        assert_eq!(code(nobody), anonymous, "{setting}");
        let named = guarded.call_as("ci-token", "GetExtendedAgentCard", &json!({})).await;
        assert_eq!(code(named), principal, "{setting}");
    }
}
