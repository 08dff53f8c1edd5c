//! gRPC.

use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::{Arc, Mutex};

use futures::{Stream, StreamExt, stream};
use serde_json::json;
use tokio::net::TcpListener;
use tokio::task::JoinSet;
use tokio_stream::wrappers::TcpListenerStream;
use tonic::metadata::MetadataMap;
use tonic::{Request, Response, Status};
use weft_client::{Agent, Binding, Call, Credentials, Options, Origins, Why};
use weft_core::{Fault, Kind};
use weft_proto::a2a::a2a_service_server::{A2aService, A2aServiceServer};
use weft_proto::a2a::{
    AgentCard, CancelTaskRequest, DeleteTaskPushNotificationConfigRequest, GetExtendedAgentCardRequest,
    GetTaskPushNotificationConfigRequest, GetTaskRequest, ListTaskPushNotificationConfigsRequest,
    ListTaskPushNotificationConfigsResponse, ListTasksRequest, ListTasksResponse, SendMessageRequest,
    SendMessageResponse, StreamResponse, SubscribeToTaskRequest, Task, TaskPushNotificationConfig, TaskState,
    TaskStatus, stream_response::Payload,
};

use crate::world::{Fake, answer, client, json_answer, message};

type Events = Pin<Box<dyn Stream<Item = Result<StreamResponse, Status>> + Send>>;

#[derive(Default, Clone)]
struct Grpc {
    seen: Arc<Mutex<Vec<(String, String, MetadataMap)>>>,
}

impl Grpc {
    fn saw<T>(&self, what: &str, tenant: &str, request: &Request<T>) -> usize {
        let mut seen = self.seen.lock().unwrap();
        seen.push((what.to_owned(), tenant.to_owned(), request.metadata().clone()));
        seen.len()
    }
}

fn whole(state: TaskState) -> Task {
    let status = Some(TaskStatus { state: state as i32, ..TaskStatus::default() });
    Task { id: "t1".into(), status, ..Task::default() }
}

fn element(state: TaskState) -> Result<StreamResponse, Status> {
    Ok(StreamResponse { payload: Some(Payload::Task(whole(state))) })
}

#[tonic::async_trait]
impl A2aService for Grpc {
    type SendStreamingMessageStream = Events;
    type SubscribeToTaskStream = Events;

    async fn send_message(
        &self,
        _: Request<SendMessageRequest>,
    ) -> Result<Response<SendMessageResponse>, Status> {
        let fault = Fault::exhausted("full", 1_500).with("queue", "7");
        Err(weft_chassis::status::status(fault))
    }

    async fn send_streaming_message(
        &self,
        request: Request<SendMessageRequest>,
    ) -> Result<Response<Events>, Status> {
        self.saw("stream", &request.get_ref().tenant, &request);
        // The connection is gone after the first event.
        let cut = std::io::Error::from(std::io::ErrorKind::ConnectionReset);
        let events = stream::iter([element(TaskState::Working), Err(Status::unavailable(cut.to_string()))]);
        let mut response = Response::new(events.boxed());
        response.metadata_mut().insert("task-access-token", "for-t1".parse().unwrap());
        Ok(response)
    }

    async fn get_task(&self, request: Request<GetTaskRequest>) -> Result<Response<Task>, Status> {
        self.saw("get", &request.get_ref().tenant, &request);
        match request.get_ref().id.as_str() {
            "t1" => Ok(Response::new(whole(TaskState::Completed))),
            "plain" => Err(Status::not_found("who?")),
            _ => Err(weft_chassis::status::status(Fault::task_not_found("x").with("taskId", "x"))),
        }
    }

    async fn list_tasks(&self, _: Request<ListTasksRequest>) -> Result<Response<ListTasksResponse>, Status> {
        let big = Task { id: "x".repeat(30_000), ..Task::default() };
        Ok(Response::new(ListTasksResponse { tasks: vec![big], ..ListTasksResponse::default() }))
    }

    async fn cancel_task(&self, _: Request<CancelTaskRequest>) -> Result<Response<Task>, Status> {
        Err(Status::failed_precondition("over"))
    }

    async fn subscribe_to_task(
        &self,
        request: Request<SubscribeToTaskRequest>,
    ) -> Result<Response<Events>, Status> {
        self.saw("subscribe", &request.get_ref().tenant, &request);
        let events = stream::iter([element(TaskState::Working), element(TaskState::Completed)]);
        Ok(Response::new(events.boxed()))
    }

    async fn create_task_push_notification_config(
        &self,
        request: Request<TaskPushNotificationConfig>,
    ) -> Result<Response<TaskPushNotificationConfig>, Status> {
        Ok(Response::new(request.into_inner()))
    }

    async fn get_task_push_notification_config(
        &self,
        _: Request<GetTaskPushNotificationConfigRequest>,
    ) -> Result<Response<TaskPushNotificationConfig>, Status> {
        Err(Status::unimplemented("no"))
    }

    async fn list_task_push_notification_configs(
        &self,
        _: Request<ListTaskPushNotificationConfigsRequest>,
    ) -> Result<Response<ListTaskPushNotificationConfigsResponse>, Status> {
        Ok(Response::new(ListTaskPushNotificationConfigsResponse::default()))
    }

    async fn get_extended_agent_card(
        &self,
        _: Request<GetExtendedAgentCardRequest>,
    ) -> Result<Response<AgentCard>, Status> {
        Ok(Response::new(AgentCard { name: "more".into(), ..AgentCard::default() }))
    }

    async fn delete_task_push_notification_config(
        &self,
        _: Request<DeleteTaskPushNotificationConfigRequest>,
    ) -> Result<Response<()>, Status> {
        Ok(Response::new(()))
    }
}

struct World {
    grpc: Grpc,
    card: Fake,
    address: SocketAddr,
    _serving: JoinSet<()>,
}

async fn world() -> World {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let grpc = Grpc::default();
    let service = A2aServiceServer::new(grpc.clone());
    let mut serving = JoinSet::new();
    serving.spawn(async move {
        let server = tonic::transport::Server::builder().add_service(service);
        server.serve_with_incoming(TcpListenerStream::new(listener)).await.unwrap();
    });
    let card = Fake::raw(move |seen, _, _| {
        if !seen.path.starts_with("/.well-known") {
            return answer(404, "text/plain", "");
        }
        let interface = json!({ "url": address.to_string(), "protocolBinding": "GRPC", "protocolVersion": "1.0", "tenant": "acme" });
        let capabilities = json!({ "streaming": true });
        json_answer(200, &json!({ "name": "g", "supportedInterfaces": [interface], "capabilities": capabilities }))
    })
    .await;
    World { grpc, card, address, _serving: serving }
}

impl World {
    async fn agent(&self, options: Options) -> Agent {
        client(options).agent(&self.card.url(), &[Binding::Grpc]).await.unwrap()
    }
}

#[tokio::test]
async fn a_call_carries_its_metadata_and_a_status_its_details() {
    let world = world().await;
    let options = Options {
        credentials: Some(Credentials::bearer("s3cret").unwrap()),
        origins: Origins::default().allow(&format!("http://{}", world.address)).unwrap(),
        ..Options::default()
    };
    let agent = world.agent(options).await;
    let call =
        Call { idempotency_key: Some("k".into()), extensions: vec!["urn:a".into()], ..Call::default() };
    let get = |id: &str| GetTaskRequest { id: id.into(), ..GetTaskRequest::default() };
    assert_eq!(agent.get_task(get("t1"), &call).await.unwrap().body.id, "t1");
    let (_, tenant, metadata) = world.grpc.seen.lock().unwrap()[0].clone();
    assert_eq!(tenant, "acme");
    for (name, value) in [
        ("a2a-version", "1.0"),
        ("a2a-extensions", "urn:a"),
        ("idempotency-key", "k"),
        ("authorization", "Bearer s3cret"),
    ] {
        assert_eq!(metadata.get(name).unwrap(), value);
    }

    let error = agent.get_task(get("other"), &call).await.unwrap_err();
    assert_eq!((error.kind(), error.fault().metadata["taskId"].as_str()), (Kind::TaskNotFound, "x"));
    assert_eq!(agent.get_task(get("plain"), &call).await.unwrap_err().kind(), Kind::TaskNotFound);
    let error = agent.send(message("x"), &call).await.unwrap_err();
    assert_eq!((error.kind(), error.retry_after_ms()), (Kind::Exhausted, Some(1_500)));
    let error = agent.cancel_task(CancelTaskRequest::default(), &call).await.unwrap_err();
    assert_eq!(error.kind(), Kind::TaskNotCancelable);
    let error =
        agent.get_push_config(GetTaskPushNotificationConfigRequest::default(), &call).await.unwrap_err();
    assert_eq!(error.kind(), Kind::PushNotificationNotSupported);
    let error = agent.list_tasks(ListTasksRequest::default(), &call).await.unwrap_err();
    assert!(error.to_string().contains("too large") || error.to_string().contains("limit"), "{error:?}");
    agent.delete_push_config(DeleteTaskPushNotificationConfigRequest::default(), &call).await.unwrap();
    let card = agent.extended_card(GetExtendedAgentCardRequest::default(), &call).await.unwrap();
    assert_eq!(card.body.name, "more");
}

#[tokio::test]
async fn a_stream_that_breaks_is_taken_up_again_with_the_token_it_brought() {
    let world = world().await;
    let agent = world
        .agent(Options {
            origins: Origins::default().allow(&format!("http://{}", world.address)).unwrap(),
            ..Options::default()
        })
        .await;
    let events: Vec<_> = agent.stream(message("x"), &Call::default()).await.unwrap().collect().await;
    let states: Vec<_> = events
        .into_iter()
        .map(|event| match event.unwrap().body.payload {
            Some(Payload::Task(task)) => task.status.unwrap().state(),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(states, [TaskState::Working, TaskState::Working, TaskState::Completed]);
    let seen = world.grpc.seen.lock().unwrap();
    assert_eq!((seen[1].0.as_str(), seen[1].1.as_str()), ("subscribe", "acme"));
    assert_eq!(seen[1].2.get("task-access-token").unwrap(), "for-t1");
}

#[tokio::test]
async fn nobody_there_is_unreachable_and_another_protocol_is_no_agent() {
    let World { card, grpc: _, address: _, _serving } = world().await;
    let agent = client(Options::default()).agent(&card.url(), &[]).await.unwrap();
    drop(_serving);
    let get = || GetTaskRequest { id: "t1".into(), ..GetTaskRequest::default() };
    let error = loop {
        match client(Options::default())
            .connect(agent.card().clone(), &[])
            .unwrap()
            .get_task(get(), &Call::default())
            .await
        {
            Err(error) if matches!(error.why, Why::Unreachable(_)) => break error,
            _ => tokio::task::yield_now().await,
        }
    };
    assert!(!error.may_have_run());
    let http = card.address;
    let only_http = Fake::raw(move |_, _, _| {
        let interface =
            json!({ "url": http.to_string(), "protocolBinding": "GRPC", "protocolVersion": "1.0" });
        json_answer(200, &json!({ "name": "g", "supportedInterfaces": [interface] }))
    })
    .await;
    let agent = client(Options::default()).agent(&only_http.url(), &[]).await.unwrap();
    assert!(agent.get_task(get(), &Call::default()).await.is_err());
}
