//! What the fleet can do, as the catalog last said it: the only source of targets. A catalog that is away leaves the
//! last snapshot in use.

use std::collections::HashMap;
use std::sync::Arc;

use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use weft_chassis::{Env, Peer};
use weft_core::tenant;
use weft_proto::weft::capability::Target as Declared;
use weft_proto::weft::catalog_client::CatalogClient;
use weft_proto::weft::{Node, Snapshot, WatchRequest};

use crate::backoff::Backoff;

/// The directory as it is now; `None` until the catalog has answered once.
pub(crate) type Current = watch::Receiver<Option<Arc<Directory>>>;

/// One snapshot of the catalog, ready to be looked things up in.
pub(crate) struct Directory {
    pub(crate) revision: u64,
    /// Ids of the capabilities that can be dispatched, in catalog order.
    pub(crate) capabilities: Vec<String>,
    targets: HashMap<String, Arc<Target>>,
    nodes: HashMap<String, Arc<Place>>,
}

/// Where a capability is run.
pub(crate) struct Target {
    pub(crate) capability: String,
    pub(crate) place: Arc<Place>,
    pub(crate) tool: String,
    /// Media types the capability gives; empty: not declared.
    pub(crate) output_modes: Vec<String>,
}

/// A node and how it is reached.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) node: String,
    /// Absolute http(s) URL without a trailing slash; `http://{node}` for a node in this process.
    pub(crate) base: String,
    /// True when the node is in this process.
    pub(crate) hosted: bool,
    /// True when an agent stands behind it, whose work goes on when a call is merely dropped.
    pub(crate) agent: bool,
}

impl Directory {
    pub(crate) fn new(snapshot: Snapshot) -> Directory {
        let nodes: HashMap<_, _> =
            snapshot.nodes.iter().map(|node| (node.id.clone(), Arc::new(Place::of(node)))).collect();
        let mut directory = Directory {
            revision: snapshot.revision,
            capabilities: Vec::new(),
            targets: HashMap::new(),
            nodes,
        };
        directory.add_tools(&snapshot);
        for capability in snapshot.capabilities {
            let Some(Declared::Tool(tool)) = capability.target else { continue };
            let Some(place) = directory.nodes.get(&tool.node) else { continue };
            let target = Target {
                capability: capability.id.clone(),
                place: place.clone(),
                tool: tool.tool,
                output_modes: capability.output_modes,
            };
            directory.capabilities.push(capability.id.clone());
            directory.targets.insert(capability.id, Arc::new(target));
        }
        directory
    }

    /// Every tool of every node under the id it has when the node is called as an agent of its own. These are no
    /// capabilities of the mesh: nobody advertises them for it.
    fn add_tools(&mut self, snapshot: &Snapshot) {
        for node in &snapshot.nodes {
            let Some(place) = self.nodes.get(&node.id) else { continue };
            for skill in tenant::skills(snapshot, node) {
                let target = Target {
                    capability: tenant::route_id(&node.id, &skill.id),
                    place: place.clone(),
                    tool: skill.id,
                    output_modes: skill.output_modes,
                };
                self.targets.insert(target.capability.clone(), Arc::new(target));
            }
        }
    }

    /// Where a route leads: the id of a capability, or `node/tool`.
    pub(crate) fn target(&self, capability: &str) -> Option<Arc<Target>> {
        self.targets.get(capability).cloned()
    }

    pub(crate) fn place(&self, node: &str) -> Option<Arc<Place>> {
        self.nodes.get(node).cloned()
    }

    /// Every node, sorted by id.
    pub(crate) fn places(&self) -> Vec<Arc<Place>> {
        let mut places: Vec<_> = self.nodes.values().cloned().collect();
        places.sort_by(|a, b| a.node.cmp(&b.node));
        places
    }
}

impl Place {
    fn of(node: &Node) -> Place {
        let hosted = node.address.is_empty();
        let base = if hosted {
            format!("http://{}", node.id)
        } else {
            node.address.trim_end_matches('/').to_owned()
        };
        Place { node: node.id.clone(), base, hosted, agent: node.agent_backed }
    }

    pub(crate) fn invoke_uri(&self) -> String {
        format!("{}/peer/invoke", self.base)
    }

    pub(crate) fn cancel_uri(&self) -> String {
        format!("{}/peer/cancel", self.base)
    }

    pub(crate) fn about_uri(&self) -> String {
        format!("{}/peer/about", self.base)
    }
}

/// Follows the catalog until `closed`; reconnects for ever.
pub(crate) async fn follow(
    catalog: Peer,
    current: watch::Sender<Option<Arc<Directory>>>,
    closed: CancellationToken,
    env: Env,
) {
    let mut client =
        CatalogClient::new(catalog).max_decoding_message_size(weft_chassis::peer::MESSAGE_BYTES_MAX);
    let mut backoff = Backoff::stream();
    while !closed.is_cancelled() {
        tokio::select! {
            () = closed.cancelled() => return,
            broken = watch_once(&mut client, &current, &mut backoff) => {
                tracing::warn!(reason = broken.message(), "the catalog's stream ended: following it again");
            }
        }
        tokio::select! {
            () = closed.cancelled() => return,
            () = tokio::time::sleep(backoff.pause(&env)) => {}
        }
    }
}

/// Never ends well: a watch has no end of its own.
async fn watch_once(
    client: &mut CatalogClient<Peer>,
    current: &watch::Sender<Option<Arc<Directory>>>,
    backoff: &mut Backoff,
) -> tonic::Status {
    let mut snapshots = match client.watch(WatchRequest {}).await {
        Ok(answer) => answer.into_inner(),
        Err(status) => return status,
    };
    loop {
        match snapshots.message().await {
            Ok(Some(snapshot)) => {
                backoff.reset();
                current.send_replace(Some(Arc::new(Directory::new(snapshot))));
            }
            Ok(None) => return tonic::Status::unavailable("closed by the catalog"),
            Err(status) => return status,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use weft_proto::weft::{Capability, Tool, ToolTarget};

    fn capability(id: &str, node: &str, tool: &str) -> Capability {
        let target = Declared::Tool(ToolTarget { node: node.into(), tool: tool.into() });
        Capability { id: id.into(), target: Some(target), ..Capability::default() }
    }

    #[test]
    fn only_capabilities_whose_node_exists_can_be_dispatched_and_their_order_is_kept() {
        let node =
            |id: &str, address: &str| Node { id: id.into(), address: address.into(), ..Node::default() };
        let directory = Directory::new(Snapshot {
            revision: 3,
            nodes: vec![node("scanner", ""), node("crm", "http://127.0.0.1:9/")],
            capabilities: vec![
                capability("sector.movement", "scanner", "sector_movement"),
                capability("ghost.walk", "ghost", "walk"),
                capability("customer.reach", "crm", "reach"),
            ],
            ..Snapshot::default()
        });
        assert_eq!(directory.capabilities, ["sector.movement", "customer.reach"]);
        let hosted = directory.target("sector.movement").unwrap();
        assert_eq!((hosted.place.base.as_str(), hosted.place.hosted), ("http://scanner", true));
        let remote = directory.target("customer.reach").unwrap();
        assert_eq!((remote.place.base.as_str(), remote.place.hosted), ("http://127.0.0.1:9", false));
        assert!(directory.target("ghost.walk").is_none() && directory.place("ghost").is_none());
    }

    #[test]
    fn a_tool_of_a_node_is_reached_by_both_names_and_is_no_capability_of_the_mesh() {
        let tool = |name: &str, read_only| Tool { name: name.into(), read_only, ..Tool::default() };
        let node = |id: &str, tools| Node { id: id.into(), tools, ..Node::default() };
        let directory = Directory::new(Snapshot {
            nodes: vec![
                node("crm", vec![tool("reach", true), tool("write", false)]),
                node("lan", vec![tool("reach", true)]),
            ],
            capabilities: vec![Capability {
                output_modes: vec!["image/png".into()],
                ..capability("customer.reach", "crm", "reach")
            }],
            ..Snapshot::default()
        });
        assert_eq!(directory.capabilities, ["customer.reach"]);
        for (id, node) in [("customer.reach", "crm"), ("crm/reach", "crm"), ("lan/reach", "lan")] {
            let target = directory.target(id).unwrap_or_else(|| panic!("{id} leads nowhere"));
            let found = (target.capability.as_str(), target.place.node.as_str(), target.tool.as_str());
            assert_eq!(found, (id, node, "reach"));
        }
        assert_eq!(directory.target("crm/reach").unwrap().output_modes, ["image/png"]);
        for id in ["crm/write", "lan/write", "crm/", "/reach", "crm/reach/", "nobody/reach", "reach"] {
            assert!(directory.target(id).is_none(), "{id}");
        }
    }
}
