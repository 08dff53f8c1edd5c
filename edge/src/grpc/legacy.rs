//! `a2a.v1.A2AService`: the gRPC binding of A2A v0.3.

use std::sync::Arc;

use tonic::{Request, Response, Status, async_trait};
use weft_proto::a2a::GetExtendedAgentCardRequest;
use weft_proto::a2a_v03::a2a_service_server::A2aService;
use weft_proto::a2a_v03::{
    AgentCard, CancelTaskRequest, CreateTaskPushNotificationConfigRequest,
    DeleteTaskPushNotificationConfigRequest, GetAgentCardRequest, GetTaskPushNotificationConfigRequest,
    GetTaskRequest, ListTaskPushNotificationConfigRequest, ListTaskPushNotificationConfigResponse,
    SendMessageRequest, SendMessageResponse, StreamResponse, Task, TaskPushNotificationConfig,
    TaskSubscriptionRequest,
};
use weft_v03::fault::Form;
use weft_v03::files;
use weft_v03::wire::{Downgrade, TryUpgrade, Upgrade};

use super::run::{Answers, Runner};
use super::take;
use crate::a2a::{Call, Operation, Reply};
use crate::caller::Version;
use crate::edge::Edge;
use crate::v03::{self, writes_files_as_text};

/// The service over one edge.
pub(super) struct Service(Runner);

// === impl Service ===

impl Service {
    pub(super) fn new(edge: Arc<Edge>) -> Service {
        Service(Runner { edge, version: Version::V03, worded: |fault| Form::Wire.fault(fault) })
    }
}

/// Reads a message, in the way that the caller writes files.
fn message(request: SendMessageRequest, text: bool) -> weft_proto::a2a::SendMessageRequest {
    let mut request = request.upgrade();
    if text {
        files::from_text(&mut request);
    }
    request
}

/// Writes an answer, in the way that the caller reads files.
fn down<T: files::Parts + Downgrade>(mut answer: T, text: bool) -> T::V03 {
    if text {
        files::to_text(&mut answer);
    }
    answer.downgrade()
}

#[async_trait]
impl A2aService for Service {
    type SendStreamingMessageStream = Answers<StreamResponse>;
    type TaskSubscriptionStream = Answers<StreamResponse>;

    async fn send_message(
        &self,
        request: Request<SendMessageRequest>,
    ) -> Result<Response<SendMessageResponse>, Status> {
        let text = writes_files_as_text(request.metadata().as_ref());
        let call = |request| Ok(Call::SendMessage(message(request, text)));
        let answer = self.0.call(Operation::SendMessage, request, call, take::sent).await?;
        Ok(answer.map(|sent| down(sent, text)))
    }

    async fn send_streaming_message(
        &self,
        request: Request<SendMessageRequest>,
    ) -> Result<Response<Self::SendStreamingMessageStream>, Status> {
        let text = writes_files_as_text(request.metadata().as_ref());
        let call = |request| Ok(Call::SendStreamingMessage(message(request, text)));
        let event = if text { |event| down(event, true) } else { Downgrade::downgrade };
        self.0.open(Operation::SendStreamingMessage, request, call, event).await
    }

    async fn get_task(&self, request: Request<GetTaskRequest>) -> Result<Response<Task>, Status> {
        let text = writes_files_as_text(request.metadata().as_ref());
        let call = |request: GetTaskRequest| request.try_upgrade().map(Call::GetTask);
        let answer = self.0.call(Operation::GetTask, request, call, take::task).await?;
        Ok(answer.map(|task| down(task, text)))
    }

    async fn cancel_task(&self, request: Request<CancelTaskRequest>) -> Result<Response<Task>, Status> {
        let text = writes_files_as_text(request.metadata().as_ref());
        let call = |request: CancelTaskRequest| request.try_upgrade().map(Call::CancelTask);
        let answer = self.0.call(Operation::CancelTask, request, call, take::task).await?;
        Ok(answer.map(|task| down(task, text)))
    }

    async fn task_subscription(
        &self,
        request: Request<TaskSubscriptionRequest>,
    ) -> Result<Response<Self::TaskSubscriptionStream>, Status> {
        let text = writes_files_as_text(request.metadata().as_ref());
        let call = |request: TaskSubscriptionRequest| request.try_upgrade().map(Call::SubscribeToTask);
        let event = if text { |event| down(event, true) } else { Downgrade::downgrade };
        self.0.open(Operation::SubscribeToTask, request, call, event).await
    }

    async fn create_task_push_notification_config(
        &self,
        request: Request<CreateTaskPushNotificationConfigRequest>,
    ) -> Result<Response<TaskPushNotificationConfig>, Status> {
        let call = |request: CreateTaskPushNotificationConfigRequest| {
            request.try_upgrade().map(Call::CreatePushConfig)
        };
        let answer = self.0.call(Operation::CreatePushConfig, request, call, take::push_config).await?;
        Ok(answer.map(Downgrade::downgrade))
    }

    async fn get_task_push_notification_config(
        &self,
        request: Request<GetTaskPushNotificationConfigRequest>,
    ) -> Result<Response<TaskPushNotificationConfig>, Status> {
        let call =
            |request: GetTaskPushNotificationConfigRequest| request.try_upgrade().map(v03::get_push_config);
        let answer = self.0.call(Operation::GetPushConfig, request, call, take::push_config).await?;
        Ok(answer.map(Downgrade::downgrade))
    }

    async fn list_task_push_notification_config(
        &self,
        request: Request<ListTaskPushNotificationConfigRequest>,
    ) -> Result<Response<ListTaskPushNotificationConfigResponse>, Status> {
        let call =
            |request: ListTaskPushNotificationConfigRequest| request.try_upgrade().map(Call::ListPushConfigs);
        let answer = self.0.call(Operation::ListPushConfigs, request, call, take::configs).await?;
        Ok(answer.map(Downgrade::downgrade))
    }

    async fn get_agent_card(
        &self,
        request: Request<GetAgentCardRequest>,
    ) -> Result<Response<AgentCard>, Status> {
        let call = |_| Ok(Call::GetExtendedAgentCard(GetExtendedAgentCardRequest::default()));
        let answer = self.0.call(Operation::GetExtendedAgentCard, request, call, take::card).await?;
        Ok(answer.map(Downgrade::downgrade))
    }

    async fn delete_task_push_notification_config(
        &self,
        request: Request<DeleteTaskPushNotificationConfigRequest>,
    ) -> Result<Response<()>, Status> {
        let call = |request: DeleteTaskPushNotificationConfigRequest| {
            request.try_upgrade().map(Call::DeletePushConfig)
        };
        self.0
            .call(Operation::DeletePushConfig, request, call, |reply| {
                matches!(reply, Reply::Deleted).then_some(())
            })
            .await
    }
}
