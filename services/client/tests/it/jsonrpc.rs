//! JSON-RPC, one answer a call.

use serde_json::json;
use weft_client::{Binding, Call, Credentials, Options, Why};
use weft_core::Kind;
use weft_proto::a2a::{GetTaskRequest, send_message_response::Payload};

use crate::world::{Fake, answer, client, json_answer, message, refusal, result, task};

const V1: [(&str, &str); 1] = [("JSONRPC", "1.0")];

fn named(id: &str) -> GetTaskRequest {
    GetTaskRequest { id: id.to_owned(), ..GetTaskRequest::default() }
}

#[tokio::test]
async fn a_call_carries_what_goes_with_it_and_brings_back_what_came() {
    let fake = Fake::start(&V1, |_, _| {
        let mut sent = result(&json!({ "task": task("COMPLETED") }));
        sent.headers_mut().insert("task-access-token", "for-t1".parse().unwrap());
        sent.headers_mut().insert("a2a-extensions", "urn:a, urn:b".parse().unwrap());
        sent
    })
    .await;
    let options = Options { credentials: Some(Credentials::bearer("s3cret").unwrap()), ..Options::default() };
    let agent = client(options).agent(&fake.url(), &[Binding::JsonRpc]).await.unwrap();
    let call = Call {
        idempotency_key: Some("k-1".into()),
        access_token: Some("old".into()),
        extensions: vec!["urn:a".into(), "urn:c".into()],
        ..Call::default()
    };
    let sent = agent.send(message("hello"), &call).await.unwrap();
    assert!(matches!(sent.body.payload, Some(Payload::Task(task)) if task.id == "t1"));
    assert_eq!(
        (sent.access_token.as_deref(), sent.extensions),
        (Some("for-t1"), vec!["urn:a".into(), "urn:b".into()])
    );
    let seen = &fake.calls()[0];
    assert_eq!((seen.method.as_str(), seen.path.as_str()), ("POST", "/jsonrpc"));
    for (name, value) in [
        ("a2a-version", "1.0"),
        ("a2a-extensions", "urn:a,urn:c"),
        ("idempotency-key", "k-1"),
        ("task-access-token", "old"),
        ("authorization", "Bearer s3cret"),
        ("content-type", "application/json"),
    ] {
        assert_eq!(seen.headers[name], value);
    }
    assert_eq!(seen.body["method"], "SendMessage");
    assert_eq!(seen.body["params"]["message"]["parts"][0]["text"], "hello");
    assert!(!fake.all()[0].headers.contains_key("authorization"), "a card is public");
}

#[tokio::test]
async fn an_agent_that_knows_only_the_older_names_is_asked_by_those() {
    let fake = Fake::start(&V1, |seen, _| match seen.body["method"].as_str().unwrap() {
        "tasks/get" => result(&task("WORKING")),
        "tasks/list" => refusal(-32601, "not this one either"),
        _ => refusal(-32601, "Method not found"),
    })
    .await;
    let agent = fake.agent().await;
    for _ in 0..2 {
        assert_eq!(agent.get_task(named("t1"), &Call::default()).await.unwrap().body.id, "t1");
    }
    let error = agent.list_tasks(Default::default(), &Call::default()).await.unwrap_err();
    assert_eq!(error.kind(), Kind::UnsupportedOperation);
    let methods: Vec<_> = fake.calls().iter().map(|seen| seen.body["method"].clone()).collect();
    assert_eq!(methods, ["GetTask", "tasks/get", "tasks/get", "tasks/list"]);
    assert!(fake.calls().iter().all(|seen| seen.headers["a2a-version"] == "1.0"));
}

#[tokio::test]
async fn an_error_of_the_agent_keeps_its_reason_and_names_the_work() {
    let fake = Fake::start(&V1, |_, n| match n {
        0 => json_answer(
            200,
            &json!({ "jsonrpc": "2.0", "id": 1, "error": { "code": -32000, "message": "gone", "data": [
                { "@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "TASK_NOT_FOUND" } ] } }),
        ),
        _ => {
            let mut busy = answer(503, "text/html", "<h1>busy</h1>");
            busy.headers_mut().insert("retry-after", "3".parse().unwrap());
            busy
        }
    })
    .await;
    let agent = fake.agent().await;
    let call = Call { idempotency_key: Some("k".into()), access_token: Some("t".into()), ..Call::default() };
    let error = agent.get_task(named("t9"), &call).await.unwrap_err();
    assert_eq!((error.kind(), error.may_have_run()), (Kind::TaskNotFound, false));
    assert_eq!(error.trail.task_id.as_deref(), Some("t9"));
    assert_eq!(error.trail.idempotency_key.as_deref(), Some("k"));
    assert_eq!(error.trail.access_token.as_deref(), Some("t"));
    let error = agent.get_task(named("t9"), &call).await.unwrap_err();
    assert_eq!((error.kind(), error.retry_after_ms()), (Kind::Unavailable, Some(3_000)));
}

#[tokio::test]
async fn what_is_no_answer_is_no_success() {
    let fake = Fake::start(&V1, |_, n| match n {
        0 => answer(200, "text/html", r#"{"jsonrpc":"2.0","id":1,"result":{"id":"t1"}}"#),
        1 => answer(200, "application/json", "not json"),
        2 => json_answer(200, &json!({ "jsonrpc": "2.0", "id": 1 })),
        3 => result(&json!({ "id": 7 })),
        4 => answer(200, "application/json", " ".repeat(30_000)),
        5 => answer(200, "application/json", ""),
        _ => result(&task("WORKING")),
    })
    .await;
    let agent = fake.agent().await;
    for n in 0..6 {
        let error = agent.get_task(named("t1"), &Call::default()).await.unwrap_err();
        assert!(
            matches!((&error.why, n), (Why::TooLarge { .. }, 4) | (Why::Malformed(_), _)),
            "{n}: {error:?}"
        );
        assert!(error.may_have_run(), "{n}");
    }
    assert!(agent.get_task(named("t1"), &Call::default()).await.is_ok());
}

#[tokio::test]
async fn an_answer_that_is_called_plain_text_is_read_all_the_same() {
    let body = json!({ "jsonrpc": "2.0", "id": 1, "result": task("WORKING") });
    let fake = Fake::start(&V1, move |_, _| answer(200, "text/plain; charset=utf-8", body.to_string())).await;
    assert!(fake.agent().await.get_task(named("t1"), &Call::default()).await.is_ok());
}

#[tokio::test]
async fn a_redirect_is_followed_within_its_origin_and_never_beyond() {
    let elsewhere = Fake::raw(|_, _, _| result(&task("WORKING"))).await;
    let to = format!("{}/steal", elsewhere.url());
    let fake = Fake::start(&V1, move |_, n| {
        let (status, to) = match n {
            0 => (307, "/jsonrpc/"),
            1 => return result(&task("WORKING")),
            2 => (308, to.as_str()),
            3 => (302, "/jsonrpc/"),
            _ => (307, "/jsonrpc"),
        };
        let mut moved = answer(status, "text/plain", "");
        moved.headers_mut().insert("location", to.parse().unwrap());
        moved
    })
    .await;
    let options = Options { credentials: Some(Credentials::bearer("s3cret").unwrap()), ..Options::default() };
    let agent = client(options).agent(&fake.url(), &[]).await.unwrap();
    assert!(agent.get_task(named("t1"), &Call::default()).await.is_ok());
    for _ in 0..3 {
        let error = agent.get_task(named("t1"), &Call::default()).await.unwrap_err();
        assert!(matches!(error.why, Why::Redirected { .. }), "{error:?}");
    }
    assert!(elsewhere.all().is_empty(), "nothing goes to another origin");
    assert!(fake.calls().len() < 10, "a circle is left");
}

#[tokio::test]
async fn nobody_there_is_told_from_an_answer_that_was_lost() {
    let fake = Fake::start(&V1, |_, _| crate::world::sse(vec![], crate::world::End::Open)).await;
    let agent = fake.agent().await;
    let call = Call { within: Some(std::time::Duration::from_millis(50)), ..Call::default() };
    let error = agent.get_task(named("t1"), &call).await.unwrap_err();
    assert!(matches!(error.why, Why::TimedOut(_)) && error.may_have_run(), "{error:?}");
    drop(fake);
    // Connections may outlive the listener for a moment; a new client has none.
    let error = loop {
        match client(Options::default())
            .connect(agent.card().clone(), &[])
            .unwrap()
            .get_task(named("t1"), &call)
            .await
        {
            Err(error) if matches!(error.why, Why::Unreachable(_)) => break error,
            _ => tokio::task::yield_now().await,
        }
    };
    assert!(!error.may_have_run() && error.kind() == Kind::Unavailable);
}
