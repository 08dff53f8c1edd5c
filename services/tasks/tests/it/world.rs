//! A task store for one test: the service through a peer, and what callers and workers do with it.

use std::time::Duration;

use tokio::sync::mpsc;
use tokio_stream::StreamExt;
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Status, Streaming};
use weft_chassis::{Env, Peer, peer};
use weft_core::Kind;
use weft_proto::a2a::stream_response::Payload;
use weft_proto::a2a::{
    Artifact, DeleteTaskPushNotificationConfigRequest, GetTaskPushNotificationConfigRequest,
    ListTaskPushNotificationConfigsRequest, ListTaskPushNotificationConfigsResponse, Message, Part, Role,
    SendMessageConfiguration, SendMessageRequest, Task, TaskPushNotificationConfig, TaskState, TaskStatus,
    part,
};
use weft_proto::weft::claim_event::Event;
use weft_proto::weft::owners_client::OwnersClient;
use weft_proto::weft::progress::Step;
use weft_proto::weft::tasks_client::TasksClient;
use weft_proto::weft::{
    AppendAnswer, AppendRequest, ArtifactChunk, CancelRequest, ClaimEvent, ClaimRequest,
    DeletePushConfigRequest, Follow, GetPushConfigRequest, GetRequest, ListPushConfigsRequest, Progress,
    PushDelivery, PushStatusRequest, Route, SetPushConfigRequest, SubmitRequest, SubscribeRequest, TaskEvent,
    WorkItem, submit_request,
};
use weft_tasks::store::{Store, simulated};
use weft_tasks::{Handle, Meter, Outside, Settings, serve};

/// One task store.
pub(crate) struct World<S = simulated::Simulated> {
    pub(crate) env: Env,
    pub(crate) client: TasksClient<Peer>,
    pub(crate) owners: OwnersClient<Peer>,
    pub(crate) handle: Handle<S>,
}

/// Settings with lists and queues as small as tests like them.
pub(crate) fn settings() -> Settings {
    Settings { lease_ms: 1_000, attempts_max: 3, queue_max: 10_000, ..Settings::default() }
}

/// A store on a fresh simulated disk; time is tokio's.
pub(crate) async fn simulated(settings: &Settings) -> World {
    on_disk(&simulated::Disk::default(), settings, 1).await
}

pub(crate) async fn on_disk(disk: &simulated::Disk, settings: &Settings, seed: u64) -> World {
    on_disk_with(disk, settings, seed, crate::outside::plain()).await
}

pub(crate) async fn on_disk_with(
    disk: &simulated::Disk,
    settings: &Settings,
    seed: u64,
    outside: Outside,
) -> World {
    let env = Env::simulated(seed);
    let meter = Meter::new(env.metrics());
    let store = simulated::open(disk, Duration::from_millis(1), settings, &env, meter.clone()).unwrap();
    World::over(store, settings, outside, env, meter).await
}

/// A store in a directory.
pub(crate) async fn embedded(
    dir: &std::path::Path,
    settings: &Settings,
) -> World<weft_tasks::store::sled::Sled> {
    let env = Env::system();
    let (routes, handle) = weft_tasks::routes(settings, dir, crate::outside::plain(), &env).await.unwrap();
    World { client: client(routes.clone()), owners: OwnersClient::new(peer::local(routes)), env, handle }
}

fn client(routes: tonic::service::Routes) -> TasksClient<Peer> {
    TasksClient::new(peer::local(routes))
        .max_decoding_message_size(peer::MESSAGE_BYTES_MAX)
        .max_encoding_message_size(peer::MESSAGE_BYTES_MAX)
}

impl<S: Store> World<S> {
    pub(crate) async fn over(
        store: S,
        settings: &Settings,
        outside: Outside,
        env: Env,
        meter: Meter,
    ) -> World<S> {
        let (routes, handle) = serve(store, settings, outside, &env, meter).await.unwrap();
        let owners = OwnersClient::new(peer::local(routes.clone()));
        World { client: client(routes), owners, env, handle }
    }

    pub(crate) async fn submit(&self, request: SubmitRequest) -> Result<Streaming<TaskEvent>, Status> {
        self.client.clone().submit(request).await.map(tonic::Response::into_inner)
    }

    /// The first event's task.
    pub(crate) async fn submitted(&self, request: SubmitRequest) -> Result<Task, Status> {
        let mut events = self.submit(request).await?;
        Ok(task_of(&events.message().await?.unwrap()))
    }

    pub(crate) async fn get(&self, task: &str) -> Result<Task, Status> {
        self.get_as("local", task).await
    }

    pub(crate) async fn get_as(&self, owner: &str, task: &str) -> Result<Task, Status> {
        let request = GetRequest { owner: owner.into(), task_id: task.into(), history_length: None };
        self.client.clone().get(request).await.map(tonic::Response::into_inner)
    }

    pub(crate) async fn cancel(&self, task: &str) -> Result<Task, Status> {
        let request = CancelRequest { owner: "local".into(), task_id: task.into(), metadata: None };
        self.client.clone().cancel(request).await.map(tonic::Response::into_inner)
    }

    pub(crate) async fn subscribe(
        &self,
        task: &str,
        after: Option<u64>,
    ) -> Result<Streaming<TaskEvent>, Status> {
        let request = SubscribeRequest { owner: "local".into(), task_id: task.into(), after };
        self.client.clone().subscribe(request).await.map(tonic::Response::into_inner)
    }

    pub(crate) async fn set(
        &self,
        config: TaskPushNotificationConfig,
    ) -> Result<TaskPushNotificationConfig, Status> {
        self.set_as("local", config).await
    }

    pub(crate) async fn set_as(
        &self,
        owner: &str,
        config: TaskPushNotificationConfig,
    ) -> Result<TaskPushNotificationConfig, Status> {
        let request = SetPushConfigRequest { owner: owner.into(), config: Some(config) };
        self.client.clone().set_push_config(request).await.map(tonic::Response::into_inner)
    }

    pub(crate) async fn get_push(&self, task: &str, id: &str) -> Result<TaskPushNotificationConfig, Status> {
        let (task_id, id) = (task.into(), id.into());
        let request = GetTaskPushNotificationConfigRequest { task_id, id, ..Default::default() };
        let request = GetPushConfigRequest { owner: "local".into(), request: Some(request) };
        self.client.clone().get_push_config(request).await.map(tonic::Response::into_inner)
    }

    pub(crate) async fn delete_push(&self, task: &str, id: &str) -> Result<(), Status> {
        let (task_id, id) = (task.into(), id.into());
        let request = DeleteTaskPushNotificationConfigRequest { task_id, id, ..Default::default() };
        let request = DeletePushConfigRequest { owner: "local".into(), request: Some(request) };
        self.client.clone().delete_push_config(request).await.map(drop)
    }

    pub(crate) async fn list_pushes(
        &self,
        task: &str,
        page_size: i32,
        page_token: &str,
    ) -> Result<ListTaskPushNotificationConfigsResponse, Status> {
        let request = ListTaskPushNotificationConfigsRequest {
            task_id: task.into(),
            page_size,
            page_token: page_token.into(),
            ..Default::default()
        };
        let request = ListPushConfigsRequest { owner: "local".into(), request: Some(request) };
        self.client.clone().list_push_configs(request).await.map(tonic::Response::into_inner)
    }

    /// The deliveries of a task's webhooks; of all that fail when it is empty.
    pub(crate) async fn pushed(&self, owner: &str, task: &str) -> Result<Vec<PushDelivery>, Status> {
        let request =
            PushStatusRequest { owner: owner.into(), task_id: task.into(), ..PushStatusRequest::default() };
        let answer = self.client.clone().push_status(request).await?;
        Ok(answer.into_inner().deliveries)
    }

    /// A worker with this much credit.
    pub(crate) async fn worker(&self, credit: u32) -> Worker {
        let (credits, requests) = mpsc::channel(16);
        credits.send(ClaimRequest { worker: "w".into(), credit }).await.unwrap();
        let claims = self.client.clone().claim(ReceiverStream::new(requests)).await.unwrap().into_inner();
        let (appends, requests) = mpsc::channel(16);
        let answers = self.client.clone().append(ReceiverStream::new(requests)).await.unwrap().into_inner();
        Worker { credits, claims, appends, answers, number: 0 }
    }
}

/// A worker by hand.
pub(crate) struct Worker {
    pub(crate) credits: mpsc::Sender<ClaimRequest>,
    pub(crate) claims: Streaming<ClaimEvent>,
    appends: mpsc::Sender<AppendRequest>,
    answers: Streaming<AppendAnswer>,
    number: u64,
}

impl Worker {
    pub(crate) async fn event(&mut self) -> Event {
        self.claims.next().await.unwrap().unwrap().event.unwrap()
    }

    pub(crate) async fn item(&mut self) -> WorkItem {
        match self.event().await {
            Event::Item(item) => item,
            other => panic!("{other:?}"),
        }
    }

    pub(crate) async fn append(&mut self, item: &WorkItem, progress: Vec<Progress>) -> AppendAnswer {
        self.number += 1;
        self.append_as(self.number, item, progress).await
    }

    pub(crate) async fn append_as(
        &mut self,
        number: u64,
        item: &WorkItem,
        progress: Vec<Progress>,
    ) -> AppendAnswer {
        let (task_id, lease) = (item.task_id.clone(), item.lease);
        self.request(AppendRequest { number, task_id, lease, progress, ..AppendRequest::default() }).await
    }

    /// Appends and leaves a session for the next run.
    pub(crate) async fn leave(
        &mut self,
        item: &WorkItem,
        progress: Vec<Progress>,
        session: &str,
    ) -> AppendAnswer {
        self.number += 1;
        let (task_id, session) = (item.task_id.clone(), session.to_owned());
        let request = AppendRequest { number: self.number, task_id, lease: item.lease, progress, session };
        self.request(request).await
    }

    async fn request(&mut self, request: AppendRequest) -> AppendAnswer {
        let number = request.number;
        self.appends.send(request).await.unwrap();
        let answer = self.answers.next().await.unwrap().unwrap();
        assert_eq!(answer.number, number);
        answer
    }

    /// Answers every item at once with an artifact and COMPLETED, for ever.
    pub(crate) async fn complete_all(mut self) {
        loop {
            let Some(Ok(ClaimEvent { event: Some(event) })) = self.claims.next().await else { return };
            let Event::Item(item) = event else { continue };
            let steps = vec![chunk("answer", "42", false), status(TaskState::Completed)];
            self.append(&item, steps).await;
            if self.credits.send(ClaimRequest { worker: "w".into(), credit: 1 }).await.is_err() {
                return;
            }
        }
    }
}

pub(crate) fn text(text: &str) -> Part {
    Part { content: Some(part::Content::Text(text.into())), ..Part::default() }
}

pub(crate) fn says(id: &str) -> Message {
    Message { message_id: id.into(), role: Role::User.into(), parts: vec![text(id)], ..Message::default() }
}

pub(crate) fn route(capability: &str) -> submit_request::Start {
    submit_request::Start::Route(Route { capability: capability.into(), ..Route::default() })
}

/// A message of `local` for a worker.
pub(crate) fn sends(message: Message, follow: Follow) -> SubmitRequest {
    SubmitRequest {
        owner: "local".into(),
        request: Some(SendMessageRequest { message: Some(message), ..SendMessageRequest::default() }),
        start: Some(route("sector.movement")),
        follow: follow.into(),
        ..SubmitRequest::default()
    }
}

/// The next turn of a task.
pub(crate) fn goes_on(task: &Task, id: &str, follow: Follow) -> SubmitRequest {
    sends(Message { task_id: task.id.clone(), ..says(id) }, follow)
}

pub(crate) fn configured(
    mut request: SubmitRequest,
    configuration: SendMessageConfiguration,
) -> SubmitRequest {
    request.request.as_mut().unwrap().configuration = Some(configuration);
    request
}

pub(crate) fn parked() -> submit_request::Start {
    let message = Message { role: Role::Agent.into(), ..says("what can be asked") };
    let state = TaskState::InputRequired.into();
    submit_request::Start::Parked(TaskStatus { state, message: Some(message), timestamp: None })
}

pub(crate) fn status(state: TaskState) -> Progress {
    let status = TaskStatus { state: state.into(), ..TaskStatus::default() };
    Progress { step: Some(Step::Status(status)), metadata: None }
}

pub(crate) fn remark(state: TaskState, id: &str) -> Progress {
    let message = Message { role: Role::Agent.into(), ..says(id) };
    let status = TaskStatus { state: state.into(), message: Some(message), timestamp: None };
    Progress { step: Some(Step::Status(status)), metadata: None }
}

/// An answer instead of a task.
pub(crate) fn answers(id: &str) -> Progress {
    let message = Message { role: Role::Agent.into(), ..says(id) };
    Progress { step: Some(Step::Message(message)), metadata: None }
}

pub(crate) fn chunk(id: &str, content: &str, append: bool) -> Progress {
    let artifact = Artifact { artifact_id: id.into(), parts: vec![text(content)], ..Artifact::default() };
    let chunk = ArtifactChunk { artifact: Some(artifact), append, last_chunk: false };
    Progress { step: Some(Step::Artifact(chunk)), metadata: None }
}

pub(crate) fn task_of(event: &TaskEvent) -> Task {
    match &event.body.as_ref().unwrap().payload {
        Some(Payload::Task(task)) => task.clone(),
        other => panic!("not a task: {other:?}"),
    }
}

pub(crate) fn state_of(event: &TaskEvent) -> Option<TaskState> {
    weft_core::task::state_of(event.body.as_ref()?)
}

pub(crate) fn state(task: &Task) -> TaskState {
    weft_core::task::state(task)
}

pub(crate) fn kind(status: &Status) -> Kind {
    weft_chassis::status::fault(status).kind
}

pub(crate) fn field(status: &Status) -> String {
    weft_chassis::status::fault(status).violations[0].field.clone()
}

/// Everything a stream says, and how it ended.
pub(crate) async fn rest(mut events: Streaming<TaskEvent>) -> (Vec<TaskEvent>, Option<Status>) {
    let mut read = Vec::new();
    loop {
        match events.message().await {
            Ok(Some(event)) => read.push(event),
            Ok(None) => return (read, None),
            Err(status) => return (read, Some(status)),
        }
    }
}

/// Folds what a stream said.
pub(crate) fn folded(events: &[TaskEvent]) -> Task {
    let mut task = Task::default();
    events.iter().for_each(|event| weft_core::task::fold(&mut task, event.body.as_ref().unwrap()));
    task
}
