//! What A2A v0.3 asks of the operations, on whatever binding.

use http::HeaderMap;
use http::header::USER_AGENT;
use weft_proto::a2a::{GetTaskPushNotificationConfigRequest, ListTaskPushNotificationConfigsRequest};
use weft_v03::Request;

use crate::a2a::Call;

impl From<Request> for Call {
    fn from(request: Request) -> Call {
        match request {
            Request::SendMessage(request) => Call::SendMessage(request),
            Request::SendStreamingMessage(request) => Call::SendStreamingMessage(request),
            Request::GetTask(request) => Call::GetTask(request),
            Request::CancelTask(request) => Call::CancelTask(request),
            Request::SubscribeToTask(request) => Call::SubscribeToTask(request),
            Request::CreatePushConfig(request) => Call::CreatePushConfig(request),
            Request::GetPushConfig(request) => get_push_config(request),
            Request::ListPushConfigs(request) => Call::ListPushConfigs(request),
            Request::DeletePushConfig(request) => Call::DeletePushConfig(request),
            Request::GetExtendedAgentCard(request) => Call::GetExtendedAgentCard(request),
        }
    }
}

/// A push configuration that is asked for without an id is the task's first.
pub(crate) fn get_push_config(request: GetTaskPushNotificationConfigRequest) -> Call {
    if !request.id.is_empty() {
        return Call::GetPushConfig(request);
    }
    Call::FirstPushConfig(ListTaskPushNotificationConfigsRequest {
        tenant: request.tenant,
        task_id: request.task_id,
        page_size: 1,
        page_token: String::new(),
    })
}

/// Whether a caller writes the base64 text of a file where the schema has its bytes, and reads it so: the official
/// clients of v0.3 do, in Python over gRPC and HTTP, in Go over gRPC, and are known by their `User-Agent` alone.
pub(crate) fn writes_files_as_text(headers: &HeaderMap) -> bool {
    let agent = headers.get(USER_AGENT).and_then(|agent| agent.to_str().ok()).unwrap_or_default();
    ["grpc-python", "python-httpx", "grpc-go"].iter().any(|name| agent.starts_with(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clients_that_write_files_as_text_are_known_by_name() {
        let known =
            |agent: &str| writes_files_as_text(&HeaderMap::from_iter([(USER_AGENT, agent.parse().unwrap())]));
        assert!(known("grpc-python/1.76.0 grpc-c/51.0.0") && known("python-httpx/0.28.1"));
        assert!(known("grpc-go/1.73.0"));
        assert!(
            !known("tonic/0.14.9") && !known("curl/8 grpc-go") && !writes_files_as_text(&HeaderMap::new())
        );
    }
}
