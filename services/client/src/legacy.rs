//! How an operation looks to an agent of version 0.3: other names, other messages, the same meaning.

use http::Method;
use serde::Serialize;
use serde::de::DeserializeOwned;
use weft_core::Fault;
use weft_proto::{a2a as v1, a2a_v03 as v03, json};
use weft_v03::wire::{Downgrade, TryUpgrade, Upgrade, create_push_config};
use weft_v03::{Request, files, json as kinds};

use crate::error::Why;
use crate::operation::{
    CancelTask, CreatePushConfig, DeletePushConfig, GetExtendedCard, GetPushConfig, GetTask, ListPushConfigs,
    ListTasks, Rest, SendMessage, SendStreamingMessage, SubscribeToTask,
};

/// What an agent of version 0.3 has in the place of a file's bytes, in protobuf and on HTTP.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Files {
    /// Their base64 text: the official SDKs for Python and Go.
    Text,
    /// The bytes, as the schema says: the official SDK for JavaScript.
    Bytes,
}

/// The face of version 0.3 of an operation with requests `R` and answers `A`.
pub(crate) trait Legacy<R, A> {
    /// What is sent in protobuf, and as the body of an HTTP call.
    type Request: prost::Message + Serialize + 'static;
    /// What comes back.
    type Answer: prost::Message + Default + DeserializeOwned + Send + 'static;
    /// The gRPC method.
    const GRPC: &'static str;

    /// The JSON-RPC call; `None`: version 0.3 has no such operation.
    fn call(request: R) -> Option<Request>;
    /// The request in protobuf.
    fn down(request: R, files: Files) -> Self::Request;
    /// The answer from protobuf.
    fn up(answer: Self::Answer, files: Files) -> Result<A, Fault>;
    /// The result of the JSON-RPC call.
    fn read(json: &str) -> Result<A, Fault>;
    /// The HTTP call.
    fn http(request: R, files: Files) -> Result<Rest, Why>;

    /// The answer to the HTTP call.
    fn read_http(body: &[u8], files: Files) -> Result<A, Fault> {
        Self::up(json::decode(body).map_err(|fault| Fault::invalid(fault.path, fault.reason))?, files)
    }
}

/// What version 0.3 lacks.
pub(crate) fn lacking(operation: &str) -> Why {
    Why::NoInterface(format!("the agent speaks version 0.3, which has no {operation}"))
}

macro_rules! legacy {
    (
        $operation:ident: $request:ty => $answer:ty, $old_request:ty => $old_answer:ty, $grpc:literal,
        $down:expr, $up:expr, $read:expr, $http:expr
    ) => {
        impl Legacy<$request, $answer> for $operation {
            type Request = $old_request;
            type Answer = $old_answer;
            const GRPC: &'static str = $grpc;

            fn call(request: $request) -> Option<Request> {
                Some(Request::$operation(request))
            }

            fn down(request: $request, files: Files) -> $old_request {
                let down: fn($request, Files) -> $old_request = $down;
                down(request, files)
            }

            fn up(answer: $old_answer, files: Files) -> Result<$answer, Fault> {
                let up: fn($old_answer, Files) -> Result<$answer, Fault> = $up;
                up(answer, files)
            }

            fn read(json: &str) -> Result<$answer, Fault> {
                let read: fn(&str) -> Result<$answer, Fault> = $read;
                read(json)
            }

            fn http(request: $request, files: Files) -> Result<Rest, Why> {
                let http: fn($request, Files) -> Result<Rest, Why> = $http;
                http(request, files)
            }
        }
    };
}

legacy!(
    SendMessage: v1::SendMessageRequest => v1::SendMessageResponse,
    v03::SendMessageRequest => v03::SendMessageResponse, "SendMessage",
    down, up, result,
    |request, files| post(&["message:send"], body(&down(request, files))?)
);
legacy!(
    SendStreamingMessage: v1::SendMessageRequest => v1::StreamResponse,
    v03::SendMessageRequest => v03::StreamResponse, "SendStreamingMessage",
    down, up, result,
    |request, files| post(&["message:stream"], body(&down(request, files))?)
);
legacy!(
    GetTask: v1::GetTaskRequest => v1::Task, v03::GetTaskRequest => v03::Task, "GetTask",
    |request, _| request.downgrade(), up, result,
    |request, _| {
        let length = request.history_length.map(|n| ("historyLength", n.to_string()));
        Ok(Rest { query: length.into_iter().collect(), ..get(&["tasks", &request.id]) })
    }
);
legacy!(
    CancelTask: v1::CancelTaskRequest => v1::Task, v03::CancelTaskRequest => v03::Task, "CancelTask",
    |request, _| request.downgrade(), up, result,
    |request, _| post(&["tasks", &format!("{}:cancel", request.id)], b"{}".to_vec())
);
legacy!(
    SubscribeToTask: v1::SubscribeToTaskRequest => v1::StreamResponse,
    v03::TaskSubscriptionRequest => v03::StreamResponse, "TaskSubscription",
    |request, _| request.downgrade(), up, result,
    |request, _| Ok(get(&["tasks", &format!("{}:subscribe", request.id)]))
);
legacy!(
    CreatePushConfig: v1::TaskPushNotificationConfig => v1::TaskPushNotificationConfig,
    v03::CreateTaskPushNotificationConfigRequest => v03::TaskPushNotificationConfig,
    "CreateTaskPushNotificationConfig",
    |request, _| create_push_config(request), |answer, _| answer.try_upgrade(), result,
    |request, _| {
        let task_id = request.task_id.clone();
        post(&["tasks", &task_id, "pushNotificationConfigs"], body(&create_push_config(request))?)
    }
);
legacy!(
    GetPushConfig: v1::GetTaskPushNotificationConfigRequest => v1::TaskPushNotificationConfig,
    v03::GetTaskPushNotificationConfigRequest => v03::TaskPushNotificationConfig,
    "GetTaskPushNotificationConfig",
    |request, _| request.downgrade(), |answer, _| answer.try_upgrade(), result,
    |request, _| Ok(get(&["tasks", &request.task_id, "pushNotificationConfigs", &request.id]))
);
legacy!(
    ListPushConfigs: v1::ListTaskPushNotificationConfigsRequest => v1::ListTaskPushNotificationConfigsResponse,
    v03::ListTaskPushNotificationConfigRequest => v03::ListTaskPushNotificationConfigResponse,
    "ListTaskPushNotificationConfig",
    |request, _| request.downgrade(), |answer, _| answer.try_upgrade(), result,
    |request, _| Ok(get(&["tasks", &request.task_id, "pushNotificationConfigs"]))
);
legacy!(
    DeletePushConfig: v1::DeleteTaskPushNotificationConfigRequest => (),
    v03::DeleteTaskPushNotificationConfigRequest => (), "DeleteTaskPushNotificationConfig",
    |request, _| request.downgrade(), |(), _| Ok(()), |_| Ok(()),
    |request, _| {
        let rest = get(&["tasks", &request.task_id, "pushNotificationConfigs", &request.id]);
        Ok(Rest { method: Method::DELETE, ..rest })
    }
);

impl Legacy<v1::GetExtendedAgentCardRequest, v1::AgentCard> for GetExtendedCard {
    type Request = v03::GetAgentCardRequest;
    type Answer = v03::AgentCard;
    const GRPC: &'static str = "GetAgentCard";

    fn call(request: v1::GetExtendedAgentCardRequest) -> Option<Request> {
        Some(Request::GetExtendedAgentCard(request))
    }

    fn down(request: v1::GetExtendedAgentCardRequest, _: Files) -> v03::GetAgentCardRequest {
        request.downgrade()
    }

    fn up(answer: v03::AgentCard, _: Files) -> Result<v1::AgentCard, Fault> {
        Ok(answer.upgrade())
    }

    fn read(json: &str) -> Result<v1::AgentCard, Fault> {
        let card = serde_json::from_str(json).map_err(|error| Fault::invalid("card", error.to_string()))?;
        weft_v03::card::read(card)
    }

    fn http(_: v1::GetExtendedAgentCardRequest, _: Files) -> Result<Rest, Why> {
        Ok(get(&["card"]))
    }

    /// The card has one form on every binding.
    fn read_http(body: &[u8], _: Files) -> Result<v1::AgentCard, Fault> {
        Self::read(&String::from_utf8_lossy(body))
    }
}

/// Version 0.3 cannot list tasks; the messages are those of an operation that it has.
impl Legacy<v1::ListTasksRequest, v1::ListTasksResponse> for ListTasks {
    type Request = v03::GetTaskRequest;
    type Answer = v03::Task;
    const GRPC: &'static str = "";

    fn call(_: v1::ListTasksRequest) -> Option<Request> {
        None
    }

    fn down(_: v1::ListTasksRequest, _: Files) -> v03::GetTaskRequest {
        v03::GetTaskRequest::default()
    }

    fn up(task: v03::Task, _: Files) -> Result<v1::ListTasksResponse, Fault> {
        Ok(v1::ListTasksResponse { tasks: vec![task.upgrade()], ..v1::ListTasksResponse::default() })
    }

    fn read(_: &str) -> Result<v1::ListTasksResponse, Fault> {
        Ok(v1::ListTasksResponse::default())
    }

    fn http(_: v1::ListTasksRequest, _: Files) -> Result<Rest, Why> {
        Err(lacking("ListTasks"))
    }
}

/// A message in protobuf and on HTTP, its files as the agent reads them.
fn down(mut request: v1::SendMessageRequest, files: Files) -> v03::SendMessageRequest {
    if files == Files::Text {
        files::to_text(&mut request);
    }
    request.downgrade()
}

/// The way back; bytes that are no base64 are left as they are.
fn up<O: Upgrade<V1: files::Parts>>(answer: O, files: Files) -> Result<O::V1, Fault> {
    let mut answer = answer.upgrade();
    if files == Files::Text {
        files::from_text(&mut answer);
    }
    Ok(answer)
}

fn result<A: kinds::Read>(json: &str) -> Result<A, Fault> {
    kinds::decode(json, "result")
}

fn body<T: Serialize>(message: &T) -> Result<Vec<u8>, Why> {
    json::encode(message).map_err(|error| Why::Unusable(format!("cannot write the request: {error}")))
}

fn get(path: &[&str]) -> Rest {
    let path = std::iter::once("v1").chain(path.iter().copied()).map(str::to_owned).collect();
    Rest { method: Method::GET, path, query: Vec::new(), body: None }
}

#[allow(clippy::unnecessary_wraps, reason = "as every caller answers")]
fn post(path: &[&str], body: Vec<u8>) -> Result<Rest, Why> {
    Ok(Rest { method: Method::POST, body: Some(body), ..get(path) })
}
