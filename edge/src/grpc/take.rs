//! The answer that each operation must have.

use weft_proto::a2a::{
    AgentCard, ListTaskPushNotificationConfigsResponse, ListTasksResponse, SendMessageResponse, Task,
    TaskPushNotificationConfig,
};

use crate::a2a::Reply;

pub(super) fn sent(reply: Reply) -> Option<SendMessageResponse> {
    match reply {
        Reply::Sent(sent) => Some(sent),
        _ => None,
    }
}

pub(super) fn task(reply: Reply) -> Option<Task> {
    match reply {
        Reply::Task(task) => Some(task),
        _ => None,
    }
}

pub(super) fn tasks(reply: Reply) -> Option<ListTasksResponse> {
    match reply {
        Reply::Tasks(tasks) => Some(tasks),
        _ => None,
    }
}

pub(super) fn push_config(reply: Reply) -> Option<TaskPushNotificationConfig> {
    match reply {
        Reply::PushConfig(config) => Some(config),
        _ => None,
    }
}

pub(super) fn configs(reply: Reply) -> Option<ListTaskPushNotificationConfigsResponse> {
    match reply {
        Reply::PushConfigs(configs) => Some(configs),
        _ => None,
    }
}

pub(super) fn card(reply: Reply) -> Option<AgentCard> {
    match reply {
        Reply::Card(card) => Some(*card),
        _ => None,
    }
}
