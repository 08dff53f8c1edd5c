//! The node's routes: `POST /peer/invoke` and `POST /peer/cancel` (both sealed), `GET /peer/about` and `GET /healthz`.

use std::convert::Infallible;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::{DefaultBodyLimit, Request, State};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use bytes::Bytes;
use futures::StreamExt;
use http::header::{ACCEPT, CACHE_CONTROL, CONTENT_TYPE, RETRY_AFTER};
use http::request::Parts;
use http::{HeaderMap, HeaderValue, StatusCode};
use http_body_util::{BodyExt, Limited};
use tracing::field::Empty;
use tracing::{Instrument, Span};
use weft_chassis::trace;
use weft_proto::weft::{InvokeRequest, InvokeResult, invoke_event};
use weft_seal::{Body as SealedBody, IncomingCall, SealFault};

use crate::host::{Events, Host, NotRun, unix_seconds};
use crate::wire;

mod call;

use call::Call;

const INVOKE: &str = "/peer/invoke";
const CANCEL: &str = "/peer/cancel";

/// The routes of a host.
pub(crate) fn router(host: Host) -> Router {
    Router::new()
        .route(INVOKE, post(invoke))
        .route(CANCEL, post(cancel))
        .route("/peer/about", get(about))
        .route("/healthz", get(async || "ok"))
        // The body is read by hand, within the node's own bound.
        .layer(DefaultBodyLimit::disable())
        .with_state(host)
}

async fn about(State(host): State<Host>) -> Response {
    json(StatusCode::OK, wire::text(&host.about()))
}

async fn invoke(State(host): State<Host>, request: Request) -> Response {
    let (head, body) = request.into_parts();
    let span = span(&host, INVOKE, &head.headers);
    let events = wants_events(&head.headers);
    let opened = open(&host, &head, body).instrument(span.clone()).await;
    match opened {
        Ok(call) if events => stream(&host, call, span),
        Ok(call) => whole(call).instrument(span).await,
        Err(refusal) => refusal.into_response(&span),
    }
}

/// The task of a call that ran, or runs, was canceled.
async fn cancel(State(host): State<Host>, request: Request) -> Response {
    let (head, body) = request.into_parts();
    let span = span(&host, CANCEL, &head.headers);
    let canceled = async {
        let request = check(&host, CANCEL, &head, body).await?;
        Ok(host.cancel(&request).await)
    };
    match canceled.instrument(span.clone()).await {
        Ok(result) => {
            span.record("weft.outcome", if result.ok { "ok" } else { "error" });
            json(StatusCode::OK, wire::text(&result))
        }
        Err(refusal) => Refusal::into_response(refusal, &span),
    }
}

fn span(host: &Host, path: &str, headers: &HeaderMap) -> Span {
    let span = tracing::info_span!(
        target: "weft::node",
        "invoke",
        otel.name = %format_args!("{}{path}", host.id()),
        otel.kind = "server",
        otel.status_code = Empty,
        error.type = Empty,
        weft.node = host.id(),
        weft.tool = Empty,
        weft.caller = Empty,
        weft.task.id = Empty,
        weft.outcome = Empty,
    );
    trace::adopt(&span, headers);
    span
}

/// Checks, admits and begins a call.
async fn open(host: &Host, head: &Parts, body: Body) -> Result<Call, Refusal> {
    let request = check(host, INVOKE, head, body).await?;
    let permit = host.admit().ok_or_else(Refusal::full)?;
    match host.run(request).await {
        Ok(events) => Ok(Call::new(events, permit)),
        Err(NotRun::UnknownTool) => Err(Refusal::unknown_tool()),
        Err(NotRun::Away(reason)) => Err(Refusal::away(&reason)),
    }
}

/// Reads and checks a call; nothing of a body is looked at before its seal is good.
async fn check(host: &Host, path: &str, head: &Parts, body: Body) -> Result<InvokeRequest, Refusal> {
    let bytes_max = usize::try_from(host.settings().body_bytes_max).unwrap_or(usize::MAX);
    let body = read(body, bytes_max).await?;
    let (method, target_uri) = (head.method.as_str(), host.target_uri(path));
    let (headers, sealed) = (&head.headers, SealedBody::Bytes(&body));
    let call = IncomingCall { method, target_uri: &target_uri, headers, body: sealed };
    let verifier = host.verifier();
    let opened =
        verifier.open(&call, unix_seconds(host.env())).map_err(|fault| Refusal::seal(host, fault))?;
    Span::current().record("weft.caller", opened.peer);
    check_way(host, opened.hop("weft-depth"), opened.hop("weft-ancestors"))?;
    let request: InvokeRequest = wire::read(&body).map_err(|reason| {
        Refusal::new(StatusCode::BAD_REQUEST, "INVALID_REQUEST", format!("not a call: {reason}"))
    })?;
    Span::current().record("weft.tool", request.tool.as_str());
    Span::current().record("weft.task.id", request.task_id.as_str());
    if opened.scope.strip_prefix("tool:") != Some(request.tool.as_str()) {
        let reason = "the seal's scope is not `tool:` and the name of the tool that is called";
        return Err(Refusal::denied(StatusCode::FORBIDDEN, "SCOPE", reason));
    }
    if !host.has_tool(&request.tool) {
        return Err(Refusal::unknown_tool());
    }
    Ok(request)
}

/// Refuses a call that came too far, or through this node already. Both are covered by the seal.
fn check_way(host: &Host, depth: Option<&str>, ancestors: Option<&str>) -> Result<(), Refusal> {
    let depth_max = host.settings().depth_max;
    // A depth that is no number is too deep.
    if depth.is_some_and(|depth| !depth.parse::<u64>().is_ok_and(|n| n <= depth_max)) {
        return Err(Refusal::denied(StatusCode::FORBIDDEN, "DEPTH", "the call has passed too many nodes"));
    }
    let passed = ancestors.unwrap_or_default().split(',').any(|node| node.trim() == host.id());
    if passed {
        return Err(Refusal::denied(StatusCode::FORBIDDEN, "LOOP", "the call has passed this node already"));
    }
    Ok(())
}

async fn read(body: Body, bytes_max: usize) -> Result<Bytes, Refusal> {
    match Limited::new(body, bytes_max).collect().await {
        Ok(collected) => Ok(collected.to_bytes()),
        Err(error) if error.is::<http_body_util::LengthLimitError>() => {
            let reason = format!("the call is larger than the {bytes_max} bytes this node takes");
            Err(Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, "TOO_LARGE", reason))
        }
        Err(_) => {
            Err(Refusal::new(StatusCode::BAD_REQUEST, "INVALID_REQUEST", "the body broke off".to_owned()))
        }
    }
}

fn wants_events(headers: &HeaderMap) -> bool {
    let accepts = headers.get_all(ACCEPT).into_iter().filter_map(|value| value.to_str().ok());
    accepts.flat_map(|value| value.split(',')).any(|part| {
        part.split(';').next().unwrap_or_default().trim().eq_ignore_ascii_case("text/event-stream")
    })
}

/// One `data:` line an event.
fn stream(host: &Host, call: Call, span: Span) -> Response {
    let silence = Duration::from_millis(host.settings().keep_alive_ms);
    let frames =
        call.traced(span).map(|event| Ok::<_, Infallible>(Event::default().data(wire::text(&event))));
    let mut response = Sse::new(frames).keep_alive(KeepAlive::new().interval(silence)).into_response();
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

/// Only the result; steps have no place in a single answer.
async fn whole(call: Call) -> Response {
    let span = Span::current();
    let mut events: Events = call.traced(span).boxed();
    while let Some(event) = events.next().await {
        if let Some(invoke_event::Event::Result(result)) = event.event {
            return json(StatusCode::OK, wire::text(&result));
        }
    }
    // The scenario has the node break: no result, as it is with a node that crashed behind a proxy.
    StatusCode::BAD_GATEWAY.into_response()
}

fn json(status: StatusCode, text: String) -> Response {
    let headers = [(CONTENT_TYPE, "application/json"), (CACHE_CONTROL, "no-store")];
    (status, headers, text).into_response()
}

/// Why a call is not run.
struct Refusal {
    status: StatusCode,
    result: InvokeResult,
    retry: bool,
}

// === impl Refusal ===

impl Refusal {
    fn new(status: StatusCode, code: &str, error: String) -> Refusal {
        let result = InvokeResult { code: code.to_owned(), error, ..InvokeResult::default() };
        Refusal { status, result, retry: false }
    }

    fn denied(status: StatusCode, code: &str, error: &str) -> Refusal {
        let mut refusal = Refusal::new(status, code, error.to_owned());
        refusal.result.denied = true;
        refusal
    }

    fn unknown_tool() -> Refusal {
        Refusal::denied(StatusCode::NOT_FOUND, "UNKNOWN_TOOL", "this node has no tool of that name")
    }

    fn full() -> Refusal {
        let reason = "this node answers as many calls as it may: try again".to_owned();
        Refusal { retry: true, ..Refusal::new(StatusCode::SERVICE_UNAVAILABLE, "BUSY", reason) }
    }

    /// The node is here, and what it answers with is not.
    fn away(reason: &str) -> Refusal {
        let reason = format!("the remote agent behind it is away: {reason}");
        Refusal { retry: true, ..Refusal::new(StatusCode::SERVICE_UNAVAILABLE, "AGENT_UNREACHABLE", reason) }
    }

    /// The caller hears the same of every bad seal; the log hears which.
    fn seal(host: &Host, fault: SealFault) -> Refusal {
        tracing::warn!(node = host.id(), code = fault.code(), %fault, "a seal was refused");
        if fault.retryable() {
            let busy = Refusal::new(StatusCode::SERVICE_UNAVAILABLE, "SEAL_BUSY", fault.public().to_owned());
            return Refusal { retry: true, ..busy };
        }
        Refusal::denied(StatusCode::UNAUTHORIZED, "SEAL_REFUSED", fault.public())
    }

    fn into_response(self, span: &Span) -> Response {
        span.record("otel.status_code", "ERROR");
        span.record("error.type", self.result.code.as_str());
        span.record("weft.outcome", if self.result.denied { "denied" } else { "error" });
        let mut response = json(self.status, wire::text(&self.result));
        if self.retry {
            response.headers_mut().insert(RETRY_AFTER, HeaderValue::from_static("1"));
        }
        response
    }
}
