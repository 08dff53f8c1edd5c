//! `lf.a2a.v1.A2AService`.

use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::stream::{self, BoxStream, StreamExt};
use http::HeaderMap;
use tonic::{Request, Response, Status, async_trait};
use weft_chassis::status::status;
use weft_core::{Fault, Kind};
use weft_proto::a2a::a2a_service_server::A2aService;
use weft_proto::a2a::{
    AgentCard, CancelTaskRequest, DeleteTaskPushNotificationConfigRequest, GetExtendedAgentCardRequest,
    GetTaskPushNotificationConfigRequest, GetTaskRequest, ListTaskPushNotificationConfigsRequest,
    ListTaskPushNotificationConfigsResponse, ListTasksRequest, ListTasksResponse, SendMessageRequest,
    SendMessageResponse, StreamResponse, SubscribeToTaskRequest, Task, TaskPushNotificationConfig,
};

use super::deadline;
use crate::a2a::{self, Call, Operation, Reply, Stream};
use crate::caller::{self, Activated, Caller, Version};
use crate::edge::{Edge, peer_of};
use crate::observe::{self, Binding};

/// The service over one edge.
pub(crate) struct Service(Arc<Edge>);

/// A stream of answers.
type Answers<T> = BoxStream<'static, Result<T, Status>>;

// === impl Service ===

impl Service {
    pub(super) fn new(edge: Arc<Edge>) -> Service {
        Service(edge)
    }

    /// Runs a call and takes the answer it must have.
    async fn call<T, R>(
        &self,
        operation: Operation,
        request: Request<T>,
        call: fn(T) -> Call,
        take: fn(Reply) -> Option<R>,
    ) -> Result<Response<R>, Status> {
        let began = Instant::now();
        let edge = &self.0;
        let (metadata, extensions, request) = request.into_parts();
        let headers = metadata.into_headers();
        let within = deadline::of(&headers);
        let run = async {
            let _permit = edge.limits().rate(peer_of(&extensions)).and_then(|()| edge.limits().call())?;
            let spoken = edge.spoken();
            match Version::said(&headers, None, spoken)? {
                None | Some(Version::V1) => {}
                Some(said) => return Err(caller::not_spoken_here(said, Version::V1, spoken)),
            }
            let caller = Caller::of(&headers)?;
            let call = call(request);
            call.check()?;
            observe::note_task(call.task_id());
            let (reply, activated) = in_time(within, a2a::handle(edge, &caller, call)).await?;
            observe::note_task(reply.task_id());
            let reply = take(reply).ok_or_else(|| Fault::internal("the operation answered otherwise"))?;
            Ok(answered(reply, &activated, &headers))
        };
        observe::call(edge, Binding::Grpc, operation, &headers, began, run).await.map_err(status)
    }

    /// Runs a call that is answered by a stream.
    async fn open<T>(
        &self,
        operation: Operation,
        request: Request<T>,
        call: fn(T) -> Call,
    ) -> Result<Response<Answers<StreamResponse>>, Status> {
        let until =
            deadline::of(request.metadata().as_ref()).map(|within| tokio::time::Instant::now() + within);
        let answer = self.call(operation, request, call, streamed).await?;
        Ok(answer.map(|stream| answers(stream, until)))
    }
}

/// The events of a stream, until it ends or the caller's time is over.
fn answers(stream: Stream, until: Option<tokio::time::Instant>) -> Answers<StreamResponse> {
    stream::unfold(Some(stream), move |stream| async move {
        let mut stream = stream?;
        let next = match until {
            Some(until) => tokio::time::timeout_at(until, stream.next()).await,
            None => Ok(stream.next().await),
        };
        match next {
            Ok(next) => {
                let answer = next?.map(|event| event.body.unwrap_or_default()).map_err(status);
                Some((answer, Some(stream)))
            }
            Err(_) => Some((Err(status(late())), None)),
        }
    })
    .boxed()
}

async fn in_time<T>(
    within: Option<Duration>,
    work: impl Future<Output = Result<T, Fault>>,
) -> Result<T, Fault> {
    match within {
        Some(within) => tokio::time::timeout(within, work).await.unwrap_or_else(|_| Err(late())),
        None => work.await,
    }
}

fn late() -> Fault {
    Fault::new(
        Kind::Deadline,
        "the caller's grpc-timeout is over; the work goes on: follow it with SubscribeToTask",
    )
}

fn answered<T>(reply: T, activated: &Activated, asked: &HeaderMap) -> Response<T> {
    let mut answer = Response::new(reply);
    if let Some((name, value)) = activated.header(asked) {
        answer.metadata_mut().as_mut().insert(name, value);
    }
    answer
}

fn streamed(reply: Reply) -> Option<Stream> {
    match reply {
        Reply::Stream(stream) => Some(stream),
        _ => None,
    }
}

fn task(reply: Reply) -> Option<Task> {
    match reply {
        Reply::Task(task) => Some(task),
        _ => None,
    }
}

fn push_config(reply: Reply) -> Option<TaskPushNotificationConfig> {
    match reply {
        Reply::PushConfig(config) => Some(config),
        _ => None,
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
        let sent = |reply| match reply {
            Reply::Sent(sent) => Some(sent),
            _ => None,
        };
        self.call(Operation::SendMessage, request, Call::SendMessage, sent).await
    }

    async fn send_streaming_message(
        &self,
        request: Request<SendMessageRequest>,
    ) -> Result<Response<Self::SendStreamingMessageStream>, Status> {
        self.open(Operation::SendStreamingMessage, request, Call::SendStreamingMessage).await
    }

    async fn get_task(&self, request: Request<GetTaskRequest>) -> Result<Response<Task>, Status> {
        self.call(Operation::GetTask, request, Call::GetTask, task).await
    }

    async fn list_tasks(
        &self,
        request: Request<ListTasksRequest>,
    ) -> Result<Response<ListTasksResponse>, Status> {
        let tasks = |reply| match reply {
            Reply::Tasks(tasks) => Some(tasks),
            _ => None,
        };
        self.call(Operation::ListTasks, request, Call::ListTasks, tasks).await
    }

    async fn cancel_task(&self, request: Request<CancelTaskRequest>) -> Result<Response<Task>, Status> {
        self.call(Operation::CancelTask, request, Call::CancelTask, task).await
    }

    async fn subscribe_to_task(
        &self,
        request: Request<SubscribeToTaskRequest>,
    ) -> Result<Response<Self::SubscribeToTaskStream>, Status> {
        self.open(Operation::SubscribeToTask, request, Call::SubscribeToTask).await
    }

    async fn create_task_push_notification_config(
        &self,
        request: Request<TaskPushNotificationConfig>,
    ) -> Result<Response<TaskPushNotificationConfig>, Status> {
        self.call(Operation::CreatePushConfig, request, Call::CreatePushConfig, push_config).await
    }

    async fn get_task_push_notification_config(
        &self,
        request: Request<GetTaskPushNotificationConfigRequest>,
    ) -> Result<Response<TaskPushNotificationConfig>, Status> {
        self.call(Operation::GetPushConfig, request, Call::GetPushConfig, push_config).await
    }

    async fn list_task_push_notification_configs(
        &self,
        request: Request<ListTaskPushNotificationConfigsRequest>,
    ) -> Result<Response<ListTaskPushNotificationConfigsResponse>, Status> {
        let configs = |reply| match reply {
            Reply::PushConfigs(configs) => Some(configs),
            _ => None,
        };
        self.call(Operation::ListPushConfigs, request, Call::ListPushConfigs, configs).await
    }

    async fn get_extended_agent_card(
        &self,
        request: Request<GetExtendedAgentCardRequest>,
    ) -> Result<Response<AgentCard>, Status> {
        let card = |reply| match reply {
            Reply::Card(card) => Some(card),
            _ => None,
        };
        self.call(Operation::GetExtendedAgentCard, request, Call::GetExtendedAgentCard, card).await
    }

    async fn delete_task_push_notification_config(
        &self,
        request: Request<DeleteTaskPushNotificationConfigRequest>,
    ) -> Result<Response<()>, Status> {
        let deleted = |reply| matches!(reply, Reply::Deleted).then_some(());
        self.call(Operation::DeletePushConfig, request, Call::DeletePushConfig, deleted).await
    }
}
