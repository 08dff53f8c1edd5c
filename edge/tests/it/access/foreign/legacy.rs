//! The same for callers of A2A v0.3: its methods, its paths, its gRPC package.

use axum::body::Body;
use http::Request;
use prost::Message;
use serde_json::{Value, json};
use weft_core::Owner;
use weft_proto::a2a_v03 as v03;

use super::{TOKEN, compare};
use crate::access::{Guarded, ajar, grpc, with};
use crate::store::lock;
use crate::world::{post, rpc};

/// Every method that is about a task, with its parameters.
fn methods(id: &str) -> Vec<(&'static str, Value)> {
    let message = json!({"message": {"kind": "message", "messageId": "m1", "role": "user", "taskId": id,
                                     "parts": [{"kind": "text", "text": "network state"}]}});
    let config = json!({"id": id, "pushNotificationConfigId": "p1"});
    let set = json!({"taskId": id, "pushNotificationConfig": {"id": "p1", "url": "https://hooks.example/x"}});
    vec![
        ("message/send", message.clone()),
        ("message/stream", message),
        ("tasks/get", json!({"id": id})),
        ("tasks/cancel", json!({"id": id})),
        ("tasks/resubscribe", json!({"id": id})),
        ("tasks/pushNotificationConfig/set", set),
        ("tasks/pushNotificationConfig/get", config.clone()),
        ("tasks/pushNotificationConfig/get", json!({"id": id})),
        ("tasks/pushNotificationConfig/list", json!({"id": id})),
        ("tasks/pushNotificationConfig/delete", config),
    ]
}

/// Every pattern that is about a task, with its body.
fn paths(id: &str) -> Vec<(&'static str, String, Value)> {
    let message = json!({"request": {"messageId": "m1", "role": "ROLE_USER", "taskId": id,
                                     "content": [{"text": "network state"}]}});
    let config = json!({"configId": "p1",
        "config": {"pushNotificationConfig": {"id": "p1", "url": "https://hooks.example/x"}}});
    let task = |rest: &str| format!("tasks/{id}{rest}");
    vec![
        ("POST", "message:send".into(), message.clone()),
        ("POST", "message:stream".into(), message),
        ("GET", task(""), Value::Null),
        ("POST", task(":cancel"), json!({})),
        ("GET", task(":subscribe"), Value::Null),
        ("POST", task("/pushNotificationConfigs"), config),
        ("GET", task("/pushNotificationConfigs/p1"), Value::Null),
        ("GET", task("/pushNotificationConfigs"), Value::Null),
        ("DELETE", task("/pushNotificationConfigs/p1"), Value::Null),
    ]
}

/// Every call that is about a task, as it goes over the wire.
fn wires(id: &str) -> Vec<(&'static str, Vec<u8>)> {
    let name = format!("tasks/{id}");
    let named = format!("{name}/pushNotificationConfigs/p1");
    let message = v03::Message {
        message_id: "m1".into(),
        task_id: id.into(),
        role: v03::Role::User.into(),
        content: vec![v03::Part {
            part: Some(v03::part::Part::Text("network state".into())),
            metadata: None,
        }],
        ..v03::Message::default()
    };
    let send = v03::SendMessageRequest { request: Some(message), ..v03::SendMessageRequest::default() };
    let push = v03::PushNotificationConfig {
        id: "p1".into(),
        url: "https://hooks.example/x".into(),
        ..v03::PushNotificationConfig::default()
    };
    let config =
        v03::TaskPushNotificationConfig { name: named.clone(), push_notification_config: Some(push) };
    let create = v03::CreateTaskPushNotificationConfigRequest {
        parent: name.clone(),
        config_id: "p1".into(),
        config: Some(config),
    };
    let list = v03::ListTaskPushNotificationConfigRequest { parent: name.clone(), ..Default::default() };
    let get = v03::GetTaskRequest { name: name.clone(), ..v03::GetTaskRequest::default() };
    vec![
        ("SendMessage", send.encode_to_vec()),
        ("SendStreamingMessage", send.encode_to_vec()),
        ("GetTask", get.encode_to_vec()),
        ("CancelTask", v03::CancelTaskRequest { name: name.clone() }.encode_to_vec()),
        ("TaskSubscription", v03::TaskSubscriptionRequest { name }.encode_to_vec()),
        ("CreateTaskPushNotificationConfig", create.encode_to_vec()),
        (
            "GetTaskPushNotificationConfig",
            v03::GetTaskPushNotificationConfigRequest { name: named.clone() }.encode_to_vec(),
        ),
        ("ListTaskPushNotificationConfig", list.encode_to_vec()),
        (
            "DeleteTaskPushNotificationConfig",
            v03::DeleteTaskPushNotificationConfigRequest { name: named }.encode_to_vec(),
        ),
    ]
}

#[tokio::test]
async fn the_task_of_another_is_the_task_of_nobody_for_callers_of_v03_too() {
    let guarded = Guarded::new(ajar()).await;
    let owners = ["p:ci".to_owned(), Owner::bearer_of(TOKEN).to_string()];
    for owner in owners {
        *lock(&guarded.world.script.owner) = Some(owner);
        for shown in
            [("authorization", "Bearer other-token"), ("task-access-token", "a-token-that-opens-nothing")]
        {
            let shown = [shown];
            for (at, (method, _)) in methods("").into_iter().enumerate() {
                compare(&guarded, method, |id| {
                    let (method, params) = methods(id).remove(at);
                    with(post(), &shown).body(rpc(method, &params).into()).unwrap()
                })
                .await;
            }
            for (at, (verb, path, _)) in paths("t1").into_iter().enumerate() {
                compare(&guarded, &format!("{verb} {path}"), |id| {
                    let (verb, path, body) = paths(id).remove(at);
                    let request = Request::builder().method(verb).uri(format!("/rest/v1/{path}"));
                    let request =
                        request.header("host", "localhost").header("content-type", "application/json");
                    let body = if body.is_null() { String::new() } else { body.to_string() };
                    with(request, &shown).body(body.into()).unwrap()
                })
                .await;
            }
            for (at, (method, _)) in wires("").into_iter().enumerate() {
                compare(&guarded, method, |id| {
                    let (method, message) = wires(id).remove(at);
                    let mut frame = vec![0];
                    frame.extend(u32::try_from(message.len()).unwrap().to_be_bytes());
                    frame.extend(message);
                    grpc(&format!("/a2a.v1.A2AService/{method}"), &shown).map(|_| Body::from(frame))
                })
                .await;
            }
        }
    }
    assert!(lock(&guarded.world.script.submitted).is_empty());
}
