//! A task store that says what a test scripts, and remembers what it was asked.

use std::sync::{Mutex, PoisonError};

use futures::stream::{self, BoxStream, StreamExt};
use tonic::{Request, Response, Status, Streaming};
use weft_proto::a2a::stream_response::Payload;
use weft_proto::a2a::{
    ListTaskPushNotificationConfigsResponse, ListTasksResponse, Message, Role, StreamResponse, Task,
    TaskPushNotificationConfig, TaskState, TaskStatus, TaskStatusUpdateEvent,
};
use weft_proto::weft::tasks_server::Tasks;
use weft_proto::weft::{
    AppendAnswer, AppendRequest, CancelRequest, ClaimEvent, ClaimRequest, DeletePushConfigRequest,
    DeletePushConfigResponse, FeedEvent, FeedRequest, GetPushConfigRequest, GetRequest,
    ListPushConfigsRequest, ListRequest, PushStatusRequest, PushStatusResponse, SetPushConfigRequest,
    StatsRequest, StatsResponse, SubmitRequest, SubscribeRequest, TaskEvent,
};
use weft_proto::wkt::Timestamp;

/// What a scripted call answers.
pub(crate) type Events = BoxStream<'static, Result<TaskEvent, Status>>;

/// The next answers, taken one by one; without one, the plain answer.
#[derive(Default)]
pub(crate) struct Script {
    pub(crate) submit: Mutex<Option<Result<Events, Status>>>,
    pub(crate) subscribe: Mutex<Option<Result<Events, Status>>>,
    pub(crate) feed: Mutex<Option<BoxStream<'static, Result<FeedEvent, Status>>>>,
    /// Streams that are not scripted end after their first event.
    pub(crate) ends: Mutex<bool>,
    /// What get answers; without one, a plain task.
    pub(crate) task: Mutex<Option<Task>>,
    /// Refuses everything that is not scripted.
    pub(crate) refuse: Mutex<Option<Status>>,
    /// The one owner of the one task `t1`; without one, it is everybody's.
    pub(crate) owner: Mutex<Option<String>>,
    pub(crate) submitted: Mutex<Vec<SubmitRequest>>,
    pub(crate) subscribed: Mutex<Vec<SubscribeRequest>>,
    pub(crate) got: Mutex<Vec<GetRequest>>,
    pub(crate) listed: Mutex<Vec<ListRequest>>,
    pub(crate) cancelled: Mutex<Vec<CancelRequest>>,
    pub(crate) fed: Mutex<Vec<FeedRequest>>,
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The service over a shared script.
pub(crate) struct Store(pub(crate) std::sync::Arc<Script>);

pub(crate) fn task(state: TaskState) -> Task {
    let message =
        |n: u32| Message { message_id: format!("m{n}"), role: Role::User.into(), ..Message::default() };
    Task {
        id: "t1".into(),
        context_id: "c1".into(),
        status: Some(status(state)),
        history: (0..3).map(message).collect(),
        ..Task::default()
    }
}

fn status(state: TaskState) -> TaskStatus {
    let timestamp = Some(Timestamp { seconds: 1_767_225_600, nanos: 5_000_000 });
    TaskStatus { state: state.into(), message: None, timestamp }
}

pub(crate) fn snapshot(seq: u64, state: TaskState) -> Result<TaskEvent, Status> {
    Ok(TaskEvent { seq, body: Some(StreamResponse { payload: Some(Payload::Task(task(state))) }) })
}

pub(crate) fn update(seq: u64, state: TaskState) -> Result<TaskEvent, Status> {
    let update = TaskStatusUpdateEvent {
        task_id: "t1".into(),
        context_id: "c1".into(),
        status: Some(status(state)),
        metadata: None,
    };
    Ok(TaskEvent { seq, body: Some(StreamResponse { payload: Some(Payload::StatusUpdate(update)) }) })
}

/// Events, then the end of the stream.
pub(crate) fn ended(events: impl IntoIterator<Item = Result<TaskEvent, Status>>) -> Events {
    stream::iter(events.into_iter().collect::<Vec<_>>()).boxed()
}

/// Events, then silence.
pub(crate) fn open(events: impl IntoIterator<Item = Result<TaskEvent, Status>>) -> Events {
    ended(events).chain(stream::pending()).boxed()
}

impl Store {
    /// Nobody else's task, and no task of another id, is known.
    fn known(&self, owner: &str, id: &str) -> Result<(), Status> {
        match &*lock(&self.0.owner) {
            Some(its) if its != owner || id != "t1" => {
                Err(weft_chassis::status::status(weft_core::Fault::task_not_found(id)))
            }
            _ => self.refused(),
        }
    }

    fn refused(&self) -> Result<(), Status> {
        lock(&self.0.refuse).clone().map_or(Ok(()), Err)
    }
}

#[tonic::async_trait]
impl Tasks for Store {
    type SubmitStream = Events;
    type SubscribeStream = Events;
    type FeedStream = BoxStream<'static, Result<FeedEvent, Status>>;
    type ClaimStream = BoxStream<'static, Result<ClaimEvent, Status>>;
    type AppendStream = BoxStream<'static, Result<AppendAnswer, Status>>;

    async fn submit(&self, request: Request<SubmitRequest>) -> Result<Response<Events>, Status> {
        let request = request.into_inner();
        let message = request.request.as_ref().and_then(|r| r.message.as_ref());
        if let Some(message) = message.filter(|m| !m.task_id.is_empty()) {
            self.known(&request.owner, &message.task_id)?;
        }
        lock(&self.0.submitted).push(request);
        let scripted = lock(&self.0.submit).take();
        if scripted.is_none() {
            self.refused()?;
        }
        scripted.unwrap_or_else(|| Ok(ended([snapshot(1, TaskState::Completed)]))).map(Response::new)
    }

    async fn get(&self, request: Request<GetRequest>) -> Result<Response<Task>, Status> {
        let request = request.into_inner();
        let known = self.known(&request.owner, &request.task_id);
        lock(&self.0.got).push(request);
        known?;
        let scripted = lock(&self.0.task).clone();
        Ok(Response::new(scripted.unwrap_or_else(|| task(TaskState::Working))))
    }

    async fn list(&self, request: Request<ListRequest>) -> Result<Response<ListTasksResponse>, Status> {
        lock(&self.0.listed).push(request.into_inner());
        self.refused()?;
        Ok(Response::new(ListTasksResponse::default()))
    }

    async fn cancel(&self, request: Request<CancelRequest>) -> Result<Response<Task>, Status> {
        let request = request.into_inner();
        let known = self.known(&request.owner, &request.task_id);
        lock(&self.0.cancelled).push(request);
        known?;
        Ok(Response::new(task(TaskState::Canceled)))
    }

    async fn subscribe(&self, request: Request<SubscribeRequest>) -> Result<Response<Events>, Status> {
        let request = request.into_inner();
        let known = self.known(&request.owner, &request.task_id);
        lock(&self.0.subscribed).push(request);
        let scripted = lock(&self.0.subscribe).take();
        if scripted.is_none() {
            known?;
        }
        if scripted.is_none() && *lock(&self.0.ends) {
            return Ok(Response::new(ended([snapshot(3, TaskState::Completed)])));
        }
        scripted.unwrap_or_else(|| Ok(open([snapshot(3, TaskState::Working)]))).map(Response::new)
    }

    async fn feed(&self, request: Request<FeedRequest>) -> Result<Response<Self::FeedStream>, Status> {
        lock(&self.0.fed).push(request.into_inner());
        let scripted = lock(&self.0.feed).take();
        Ok(Response::new(scripted.unwrap_or_else(|| stream::pending().boxed())))
    }

    async fn claim(
        &self,
        _: Request<Streaming<ClaimRequest>>,
    ) -> Result<Response<Self::ClaimStream>, Status> {
        Err(Status::unimplemented("the edge never claims"))
    }

    async fn append(
        &self,
        _: Request<Streaming<AppendRequest>>,
    ) -> Result<Response<Self::AppendStream>, Status> {
        Err(Status::unimplemented("the edge never appends"))
    }

    async fn set_push_config(
        &self,
        request: Request<SetPushConfigRequest>,
    ) -> Result<Response<TaskPushNotificationConfig>, Status> {
        let SetPushConfigRequest { owner, config } = request.into_inner();
        let config = config.unwrap_or_default();
        self.known(&owner, &config.task_id)?;
        Ok(Response::new(config))
    }

    async fn get_push_config(
        &self,
        request: Request<GetPushConfigRequest>,
    ) -> Result<Response<TaskPushNotificationConfig>, Status> {
        let request = request.into_inner();
        self.known(&request.owner, &request.request.unwrap_or_default().task_id)?;
        Ok(Response::new(TaskPushNotificationConfig::default()))
    }

    async fn list_push_configs(
        &self,
        request: Request<ListPushConfigsRequest>,
    ) -> Result<Response<ListTaskPushNotificationConfigsResponse>, Status> {
        let request = request.into_inner();
        self.known(&request.owner, &request.request.unwrap_or_default().task_id)?;
        Ok(Response::new(ListTaskPushNotificationConfigsResponse::default()))
    }

    async fn delete_push_config(
        &self,
        request: Request<DeletePushConfigRequest>,
    ) -> Result<Response<DeletePushConfigResponse>, Status> {
        let request = request.into_inner();
        self.known(&request.owner, &request.request.unwrap_or_default().task_id)?;
        Ok(Response::new(DeletePushConfigResponse {}))
    }

    async fn push_status(
        &self,
        _: Request<PushStatusRequest>,
    ) -> Result<Response<PushStatusResponse>, Status> {
        self.refused()?;
        Ok(Response::new(PushStatusResponse::default()))
    }

    async fn stats(&self, _: Request<StatsRequest>) -> Result<Response<StatsResponse>, Status> {
        self.refused()?;
        Ok(Response::new(StatsResponse::default()))
    }
}
