//! The operator's page, from inside the binary: hashed files for ever, the page itself asked for every time.

use std::borrow::Cow;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, ETAG, IF_NONE_MATCH, REFERRER_POLICY,
};
use http::header::{X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS};
use http::{HeaderMap, HeaderValue, Method, Response, StatusCode, Uri};
use rust_embed::{Embed, EmbeddedFile};

use crate::edge::Edge;
use crate::{card, grpc, plain};

/// A file as it is served.
struct Content {
    etag: HeaderValue,
    bytes: Cow<'static, [u8]>,
    kind: HeaderValue,
}

/// The console as it was built; empty when it was not.
#[derive(Embed)]
#[folder = "../console/dist"]
#[allow_missing = true]
struct Dist;

const INDEX: &str = "index.html";
/// How the page says that it lies at the root.
const AT_ROOT: &str = "<base href=\"/\"";
/// Files under here have the hash of their content in their name.
const HASHED: &str = "assets/";
/// Paths that belong to others: the page is never served under them.
const TAKEN: [&str; 9] =
    ["/api", "/files", "/a2a", "/rest", "/agents", "/.well-known", "/healthz", "/readyz", "/metrics"];
const POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'self'; form-action 'self'; \
     frame-ancestors 'none'",
);
const NOT_BUILT: &str = "The mesh runs; its console was not built into this binary.\n\
    Build it with `make console`, then build weft again.\n\
    The agent card is at /.well-known/agent-card.json, A2A JSON-RPC at /a2a.";

/// Answers what lies outside of the base path.
pub(crate) async fn elsewhere(headers: HeaderMap) -> Response<Body> {
    grpc::unknown(&headers)
        .unwrap_or_else(|| plain::text(StatusCode::NOT_FOUND, "nothing here: see edge.base_path"))
}

/// Serves a file, or the page for a path of its own, or 404.
pub(crate) async fn serve(
    State(edge): State<Arc<Edge>>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
) -> Response<Body> {
    if let Some(answer) = grpc::unknown(&headers) {
        return answer;
    }
    if method != Method::GET && method != Method::HEAD {
        return plain::text(StatusCode::NOT_FOUND, "nothing here");
    }
    let path = uri.path();
    let name = path.trim_start_matches('/');
    let plain_name = !name.contains("..") && !name.contains(['%', '\\', '\0']);
    if !name.is_empty()
        && plain_name
        && let Some(file) = Dist::get(name)
    {
        return answer(name, content(name, file, edge.base_path()), &headers);
    }
    let taken = TAKEN
        .iter()
        .any(|t| path.strip_prefix(t).is_some_and(|rest| rest.is_empty() || rest.starts_with('/')));
    let page = plain_name && !taken && !name.contains('.');
    match Dist::get(INDEX) {
        Some(index) if page => answer(INDEX, content(INDEX, index, edge.base_path()), &headers),
        None if page => guarded(plain::text(StatusCode::OK, NOT_BUILT)),
        _ => plain::text(StatusCode::NOT_FOUND, "nothing here"),
    }
}

/// A file with its entity tag and media type; the page with the path prefix under which it is served.
fn content(name: &str, file: EmbeddedFile, base: &str) -> Content {
    let kind = HeaderValue::try_from(file.metadata.mimetype());
    let kind = kind.unwrap_or_else(|_| HeaderValue::from_static("application/octet-stream"));
    if name != INDEX || base.is_empty() {
        return Content { etag: card::quoted(&file.metadata.sha256_hash()), bytes: file.data, kind };
    }
    let page = String::from_utf8_lossy(&file.data).replacen(AT_ROOT, &format!("<base href=\"{base}/\""), 1);
    Content { etag: card::etag(page.as_bytes()), bytes: page.into_bytes().into(), kind }
}

fn answer(name: &str, file: Content, headers: &HeaderMap) -> Response<Body> {
    let etag = file.etag;
    let known =
        headers.get_all(IF_NONE_MATCH).iter().any(|v| v.to_str().is_ok_and(|list| card::names(list, &etag)));
    let body = if known { Body::empty() } else { Body::from(file.bytes.into_owned()) };
    let mut answer = Response::new(body);
    if known {
        *answer.status_mut() = StatusCode::NOT_MODIFIED;
    }
    let hashed = name.starts_with(HASHED);
    let cache = if hashed { "public, max-age=31536000, immutable" } else { "no-cache" };
    let out = answer.headers_mut();
    out.insert(CONTENT_TYPE, file.kind);
    out.insert(CACHE_CONTROL, HeaderValue::from_static(cache));
    out.insert(ETAG, etag);
    guarded(answer)
}

/// Nothing but the page's own files runs in it, and no other page holds it in a frame.
fn guarded(mut answer: Response<Body>) -> Response<Body> {
    let headers = answer.headers_mut();
    headers.insert(CONTENT_SECURITY_POLICY, POLICY);
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    headers.insert(X_FRAME_OPTIONS, HeaderValue::from_static("DENY"));
    answer
}
