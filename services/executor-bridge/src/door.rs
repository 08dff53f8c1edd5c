//! The one way out: every call to a node is made here — sealed, traced, bounded, and every failure given its name.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_TYPE};
use http::{HeaderMap, HeaderName, HeaderValue, Request};
use sha2::{Digest, Sha256};
use tokio::time::Instant;
use tracing::field::Empty;
use tracing::{Instrument, Span};
use weft_chassis::{Outbound, Peer, trace};
use weft_proto::json;
use weft_proto::weft::signer_client::SignerClient;
use weft_proto::weft::{About, Header, InvokeRequest, InvokeResult, SignRequest};

use crate::Hosted;
use crate::directory::Place;
use crate::failure::Failure;
use crate::metrics::Metrics;
use crate::settings::Settings;

mod answer;
mod frames;
mod hosted;
mod http_client;
mod reply;

pub(crate) use answer::{Answer, Event};
use reply::Reply;

const EVENT_STREAM: &str = "text/event-stream";
/// A call of the mesh itself is the first hop.
const DEPTH: &str = "1";
/// Bound on what a node says of itself: time and bytes.
const ABOUT: (Duration, usize) = (Duration::from_secs(5), 256 * 1024);

/// Bounds of a call.
#[derive(Debug, Clone)]
pub(crate) struct Limits {
    pub(crate) silence: Duration,
    pub(crate) call: Duration,
    pub(crate) answer_bytes: usize,
    pub(crate) event_bytes: usize,
}

/// See the module.
pub(crate) struct Door {
    pub(crate) limits: Limits,
    caller: String,
    signer: SignerClient<Peer>,
    hosted: Hosted,
    client: reqwest::Client,
    metrics: Metrics,
}

/// One call to a node.
pub(crate) struct Call<'a> {
    pub(crate) place: &'a Arc<Place>,
    pub(crate) request: &'a InvokeRequest,
    /// Bound on the whole call.
    pub(crate) within: Duration,
}

/// One hop, from its seal to the end of its answer. Dropped without an outcome, it was cancelled.
pub(crate) struct Hop {
    pub(crate) span: Span,
    place: Arc<Place>,
    started: Instant,
    metrics: Metrics,
    ended: bool,
}

// === impl Door ===

impl Door {
    pub(crate) fn new(
        settings: &Settings,
        signer: Peer,
        hosted: impl Into<Hosted>,
        outbound: &Outbound,
        metrics: Metrics,
    ) -> Result<Door, String> {
        let bytes = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
        Ok(Door {
            limits: Limits {
                silence: Duration::from_millis(settings.silence_ms),
                call: Duration::from_millis(settings.call_ms),
                answer_bytes: bytes(settings.answer_bytes_max),
                event_bytes: bytes(settings.event_bytes_max),
            },
            caller: settings.worker.clone(),
            signer: SignerClient::new(signer),
            hosted: hosted.into(),
            client: http_client::client(outbound, Duration::from_millis(settings.connect_ms))?,
            metrics,
        })
    }

    /// Calls a tool. The answer is read by the caller, event by event; dropping it ends the call.
    pub(crate) async fn call(&self, call: Call<'_>) -> Result<Answer, Failure> {
        let mut hop = self.hop(self.span("invoke", &call), call.place);
        let deadline = hop.started + call.within;
        let uri = call.place.invoke_uri();
        let opened = self.open(&call, &uri, &hop.span, deadline).instrument(hop.span.clone()).await;
        match opened {
            Ok(reply) => Ok(Answer::new(reply, hop, deadline, &self.limits)),
            Err(failure) => {
                hop.fail(&failure);
                Err(failure)
            }
        }
    }

    /// Tells a node that the task of a call was canceled.
    pub(crate) async fn cancel(&self, call: Call<'_>) -> Result<(), Failure> {
        let mut hop = self.hop(self.span("cancel", &call), call.place);
        let (uri, deadline) = (call.place.cancel_uri(), hop.started + call.within);
        let told = async {
            let mut reply = self.open(&call, &uri, &hop.span, deadline).await?;
            let answer = reply.whole(ABOUT.1);
            let answer = tokio::time::timeout_at(deadline, answer)
                .await
                .map_err(|_| Failure::Timeout("it fell silent".to_owned()))??;
            let result: InvokeResult = json::decode(&answer).map_err(reply::garbled)?;
            if result.ok { Ok(()) } else { Err(Failure::of_result(&result)) }
        };
        let told = told.instrument(hop.span.clone()).await;
        match &told {
            Ok(()) => hop.end("ok"),
            Err(failure) => hop.fail(failure),
        }
        told
    }

    /// Asks a node what it is; unsealed, like health.
    pub(crate) async fn about(&self, place: &Arc<Place>) -> Result<About, Failure> {
        let node = place.node.as_str();
        let span = tracing::info_span!(
            target: "weft::bridge",
            "probe",
            otel.name = %format_args!("probe {node}"),
            otel.kind = "client",
            otel.status_code = Empty,
            error.type = Empty,
            weft.caller = self.caller,
            weft.node = node,
            weft.outcome = Empty,
        );
        let mut hop = self.hop(span, place);
        let asked = self.ask(place, &hop.span).instrument(hop.span.clone());
        let about = match tokio::time::timeout(ABOUT.0, asked).await {
            Ok(about) => about,
            Err(_) => Err(Failure::Unreachable(format!("silent for {} s", ABOUT.0.as_secs()))),
        };
        match &about {
            Ok(_) => hop.end("ok"),
            Err(failure) => hop.fail(failure),
        }
        about
    }

    async fn ask(&self, place: &Place, span: &Span) -> Result<About, Failure> {
        let mut headers = HeaderMap::new();
        trace::inject_span(span, &mut headers);
        let request = request(http::Method::GET, &place.about_uri(), headers, Bytes::new())?;
        let mut reply = self.send(place, request).await?.accepted().await?;
        json::decode(&reply.whole(ABOUT.1).await?).map_err(reply::garbled)
    }

    /// What a sealed call is seen as.
    fn span(&self, what: &str, call: &Call<'_>) -> Span {
        let (node, tool) = (call.place.node.as_str(), call.request.tool.as_str());
        tracing::info_span!(
            target: "weft::bridge",
            "call",
            otel.name = %format_args!("{what} {node}/{tool}"),
            otel.kind = "client",
            otel.status_code = Empty,
            error.type = Empty,
            weft.caller = self.caller,
            weft.node = node,
            weft.tool = tool,
            weft.task.id = call.request.task_id,
            weft.attempt = call.request.attempt,
            weft.outcome = Empty,
            weft.request.bytes = Empty,
            weft.response.bytes = Empty,
        )
    }

    fn hop(&self, span: Span, place: &Arc<Place>) -> Hop {
        Hop {
            span,
            place: place.clone(),
            started: Instant::now(),
            metrics: self.metrics.clone(),
            ended: false,
        }
    }

    /// Seals and sends; gives the reply once its head is here and says that the call was taken.
    async fn open(
        &self,
        call: &Call<'_>,
        uri: &str,
        span: &Span,
        deadline: Instant,
    ) -> Result<Reply, Failure> {
        let body = json::encode(call.request)
            .map(Bytes::from)
            .map_err(|error| Failure::Garbage(format!("the call cannot be written: {error}")))?;
        span.record("weft.request.bytes", body.len());
        let headers = self.seal(call, uri, &body, span).await?;
        let request = request(http::Method::POST, uri, headers, body)?;
        let head = self.send(call.place, request);
        let silence = deadline.min(Instant::now() + self.limits.silence);
        let reply = match tokio::time::timeout_at(silence, head).await {
            Ok(reply) => reply?,
            Err(_) => return Err(Failure::Timeout("nothing came at all".to_owned())),
        };
        reply.accepted().await
    }

    async fn send(&self, place: &Place, request: Request<Bytes>) -> Result<Reply, Failure> {
        if !place.hosted {
            return http_client::send(&self.client, request).await.map(Reply::far);
        }
        let Some(peer) = self.hosted.get(&place.node) else {
            let reason = "it is declared as hosted here, and is not".to_owned();
            return Err(Failure::Unreachable(reason));
        };
        hosted::send(peer, request).await.map(Reply::near)
    }

    /// The headers of a call: hop data, and the seal over it, the target and the body.
    async fn seal(&self, call: &Call<'_>, uri: &str, body: &[u8], span: &Span) -> Result<HeaderMap, Failure> {
        let (traceparent, tracestate) = trace::texts(span);
        let covered = [
            (weft_seal::header::DEPTH, DEPTH.to_owned()),
            (weft_seal::header::TASK, call.request.task_id.clone()),
            (weft_seal::header::TRACEPARENT, traceparent),
            (weft_seal::header::TRACESTATE, tracestate),
        ];
        let covered: Vec<Header> = covered
            .into_iter()
            .filter(|(_, value)| !value.is_empty())
            .map(|(name, value)| Header { name: name.as_str().to_owned(), value })
            .collect();
        let mut headers = HeaderMap::with_capacity(16);
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(ACCEPT, HeaderValue::from_static("text/event-stream, application/json"));
        for header in &covered {
            insert(&mut headers, header)?;
        }
        let request = SignRequest {
            method: "POST".to_owned(),
            target_uri: uri.to_owned(),
            body_sha256: Sha256::digest(body).to_vec(),
            audience: call.place.node.clone(),
            scope: format!("tool:{}", call.request.tool),
            covered,
        };
        let signed = self.signer.clone().sign(request).await.map_err(|status| match status.code() {
            tonic::Code::InvalidArgument | tonic::Code::FailedPrecondition | tonic::Code::NotFound => {
                Failure::Error { code: "SEAL_FAILED".to_owned(), reason: status.message().to_owned() }
            }
            _ => Failure::NoSeal(status.message().to_owned()),
        })?;
        for header in &signed.into_inner().headers {
            insert(&mut headers, header)?;
        }
        Ok(headers)
    }
}

fn insert(headers: &mut HeaderMap, header: &Header) -> Result<(), Failure> {
    let bad = || Failure::Error {
        code: "SEAL_FAILED".to_owned(),
        reason: format!("`{}` is not a header", header.name),
    };
    let name = HeaderName::try_from(header.name.as_str()).map_err(|_| bad())?;
    let value = HeaderValue::try_from(header.value.as_str()).map_err(|_| bad())?;
    headers.insert(name, value);
    Ok(())
}

fn request(
    method: http::Method,
    uri: &str,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Request<Bytes>, Failure> {
    let mut request = Request::new(body);
    *request.method_mut() = method;
    *request.uri_mut() =
        uri.parse().map_err(|error| Failure::Unreachable(format!("its address is not a URL: {error}")))?;
    *request.headers_mut() = headers;
    Ok(request)
}

// === impl Hop ===

impl Hop {
    pub(crate) fn end(&mut self, outcome: &'static str) {
        self.span.record("weft.outcome", outcome);
        self.metrics.called(&self.place.node, outcome, self.started.elapsed());
        self.ended = true;
    }

    pub(crate) fn fail(&mut self, failure: &Failure) {
        self.span.record("otel.status_code", "ERROR");
        self.span.record("error.type", failure.code());
        self.end(failure.outcome());
    }
}

impl Drop for Hop {
    fn drop(&mut self) {
        if !self.ended {
            self.end("cancelled");
        }
    }
}

#[cfg(test)]
mod tests;
