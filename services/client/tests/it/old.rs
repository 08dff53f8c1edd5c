//! Agents of version 0.3.

use axum::http::HeaderValue;
use futures::StreamExt;
use serde_json::{Value, json};
use weft_client::{Agent, Binding, Call, Options, Version, Why};
use weft_core::Kind;
use weft_proto::a2a::{
    DeleteTaskPushNotificationConfigRequest, GetExtendedAgentCardRequest, GetTaskRequest, ListTasksRequest,
    Part, TaskPushNotificationConfig, TaskState, part::Content, send_message_response,
    stream_response::Payload,
};

use crate::world::{End, Fake, Seen, answer, client, json_answer, message, refusal, result, sse};

/// An agent whose card knows nothing of version 1.0.
async fn old<F>(answer: F) -> Fake
where
    F: Fn(&Seen) -> axum::http::Response<axum::body::Body> + Send + Sync + 'static,
{
    old_on(None, answer).await
}

/// The same, its card served by what says that it is `powered_by`.
async fn old_on<F>(powered_by: Option<&'static str>, answer: F) -> Fake
where
    F: Fn(&Seen) -> axum::http::Response<axum::body::Body> + Send + Sync + 'static,
{
    Fake::raw(move |seen, _, address| match seen.path.as_str() {
        "/.well-known/agent.json" => {
            let card = json!({
                "protocolVersion": "0.3.0", "name": "old", "description": "d", "version": "1",
                "url": format!("http://{address}/rpc"), "preferredTransport": "JSONRPC",
                "additionalInterfaces": [
                    { "transport": "HTTP+JSON", "url": format!("http://{address}/rest") },
                ],
                "capabilities": { "streaming": true }, "skills": [], "supportsAuthenticatedExtendedCard": true,
                "defaultInputModes": ["text/plain"], "defaultOutputModes": ["text/plain"],
            });
            let mut answer = json_answer(200, &card);
            if let Some(by) = powered_by {
                answer.headers_mut().insert("x-powered-by", HeaderValue::from_static(by));
            }
            answer
        }
        path if path.starts_with("/.well-known") => self::answer(404, "text/plain", ""),
        _ => answer(seen),
    })
    .await
}

async fn agent(fake: &Fake, binding: Binding) -> Agent {
    client(Options::default()).agent(&fake.url(), &[binding]).await.unwrap()
}

fn kinds(method: &str) -> Value {
    let status = |state: &str| json!({ "state": state });
    match method {
        "message/send" => {
            json!({ "kind": "task", "id": "t1", "contextId": "c1", "status": status("input-required") })
        }
        "tasks/pushNotificationConfig/set" => {
            json!({ "taskId": "t1", "pushNotificationConfig": { "id": "p1", "url": "http://h/" } })
        }
        "agent/getAuthenticatedExtendedCard" => {
            json!({ "protocolVersion": "0.3.0", "name": "old, in full", "url": "http://h/", "skills": [] })
        }
        "tasks/pushNotificationConfig/delete" => Value::Null,
        other => panic!("{other}"),
    }
}

#[tokio::test]
async fn over_json_rpc_an_older_agent_is_spoken_to_in_its_own_words() {
    let fake = old(|seen| match seen.body["method"].as_str().unwrap() {
        "message/stream" => {
            let status = |state: &str| {
                json!({ "kind": "status-update", "taskId": "t1", "contextId": "c1",
                "final": state == "completed", "status": { "state": state } })
            };
            let event =
                |body: Value| format!("data: {}\n\n", json!({ "jsonrpc": "2.0", "id": 1, "result": body }));
            sse(vec![event(status("working")), event(status("completed"))], End::Clean)
        }
        "tasks/get" => refusal(-32001, "Task not found"),
        method => result(&kinds(method)),
    })
    .await;
    let agent = agent(&fake, Binding::JsonRpc).await;
    assert_eq!((agent.interface().version, agent.card().card.name.as_str()), (Version::V03, "old"));
    let call = Call { extensions: vec!["urn:x".into()], ..Call::default() };
    let sent = agent.send(message("hello"), &call).await.unwrap();
    match sent.body.payload {
        Some(send_message_response::Payload::Task(task)) => {
            assert_eq!(task.status.unwrap().state(), TaskState::InputRequired);
        }
        other => panic!("{other:?}"),
    }
    let seen = &fake.calls()[0];
    let asked = &seen.body["params"]["message"];
    assert_eq!(
        (&asked["kind"], &asked["role"], &asked["parts"][0]["kind"]),
        (&json!("message"), &json!("user"), &json!("text"))
    );
    assert_eq!(
        (&seen.headers["a2a-version"], &seen.headers["x-a2a-extensions"]),
        (&"0.3".parse().unwrap(), &"urn:x".parse().unwrap())
    );

    let events: Vec<_> = agent.stream(message("go"), &call).await.unwrap().collect().await;
    assert!(matches!(&events[1].as_ref().unwrap().body.payload,
        Some(Payload::StatusUpdate(update)) if update.status.as_ref().unwrap().state() == TaskState::Completed));
    let error =
        agent.get_task(GetTaskRequest { id: "t9".into(), ..Default::default() }, &call).await.unwrap_err();
    assert_eq!(error.kind(), Kind::TaskNotFound);
    let config =
        TaskPushNotificationConfig { task_id: "t1".into(), url: "http://h/".into(), ..Default::default() };
    assert_eq!(agent.create_push_config(config, &call).await.unwrap().body.id, "p1");
    let delete = DeleteTaskPushNotificationConfigRequest {
        task_id: "t1".into(),
        id: "p1".into(),
        ..Default::default()
    };
    agent.delete_push_config(delete, &call).await.unwrap();
    let card = agent.extended_card(GetExtendedAgentCardRequest::default(), &call).await.unwrap();
    assert_eq!(card.body.name, "old, in full");
    let before = fake.calls().len();
    let error = agent.list_tasks(ListTasksRequest::default(), &call).await.unwrap_err();
    assert!(matches!(error.why, Why::NoInterface(_)) && error.kind() == Kind::UnsupportedOperation);
    assert_eq!(fake.calls().len(), before);
}

#[tokio::test]
async fn over_http_an_older_agent_has_its_own_paths_and_spellings() {
    let fake = old(|seen| {
        let task = |state: &str| json!({ "id": "t1", "contextId": "c1", "status": { "state": state } });
        match (seen.method.as_str(), seen.path.as_str()) {
            ("POST", "/rest/v1/message:send") => {
                json_answer(200, &json!({ "task": task("TASK_STATE_WORKING") }))
            }
            ("GET", "/rest/v1/tasks/t1?historyLength=2") => json_answer(200, &task("TASK_STATE_CANCELLED")),
            ("GET", "/rest/v1/tasks/t1:subscribe") => sse(
                vec![format!("data: {}\n\n", json!({ "task": task("TASK_STATE_COMPLETED") }))],
                End::Clean,
            ),
            ("POST", "/rest/v1/tasks/t1:cancel") => json_answer(
                409,
                &json!({ "code": -32002, "type": "TaskNotCancelableError", "message": "over" }),
            ),
            other => panic!("{other:?}"),
        }
    })
    .await;
    let agent = agent(&fake, Binding::Rest).await;
    let call = Call::default();
    agent.send(message("hello"), &call).await.unwrap();
    let body = &fake.calls()[0].body;
    assert_eq!(
        (&body["message"]["role"], &body["message"]["content"][0]["text"]),
        (&json!("ROLE_USER"), &json!("hello"))
    );
    let get = GetTaskRequest { id: "t1".into(), history_length: Some(2), ..Default::default() };
    assert_eq!(agent.get_task(get, &call).await.unwrap().body.status.unwrap().state(), TaskState::Canceled);
    let events: Vec<_> = agent.subscribe("t1", &call).await.unwrap().collect().await;
    assert!(events.len() == 1 && events[0].is_ok());
    let cancel = weft_proto::a2a::CancelTaskRequest { id: "t1".into(), ..Default::default() };
    assert_eq!(agent.cancel_task(cancel, &call).await.unwrap_err().kind(), Kind::TaskNotCancelable);
}

#[tokio::test]
async fn files_go_to_an_older_agent_and_back_as_its_sdk_writes_them() {
    // `YWJjZA==` stands for the bytes `abcd`, which could be base64 themselves, `WVdKalpBPT0=` for the text `YWJjZA==`.
    for (powered_by, written) in
        [(None, "WVdKalpBPT0="), (Some("Express"), "YWJjZA=="), (Some("PHP/8"), "WVdKalpBPT0=")]
    {
        let fake = old_on(powered_by, move |seen| {
            let file = json!({ "file": { "fileWithBytes": written, "mimeType": "image/png" } });
            let said = json!({ "messageId": "a1", "role": "ROLE_AGENT", "content": [file] });
            if seen.path.ends_with(":stream") {
                return sse(vec![format!("data: {}\n\n", json!({ "msg": said }))], End::Clean);
            }
            json_answer(200, &json!({ "msg": said }))
        })
        .await;
        let agent = agent(&fake, Binding::Rest).await;
        let mut request = message("");
        let file = Part {
            content: Some(Content::Raw(b"abcd".to_vec())),
            media_type: "image/png".into(),
            ..Part::default()
        };
        request.message.as_mut().unwrap().parts = vec![file.clone()];
        let sent = agent.send(request.clone(), &Call::default()).await.unwrap();
        let Some(send_message_response::Payload::Message(said)) = sent.body.payload else { panic!() };
        assert_eq!(said.parts, std::slice::from_ref(&file), "{powered_by:?}");
        let events: Vec<_> = agent.stream(request, &Call::default()).await.unwrap().collect().await;
        let Some(Payload::Message(said)) = &events[0].as_ref().unwrap().body.payload else { panic!() };
        assert_eq!(said.parts, [file], "{powered_by:?}");
        for seen in fake.calls() {
            assert_eq!(
                seen.body["message"]["content"][0]["file"]["fileWithBytes"], written,
                "{powered_by:?}"
            );
        }
        assert_eq!(fake.calls().len(), 2);
    }
}
