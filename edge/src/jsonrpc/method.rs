//! The method table of A2A v1.0 §9.4.

/// A method that exists, served or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Method {
    SendMessage,
    SendStreamingMessage,
    GetTask,
    ListTasks,
    CancelTask,
    SubscribeToTask,
    /// Create, get, list and delete alike: push notifications are not offered.
    PushConfig,
    GetExtendedAgentCard,
}

// === impl Method ===

impl Method {
    pub(crate) fn find(name: &str) -> Option<Method> {
        Some(match name {
            "SendMessage" => Method::SendMessage,
            "SendStreamingMessage" => Method::SendStreamingMessage,
            "GetTask" => Method::GetTask,
            "ListTasks" => Method::ListTasks,
            "CancelTask" => Method::CancelTask,
            "SubscribeToTask" => Method::SubscribeToTask,
            "CreateTaskPushNotificationConfig"
            | "GetTaskPushNotificationConfig"
            | "ListTaskPushNotificationConfigs"
            | "DeleteTaskPushNotificationConfig" => Method::PushConfig,
            "GetExtendedAgentCard" => Method::GetExtendedAgentCard,
            _ => return None,
        })
    }

    /// For spans and counters: a closed list.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Method::SendMessage => "SendMessage",
            Method::SendStreamingMessage => "SendStreamingMessage",
            Method::GetTask => "GetTask",
            Method::ListTasks => "ListTasks",
            Method::CancelTask => "CancelTask",
            Method::SubscribeToTask => "SubscribeToTask",
            Method::PushConfig => "TaskPushNotificationConfig",
            Method::GetExtendedAgentCard => "GetExtendedAgentCard",
        }
    }

    /// Whether it changes something, so that it makes sense to call it without waiting for an answer.
    pub(crate) fn acts(self) -> bool {
        matches!(self, Method::SendMessage | Method::CancelTask)
    }
}
