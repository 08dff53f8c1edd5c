//! The extension entry that carries what a card's own fields cannot say.

use weft_proto::a2a::{AgentCard, AgentExtension};
use weft_proto::weft::capability::Target;
use weft_proto::weft::{Capability, Node, Snapshot};
use weft_proto::wkt::{Kind, Value};

use super::Public;
use crate::value;

/// Identifies the entry. Nobody has to activate it.
///
/// Its params: `agentBacked` lists the skills behind which a reasoning agent stands; `warnings` says in words what an
/// operator should mend; `nodes`, on an extended card only, lists what stands behind the agent.
pub const MESH_EXTENSION: &str = "urn:weft:extension:mesh:v1";

pub(super) fn of(snapshot: &Snapshot, public: &Public) -> AgentExtension {
    let backed = snapshot.capabilities.iter().filter(|c| agent_backed(snapshot, c)).map(|c| &c.id);
    let params =
        value::members([("agentBacked", value::texts(backed)), ("warnings", value::texts(&public.warnings))]);
    AgentExtension {
        uri: MESH_EXTENSION.to_owned(),
        description: "which skills a reasoning agent stands behind, and what an operator should mend"
            .to_owned(),
        required: false,
        params: Some(params),
    }
}

fn agent_backed(snapshot: &Snapshot, capability: &Capability) -> bool {
    match &capability.target {
        Some(Target::Tool(tool)) => {
            snapshot.nodes.iter().any(|node| node.id == tool.node && node.agent_backed)
        }
        None => false,
    }
}

/// Adds which nodes there are. Where a node is reached from within stays inside.
pub(super) fn add_nodes(extension: &mut AgentExtension, snapshot: &Snapshot, public: &Public) {
    let nodes = value::list(snapshot.nodes.iter().map(|node| shown(node, public)));
    let params = extension.params.get_or_insert_default();
    params.fields.insert("nodes".to_owned(), nodes);
}

fn shown(node: &Node, public: &Public) -> Value {
    value::object([
        ("id", value::text(&node.id)),
        ("name", value::text(&node.name)),
        ("role", value::text(&node.role)),
        ("tools", value::texts(node.tools.iter().map(|tool| &tool.name))),
        ("card", value::text(public.card_url(&node.id))),
    ])
}

/// The warnings on a card; for the console and for start-up.
#[must_use]
pub fn warnings(card: &AgentCard) -> Vec<&str> {
    let extensions = card.capabilities.iter().flat_map(|c| &c.extensions);
    let params = extensions.filter(|e| e.uri == MESH_EXTENSION).filter_map(|e| e.params.as_ref());
    let lists = params.filter_map(|p| match &p.fields.get("warnings")?.kind {
        Some(Kind::List(list)) => Some(&list.values),
        _ => None,
    });
    lists
        .flatten()
        .filter_map(|v| match &v.kind {
            Some(Kind::String(text)) => Some(text.as_str()),
            _ => None,
        })
        .collect()
}
