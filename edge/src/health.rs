//! `/healthz`, `/readyz`, `/metrics`: for whoever keeps the process running.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::middleware::Next;
use http::header::CONTENT_TYPE;
use http::{HeaderValue, Response, StatusCode};
use serde::Serialize;
use weft_proto::weft::StatsRequest;

use crate::edge::{Edge, peer_of};
use crate::upstreams::bounded;
use crate::{access, plain};

/// How long a service may take to show that it is there.
const PROBE: Duration = Duration::from_secs(2);

/// What `/readyz` says. Texts name no address and no path.
#[derive(Serialize)]
struct Readiness {
    ready: bool,
    parts: Parts,
    /// What an operator should mend.
    warnings: Vec<String>,
}

#[derive(Serialize)]
struct Parts {
    edge: &'static str,
    tasks: &'static str,
    catalog: &'static str,
}

/// The process lives.
pub(crate) async fn alive() -> Response<Body> {
    plain::text(StatusCode::OK, "ok")
}

/// The mesh takes calls: the task store and the catalog answer, and nothing is stopping.
pub(crate) async fn ready(State(edge): State<Arc<Edge>>) -> Response<Body> {
    let stopping = edge.env().stop().is_cancelled();
    let tasks = !stopping && bounded(PROBE, edge.tasks().stats(StatsRequest {})).await.is_ok();
    let view = edge.catalog().view().ok();
    let parts = Parts {
        edge: if stopping { "stopping" } else { "ok" },
        tasks: if tasks { "ok" } else { "unreachable" },
        catalog: match &view {
            Some(_) if edge.catalog().is_live() => "ok",
            Some(_) => "stale",
            None => "unreachable",
        },
    };
    // A stale catalog still routes: calls go on with the last snapshot.
    let ready = !stopping && tasks && view.is_some();
    let readiness = Readiness { ready, parts, warnings: edge.warnings().to_vec() };
    let status = if ready { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    plain::json(status, serde_json::to_vec(&readiness).expect("texts have a JSON form"))
}

/// Figures are for this machine, unless the operator says otherwise; elsewhere for administrators, where there are any.
pub(crate) async fn here_or_administrator(
    State(edge): State<Arc<Edge>>,
    request: Request,
    next: Next,
) -> Response<Body> {
    if peer_of(request.extensions()).is_loopback() {
        return next.run(request).await;
    }
    if !edge.settings().metrics_beyond_loopback {
        return plain::text(
            StatusCode::FORBIDDEN,
            "figures are for this machine: see edge.metrics_beyond_loopback",
        );
    }
    access::administrators(State(edge), request, next).await
}

/// Figures as OpenMetrics text.
pub(crate) async fn metrics(State(edge): State<Arc<Edge>>) -> Response<Body> {
    let mut answer = plain::text(StatusCode::OK, "");
    *answer.body_mut() = Body::from(edge.env().metrics().render());
    let kind = HeaderValue::from_static("application/openmetrics-text; version=1.0.0; charset=utf-8");
    answer.headers_mut().insert(CONTENT_TYPE, kind);
    answer
}
