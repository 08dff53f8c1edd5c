//! Answers outside of any A2A binding: plain text for people, JSON for programs.

use axum::body::Body;
use http::header::{CACHE_CONTROL, CONTENT_TYPE, RETRY_AFTER};
use http::{HeaderName, HeaderValue, Response, StatusCode};
use weft_core::Fault;

use crate::access::challenge;
use crate::early;

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
    let mut answer = text(early::status(fault), &fault.message);
    answer.headers_mut().extend(advice(fault));
    answer
}

/// What the headers of a refusal say: when to come again, and with what.
pub(crate) fn advice(fault: &Fault) -> impl Iterator<Item = (HeaderName, HeaderValue)> {
    retry_after(fault).into_iter().chain(challenge(fault))
}

/// Says in whole seconds when to come again, when the fault says so in milliseconds.
fn retry_after(fault: &Fault) -> Option<(HeaderName, HeaderValue)> {
    fault.retry_after_ms.map(|ms| (RETRY_AFTER, HeaderValue::from(ms.div_ceil(1_000).max(1))))
}
