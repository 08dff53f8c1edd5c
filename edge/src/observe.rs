//! One call as it is seen from outside: its span and its place in the counters and the record, alike on every binding.

use std::time::Instant;

use http::{Extensions, HeaderMap};
use tracing::{Instrument, Span, field};
use weft_chassis::trace;
use weft_core::Fault;

use crate::a2a::Operation;
use crate::edge::Edge;

/// How a call came in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Binding {
    JsonRpc,
    Http,
    Grpc,
}

/// What a call is refused with, as far as counters and spans are concerned.
pub(crate) trait Refused {
    /// Stable name of the reason.
    fn reason(&self) -> &'static str;
    /// The code on the binding.
    fn code(&self) -> i32;
    /// The fault, where the operation itself failed.
    fn fault(&self) -> Option<&Fault>;
}

impl Refused for Fault {
    fn reason(&self) -> &'static str {
        self.kind.row().reason
    }

    fn code(&self) -> i32 {
        self.kind.row().grpc
    }

    fn fault(&self) -> Option<&Fault> {
        Some(self)
    }
}

// === impl Binding ===

impl Binding {
    /// `rpc.system.name` of the OpenTelemetry RPC conventions.
    const fn system(self) -> &'static str {
        match self {
            Binding::JsonRpc => "jsonrpc",
            Binding::Http => "http",
            Binding::Grpc => "grpc",
        }
    }

    const fn route(self) -> &'static str {
        match self {
            Binding::JsonRpc => "/a2a",
            Binding::Http => "/rest",
            Binding::Grpc => "/lf.a2a.v1.A2AService",
        }
    }
}

/// Runs a call in its span and counts it with its outcome; who was not let do it is written down.
pub(crate) async fn call<T, R: Refused>(
    edge: &Edge,
    binding: Binding,
    operation: Operation,
    (headers, extensions): (&HeaderMap, &Extensions),
    began: Instant,
    run: impl Future<Output = Result<T, R>>,
) -> Result<T, R> {
    let span = span_of(binding, operation, headers);
    let outcome = run.instrument(span.clone()).await;
    let label = match &outcome {
        Ok(_) => "ok",
        Err(refused) => {
            failed(&span, refused.reason(), refused.code());
            if let Some(fault) = refused.fault() {
                span.in_scope(|| edge.audit().refused(extensions, operation.name(), fault));
            }
            refused.reason()
        }
    };
    edge.counters().called(operation.name(), label, began.elapsed());
    outcome
}

/// A fault inside HTTP 200 is a fault all the same. Texts may hold what a caller wrote, so only codes are kept.
pub(crate) fn failed(span: &Span, reason: &'static str, code: i32) {
    span.record("otel.status_code", "ERROR");
    span.record("error.type", reason);
    span.record("rpc.response.status_code", code);
}

/// Notes on the present span which task a call is about. A text that no task has as its id is a caller's own, and not
/// kept.
pub(crate) fn note_task(id: Option<&str>) {
    let is_ours = |id: &&str| {
        (1..=64).contains(&id.len()) && id.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
    };
    if let Some(id) = id.filter(is_ours) {
        Span::current().record("weft.task.id", id);
    }
}

/// A server span that continues the caller's trace (OpenTelemetry RPC conventions). It never holds content. A read
/// reaches no node and changes nothing: it is traced only as a part of its caller's trace.
fn span_of(binding: Binding, operation: Operation, headers: &HeaderMap) -> Span {
    let is_traced = trace::HEADERS.iter().any(|name| headers.contains_key(*name));
    if !is_traced && operation.reads() {
        return Span::none();
    }
    let name = operation.name();
    let span = tracing::info_span!(
        target: "weft::edge",
        "a2a",
        otel.name = format_args!("a2a {name}"),
        otel.kind = "server",
        otel.status_code = field::Empty,
        rpc.system.name = binding.system(),
        rpc.method = name,
        rpc.response.status_code = field::Empty,
        error.r#type = field::Empty,
        http.request.method = field::Empty,
        http.route = binding.route(),
        weft.task.id = field::Empty,
    );
    if is_traced {
        trace::adopt(&span, headers);
    }
    span
}
