//! `GET /.well-known/jwks.json`: the mesh's public keys (RFC 7517), for nodes that check its seals.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use http::header::CACHE_CONTROL;
use http::{HeaderValue, Response, StatusCode};
use weft_proto::weft::JwksRequest;

use crate::edge::Edge;
use crate::plain;
use crate::upstreams::bounded;

/// The keys, as the signer says them now.
pub(crate) async fn serve(State(edge): State<Arc<Edge>>) -> Response<Body> {
    match bounded(edge.upstream_time(), edge.signer().jwks(JwksRequest {})).await {
        Ok(keys) => {
            let mut answer = plain::json(StatusCode::OK, keys.json);
            answer.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("public, max-age=60"));
            answer
        }
        Err(fault) => plain::fault(&fault),
    }
}
