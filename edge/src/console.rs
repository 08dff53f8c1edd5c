//! The operator's page, from inside the binary: hashed files for ever, the page itself asked for every time.

use axum::body::Body;
use http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, ETAG, IF_NONE_MATCH, REFERRER_POLICY,
};
use http::header::{X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS};
use http::{HeaderMap, HeaderValue, Method, Response, StatusCode, Uri};
use rust_embed::{Embed, EmbeddedFile};

use crate::{card, plain};

/// The console as it was built; empty when it was not.
#[derive(Embed)]
#[folder = "../console/dist"]
#[allow_missing = true]
struct Dist;

const INDEX: &str = "index.html";
/// Files under here have the hash of their content in their name.
const HASHED: &str = "assets/";
/// Paths that belong to others: the page is never served under them.
const TAKEN: [&str; 6] = ["/api", "/a2a", "/.well-known", "/healthz", "/readyz", "/metrics"];
const POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none'; form-action 'self'; \
     frame-ancestors 'none'",
);
const NOT_BUILT: &str = "The mesh runs; its console was not built into this binary.\n\
    Build it with `make console`, then build weft again.\n\
    The agent card is at /.well-known/agent-card.json, A2A JSON-RPC at /a2a.";

/// Serves a file, or the page for a path of its own, or 404.
pub(crate) async fn serve(method: Method, uri: Uri, headers: HeaderMap) -> Response<Body> {
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
        return answer(name, &file, &headers);
    }
    let taken = TAKEN
        .iter()
        .any(|t| path.strip_prefix(t).is_some_and(|rest| rest.is_empty() || rest.starts_with('/')));
    let page = plain_name && !taken && !name.contains('.');
    match Dist::get(INDEX) {
        Some(index) if page => answer(INDEX, &index, &headers),
        None if page => guarded(plain::text(StatusCode::OK, NOT_BUILT)),
        _ => plain::text(StatusCode::NOT_FOUND, "nothing here"),
    }
}

fn answer(name: &str, file: &EmbeddedFile, headers: &HeaderMap) -> Response<Body> {
    let etag = card::quoted(&file.metadata.sha256_hash());
    let known =
        headers.get_all(IF_NONE_MATCH).iter().any(|v| v.to_str().is_ok_and(|list| card::names(list, &etag)));
    let body = if known { Body::empty() } else { Body::from(file.data.to_vec()) };
    let mut answer = Response::new(body);
    if known {
        *answer.status_mut() = StatusCode::NOT_MODIFIED;
    }
    let hashed = name.starts_with(HASHED);
    let cache = if hashed { "public, max-age=31536000, immutable" } else { "no-cache" };
    let kind = HeaderValue::try_from(file.metadata.mimetype());
    let out = answer.headers_mut();
    out.insert(CONTENT_TYPE, kind.unwrap_or_else(|_| HeaderValue::from_static("application/octet-stream")));
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
