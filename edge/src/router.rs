//! Path to handler.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::routing::{any, get, post};
use axum::{Router, middleware};
use weft_chassis::Env;

use crate::edge::{Edge, Refused};
use crate::{
    Settings, Upstreams, access, api, card, console, files, grpc, guard, health, jsonrpc, keys, rest, unread,
};

/// The edge as a service, for a listener bound at `bound`. It begins at once to watch the catalog and the access policy;
/// calls wait for the latter.
///
/// # Errors
/// When a setting cannot be obeyed.
pub fn router(
    settings: Settings,
    bound: SocketAddr,
    upstreams: &Upstreams,
    env: &Env,
) -> Result<Router, Refused> {
    routes(&Edge::new(settings, bound, upstreams, env)?)
}

/// Everything on one port: the HTTP routes below the base path, gRPC and health at the root.
pub(crate) fn routes(edge: &Arc<Edge>) -> Result<Router, Refused> {
    let rpc = || post(jsonrpc::serve).fallback(jsonrpc::only_post);
    let agent = || post(jsonrpc::serve_agent).fallback(jsonrpc::only_post);
    let health = Router::new().route("/healthz", get(health::alive)).route("/readyz", get(health::ready));
    let callers = middleware::from_fn_with_state(Arc::clone(edge), access::callers);
    let administrators = middleware::from_fn_with_state(Arc::clone(edge), access::administrators);
    let calls = Router::new()
        .route("/a2a", rpc())
        .route("/a2a/", rpc())
        .route("/agents/{tenant}/a2a", agent())
        .route("/agents/{tenant}/a2a/", agent())
        .route(rest::BASE, any(rest::serve))
        .route("/rest/{*path}", any(rest::serve))
        .route("/files/{task}/{digest}", get(files::serve))
        .route("/agents/{tenant}/files/{task}/{digest}", get(files::serve_agent))
        .route_layer(callers);
    let console = Router::new()
        .route("/api/catalog", get(api::catalog))
        .route("/api/tasks/feed", get(api::feed))
        .route_layer(administrators);
    let below = calls
        .merge(console)
        .route("/.well-known/agent-card.json", get(card::root))
        .route("/.well-known/agent.json", get(card::legacy))
        .route("/agents/{tenant}/.well-known/agent-card.json", get(card::tenant))
        .route("/.well-known/jwks.json", get(keys::serve))
        .route(
            "/api/session",
            get(api::session::show).post(api::session::sign_in).delete(api::session::sign_out),
        )
        .merge(metrics(edge))
        .fallback(console::serve)
        .layer(middleware::from_fn_with_state(Arc::clone(edge), guard::pass));
    let base = edge.base_path();
    let http = if base.is_empty() {
        below.merge(health)
    } else {
        Router::new().nest(base, below.merge(health.clone())).merge(health).fallback(console::elsewhere)
    };
    let http = http.layer(middleware::from_fn(unread::closes));
    Ok(http.with_state(Arc::clone(edge)).merge(grpc(edge)?))
}

/// The gRPC services alone.
pub(crate) fn grpc(edge: &Arc<Edge>) -> Result<Router, Refused> {
    let guarded = middleware::from_fn_with_state(Arc::clone(edge), guard::pass);
    let callers = middleware::from_fn_with_state(Arc::clone(edge), access::callers);
    Ok(grpc::routes(edge)?.layer(callers).layer(guarded))
}

/// Figures: to this machine as they are, to others as the settings and the access policy say.
fn metrics(edge: &Arc<Edge>) -> Router<Arc<Edge>> {
    let here = middleware::from_fn_with_state(Arc::clone(edge), health::here_or_administrator);
    Router::new().route("/metrics", get(health::metrics)).route_layer(here)
}
