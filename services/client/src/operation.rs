//! What an operation is called on each binding, and where its fields go.

use http::Method;
use serde::Serialize;
use serde::de::DeserializeOwned;
use weft_proto::a2a::{
    AgentCard, CancelTaskRequest, DeleteTaskPushNotificationConfigRequest, GetExtendedAgentCardRequest,
    GetTaskPushNotificationConfigRequest, GetTaskRequest, ListTaskPushNotificationConfigsRequest,
    ListTaskPushNotificationConfigsResponse, ListTasksRequest, ListTasksResponse, SendMessageRequest,
    SendMessageResponse, StreamResponse, SubscribeToTaskRequest, Task, TaskPushNotificationConfig, TaskState,
};
use weft_proto::json::{self, JsonFault};

use crate::fault::About;
use crate::legacy::Legacy;

/// One operation of A2A.
pub(crate) trait Operation {
    /// What is sent.
    type Request: prost::Message + Serialize + Clone + Default + 'static;
    /// What comes back: once, or as each element of a stream.
    type Answer: Answered;
    /// How it looks to an agent of version 0.3.
    type Old: Legacy<Self::Request, Self::Answer>;
    /// JSON-RPC method, and name of the gRPC method.
    const NAME: &'static str;
    /// The JSON-RPC method as older agents call it.
    const SLASH: &'static str;
    /// What it is about.
    const ABOUT: About;
    /// The tenant of a request.
    fn tenant(request: &mut Self::Request) -> &mut String;
    /// The task a request names.
    fn task_id(request: &Self::Request) -> Option<&str>;
    /// The request on HTTP+JSON.
    fn rest(request: &Self::Request) -> Result<Rest, JsonFault>;
}

/// An answer that can be read.
pub(crate) trait Answered: prost::Message + Default + Send + 'static {
    /// From ProtoJSON.
    fn read(json: &[u8]) -> Result<Self, JsonFault>;
    /// The task an answer names.
    fn task_id(&self) -> Option<&str>;
}

/// A request on HTTP+JSON, without the tenant.
pub(crate) struct Rest {
    pub(crate) method: Method,
    pub(crate) path: Vec<String>,
    pub(crate) query: Vec<(&'static str, String)>,
    /// JSON.
    pub(crate) body: Option<Vec<u8>>,
}

pub(crate) struct SendMessage;
pub(crate) struct SendStreamingMessage;
pub(crate) struct GetTask;
pub(crate) struct ListTasks;
pub(crate) struct CancelTask;
pub(crate) struct SubscribeToTask;
pub(crate) struct CreatePushConfig;
pub(crate) struct GetPushConfig;
pub(crate) struct ListPushConfigs;
pub(crate) struct DeletePushConfig;
pub(crate) struct GetExtendedCard;

/// Everything of an operation but its HTTP form.
macro_rules! operation {
    ($name:ty, $wire:literal, $slash:literal, $about:expr, $request:ty => $answer:ty, $task:expr) => {
        type Request = $request;
        type Answer = $answer;
        type Old = $name;
        const NAME: &'static str = $wire;
        const SLASH: &'static str = $slash;
        const ABOUT: About = $about;
        fn tenant(request: &mut $request) -> &mut String {
            &mut request.tenant
        }
        fn task_id(request: &$request) -> Option<&str> {
            let task: fn(&$request) -> &str = $task;
            Some(task(request)).filter(|id| !id.is_empty())
        }
    };
}

fn message_task(request: &SendMessageRequest) -> &str {
    request.message.as_ref().map_or("", |message| &message.task_id)
}

impl Operation for SendMessage {
    operation!(Self, "SendMessage", "message/send", About::Task, SendMessageRequest => SendMessageResponse, message_task);
    fn rest(request: &SendMessageRequest) -> Result<Rest, JsonFault> {
        Rest::post(["message:send"], body(request, |r| r.tenant.clear())?)
    }
}

impl Operation for SendStreamingMessage {
    operation!(Self, "SendStreamingMessage", "message/stream", About::Task, SendMessageRequest => StreamResponse, message_task);
    fn rest(request: &SendMessageRequest) -> Result<Rest, JsonFault> {
        Rest::post(["message:stream"], body(request, |r| r.tenant.clear())?)
    }
}

impl Operation for GetTask {
    operation!(Self, "GetTask", "tasks/get", About::Task, GetTaskRequest => Task, |r| &r.id);
    fn rest(request: &GetTaskRequest) -> Result<Rest, JsonFault> {
        let length = request.history_length.map(|n| ("historyLength", n.to_string()));
        Ok(Rest::get(["tasks", &request.id], length.into_iter().collect()))
    }
}

impl Operation for ListTasks {
    operation!(Self, "ListTasks", "tasks/list", About::Task, ListTasksRequest => ListTasksResponse, |_| "");
    fn rest(request: &ListTasksRequest) -> Result<Rest, JsonFault> {
        let text = |name, text: &str| (!text.is_empty()).then(|| (name, text.to_owned()));
        let status = (request.status != 0).then(|| request.status().as_str_name());
        let query = [
            text("contextId", &request.context_id),
            text("status", status.unwrap_or_default()),
            request.page_size.map(|n| ("pageSize", n.to_string())),
            text("pageToken", &request.page_token),
            request.history_length.map(|n| ("historyLength", n.to_string())),
            request.status_timestamp_after.map(|time| ("statusTimestampAfter", time.to_string())),
            request.include_artifacts.map(|yes| ("includeArtifacts", yes.to_string())),
        ];
        Ok(Rest::get(["tasks"], query.into_iter().flatten().collect()))
    }
}

impl Operation for CancelTask {
    operation!(Self, "CancelTask", "tasks/cancel", About::Cancel, CancelTaskRequest => Task, |r| &r.id);
    fn rest(request: &CancelTaskRequest) -> Result<Rest, JsonFault> {
        let body = match &request.metadata {
            None => b"{}".to_vec(),
            Some(metadata) => [b"{\"metadata\":", json::encode(metadata)?.as_slice(), b"}"].concat(),
        };
        Rest::post(["tasks", &format!("{}:cancel", request.id)], body)
    }
}

impl Operation for SubscribeToTask {
    operation!(Self, "SubscribeToTask", "tasks/resubscribe", About::Task, SubscribeToTaskRequest => StreamResponse, |r| &r.id);
    fn rest(request: &SubscribeToTaskRequest) -> Result<Rest, JsonFault> {
        Rest::post(["tasks", &format!("{}:subscribe", request.id)], b"{}".to_vec())
    }
}

impl Operation for CreatePushConfig {
    operation!(
        Self, "CreateTaskPushNotificationConfig", "tasks/pushNotificationConfig/set", About::Push,
        TaskPushNotificationConfig => TaskPushNotificationConfig, |r| &r.task_id
    );
    fn rest(request: &TaskPushNotificationConfig) -> Result<Rest, JsonFault> {
        let body = body(request, |r| {
            r.tenant.clear();
            r.task_id.clear();
        })?;
        Rest::post(["tasks", &request.task_id, "pushNotificationConfigs"], body)
    }
}

impl Operation for GetPushConfig {
    operation!(
        Self, "GetTaskPushNotificationConfig", "tasks/pushNotificationConfig/get", About::Push,
        GetTaskPushNotificationConfigRequest => TaskPushNotificationConfig, |r| &r.task_id
    );
    fn rest(request: &GetTaskPushNotificationConfigRequest) -> Result<Rest, JsonFault> {
        Ok(Rest::get(["tasks", &request.task_id, "pushNotificationConfigs", &request.id], Vec::new()))
    }
}

impl Operation for ListPushConfigs {
    operation!(
        Self, "ListTaskPushNotificationConfigs", "tasks/pushNotificationConfig/list", About::Push,
        ListTaskPushNotificationConfigsRequest => ListTaskPushNotificationConfigsResponse, |r| &r.task_id
    );
    fn rest(request: &ListTaskPushNotificationConfigsRequest) -> Result<Rest, JsonFault> {
        let size = (request.page_size != 0).then(|| ("pageSize", request.page_size.to_string()));
        let token = (!request.page_token.is_empty()).then(|| ("pageToken", request.page_token.clone()));
        let query = size.into_iter().chain(token).collect();
        Ok(Rest::get(["tasks", &request.task_id, "pushNotificationConfigs"], query))
    }
}

impl Operation for DeletePushConfig {
    operation!(
        Self, "DeleteTaskPushNotificationConfig", "tasks/pushNotificationConfig/delete", About::Push,
        DeleteTaskPushNotificationConfigRequest => (), |r| &r.task_id
    );
    fn rest(request: &DeleteTaskPushNotificationConfigRequest) -> Result<Rest, JsonFault> {
        let path = ["tasks", &request.task_id, "pushNotificationConfigs", &request.id];
        Ok(Rest { method: Method::DELETE, ..Rest::get(path, Vec::new()) })
    }
}

impl Operation for GetExtendedCard {
    operation!(
        Self, "GetExtendedAgentCard", "agent/getAuthenticatedExtendedCard", About::Card,
        GetExtendedAgentCardRequest => AgentCard, |_| ""
    );
    fn rest(_: &GetExtendedAgentCardRequest) -> Result<Rest, JsonFault> {
        Ok(Rest::get(["extendedAgentCard"], Vec::new()))
    }
}

/// The request as a body, without the fields that stand in the path.
fn body<R: Serialize + Clone>(request: &R, clear: impl FnOnce(&mut R)) -> Result<Vec<u8>, JsonFault> {
    let mut request = request.clone();
    clear(&mut request);
    json::encode(&request)
}

// === impl Rest ===

impl Rest {
    fn get<const N: usize>(path: [&str; N], query: Vec<(&'static str, String)>) -> Rest {
        Rest { method: Method::GET, path: path.map(str::to_owned).to_vec(), query, body: None }
    }

    #[allow(clippy::unnecessary_wraps, reason = "as every caller answers")]
    fn post<const N: usize>(path: [&str; N], body: Vec<u8>) -> Result<Rest, JsonFault> {
        let path = path.map(str::to_owned).to_vec();
        Ok(Rest { method: Method::POST, path, query: Vec::new(), body: Some(body) })
    }
}

// === impl Answered ===

macro_rules! answered {
    ($($answer:ty: $task:expr),* $(,)?) => { $(
        impl Answered for $answer {
            fn read(json: &[u8]) -> Result<Self, JsonFault> {
                read(json)
            }
            fn task_id(&self) -> Option<&str> {
                let task: fn(&$answer) -> Option<&str> = $task;
                task(self).filter(|id| !id.is_empty())
            }
        }
    )* };
}

answered! {
    SendMessageResponse: sent_task,
    StreamResponse: streamed_task,
    Task: |task| Some(&task.id),
    ListTasksResponse: |_| None,
    TaskPushNotificationConfig: |config| Some(&config.task_id),
    ListTaskPushNotificationConfigsResponse: |_| None,
    AgentCard: |_| None,
}

impl Answered for () {
    /// Nothing is said, in whatever form.
    fn read(_: &[u8]) -> Result<(), JsonFault> {
        Ok(())
    }

    fn task_id(&self) -> Option<&str> {
        None
    }
}

fn read<T: DeserializeOwned>(json: &[u8]) -> Result<T, JsonFault> {
    json::decode(json)
}

fn sent_task(response: &SendMessageResponse) -> Option<&str> {
    use weft_proto::a2a::send_message_response::Payload;
    match response.payload.as_ref()? {
        Payload::Task(task) => Some(&task.id),
        Payload::Message(message) => Some(&message.task_id),
    }
}

fn streamed_task(response: &StreamResponse) -> Option<&str> {
    use weft_proto::a2a::stream_response::Payload;
    match response.payload.as_ref()? {
        Payload::Task(task) => Some(&task.id),
        Payload::Message(message) => Some(&message.task_id),
        Payload::StatusUpdate(update) => Some(&update.task_id),
        Payload::ArtifactUpdate(update) => Some(&update.task_id),
    }
}

/// The state that an element of a stream tells, when it tells one.
pub(crate) fn streamed_state(response: &StreamResponse) -> Option<TaskState> {
    use weft_proto::a2a::stream_response::Payload;
    match response.payload.as_ref()? {
        Payload::Task(task) => task.status.as_ref().map(|status| status.state()),
        Payload::StatusUpdate(update) => update.status.as_ref().map(|status| status.state()),
        Payload::Message(_) | Payload::ArtifactUpdate(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(rest: &Rest) -> String {
        let query: Vec<_> = rest.query.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let body = String::from_utf8(rest.body.clone().unwrap_or_default()).unwrap();
        format!("{} {} {} {body}", rest.method, rest.path.join("/"), query.join("&"))
    }

    #[test]
    fn what_stands_in_the_path_does_not_stand_in_the_body() {
        let config = TaskPushNotificationConfig {
            tenant: "acme".into(),
            task_id: "t1".into(),
            url: "https://h/".into(),
            ..TaskPushNotificationConfig::default()
        };
        let rest = CreatePushConfig::rest(&config).unwrap();
        assert_eq!(text(&rest), r#"POST tasks/t1/pushNotificationConfigs  {"url":"https://h/"}"#);
        let cancel = CancelTaskRequest { id: "t1".into(), tenant: "acme".into(), metadata: None };
        assert_eq!(text(&CancelTask::rest(&cancel).unwrap()), "POST tasks/t1:cancel  {}");
    }

    #[test]
    fn a_list_is_asked_for_in_the_query_and_only_with_what_is_set() {
        let all = ListTasks::rest(&ListTasksRequest::default()).unwrap();
        assert_eq!(text(&all), "GET tasks  ");
        let some = ListTasksRequest {
            context_id: "c".into(),
            status: TaskState::Working as i32,
            page_size: Some(5),
            history_length: Some(0),
            include_artifacts: Some(true),
            ..ListTasksRequest::default()
        };
        assert_eq!(
            text(&ListTasks::rest(&some).unwrap()),
            "GET tasks contextId=c&status=TASK_STATE_WORKING&pageSize=5&historyLength=0&includeArtifacts=true "
        );
    }
}
