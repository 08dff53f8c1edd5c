//! The start-up gate: what the card advertises, the bridge dispatches, the console offers and the nodes serve is read
//! from outside, each from its own side, and any difference is printed and refuses the start.

use std::collections::BTreeSet;
use std::fmt;
use std::time::Duration;

use axum::Router;
use axum::body::{Body, to_bytes};
use futures::future::join_all;
use http::Request;
use tower::ServiceExt;
use weft_chassis::Peer;
use weft_core::gate::{Difference, Lists, NodeTools, differences};
use weft_proto::a2a::AgentCard;
use weft_proto::json;
use weft_proto::weft::executor_bridge_client::ExecutorBridgeClient;
use weft_proto::weft::health::State;
use weft_proto::weft::{ProbeRequest, Snapshot, StatusRequest, StatusResponse};

/// Largest list that is read.
const LIST_BYTES_MAX: usize = 64 * 1024 * 1024;
/// Pause between two looks at a part that is still starting.
const PAUSE: Duration = Duration::from_millis(20);
/// How long one node may take to say what it serves.
const PROBE_WITHIN: Duration = Duration::from_secs(3);

/// The start is refused: every difference, one line each.
#[derive(Debug)]
pub struct Refused(pub Vec<Difference>);

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "what is advertised, dispatched, offered and served differs:")?;
        for difference in &self.0 {
            writeln!(f, "  {difference}")?;
        }
        write!(f, "mend the manifests (catalog.dir) or the nodes so that all lists agree")
    }
}

impl std::error::Error for Refused {}

/// Reads every list and compares. `base` is the path below which the edge lies; empty: the root. A part that does not answer within `within` is unknown, which is no difference: an
/// edge must start while its bridge is down.
///
/// # Errors
/// When there is a difference, or the edge's own lists cannot be read.
pub(super) async fn pass(edge: Router, base: &str, bridge: Peer, within: Duration) -> Result<(), String> {
    let Ok(console) = tokio::time::timeout(within, console(&edge, base)).await else {
        return Err(format!("the catalog did not answer within {within:?} (mesh.start_ms)"));
    };
    let bridge = ExecutorBridgeClient::new(bridge);
    let card: AgentCard = read(&edge, &format!("{base}/.well-known/agent-card.json")).await?;
    let mut lists = Lists {
        card: card.skills.into_iter().map(|skill| skill.id).collect(),
        console: console.capabilities.iter().map(|capability| capability.id.clone()).collect(),
        ..Lists::default()
    };
    match tokio::time::timeout(within, dispatch(bridge.clone(), console.revision)).await {
        Ok(status) => lists.dispatch = status.capabilities.into_iter().collect(),
        Err(_) => {
            tracing::warn!("the executor-bridge does not answer: what it dispatches is not compared");
            lists.dispatch.clone_from(&lists.card);
        }
    }
    lists.nodes = join_all(console.nodes.iter().map(|node| {
        let declared = node.tools.iter().map(|tool| tool.name.clone()).collect();
        served(bridge.clone(), node.id.clone(), declared)
    }))
    .await;
    let found = differences(&lists);
    if found.is_empty() { Ok(()) } else { Err(Refused(found).to_string()) }
}

/// The console's list, once the edge has heard the catalog.
async fn console(edge: &Router, base: &str) -> Snapshot {
    let path = format!("{base}/api/catalog");
    loop {
        if let Ok(snapshot) = read::<Snapshot>(edge, &path).await {
            return snapshot;
        }
        tokio::time::sleep(PAUSE).await;
    }
}

/// The bridge's list, once it knows the same catalog.
async fn dispatch(mut bridge: ExecutorBridgeClient<Peer>, revision: u64) -> StatusResponse {
    loop {
        if let Ok(answer) = bridge.status(StatusRequest {}).await {
            let status = answer.into_inner();
            if status.catalog_revision == revision {
                return status;
            }
        }
        tokio::time::sleep(PAUSE).await;
    }
}

async fn served(
    mut bridge: ExecutorBridgeClient<Peer>,
    node: String,
    declared: BTreeSet<String>,
) -> NodeTools {
    let probe = tokio::time::timeout(PROBE_WITHIN, bridge.probe(ProbeRequest { node: node.clone() })).await;
    let served = match probe {
        Ok(Ok(answer)) => {
            let answer = answer.into_inner();
            let reached = answer.health.is_some_and(|health| health.state() != State::Unreachable);
            reached.then(|| answer.tools.into_iter().map(|tool| tool.name).collect())
        }
        _ => None,
    };
    NodeTools { node, declared, served }
}

async fn read<T: serde::de::DeserializeOwned>(edge: &Router, path: &str) -> Result<T, String> {
    let request =
        Request::get(path).header("host", "localhost").body(Body::empty()).map_err(|e| e.to_string())?;
    let Ok(answer) = edge.clone().oneshot(request).await;
    let status = answer.status();
    let body = to_bytes(answer.into_body(), LIST_BYTES_MAX).await.map_err(|e| format!("{path}: {e}"))?;
    if !status.is_success() {
        return Err(format!("{path} answers {status}"));
    }
    json::decode(&body).map_err(|e| format!("{path}: {e}"))
}
