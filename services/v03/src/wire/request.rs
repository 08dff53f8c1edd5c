//! Requests about messages and tasks.

use weft_core::Fault;
use weft_proto::a2a as v1;
use weft_proto::a2a_v03 as v03;

use super::{Downgrade, TryUpgrade, Upgrade, name, push};

impl Upgrade for v03::SendMessageRequest {
    type V1 = v1::SendMessageRequest;

    fn upgrade(self) -> v1::SendMessageRequest {
        v1::SendMessageRequest {
            tenant: String::new(),
            message: self.request.map(Upgrade::upgrade),
            configuration: self.configuration.map(Upgrade::upgrade),
            metadata: self.metadata,
        }
    }
}

impl Downgrade for v1::SendMessageRequest {
    type V03 = v03::SendMessageRequest;

    fn downgrade(self) -> v03::SendMessageRequest {
        v03::SendMessageRequest {
            request: self.message.map(Downgrade::downgrade),
            // Servers disagree on what its absence means.
            configuration: Some(self.configuration.unwrap_or_default().downgrade()),
            metadata: self.metadata,
        }
    }
}

impl Upgrade for v03::SendMessageConfiguration {
    type V1 = v1::SendMessageConfiguration;

    fn upgrade(self) -> v1::SendMessageConfiguration {
        v1::SendMessageConfiguration {
            accepted_output_modes: self.accepted_output_modes,
            task_push_notification_config: self.push_notification.map(Upgrade::upgrade),
            history_length: length(self.history_length),
            return_immediately: !self.blocking,
        }
    }
}

impl Downgrade for v1::SendMessageConfiguration {
    type V03 = v03::SendMessageConfiguration;

    fn downgrade(self) -> v03::SendMessageConfiguration {
        v03::SendMessageConfiguration {
            accepted_output_modes: self.accepted_output_modes,
            push_notification: self.task_push_notification_config.map(push::inner),
            history_length: self.history_length.unwrap_or_default(),
            blocking: !self.return_immediately,
        }
    }
}

/// 0 stands for unset.
fn length(given: i32) -> Option<i32> {
    Some(given).filter(|length| *length != 0)
}

impl TryUpgrade for v03::GetTaskRequest {
    type V1 = v1::GetTaskRequest;

    fn try_upgrade(self) -> Result<v1::GetTaskRequest, Fault> {
        Ok(v1::GetTaskRequest {
            tenant: String::new(),
            id: name::task_id("name", &self.name)?,
            history_length: length(self.history_length),
        })
    }
}

impl Downgrade for v1::GetTaskRequest {
    type V03 = v03::GetTaskRequest;

    fn downgrade(self) -> v03::GetTaskRequest {
        v03::GetTaskRequest {
            name: name::task(&self.id),
            history_length: self.history_length.unwrap_or_default(),
        }
    }
}

impl TryUpgrade for v03::CancelTaskRequest {
    type V1 = v1::CancelTaskRequest;

    fn try_upgrade(self) -> Result<v1::CancelTaskRequest, Fault> {
        let id = name::task_id("name", &self.name)?;
        Ok(v1::CancelTaskRequest { tenant: String::new(), id, metadata: None })
    }
}

impl Downgrade for v1::CancelTaskRequest {
    type V03 = v03::CancelTaskRequest;

    fn downgrade(self) -> v03::CancelTaskRequest {
        v03::CancelTaskRequest { name: name::task(&self.id) }
    }
}

impl TryUpgrade for v03::TaskSubscriptionRequest {
    type V1 = v1::SubscribeToTaskRequest;

    fn try_upgrade(self) -> Result<v1::SubscribeToTaskRequest, Fault> {
        let id = name::task_id("name", &self.name)?;
        Ok(v1::SubscribeToTaskRequest { tenant: String::new(), id })
    }
}

impl Downgrade for v1::SubscribeToTaskRequest {
    type V03 = v03::TaskSubscriptionRequest;

    fn downgrade(self) -> v03::TaskSubscriptionRequest {
        v03::TaskSubscriptionRequest { name: name::task(&self.id) }
    }
}

impl Upgrade for v03::GetAgentCardRequest {
    type V1 = v1::GetExtendedAgentCardRequest;

    fn upgrade(self) -> v1::GetExtendedAgentCardRequest {
        v1::GetExtendedAgentCardRequest::default()
    }
}

impl Downgrade for v1::GetExtendedAgentCardRequest {
    type V03 = v03::GetAgentCardRequest;

    fn downgrade(self) -> v03::GetAgentCardRequest {
        v03::GetAgentCardRequest {}
    }
}
