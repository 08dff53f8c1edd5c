//! The full form, behaviour by behaviour: asked for by message id and by text, answered whole and as a stream, as a
//! first message and as a follow-up.

use serde_json::{Value, json};
use weft_proto::a2a::TaskState;

use super::{Form, form, message};
use crate::client::state_of;

/// What a task looks like in the end.
struct Shown {
    prefix: &'static str,
    state: &'static str,
    /// Text of the status message, when it is one that is compared.
    said: Option<&'static str>,
    /// The parts of the only artifact; null: there is none.
    parts: Value,
}

fn shown() -> Vec<Shown> {
    let completed = |prefix, parts| Shown { prefix, state: "COMPLETED", said: None, parts };
    let status = |prefix, state, said| Shown { prefix, state, said: Some(said), parts: Value::Null };
    let file = |base64: &str| json!([{ "raw": base64, "filename": "output.txt", "mediaType": "text/plain" }]);
    let url = "https://example.com/output.txt";
    vec![
        status("tck-complete-task", "COMPLETED", "Hello from TCK"),
        completed("tck-artifact-text", json!([{ "text": "Generated text content" }])),
        completed("tck-artifact-file", file("R2VuZXJhdGVkIGZpbGUgY29udGVudA==")),
        completed(
            "tck-artifact-file-url",
            json!([{ "url": url, "filename": "output.txt", "mediaType": "text/plain" }]),
        ),
        completed("tck-artifact-data", json!([{ "data": { "key": "value", "count": 42 } }])),
        status("tck-input-required", "INPUT_REQUIRED", "Send the next message to this task"),
        status(
            "tck-auth-required",
            "AUTH_REQUIRED",
            "Prove who you are, then send the next message to this task",
        ),
        status("tck-reject-task", "REJECTED", "rejected"),
        status("tck-fail-task", "FAILED", "failed"),
        completed("tck-stream-001", json!([{ "text": "Stream hello from TCK" }])),
        completed("tck-stream-002", Value::Null),
        completed("tck-stream-003", json!([{ "text": "Stream task lifecycle" }])),
        completed("tck-stream-ordering-001", json!([{ "text": "Ordered output" }])),
        completed("tck-stream-artifact-text", json!([{ "text": "Streamed text content" }])),
        completed("tck-stream-artifact-file", file("U3RyZWFtZWQgZmlsZSBjb250ZW50")),
        completed("tck-stream-artifact-chunked", json!([{ "text": "chunk-1 " }, { "text": "chunk-2" }])),
        status("something-else", "COMPLETED", "Completed"),
    ]
}

fn check(wanted: &Shown, way: &str, task: &Value) {
    let Shown { prefix, state, said, parts } = wanted;
    assert_eq!(task["status"]["state"], format!("TASK_STATE_{state}"), "{prefix} {way}");
    if let Some(said) = said {
        assert_eq!(task["status"]["message"]["parts"], json!([{ "text": said }]), "{prefix} {way}");
    }
    assert_eq!(task["artifacts"][0]["parts"], *parts, "{prefix} {way}");
    assert!(task["artifacts"].as_array().is_none_or(|all| all.len() == 1), "{prefix} {way}: {task}");
    let keys = snake_case_keys(task);
    assert!(keys.is_empty(), "{prefix} {way}: {keys:?}");
}

/// Kits take a key with an underscore for a field that was not written as ProtoJSON is.
fn snake_case_keys(value: &Value) -> Vec<String> {
    match value {
        Value::Object(fields) => {
            let own = fields.keys().filter(|key| key.contains('_')).cloned();
            own.chain(fields.values().flat_map(snake_case_keys)).collect()
        }
        Value::Array(items) => items.iter().flat_map(snake_case_keys).collect(),
        _ => Vec::new(),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_behaviour_is_shown_by_message_id_by_text_and_to_a_follow_up() {
    let form = form("full.toml").await;
    for wanted in shown() {
        let prefix = wanted.prefix;
        check(&wanted, "by id", &form.said(&format!("{prefix}-1"), "hello").await["task"]);
        check(&wanted, "by text", &form.said("m-1", prefix).await["task"]);
        let first = form.said("tck-input-required-1", "hello").await["task"].clone();
        let mut follow_up = message(&format!("{prefix}-2"), "hello");
        follow_up["message"]["taskId"] = first["id"].clone();
        let then = form.sent(&follow_up).await["task"].clone();
        check(&wanted, "as a follow-up", &then);
        assert_eq!((&then["id"], &then["contextId"]), (&first["id"], &first["contextId"]), "{prefix}");
    }
    form.stop().await;
}

/// The events of a streamed message: `T` task, `s` status, `a` artifact, `m` message; chunks with `+` when they
/// append and `.` when they are the last.
async fn streamed(form: &Form, message_id: &str) -> (String, Option<TaskState>) {
    let events = form.client().stream("SendStreamingMessage", &message(message_id, "hello"), &[]).await;
    let events = events.unwrap().rest().await;
    let mut shape = String::new();
    for (_, event) in &events {
        let event: Value = serde_json::from_slice(&weft_proto::json::encode(event).unwrap()).unwrap();
        for (key, letter) in [("task", 'T'), ("statusUpdate", 's'), ("artifactUpdate", 'a'), ("message", 'm')]
        {
            if event.get(key).is_some() {
                shape.push(letter);
            }
        }
        let chunk = &event["artifactUpdate"];
        shape.extend(
            [("append", '+'), ("lastChunk", '.')].iter().filter(|(k, _)| chunk[k] == true).map(|(_, c)| c),
        );
    }
    (shape, events.iter().filter_map(|(_, event)| state_of(event)).next_back())
}

/// The task comes first, as it is by then; what is in it already is not said again.
fn follows(prefix: &str, shape: &str, events: &str) {
    let rest = shape.strip_prefix('T').unwrap_or_else(|| panic!("{prefix}: {shape}"));
    assert!(events.ends_with(rest), "{prefix}: {shape}");
}

#[tokio::test(flavor = "multi_thread")]
async fn every_behaviour_is_streamed_from_the_task_to_its_end() {
    let form = form("full.toml").await;
    let mut cases: Vec<_> = shown().into_iter().map(|case| (case.prefix, case.state, case.parts)).collect();
    cases.retain(|(prefix, ..)| *prefix != "tck-stream-artifact-chunked");
    for (prefix, state, parts) in cases {
        let (shape, last) = streamed(&form, &format!("{prefix}-1")).await;
        follows(prefix, &shape, if parts.is_null() { "ss" } else { "sa.s" });
        assert_eq!(last.unwrap().as_str_name(), format!("TASK_STATE_{state}"), "{prefix}");
    }
    let (shape, last) = streamed(&form, "tck-stream-artifact-chunked-1").await;
    follows("chunks", &shape, "saa+.s");
    assert_eq!(last, Some(TaskState::Completed));
    form.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_may_be_the_whole_answer_also_of_a_stream() {
    let form = form("full.toml").await;
    for (id, text) in [("tck-message-response-1", "hello"), ("m-1", "tck-message-response")] {
        let answer = form.said(id, text).await;
        assert_eq!(answer["message"]["parts"], json!([{ "text": "Direct message response" }]), "{answer}");
        assert_eq!(
            (&answer["message"]["role"], answer.get("task")),
            (&json!("ROLE_AGENT"), None),
            "{answer}"
        );
        assert_ne!(answer["message"]["contextId"], Value::Null, "{answer}");
    }
    assert_eq!(streamed(&form, "tck-message-response-2").await, ("m".into(), None));
    let listed = form.client().list(&json!({})).await.unwrap();
    assert_eq!(listed.total_size, 0, "what was answered with a message is no task: {listed:?}");
    form.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_can_be_left_and_come_back_to_while_the_task_works() {
    let form = form("full.toml").await;
    let params = message("test-resubscribe-message-id-1", "hello");
    let mut first = form.client().stream("SendStreamingMessage", &params, &[]).await.unwrap();
    let (_, opened) = first.next().await.unwrap().unwrap();
    let Some(weft_proto::a2a::stream_response::Payload::Task(task)) = opened.payload else {
        panic!("{opened:?}")
    };
    drop(first);
    let again = form.client().subscribe(&task.id, None).await.unwrap();
    let events = again.rest().await;
    let states: Vec<_> = events.iter().filter_map(|(_, event)| state_of(event)).collect();
    assert_eq!(states.last(), Some(&TaskState::Completed), "{states:?}");
    assert_ne!(states[0], TaskState::Completed, "it was still at work: {states:?}");
    form.stop().await;
}
