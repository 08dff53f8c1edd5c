//! A task store, a catalog, a signer and a node that do just enough, and can be told to misbehave.

use std::collections::{HashMap, HashSet, VecDeque};
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use axum::extract::State;
use axum::response::IntoResponse;
use axum::routing::{get, post};
use bytes::Bytes;
use futures::{Stream, StreamExt};
use http::HeaderMap;
use tokio::sync::{Notify, mpsc};
use tokio_stream::wrappers::ReceiverStream;
use tonic::service::Routes;
use tonic::{Request, Response, Status, Streaming};
use weft_chassis::{Env, Peer, peer};
use weft_proto::a2a::{
    ListTaskPushNotificationConfigsResponse, ListTasksResponse, Message, Task, TaskPushNotificationConfig,
};
use weft_proto::json;
use weft_proto::weft::append_answer::Refusal;
use weft_proto::weft::catalog_server::{Catalog, CatalogServer};
use weft_proto::weft::signer_server::{Signer, SignerServer};
use weft_proto::weft::tasks_server::{Tasks, TasksServer};
use weft_proto::weft::*;

pub(crate) type Boxed<T> = Pin<Box<dyn Stream<Item = Result<T, Status>> + Send>>;

// === impl Store ===

/// The task store: work to claim, requests taken, and how it is to misbehave.
#[derive(Default)]
pub(crate) struct Store {
    pub(crate) queue: VecDeque<WorkItem>,
    pub(crate) stops: VecDeque<Stop>,
    /// Requests that were committed, in order.
    pub(crate) commits: Vec<AppendRequest>,
    /// Numbers that came, heartbeats too, also those that were refused or had been committed before.
    pub(crate) numbers: Vec<u64>,
    pub(crate) heartbeats: u32,
    pub(crate) credit: u32,
    pub(crate) claims: u32,
    /// How the next requests with steps are refused.
    pub(crate) refuse: VecDeque<Refusal>,
    /// Break the append stream after this many further commits, without an answer.
    pub(crate) cut_after: Option<u32>,
    /// Answer nothing while set.
    pub(crate) mute: bool,
    seen: HashSet<(String, u64, u64)>,
}

#[derive(Clone, Default)]
pub(crate) struct FakeTasks {
    store: Arc<Mutex<Store>>,
    pub(crate) changed: Arc<Notify>,
}

impl FakeTasks {
    pub(crate) fn store(&self) -> MutexGuard<'_, Store> {
        self.store.lock().unwrap()
    }

    pub(crate) fn offer(&self, items: impl IntoIterator<Item = WorkItem>) {
        self.store().queue.extend(items);
        self.changed.notify_waiters();
    }

    pub(crate) fn peer(&self) -> Peer {
        peer::local(Routes::new(TasksServer::new(self.clone())))
    }

    /// Waits until the store looks like this.
    pub(crate) async fn until(&self, mut looks: impl FnMut(&Store) -> bool) {
        let seen = async {
            loop {
                if looks(&self.store()) {
                    return;
                }
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        };
        tokio::time::timeout(Duration::from_secs(600), seen)
            .await
            .expect("the store comes to look like this");
    }

    /// Every committed step of a task, in order.
    pub(crate) fn steps(&self, task: &str) -> Vec<Progress> {
        let store = self.store();
        store.commits.iter().filter(|c| c.task_id == task).flat_map(|c| c.progress.clone()).collect()
    }

    fn take(&self, request: AppendRequest) -> Option<AppendAnswer> {
        let mut store = self.store();
        store.numbers.push(request.number);
        if store.mute {
            return None;
        }
        let number = request.number;
        let accepted = AppendAnswer { number, accepted: true, ..AppendAnswer::default() };
        if request.progress.is_empty() {
            store.heartbeats += 1;
            return Some(accepted);
        }
        if let Some(refusal) = store.refuse.pop_front() {
            let message = "the fake refuses".to_owned();
            return Some(AppendAnswer { number, accepted: false, refusal: refusal.into(), message });
        }
        if store.seen.insert((request.task_id.clone(), request.lease, number)) {
            store.commits.push(request);
        }
        Some(accepted)
    }
}

#[tonic::async_trait]
impl Tasks for FakeTasks {
    type SubmitStream = Boxed<TaskEvent>;
    type SubscribeStream = Boxed<TaskEvent>;
    type FeedStream = Boxed<FeedEvent>;
    type ClaimStream = Boxed<ClaimEvent>;
    type AppendStream = Boxed<AppendAnswer>;

    async fn claim(
        &self,
        request: Request<Streaming<ClaimRequest>>,
    ) -> Result<Response<Boxed<ClaimEvent>>, Status> {
        let mut requests = request.into_inner();
        let (events, read) = mpsc::channel(16);
        let fake = self.clone();
        fake.store().claims += 1;
        fake.store().credit = 0;
        Env::system().spawn(async move {
            loop {
                let changed = fake.changed.notified();
                loop {
                    let event = {
                        let mut store = fake.store();
                        if let Some(stop) = store.stops.pop_front() {
                            Some(claim_event::Event::Stop(stop))
                        } else if store.credit > 0 {
                            store.queue.pop_front().map(|item| {
                                store.credit -= 1;
                                claim_event::Event::Item(item)
                            })
                        } else {
                            None
                        }
                    };
                    let Some(event) = event else { break };
                    if events.send(Ok(ClaimEvent { event: Some(event) })).await.is_err() {
                        return;
                    }
                }
                tokio::select! {
                    request = requests.message() => match request {
                        Ok(Some(request)) => fake.store().credit += request.credit,
                        _ => return,
                    },
                    () = changed => {}
                    () = events.closed() => return,
                }
            }
        });
        Ok(Response::new(Box::pin(ReceiverStream::new(read))))
    }

    async fn append(
        &self,
        request: Request<Streaming<AppendRequest>>,
    ) -> Result<Response<Boxed<AppendAnswer>>, Status> {
        let fake = self.clone();
        let answers = request.into_inner().filter_map(move |request| {
            let answer = match request {
                Ok(request) => {
                    let steps = !request.progress.is_empty();
                    let answer = fake.take(request).map(Ok);
                    let mut store = fake.store();
                    match store.cut_after {
                        Some(0) if steps => {
                            store.cut_after = None;
                            Some(Err(Status::unavailable("cut by the test")))
                        }
                        Some(left) if steps => {
                            store.cut_after = Some(left - 1);
                            answer
                        }
                        _ => answer,
                    }
                }
                Err(status) => Some(Err(status)),
            };
            std::future::ready(answer)
        });
        // An error ends the stream.
        let answers = answers.scan(false, |over, answer| {
            let end = std::mem::replace(over, answer.is_err());
            std::future::ready((!end).then_some(answer))
        });
        Ok(Response::new(Box::pin(answers)))
    }

    async fn submit(&self, _: Request<SubmitRequest>) -> Result<Response<Boxed<TaskEvent>>, Status> {
        Err(Status::unimplemented("fake"))
    }
    async fn get(&self, _: Request<GetRequest>) -> Result<Response<Task>, Status> {
        Err(Status::unimplemented("fake"))
    }
    async fn list(&self, _: Request<ListRequest>) -> Result<Response<ListTasksResponse>, Status> {
        Err(Status::unimplemented("fake"))
    }
    async fn cancel(&self, _: Request<CancelRequest>) -> Result<Response<Task>, Status> {
        Err(Status::unimplemented("fake"))
    }
    async fn subscribe(&self, _: Request<SubscribeRequest>) -> Result<Response<Boxed<TaskEvent>>, Status> {
        Err(Status::unimplemented("fake"))
    }
    async fn feed(&self, _: Request<FeedRequest>) -> Result<Response<Boxed<FeedEvent>>, Status> {
        Err(Status::unimplemented("fake"))
    }
    async fn set_push_config(
        &self,
        _: Request<SetPushConfigRequest>,
    ) -> Result<Response<TaskPushNotificationConfig>, Status> {
        Err(Status::unimplemented("fake"))
    }

    async fn get_push_config(
        &self,
        _: Request<GetPushConfigRequest>,
    ) -> Result<Response<TaskPushNotificationConfig>, Status> {
        Err(Status::unimplemented("fake"))
    }

    async fn list_push_configs(
        &self,
        _: Request<ListPushConfigsRequest>,
    ) -> Result<Response<ListTaskPushNotificationConfigsResponse>, Status> {
        Err(Status::unimplemented("fake"))
    }

    async fn delete_push_config(
        &self,
        _: Request<DeletePushConfigRequest>,
    ) -> Result<Response<DeletePushConfigResponse>, Status> {
        Err(Status::unimplemented("fake"))
    }

    async fn push_status(
        &self,
        _: Request<PushStatusRequest>,
    ) -> Result<Response<PushStatusResponse>, Status> {
        Err(Status::unimplemented("fake"))
    }

    async fn stats(&self, _: Request<StatsRequest>) -> Result<Response<StatsResponse>, Status> {
        Err(Status::unimplemented("fake"))
    }
}

// === impl FakeCatalog ===

/// Says one snapshot and keeps what is reported.
#[derive(Clone, Default)]
pub(crate) struct FakeCatalog {
    pub(crate) snapshot: Snapshot,
    pub(crate) reports: Arc<Mutex<Vec<ReportRequest>>>,
}

#[tonic::async_trait]
impl Catalog for FakeCatalog {
    type WatchStream = Boxed<Snapshot>;

    async fn watch(&self, _: Request<WatchRequest>) -> Result<Response<Boxed<Snapshot>>, Status> {
        let first = futures::stream::iter([Ok(self.snapshot.clone())]);
        Ok(Response::new(Box::pin(first.chain(futures::stream::pending()))))
    }

    async fn report(&self, request: Request<ReportRequest>) -> Result<Response<ReportResponse>, Status> {
        self.reports.lock().unwrap().push(request.into_inner());
        Ok(Response::new(ReportResponse::default()))
    }
}

impl FakeCatalog {
    pub(crate) fn peer(&self) -> Peer {
        peer::local(Routes::new(CatalogServer::new(self.clone())))
    }
}

// === impl FakeSigner ===

/// Seals with a text that shows what was sealed; can be down.
#[derive(Clone, Default)]
pub(crate) struct FakeSigner {
    pub(crate) asked: Arc<Mutex<Vec<SignRequest>>>,
    pub(crate) down: Arc<Mutex<bool>>,
}

#[tonic::async_trait]
impl Signer for FakeSigner {
    async fn sign(&self, request: Request<SignRequest>) -> Result<Response<SignResponse>, Status> {
        if *self.down.lock().unwrap() {
            return Err(Status::unavailable("the fake is down"));
        }
        let request = request.into_inner();
        let signature = format!("{} {} {}", request.method, request.target_uri, request.audience);
        self.asked.lock().unwrap().push(request);
        let headers = vec![Header { name: "signature".into(), value: signature }];
        Ok(Response::new(SignResponse { headers }))
    }

    async fn verify(&self, _: Request<VerifyRequest>) -> Result<Response<VerifyResponse>, Status> {
        Err(Status::unimplemented("fake"))
    }

    async fn jwks(&self, _: Request<JwksRequest>) -> Result<Response<JwksResponse>, Status> {
        Err(Status::unimplemented("fake"))
    }

    async fn sign_card(&self, _: Request<SignCardRequest>) -> Result<Response<SignCardResponse>, Status> {
        Err(Status::unimplemented("fake"))
    }

    async fn wrap(&self, _: Request<WrapRequest>) -> Result<Response<WrapResponse>, Status> {
        Err(Status::unimplemented("fake"))
    }

    async fn unwrap(&self, _: Request<UnwrapRequest>) -> Result<Response<UnwrapResponse>, Status> {
        Err(Status::unimplemented("fake"))
    }
}

impl FakeSigner {
    pub(crate) fn peer(&self) -> Peer {
        peer::local(Routes::new(SignerServer::new(self.clone())))
    }
}

// === impl FakeNode ===

/// One call as a node sees it.
pub(crate) struct NodeCall {
    pub(crate) request: InvokeRequest,
    pub(crate) headers: HeaderMap,
}

type Answering = Arc<dyn Fn(NodeCall) -> axum::response::Response + Send + Sync>;

/// A node that answers as it is told.
#[derive(Clone)]
pub(crate) struct FakeNode {
    id: String,
    answer: Answering,
}

impl FakeNode {
    pub(crate) fn new(
        id: &str,
        answer: impl Fn(NodeCall) -> axum::response::Response + Send + Sync + 'static,
    ) -> FakeNode {
        FakeNode { id: id.to_owned(), answer: Arc::new(answer) }
    }

    pub(crate) fn router(&self) -> axum::Router {
        axum::Router::new()
            .route("/peer/invoke", post(invoke))
            .route("/peer/about", get(about))
            .with_state(self.clone())
    }

    pub(crate) fn peer(&self) -> Peer {
        peer::local(self.router().into())
    }
}

async fn invoke(State(node): State<FakeNode>, headers: HeaderMap, body: Bytes) -> axum::response::Response {
    let request = json::decode(&body).expect("the bridge writes good JSON");
    (node.answer)(NodeCall { request, headers })
}

async fn about(State(node): State<FakeNode>) -> impl IntoResponse {
    let about = About { node: node.id, ..About::default() };
    ([("content-type", "application/json")], json::encode(&about).unwrap())
}

/// An answer of events, each after a pause.
pub(crate) fn events(events: Vec<(Duration, InvokeEvent)>) -> axum::response::Response {
    let frames = futures::stream::iter(events).then(|(pause, event)| async move {
        if !pause.is_zero() {
            tokio::time::sleep(pause).await;
        }
        let data = json::encode_string(&event).unwrap();
        Ok::<_, Infallible>(Bytes::from(format!("data: {data}\n\n")))
    });
    sse(axum::body::Body::from_stream(frames))
}

pub(crate) fn sse(body: axum::body::Body) -> axum::response::Response {
    ([("content-type", "text/event-stream")], body).into_response()
}

/// An answer of one result, at once.
pub(crate) fn result(result: InvokeResult) -> axum::response::Response {
    events(vec![(Duration::ZERO, end(result))])
}

pub(crate) fn end(result: InvokeResult) -> InvokeEvent {
    InvokeEvent { event: Some(invoke_event::Event::Result(result)) }
}

pub(crate) fn step(progress: Progress) -> InvokeEvent {
    InvokeEvent { event: Some(invoke_event::Event::Progress(progress)) }
}

pub(crate) fn ok(value: impl Into<weft_proto::wkt::Value>) -> InvokeResult {
    InvokeResult { ok: true, result: Some(value.into()), ..InvokeResult::default() }
}

/// A catalog of one node and one capability `test.run` → tool `run`.
pub(crate) fn snapshot(address: &str) -> Snapshot {
    let tool = ToolTarget { node: "lab".into(), tool: "run".into() };
    Snapshot {
        revision: 7,
        nodes: vec![Node { id: "lab".into(), address: address.into(), ..Node::default() }],
        capabilities: vec![Capability {
            id: "test.run".into(),
            target: Some(capability::Target::Tool(tool)),
            ..Capability::default()
        }],
        ..Snapshot::default()
    }
}

pub(crate) fn item(task: &str) -> WorkItem {
    WorkItem {
        task_id: task.into(),
        context_id: "c1".into(),
        owner: "local".into(),
        lease: 1,
        lease_ms: 15_000,
        attempt: 1,
        idempotency_key: format!("key-{task}"),
        route: Some(Route { capability: "test.run".into(), ..Route::default() }),
        message: Some(Message { message_id: format!("m-{task}"), ..Message::default() }),
        ..WorkItem::default()
    }
}

pub(crate) fn hosted(node: &FakeNode) -> HashMap<String, Peer> {
    HashMap::from([(node.id.clone(), node.peer())])
}
