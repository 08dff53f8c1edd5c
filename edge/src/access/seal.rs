//! A call that carries a seal: what the signer needs to check it.

use axum::body::Body;
use http::HeaderMap;
use http::request::Parts;
use sha2::{Digest, Sha256};
use weft_core::Fault;
use weft_proto::weft::{Header, VerifyRequest};

use crate::body;
use crate::edge::Edge;

/// Reads the body, which the seal covers by its digest, and puts it back.
///
/// # Errors
/// As [`body::read`].
pub(super) async fn read(edge: &Edge, parts: &Parts, sent: Body) -> Result<(VerifyRequest, Body), Fault> {
    let bytes = body::read(sent, edge.body_bytes_max(), edge.body_read_time()).await?;
    let request = VerifyRequest {
        method: parts.method.as_str().to_owned(),
        target_uri: target(edge, parts),
        body_sha256: Sha256::digest(&bytes).to_vec(),
        headers: headers(&parts.headers),
    };
    Ok((request, Body::from(bytes)))
}

/// The URI that the caller has called: the address on the card, never one from the request. gRPC knows no prefix.
fn target(edge: &Edge, parts: &Parts) -> String {
    let path = parts.uri.path_and_query().map_or("/", |path| path.as_str());
    let base = edge.public_base();
    if !crate::grpc::speaks(&parts.headers) {
        return format!("{base}{path}");
    }
    let origin = base.find("://").and_then(|at| base[at + 3..].find('/').map(|end| &base[..at + 3 + end]));
    format!("{}{path}", origin.unwrap_or(base))
}

fn headers(all: &HeaderMap) -> Vec<Header> {
    let text = |value: &http::HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
    all.iter().map(|(name, value)| Header { name: name.as_str().to_owned(), value: text(value) }).collect()
}
