//! Callers of A2A v0.3 on every binding: their shapes in, their shapes out, never mixed with those of v1.0.

use http::StatusCode;
use serde_json::{Value, json};
use weft_chassis::status;
use weft_core::Fault;
use weft_proto::a2a_v03::a2a_service_client::A2aServiceClient;
use weft_proto::a2a_v03::{self as v03, part, send_message_response, stream_response};

use crate::store::{ended, lock, snapshot, update};
use crate::world::{World, get, post, rpc};
use weft_proto::a2a::TaskState;

fn message() -> Value {
    json!({"message": {"kind": "message", "messageId": "m1", "role": "user",
                       "parts": [{"kind": "text", "text": "network state"}]}})
}

/// No member that only the other version has.
fn assert_old(value: &Value) {
    let text = value.to_string();
    assert!(!text.contains("TASK_STATE_") && !text.contains("ROLE_"), "{text}");
}

#[tokio::test]
async fn a_message_in_the_old_shape_is_answered_in_the_old_shape() {
    let world = World::new().await;
    for version in ["", "0.3", "0.3.0"] {
        let request = post().header("a2a-version", version).body(rpc("message/send", &message()).into());
        let answer = world.send(request.unwrap()).await.json();
        assert_old(&answer);
        assert_eq!(answer["result"]["kind"], "task", "{answer}");
        assert_eq!(answer["result"]["status"]["state"], "completed");
        assert_eq!(answer["result"]["history"][0]["role"], "user");
    }
    let submitted = lock(&world.script.submitted).remove(0).request.unwrap();
    let configuration = submitted.configuration.unwrap_or_default();
    assert!(!configuration.return_immediately, "v0.3 waits unless told otherwise");
    assert_eq!(submitted.message.unwrap().message_id, "m1");
}

#[tokio::test]
async fn old_names_with_version_1_are_aliases_with_new_shapes() {
    let world = World::new().await;
    let new =
        json!({"message": {"messageId": "m1", "role": "ROLE_USER", "parts": [{"text": "network state"}]}});
    let request = post().header("a2a-version", "1.0").body(rpc("message/send", &new).into()).unwrap();
    let answer = world.send(request).await.json();
    assert_eq!(answer["result"]["task"]["status"]["state"], "TASK_STATE_COMPLETED", "{answer}");
    let request = post().header("a2a-version", "1.0").body(rpc("tasks/get", &json!({"id": "t1"})).into());
    assert_eq!(world.send(request.unwrap()).await.json()["result"]["status"]["state"], "TASK_STATE_WORKING");
}

#[tokio::test]
async fn an_old_stream_tells_its_end() {
    let world = World::new().await;
    let events =
        [snapshot(1, TaskState::Submitted), update(2, TaskState::Working), update(3, TaskState::Completed)];
    *lock(&world.script.submit) = Some(Ok(ended(events)));
    let reply = world.post(rpc("message/stream", &message())).await;
    let events: Vec<Value> = reply
        .text
        .lines()
        .filter_map(|line| line.strip_prefix("data: "))
        .map(|json| serde_json::from_str::<Value>(json).unwrap()["result"].take())
        .collect();
    let shown: Vec<_> = events.iter().map(|e| (e["kind"].as_str().unwrap(), e["final"].as_bool())).collect();
    assert_eq!(shown, [("task", None), ("status-update", Some(false)), ("status-update", Some(true))]);
    events.iter().for_each(assert_old);
}

#[tokio::test]
async fn faults_have_the_codes_and_names_of_v03() {
    let world = World::new().await;
    let answer = world
        .call("message/send", json!({"message": {"kind": "message", "messageId": "m", "role": "user"}}))
        .await;
    assert_eq!(answer["error"]["code"], -32602, "{answer}");
    assert_eq!(answer["error"]["data"][1]["fieldViolations"][0]["field"], "message.parts");
    world.script_refusals(&status::status(Fault::task_not_found("t1")));
    assert_eq!(world.code("tasks/get", json!({"id": "t1"})).await, -32001);
    assert_eq!(world.code("tasks/list", json!({})).await, -32601, "v0.3 cannot list");
}

#[tokio::test]
async fn the_old_paths_of_http_speak_the_old_protobuf_json() {
    let world = World::new().await;
    let body = json!({"request": {"messageId": "m1", "role": "ROLE_USER", "content": [{"text": "network state"}]},
                      "configuration": {"blocking": true}});
    let request = http::Request::post("/rest/v1/message:send")
        .header("host", "127.0.0.1:8420")
        .header("content-type", "application/json");
    let reply = world.send(request.body(body.to_string().into()).unwrap()).await;
    assert_eq!(reply.status, StatusCode::OK, "{reply:?}");
    assert_eq!(reply.json()["task"]["status"]["state"], "TASK_STATE_COMPLETED");
    assert_eq!(reply.json()["task"]["history"][0]["role"], "ROLE_USER");
    assert_eq!(world.get("/rest/v1/tasks/t1").await.json()["status"]["state"], "TASK_STATE_WORKING");
    let refused = world.get("/rest/v1/tasks/%20").await;
    assert_eq!(refused.status, StatusCode::BAD_REQUEST);
    assert!(refused.json()["message"].is_string(), "{refused:?}");
    assert_eq!(world.get("/rest/v1/tasks").await.status, StatusCode::NOT_FOUND, "v0.3 cannot list");
}

#[tokio::test]
async fn a_version_that_contradicts_the_path_is_refused() {
    let world = World::new().await;
    for (path, version) in [("/rest/v1/tasks/t1", "1.0"), ("/rest/tasks/t1", "0.3")] {
        let request = get(path).header("a2a-version", version).body(axum::body::Body::empty()).unwrap();
        let reply = world.send(request).await;
        assert_eq!(reply.status, StatusCode::BAD_REQUEST, "{path}: {reply:?}");
    }
}

#[tokio::test]
async fn the_old_grpc_package_is_served() {
    let world = World::new().await;
    let mut client = A2aServiceClient::new(world.peer());
    let content =
        vec![v03::Part { part: Some(part::Part::Text("network state".into())), ..v03::Part::default() }];
    let message = v03::Message {
        message_id: "m1".into(),
        role: v03::Role::User.into(),
        content,
        ..v03::Message::default()
    };
    let request = v03::SendMessageRequest { request: Some(message), ..v03::SendMessageRequest::default() };
    let sent = client.send_message(request.clone()).await.unwrap().into_inner();
    let Some(send_message_response::Payload::Task(task)) = sent.payload else { panic!("{sent:?}") };
    assert_eq!(task.status.unwrap().state, i32::from(v03::TaskState::Completed));
    *lock(&world.script.ends) = true;
    let mut events = client.send_streaming_message(request).await.unwrap().into_inner();
    let first = events.message().await.unwrap().unwrap();
    assert!(matches!(first.payload, Some(stream_response::Payload::Task(_))), "{first:?}");
    let named = v03::GetTaskRequest { name: "tasks/t1".into(), ..v03::GetTaskRequest::default() };
    assert_eq!(client.get_task(named).await.unwrap().into_inner().id, "t1");
    let unnamed = v03::GetTaskRequest { name: "t1".into(), ..v03::GetTaskRequest::default() };
    assert_eq!(client.get_task(unnamed).await.unwrap_err().code(), tonic::Code::InvalidArgument);
}

#[tokio::test]
async fn without_v03_nothing_of_it_answers() {
    let world = World::with(|settings| settings.legacy_v03 = false).await;
    assert_eq!(world.code("message/send", message()).await, -32009);
    assert_eq!(world.get("/rest/v1/tasks/t1").await.status, StatusCode::BAD_REQUEST);
    let mut client = A2aServiceClient::new(world.peer());
    let refused = client.get_task(v03::GetTaskRequest::default()).await.unwrap_err();
    assert_eq!(status::fault(&refused).kind, weft_core::Kind::VersionNotSupported);
    let card = world.get("/.well-known/agent-card.json").await.json();
    assert!(!card["supportedInterfaces"].to_string().contains("0.3"), "{card}");
}
