//! SendMessage: what is admitted, where it goes, what is passed on, what comes back.

use axum::body::Body;
use serde_json::{Value, json};
use tonic::Status;
use weft_chassis::status;
use weft_core::{Fault, Kind};
use weft_proto::a2a::TaskState;
use weft_proto::weft::submit_request::Start;
use weft_proto::weft::{Follow, SubmitRequest};

use crate::store::{ended, lock, snapshot, update};
use crate::world::{World, hello, post, rpc};

impl World {
    /// The one request that the store got since the last time.
    fn submitted(&self) -> SubmitRequest {
        let mut all: Vec<_> = lock(&self.script.submitted).drain(..).collect();
        assert_eq!(all.len(), 1);
        all.remove(0)
    }
}

/// `hello` with one member of the message, or of the whole request, replaced; null takes it away.
fn with(path: &[&str], value: Value) -> Value {
    let mut params = hello("which sectors moved most");
    let mut at = &mut params;
    for name in &path[..path.len() - 1] {
        at = &mut at[*name];
    }
    match (value, at) {
        (Value::Null, at) => drop(at.as_object_mut().unwrap().remove(path[path.len() - 1])),
        (value, at) => at[path[path.len() - 1]] = value,
    }
    params
}

#[tokio::test]
async fn a_message_is_written_down_with_its_route_and_answered_with_its_task() {
    let world = World::new().await;
    let answer = world.call("SendMessage", hello("which sectors moved most?")).await;
    assert_eq!(answer["result"]["task"]["id"], "t1");
    assert_eq!(answer["result"]["task"]["status"]["state"], "TASK_STATE_COMPLETED");
    assert_eq!(answer["result"]["task"]["status"]["timestamp"], "2026-01-01T00:00:00.005Z");
    let asked = world.submitted();
    let Some(Start::Route(route)) = &asked.start else { panic!("it matches") };
    assert_eq!((route.capability.as_str(), route.explicit), ("sector.movement", false));
    assert_eq!((asked.owner.as_str(), asked.follow()), ("local", Follow::Result));
    assert_eq!(
        (asked.wait_ms, asked.replay_by_message_id, asked.idempotency_key.as_str()),
        (120_000, false, "")
    );
    assert_eq!(asked.request.unwrap().message.unwrap().message_id, "m1");
}

#[tokio::test]
async fn return_immediately_and_the_idempotency_key_reach_the_store() {
    let world = World::new().await;
    *lock(&world.script.submit) = Some(Ok(ended([snapshot(1, TaskState::Submitted)])));
    let params = with(&["configuration"], json!({"returnImmediately": true}));
    let request =
        post().header("idempotency-key", "k-1").body(Body::from(rpc("SendMessage", &params))).unwrap();
    let answer = world.send(request).await.json();
    assert_eq!(answer["result"]["task"]["status"]["state"], "TASK_STATE_SUBMITTED");
    let asked = world.submitted();
    assert_eq!((asked.follow(), asked.wait_ms, asked.idempotency_key.as_str()), (Follow::None, 0, "k-1"));
}

#[tokio::test]
async fn a_message_that_matches_nothing_is_parked_with_what_can_be_asked() {
    let world = World::new().await;
    world.call("SendMessage", hello("how do I bake bread")).await;
    let Some(Start::Parked(status)) = world.submitted().start else { panic!("nothing matches") };
    assert_eq!(status.state(), TaskState::InputRequired);
    let message = status.message.unwrap();
    assert!(!message.message_id.is_empty());
    assert_eq!(message.parts.len(), 2);
}

#[tokio::test]
async fn a_skill_is_named_by_metadata_or_by_data() {
    let world = World::new().await;
    world.call("SendMessage", with(&["message", "metadata"], json!({"skillId": "network.state"}))).await;
    let Some(Start::Route(route)) = world.submitted().start else { panic!("it is named") };
    assert_eq!((route.capability.as_str(), route.explicit), ("network.state", true));

    let data = json!([{"data": {"skill": "network.state", "arguments": {"n": 1}}}]);
    world.call("SendMessage", with(&["message", "parts"], data)).await;
    let Some(Start::Route(route)) = world.submitted().start else { panic!("it is named") };
    assert!(route.arguments.unwrap().fields.contains_key("n"));

    let answer = world.call("SendMessage", with(&["message", "metadata"], json!({"skillId": "nope"}))).await;
    assert_eq!(answer["error"]["code"], -32602);
    let violation = &answer["error"]["data"][1]["fieldViolations"][0];
    assert_eq!(violation["field"], "message.metadata.skillId");
    assert!(
        violation["description"].as_str().unwrap().contains("sector.movement, network.state"),
        "{violation}"
    );
}

#[tokio::test]
async fn what_is_refused_names_its_field_and_stores_nothing() {
    let world = World::new().await;
    let deep = |n: usize| (0..n).fold(json!(1), |inner, _| json!({"a": inner}));
    for (params, code, field) in [
        (json!({}), -32602, "message"),
        (with(&["message"], json!("x")), -32602, "message"),
        (with(&["message", "messageId"], Value::Null), -32602, "message.messageId"),
        (with(&["message", "messageId"], json!(" ")), -32602, "message.messageId"),
        (with(&["message", "messageId"], json!("a\r\nb")), -32602, "message.messageId"),
        (with(&["message", "messageId"], json!(7)), -32602, "message.messageId"),
        (with(&["message", "contextId"], json!("x".repeat(10_000))), -32602, "message.contextId"),
        (with(&["message", "taskId"], json!("\u{0}")), -32602, "message.taskId"),
        (with(&["message", "parts"], Value::Null), -32602, "message.parts"),
        (with(&["message", "parts"], json!([])), -32602, "message.parts"),
        (with(&["message", "parts"], json!([{}])), -32602, "message.parts[0]"),
        (with(&["message", "parts"], json!([{"text": "a", "url": "b"}])), -32602, "message.parts[0]"),
        (with(&["message", "role"], Value::Null), -32602, "message.role"),
        (with(&["message", "role"], json!("ROLE_AGENT")), -32602, "message.role"),
        (with(&["message", "role"], json!("user")), -32602, "message.role"),
        (with(&["message", "parts"], json!([{"data": deep(200)}])), -32602, "message.parts[0].data"),
        (
            with(&["message", "parts"], json!([{"data": 9_007_199_254_740_993_u64}])),
            -32602,
            "message.parts[0].data",
        ),
        (with(&["configuration"], json!({"historyLength": -1})), -32602, "configuration.historyLength"),
        (with(&["configuration"], json!({"historyLength": "x"})), -32602, "configuration.historyLength"),
        (
            with(&["configuration"], json!({"returnImmediately": "yes"})),
            -32602,
            "configuration.returnImmediately",
        ),
        (with(&["tenant"], json!("acme")), -32050, "tenant"),
        (
            with(&["message", "parts"], json!([{"raw": "AA==", "mediaType": "application/x-nope"}])),
            -32005,
            "message.parts[0].mediaType",
        ),
        (
            with(&["configuration"], json!({"acceptedOutputModes": ["image/png"]})),
            -32005,
            "configuration.acceptedOutputModes",
        ),
    ] {
        let answer = world.call("SendMessage", params.clone()).await;
        assert_eq!(answer["error"]["code"], code, "{params}: {answer}");
        let named = answer["error"]["data"][1]["fieldViolations"][0]["field"].as_str().unwrap_or_default();
        assert!(named.starts_with(field), "{field}: {answer}");
    }
    assert!(lock(&world.script.submitted).is_empty(), "nothing of it reached the store");
}

#[tokio::test]
async fn odd_but_legal_ids_and_proto_names_are_taken() {
    let world = World::new().await;
    let params = json!({"message": {"message_id": "é 1/2%25", "role": "ROLE_USER", "context_id": "café 1/2",
        "parts": [{"text": "which sectors moved most", "media_type": "text/plain"}], "metadata": null}});
    world.call("SendMessage", params).await;
    let message = world.submitted().request.unwrap().message.unwrap();
    assert_eq!((message.message_id.as_str(), message.context_id.as_str()), ("é 1/2%25", "café 1/2"));
}

#[tokio::test]
async fn a_bad_idempotency_key_is_refused() {
    let world = World::new().await;
    for key in ["", "a b", &"k".repeat(257)] {
        let body = rpc("SendMessage", &hello("which sectors moved most"));
        let answer =
            world.send(post().header("idempotency-key", key).body(body.into()).unwrap()).await.json();
        assert_eq!(answer["error"]["data"][1]["fieldViolations"][0]["field"], "Idempotency-Key", "{key:?}");
    }
    assert!(lock(&world.script.submitted).is_empty());
}

#[tokio::test]
async fn the_history_of_the_answer_is_as_long_as_asked_for() {
    let world = World::new().await;
    for (length, ids) in [
        (None, &["m0", "m1", "m2"][..]),
        (Some(2), &["m1", "m2"]),
        (Some(0), &[]),
        (Some(9), &["m0", "m1", "m2"]),
    ] {
        let params = match length {
            Some(n) => with(&["configuration"], json!({"historyLength": n})),
            None => hello("which sectors moved most"),
        };
        let answer = world.call("SendMessage", params).await;
        let history = &answer["result"]["task"]["history"];
        let found: Vec<_> =
            history.as_array().into_iter().flatten().map(|m| m["messageId"].as_str().unwrap()).collect();
        assert_eq!(found, ids, "{length:?}");
        assert!(length != Some(0) || history.is_null(), "no history: no field");
    }
}

#[tokio::test]
async fn what_the_store_refuses_is_passed_on_with_its_details() {
    let world = World::new().await;
    for (kind, code) in [
        (Kind::TaskNotFound, -32001),
        (Kind::UnsupportedOperation, -32004),
        (Kind::Conflict, -32051),
        (Kind::Exhausted, -32055),
    ] {
        let fault = Fault::new(kind, "cannot do it").with("taskId", "t9");
        *lock(&world.script.submit) = Some(Err(status::status(fault.clone())));
        let answer = world.call("SendMessage", hello("which sectors moved most")).await;
        assert_eq!(answer["error"]["code"], code);
        assert_eq!(answer["error"]["data"][0]["metadata"]["taskId"], "t9");
        // The same when the refusal comes as the first thing on the stream.
        *lock(&world.script.submit) = Some(Ok(ended([Err(status::status(fault))])));
        assert_eq!(world.code("SendMessage", hello("which sectors moved most")).await, code);
    }
}

#[tokio::test]
async fn a_broken_store_is_said_to_be_unavailable_without_its_address() {
    let world = World::new().await;
    *lock(&world.script.submit) = Some(Err(Status::unavailable("tcp connect error: 10.1.2.3:7400")));
    let answer = world.call("SendMessage", hello("which sectors moved most")).await;
    assert_eq!(answer["error"]["code"], -32056);
    assert!(!answer.to_string().contains("10.1.2.3"), "{answer}");
    *lock(&world.script.submit) = Some(Ok(ended([])));
    assert_eq!(world.code("SendMessage", hello("which sectors moved most")).await, -32056);
    *lock(&world.script.submit) = Some(Ok(ended([update(2, TaskState::Working)])));
    assert_eq!(world.code("SendMessage", hello("which sectors moved most")).await, -32603);
}

#[tokio::test]
async fn only_where_a_message_may_answer_does_a_stream_wait_for_the_run() {
    let world = World::new().await;
    let stream = rpc("SendStreamingMessage", &hello("What is the state of the local network?"));
    world.post(stream.clone()).await;
    world.catalog.send_modify(|snapshot| {
        snapshot.revision += 1;
        snapshot.mesh.get_or_insert_default().version = "2".into();
        snapshot.capabilities[1].direct = true;
    });
    world.until(|card| card.json()["version"] == "2").await;
    world.post(stream).await;
    world.call("SendMessage", hello("What is the state of the local network?")).await;
    let held: Vec<_> = lock(&world.script.submitted).iter().map(|asked| asked.hold).collect();
    assert_eq!(held, [false, true, false]);
}
