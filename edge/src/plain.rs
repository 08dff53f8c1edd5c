//! Answers outside of any A2A binding: plain text for people, JSON for programs.

use axum::body::Body;
use http::header::{CACHE_CONTROL, CONTENT_TYPE, RETRY_AFTER};
use http::{HeaderName, HeaderValue, Response, StatusCode};
use weft_core::Fault;

/// A line of text.
pub(crate) fn text(status: StatusCode, line: &str) -> Response<Body> {
    let mut answer = Response::new(Body::from(format!("{line}\n")));
    *answer.status_mut() = status;
    answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    answer.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    answer
}

/// JSON that must not be kept.
pub(crate) fn json(status: StatusCode, body: impl Into<Body>) -> Response<Body> {
    let mut answer = Response::new(body.into());
    *answer.status_mut() = status;
    answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    answer.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    answer
}

/// A fault, as a line of text under its HTTP status.
pub(crate) fn fault(fault: &Fault) -> Response<Body> {
    let status = StatusCode::from_u16(fault.kind.row().http).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut answer = text(status, &fault.message);
    answer.headers_mut().extend(retry_after(fault));
    answer
}

/// Says in whole seconds when to come again, when the fault says so in milliseconds.
pub(crate) fn retry_after(fault: &Fault) -> Option<(HeaderName, HeaderValue)> {
    fault.retry_after_ms.map(|ms| (RETRY_AFTER, HeaderValue::from(ms.div_ceil(1_000).max(1))))
}
