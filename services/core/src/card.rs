//! The public agent card: a projection of one catalog snapshot. Nothing is on it that the catalog does not declare as
//! public text, and its address comes from the operator, never from a request.

use weft_proto::a2a::{AgentCapabilities, AgentCard, AgentExtension, AgentInterface, AgentSkill};
use weft_proto::weft::capability::Target;
use weft_proto::weft::{Capability, Snapshot};
use weft_proto::wkt::Kind;

use crate::{media, value};

/// Identifies the extension entry that carries what the card's own fields cannot.
///
/// Its params: `agentBacked` lists the skills behind which a reasoning agent stands; `warnings` says in words what an
/// operator should mend. Nobody has to activate it.
pub const MESH_EXTENSION: &str = "urn:weft:extension:mesh:v1";

/// How the mesh is reached from outside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Public {
    /// Absolute base URL without a trailing slash.
    pub base: String,
    /// What an operator should mend, one sentence each.
    pub warnings: Vec<String>,
}

/// Version of the protocol that the card's interfaces speak.
pub const PROTOCOL_VERSION: &str = "1.0";

/// The card of this mesh.
#[must_use]
pub fn project(snapshot: &Snapshot, public: &Public) -> AgentCard {
    let mesh = snapshot.mesh.clone().unwrap_or_default();
    AgentCard {
        name: mesh.name,
        description: mesh.description,
        version: mesh.version,
        provider: mesh.provider.filter(|p| !p.organization.is_empty()),
        documentation_url: Some(mesh.documentation_url).filter(|url| !url.is_empty()),
        supported_interfaces: vec![AgentInterface {
            url: format!("{}/a2a", public.base),
            protocol_binding: "JSONRPC".to_owned(),
            protocol_version: PROTOCOL_VERSION.to_owned(),
            tenant: String::new(),
        }],
        capabilities: Some(AgentCapabilities {
            streaming: Some(true),
            push_notifications: Some(false),
            extended_agent_card: Some(false),
            extensions: vec![extension(snapshot, public)],
        }),
        default_input_modes: media::DEFAULT.map(str::to_owned).to_vec(),
        default_output_modes: media::DEFAULT.map(str::to_owned).to_vec(),
        skills: snapshot.capabilities.iter().map(skill).collect(),
        ..AgentCard::default()
    }
}

fn skill(capability: &Capability) -> AgentSkill {
    let mut tags = capability.tags.clone();
    if tags.is_empty() {
        // A2A v1.0 §5.7: a required list has at least one entry.
        tags.push(capability.id.split('.').next().unwrap_or_default().to_owned());
    }
    AgentSkill {
        id: capability.id.clone(),
        name: capability.name.clone(),
        description: capability.description.clone(),
        tags,
        examples: capability.examples.clone(),
        input_modes: capability.input_modes.clone(),
        output_modes: capability.output_modes.clone(),
        security_requirements: Vec::new(),
    }
}

fn extension(snapshot: &Snapshot, public: &Public) -> AgentExtension {
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

#[cfg(test)]
mod tests {
    use weft_proto::weft::{MeshInfo, Node, ToolTarget};

    use super::*;

    fn snapshot() -> Snapshot {
        let tool = |node: &str| Some(Target::Tool(ToolTarget { node: node.into(), tool: "t".into() }));
        let capability = |id: &str, node: &str| Capability {
            id: id.into(),
            name: "N".into(),
            description: "D".into(),
            phrases: vec!["a phrase for matching only".into()],
            target: tool(node),
            ..Capability::default()
        };
        Snapshot {
            mesh: Some(MeshInfo { name: "M".into(), version: "1".into(), ..MeshInfo::default() }),
            nodes: vec![Node { id: "lan".into(), agent_backed: true, ..Node::default() }],
            capabilities: vec![capability("network.state", "lan"), capability("sector.movement", "scanner")],
            ..Snapshot::default()
        }
    }

    #[test]
    fn the_card_shows_each_capability_as_a_skill_at_the_public_address() {
        let public = Public { base: "https://mesh.example/x".into(), warnings: vec!["w".into()] };
        let card = project(&snapshot(), &public);
        let ids: Vec<_> = card.skills.iter().map(|s| s.id.as_str()).collect();
        assert_eq!(ids, ["network.state", "sector.movement"]);
        assert_eq!(card.skills[0].tags, ["network"]);
        assert_eq!(card.supported_interfaces[0].url, "https://mesh.example/x/a2a");
        assert_eq!(card.documentation_url, None);
        assert_eq!(warnings(&card), ["w"]);
        assert!(!format!("{card:?}").contains("matching only"), "phrases are not public");
    }

    #[test]
    fn only_skills_behind_an_agent_are_said_to_be_agent_backed() {
        let card = project(&snapshot(), &Public { base: "http://h".into(), warnings: vec![] });
        let params = card.capabilities.unwrap().extensions[0].params.clone().unwrap();
        assert_eq!(params.fields["agentBacked"], value::texts(["network.state"]));
    }
}
