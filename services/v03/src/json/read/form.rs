//! The members of each object, all of which may be missing; nothing is judged here.

use std::fmt;

use serde::de::value::MapAccessDeserializer;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use weft_proto::wkt::{Struct, Timestamp, Value};

/// A form: members in camelCase, or as given; the snake_case name is an alias.
macro_rules! forms {
    ($($name:ident { $($(#[$attribute:meta])* $field:ident: $kind:ty,)* })*) => {$(
        #[derive(Debug, Default, Deserialize)]
        #[serde(default, rename_all = "camelCase", remote = "Self")]
        pub(super) struct $name {
            $($(#[$attribute])* pub(super) $field: Option<$kind>,)*
        }

        // What serde derives would take a list of the members as well.
        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(reader: D) -> Result<$name, D::Error> {
                struct Object;

                impl<'de> Visitor<'de> for Object {
                    type Value = $name;

                    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                        f.write_str("an object")
                    }

                    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<$name, A::Error> {
                        $name::deserialize(MapAccessDeserializer::new(map))
                    }
                }

                reader.deserialize_map(Object)
            }
        }
    )*};
}

forms! {
    Task {
        kind: String,
        id: String,
        #[serde(alias = "context_id")]
        context_id: String,
        status: TaskStatus,
        artifacts: Vec<Artifact>,
        history: Vec<Message>,
        metadata: Struct,
    }

    TaskStatus {
        state: String,
        message: Message,
        timestamp: Timestamp,
    }

    Message {
        kind: String,
        #[serde(alias = "message_id")]
        message_id: String,
        #[serde(alias = "context_id")]
        context_id: String,
        #[serde(alias = "task_id")]
        task_id: String,
        role: String,
        parts: Vec<Part>,
        metadata: Struct,
        extensions: Vec<String>,
        #[serde(alias = "reference_task_ids")]
        reference_task_ids: Vec<String>,
    }

    Artifact {
        #[serde(alias = "artifact_id")]
        artifact_id: String,
        name: String,
        description: String,
        parts: Vec<Part>,
        metadata: Struct,
        extensions: Vec<String>,
    }

    Part {
        kind: String,
        text: String,
        file: File,
        #[serde(deserialize_with = "present")]
        data: Value,
        metadata: Struct,
        // As v1.0 has it.
        raw: String,
        url: String,
        filename: String,
        #[serde(alias = "media_type")]
        media_type: String,
    }

    File {
        bytes: String,
        uri: String,
        #[serde(alias = "mime_type")]
        mime_type: String,
        name: String,
    }

    StatusUpdate {
        kind: String,
        #[serde(alias = "task_id")]
        task_id: String,
        #[serde(alias = "context_id")]
        context_id: String,
        status: TaskStatus,
        metadata: Struct,
    }

    ArtifactUpdate {
        kind: String,
        #[serde(alias = "task_id")]
        task_id: String,
        #[serde(alias = "context_id")]
        context_id: String,
        artifact: Artifact,
        append: bool,
        #[serde(alias = "last_chunk")]
        last_chunk: bool,
        metadata: Struct,
    }

    SendParams {
        message: Message,
        configuration: Configuration,
        metadata: Struct,
    }

    Configuration {
        #[serde(alias = "accepted_output_modes")]
        accepted_output_modes: Vec<String>,
        #[serde(alias = "history_length")]
        history_length: Integer,
        #[serde(alias = "push_notification_config")]
        push_notification_config: PushConfig,
        blocking: bool,
    }

    PushConfig {
        id: String,
        url: String,
        token: String,
        authentication: Authentication,
    }

    Authentication {
        schemes: Vec<String>,
        credentials: String,
    }

    TaskPushConfig {
        #[serde(alias = "task_id")]
        task_id: String,
        #[serde(alias = "push_notification_config")]
        push_notification_config: PushConfig,
    }

    // The parameters of every operation on a task that exists.
    TaskParams {
        id: String,
        #[serde(alias = "history_length")]
        history_length: Integer,
        #[serde(alias = "push_notification_config_id")]
        push_notification_config_id: String,
        metadata: Struct,
    }
}

/// Null is a value of `data`.
fn present<'de, D: Deserializer<'de>>(reader: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(reader).map(Some)
}

/// A whole number of 32 bits, also written `5.0`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Integer(pub(super) i32);

impl<'de> Deserialize<'de> for Integer {
    fn deserialize<D: Deserializer<'de>>(reader: D) -> Result<Integer, D::Error> {
        let value = Value::deserialize(reader)?;
        let whole = value.as_f64().filter(|number| number.fract() == 0.0);
        let fitting = whole.filter(|n| (f64::from(i32::MIN)..=f64::from(i32::MAX)).contains(n));
        fitting
            .map(|number| Integer(number as i32))
            .ok_or_else(|| serde::de::Error::custom("must be a whole number of 32 bits"))
    }
}
