//! `lf.a2a.v1.A2AService`.

use std::sync::Arc;

use tonic::{Request, Response, Status, async_trait};
use weft_proto::a2a::a2a_service_server::A2aService;
use weft_proto::a2a::{
    AgentCard, CancelTaskRequest, DeleteTaskPushNotificationConfigRequest, GetExtendedAgentCardRequest,
    GetTaskPushNotificationConfigRequest, GetTaskRequest, ListTaskPushNotificationConfigsRequest,
    ListTaskPushNotificationConfigsResponse, ListTasksRequest, ListTasksResponse, SendMessageRequest,
    SendMessageResponse, StreamResponse, SubscribeToTaskRequest, Task, TaskPushNotificationConfig,
};

use super::run::{Answers, Runner};
use super::take;
use crate::a2a::{Call, Operation, Reply};
use crate::caller::Version;
use crate::edge::Edge;

/// The service over one edge.
pub(super) struct Service(Runner);

// === impl Service ===

impl Service {
    pub(super) fn new(edge: Arc<Edge>) -> Service {
        Service(Runner { edge, version: Version::V1, worded: |fault| fault })
    }
}

#[async_trait]
impl A2aService for Service {
    type SendStreamingMessageStream = Answers<StreamResponse>;
    type SubscribeToTaskStream = Answers<StreamResponse>;

    async fn send_message(
        &self,
        request: Request<SendMessageRequest>,
    ) -> Result<Response<SendMessageResponse>, Status> {
        self.0
            .call(Operation::SendMessage, request, |request| Ok(Call::SendMessage(request)), take::sent)
            .await
    }

    async fn send_streaming_message(
        &self,
        request: Request<SendMessageRequest>,
    ) -> Result<Response<Self::SendStreamingMessageStream>, Status> {
        self.0
            .open(
                Operation::SendStreamingMessage,
                request,
                |request| Ok(Call::SendStreamingMessage(request)),
                |event| event,
            )
            .await
    }

    async fn get_task(&self, request: Request<GetTaskRequest>) -> Result<Response<Task>, Status> {
        self.0.call(Operation::GetTask, request, |request| Ok(Call::GetTask(request)), take::task).await
    }

    async fn list_tasks(
        &self,
        request: Request<ListTasksRequest>,
    ) -> Result<Response<ListTasksResponse>, Status> {
        self.0.call(Operation::ListTasks, request, |request| Ok(Call::ListTasks(request)), take::tasks).await
    }

    async fn cancel_task(&self, request: Request<CancelTaskRequest>) -> Result<Response<Task>, Status> {
        self.0.call(Operation::CancelTask, request, |request| Ok(Call::CancelTask(request)), take::task).await
    }

    async fn subscribe_to_task(
        &self,
        request: Request<SubscribeToTaskRequest>,
    ) -> Result<Response<Self::SubscribeToTaskStream>, Status> {
        self.0
            .open(
                Operation::SubscribeToTask,
                request,
                |request| Ok(Call::SubscribeToTask(request)),
                |event| event,
            )
            .await
    }

    async fn create_task_push_notification_config(
        &self,
        request: Request<TaskPushNotificationConfig>,
    ) -> Result<Response<TaskPushNotificationConfig>, Status> {
        self.0
            .call(
                Operation::CreatePushConfig,
                request,
                |request| Ok(Call::CreatePushConfig(request)),
                take::push_config,
            )
            .await
    }

    async fn get_task_push_notification_config(
        &self,
        request: Request<GetTaskPushNotificationConfigRequest>,
    ) -> Result<Response<TaskPushNotificationConfig>, Status> {
        self.0
            .call(
                Operation::GetPushConfig,
                request,
                |request| Ok(Call::GetPushConfig(request)),
                take::push_config,
            )
            .await
    }

    async fn list_task_push_notification_configs(
        &self,
        request: Request<ListTaskPushNotificationConfigsRequest>,
    ) -> Result<Response<ListTaskPushNotificationConfigsResponse>, Status> {
        self.0
            .call(
                Operation::ListPushConfigs,
                request,
                |request| Ok(Call::ListPushConfigs(request)),
                take::configs,
            )
            .await
    }

    async fn get_extended_agent_card(
        &self,
        request: Request<GetExtendedAgentCardRequest>,
    ) -> Result<Response<AgentCard>, Status> {
        self.0
            .call(
                Operation::GetExtendedAgentCard,
                request,
                |request| Ok(Call::GetExtendedAgentCard(request)),
                take::card,
            )
            .await
    }

    async fn delete_task_push_notification_config(
        &self,
        request: Request<DeleteTaskPushNotificationConfigRequest>,
    ) -> Result<Response<()>, Status> {
        self.0
            .call(
                Operation::DeletePushConfig,
                request,
                |request| Ok(Call::DeletePushConfig(request)),
                |reply| matches!(reply, Reply::Deleted).then_some(()),
            )
            .await
    }
}
