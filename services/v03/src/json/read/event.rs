//! Answers and events: objects of several kinds in one place.

use serde::Deserialize;
use serde::de::IgnoredAny;
use weft_core::Fault;
use weft_proto::a2a as v1;
use weft_proto::a2a::{send_message_response, stream_response};

use super::{Read, Sealed, artifact, form, kind, parsed, read, status};
use crate::at::{At, quoted};

read! {
    v1::TaskStatusUpdateEvent, form::StatusUpdate, status_update;
    v1::TaskArtifactUpdateEvent, form::ArtifactUpdate, artifact_update;
}

/// What tells the kinds apart.
#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct Tell {
    kind: Option<String>,
    status: Option<IgnoredAny>,
    artifact: Option<IgnoredAny>,
    parts: Option<IgnoredAny>,
    #[serde(alias = "task_id")]
    task_id: Option<IgnoredAny>,
}

enum Told {
    Task,
    Message,
    StatusUpdate,
    ArtifactUpdate,
}

fn tell(text: &str, at: &At<'_>) -> Result<Told, Fault> {
    let tell: Tell = parsed(text, at)?;
    match tell.kind.as_deref() {
        Some("task") => Ok(Told::Task),
        Some("message") => Ok(Told::Message),
        Some("status-update") => Ok(Told::StatusUpdate),
        Some("artifact-update") => Ok(Told::ArtifactUpdate),
        Some(other) => Err(at.field("kind").fault(format!("is {}: no such kind", quoted(other)))),
        None if tell.artifact.is_some() => Ok(Told::ArtifactUpdate),
        None if tell.status.is_some() && tell.task_id.is_some() => Ok(Told::StatusUpdate),
        None if tell.status.is_some() => Ok(Told::Task),
        None if tell.parts.is_some() => Ok(Told::Message),
        None => Err(at.field("kind").fault("is missing")),
    }
}

impl Sealed for v1::SendMessageResponse {}
impl Read for v1::SendMessageResponse {
    fn read(text: &str, whole: &str) -> Result<Self, Fault> {
        use send_message_response::Payload;
        let at = At::root(whole);
        let payload = match tell(text, &at)? {
            Told::Task => Payload::Task(v1::Task::read(text, whole)?),
            Told::Message => Payload::Message(v1::Message::read(text, whole)?),
            Told::StatusUpdate | Told::ArtifactUpdate => {
                return Err(at.fault("must be a task or a message, not an event"));
            }
        };
        Ok(v1::SendMessageResponse { payload: Some(payload) })
    }
}

impl Sealed for v1::StreamResponse {}
impl Read for v1::StreamResponse {
    fn read(text: &str, whole: &str) -> Result<Self, Fault> {
        use stream_response::Payload;
        let payload = match tell(text, &At::root(whole))? {
            Told::Task => Payload::Task(v1::Task::read(text, whole)?),
            Told::Message => Payload::Message(v1::Message::read(text, whole)?),
            Told::StatusUpdate => Payload::StatusUpdate(v1::TaskStatusUpdateEvent::read(text, whole)?),
            Told::ArtifactUpdate => Payload::ArtifactUpdate(v1::TaskArtifactUpdateEvent::read(text, whole)?),
        };
        Ok(v1::StreamResponse { payload: Some(payload) })
    }
}

fn status_update(form: form::StatusUpdate, at: &At<'_>) -> Result<v1::TaskStatusUpdateEvent, Fault> {
    kind(form.kind.as_deref(), "status-update", at)?;
    Ok(v1::TaskStatusUpdateEvent {
        task_id: form.task_id.unwrap_or_default(),
        context_id: form.context_id.unwrap_or_default(),
        status: form.status.map(|form| status(form, &at.field("status"))).transpose()?,
        metadata: form.metadata,
    })
}

fn artifact_update(form: form::ArtifactUpdate, at: &At<'_>) -> Result<v1::TaskArtifactUpdateEvent, Fault> {
    kind(form.kind.as_deref(), "artifact-update", at)?;
    Ok(v1::TaskArtifactUpdateEvent {
        task_id: form.task_id.unwrap_or_default(),
        context_id: form.context_id.unwrap_or_default(),
        artifact: form.artifact.map(|form| artifact(form, &at.field("artifact"))).transpose()?,
        append: form.append.unwrap_or_default(),
        last_chunk: form.last_chunk.unwrap_or_default(),
        metadata: form.metadata,
    })
}
