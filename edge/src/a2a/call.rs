//! One operation with its request, and what it answers.

use weft_core::Fault;
use weft_proto::a2a::send_message_response::Payload;
use weft_proto::a2a::{
    AgentCard, CancelTaskRequest, DeleteTaskPushNotificationConfigRequest, GetExtendedAgentCardRequest,
    GetTaskPushNotificationConfigRequest, GetTaskRequest, ListTaskPushNotificationConfigsRequest,
    ListTaskPushNotificationConfigsResponse, ListTasksRequest, ListTasksResponse, SendMessageRequest,
    SendMessageResponse, SubscribeToTaskRequest, Task, TaskPushNotificationConfig,
};
use weft_proto::wkt::{Kind, Value};

use super::{Operation, Stream};
use crate::files::Outline;
use crate::json;

/// An operation with its request.
#[derive(Debug)]
pub(crate) enum Call {
    SendMessage(SendMessageRequest),
    SendStreamingMessage(SendMessageRequest),
    GetTask(GetTaskRequest),
    ListTasks(ListTasksRequest),
    CancelTask(CancelTaskRequest),
    SubscribeToTask(SubscribeToTaskRequest),
    CreatePushConfig(TaskPushNotificationConfig),
    GetPushConfig(GetTaskPushNotificationConfigRequest),
    /// The first configuration of a task, which callers of v0.3 get without knowing its id.
    FirstPushConfig(ListTaskPushNotificationConfigsRequest),
    ListPushConfigs(ListTaskPushNotificationConfigsRequest),
    DeletePushConfig(DeleteTaskPushNotificationConfigRequest),
    GetExtendedAgentCard(GetExtendedAgentCardRequest),
}

/// What an operation answers.
pub(crate) enum Reply {
    Sent(SendMessageResponse),
    Task(Task),
    Tasks(ListTasksResponse),
    PushConfig(TaskPushNotificationConfig),
    PushConfigs(ListTaskPushNotificationConfigsResponse),
    /// A push configuration is gone.
    Deleted,
    Card(Box<AgentCard>),
    Stream(Box<Stream>),
}

// === impl Call ===

impl Call {
    /// Reads a request in its ProtoJSON form. `whole` is what the request as a whole is called.
    ///
    /// # Errors
    /// `Invalid`, naming the field.
    pub(crate) fn from_json(operation: Operation, text: &str, whole: &str) -> Result<Call, Fault> {
        Ok(match operation {
            Operation::SendMessage => Call::SendMessage(json::decode(text, whole)?),
            Operation::SendStreamingMessage => Call::SendStreamingMessage(json::decode(text, whole)?),
            Operation::GetTask => Call::GetTask(json::decode(text, whole)?),
            Operation::ListTasks => Call::ListTasks(json::decode(text, whole)?),
            Operation::CancelTask => Call::CancelTask(json::decode(text, whole)?),
            Operation::SubscribeToTask => Call::SubscribeToTask(json::decode(text, whole)?),
            Operation::CreatePushConfig => Call::CreatePushConfig(json::decode(text, whole)?),
            Operation::GetPushConfig => Call::GetPushConfig(json::decode(text, whole)?),
            Operation::ListPushConfigs => Call::ListPushConfigs(json::decode(text, whole)?),
            Operation::DeletePushConfig => Call::DeletePushConfig(json::decode(text, whole)?),
            Operation::GetExtendedAgentCard => Call::GetExtendedAgentCard(json::decode(text, whole)?),
        })
    }

    /// Holds a request that came as protobuf against what the JSON bindings can say, so that every binding takes the
    /// same.
    ///
    /// # Errors
    /// `Invalid`, naming the field.
    pub(crate) fn check(&self) -> Result<(), Fault> {
        let checked = match self {
            Call::SendMessage(request) | Call::SendStreamingMessage(request) => {
                weft_proto::json::check(request)
            }
            Call::ListTasks(request) => weft_proto::json::check(request),
            Call::CancelTask(request) => weft_proto::json::check(request),
            // Texts and whole numbers: JSON can say all of them.
            Call::GetTask(_)
            | Call::SubscribeToTask(_)
            | Call::CreatePushConfig(_)
            | Call::GetPushConfig(_)
            | Call::ListPushConfigs(_)
            | Call::FirstPushConfig(_)
            | Call::DeletePushConfig(_)
            | Call::GetExtendedAgentCard(_) => Ok(()),
        };
        checked.map_err(|fault| Fault::invalid(fault.path, fault.reason))
    }

    /// Which agent is asked; empty: the mesh.
    pub(crate) fn tenant(&self) -> &str {
        match self {
            Call::SendMessage(request) | Call::SendStreamingMessage(request) => &request.tenant,
            Call::GetTask(request) => &request.tenant,
            Call::ListTasks(request) => &request.tenant,
            Call::CancelTask(request) => &request.tenant,
            Call::SubscribeToTask(request) => &request.tenant,
            Call::CreatePushConfig(request) => &request.tenant,
            Call::GetPushConfig(request) => &request.tenant,
            Call::ListPushConfigs(request) | Call::FirstPushConfig(request) => &request.tenant,
            Call::DeletePushConfig(request) => &request.tenant,
            Call::GetExtendedAgentCard(request) => &request.tenant,
        }
    }

    fn tenant_mut(&mut self) -> &mut String {
        match self {
            Call::SendMessage(request) | Call::SendStreamingMessage(request) => &mut request.tenant,
            Call::GetTask(request) => &mut request.tenant,
            Call::ListTasks(request) => &mut request.tenant,
            Call::CancelTask(request) => &mut request.tenant,
            Call::SubscribeToTask(request) => &mut request.tenant,
            Call::CreatePushConfig(request) => &mut request.tenant,
            Call::GetPushConfig(request) => &mut request.tenant,
            Call::ListPushConfigs(request) | Call::FirstPushConfig(request) => &mut request.tenant,
            Call::DeletePushConfig(request) => &mut request.tenant,
            Call::GetExtendedAgentCard(request) => &mut request.tenant,
        }
    }

    /// The same call to the agent that the path names.
    ///
    /// # Errors
    /// `Invalid` on `tenant` when the request names another one.
    pub(crate) fn at(mut self, path: &str) -> Result<Call, Fault> {
        if path.is_empty() {
            return Ok(self);
        }
        named("tenant", self.tenant_mut(), path)?;
        Ok(self)
    }

    /// The same call about the task and the push configuration that the path names.
    ///
    /// # Errors
    /// `Invalid` on the field with which the request names another one.
    pub(crate) fn about(mut self, task_id: &str, config_id: &str) -> Result<Call, Fault> {
        match &mut self {
            Call::GetTask(request) => named("id", &mut request.id, task_id)?,
            Call::CancelTask(request) => named("id", &mut request.id, task_id)?,
            Call::SubscribeToTask(request) => named("id", &mut request.id, task_id)?,
            Call::CreatePushConfig(request) => named("taskId", &mut request.task_id, task_id)?,
            Call::ListPushConfigs(request) | Call::FirstPushConfig(request) => {
                named("taskId", &mut request.task_id, task_id)?
            }
            Call::GetPushConfig(request) => {
                named("taskId", &mut request.task_id, task_id)?;
                named("id", &mut request.id, config_id)?;
            }
            Call::DeletePushConfig(request) => {
                named("taskId", &mut request.task_id, task_id)?;
                named("id", &mut request.id, config_id)?;
            }
            Call::SendMessage(_)
            | Call::SendStreamingMessage(_)
            | Call::ListTasks(_)
            | Call::GetExtendedAgentCard(_) => {}
        }
        Ok(self)
    }

    /// The task it is about, for traces.
    pub(crate) fn task_id(&self) -> Option<&str> {
        let id = match self {
            Call::SendMessage(request) | Call::SendStreamingMessage(request) => {
                request.message.as_ref()?.task_id.as_str()
            }
            Call::GetTask(request) => &request.id,
            Call::CancelTask(request) => &request.id,
            Call::SubscribeToTask(request) => &request.id,
            Call::CreatePushConfig(request) => &request.task_id,
            Call::GetPushConfig(request) => &request.task_id,
            Call::ListPushConfigs(request) | Call::FirstPushConfig(request) => &request.task_id,
            Call::DeletePushConfig(request) => &request.task_id,
            Call::ListTasks(_) | Call::GetExtendedAgentCard(_) => return None,
        };
        Some(id).filter(|id| !id.is_empty())
    }
}

/// Sets a field to what the path says.
fn named(field: &str, slot: &mut String, path: &str) -> Result<(), Fault> {
    if !slot.is_empty() && slot != path {
        return Err(Fault::invalid(field, "is not the one in the path: leave it out, or name the same one"));
    }
    path.clone_into(slot);
    Ok(())
}

/// Puts a task access token into the metadata of a task on its way out.
pub(super) fn tell_in_task(task: &mut Task, token: &str) {
    let text = Value { kind: Some(Kind::String(token.to_owned())) };
    task.metadata.get_or_insert_default().fields.insert("taskAccessToken".to_owned(), text);
}

// === impl Reply ===

impl Reply {
    /// The task it is about, for traces.
    pub(crate) fn task_id(&self) -> Option<&str> {
        match self {
            Reply::Task(task) => Some(&task.id),
            Reply::Sent(sent) => match &sent.payload {
                Some(Payload::Task(task)) => Some(&task.id),
                _ => None,
            },
            _ => None,
        }
    }

    /// Puts links in the place of what is too large for an answer; a stream does so event by event.
    pub(super) fn outline(&mut self, outline: &Outline<'_>) {
        match self {
            Reply::Sent(SendMessageResponse { payload: Some(Payload::Task(task)) }) | Reply::Task(task) => {
                outline.task(task);
            }
            Reply::Tasks(tasks) => tasks.tasks.iter_mut().for_each(|task| outline.task(task)),
            _ => {}
        }
    }

    /// Tells an anonymous caller, in the task and this once, what opens it.
    pub(super) fn tell(&mut self, token: &str) {
        match self {
            Reply::Sent(SendMessageResponse { payload: Some(Payload::Task(task)) }) => {
                tell_in_task(task, token);
            }
            Reply::Stream(stream) => stream.tell(token),
            _ => {}
        }
    }

    /// Writes an answer that is no stream in its ProtoJSON form, behind what is in `out`.
    ///
    /// # Errors
    /// `Internal` when it holds what JSON cannot say.
    pub(crate) fn to_json(&self, out: &mut Vec<u8>) -> Result<(), Fault> {
        match self {
            Reply::Sent(sent) => json::encode(sent, out),
            Reply::Task(task) => json::encode(task, out),
            Reply::Tasks(tasks) => json::encode(tasks, out),
            Reply::PushConfig(config) => json::encode(config, out),
            Reply::PushConfigs(configs) => json::encode(configs, out),
            Reply::Card(card) => json::encode(&**card, out),
            Reply::Deleted => {
                out.extend_from_slice(b"{}");
                Ok(())
            }
            Reply::Stream(_) => Err(Fault::internal("a stream is not one answer")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tenant_in_the_path_and_in_the_request_are_one() {
        let call = |tenant: &str| {
            Call::GetTask(GetTaskRequest {
                tenant: tenant.into(),
                id: "t".into(),
                ..GetTaskRequest::default()
            })
        };
        assert_eq!(call("").at("crm").unwrap().tenant(), "crm");
        assert_eq!(call("crm").at("crm").unwrap().tenant(), "crm");
        assert_eq!(call("crm").at("").unwrap().tenant(), "crm");
        assert_eq!(call("lan").at("crm").unwrap_err().violations[0].field, "tenant");
    }
}
