//! Answers and events in the JSON of v0.3, by example.

use serde_json::{Value, json};
use weft_proto::a2a as v1;
use weft_proto::a2a::{Role, TaskState, part::Content, send_message_response, stream_response};
use weft_v03::json::{self, Shown};

use super::made::{artifact, data, file, message, status, task, text};

/// Writes it, compares, and reads it again.
fn both_ways<T>(message: &T, expected: &Value)
where
    T: json::Read + PartialEq + std::fmt::Debug,
    for<'a> Shown<'a, T>: serde::Serialize,
{
    let mut out = Vec::new();
    json::encode(message, &mut out).expect("as it should be");
    assert_eq!(serde_json::from_slice::<Value>(&out).expect("as it should be"), *expected);
    assert_eq!(
        json::decode::<T>(std::str::from_utf8(&out).expect("as it should be"), "result")
            .expect("as it should be"),
        *message
    );
}

fn field_of(text: &Value) -> String {
    let fault = json::decode::<v1::Message>(&text.to_string(), "result").expect_err("refused");
    fault.violations[0].field.clone()
}

#[test]
fn a_task_with_everything_it_can_have() {
    let expected = json!({
        "kind": "task", "id": "t", "contextId": "c",
        "status": {
            "state": "input-required", "timestamp": "2026-01-31T12:00:00.000Z",
            "message": {"kind": "message", "messageId": "q", "role": "agent", "taskId": "t", "contextId": "c",
                        "parts": [{"kind": "text", "text": "which one?"}]},
        },
        "artifacts": [{"artifactId": "a", "name": "N", "description": "D", "metadata": {"n": 1},
                       "extensions": ["urn:x"],
                       "parts": [{"kind": "data", "data": {"rows": [1, 2.5, null]}}]}],
        "history": [{"kind": "message", "messageId": "m", "role": "user", "taskId": "t", "contextId": "c",
                     "parts": [{"kind": "text", "text": "hi", "metadata": {"lang": "en"}}],
                     "metadata": {"trace": "x"}, "extensions": ["urn:x"], "referenceTaskIds": ["t0"]}],
        "metadata": {"k": true},
    });
    let mut question = message("q", Role::Agent, vec![text("which one?")]);
    question.metadata = None;
    let mut said = message(
        "m",
        Role::User,
        vec![v1::Part { metadata: Some([("lang", "en")].into_iter().collect()), ..text("hi") }],
    );
    said.metadata = Some([("trace", "x")].into_iter().collect());
    said.extensions = vec!["urn:x".into()];
    said.reference_task_ids = vec!["t0".into()];
    let task = v1::Task {
        status: Some(status(TaskState::InputRequired, Some(question))),
        artifacts: vec![v1::Artifact {
            name: "N".into(),
            description: "D".into(),
            metadata: Some([("n", 1)].into_iter().collect()),
            extensions: vec!["urn:x".into()],
            ..artifact("a", vec![data(&json!({"rows": [1, 2.5, null]}))])
        }],
        history: vec![said],
        metadata: Some([("k", true)].into_iter().collect()),
        ..task("t")
    };
    both_ways(&task, &expected);
    let sent = v1::SendMessageResponse { payload: Some(send_message_response::Payload::Task(task)) };
    both_ways(&sent, &expected);
}

#[test]
fn every_state_has_its_lowercase_name() {
    for (state, name) in [
        (TaskState::Unspecified, "unknown"),
        (TaskState::Submitted, "submitted"),
        (TaskState::Working, "working"),
        (TaskState::Completed, "completed"),
        (TaskState::Failed, "failed"),
        (TaskState::Canceled, "canceled"),
        (TaskState::InputRequired, "input-required"),
        (TaskState::Rejected, "rejected"),
        (TaskState::AuthRequired, "auth-required"),
    ] {
        let event = v1::TaskStatusUpdateEvent {
            task_id: "t".into(),
            context_id: "c".into(),
            status: Some(v1::TaskStatus { state: state.into(), ..v1::TaskStatus::default() }),
            metadata: None,
        };
        let ends = ["completed", "failed", "canceled", "rejected"].contains(&name);
        let expected = json!({"kind": "status-update", "taskId": "t", "contextId": "c",
                              "status": {"state": name}, "final": ends});
        both_ways(
            &v1::StreamResponse { payload: Some(stream_response::Payload::StatusUpdate(event)) },
            &expected,
        );
    }
}

#[test]
fn chunks_of_an_artifact_and_plain_messages_are_events_too() {
    let chunk = v1::TaskArtifactUpdateEvent {
        task_id: "t".into(),
        context_id: "c".into(),
        artifact: Some(artifact("a", vec![text("x")])),
        append: true,
        last_chunk: false,
        metadata: None,
    };
    let expected = json!({"kind": "artifact-update", "taskId": "t", "contextId": "c", "append": true,
                          "lastChunk": false,
                          "artifact": {"artifactId": "a", "parts": [{"kind": "text", "text": "x"}]}});
    both_ways(
        &v1::StreamResponse { payload: Some(stream_response::Payload::ArtifactUpdate(chunk)) },
        &expected,
    );
    let message = v1::Message {
        message_id: "m".into(),
        role: Role::Agent.into(),
        parts: vec![text("hi")],
        ..v1::Message::default()
    };
    let expected = json!({"kind": "message", "messageId": "m", "role": "agent", "parts": [{"kind": "text", "text": "hi"}]});
    both_ways(&v1::StreamResponse { payload: Some(stream_response::Payload::Message(message)) }, &expected);
}

#[test]
fn files_carry_bytes_or_an_address() {
    let parts = vec![
        file(Content::Raw(vec![0xfb, 0xff]), "f.bin", "application/octet-stream"),
        file(Content::Url("https://h/f".into()), "", ""),
    ];
    let expected = json!({"artifactId": "a", "parts": [
        {"kind": "file", "file": {"bytes": "+/8=", "name": "f.bin", "mimeType": "application/octet-stream"}},
        {"kind": "file", "file": {"uri": "https://h/f"}},
    ]});
    let event = v1::TaskArtifactUpdateEvent { artifact: Some(artifact("a", parts)), ..Default::default() };
    let expected = json!({"kind": "artifact-update", "taskId": "", "contextId": "", "append": false,
                          "lastChunk": false, "artifact": expected});
    both_ways(&event, &expected);
}

#[test]
fn data_that_is_no_object_is_wrapped_and_marked() {
    for value in [json!([1, "a"]), json!("text"), json!(7), json!(true), json!(null)] {
        let message = v1::Message { parts: vec![data(&value)], ..v1::Message::default() };
        let expected = json!({"kind": "message", "messageId": "", "role": "agent", "parts": [
            {"kind": "data", "data": {"value": value}, "metadata": {"data_part_compat": true}}]});
        let mut out = Vec::new();
        json::encode(&message, &mut out).unwrap();
        assert_eq!(serde_json::from_slice::<Value>(&out).unwrap(), expected);
        let again: v1::Message = json::decode(&expected.to_string(), "result").unwrap();
        assert_eq!(again.parts, message.parts);
    }
}

#[test]
fn parts_are_read_without_kind_and_in_the_form_of_v1() {
    for (part, expected) in [
        (json!({"text": "a"}), text("a")),
        (json!({"type": "text", "text": "a"}), text("a")),
        (json!({"text": "a", "file": null, "data": null, "metadata": null}), text("a")),
        (json!({"kind": "text", "text": "a", "data": null}), text("a")),
        (json!({"file": {"uri": "u", "mime_type": "x/y"}}), file(Content::Url("u".into()), "", "x/y")),
        (
            json!({"raw": "_-8", "filename": "f", "mediaType": "x/y"}),
            file(Content::Raw(vec![0xff, 0xef]), "f", "x/y"),
        ),
        (json!({"url": "u"}), file(Content::Url("u".into()), "", "")),
        (json!({"data": {"a": 1}}), data(&json!({"a": 1}))),
        (json!({"data": null}), data(&json!(null))),
        (json!({"kind": "data", "data": [1]}), data(&json!([1]))),
    ] {
        let message: v1::Message = json::decode(&json!({"parts": [part]}).to_string(), "result").unwrap();
        assert_eq!(message.parts, [expected], "{part}");
    }
}

#[test]
fn what_is_wrong_is_named_as_the_caller_wrote_it() {
    for (message, field) in [
        (json!({"parts": [{"kind": "text", "text": "a"}, {"kind": "picture"}]}), "parts[1].kind"),
        (json!({"parts": [{"kind": "text"}]}), "parts[0].text"),
        (json!({"parts": [{"kind": "file", "file": {}}]}), "parts[0].file"),
        (json!({"parts": [{"kind": "file", "file": {"bytes": "a", "uri": "b"}}]}), "parts[0].file"),
        (json!({"parts": [{"kind": "file", "file": {"bytes": "*"}}]}), "parts[0].file.bytes"),
        (json!({"parts": [{"text": "a", "url": "b"}]}), "parts[0]"),
        (json!({"parts": [{}]}), "parts[0]"),
        (json!({"parts": [{"kind": "data", "data": {"n": 9007199254740993_u64}}]}), "parts[0].data.n"),
        (json!({"parts": [{"kind": "text", "text": 1}]}), "parts[0].text"),
        (json!({"role": "robot"}), "role"),
        (json!({"kind": "task"}), "kind"),
        (json!({"metadata": {"n": 9007199254740993_u64}}), "metadata.n"),
        (json!([]), "result"),
    ] {
        assert_eq!(field_of(&message), field, "{message}");
    }
    let task = json!({"kind": "task", "status": {"state": "done"}}).to_string();
    let fault = json::decode::<v1::StreamResponse>(&task, "result").unwrap_err();
    assert_eq!(fault.violations[0].field, "status.state");
    let twice = r#"{"messageId":"a","message_id":"b"}"#;
    assert!(json::decode::<v1::Message>(twice, "result").is_err());
}

#[test]
fn answers_without_kind_are_told_by_their_members() {
    let told = |value: Value| match json::decode::<v1::StreamResponse>(&value.to_string(), "result") {
        Ok(v1::StreamResponse { payload: Some(stream_response::Payload::Task(_)) }) => "task",
        Ok(v1::StreamResponse { payload: Some(stream_response::Payload::Message(_)) }) => "message",
        Ok(v1::StreamResponse { payload: Some(stream_response::Payload::StatusUpdate(_)) }) => "status",
        Ok(v1::StreamResponse { payload: Some(stream_response::Payload::ArtifactUpdate(_)) }) => "artifact",
        Ok(_) => "nothing",
        Err(_) => "refused",
    };
    assert_eq!(told(json!({"id": "t", "status": {"state": "working"}})), "task");
    assert_eq!(told(json!({"taskId": "t", "status": {"state": "working"}})), "status");
    assert_eq!(told(json!({"taskId": "t", "artifact": {"artifactId": "a"}})), "artifact");
    assert_eq!(told(json!({"messageId": "m", "parts": []})), "message");
    assert_eq!(told(json!({})), "refused");
    assert_eq!(told(json!({"kind": "other"})), "refused");
    let event = json!({"kind": "status-update", "taskId": "t"}).to_string();
    assert!(json::decode::<v1::SendMessageResponse>(&event, "result").is_err());
}
