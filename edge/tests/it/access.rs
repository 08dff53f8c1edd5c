//! Who calls: credentials, scopes, what the anonymous may do, the console's session. Over a scripted Access service.

mod anonymous;
mod audit;
mod cards;
mod certificates;
mod credentials;
mod foreign;
mod matrix;
mod rates;
mod session;
mod start;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use axum::body::Body;
use futures::stream::{self, BoxStream, StreamExt};
use http::{Request, StatusCode};
use serde_json::Value;
use tokio::sync::{Semaphore, watch};
use tonic::service::Routes;
use tonic::{Response, Status, async_trait};
use weft_chassis::{Env, peer};
use weft_core::scope::{ADMIN, READ, WRITE};
use weft_edge::{Settings, Upstreams};
use weft_proto::weft::access_server::{Access, AccessServer};
use weft_proto::weft::audit_server::{Audit, AuditServer};
use weft_proto::weft::signer_server::SignerServer;
use weft_proto::weft::{
    AccessPolicy, Allowance, AuditEvent, AuditRequest, AuthenticateRequest, AuthenticateResponse,
    CredentialRequest, CredentialResponse, Principal, RecordRequest, RecordResponse, Snapshot,
    WatchAccessRequest,
};

use crate::store::{Script, lock};
use crate::world::{Keys, Reply, World, declared, post, rpc, upstreams};

/// Knows a handful of principals by fixed tokens.
#[derive(Clone)]
struct Gate(Arc<Book>);

struct Book {
    policy: watch::Receiver<AccessPolicy>,
    asked: Mutex<Vec<AuthenticateRequest>>,
    away: AtomicBool,
    /// The one client certificate that is known (DER).
    certificate: Mutex<Option<Vec<u8>>>,
}

/// A record of security events.
#[derive(Clone)]
struct Record {
    events: Arc<Mutex<Vec<AuditEvent>>>,
    /// Whoever holds its one permit keeps the record waiting; closed, it takes nothing.
    gate: Arc<Semaphore>,
}

/// An edge with such a gate.
struct Guarded {
    world: World,
    gate: Gate,
    record: Record,
    policy: watch::Sender<AccessPolicy>,
    catalog: watch::Sender<Snapshot>,
}

fn principal(bearer: &str) -> Option<Principal> {
    let of = |name: &str, scopes: &[&str], capabilities: &[&str]| Principal {
        owner: format!("p:{name}"),
        name: name.to_owned(),
        scopes: scopes.iter().map(|&scope| scope.to_owned()).collect(),
        capabilities: capabilities.iter().map(|&id| id.to_owned()).collect(),
        ..Principal::default()
    };
    let allowance = |principal: Principal, allowance| Principal { allowance: Some(allowance), ..principal };
    Some(match bearer {
        "ci-token" => of("ci", &[READ, WRITE], &["*"]),
        "other-token" => of("other", &[READ, WRITE], &["*"]),
        "reader-token" => of("reader", &[READ], &["*"]),
        "writer-token" => of("writer", &[WRITE], &["*"]),
        "admin-token" => of("root", &[ADMIN], &["*"]),
        "narrow-token" => of("narrow", &[READ, WRITE], &["network.state"]),
        "slow-token" => {
            let own = Allowance { messages_per_minute: 2, streams_max: 1, ..Allowance::default() };
            allowance(of("slow", &[READ, WRITE], &["*"]), own)
        }
        "small-token" => {
            let own = Allowance { tasks_max: 5, bytes_max: 6, context_turns_max: 7, ..Allowance::default() };
            allowance(of("small", &[READ, WRITE], &["*"]), own)
        }
        _ => return None,
    })
}

#[async_trait]
impl Access for Gate {
    type WatchStream = BoxStream<'static, Result<AccessPolicy, Status>>;

    async fn authenticate(
        &self,
        request: tonic::Request<AuthenticateRequest>,
    ) -> Result<Response<AuthenticateResponse>, Status> {
        let request = request.into_inner();
        lock(&self.0.asked).push(request.clone());
        if self.0.away.load(Ordering::SeqCst) {
            return Err(Status::unavailable("away"));
        }
        let mut shown = Vec::new();
        if !request.bearer.is_empty() {
            shown.push(principal(&request.bearer));
        }
        if !request.api_key.is_empty() {
            shown.push(principal("ci-token").filter(|_| request.api_key == "ci-key"));
        }
        if !request.certificate.is_empty() {
            let known = lock(&self.0.certificate).as_ref() == Some(&request.certificate);
            shown.push(principal("ci-token").filter(|_| known));
        }
        let is_sealed = request.sealed.is_some();
        if let Some(sealed) = request.sealed {
            let good = sealed.headers.iter().any(|h| h.name == "signature" && h.value == "good");
            shown.push(principal("ci-token").filter(|_| good));
        }
        let first = shown.first().cloned().flatten();
        match first.filter(|first| shown.iter().flatten().all(|p| p.owner == first.owner)) {
            Some(principal) if shown.iter().all(Option::is_some) => {
                let keep_ms = if is_sealed { 0 } else { 60_000 };
                Ok(Response::new(AuthenticateResponse { principal: Some(principal), keep_ms }))
            }
            _ => Err(Status::unauthenticated("which of them is bad is nobody's business")),
        }
    }

    async fn watch(
        &self,
        _: tonic::Request<WatchAccessRequest>,
    ) -> Result<Response<Self::WatchStream>, Status> {
        let mut policy = self.0.policy.clone();
        policy.mark_changed();
        let policies = stream::unfold(policy, |mut policy| async move {
            policy.changed().await.ok()?;
            let now = policy.borrow_and_update().clone();
            Some((Ok(now), policy))
        });
        Ok(Response::new(policies.boxed()))
    }

    async fn credential(
        &self,
        _: tonic::Request<CredentialRequest>,
    ) -> Result<Response<CredentialResponse>, Status> {
        Err(Status::unimplemented("the edge asks for no secret"))
    }
}

#[async_trait]
impl Audit for Record {
    type ReadStream = BoxStream<'static, Result<AuditEvent, Status>>;

    async fn record(
        &self,
        request: tonic::Request<RecordRequest>,
    ) -> Result<Response<RecordResponse>, Status> {
        let _turn = self.gate.acquire().await.map_err(|_| Status::internal("the disk is full"))?;
        lock(&self.events).extend(request.into_inner().events);
        Ok(Response::new(RecordResponse {}))
    }

    async fn read(&self, _: tonic::Request<AuditRequest>) -> Result<Response<Self::ReadStream>, Status> {
        Err(Status::unimplemented("the edge reads no record"))
    }
}

/// The policy of a mesh whose callers need credentials.
fn closed() -> AccessPolicy {
    AccessPolicy { credentials: true, version: 1, ..AccessPolicy::default() }
}

/// The same, with one capability for everybody.
fn ajar() -> AccessPolicy {
    AccessPolicy { anonymous_capabilities: vec!["network.state".into()], ..closed() }
}

/// The services behind an edge, with this policy.
fn behind(
    script: &Arc<Script>,
    policy: AccessPolicy,
) -> (Upstreams, Gate, watch::Sender<AccessPolicy>, watch::Sender<Snapshot>) {
    let record = Record { events: Arc::default(), gate: Arc::new(Semaphore::new(1)) };
    recorded(script, policy, record)
}

/// The same with a record that a test reads.
fn recorded(
    script: &Arc<Script>,
    policy: AccessPolicy,
    record: Record,
) -> (Upstreams, Gate, watch::Sender<AccessPolicy>, watch::Sender<Snapshot>) {
    let (sender, policy) = watch::channel(policy);
    let gate = Gate(Arc::new(Book {
        policy,
        asked: Mutex::default(),
        away: AtomicBool::new(false),
        certificate: Mutex::default(),
    }));
    let (catalog, snapshots) = watch::channel(declared());
    let mut upstreams = upstreams(script, snapshots);
    let signer = Routes::new(SignerServer::new(Keys)).add_service(AccessServer::new(gate.clone()));
    let signer = signer.add_service(AuditServer::new(record));
    upstreams.signer = peer::local(signer);
    (upstreams, gate, sender, catalog)
}

impl Guarded {
    async fn new(policy: AccessPolicy) -> Guarded {
        Guarded::with(policy, |_| {}).await
    }

    async fn with(policy: AccessPolicy, change: impl FnOnce(&mut Settings)) -> Guarded {
        let mut settings = Settings::default();
        change(&mut settings);
        let script = Arc::new(Script::default());
        let record = Record { events: Arc::default(), gate: Arc::new(Semaphore::new(1)) };
        let (upstreams, gate, policy, catalog) = recorded(&script, policy, record.clone());
        let bound = settings.http.parse().unwrap();
        let router = weft_edge::router(settings, bound, &upstreams, &Env::system()).unwrap();
        let world = World::over(router, script);
        world.until(|card| card.status == StatusCode::OK).await;
        Guarded { world, gate, record, policy, catalog }
    }

    /// A JSON-RPC call with these headers.
    async fn call(&self, headers: &[(&str, &str)], method: &str, params: &Value) -> Reply {
        self.world.send(with(post(), headers).body(rpc(method, params).into()).unwrap()).await
    }

    /// As the bearer of a token.
    async fn call_as(&self, token: &str, method: &str, params: &Value) -> Reply {
        self.call(&[("authorization", &format!("Bearer {token}"))], method, params).await
    }

    /// What the signer was asked since the last look.
    fn asked(&self) -> Vec<AuthenticateRequest> {
        std::mem::take(&mut *lock(&self.gate.0.asked))
    }

    /// Waits until the edge has heard of a change, told by the status of such a call.
    async fn until_status(&self, token: &str, wanted: StatusCode) {
        for _ in 0..10_000 {
            if self.call_as(token, "GetTask", &serde_json::json!({"id": "t1"})).await.status == wanted {
                return;
            }
            tokio::task::yield_now().await;
        }
        panic!("the edge never answered {wanted}");
    }

    /// Whether nothing at all has reached the store.
    fn is_untouched(&self) -> bool {
        let script = &self.world.script;
        lock(&script.submitted).is_empty()
            && lock(&script.got).is_empty()
            && lock(&script.listed).is_empty()
            && lock(&script.cancelled).is_empty()
            && lock(&script.subscribed).is_empty()
    }
}

fn with(request: http::request::Builder, headers: &[(&str, &str)]) -> http::request::Builder {
    headers.iter().fold(request, |request, (name, value)| request.header(*name, *value))
}

/// A gRPC call with an empty message.
fn grpc(path: &str, headers: &[(&str, &str)]) -> Request<Body> {
    let request =
        Request::post(path).header("host", "127.0.0.1:8420").header("content-type", "application/grpc");
    with(request.header("te", "trailers"), headers).body(Body::from(vec![0; 5])).unwrap()
}
