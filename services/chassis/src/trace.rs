//! W3C Trace Context (`traceparent`, `tracestate`) across every seam: gRPC, HTTP, in process and the task queue.
//!
//! The propagator is a value, not OpenTelemetry's global one, so that meshes in one process stay apart.

use http::HeaderMap;
use opentelemetry::propagation::{Extractor, Injector, TextMapPropagator};
use opentelemetry_sdk::propagation::TraceContextPropagator;
use tracing::Span;
use tracing_opentelemetry::OpenTelemetrySpanExt;

/// Names of the two headers, in the order they are written.
pub const HEADERS: [&str; 2] = ["traceparent", "tracestate"];

/// Writes the current span's context into `headers`; nothing when there is none.
pub fn inject(headers: &mut HeaderMap) {
    inject_span(&Span::current(), headers);
}

/// Writes `span`'s context into `headers`; nothing when it has none.
pub fn inject_span(span: &Span, headers: &mut HeaderMap) {
    TraceContextPropagator::new().inject_context(&span.context(), &mut Headers(headers));
}

/// Makes `span` a child of the context in `headers`; a root when there is none or it is malformed.
pub fn adopt(span: &Span, headers: &HeaderMap) {
    let context = TraceContextPropagator::new().extract(&ReadHeaders(headers));
    // Fails only when no OpenTelemetry layer is installed; then there is no trace to join.
    let _ = span.set_parent(context);
}

/// The context of `span` as text for a queue: `(traceparent, tracestate)`, both empty when there is none.
#[must_use]
pub fn texts(span: &Span) -> (String, String) {
    let mut headers = HeaderMap::new();
    inject_span(span, &mut headers);
    let text = |name| headers.get(name).and_then(|v| v.to_str().ok()).unwrap_or_default().to_owned();
    (text(HEADERS[0]), text(HEADERS[1]))
}

/// Makes `span` a child of a context that was kept as text.
pub fn adopt_texts(span: &Span, traceparent: &str, tracestate: &str) {
    let mut headers = HeaderMap::new();
    for (name, value) in HEADERS.into_iter().zip([traceparent, tracestate]) {
        if let (false, Ok(value)) = (value.is_empty(), value.parse()) {
            headers.insert(name, value);
        }
    }
    adopt(span, &headers);
}

/// The trace id of `span` as 32 hex digits, when it has one.
#[must_use]
pub fn trace_id(span: &Span) -> Option<String> {
    let (traceparent, _) = texts(span);
    traceparent.split('-').nth(1).map(str::to_owned)
}

struct Headers<'a>(&'a mut HeaderMap);

impl Injector for Headers<'_> {
    fn set(&mut self, key: &str, value: String) {
        if value.is_empty() {
            return;
        }
        if let (Ok(name), Ok(value)) = (http::HeaderName::try_from(key), value.parse()) {
            self.0.insert(name, value);
        }
    }
}

struct ReadHeaders<'a>(&'a HeaderMap);

impl Extractor for ReadHeaders<'_> {
    fn get(&self, key: &str) -> Option<&str> {
        self.0.get(key).and_then(|value| value.to_str().ok())
    }

    fn keys(&self) -> Vec<&str> {
        self.0.keys().map(http::HeaderName::as_str).collect()
    }
}
