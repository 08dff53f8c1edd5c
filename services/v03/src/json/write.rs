//! How messages are written.

mod request;

use serde::ser::{Serialize, SerializeMap, Serializer};
use weft_proto::a2a as v1;
use weft_proto::a2a::part::Content;
use weft_proto::wkt::{Struct, Value};

use super::Shown;
use super::read::BASE64;
use crate::{data, state};

/// A JSON object of the members that `fill` writes.
fn object<S: Serializer>(
    writer: S,
    fill: impl FnOnce(&mut S::SerializeMap) -> Result<(), S::Error>,
) -> Result<S::Ok, S::Error> {
    let mut map = writer.serialize_map(None)?;
    fill(&mut map)?;
    map.end()
}

/// A text unless it is empty.
fn text<M: SerializeMap>(map: &mut M, name: &'static str, text: &str) -> Result<(), M::Error> {
    if text.is_empty() { Ok(()) } else { map.serialize_entry(name, text) }
}

/// Something that is there.
fn some<M: SerializeMap, T: Serialize>(
    map: &mut M,
    name: &'static str,
    value: &Option<T>,
) -> Result<(), M::Error> {
    value.as_ref().map_or(Ok(()), |value| map.serialize_entry(name, value))
}

/// A message that is there.
fn shown<'a, M: SerializeMap, T>(
    map: &mut M,
    name: &'static str,
    value: &'a Option<T>,
) -> Result<(), M::Error>
where
    Shown<'a, T>: Serialize,
{
    value.as_ref().map_or(Ok(()), |value| map.serialize_entry(name, &Shown(value)))
}

/// A list unless it is empty.
fn texts<M: SerializeMap>(map: &mut M, name: &'static str, list: &[String]) -> Result<(), M::Error> {
    if list.is_empty() { Ok(()) } else { map.serialize_entry(name, list) }
}

/// A list of messages unless it is empty.
fn list<'a, M: SerializeMap, T>(map: &mut M, name: &'static str, list: &'a [T]) -> Result<(), M::Error>
where
    Shown<'a, T>: Serialize,
{
    if list.is_empty() { Ok(()) } else { map.serialize_entry(name, &Each(list)) }
}

/// A list of messages.
struct Each<'a, T>(&'a [T]);

impl<'a, T> Serialize for Each<'a, T>
where
    Shown<'a, T>: Serialize,
{
    fn serialize<S: Serializer>(&self, writer: S) -> Result<S::Ok, S::Error> {
        writer.collect_seq(self.0.iter().map(Shown))
    }
}

impl Serialize for Shown<'_, v1::Task> {
    fn serialize<S: Serializer>(&self, writer: S) -> Result<S::Ok, S::Error> {
        let task = self.0;
        object(writer, |map| {
            map.serialize_entry("kind", "task")?;
            map.serialize_entry("id", &task.id)?;
            map.serialize_entry("contextId", &task.context_id)?;
            status(map, &task.status)?;
            list(map, "artifacts", &task.artifacts)?;
            list(map, "history", &task.history)?;
            some(map, "metadata", &task.metadata)
        })
    }
}

/// v0.3 has no task without a status.
fn status<M: SerializeMap>(map: &mut M, status: &Option<v1::TaskStatus>) -> Result<(), M::Error> {
    match status {
        Some(status) => map.serialize_entry("status", &Shown(status)),
        None => map.serialize_entry("status", &Shown(&v1::TaskStatus::default())),
    }
}

impl Serialize for Shown<'_, v1::TaskStatus> {
    fn serialize<S: Serializer>(&self, writer: S) -> Result<S::Ok, S::Error> {
        object(writer, |map| {
            map.serialize_entry("state", state::name(self.0.state))?;
            shown(map, "message", &self.0.message)?;
            some(map, "timestamp", &self.0.timestamp)
        })
    }
}

impl Serialize for Shown<'_, v1::Message> {
    fn serialize<S: Serializer>(&self, writer: S) -> Result<S::Ok, S::Error> {
        let message = self.0;
        object(writer, |map| {
            map.serialize_entry("kind", "message")?;
            map.serialize_entry("messageId", &message.message_id)?;
            map.serialize_entry("role", state::role_name(message.role))?;
            map.serialize_entry("parts", &Each(&message.parts))?;
            text(map, "contextId", &message.context_id)?;
            text(map, "taskId", &message.task_id)?;
            some(map, "metadata", &message.metadata)?;
            texts(map, "extensions", &message.extensions)?;
            texts(map, "referenceTaskIds", &message.reference_task_ids)
        })
    }
}

impl Serialize for Shown<'_, v1::Artifact> {
    fn serialize<S: Serializer>(&self, writer: S) -> Result<S::Ok, S::Error> {
        let artifact = self.0;
        object(writer, |map| {
            map.serialize_entry("artifactId", &artifact.artifact_id)?;
            text(map, "name", &artifact.name)?;
            text(map, "description", &artifact.description)?;
            map.serialize_entry("parts", &Each(&artifact.parts))?;
            some(map, "metadata", &artifact.metadata)?;
            texts(map, "extensions", &artifact.extensions)
        })
    }
}

impl Serialize for Shown<'_, v1::Part> {
    fn serialize<S: Serializer>(&self, writer: S) -> Result<S::Ok, S::Error> {
        let part = self.0;
        object(writer, |map| match &part.content {
            Some(Content::Text(text)) => {
                map.serialize_entry("kind", "text")?;
                map.serialize_entry("text", text)?;
                some(map, "metadata", &part.metadata)
            }
            Some(Content::Raw(_) | Content::Url(_)) => {
                map.serialize_entry("kind", "file")?;
                map.serialize_entry("file", &File(part))?;
                some(map, "metadata", &part.metadata)
            }
            Some(Content::Data(data)) => write_data(map, data, &part.metadata),
            None => {
                map.serialize_entry("kind", "text")?;
                map.serialize_entry("text", "")?;
                some(map, "metadata", &part.metadata)
            }
        })
    }
}

fn write_data<M: SerializeMap>(map: &mut M, data: &Value, metadata: &Option<Struct>) -> Result<(), M::Error> {
    map.serialize_entry("kind", "data")?;
    if let Some(object) = data.as_struct() {
        map.serialize_entry("data", object)?;
        return some(map, "metadata", metadata);
    }
    let (object, metadata) = data::wrapped(data.clone(), metadata.clone());
    map.serialize_entry("data", &object)?;
    some(map, "metadata", &metadata)
}

/// The inner object of a file part.
struct File<'a>(&'a v1::Part);

impl Serialize for File<'_> {
    fn serialize<S: Serializer>(&self, writer: S) -> Result<S::Ok, S::Error> {
        object(writer, |map| {
            match &self.0.content {
                Some(Content::Raw(bytes)) => {
                    map.serialize_entry("bytes", &base64::Engine::encode(&BASE64, bytes))?;
                }
                Some(Content::Url(url)) => map.serialize_entry("uri", url)?,
                _ => {}
            }
            text(map, "mimeType", &self.0.media_type)?;
            text(map, "name", &self.0.filename)
        })
    }
}

impl Serialize for Shown<'_, v1::TaskStatusUpdateEvent> {
    fn serialize<S: Serializer>(&self, writer: S) -> Result<S::Ok, S::Error> {
        let event = self.0;
        object(writer, |map| {
            map.serialize_entry("kind", "status-update")?;
            map.serialize_entry("taskId", &event.task_id)?;
            map.serialize_entry("contextId", &event.context_id)?;
            status(map, &event.status)?;
            let ends = event.status.as_ref().is_some_and(|status| state::is_final(status.state));
            map.serialize_entry("final", &ends)?;
            some(map, "metadata", &event.metadata)
        })
    }
}

impl Serialize for Shown<'_, v1::TaskArtifactUpdateEvent> {
    fn serialize<S: Serializer>(&self, writer: S) -> Result<S::Ok, S::Error> {
        let event = self.0;
        object(writer, |map| {
            map.serialize_entry("kind", "artifact-update")?;
            map.serialize_entry("taskId", &event.task_id)?;
            map.serialize_entry("contextId", &event.context_id)?;
            match &event.artifact {
                Some(artifact) => map.serialize_entry("artifact", &Shown(artifact))?,
                None => map.serialize_entry("artifact", &Shown(&v1::Artifact::default()))?,
            }
            map.serialize_entry("append", &event.append)?;
            map.serialize_entry("lastChunk", &event.last_chunk)?;
            some(map, "metadata", &event.metadata)
        })
    }
}

impl Serialize for Shown<'_, v1::SendMessageResponse> {
    fn serialize<S: Serializer>(&self, writer: S) -> Result<S::Ok, S::Error> {
        match &self.0.payload {
            Some(v1::send_message_response::Payload::Task(task)) => Shown(task).serialize(writer),
            Some(v1::send_message_response::Payload::Message(message)) => Shown(message).serialize(writer),
            None => Err(serde::ser::Error::custom("the answer is neither a task nor a message")),
        }
    }
}

impl Serialize for Shown<'_, v1::StreamResponse> {
    fn serialize<S: Serializer>(&self, writer: S) -> Result<S::Ok, S::Error> {
        use v1::stream_response::Payload;
        match &self.0.payload {
            Some(Payload::Task(task)) => Shown(task).serialize(writer),
            Some(Payload::Message(message)) => Shown(message).serialize(writer),
            Some(Payload::StatusUpdate(event)) => Shown(event).serialize(writer),
            Some(Payload::ArtifactUpdate(event)) => Shown(event).serialize(writer),
            None => Err(serde::ser::Error::custom("the event is empty")),
        }
    }
}
