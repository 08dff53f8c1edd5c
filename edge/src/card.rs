//! The cards: of the mesh, of each node, and of the mesh for clients of A2A v0.3.
//!
//! | path | card |
//! |---|---|
//! | `/.well-known/agent-card.json` | the mesh's |
//! | `/.well-known/agent.json` | the same, where clients of A2A v0.3 looked before, always with their fields |
//! | `/agents/{node}/.well-known/agent-card.json` | a node's |

mod agent;
mod legacy;
mod served;
mod sign;

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Path, State};
use http::{HeaderMap, Response};
use weft_core::{Fault, Kind};

use crate::edge::Edge;
use crate::plain;

pub(crate) use agent::{Agent, Made, Publisher};
pub(crate) use served::{Served, etag, names, quoted};

/// Serves the card of the mesh.
pub(crate) async fn root(State(edge): State<Arc<Edge>>, headers: HeaderMap) -> Response<Body> {
    serve(&edge, "", &headers, |agent| Some(&agent.card))
}

/// Serves it where clients of A2A v0.3 looked before.
pub(crate) async fn legacy(State(edge): State<Arc<Edge>>, headers: HeaderMap) -> Response<Body> {
    serve(&edge, "", &headers, |agent| agent.legacy.as_ref())
}

/// Serves the card of a node.
pub(crate) async fn tenant(
    State(edge): State<Arc<Edge>>,
    Path(tenant): Path<String>,
    headers: HeaderMap,
) -> Response<Body> {
    serve(&edge, &tenant, &headers, |agent| Some(&agent.card))
}

fn serve(
    edge: &Edge,
    tenant: &str,
    headers: &HeaderMap,
    which: impl FnOnce(&Agent) -> Option<&Served>,
) -> Response<Body> {
    let answer = |agent: &Agent| match which(agent) {
        Some(card) => Ok(card.answer(headers, edge.settings().card_max_age_s)),
        None => Err(Fault::new(
            Kind::NotFound,
            "A2A v0.3 is not spoken here: the card is at /.well-known/agent-card.json",
        )),
    };
    let answered = edge.catalog().view().and_then(|view| view.agent(tenant).and_then(answer));
    answered.unwrap_or_else(|fault| plain::fault(&fault))
}
