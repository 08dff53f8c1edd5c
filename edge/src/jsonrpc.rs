//! `POST /a2a`: the JSON-RPC binding of A2A v1.0 §9 over the shared operations in [`crate::a2a`].
//!
//! Every answer is a JSON-RPC object, whatever went wrong. HTTP 200 carries answers and faults of calls; other statuses
//! say that the call never got as far: 403 (host, origin), 413, 415, 408 (body), 429 (rate, room).
//!
//! Two choices the standard leaves open: a batch is refused as a whole, and of notifications (no `id`) only those that
//! act on something are run, to the point where it is on disk; a stream without a reader is not begun. A notification is
//! answered 204 without a body either way.

mod envelope;
mod error;
mod method;
mod streamed;

use std::sync::Arc;
use std::time::Instant;

use axum::body::Body;
use axum::extract::{Request, State};
use http::header::{ALLOW, CONTENT_ENCODING, CONTENT_TYPE};
use http::request::Parts;
use http::{HeaderMap, HeaderValue, Response, StatusCode};
use tracing::{Instrument, Span, field};
use weft_chassis::trace;
use weft_core::{Fault, Kind};
use weft_proto::a2a::SendMessageRequest;
use weft_proto::a2a::send_message_response::Payload;

use crate::caller::Caller;
use crate::edge::{Edge, peer_of};
use crate::{a2a, body, json, plain};
use envelope::{Envelope, Id};
pub(crate) use error::Refusal;
use method::Method;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Serves one request.
pub(crate) async fn serve(State(edge): State<Arc<Edge>>, request: Request) -> Response<Body> {
    let began = Instant::now();
    let (parts, body) = request.into_parts();
    // Held until the answer is there; a stream then holds a permit of its own.
    let admitted = edge.limits().rate(peer_of(&parts.extensions)).and_then(|()| edge.limits().call());
    let _permit = match admitted {
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
    call(&edge, &parts, &envelope, began).await
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
    let retry_after = plain::retry_after(&fault);
    let mut answer = refused(Id::NULL, &fault.into());
    *answer.status_mut() = status;
    answer.headers_mut().extend(retry_after);
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
    let Some(given) = headers.get(CONTENT_TYPE) else { return Ok(()) };
    let essence = given.to_str().unwrap_or_default().split(';').next().unwrap_or_default().trim();
    if essence.eq_ignore_ascii_case("application/json")
        || essence.eq_ignore_ascii_case("application/a2a+json")
    {
        return Ok(());
    }
    let fault = Fault::new(Kind::ContentTypeNotSupported, "the body must be application/json");
    Err((StatusCode::OK, fault))
}

/// Runs one call in its span and counts it.
async fn call(edge: &Arc<Edge>, parts: &Parts, envelope: &Envelope<'_>, began: Instant) -> Response<Body> {
    let Some(method) = Method::find(&envelope.method) else {
        let refusal = Refusal::Method(envelope.method.clone().into_owned());
        edge.counters().called("unknown", refusal.reason(), began.elapsed());
        return envelope.id.map_or_else(unanswered, |id| refused(id, &refusal));
    };
    let span = span_of(method, &parts.headers);
    let outcome = run(edge, parts, method, envelope).instrument(span.clone()).await;
    let label = match &outcome {
        Ok(_) => "ok",
        Err(refusal) => refusal.reason(),
    };
    edge.counters().called(method.name(), label, began.elapsed());
    match (outcome, envelope.id) {
        (Ok(answer), Some(_)) => answer,
        (Ok(_), None) => unanswered(),
        (Err(refusal), id) => {
            record(&span, &refusal);
            id.map_or_else(unanswered, |id| refused(id, &refusal))
        }
    }
}

async fn run(
    edge: &Arc<Edge>,
    parts: &Parts,
    method: Method,
    envelope: &Envelope<'_>,
) -> Result<Response<Body>, Refusal> {
    let caller = Caller::of(parts)?;
    let id = match envelope.id {
        Some(id) => id,
        None if method.acts() => Id::NULL,
        None => return Ok(unanswered()),
    };
    match method {
        Method::SendMessage => {
            let mut request: SendMessageRequest = params(envelope)?;
            if envelope.id.is_none() {
                request.configuration.get_or_insert_default().return_immediately = true;
            }
            let sent = a2a::send(edge, &caller, request).await?;
            if let Some(Payload::Task(task)) = &sent.payload {
                note_task(&task.id);
            }
            answered(id, &sent)
        }
        Method::GetTask => {
            let task = a2a::get(edge, &caller, params(envelope)?).await?;
            note_task(&task.id);
            answered(id, &task)
        }
        Method::ListTasks => answered(id, &a2a::list(edge, &caller, params(envelope)?).await?),
        Method::CancelTask => {
            let task = a2a::cancel(edge, &caller, params(envelope)?).await?;
            note_task(&task.id);
            answered(id, &task)
        }
        Method::PushConfig => Err(a2a::push_not_supported().into()),
        Method::GetExtendedAgentCard => Err(a2a::no_extended_card().into()),
        Method::SendStreamingMessage => streamed::send(edge, &caller, id, params(envelope)?).await,
        Method::SubscribeToTask => streamed::subscribe(edge, &caller, id, params(envelope)?).await,
    }
}

/// The parameters of a call, as the message of its method.
fn params<T: DeserializeOwned>(envelope: &Envelope<'_>) -> Result<T, Fault> {
    let text = envelope.params.map_or("{}", serde_json::value::RawValue::get);
    if !text.starts_with('{') {
        return Err(Fault::invalid("params", "must be an object"));
    }
    json::decode(text)
}

/// `{"jsonrpc":"2.0","id":…,"result":` behind what is in `out`.
fn begin_result(id: Id<'_>, out: &mut Vec<u8>) {
    out.extend_from_slice(br#"{"jsonrpc":"2.0","id":"#);
    out.extend_from_slice(id.as_str().as_bytes());
    out.extend_from_slice(br#","result":"#);
}

fn answered<T: Serialize>(id: Id<'_>, result: &T) -> Result<Response<Body>, Refusal> {
    let mut out = Vec::with_capacity(1_024);
    begin_result(id, &mut out);
    json::encode(result, &mut out)?;
    out.push(b'}');
    Ok(json_answer(out))
}

fn refused(id: Id<'_>, refusal: &Refusal) -> Response<Body> {
    json_answer(refusal.envelope(id))
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

/// A server span that continues the caller's trace (OpenTelemetry RPC conventions). It never holds content. A read
/// reaches no node and changes nothing: it is traced only as a part of its caller's trace.
fn span_of(method: Method, headers: &HeaderMap) -> Span {
    let is_traced = trace::HEADERS.iter().any(|name| headers.contains_key(*name));
    if !is_traced && matches!(method, Method::GetTask | Method::ListTasks) {
        return Span::none();
    }
    let name = method.name();
    let span = tracing::info_span!(
        target: "weft::edge",
        "a2a",
        otel.name = format_args!("a2a {name}"),
        otel.kind = "server",
        otel.status_code = field::Empty,
        rpc.system.name = "jsonrpc",
        rpc.method = name,
        rpc.response.status_code = field::Empty,
        error.r#type = field::Empty,
        http.request.method = "POST",
        http.route = "/a2a",
        weft.task.id = field::Empty,
    );
    if is_traced {
        trace::adopt(&span, headers);
    }
    span
}

fn note_task(id: &str) {
    Span::current().record("weft.task.id", id);
}

/// A fault inside HTTP 200 is a fault all the same. Texts may hold what a caller wrote, so only codes are kept.
fn record(span: &Span, refusal: &Refusal) {
    span.record("otel.status_code", "ERROR");
    span.record("error.type", refusal.reason());
    span.record("rpc.response.status_code", refusal.code());
}
