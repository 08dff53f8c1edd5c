//! GetTask, ListTasks, CancelTask: what is passed on and what comes back.

use serde_json::json;
use weft_chassis::status;
use weft_core::Fault;

use crate::store::lock;
use crate::world::{World, post};

#[tokio::test]
async fn a_task_comes_back_bare_not_wrapped() {
    let world = World::new().await;
    let answer = world.call("GetTask", json!({"id": "t1", "historyLength": 2})).await;
    assert_eq!(answer["result"]["id"], "t1");
    assert_eq!(answer["result"]["status"]["state"], "TASK_STATE_WORKING");
    let asked = lock(&world.script.got).remove(0);
    assert_eq!(
        (asked.owner.as_str(), asked.task_id.as_str(), asked.history_length),
        ("local", "t1", Some(2))
    );

    let answer = world.call("CancelTask", json!({"id": "t1", "metadata": {"why": "x"}})).await;
    assert_eq!(answer["result"]["status"]["state"], "TASK_STATE_CANCELED");
    let asked = lock(&world.script.cancelled).remove(0);
    assert_eq!((asked.owner.as_str(), asked.task_id.as_str()), ("local", "t1"));
    assert!(asked.metadata.unwrap().fields.contains_key("why"));
}

#[tokio::test]
async fn a_page_always_has_its_four_fields() {
    let world = World::new().await;
    let params = json!({"contextId": "a+b é", "page_size": 7, "status": "TASK_STATE_WORKING", "includeArtifacts": true});
    let answer = world.call("ListTasks", params).await;
    assert_eq!(answer["result"], json!({"tasks": [], "nextPageToken": "", "pageSize": 0, "totalSize": 0}));
    let asked = lock(&world.script.listed).remove(0);
    let request = asked.request.unwrap();
    assert_eq!(
        (asked.owner.as_str(), request.context_id.as_str(), request.page_size),
        ("local", "a+b é", Some(7))
    );
    assert_eq!(request.include_artifacts, Some(true));
}

#[tokio::test]
async fn bad_parameters_never_reach_the_store() {
    let world = World::new().await;
    for (method, params) in [
        ("GetTask", json!({})),
        ("GetTask", json!({"id": ""})),
        ("GetTask", json!({"id": " "})),
        ("GetTask", json!({"id": "x".repeat(10_240)})),
        ("GetTask", json!({"id": "a\r\nb"})),
        ("GetTask", json!({"id": 7})),
        ("GetTask", json!({"id": "t1", "historyLength": -1})),
        ("GetTask", json!({"id": "t1", "historyLength": 1.5})),
        ("ListTasks", json!({"historyLength": -1})),
        ("ListTasks", json!({"status": "WORKING"})),
        ("ListTasks", json!({"pageSize": "many"})),
        ("CancelTask", json!({})),
        ("SubscribeToTask", json!({})),
    ] {
        assert_eq!(world.code(method, params.clone()).await, -32602, "{method} {params}");
    }
    let script = &world.script;
    assert!(
        lock(&script.got).is_empty() && lock(&script.listed).is_empty() && lock(&script.cancelled).is_empty()
    );
    assert!(lock(&script.subscribed).is_empty());
}

#[tokio::test]
async fn an_unknown_task_is_unknown_on_every_operation() {
    let world = World::new().await;
    *lock(&world.script.refuse) = Some(status::status(Fault::task_not_found("../../etc/passwd")));
    for method in ["GetTask", "CancelTask"] {
        let answer = world.call(method, json!({"id": "%252e%252e%252fadmin"})).await;
        assert_eq!(answer["error"]["code"], -32001);
        assert_eq!(answer["error"]["data"][0]["reason"], "TASK_NOT_FOUND");
        assert_eq!(answer["error"]["data"][0]["domain"], "a2a-protocol.org");
    }
}

#[tokio::test]
async fn a_body_of_null_is_one_left_out() {
    let world = World::new().await;
    *lock(&world.script.refuse) = Some(status::status(Fault::task_not_found("t1")));
    for path in ["/rest/tasks/t1:cancel", "/rest/tasks/t1:subscribe"] {
        let call = |body: &'static str| world.send(post().uri(path).body(body.into()).unwrap());
        let (absent, null) = (call("").await, call("null").await);
        assert_eq!((absent.status.as_u16(), null.status.as_u16()), (404, 404), "{path}: {}", null.text);
        assert_eq!(absent.text, null.text, "{path}");
    }
}
