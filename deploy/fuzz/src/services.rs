//! Stand-ins: each rpc has one answer, whatever it is asked.

use std::convert::Infallible;

use bytes::{BufMut, Bytes, BytesMut};
use futures::StreamExt;
use futures::stream::{self, BoxStream};
use http::{HeaderMap, HeaderValue, Request, Response};
use http_body::Frame;
use http_body_util::StreamBody;
use prost::Message;
use tonic::body::Body;
use tower::util::BoxCloneSyncService;
use weft_chassis::Peer;
use weft_proto::a2a::stream_response::Payload;
use weft_proto::a2a::{ListTasksResponse, StreamResponse, Task, TaskState, TaskStatus};
use weft_proto::weft::{Capability, MeshInfo, Node, Snapshot, TaskEvent, Tool, ToolTarget, capability};

/// A task store in which every task is completed.
pub(crate) fn tasks() -> Peer {
    peer(|method| {
        let task = || Task {
            id: "t1".into(),
            context_id: "c1".into(),
            status: Some(TaskStatus { state: TaskState::Completed.into(), ..TaskStatus::default() }),
            ..Task::default()
        };
        let event =
            || TaskEvent { seq: 1, body: Some(StreamResponse { payload: Some(Payload::Task(task())) }) };
        match method {
            "Submit" | "Subscribe" => Some((event().encode_to_vec(), true)),
            "Get" | "Cancel" => Some((task().encode_to_vec(), true)),
            "List" => Some((
                ListTasksResponse { tasks: vec![task()], ..ListTasksResponse::default() }.encode_to_vec(),
                true,
            )),
            "DeletePushConfig" | "SetPushConfig" | "GetPushConfig" | "ListPushConfigs" => {
                Some((Vec::new(), true))
            }
            _ => None,
        }
    })
}

/// A catalog of one node that takes everything.
pub(crate) fn catalog() -> Peer {
    peer(|method| {
        let target = ToolTarget { node: "play".into(), tool: "play.rules".into() };
        let snapshot = Snapshot {
            revision: 1,
            mesh: Some(MeshInfo {
                name: "m".into(),
                description: "d".into(),
                version: "1".into(),
                ..MeshInfo::default()
            }),
            nodes: vec![Node {
                id: "play".into(),
                name: "Play".into(),
                tools: vec![Tool { name: "play.rules".into(), description: "plays".into(), read_only: true }],
                ..Node::default()
            }],
            capabilities: vec![Capability {
                id: "play.rules".into(),
                name: "Play".into(),
                examples: vec!["echo".into()],
                phrases: vec!["*".into()],
                target: Some(capability::Target::Tool(target)),
                ..Capability::default()
            }],
            ..Snapshot::default()
        };
        // The stream stays open: it would be asked for again.
        (method == "Watch").then(|| (snapshot.encode_to_vec(), false))
    })
}

/// A service that has none of its rpcs.
pub(crate) fn nothing() -> Peer {
    peer(|_| None)
}

/// A gRPC service: by the name of the rpc, its only message and whether the answer ends then.
fn peer(answer: impl Fn(&str) -> Option<(Vec<u8>, bool)> + Clone + Send + Sync + 'static) -> Peer {
    let service = tower::service_fn(move |request: Request<Body>| {
        let method = request.uri().path().rsplit('/').next().unwrap_or_default().to_owned();
        let answered = answer(&method);
        async move { Ok::<_, Infallible>(response(answered)) }
    });
    BoxCloneSyncService::new(tower::ServiceExt::<Request<Body>>::map_err(service, |never| match never {}))
}

fn response(answered: Option<(Vec<u8>, bool)>) -> Response<Body> {
    let code = if answered.is_some() { "0" } else { "12" };
    let trailers = HeaderMap::from_iter([(
        http::HeaderName::from_static("grpc-status"),
        HeaderValue::from_static(code),
    )]);
    let end = stream::iter([Ok::<_, Infallible>(Frame::trailers(trailers))]);
    let frames: BoxStream<'static, _> = match answered {
        None => end.boxed(),
        Some((message, true)) => stream::iter([Ok(Frame::data(framed(&message)))]).chain(end).boxed(),
        Some((message, false)) => {
            stream::iter([Ok(Frame::data(framed(&message)))]).chain(stream::pending()).boxed()
        }
    };
    let mut response = Response::new(Body::new(StreamBody::new(frames)));
    response.headers_mut().insert("content-type", HeaderValue::from_static("application/grpc"));
    response
}

/// Not compressed, its length, the message.
fn framed(message: &[u8]) -> Bytes {
    let mut bytes = BytesMut::with_capacity(message.len() + 5);
    bytes.put_u8(0);
    bytes.put_u32(u32::try_from(message.len()).expect("a small message"));
    bytes.put_slice(message);
    bytes.freeze()
}
