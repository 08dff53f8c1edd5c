use weft_proto::a2a::{AgentCard, AgentExtension};
use weft_proto::weft::capability::Target;
use weft_proto::weft::{MeshInfo, Node, Tool, ToolTarget};

use super::*;
use crate::{tenant, value};

fn snapshot() -> Snapshot {
    let target = |node: &str| Some(Target::Tool(ToolTarget { node: node.into(), tool: "t".into() }));
    let capability = |id: &str, node: &str| Capability {
        id: id.into(),
        name: "N".into(),
        description: "D".into(),
        phrases: vec!["a phrase for matching only".into()],
        target: target(node),
        ..Capability::default()
    };
    let node = |id: &str| Node {
        id: id.into(),
        name: "N".into(),
        role: "R".into(),
        address: "http://inside.example".into(),
        tools: vec![Tool { name: "t".into(), description: "T".into(), read_only: true }],
        ..Node::default()
    };
    Snapshot {
        mesh: Some(MeshInfo {
            name: "M".into(),
            description: "what it is for".into(),
            version: "1".into(),
            extensions: vec![AgentExtension {
                uri: "urn:x".into(),
                required: true,
                ..AgentExtension::default()
            }],
            extended_description: "who runs it".into(),
            ..MeshInfo::default()
        }),
        nodes: vec![Node { agent_backed: true, ..node("lan") }, node("scanner")],
        capabilities: vec![capability("network.state", "lan"), capability("sector.movement", "scanner")],
        ..Snapshot::default()
    }
}

fn public() -> Public {
    Public { base: "https://mesh.example/x".into(), warnings: vec!["w".into()] }
}

fn all_faces() -> Faces {
    Faces {
        streaming: true,
        push_notifications: true,
        extended_card: true,
        grpc: Some("mesh.example:443".into()),
        v03: true,
        legacy_card: true,
    }
}

/// Binding, version, URL and tenant of each interface.
fn interfaces(card: &AgentCard) -> Vec<String> {
    let line = |i: &weft_proto::a2a::AgentInterface| {
        format!("{} {} {} {}", i.protocol_binding, i.protocol_version, i.url, i.tenant)
    };
    card.supported_interfaces.iter().map(|i| line(i).trim_end().to_owned()).collect()
}

#[test]
fn the_card_shows_each_capability_as_a_skill() {
    let card = project(&snapshot(), "", &public(), &Faces::default());
    let ids: Vec<_> = card.skills.iter().map(|s| s.id.as_str()).collect();
    assert_eq!(ids, ["network.state", "sector.movement"]);
    assert_eq!(card.skills[0].tags, ["network"]);
    assert_eq!(card.documentation_url, None);
    assert_eq!(warnings(&card), ["w"]);
    for private in ["matching only", "who runs it", "inside.example"] {
        assert!(!format!("{card:?}").contains(private), "{private}");
    }
}

#[test]
fn only_what_is_served_is_on_the_card_and_v1_comes_first() {
    let card = project(&snapshot(), "", &public(), &Faces::default());
    assert_eq!(
        interfaces(&card),
        ["JSONRPC 1.0 https://mesh.example/x/a2a", "HTTP+JSON 1.0 https://mesh.example/x/rest"]
    );
    let switches = |card: &AgentCard| {
        let c = card.capabilities.clone().unwrap();
        [c.streaming, c.push_notifications, c.extended_agent_card]
    };
    assert_eq!(switches(&card), [Some(false); 3]);

    let card = project(&snapshot(), "", &public(), &all_faces());
    assert_eq!(
        interfaces(&card),
        [
            "JSONRPC 1.0 https://mesh.example/x/a2a",
            "HTTP+JSON 1.0 https://mesh.example/x/rest",
            "GRPC 1.0 mesh.example:443",
            "JSONRPC 0.3 https://mesh.example/x/a2a",
            "HTTP+JSON 0.3 https://mesh.example/x/rest",
            "GRPC 0.3 mesh.example:443",
        ]
    );
    assert_eq!(switches(&card), [Some(true); 3]);
}

#[test]
fn a_node_is_an_agent_of_its_own_under_its_own_addresses() {
    let view = tenant::view(&snapshot(), "lan").unwrap();
    let card = project(&view, "lan", &public(), &all_faces());
    assert_eq!((card.name.as_str(), card.description.as_str()), ("N", "R"));
    assert_eq!(card.skills.iter().map(|s| s.id.as_str()).collect::<Vec<_>>(), ["t"]);
    assert_eq!(
        interfaces(&card),
        [
            "JSONRPC 1.0 https://mesh.example/x/agents/lan/a2a lan",
            "HTTP+JSON 1.0 https://mesh.example/x/rest lan",
            "GRPC 1.0 mesh.example:443 lan",
            "JSONRPC 0.3 https://mesh.example/x/agents/lan/a2a",
        ]
    );
}

#[test]
fn only_skills_behind_an_agent_are_said_to_be_agent_backed_and_declared_extensions_follow() {
    let card = project(&snapshot(), "", &public(), &Faces::default());
    let extensions = card.capabilities.unwrap().extensions;
    let params = extensions[0].params.clone().unwrap();
    assert_eq!(params.fields["agentBacked"], value::texts(["network.state"]));
    assert_eq!((extensions[1].uri.as_str(), extensions[1].required), ("urn:x", true));
}

#[test]
fn the_extended_card_adds_the_operators_text_and_the_nodes_but_not_where_they_are() {
    let card = project(&snapshot(), "", &public(), &all_faces());
    let extended = extend(&card, &snapshot(), &public());
    assert_eq!(extended.description, "what it is for\n\nwho runs it");
    let params = extended.capabilities.as_ref().unwrap().extensions[0].params.clone().unwrap();
    let node = |id: &str| {
        value::object([
            ("id", value::text(id)),
            ("name", value::text("N")),
            ("role", value::text("R")),
            ("tools", value::texts(["t"])),
            ("card", value::text(public().card_url(id))),
        ])
    };
    assert_eq!(params.fields["nodes"], value::list([node("lan"), node("scanner")]));
    assert_eq!(warnings(&extended), ["w"]);
    assert!(!format!("{extended:?}").contains("inside.example"));
    assert_eq!((extended.skills, extended.supported_interfaces), (card.skills, card.supported_interfaces));
}

#[test]
fn the_authority_of_a_base_url_has_a_port() {
    for (base, expected) in [
        ("https://mesh.example", Some("mesh.example:443")),
        ("http://mesh.example/x/y", Some("mesh.example:80")),
        ("http://127.0.0.1:8420", Some("127.0.0.1:8420")),
        ("https://[2001:db8::1]", Some("[2001:db8::1]:443")),
        ("https://[2001:db8::1]:8443/x", Some("[2001:db8::1]:8443")),
        ("gopher://mesh.example", None),
        ("https:///x", None),
    ] {
        let public = Public { base: base.into(), warnings: vec![] };
        assert_eq!(public.authority().as_deref(), expected, "{base}");
    }
}
