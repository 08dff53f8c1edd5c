//! What a v0.3 caller can ask, in the messages of v1.0.

use weft_proto::a2a::{
    CancelTaskRequest, DeleteTaskPushNotificationConfigRequest, GetExtendedAgentCardRequest,
    GetTaskPushNotificationConfigRequest, GetTaskRequest, ListTaskPushNotificationConfigsRequest,
    SendMessageRequest, SubscribeToTaskRequest, TaskPushNotificationConfig,
};

/// One call; tenants are left empty.
#[derive(Debug, Clone, PartialEq)]
pub enum Request {
    /// `message/send`.
    SendMessage(SendMessageRequest),
    /// `message/stream`.
    SendStreamingMessage(SendMessageRequest),
    /// `tasks/get`.
    GetTask(GetTaskRequest),
    /// `tasks/cancel`.
    CancelTask(CancelTaskRequest),
    /// `tasks/resubscribe`.
    SubscribeToTask(SubscribeToTaskRequest),
    /// `tasks/pushNotificationConfig/set`.
    CreatePushConfig(TaskPushNotificationConfig),
    /// `tasks/pushNotificationConfig/get`; an empty id asks for the task's first one.
    GetPushConfig(GetTaskPushNotificationConfigRequest),
    /// `tasks/pushNotificationConfig/list`.
    ListPushConfigs(ListTaskPushNotificationConfigsRequest),
    /// `tasks/pushNotificationConfig/delete`.
    DeletePushConfig(DeleteTaskPushNotificationConfigRequest),
    /// `agent/getAuthenticatedExtendedCard`.
    GetExtendedAgentCard(GetExtendedAgentCardRequest),
}
