//! The SDK's client for one card over one binding, with the few shorthands that the checks share.

use std::collections::HashMap;
use std::sync::Arc;

use a2a::{
    A2AError, AgentCard, CancelTaskRequest, GetTaskRequest, Message, Part, Role, SendMessageConfiguration,
    SendMessageRequest, SendMessageResponse, StreamResponse, SubscribeToTaskRequest, Task, TaskState,
};
use a2a_client::agent_card::AgentCardResolver;
use a2a_client::jsonrpc::JsonRpcTransportFactory;
use a2a_client::rest::RestTransportFactory;
use a2a_client::{A2AClient, A2AClientFactory, Transport, TransportFactory};
use a2a_grpc::GrpcTransportFactory;
use futures::StreamExt as _;
use futures::stream::BoxStream;
use serde_json::json;

use crate::report::Reason;

const SCENARIO: &str = "scenario.play";

/// What a stream of the SDK yields.
pub type Events = BoxStream<'static, Result<StreamResponse, A2AError>>;

/// A mesh, or one node of it, over one binding.
pub struct Mesh {
    pub base: String,
    pub binding: String,
    pub card: AgentCard,
    pub client: A2AClient<Box<dyn Transport>>,
}

impl Mesh {
    /// Resolves the card below `base` and makes a client of it that speaks `binding` and no other.
    pub async fn open(base: &str, binding: &str) -> Result<Mesh, Reason> {
        let transport: Arc<dyn TransportFactory> = match binding {
            "JSONRPC" => Arc::new(JsonRpcTransportFactory::new(None)),
            "HTTP+JSON" => Arc::new(RestTransportFactory::new(None)),
            "GRPC" => Arc::new(GrpcTransportFactory::new()),
            _ => return Err(format!("no binding is called {binding}").into()),
        };
        let card = AgentCardResolver::new(None).resolve(base).await?;
        let factory = A2AClientFactory::builder().no_defaults().register(transport).build();
        let client = factory.create_from_card(&card).await?;
        Ok(Mesh { base: base.to_owned(), binding: binding.to_owned(), card, client })
    }

    /// Sends a message and returns the task of the answer.
    pub async fn send(&self, request: SendMessageRequest) -> Result<Task, Reason> {
        match self.client.send_message(&request).await? {
            SendMessageResponse::Task(task) => Ok(task),
            SendMessageResponse::Message(_) => Err("the answer is a message, not a task".into()),
        }
    }

    /// Sends a message and returns all events of its stream.
    pub async fn stream(&self, text: &str) -> Result<Vec<StreamResponse>, Reason> {
        Ok(drain(self.client.send_streaming_message(&request(text)).await?).await?)
    }

    /// Starts a task that works until it is canceled.
    pub async fn start_slow(&self) -> Result<Task, Reason> {
        let mut request = request("slow");
        request.configuration = Some(SendMessageConfiguration {
            accepted_output_modes: None,
            task_push_notification_config: None,
            history_length: None,
            return_immediately: Some(true),
        });
        let task = self.send(request).await?;
        match task.status.state {
            TaskState::Submitted | TaskState::Working => Ok(task),
            state => Err(format!("state is {state:?}").into()),
        }
    }

    pub async fn get(&self, id: &str) -> Result<Task, A2AError> {
        self.client.get_task(&GetTaskRequest { id: id.to_owned(), history_length: None, tenant: None }).await
    }

    pub async fn cancel(&self, id: &str) -> Result<Task, A2AError> {
        self.client.cancel_task(&CancelTaskRequest { id: id.to_owned(), metadata: None, tenant: None }).await
    }

    pub async fn subscribe(&self, id: &str) -> Result<Events, A2AError> {
        self.client.subscribe_to_task(&SubscribeToTaskRequest { id: id.to_owned(), tenant: None }).await
    }
}

/// A message for the node that plays scenarios.
pub fn request(text: &str) -> SendMessageRequest {
    let mut message = Message::new(Role::User, vec![Part::text(text)]);
    message.metadata = Some(HashMap::from([("skillId".to_owned(), json!(SCENARIO))]));
    SendMessageRequest { message, configuration: None, metadata: None, tenant: None }
}

/// All events, or the error that ended them.
pub async fn drain(mut events: Events) -> Result<Vec<StreamResponse>, A2AError> {
    let mut all = Vec::new();
    while let Some(event) = events.next().await {
        all.push(event?);
    }
    Ok(all)
}
