//! The schema of v0.3, by example, in its ProtoJSON as HTTP carries it.

use serde_json::{Value, json};
use weft_proto::a2a as v1;
use weft_proto::a2a::{Role, TaskState, part::Content, stream_response};
use weft_proto::a2a_v03 as v03;
use weft_v03::wire::{Downgrade, TryUpgrade, Upgrade, create_push_config};

use super::made::{artifact, data, file, message, status, task, text};

fn shown<T: Downgrade<V03: serde::Serialize>>(message: T) -> Value {
    serde_json::to_value(message.downgrade()).expect("as it should be")
}

fn read<T: serde::de::DeserializeOwned>(text: &Value) -> T {
    weft_proto::json::decode(text.to_string().as_bytes()).expect("as it should be")
}

#[test]
fn a_task_has_content_lists_and_the_long_names() {
    let task = v1::Task {
        status: Some(status(TaskState::Canceled, Some(message("q", Role::Agent, vec![text("stopped")])))),
        artifacts: vec![artifact(
            "a",
            vec![
                file(Content::Raw(vec![0xff]), "f", "x/y"),
                file(Content::Url("u".into()), "", ""),
                data(&json!({"n": 1})),
            ],
        )],
        ..task("t")
    };
    let expected = json!({
        "id": "t", "contextId": "c",
        "status": {
            "state": "TASK_STATE_CANCELLED", "timestamp": "2026-01-31T12:00:00.000Z",
            "message": {"messageId": "q", "contextId": "c", "taskId": "t", "role": "ROLE_AGENT",
                        "content": [{"text": "stopped"}]},
        },
        "artifacts": [{"artifactId": "a", "parts": [
            {"file": {"fileWithBytes": "/w==", "mimeType": "x/y", "name": "f"}},
            {"file": {"fileWithUri": "u"}},
            {"data": {"data": {"n": 1}}},
        ]}],
    });
    assert_eq!(shown(task.clone()), expected);
    assert_eq!(read::<v03::Task>(&expected).upgrade(), task);
}

#[test]
fn events_say_when_they_are_the_last() {
    let update = |state| v1::StreamResponse {
        payload: Some(stream_response::Payload::StatusUpdate(v1::TaskStatusUpdateEvent {
            task_id: "t".into(),
            context_id: "c".into(),
            status: Some(v1::TaskStatus { state: i32::from(state), ..v1::TaskStatus::default() }),
            metadata: None,
        })),
    };
    assert_eq!(shown(update(TaskState::Completed))["statusUpdate"]["final"], json!(true));
    assert_eq!(shown(update(TaskState::InputRequired))["statusUpdate"].get("final"), None);
    let direct = v1::StreamResponse {
        payload: Some(stream_response::Payload::Message(message("m", Role::Agent, vec![text("x")]))),
    };
    assert_eq!(shown(direct)["message"]["content"][0]["text"], json!("x"));
}

#[test]
fn blocking_is_what_it_says_and_a_request_without_configuration_waits() {
    let immediately = |request: Value| {
        read::<v03::SendMessageRequest>(&request)
            .upgrade()
            .configuration
            .is_some_and(|c| c.return_immediately)
    };
    assert!(immediately(json!({"configuration": {}})));
    assert!(!immediately(json!({"configuration": {"blocking": true}})));
    assert!(!immediately(json!({})));
    assert_eq!(shown(v1::SendMessageRequest::default())["configuration"], json!({"blocking": true}));
}

#[test]
fn resources_go_by_name() {
    let get = v1::GetTaskRequest { id: "t".into(), history_length: Some(2), ..v1::GetTaskRequest::default() };
    assert_eq!(shown(get.clone()), json!({"name": "tasks/t", "historyLength": 2}));
    assert_eq!(get.clone().downgrade().try_upgrade().unwrap(), get);
    let config = v1::TaskPushNotificationConfig {
        id: "p".into(),
        task_id: "t".into(),
        url: "https://h/".into(),
        authentication: Some(v1::AuthenticationInfo { scheme: "Bearer".into(), credentials: "s".into() }),
        ..v1::TaskPushNotificationConfig::default()
    };
    let nested = json!({
        "name": "tasks/t/pushNotificationConfigs/p",
        "pushNotificationConfig": {"id": "p", "url": "https://h/",
                                   "authentication": {"schemes": ["Bearer"], "credentials": "s"}},
    });
    assert_eq!(shown(config.clone()), nested);
    let whole = json!({"parent": "tasks/t", "configId": "p", "config": nested});
    assert_eq!(serde_json::to_value(create_push_config(config.clone())).unwrap(), whole);
    assert_eq!(read::<v03::CreateTaskPushNotificationConfigRequest>(&whole).try_upgrade().unwrap(), config);
    let fault = read::<v03::GetTaskRequest>(&json!({"name": "t"})).try_upgrade().unwrap_err();
    assert_eq!(fault.violations[0].field, "name");
}
