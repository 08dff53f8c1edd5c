//! The four operations on push notification configurations. What is kept, and what may be called, is the task store's.

use weft_core::{Fault, Kind, message};
use weft_proto::a2a::{
    DeleteTaskPushNotificationConfigRequest, GetTaskPushNotificationConfigRequest,
    ListTaskPushNotificationConfigsRequest, ListTaskPushNotificationConfigsResponse,
    TaskPushNotificationConfig,
};
use weft_proto::weft::{
    DeletePushConfigRequest, GetPushConfigRequest, ListPushConfigsRequest, SetPushConfigRequest,
};

use super::Scope;
use crate::upstreams::bounded;

/// Writes a configuration down; one with the same id is replaced. Answers it as it is kept.
pub(super) async fn create(
    scope: &Scope<'_>,
    config: TaskPushNotificationConfig,
) -> Result<TaskPushNotificationConfig, Fault> {
    offered(scope)?;
    message::required_id("taskId", &config.task_id)?;
    let tenant = config.tenant.clone();
    let asked = SetPushConfigRequest { owner: scope.owner.clone(), config: Some(config) };
    let kept = bounded(scope.edge.upstream_time(), scope.edge.tasks().set_push_config(asked)).await?;
    Ok(TaskPushNotificationConfig { tenant, ..kept })
}

/// Answers one configuration.
pub(super) async fn get(
    scope: &Scope<'_>,
    request: GetTaskPushNotificationConfigRequest,
) -> Result<TaskPushNotificationConfig, Fault> {
    offered(scope)?;
    message::required_id("taskId", &request.task_id)?;
    message::required_id("id", &request.id)?;
    let tenant = request.tenant.clone();
    let asked = GetPushConfigRequest { owner: scope.owner.clone(), request: Some(request) };
    let kept = bounded(scope.edge.upstream_time(), scope.edge.tasks().get_push_config(asked)).await?;
    Ok(TaskPushNotificationConfig { tenant, ..kept })
}

/// Answers a page of a task's configurations.
pub(super) async fn list(
    scope: &Scope<'_>,
    request: ListTaskPushNotificationConfigsRequest,
) -> Result<ListTaskPushNotificationConfigsResponse, Fault> {
    offered(scope)?;
    message::required_id("taskId", &request.task_id)?;
    let tenant = request.tenant.clone();
    let asked = ListPushConfigsRequest { owner: scope.owner.clone(), request: Some(request) };
    let mut page = bounded(scope.edge.upstream_time(), scope.edge.tasks().list_push_configs(asked)).await?;
    for config in &mut page.configs {
        config.tenant.clone_from(&tenant);
    }
    Ok(page)
}

/// Answers the first configuration of a task.
pub(super) async fn first(
    scope: &Scope<'_>,
    request: ListTaskPushNotificationConfigsRequest,
) -> Result<TaskPushNotificationConfig, Fault> {
    let task_id = request.task_id.clone();
    let page = list(scope, request).await?;
    page.configs.into_iter().next().ok_or_else(|| Fault::task_not_found(&task_id))
}

/// Removes a configuration; one that is not there is removed already.
pub(super) async fn delete(
    scope: &Scope<'_>,
    request: DeleteTaskPushNotificationConfigRequest,
) -> Result<(), Fault> {
    offered(scope)?;
    message::required_id("taskId", &request.task_id)?;
    message::required_id("id", &request.id)?;
    let asked = DeletePushConfigRequest { owner: scope.owner.clone(), request: Some(request) };
    bounded(scope.edge.upstream_time(), scope.edge.tasks().delete_push_config(asked)).await?;
    Ok(())
}

/// Whether push notifications are offered at all.
pub(super) fn offered(scope: &Scope<'_>) -> Result<(), Fault> {
    if scope.edge.settings().push_notifications {
        return Ok(());
    }
    let text = "push notifications are switched off here (edge.push_notifications): follow the task with \
                SubscribeToTask or GetTask";
    Err(Fault::new(Kind::PushNotificationNotSupported, text))
}
