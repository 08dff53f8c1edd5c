//! Messages put together by hand, and any messages.

use proptest::collection::{btree_map, vec};
use proptest::option;
use proptest::prelude::*;
use weft_proto::a2a as v1;
use weft_proto::a2a::{Role, TaskState, part::Content, send_message_response, stream_response};
use weft_proto::wkt::{Struct, Timestamp, Value};

pub(super) fn text(text: &str) -> v1::Part {
    v1::Part { content: Some(Content::Text(text.into())), ..v1::Part::default() }
}

pub(super) fn data(value: &serde_json::Value) -> v1::Part {
    let value = Value::try_from(value.clone()).expect("exact numbers");
    v1::Part { content: Some(Content::Data(value)), ..v1::Part::default() }
}

pub(super) fn file(content: Content, filename: &str, media_type: &str) -> v1::Part {
    v1::Part {
        content: Some(content),
        filename: filename.into(),
        media_type: media_type.into(),
        metadata: None,
    }
}

pub(super) fn message(id: &str, role: Role, parts: Vec<v1::Part>) -> v1::Message {
    v1::Message {
        message_id: id.into(),
        task_id: "t".into(),
        context_id: "c".into(),
        role: role.into(),
        parts,
        ..v1::Message::default()
    }
}

pub(super) fn artifact(id: &str, parts: Vec<v1::Part>) -> v1::Artifact {
    v1::Artifact { artifact_id: id.into(), parts, ..v1::Artifact::default() }
}

pub(super) fn status(state: TaskState, message: Option<v1::Message>) -> v1::TaskStatus {
    let timestamp = Some(Timestamp { seconds: 1_769_860_800, nanos: 0 });
    v1::TaskStatus { state: state.into(), message, timestamp }
}

pub(super) fn task(id: &str) -> v1::Task {
    v1::Task { id: id.into(), context_id: "c".into(), ..v1::Task::default() }
}

pub(super) fn any_text() -> impl Strategy<Value = String> {
    "\\PC{0,8}"
}

pub(super) fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::null()),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        any_text().prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 16, 3, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..3).prop_map(Value::from),
            btree_map(any_text(), inner, 0..3).prop_map(|fields| Value::from(Struct { fields })),
        ]
    })
}

pub(super) fn any_object() -> impl Strategy<Value = Struct> {
    // The mark of wrapped data is the one name that an object may not have.
    btree_map(any_text(), any_value(), 0..3).prop_map(|fields| Struct { fields })
}

fn any_texts() -> impl Strategy<Value = Vec<String>> {
    vec(any_text(), 0..3)
}

/// Parts that v0.3 can say: only files have a name and a media type.
pub(super) fn any_part() -> impl Strategy<Value = v1::Part> {
    let named = (vec(any::<u8>(), 0..8), any_text(), any_text());
    let content = prop_oneof![
        any_text().prop_map(|t| (Content::Text(t), String::new(), String::new())),
        any_value().prop_map(|v| (Content::Data(v), String::new(), String::new())),
        named.prop_map(|(bytes, name, media)| (Content::Raw(bytes), name, media)),
        (any_text(), any_text(), any_text()).prop_map(|(url, name, media)| (Content::Url(url), name, media)),
    ];
    (content, option::of(any_object())).prop_map(|((content, filename, media_type), metadata)| {
        // An empty object beside wrapped data is the mark alone, and goes with it.
        let wrapped = matches!(&content, Content::Data(value) if value.as_struct().is_none());
        let metadata = metadata.filter(|object| !(wrapped && object.fields.is_empty()));
        v1::Part { content: Some(content), metadata, filename, media_type }
    })
}

prop_compose! {
    pub(super) fn any_message(references: bool)(
        message_id in any_text(),
        context_id in any_text(),
        task_id in any_text(),
        user in any::<bool>(),
        parts in vec(any_part(), 0..4),
        metadata in option::of(any_object()),
        extensions in any_texts(),
        reference_task_ids in any_texts(),
    ) -> v1::Message {
        let role = if user { Role::User } else { Role::Agent };
        let reference_task_ids = if references { reference_task_ids } else { Vec::new() };
        v1::Message {
            message_id, context_id, task_id, role: role.into(), parts, metadata, extensions, reference_task_ids,
        }
    }
}

prop_compose! {
    fn any_status(references: bool)(
        state in 0..=8_i32,
        message in option::of(any_message(references)),
        time in option::of(0..4_000_000_000_i64),
    ) -> v1::TaskStatus {
        let timestamp = time.map(|seconds| Timestamp { seconds, nanos: 250_000_000 });
        v1::TaskStatus { state, message, timestamp }
    }
}

prop_compose! {
    fn any_artifact()(
        artifact_id in any_text(),
        name in any_text(),
        description in any_text(),
        parts in vec(any_part(), 0..3),
        metadata in option::of(any_object()),
        extensions in any_texts(),
    ) -> v1::Artifact {
        v1::Artifact { artifact_id, name, description, parts, metadata, extensions }
    }
}

prop_compose! {
    pub(super) fn any_task(references: bool)(
        id in any_text(),
        context_id in any_text(),
        status in any_status(references),
        artifacts in vec(any_artifact(), 0..3),
        history in vec(any_message(references), 0..3),
        metadata in option::of(any_object()),
    ) -> v1::Task {
        v1::Task { id, context_id, status: Some(status), artifacts, history, metadata }
    }
}

pub(super) fn any_event(references: bool) -> impl Strategy<Value = v1::StreamResponse> {
    use stream_response::Payload;
    let status = (any_text(), any_text(), any_status(references), option::of(any_object())).prop_map(
        |(task_id, context_id, status, metadata)| {
            let status = Some(status);
            Payload::StatusUpdate(v1::TaskStatusUpdateEvent { task_id, context_id, status, metadata })
        },
    );
    let chunk =
        (any_text(), any_text(), any_artifact(), any::<bool>(), any::<bool>(), option::of(any_object()))
            .prop_map(|(task_id, context_id, artifact, append, last_chunk, metadata)| {
                let artifact = Some(artifact);
                Payload::ArtifactUpdate(v1::TaskArtifactUpdateEvent {
                    task_id,
                    context_id,
                    artifact,
                    append,
                    last_chunk,
                    metadata,
                })
            });
    let payload = prop_oneof![
        any_task(references).prop_map(Payload::Task),
        any_message(references).prop_map(Payload::Message),
        status,
        chunk,
    ];
    payload.prop_map(|payload| v1::StreamResponse { payload: Some(payload) })
}

pub(super) fn any_answer(references: bool) -> impl Strategy<Value = v1::SendMessageResponse> {
    use send_message_response::Payload;
    let payload = prop_oneof![
        any_task(references).prop_map(Payload::Task),
        any_message(references).prop_map(Payload::Message),
    ];
    payload.prop_map(|payload| v1::SendMessageResponse { payload: Some(payload) })
}

/// A text that can stand in a resource name.
pub(super) fn any_id() -> impl Strategy<Value = String> {
    "[a-zA-Z0-9:._-]{1,8}"
}

prop_compose! {
    pub(super) fn any_push_config()(
        id in any_id(),
        task_id in any_id(),
        url in any_text(),
        token in any_text(),
        authentication in option::of((any_text(), any_text())),
    ) -> v1::TaskPushNotificationConfig {
        let authentication =
            authentication.map(|(scheme, credentials)| v1::AuthenticationInfo { scheme, credentials });
        v1::TaskPushNotificationConfig { tenant: String::new(), id, task_id, url, token, authentication }
    }
}

prop_compose! {
    pub(super) fn any_send(references: bool)(
        message in any_message(references),
        modes in any_texts(),
        push in option::of(any_push_config()),
        history_length in option::of(1..i32::MAX),
        return_immediately in any::<bool>(),
        metadata in option::of(any_object()),
    ) -> v1::SendMessageRequest {
        // The task is not known yet.
        let push = push.map(|push| v1::TaskPushNotificationConfig { task_id: String::new(), ..push });
        v1::SendMessageRequest {
            tenant: String::new(),
            message: Some(message),
            configuration: Some(v1::SendMessageConfiguration {
                accepted_output_modes: modes,
                task_push_notification_config: push,
                history_length,
                return_immediately,
            }),
            metadata,
        }
    }
}
