//! Path to handler.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::routing::{get, post};
use axum::{Router, middleware};
use weft_chassis::Env;

use crate::edge::{Edge, Refused};
use crate::{Settings, Upstreams, api, card, console, cors, guard, health, jsonrpc, keys};

/// The edge as a service, for a listener bound at `bound`. It begins at once to watch the catalog.
///
/// # Errors
/// When a setting cannot be obeyed, or the listener is open to other machines without the operator's word for it.
pub fn router(
    settings: Settings,
    bound: SocketAddr,
    upstreams: &Upstreams,
    env: &Env,
) -> Result<Router, Refused> {
    Ok(routes(Edge::new(settings, bound, upstreams, env)?))
}

pub(crate) fn routes(edge: Arc<Edge>) -> Router {
    let rpc = || post(jsonrpc::serve).fallback(jsonrpc::only_post);
    Router::new()
        .route("/a2a", rpc())
        .route("/a2a/", rpc())
        .route(cors::CARD_PATH, get(card::serve))
        .route("/.well-known/jwks.json", get(keys::serve))
        .route("/api/catalog", get(api::catalog))
        .route("/api/tasks/feed", get(api::feed))
        .route("/healthz", get(health::alive))
        .route("/readyz", get(health::ready))
        .route("/metrics", get(health::metrics))
        .fallback(console::serve)
        .layer(middleware::from_fn_with_state(Arc::clone(&edge), guard::pass))
        .with_state(edge)
}
