//! Parameters of requests, and push configurations, which are parameters and answers alike.

use serde::ser::{Serialize, SerializeMap, Serializer};
use weft_proto::a2a as v1;

use super::{Each, Shown, object, shown, some, text, texts};

impl Serialize for Shown<'_, v1::SendMessageRequest> {
    fn serialize<S: Serializer>(&self, writer: S) -> Result<S::Ok, S::Error> {
        let request = self.0;
        object(writer, |map| {
            shown(map, "message", &request.message)?;
            match &request.configuration {
                Some(configuration) => map.serialize_entry("configuration", &Shown(configuration))?,
                // Servers disagree on what its absence means.
                None => {
                    map.serialize_entry("configuration", &Shown(&v1::SendMessageConfiguration::default()))?
                }
            }
            some(map, "metadata", &request.metadata)
        })
    }
}

impl Serialize for Shown<'_, v1::SendMessageConfiguration> {
    fn serialize<S: Serializer>(&self, writer: S) -> Result<S::Ok, S::Error> {
        let configuration = self.0;
        object(writer, |map| {
            map.serialize_entry("blocking", &!configuration.return_immediately)?;
            texts(map, "acceptedOutputModes", &configuration.accepted_output_modes)?;
            some(map, "historyLength", &configuration.history_length)?;
            let push = configuration.task_push_notification_config.as_ref().map(Inner);
            some(map, "pushNotificationConfig", &push)
        })
    }
}

impl Serialize for Shown<'_, v1::GetTaskRequest> {
    fn serialize<S: Serializer>(&self, writer: S) -> Result<S::Ok, S::Error> {
        object(writer, |map| {
            map.serialize_entry("id", &self.0.id)?;
            some(map, "historyLength", &self.0.history_length)
        })
    }
}

impl Serialize for Shown<'_, v1::CancelTaskRequest> {
    fn serialize<S: Serializer>(&self, writer: S) -> Result<S::Ok, S::Error> {
        object(writer, |map| {
            map.serialize_entry("id", &self.0.id)?;
            some(map, "metadata", &self.0.metadata)
        })
    }
}

impl Serialize for Shown<'_, v1::SubscribeToTaskRequest> {
    fn serialize<S: Serializer>(&self, writer: S) -> Result<S::Ok, S::Error> {
        object(writer, |map| map.serialize_entry("id", &self.0.id))
    }
}

impl Serialize for Shown<'_, v1::GetTaskPushNotificationConfigRequest> {
    fn serialize<S: Serializer>(&self, writer: S) -> Result<S::Ok, S::Error> {
        object(writer, |map| {
            map.serialize_entry("id", &self.0.task_id)?;
            text(map, "pushNotificationConfigId", &self.0.id)
        })
    }
}

impl Serialize for Shown<'_, v1::ListTaskPushNotificationConfigsRequest> {
    fn serialize<S: Serializer>(&self, writer: S) -> Result<S::Ok, S::Error> {
        object(writer, |map| map.serialize_entry("id", &self.0.task_id))
    }
}

impl Serialize for Shown<'_, v1::DeleteTaskPushNotificationConfigRequest> {
    fn serialize<S: Serializer>(&self, writer: S) -> Result<S::Ok, S::Error> {
        object(writer, |map| {
            map.serialize_entry("id", &self.0.task_id)?;
            map.serialize_entry("pushNotificationConfigId", &self.0.id)
        })
    }
}

impl Serialize for Shown<'_, v1::GetExtendedAgentCardRequest> {
    fn serialize<S: Serializer>(&self, writer: S) -> Result<S::Ok, S::Error> {
        object(writer, |_| Ok(()))
    }
}

impl Serialize for Shown<'_, v1::TaskPushNotificationConfig> {
    fn serialize<S: Serializer>(&self, writer: S) -> Result<S::Ok, S::Error> {
        object(writer, |map| {
            map.serialize_entry("taskId", &self.0.task_id)?;
            map.serialize_entry("pushNotificationConfig", &Inner(self.0))
        })
    }
}

impl Serialize for Shown<'_, v1::ListTaskPushNotificationConfigsResponse> {
    /// A bare list: v0.3 has no pages.
    fn serialize<S: Serializer>(&self, writer: S) -> Result<S::Ok, S::Error> {
        Each(&self.0.configs).serialize(writer)
    }
}

/// The inner object of a push configuration.
struct Inner<'a>(&'a v1::TaskPushNotificationConfig);

impl Serialize for Inner<'_> {
    fn serialize<S: Serializer>(&self, writer: S) -> Result<S::Ok, S::Error> {
        let config = self.0;
        object(writer, |map| {
            text(map, "id", &config.id)?;
            map.serialize_entry("url", &config.url)?;
            text(map, "token", &config.token)?;
            some(map, "authentication", &config.authentication.as_ref().map(Authentication))
        })
    }
}

struct Authentication<'a>(&'a v1::AuthenticationInfo);

impl Serialize for Authentication<'_> {
    fn serialize<S: Serializer>(&self, writer: S) -> Result<S::Ok, S::Error> {
        let schemes = Some(&self.0.scheme).filter(|scheme| !scheme.is_empty());
        object(writer, |map| {
            map.serialize_entry("schemes", &schemes.into_iter().collect::<Vec<_>>())?;
            text(map, "credentials", &self.0.credentials)
        })
    }
}
