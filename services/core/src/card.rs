//! Agent cards: projections of one catalog snapshot. Nothing is on them that the catalog does not declare as public
//! text, and their addresses come from the operator, never from a request.
//!
//! | module | holds |
//! |---|---|
//! | [`faces`] | what the edge serves, and the interfaces that follow from it |
//! | [`mesh_extension`](MESH_EXTENSION) | what a card's own fields cannot say |

pub mod faces;
mod mesh_extension;
#[cfg(test)]
mod tests;

use weft_proto::a2a::{AgentCapabilities, AgentCard, AgentSkill};
use weft_proto::weft::{Capability, Snapshot};

use crate::media;

pub use faces::{Faces, PROTOCOL_VERSION, Public};
pub use mesh_extension::{MESH_EXTENSION, warnings};

/// The public card of one agent. `tenant` is the node whose view of its own the snapshot is
/// ([`tenant::view`](crate::tenant::view)), or empty for the mesh.
#[must_use]
pub fn project(snapshot: &Snapshot, tenant: &str, public: &Public, faces: &Faces) -> AgentCard {
    let mesh = snapshot.mesh.clone().unwrap_or_default();
    let mut extensions = vec![mesh_extension::of(snapshot, public)];
    extensions.extend(mesh.extensions);
    AgentCard {
        name: mesh.name,
        description: mesh.description,
        version: mesh.version,
        provider: mesh.provider.filter(|p| !p.organization.is_empty()),
        documentation_url: Some(mesh.documentation_url).filter(|url| !url.is_empty()),
        supported_interfaces: faces.interfaces(tenant, public),
        capabilities: Some(AgentCapabilities {
            streaming: Some(faces.streaming),
            push_notifications: Some(faces.push_notifications),
            extended_agent_card: Some(faces.extended_card),
            extensions,
        }),
        default_input_modes: media::DEFAULT.map(str::to_owned).to_vec(),
        default_output_modes: media::DEFAULT.map(str::to_owned).to_vec(),
        skills: snapshot.capabilities.iter().map(skill).collect(),
        ..AgentCard::default()
    }
}

/// What a caller that may know more reads instead: the public card, the operator's further text, and which nodes stand
/// behind the agent, each with its tools and the card under which it is an agent of its own.
#[must_use]
pub fn extend(card: &AgentCard, snapshot: &Snapshot, public: &Public) -> AgentCard {
    let mut extended = card.clone();
    let more = snapshot.mesh.as_ref().map_or("", |mesh| mesh.extended_description.as_str());
    if !more.is_empty() {
        extended.description = format!("{}\n\n{more}", extended.description);
    }
    let declared = extended.capabilities.iter_mut().flat_map(|c| &mut c.extensions);
    for extension in declared.filter(|extension| extension.uri == MESH_EXTENSION) {
        mesh_extension::add_nodes(extension, snapshot, public);
    }
    extended
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
