//! Nodes as agents of their own: the same catalog, seen through one node. Each read-only tool is a skill there.

use std::collections::BTreeSet;

use weft_proto::weft::capability::Target;
use weft_proto::weft::{Capability, MeshInfo, Node, Snapshot, Tool, ToolTarget};

use crate::{media, route};

/// Stands between node and tool in [`route_id`]; no id of either holds it.
const SEPARATOR: char = '/';

/// What a route says for a tool of a node that is called as an agent of its own: `crm/crm.customers`.
#[must_use]
pub fn route_id(node: &str, tool: &str) -> String {
    format!("{node}{SEPARATOR}{tool}")
}

/// The catalog as the agent `node` shows it; `None` when there is no such node, or it has nothing to be asked.
#[must_use]
pub fn view(snapshot: &Snapshot, node: &str) -> Option<Snapshot> {
    let node = snapshot.nodes.iter().find(|known| known.id == node)?;
    let capabilities = skills(snapshot, node);
    if capabilities.is_empty() {
        return None;
    }
    let mesh = snapshot.mesh.clone().unwrap_or_default();
    Some(Snapshot {
        revision: snapshot.revision,
        mesh: Some(MeshInfo {
            name: node.name.clone(),
            description: node.role.clone(),
            // What the operator says beyond the public of the mesh says nothing of this node.
            extended_description: String::new(),
            ..mesh
        }),
        nodes: vec![node.clone()],
        capabilities,
        changed: snapshot.changed,
    })
}

/// One capability a read-only tool, in the node's order; its id is the tool's name.
#[must_use]
pub fn skills(snapshot: &Snapshot, node: &Node) -> Vec<Capability> {
    let tools: Vec<&Tool> = node.tools.iter().filter(|tool| tool.read_only).collect();
    let mut skills: Vec<Capability> = tools.iter().map(|tool| skill(snapshot, node, tool)).collect();
    if let [only] = skills.as_mut_slice() {
        // There is nothing to choose from: whatever is said to this agent is said to its one tool.
        let everything = route::REST.to_string();
        if !only.phrases.contains(&everything) {
            only.phrases.push(everything);
        }
    }
    skills
}

/// What the mesh's own capabilities say of the tool they go to, put together.
fn skill(snapshot: &Snapshot, node: &Node, tool: &Tool) -> Capability {
    let goes_here = |capability: &&Capability| match &capability.target {
        Some(Target::Tool(target)) => target.node == node.id && target.tool == tool.name,
        None => false,
    };
    let advertised: Vec<&Capability> = snapshot.capabilities.iter().filter(goes_here).collect();
    let texts = |of: fn(&Capability) -> &Vec<String>| {
        let mut seen = BTreeSet::new();
        let all = advertised.iter().flat_map(|capability| of(capability));
        all.filter(|text| seen.insert(text.as_str())).cloned().collect::<Vec<String>>()
    };
    let modes = |of: fn(&Capability) -> &Vec<String>| {
        let said = texts(of);
        if said.is_empty() { media::DEFAULT.map(str::to_owned).to_vec() } else { said }
    };
    Capability {
        id: tool.name.clone(),
        name: match advertised.as_slice() {
            [only] => only.name.clone(),
            _ => tool.name.clone(),
        },
        description: tool.description.clone(),
        tags: texts(|c| &c.tags),
        examples: texts(|c| &c.examples),
        phrases: texts(|c| &c.phrases),
        input_modes: modes(|c| &c.input_modes),
        output_modes: modes(|c| &c.output_modes),
        target: Some(Target::Tool(ToolTarget { node: node.id.clone(), tool: tool.name.clone() })),
        direct: advertised.iter().any(|capability| capability.direct),
    }
}

#[cfg(test)]
mod tests {
    use weft_proto::a2a::part::Content;
    use weft_proto::a2a::{Message, Part, Role, SendMessageRequest};

    use super::*;
    use crate::route::{Choice, Index};

    fn tool(name: &str, read_only: bool) -> Tool {
        Tool { name: name.into(), description: format!("{name} described"), read_only }
    }

    fn capability(id: &str, node: &str, tool: &str, examples: &[&str], phrases: &[&str]) -> Capability {
        let texts = |list: &[&str]| list.iter().map(|&t| t.to_owned()).collect();
        Capability {
            id: id.into(),
            name: format!("{id} named"),
            examples: texts(examples),
            phrases: texts(phrases),
            tags: vec!["shared".into(), id.into()],
            input_modes: vec!["text/plain".into()],
            output_modes: vec!["image/png".into()],
            target: Some(Target::Tool(ToolTarget { node: node.into(), tool: tool.into() })),
            ..Capability::default()
        }
    }

    fn snapshot() -> Snapshot {
        let node = |id: &str, tools: Vec<Tool>| Node {
            id: id.into(),
            name: format!("{id} named"),
            role: format!("{id} for"),
            tools,
            ..Node::default()
        };
        Snapshot {
            revision: 7,
            mesh: Some(MeshInfo {
                name: "M".into(),
                version: "3".into(),
                extended_description: "for some".into(),
                ..MeshInfo::default()
            }),
            nodes: vec![
                node(
                    "crm",
                    vec![tool("crm.customers", true), tool("crm.sectors", true), tool("crm.write", false)],
                ),
                node("hands", vec![tool("hands.run", false)]),
                node("play", vec![tool("play.rules", true)]),
            ],
            capabilities: vec![
                capability(
                    "customer.reach",
                    "crm",
                    "crm.customers",
                    &["whom to call first?"],
                    &["who to phone"],
                ),
                capability(
                    "customer.list",
                    "crm",
                    "crm.customers",
                    &["list the customers"],
                    &["who to phone"],
                ),
                capability("play.any", "play", "play.rules", &["echo x"], &["echo *"]),
            ],
            ..Snapshot::default()
        }
    }

    /// Where a text goes that is sent to the agent.
    fn routed(agent: &str, text: &str) -> String {
        let index = Index::new(view(&snapshot(), agent).unwrap().capabilities).within(agent);
        let part = Part { content: Some(Content::Text(text.into())), ..Part::default() };
        let message = Message {
            message_id: "m".into(),
            role: Role::User.into(),
            parts: vec![part],
            ..Message::default()
        };
        let request = SendMessageRequest { message: Some(message), ..SendMessageRequest::default() };
        match index.choose(&request).unwrap() {
            Choice::Run(route) => route.capability,
            Choice::Ask => "-".into(),
        }
    }

    #[test]
    fn a_node_shows_its_read_only_tools_with_what_the_mesh_says_of_them() {
        let crm = view(&snapshot(), "crm").unwrap();
        let mesh = crm.mesh.unwrap();
        assert_eq!(
            (mesh.name.as_str(), mesh.description.as_str(), mesh.version.as_str()),
            ("crm named", "crm for", "3")
        );
        assert_eq!(mesh.extended_description, "");
        assert_eq!((crm.revision, crm.nodes.len()), (7, 1));
        let ids: Vec<_> = crm.capabilities.iter().map(|c| c.id.as_str()).collect();
        assert_eq!(ids, ["crm.customers", "crm.sectors"]);
        let [customers, sectors] = &crm.capabilities[..] else { panic!("two") };
        assert_eq!(customers.name, "crm.customers", "two capabilities go there: neither is its name");
        assert_eq!(customers.description, "crm.customers described");
        assert_eq!(customers.examples, ["whom to call first?", "list the customers"]);
        assert_eq!(
            (customers.phrases.as_slice(), customers.tags.len()),
            (&["who to phone".to_owned()][..], 3)
        );
        assert_eq!(customers.output_modes, ["image/png"]);
        assert_eq!(
            (sectors.examples.len(), sectors.output_modes.as_slice()),
            (0, &media::DEFAULT.map(str::to_owned)[..])
        );
        assert_eq!(view(&snapshot(), "play").unwrap().capabilities[0].name, "play.any named");
    }

    #[test]
    fn a_node_that_is_not_there_or_has_nothing_to_read_is_no_agent() {
        for node in ["", "nobody", "hands", "crm/crm.customers"] {
            assert!(view(&snapshot(), node).is_none(), "{node}");
        }
    }

    #[test]
    fn any_text_goes_to_the_only_tool_and_among_several_it_must_match() {
        assert_eq!(routed("play", "bake bread"), "play/play.rules");
        assert_eq!(routed("crm", "whom to call first?"), "crm/crm.customers");
        assert_eq!(routed("crm", "bake bread"), "-");
    }
}
