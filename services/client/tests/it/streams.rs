//! Event streams, whole and cut.

use std::time::Duration;

use futures::StreamExt;
use serde_json::{Value, json};
use weft_client::{Agent, Call, Client, Error, Limits, Options, Why};
use weft_core::Kind;
use weft_proto::json as protojson;

use crate::world::{
    End, Fake, Seen, answer, chunk, event, json_answer, message, quick, refusal, result, sse, status, task,
};

const V1: [(&str, &str); 1] = [("JSONRPC", "1.0")];

fn method(seen: &Seen) -> &str {
    seen.body["method"].as_str().unwrap_or_default()
}

/// What a stream told, in short, and how it ended.
async fn told(agent: &Agent) -> (Vec<String>, Option<Error>) {
    let call = Call { idempotency_key: Some("k".into()), ..Call::default() };
    let mut events = match agent.stream(message("go"), &call).await {
        Ok(events) => events,
        Err(error) => return (vec![], Some(error)),
    };
    let mut told = Vec::new();
    while let Some(event) = events.next().await {
        match event {
            Ok(event) => told.push(short(&protojson::encode_string(&event.body).unwrap())),
            Err(error) => return (told, Some(error)),
        }
    }
    (told, None)
}

fn short(event: &str) -> String {
    let event: Value = serde_json::from_str(event).unwrap();
    let (kind, body) = event.as_object().unwrap().iter().next().unwrap();
    let state = body["status"]["state"].as_str().map(|state| state.trim_start_matches("TASK_STATE_"));
    let text = body["artifact"]["parts"][0]["text"].as_str();
    format!("{kind} {}", state.or(text).unwrap_or_default())
}

#[tokio::test]
async fn a_whole_stream_is_told_as_it_came_in_every_dialect_of_lines() {
    let fake = Fake::start(&V1, |_, _| {
        let pretty = serde_json::to_string_pretty(
            &json!({ "jsonrpc": "2.0", "id": 1, "result": chunk("two\nlines") }),
        );
        let pretty: String = pretty.unwrap().lines().map(|line| format!("data: {line}\r\n")).collect();
        let first = event("1", &json!({ "task": task("SUBMITTED") }));
        let (half, rest) = first.split_at(20);
        sse(
            vec![
                "\u{feff}: hello\n\n".into(),
                half.into(),
                rest.into(),
                format!("event: message\r\n{pretty}\r\n"),
                ": keep-alive\n\n".into(),
                event("3", &status("COMPLETED")),
            ],
            End::Clean,
        )
    })
    .await;
    let (told, error) = told(&fake.agent().await).await;
    assert_eq!(told, ["task SUBMITTED", "artifactUpdate two\nlines", "statusUpdate COMPLETED"]);
    assert!(error.is_none(), "{error:?}");
    assert_eq!(fake.calls().len(), 1);
}

#[tokio::test]
async fn a_cut_stream_is_taken_up_after_the_last_event_and_shows_none_twice() {
    let fake = Fake::start(&V1, |seen, n| match (method(seen), n) {
        ("SendStreamingMessage", 0) => {
            sse(vec![event("1", &json!({ "task": task("WORKING") })), event("2", &chunk("a"))], End::Cut)
        }
        ("SubscribeToTask", 1) => answer(503, "text/plain", "wait"),
        ("SubscribeToTask", 2) => sse(
            vec![event("2", &chunk("a")), event("3", &chunk("b")), event("4", &status("COMPLETED"))],
            End::Open,
        ),
        other => panic!("{other:?}"),
    })
    .await;
    let (told, error) = told(&fake.agent().await).await;
    assert_eq!(told, ["task WORKING", "artifactUpdate a", "artifactUpdate b", "statusUpdate COMPLETED"]);
    assert!(error.is_none(), "{error:?}");
    let again = &fake.calls()[2];
    assert_eq!(
        (again.body["params"]["id"].as_str(), &again.headers["last-event-id"]),
        (Some("t1"), &"2".parse().unwrap())
    );
}

#[tokio::test]
async fn a_stream_that_ends_early_is_no_end_the_task_is_read_until_it_has_one() {
    let fake = Fake::start(&V1, |seen, n| match (method(seen), n) {
        ("SendStreamingMessage", _) => sse(vec![event("", &json!({ "task": task("WORKING") }))], End::Clean),
        ("SubscribeToTask", _) => refusal(-32004, "no subscriptions here"),
        ("GetTask", 2 | 3) => result(&task("WORKING")),
        ("GetTask", 4) => answer(502, "text/plain", ""),
        ("GetTask", _) => result(&task("INPUT_REQUIRED")),
        other => panic!("{other:?}"),
    })
    .await;
    let (told, error) = told(&fake.agent().await).await;
    assert_eq!(told, ["task WORKING", "task WORKING", "task INPUT_REQUIRED"]);
    assert!(error.is_none(), "{error:?}");
}

#[tokio::test]
async fn a_stream_that_cannot_be_taken_up_is_an_error_that_says_which_task() {
    let fake = Fake::start(&V1, |seen, _| match method(seen) {
        "SendStreamingMessage" => sse(vec![event("1", &json!({ "task": task("WORKING") }))], End::Clean),
        _ => answer(503, "text/plain", "down"),
    })
    .await;
    let (told, error) = told(&fake.agent().await).await;
    let error = error.unwrap();
    assert_eq!(told, ["task WORKING"]);
    assert!(matches!(error.why, Why::Unfinished(_)) && error.kind() == Kind::Unavailable, "{error:?}");
    assert_eq!(error.trail.task_id.as_deref(), Some("t1"));
    assert_eq!(fake.calls().len(), 1 + 3, "as often as the limit says");
}

#[tokio::test]
async fn an_empty_stream_is_an_error_that_keeps_the_key() {
    let fake = Fake::start(&V1, |_, _| sse(vec![": nothing\n\n".into()], End::Clean)).await;
    let (told, error) = told(&fake.agent().await).await;
    let error = error.unwrap();
    assert!(told.is_empty() && matches!(error.why, Why::Unfinished(_)) && error.may_have_run());
    assert_eq!((error.trail.task_id, error.trail.idempotency_key.as_deref()), (None, Some("k")));
}

#[tokio::test]
async fn garbage_on_a_stream_is_an_error_and_never_skipped() {
    for garbage in [
        "data: not json\n\n".to_owned(),
        "data: [1]\n\n".to_owned(),
        "data: {}\n\n".to_owned(),
        "data:\n\n".to_owned(),
        event("2", &json!({ "unknownKind": {} })),
        event(
            "2",
            &json!({ "statusUpdate": { "taskId": "t1", "status": { "state": "TASK_STATE_ASLEEP" } } }),
        ),
        event(
            "2",
            &json!({ "statusUpdate": { "taskId": "other", "status": { "state": "TASK_STATE_WORKING" } } }),
        ),
        event("2", &chunk(&"x".repeat(6_000))),
    ] {
        let sent = garbage.clone();
        let fake = Fake::start(&V1, move |_, _| {
            let whole = [
                event("1", &json!({ "task": task("WORKING") })),
                sent.clone(),
                event("3", &status("COMPLETED")),
            ];
            sse(whole.into(), End::Clean)
        })
        .await;
        let (told, error) = told(&fake.agent().await).await;
        let error = error.unwrap();
        assert_eq!(told, ["task WORKING"], "{garbage}");
        assert_eq!(error.kind(), Kind::InvalidAgentResponse, "{garbage}: {error:?}");
        assert_eq!(error.trail.task_id.as_deref(), Some("t1"));
    }
}

#[tokio::test]
async fn a_refusal_is_one_before_the_stream_and_on_it() {
    for n in 0..4 {
        let fake = Fake::start(&V1, move |_, _| {
            let error = json!({ "jsonrpc": "2.0", "id": 1, "error": { "code": -32001, "message": "gone" } });
            match n {
                0 => refusal(-32001, "gone"),
                1 => json_answer(404, &error),
                2 => sse(vec![format!("data: {error}\n\n")], End::Clean),
                _ => sse(
                    vec![event("1", &json!({ "task": task("WORKING") })), format!("data: {error}\n\n")],
                    End::Clean,
                ),
            }
        })
        .await;
        let (_, error) = told(&fake.agent().await).await;
        let error = error.unwrap();
        assert_eq!((error.kind(), error.to_string().starts_with("gone")), (Kind::TaskNotFound, true), "{n}");
        assert_eq!(fake.calls().len(), 1, "a refusal is not asked again");
    }
}

#[tokio::test]
async fn an_answer_that_is_no_stream_is_not_taken_for_one() {
    let fake = Fake::start(&V1, |_, n| match n {
        0 => result(&json!({ "task": task("COMPLETED") })),
        1 => answer(200, "text/html", "<html>"),
        _ => answer(204, "text/plain", ""),
    })
    .await;
    let agent = fake.agent().await;
    for n in 0..3 {
        let (_, error) = told(&agent).await;
        assert!(matches!(error.unwrap().why, Why::Malformed(_)), "{n}");
    }
}

#[tokio::test]
async fn a_stream_that_fell_silent_counts_as_cut() {
    let fake = Fake::start(&V1, |seen, _| match method(seen) {
        "SendStreamingMessage" => sse(vec![event("1", &json!({ "task": task("WORKING") }))], End::Open),
        _ => sse(vec![event("1", &json!({ "task": task("COMPLETED") }))], End::Clean),
    })
    .await;
    let limits = Limits { silence: Duration::from_millis(100), ..quick() };
    let client = Client::new(Options { limits, ..Options::default() }).unwrap();
    let (told, error) = told(&client.agent(&fake.url(), &[]).await.unwrap()).await;
    assert_eq!((told, error.is_none()), (vec!["task WORKING".to_owned(), "task COMPLETED".to_owned()], true));
}

#[tokio::test]
async fn an_agent_that_does_not_stream_is_polled() {
    let fake = Fake::raw(|seen, n, address| {
        if seen.path.starts_with("/.well-known") {
            let mut card = crate::world::card(address, &[("JSONRPC".into(), "1.0".into())]);
            card["capabilities"] = json!({});
            return json_answer(200, &card);
        }
        match (method(seen), n) {
            ("SendMessage", _) => result(&json!({ "task": task("SUBMITTED") })),
            ("GetTask", 1 | 2) => result(&task("WORKING")),
            ("GetTask", _) => result(&task("COMPLETED")),
            other => panic!("{other:?}"),
        }
    })
    .await;
    let (told, error) = told(&fake.agent().await).await;
    assert_eq!(told, ["task SUBMITTED", "task WORKING", "task COMPLETED"]);
    assert!(error.is_none());
    assert_eq!(fake.calls()[0].body["params"]["configuration"]["returnImmediately"], true);
}

#[tokio::test]
async fn a_message_is_a_whole_answer() {
    let fake = Fake::start(&V1, |_, _| {
        let message = json!({ "messageId": "m", "role": "ROLE_AGENT", "parts": [{ "text": "hi" }] });
        sse(vec![event("", &json!({ "message": message }))], End::Clean)
    })
    .await;
    let (told, error) = told(&fake.agent().await).await;
    assert_eq!((told.len(), error.is_none(), fake.calls().len()), (1, true, 1));
}

#[tokio::test]
async fn a_subscription_goes_on_while_the_task_asks_and_ends_with_the_agents_stream() {
    let fake = Fake::start(&V1, |_, _| {
        sse(
            vec![
                event("1", &json!({ "task": task("INPUT_REQUIRED") })),
                event("2", &status("WORKING")),
                event("3", &status("COMPLETED")),
            ],
            End::Clean,
        )
    })
    .await;
    let agent = fake.agent().await;
    let events: Vec<_> = agent.subscribe("t1", &Call::default()).await.unwrap().collect().await;
    assert!(events.len() == 3 && events.iter().all(Result::is_ok));
    let followed: Vec<_> = agent.follow("t1", &Call::default()).collect().await;
    assert_eq!(followed.len(), 1, "to follow is to wait until the caller is needed");
}
