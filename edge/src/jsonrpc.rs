//! `POST /a2a`: the JSON-RPC binding of A2A v1.0 §9, and of v0.3 beside it, over the shared operations in
//! [`crate::a2a`].
//!
//! Every answer is a JSON-RPC object, whatever went wrong. HTTP 200 carries answers and faults of calls; other statuses
//! say that the call never got as far: 413, 415, 408 (body); or what any client of HTTP acts on by itself: 401 and 403
//! (who calls, and from where), 429 (rate, room).
//!
//! Two choices the standard leaves open: a batch is refused as a whole, and of notifications (no `id`) only those that
//! act on something are run, to the point where it is on disk; a stream without a reader is not begun. A notification is
//! answered 204 without a body either way.

mod dialect;
mod envelope;
mod error;
mod streamed;

use std::sync::Arc;
use std::time::Instant;

use axum::body::Body;
use axum::extract::{Path, Request, State};
use http::header::{ALLOW, CONTENT_ENCODING, CONTENT_TYPE};
use http::{Extensions, HeaderMap, HeaderValue, Response, StatusCode};
use weft_core::{Fault, Kind};

use crate::a2a::{self, Call, Operation, Reply};
use crate::caller::{Caller, Version};
use crate::edge::Edge;
use crate::observe::{self, Binding, Refused};
use crate::{body, early, plain};
use dialect::Dialect;
use envelope::{Envelope, Id};
use error::Refusal;

/// What is known of a call beside its body.
struct Arrived {
    headers: HeaderMap,
    extensions: Extensions,
    query: Option<String>,
    /// Which agent the path names; empty: none.
    tenant: String,
}

/// Serves one request to the mesh, or to the agent that its parameters name.
pub(crate) async fn serve(State(edge): State<Arc<Edge>>, request: Request) -> Response<Body> {
    answer(edge, String::new(), request).await
}

/// Serves one request to the agent that the path names.
pub(crate) async fn serve_agent(
    State(edge): State<Arc<Edge>>,
    Path(tenant): Path<String>,
    request: Request,
) -> Response<Body> {
    answer(edge, tenant, request).await
}

async fn answer(edge: Arc<Edge>, tenant: String, request: Request) -> Response<Body> {
    let began = Instant::now();
    let (parts, body) = request.into_parts();
    // Held until the answer is there; a stream then holds a permit of its own.
    let _permit = match edge.limits().call() {
        Ok(permit) => permit,
        Err(fault) => return unread(&edge, StatusCode::TOO_MANY_REQUESTS, fault, began),
    };
    if let Err((status, fault)) = check_content(&parts.headers) {
        return unread(&edge, status, fault, began);
    }
    let body = match body::read(body, edge.body_bytes_max(), edge.body_read_time()).await {
        Ok(body) => body,
        Err(fault) => return unread(&edge, body::status(&fault), fault, began),
    };
    let envelope = match Envelope::read(&body) {
        Ok(envelope) => envelope,
        Err(malformed) => {
            let (id, refusal) = malformed.refusal();
            edge.counters().called("none", refusal.reason(), began.elapsed());
            return refused(id, &refusal);
        }
    };
    let query = parts.uri.query().map(str::to_owned);
    let arrived = Arrived { headers: parts.headers, extensions: parts.extensions, query, tenant };
    call(&edge, &arrived, &envelope, began).await
}

/// Answers every other HTTP method.
pub(crate) async fn only_post() -> Response<Body> {
    let mut answer = refused(Id::NULL, &Refusal::Request("use POST"));
    *answer.status_mut() = StatusCode::METHOD_NOT_ALLOWED;
    answer.headers_mut().insert(ALLOW, HeaderValue::from_static("POST, OPTIONS"));
    answer
}

/// A refusal under an HTTP status of its own, before there is an id to answer to.
pub(crate) fn refused_early(status: StatusCode, fault: Fault) -> Response<Body> {
    let mut answer = refused(Id::NULL, &fault.into());
    *answer.status_mut() = status;
    answer
}

fn unread(edge: &Edge, status: StatusCode, fault: Fault, began: Instant) -> Response<Body> {
    edge.counters().called("none", fault.kind.row().reason, began.elapsed());
    refused_early(status, fault)
}

/// JSON or nothing said about it; as it is, not compressed.
fn check_content(headers: &HeaderMap) -> Result<(), (StatusCode, Fault)> {
    if headers.get_all(CONTENT_ENCODING).iter().any(|v| !v.as_bytes().eq_ignore_ascii_case(b"identity")) {
        let text = "the body must not be compressed: send it without Content-Encoding";
        return Err((StatusCode::UNSUPPORTED_MEDIA_TYPE, Fault::new(Kind::ContentTypeNotSupported, text)));
    }
    if body::is_json(headers.get(CONTENT_TYPE)) {
        return Ok(());
    }
    let fault = Fault::new(Kind::ContentTypeNotSupported, "the body must be application/json");
    Err((StatusCode::OK, fault))
}

/// Runs one call in its span and counts it.
async fn call(
    edge: &Arc<Edge>,
    arrived: &Arrived,
    envelope: &Envelope<'_>,
    began: Instant,
) -> Response<Body> {
    let spoken = edge.spoken();
    let found = Version::said(&arrived.headers, arrived.query.as_deref(), spoken)
        .map_err(Refusal::from)
        .and_then(|said| Dialect::find(&envelope.method, said, spoken));
    let (dialect, operation) = match found {
        Ok(found) => found,
        Err(refusal) => {
            edge.counters().called("unknown", refusal.reason(), began.elapsed());
            return envelope.id.map_or_else(unanswered, |id| refused(id, &refusal));
        }
    };
    let id = match envelope.id {
        Some(id) => id,
        None if operation.acts() => Id::NULL,
        None => return unanswered(),
    };
    let work = run(edge, arrived, dialect, operation, envelope, id);
    let work = async { work.await.map_err(|fault| dialect.refusal(fault)) };
    let outcome = observe::call(
        edge,
        Binding::JsonRpc,
        operation,
        (&arrived.headers, &arrived.extensions),
        began,
        work,
    )
    .await;
    match (outcome, envelope.id) {
        (_, None) => unanswered(),
        (Ok(answer), Some(_)) => answer,
        (Err(refusal), Some(id)) => refused(id, &refusal),
    }
}

async fn run(
    edge: &Arc<Edge>,
    arrived: &Arrived,
    dialect: Dialect,
    operation: Operation,
    envelope: &Envelope<'_>,
    id: Id<'_>,
) -> Result<Response<Body>, Fault> {
    let caller = Caller::of(edge.env(), &arrived.headers, &arrived.extensions, operation)?;
    let mut call = dialect.read(operation, params(envelope)?)?.at(&arrived.tenant)?;
    if let (Call::SendMessage(request), None) = (&mut call, envelope.id) {
        request.configuration.get_or_insert_default().return_immediately = true;
    }
    observe::note_task(call.task_id());
    let (reply, activated) = a2a::handle(edge, &caller, call).await?;
    observe::note_task(reply.task_id());
    let mut answer = match reply {
        Reply::Stream(stream) => streamed::answer(id, dialect, stream),
        reply => answered(id, dialect, &reply)?,
    };
    answer.headers_mut().extend(activated.headers(&arrived.headers));
    Ok(answer)
}

/// The parameters of a call, as JSON text of an object.
fn params<'a>(envelope: &Envelope<'a>) -> Result<&'a str, Fault> {
    let text = envelope.params.map_or("{}", serde_json::value::RawValue::get);
    if text.starts_with('{') { Ok(text) } else { Err(Fault::invalid("params", "must be an object")) }
}

/// `{"jsonrpc":"2.0","id":…,"result":` behind what is in `out`.
fn begin_result(id: Id<'_>, out: &mut Vec<u8>) {
    out.extend_from_slice(br#"{"jsonrpc":"2.0","id":"#);
    out.extend_from_slice(id.as_str().as_bytes());
    out.extend_from_slice(br#","result":"#);
}

fn answered(id: Id<'_>, dialect: Dialect, reply: &Reply) -> Result<Response<Body>, Fault> {
    let mut out = Vec::with_capacity(1_024);
    begin_result(id, &mut out);
    dialect.write(reply, &mut out)?;
    out.push(b'}');
    Ok(json_answer(out))
}

fn refused(id: Id<'_>, refusal: &Refusal) -> Response<Body> {
    let mut answer = json_answer(refusal.envelope(id));
    if let Some(fault) = refusal.fault() {
        answer.headers_mut().extend(plain::advice(fault));
        if matches!(fault.kind, Kind::Unauthenticated | Kind::Denied | Kind::Exhausted) {
            *answer.status_mut() = early::status(fault);
        }
    }
    answer
}

fn json_answer(body: Vec<u8>) -> Response<Body> {
    let mut answer = Response::new(Body::from(body));
    answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    answer
}

fn unanswered() -> Response<Body> {
    let mut answer = Response::new(Body::empty());
    *answer.status_mut() = StatusCode::NO_CONTENT;
    answer
}
