//! One edge over a scripted store and catalog.

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use futures::stream::{self, BoxStream, StreamExt};
use http::{HeaderMap, Request, Response, StatusCode};
use http_body_util::BodyExt;
use serde_json::Value;
use tokio::sync::watch;
use tonic::service::Routes;
use tonic::{Status, async_trait};
use tower::ServiceExt;
use weft_chassis::{Env, peer};
use weft_edge::{Settings, Upstreams};
use weft_proto::weft::capability::Target;
use weft_proto::weft::catalog_server::{Catalog, CatalogServer};
use weft_proto::weft::signer_server::{Signer, SignerServer};
use weft_proto::weft::tasks_server::TasksServer;
use weft_proto::weft::{
    Capability, JwksRequest, JwksResponse, MeshInfo, Node, ReportRequest, ReportResponse, SignCardRequest,
    SignCardResponse, SignRequest, SignResponse, Snapshot, ToolTarget, VerifyRequest, VerifyResponse,
    WatchRequest,
};
use weft_proto::weft::{UnwrapRequest, UnwrapResponse, WrapRequest, WrapResponse};
use weft_proto::wkt::Timestamp;

use crate::store::{Script, Store};

pub(crate) struct World {
    pub(crate) env: Env,
    pub(crate) script: Arc<Script>,
    pub(crate) catalog: watch::Sender<Snapshot>,
    router: Router,
}

/// An answer, read to its end.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) text: String,
}

struct Declared(watch::Receiver<Snapshot>);

#[async_trait]
impl Catalog for Declared {
    type WatchStream = BoxStream<'static, Result<Snapshot, Status>>;

    async fn watch(
        &self,
        _: tonic::Request<WatchRequest>,
    ) -> Result<tonic::Response<Self::WatchStream>, Status> {
        let mut receiver = self.0.clone();
        receiver.mark_changed();
        let snapshots = stream::unfold(receiver, |mut receiver| async move {
            receiver.changed().await.ok()?;
            let now = receiver.borrow_and_update().clone();
            Some((Ok(now), receiver))
        });
        Ok(tonic::Response::new(snapshots.boxed()))
    }

    async fn report(
        &self,
        _: tonic::Request<ReportRequest>,
    ) -> Result<tonic::Response<ReportResponse>, Status> {
        Err(Status::unimplemented("the edge never reports"))
    }
}

pub(crate) fn declared() -> Snapshot {
    let capability = |id: &str, name: &str, example: &str, node: &str| Capability {
        id: id.into(),
        name: name.into(),
        description: format!("{name}, described"),
        examples: vec![example.into()],
        output_modes: vec!["application/json".into(), "text/plain".into()],
        target: Some(Target::Tool(ToolTarget { node: node.into(), tool: "t".into() })),
        ..Capability::default()
    };
    Snapshot {
        revision: 1,
        mesh: Some(MeshInfo {
            name: "Sample mesh".into(),
            description: "for tests".into(),
            version: "1.2.3".into(),
            ..MeshInfo::default()
        }),
        nodes: vec![Node { id: "lan".into(), agent_backed: true, ..Node::default() }],
        capabilities: vec![
            capability("sector.movement", "Sector movement", "Which sectors moved most?", "scanner"),
            capability("network.state", "Network state", "What is the state of the local network?", "lan"),
        ],
        changed: Some(Timestamp { seconds: 1_767_225_600, nanos: 0 }),
    }
}

pub(crate) fn upstreams(script: &Arc<Script>, snapshots: watch::Receiver<Snapshot>) -> Upstreams {
    Upstreams {
        tasks: peer::local(Routes::new(TasksServer::new(Store(Arc::clone(script))))),
        catalog: peer::local(Routes::new(CatalogServer::new(Declared(snapshots)))),
        signer: peer::local(Routes::new(SignerServer::new(Keys))),
    }
}

/// A signer that has no key and knows nobody.
pub(crate) struct Keys;

#[async_trait]
impl Signer for Keys {
    async fn sign(&self, _: tonic::Request<SignRequest>) -> Result<tonic::Response<SignResponse>, Status> {
        Err(Status::unimplemented("the edge never signs"))
    }

    async fn verify(
        &self,
        _: tonic::Request<VerifyRequest>,
    ) -> Result<tonic::Response<VerifyResponse>, Status> {
        Err(Status::unimplemented("callers bring no seals yet"))
    }

    async fn jwks(&self, _: tonic::Request<JwksRequest>) -> Result<tonic::Response<JwksResponse>, Status> {
        Ok(tonic::Response::new(JwksResponse { json: r#"{"keys":[]}"#.into() }))
    }

    async fn sign_card(
        &self,
        _: tonic::Request<SignCardRequest>,
    ) -> Result<tonic::Response<SignCardResponse>, Status> {
        Err(Status::unimplemented("no card is signed here"))
    }

    async fn wrap(&self, _: tonic::Request<WrapRequest>) -> Result<tonic::Response<WrapResponse>, Status> {
        Err(Status::unimplemented("no secret is kept here"))
    }

    async fn unwrap(
        &self,
        _: tonic::Request<UnwrapRequest>,
    ) -> Result<tonic::Response<UnwrapResponse>, Status> {
        Err(Status::unimplemented("no secret is kept here"))
    }
}

impl World {
    pub(crate) async fn new() -> World {
        World::with(|_| {}).await
    }

    /// With settings changed from their defaults; ready to serve.
    pub(crate) async fn with(change: impl FnOnce(&mut Settings)) -> World {
        let mut settings = Settings::default();
        change(&mut settings);
        let bound = settings.http.parse().unwrap();
        let (env, script) = (Env::system(), Arc::new(Script::default()));
        let (catalog, snapshots) = watch::channel(declared());
        let router = weft_edge::router(settings, bound, &upstreams(&script, snapshots), &env).unwrap();
        let world = World { env, catalog, ..World::over(router, script) };
        world.until(|card| card.status == StatusCode::OK).await;
        world
    }

    /// Below a path prefix.
    pub(crate) async fn with_prefix(base: &str) -> World {
        let settings = Settings { base_path: base.into(), ..Settings::default() };
        let bound = settings.http.parse().unwrap();
        let (env, script) = (Env::system(), Arc::new(Script::default()));
        let (catalog, snapshots) = watch::channel(declared());
        let router = weft_edge::router(settings, bound, &upstreams(&script, snapshots), &env).unwrap();
        let world = World { env, catalog, ..World::over(router, script) };
        let card = format!("{base}/.well-known/agent-card.json");
        while world.get(&card).await.status != StatusCode::OK {
            tokio::task::yield_now().await;
        }
        world
    }

    /// What an edge says that does not start.
    pub(crate) fn refused(change: impl FnOnce(&mut Settings)) -> String {
        let mut settings = Settings::default();
        change(&mut settings);
        let bound = settings.http.parse().unwrap();
        let (_, snapshots) = watch::channel(declared());
        let upstreams = upstreams(&Arc::new(Script::default()), snapshots);
        weft_edge::router(settings, bound, &upstreams, &Env::system()).unwrap_err().to_string()
    }

    /// Over a router that was made elsewhere.
    pub(crate) fn over(router: Router, script: Arc<Script>) -> World {
        World { env: Env::system(), script, catalog: watch::channel(Snapshot::default()).0, router }
    }

    /// Asks for the card until it is as wanted; the catalog is watched by a task of its own.
    pub(crate) async fn until(&self, wanted: impl Fn(&Reply) -> bool) -> Reply {
        for _ in 0..10_000 {
            let card = self.get("/.well-known/agent-card.json").await;
            if wanted(&card) {
                return card;
            }
            tokio::task::yield_now().await;
        }
        panic!("the card never became as wanted");
    }

    /// The edge as a gRPC server.
    pub(crate) fn peer(&self) -> weft_chassis::Peer {
        let named = axum::middleware::map_request(|mut request: Request<Body>| async move {
            request.headers_mut().insert("host", http::HeaderValue::from_static("127.0.0.1:8420"));
            request
        });
        peer::local(Routes::from(self.router.clone().layer(named)))
    }

    /// The store refuses everything from now on.
    pub(crate) fn script_refusals(&self, status: &Status) {
        *crate::store::lock(&self.script.refuse) = Some(status.clone());
    }

    /// The catalog declares an extension that callers must activate.
    pub(crate) async fn require_extension(&self, uri: &str) {
        self.catalog.send_modify(|snapshot| {
            snapshot.revision += 1;
            let extension = weft_proto::a2a::AgentExtension {
                uri: uri.into(),
                required: true,
                ..weft_proto::a2a::AgentExtension::default()
            };
            snapshot.mesh.get_or_insert_default().extensions.push(extension);
        });
        self.until(|card| card.text.contains(uri)).await;
    }

    /// An answer that is still open.
    pub(crate) async fn open(&self, request: Request<Body>) -> Response<Body> {
        self.router.clone().oneshot(request).await.unwrap()
    }

    pub(crate) async fn send(&self, request: Request<Body>) -> Reply {
        let (parts, body) = self.open(request).await.into_parts();
        let bytes = body.collect().await.unwrap().to_bytes();
        let text = String::from_utf8(bytes.to_vec()).unwrap();
        Reply { status: parts.status, headers: parts.headers, text }
    }

    pub(crate) async fn get(&self, path: &str) -> Reply {
        self.send(get(path).body(Body::empty()).unwrap()).await
    }

    /// A body posted to `/a2a`, whatever it is.
    pub(crate) async fn post(&self, body: impl Into<Body>) -> Reply {
        self.send(post().body(body.into()).unwrap()).await
    }

    /// A call with id 1; its whole answer.
    pub(crate) async fn call(&self, method: &str, params: Value) -> Value {
        let reply = self.post(rpc(method, &params)).await;
        let answer = reply.json();
        // What every client of HTTP acts on by itself has a status of its own.
        let status = match answer["error"]["code"].as_i64() {
            Some(-32052) => StatusCode::UNAUTHORIZED,
            Some(-32053) => StatusCode::FORBIDDEN,
            Some(-32055) => StatusCode::TOO_MANY_REQUESTS,
            _ => StatusCode::OK,
        };
        assert_eq!((reply.status, reply.header("content-type")), (status, "application/json"), "{reply:?}");
        answer
    }

    /// The error code of a call.
    pub(crate) async fn code(&self, method: &str, params: Value) -> i64 {
        let answer = self.call(method, params).await;
        answer["error"]["code"].as_i64().unwrap_or_else(|| panic!("no error: {answer}"))
    }
}

impl Reply {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|e| panic!("{e}: {self:?}"))
    }

    /// A header that is there once, or nothing.
    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }
}

pub(crate) fn get(path: &str) -> http::request::Builder {
    Request::get(path).header("host", "127.0.0.1:8420")
}

pub(crate) fn post() -> http::request::Builder {
    Request::post("/a2a").header("host", "127.0.0.1:8420").header("content-type", "application/json")
}

pub(crate) fn rpc(method: &str, params: &Value) -> String {
    serde_json::json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string()
}

/// The parameters of a plain message.
pub(crate) fn hello(text: &str) -> Value {
    serde_json::json!({"message": {"messageId": "m1", "role": "ROLE_USER", "parts": [{"text": text}]}})
}
