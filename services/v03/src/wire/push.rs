//! Push configurations and the requests about them.

use weft_core::Fault;
use weft_proto::a2a as v1;
use weft_proto::a2a_v03 as v03;

use super::{Downgrade, TryUpgrade, Upgrade, name};

impl Upgrade for v03::PushNotificationConfig {
    type V1 = v1::TaskPushNotificationConfig;

    /// Of no task yet.
    fn upgrade(self) -> v1::TaskPushNotificationConfig {
        v1::TaskPushNotificationConfig {
            tenant: String::new(),
            id: self.id,
            task_id: String::new(),
            url: self.url,
            token: self.token,
            authentication: self.authentication.map(Upgrade::upgrade),
        }
    }
}

impl Upgrade for v03::AuthenticationInfo {
    type V1 = v1::AuthenticationInfo;

    /// Of several schemes the first.
    fn upgrade(self) -> v1::AuthenticationInfo {
        v1::AuthenticationInfo {
            scheme: self.schemes.into_iter().next().unwrap_or_default(),
            credentials: self.credentials,
        }
    }
}

impl Downgrade for v1::AuthenticationInfo {
    type V03 = v03::AuthenticationInfo;

    fn downgrade(self) -> v03::AuthenticationInfo {
        let schemes = Some(self.scheme).filter(|scheme| !scheme.is_empty());
        v03::AuthenticationInfo { schemes: schemes.into_iter().collect(), credentials: self.credentials }
    }
}

/// The inner configuration.
pub(super) fn inner(config: v1::TaskPushNotificationConfig) -> v03::PushNotificationConfig {
    v03::PushNotificationConfig {
        id: config.id,
        url: config.url,
        token: config.token,
        authentication: config.authentication.map(Downgrade::downgrade),
    }
}

impl TryUpgrade for v03::TaskPushNotificationConfig {
    type V1 = v1::TaskPushNotificationConfig;

    fn try_upgrade(self) -> Result<v1::TaskPushNotificationConfig, Fault> {
        let (task_id, id) = name::config_ids("name", &self.name)?;
        let config = self.push_notification_config.unwrap_or_default().upgrade();
        let id = if config.id.is_empty() { id } else { config.id };
        Ok(v1::TaskPushNotificationConfig { task_id, id, ..config })
    }
}

impl Downgrade for v1::TaskPushNotificationConfig {
    type V03 = v03::TaskPushNotificationConfig;

    fn downgrade(self) -> v03::TaskPushNotificationConfig {
        v03::TaskPushNotificationConfig {
            name: name::config(&self.task_id, &self.id),
            push_notification_config: Some(inner(self)),
        }
    }
}

impl TryUpgrade for v03::ListTaskPushNotificationConfigResponse {
    type V1 = v1::ListTaskPushNotificationConfigsResponse;

    fn try_upgrade(self) -> Result<v1::ListTaskPushNotificationConfigsResponse, Fault> {
        let configs = self.configs.into_iter().map(TryUpgrade::try_upgrade).collect::<Result<_, _>>()?;
        Ok(v1::ListTaskPushNotificationConfigsResponse { configs, next_page_token: self.next_page_token })
    }
}

impl Downgrade for v1::ListTaskPushNotificationConfigsResponse {
    type V03 = v03::ListTaskPushNotificationConfigResponse;

    fn downgrade(self) -> v03::ListTaskPushNotificationConfigResponse {
        v03::ListTaskPushNotificationConfigResponse {
            configs: super::down(self.configs),
            next_page_token: self.next_page_token,
        }
    }
}

impl TryUpgrade for v03::CreateTaskPushNotificationConfigRequest {
    type V1 = v1::TaskPushNotificationConfig;

    /// The name inside the configuration is not looked at: clients that leave the id to the server write nonsense.
    fn try_upgrade(self) -> Result<v1::TaskPushNotificationConfig, Fault> {
        let task_id = name::task_id("parent", &self.parent)?;
        let config = self.config.unwrap_or_default().push_notification_config.unwrap_or_default().upgrade();
        let id = if config.id.is_empty() { self.config_id } else { config.id };
        Ok(v1::TaskPushNotificationConfig { task_id, id, ..config })
    }
}

/// The request that creates it.
pub fn create(config: v1::TaskPushNotificationConfig) -> v03::CreateTaskPushNotificationConfigRequest {
    v03::CreateTaskPushNotificationConfigRequest {
        parent: name::task(&config.task_id),
        config_id: config.id.clone(),
        config: Some(config.downgrade()),
    }
}

impl TryUpgrade for v03::GetTaskPushNotificationConfigRequest {
    type V1 = v1::GetTaskPushNotificationConfigRequest;

    fn try_upgrade(self) -> Result<v1::GetTaskPushNotificationConfigRequest, Fault> {
        let (task_id, id) = name::config_ids("name", &self.name)?;
        Ok(v1::GetTaskPushNotificationConfigRequest { tenant: String::new(), task_id, id })
    }
}

impl Downgrade for v1::GetTaskPushNotificationConfigRequest {
    type V03 = v03::GetTaskPushNotificationConfigRequest;

    fn downgrade(self) -> v03::GetTaskPushNotificationConfigRequest {
        v03::GetTaskPushNotificationConfigRequest { name: name::config(&self.task_id, &self.id) }
    }
}

impl TryUpgrade for v03::DeleteTaskPushNotificationConfigRequest {
    type V1 = v1::DeleteTaskPushNotificationConfigRequest;

    fn try_upgrade(self) -> Result<v1::DeleteTaskPushNotificationConfigRequest, Fault> {
        let (task_id, id) = name::config_ids("name", &self.name)?;
        Ok(v1::DeleteTaskPushNotificationConfigRequest { tenant: String::new(), task_id, id })
    }
}

impl Downgrade for v1::DeleteTaskPushNotificationConfigRequest {
    type V03 = v03::DeleteTaskPushNotificationConfigRequest;

    fn downgrade(self) -> v03::DeleteTaskPushNotificationConfigRequest {
        v03::DeleteTaskPushNotificationConfigRequest { name: name::config(&self.task_id, &self.id) }
    }
}

impl TryUpgrade for v03::ListTaskPushNotificationConfigRequest {
    type V1 = v1::ListTaskPushNotificationConfigsRequest;

    fn try_upgrade(self) -> Result<v1::ListTaskPushNotificationConfigsRequest, Fault> {
        Ok(v1::ListTaskPushNotificationConfigsRequest {
            tenant: String::new(),
            task_id: name::task_id("parent", &self.parent)?,
            page_size: self.page_size,
            page_token: self.page_token,
        })
    }
}

impl Downgrade for v1::ListTaskPushNotificationConfigsRequest {
    type V03 = v03::ListTaskPushNotificationConfigRequest;

    fn downgrade(self) -> v03::ListTaskPushNotificationConfigRequest {
        v03::ListTaskPushNotificationConfigRequest {
            parent: name::task(&self.task_id),
            page_size: self.page_size,
            page_token: self.page_token,
        }
    }
}
