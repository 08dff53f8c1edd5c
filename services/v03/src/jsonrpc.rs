//! The methods of v0.3's JSON-RPC, their parameters and answers.

use weft_core::Fault;
use weft_proto::a2a::GetExtendedAgentCardRequest;

use crate::{Request, json};

/// What `tasks/pushNotificationConfig/delete` answers.
pub const DELETED: &[u8] = b"null";

/// A method.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Method {
    /// `message/send`.
    SendMessage,
    /// `message/stream`.
    SendStreamingMessage,
    /// `tasks/get`.
    GetTask,
    /// `tasks/cancel`.
    CancelTask,
    /// `tasks/resubscribe`.
    SubscribeToTask,
    /// `tasks/pushNotificationConfig/set`.
    CreatePushConfig,
    /// `tasks/pushNotificationConfig/get`.
    GetPushConfig,
    /// `tasks/pushNotificationConfig/list`.
    ListPushConfigs,
    /// `tasks/pushNotificationConfig/delete`.
    DeletePushConfig,
    /// `agent/getAuthenticatedExtendedCard`.
    GetExtendedAgentCard,
}

// === impl Method ===

impl Method {
    /// Every method; v0.3 has none that lists tasks.
    pub const ALL: [Method; 10] = [
        Method::SendMessage,
        Method::SendStreamingMessage,
        Method::GetTask,
        Method::CancelTask,
        Method::SubscribeToTask,
        Method::CreatePushConfig,
        Method::GetPushConfig,
        Method::ListPushConfigs,
        Method::DeletePushConfig,
        Method::GetExtendedAgentCard,
    ];

    /// The name on the wire.
    pub const fn name(self) -> &'static str {
        match self {
            Method::SendMessage => "message/send",
            Method::SendStreamingMessage => "message/stream",
            Method::GetTask => "tasks/get",
            Method::CancelTask => "tasks/cancel",
            Method::SubscribeToTask => "tasks/resubscribe",
            Method::CreatePushConfig => "tasks/pushNotificationConfig/set",
            Method::GetPushConfig => "tasks/pushNotificationConfig/get",
            Method::ListPushConfigs => "tasks/pushNotificationConfig/list",
            Method::DeletePushConfig => "tasks/pushNotificationConfig/delete",
            Method::GetExtendedAgentCard => "agent/getAuthenticatedExtendedCard",
        }
    }

    /// The method of this name.
    pub fn find(name: &str) -> Option<Method> {
        Method::ALL.into_iter().find(|method| method.name() == name)
    }

    /// Whether its answer is a stream.
    pub const fn streams(self) -> bool {
        matches!(self, Method::SendStreamingMessage | Method::SubscribeToTask)
    }

    /// Reads the parameters of a call. Those of `agent/getAuthenticatedExtendedCard` are not looked at: it has none.
    ///
    /// # Errors
    /// `Invalid`, naming the member by its path; `params` stands for the whole.
    pub fn read(self, params: &str) -> Result<Request, Fault> {
        const WHOLE: &str = "params";
        Ok(match self {
            Method::SendMessage => Request::SendMessage(json::decode(params, WHOLE)?),
            Method::SendStreamingMessage => Request::SendStreamingMessage(json::decode(params, WHOLE)?),
            Method::GetTask => Request::GetTask(json::decode(params, WHOLE)?),
            Method::CancelTask => Request::CancelTask(json::decode(params, WHOLE)?),
            Method::SubscribeToTask => Request::SubscribeToTask(json::decode(params, WHOLE)?),
            Method::CreatePushConfig => Request::CreatePushConfig(json::decode(params, WHOLE)?),
            Method::GetPushConfig => Request::GetPushConfig(json::decode(params, WHOLE)?),
            Method::ListPushConfigs => Request::ListPushConfigs(json::decode(params, WHOLE)?),
            Method::DeletePushConfig => Request::DeletePushConfig(json::decode(params, WHOLE)?),
            Method::GetExtendedAgentCard => {
                Request::GetExtendedAgentCard(GetExtendedAgentCardRequest::default())
            }
        })
    }
}

// === impl Request ===

impl Request {
    /// The method that asks for it.
    pub const fn method(&self) -> Method {
        match self {
            Request::SendMessage(_) => Method::SendMessage,
            Request::SendStreamingMessage(_) => Method::SendStreamingMessage,
            Request::GetTask(_) => Method::GetTask,
            Request::CancelTask(_) => Method::CancelTask,
            Request::SubscribeToTask(_) => Method::SubscribeToTask,
            Request::CreatePushConfig(_) => Method::CreatePushConfig,
            Request::GetPushConfig(_) => Method::GetPushConfig,
            Request::ListPushConfigs(_) => Method::ListPushConfigs,
            Request::DeletePushConfig(_) => Method::DeletePushConfig,
            Request::GetExtendedAgentCard(_) => Method::GetExtendedAgentCard,
        }
    }

    /// Writes the parameters of the call behind what is in `out`.
    ///
    /// # Errors
    /// `Internal` when it holds what JSON cannot say.
    pub fn params(&self, out: &mut Vec<u8>) -> Result<(), Fault> {
        match self {
            Request::SendMessage(request) | Request::SendStreamingMessage(request) => {
                json::encode(request, out)
            }
            Request::GetTask(request) => json::encode(request, out),
            Request::CancelTask(request) => json::encode(request, out),
            Request::SubscribeToTask(request) => json::encode(request, out),
            Request::CreatePushConfig(request) => json::encode(request, out),
            Request::GetPushConfig(request) => json::encode(request, out),
            Request::ListPushConfigs(request) => json::encode(request, out),
            Request::DeletePushConfig(request) => json::encode(request, out),
            Request::GetExtendedAgentCard(request) => json::encode(request, out),
        }
    }
}
