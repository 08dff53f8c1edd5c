//! Cross-origin answers: the public card for every page, calls for pages of listed origins, neither with credentials.

use axum::body::Body;
use axum::extract::Request;
use axum::middleware::Next;
use http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ACCESS_CONTROL_REQUEST_METHOD, VARY,
};
use http::{HeaderMap, HeaderValue, Method, Response, StatusCode};

/// What pages may send. `Authorization` must be named: `*` does not cover it.
const ALLOWED_HEADERS: HeaderValue = HeaderValue::from_static(
    "accept, authorization, a2a-extensions, a2a-version, content-type, idempotency-key, if-modified-since, \
     if-none-match, last-event-id, task-access-token, traceparent, tracestate, x-a2a-extensions, x-api-key",
);
/// What pages may read beside the simple ones.
const EXPOSED_HEADERS: HeaderValue = HeaderValue::from_static(
    "a2a-extensions, etag, grpc-message, grpc-status, grpc-status-details-bin, retry-after, task-access-token, \
     www-authenticate",
);
/// How long a browser may keep the answer to a preflight, in seconds.
const MAX_AGE_S: HeaderValue = HeaderValue::from_static("600");

/// Whether a public card lies under a path.
pub(crate) fn is_card(path: &str) -> bool {
    path == "/.well-known/agent.json" || path.ends_with("/.well-known/agent-card.json")
}

/// The card, for every page.
pub(crate) async fn card(request: Request, next: Next) -> Response<Body> {
    let anyone = HeaderValue::from_static("*");
    if is_preflight(&request) {
        return preflight(anyone, HeaderValue::from_static("GET, HEAD, OPTIONS"));
    }
    let mut answer = next.run(request).await;
    open(answer.headers_mut(), anyone);
    answer
}

/// Everything else, for a page of a listed origin.
pub(crate) async fn listed(origin: HeaderValue, request: Request, next: Next) -> Response<Body> {
    let mut answer = if is_preflight(&request) {
        preflight(origin, HeaderValue::from_static("GET, POST, DELETE, OPTIONS"))
    } else {
        let mut answer = next.run(request).await;
        open(answer.headers_mut(), origin);
        answer
    };
    answer.headers_mut().append(VARY, HeaderValue::from_static("origin"));
    answer
}

fn is_preflight(request: &Request) -> bool {
    request.method() == Method::OPTIONS && request.headers().contains_key(ACCESS_CONTROL_REQUEST_METHOD)
}

fn preflight(origin: HeaderValue, methods: HeaderValue) -> Response<Body> {
    let mut answer = Response::new(Body::empty());
    *answer.status_mut() = StatusCode::NO_CONTENT;
    let headers = answer.headers_mut();
    headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    headers.insert(ACCESS_CONTROL_ALLOW_METHODS, methods);
    headers.insert(ACCESS_CONTROL_ALLOW_HEADERS, ALLOWED_HEADERS);
    headers.insert(ACCESS_CONTROL_MAX_AGE, MAX_AGE_S);
    answer
}

fn open(headers: &mut HeaderMap, origin: HeaderValue) {
    headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, EXPOSED_HEADERS);
}
