//! Names of the headers that a seal sets or must cover.

use http::HeaderName;

/// Digest of the body (RFC 9530).
pub const CONTENT_DIGEST: HeaderName = HeaderName::from_static("content-digest");
/// Id of the node that is called.
pub const AUDIENCE: HeaderName = HeaderName::from_static("weft-audience");
/// What the call may do.
pub const SCOPE: HeaderName = HeaderName::from_static("weft-scope");
/// What is covered, by which key, when (RFC 9421 §4.1).
pub const SIGNATURE_INPUT: HeaderName = HeaderName::from_static("signature-input");
/// The signature itself (RFC 9421 §4.2).
pub const SIGNATURE: HeaderName = HeaderName::from_static("signature");
/// W3C trace context; covered when present.
pub const TRACEPARENT: HeaderName = HeaderName::from_static("traceparent");
/// W3C trace context; covered when present.
pub const TRACESTATE: HeaderName = HeaderName::from_static("tracestate");
/// Hops so far, decimal; covered when present, like every `weft-*` header.
pub const DEPTH: HeaderName = HeaderName::from_static("weft-depth");
/// Ids of the nodes that the call has passed, outermost first, joined by commas.
pub const ANCESTORS: HeaderName = HeaderName::from_static("weft-ancestors");
/// Id of the task that the call works for.
pub const TASK: HeaderName = HeaderName::from_static("weft-task");
