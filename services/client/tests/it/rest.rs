//! HTTP+JSON.

use futures::StreamExt;
use serde_json::json;
use weft_client::{Binding, Call, Options, Why};
use weft_core::Kind;
use weft_proto::a2a::{
    CancelTaskRequest, DeleteTaskPushNotificationConfigRequest, GetExtendedAgentCardRequest,
    GetTaskPushNotificationConfigRequest, GetTaskRequest, ListTaskPushNotificationConfigsRequest,
    ListTasksRequest, TaskPushNotificationConfig,
};

use crate::world::{End, Fake, answer, card, client, json_answer, message, sse, task};

const V1: [(&str, &str); 1] = [("HTTP+JSON", "1.0")];

/// An agent whose one interface has a tenant.
async fn with_tenant() -> Fake {
    Fake::raw(|seen, _, address| {
        if seen.path.starts_with("/.well-known") {
            let mut card = card(address, &[("HTTP+JSON".into(), "1.0".into())]);
            card["supportedInterfaces"][0]["tenant"] = "acme".into();
            return json_answer(200, &card);
        }
        match seen.path.as_str() {
            path if path.ends_with("message:send") => json_answer(200, &json!({ "task": task("COMPLETED") })),
            path if path.ends_with("message:stream") => {
                sse(vec![format!("data: {}\n\n", json!({ "task": task("COMPLETED") }))], End::Clean)
            }
            path if path.contains("/pushNotificationConfigs/") && seen.method == "DELETE" => {
                answer(200, "", "")
            }
            _ => answer(200, "application/a2a+json", "{}"),
        }
    })
    .await
}

#[tokio::test]
async fn each_operation_has_its_path_under_the_tenant() {
    let fake = with_tenant().await;
    let agent = fake.agent().await;
    let call = Call::default();
    agent.send(message("x"), &call).await.unwrap();
    assert_eq!(agent.stream(message("x"), &call).await.unwrap().collect::<Vec<_>>().await.len(), 1);
    agent
        .get_task(GetTaskRequest { id: "a/b %".into(), history_length: Some(2), ..Default::default() }, &call)
        .await
        .unwrap();
    agent
        .list_tasks(ListTasksRequest { context_id: "c&d".into(), ..Default::default() }, &call)
        .await
        .unwrap();
    agent.cancel_task(CancelTaskRequest { id: "t1".into(), ..Default::default() }, &call).await.unwrap();
    let config =
        TaskPushNotificationConfig { task_id: "t1".into(), url: "http://h/".into(), ..Default::default() };
    agent.create_push_config(config, &call).await.unwrap();
    let get =
        GetTaskPushNotificationConfigRequest { task_id: "t1".into(), id: "p".into(), ..Default::default() };
    agent.get_push_config(get, &call).await.unwrap();
    let list = ListTaskPushNotificationConfigsRequest { task_id: "t1".into(), ..Default::default() };
    agent.list_push_configs(list, &call).await.unwrap();
    let delete = DeleteTaskPushNotificationConfigRequest {
        task_id: "t1".into(),
        id: "p".into(),
        ..Default::default()
    };
    agent.delete_push_config(delete, &call).await.unwrap();
    agent.extended_card(GetExtendedAgentCardRequest::default(), &call).await.unwrap();
    let asked: Vec<_> = fake.calls().iter().map(|seen| format!("{} {}", seen.method, seen.path)).collect();
    let root = "/http-json/acme";
    assert_eq!(
        asked,
        [
            format!("POST {root}/message:send"),
            format!("POST {root}/message:stream"),
            format!("GET {root}/tasks/a%2Fb%20%25?historyLength=2"),
            format!("GET {root}/tasks?contextId=c%26d"),
            format!("POST {root}/tasks/t1:cancel"),
            format!("POST {root}/tasks/t1/pushNotificationConfigs"),
            format!("GET {root}/tasks/t1/pushNotificationConfigs/p"),
            format!("GET {root}/tasks/t1/pushNotificationConfigs"),
            format!("DELETE {root}/tasks/t1/pushNotificationConfigs/p"),
            format!("GET {root}/extendedAgentCard"),
        ]
    );
    assert!(fake.calls().iter().all(|seen| seen.headers["a2a-version"] == "1.0"));
    for id in ["", "..", "."] {
        let error =
            agent.get_task(GetTaskRequest { id: id.into(), ..Default::default() }, &call).await.unwrap_err();
        assert!(matches!(error.why, Why::Unusable(_)), "`{id}` leads to another path");
    }
}

#[tokio::test]
async fn an_error_body_is_read_on_a_call_before_a_stream_and_on_one() {
    let body = json!({ "error": { "code": 404, "status": "NOT_FOUND", "message": "no such task", "details": [
        { "@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "TASK_NOT_FOUND",
          "domain": "a2a-protocol.org", "metadata": { "taskId": "t1" } } ] } });
    let fake = Fake::start(&V1, move |_, n| match n {
        0 | 1 => answer(404, "application/a2a+json", body.to_string()),
        2 => sse(
            vec![format!("data: {}\n\n", json!({ "task": task("WORKING") })), format!("data: {body}\n\n")],
            End::Clean,
        ),
        3 => answer(404, "text/plain", "Not Found"),
        _ => answer(200, "text/html", "<html>"),
    })
    .await;
    let agent = fake.agent_over(Binding::Rest).await;
    let get = || GetTaskRequest { id: "t1".into(), ..Default::default() };
    let error = agent.get_task(get(), &Call::default()).await.unwrap_err();
    assert_eq!((error.kind(), error.fault().metadata["taskId"].as_str()), (Kind::TaskNotFound, "t1"));
    let error = agent.subscribe("t1", &Call::default()).await.map(|_| ()).unwrap_err();
    assert_eq!(error.kind(), Kind::TaskNotFound);
    let events: Vec<_> = agent.stream(message("x"), &Call::default()).await.unwrap().collect().await;
    assert_eq!(events[1].as_ref().unwrap_err().kind(), Kind::TaskNotFound);
    assert_eq!(agent.get_task(get(), &Call::default()).await.unwrap_err().kind(), Kind::TaskNotFound);
    let error = agent.get_task(get(), &Call::default()).await.unwrap_err();
    assert!(matches!(error.why, Why::Malformed(_)), "{error:?}");
}

#[tokio::test]
async fn a_subscription_is_asked_for_by_either_method() {
    let fake = Fake::start(&V1, |seen, _| match seen.method.as_str() {
        "GET" => sse(vec![format!("data: {}\n\n", json!({ "task": task("COMPLETED") }))], End::Clean),
        _ => answer(405, "text/plain", "Method Not Allowed"),
    })
    .await;
    let agent = client(Options::default()).agent(&fake.url(), &[]).await.unwrap();
    let events: Vec<_> = agent.subscribe("t1", &Call::default()).await.unwrap().collect().await;
    assert!(events.len() == 1 && events[0].is_ok());
    let asked: Vec<_> = fake.calls().iter().map(|seen| format!("{} {}", seen.method, seen.path)).collect();
    assert_eq!(asked, ["POST /http-json/tasks/t1:subscribe", "GET /http-json/tasks/t1:subscribe"]);
}
