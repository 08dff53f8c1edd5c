//! `[[capability]]`: what the mesh advertises, and which tool answers it.

use weft_proto::weft;

use super::is_id;
use super::reader::Reader;

/// Most capabilities of one file.
const CAPABILITIES_MAX: usize = 64;
/// What a capability takes and gives unless it says otherwise.
const MODES: [&str; 2] = ["text/plain", "application/json"];

/// Reads every `[[capability]]` of a file. Within a node's file the target is a tool of that node unless it names
/// another one; in the mesh's own file it must name the node.
pub(super) fn all(root: &Reader<'_>, home: Option<&weft::Node>) -> Vec<weft::Capability> {
    let mut capabilities: Vec<weft::Capability> = Vec::new();
    for section in root.tables("capability", CAPABILITIES_MAX) {
        let capability = one(section, home);
        if capabilities.iter().any(|earlier| earlier.id == capability.id) {
            root.wrong(
                "capability",
                format!("\"{}\" twice", capability.id),
                "give each capability an id of its own",
            );
        }
        capabilities.push(capability);
    }
    capabilities
}

fn one(section: Reader<'_>, home: Option<&weft::Node>) -> weft::Capability {
    let id = section.required("id", 64, "a stable id, for example \"customer.reach\"");
    let shaped = is_id(&id, 64, "._") && id.contains('.');
    if !id.is_empty() && !shaped {
        let remedy = "must be `group.verb` in lower case letters, digits, `-` and `_`";
        section.wrong("id", format!("\"{id}\""), remedy);
    }
    let examples = section.texts("examples", 24, 200);
    if examples.is_empty() {
        let found = if section.has("examples") { "empty" } else { "" };
        section.wrong("examples", found, "list at least one question it answers");
    }
    let capability = weft::Capability {
        id,
        name: section.required("name", 80, "the name people see"),
        description: section.required("description", 500, "one public line: what it answers"),
        tags: section.texts("tags", 24, 40),
        examples,
        phrases: section.texts("phrases", 200, 200),
        input_modes: modes(&section, "input_modes"),
        output_modes: modes(&section, "output_modes"),
        target: target(&section, home).map(weft::capability::Target::Tool),
        direct: false,
    };
    section.finish();
    capability
}

fn modes(section: &Reader<'_>, key: &'static str) -> Vec<String> {
    let modes = section.texts(key, 16, 100);
    if !section.has(key) {
        return MODES.map(str::to_owned).to_vec();
    }
    for mode in &modes {
        let halves = mode.split_once('/').filter(|(a, b)| !a.is_empty() && !b.is_empty() && !b.contains('/'));
        if halves.is_none() || mode.contains(' ') {
            section.wrong(key, format!("\"{mode}\""), "must be a media type like \"text/plain\"");
        }
    }
    if modes.is_empty() {
        section.wrong(key, "empty", "list at least one media type, or leave it out");
    }
    modes
}

fn target(section: &Reader<'_>, home: Option<&weft::Node>) -> Option<weft::ToolTarget> {
    let tool = section.required("tool", 64, "the tool that answers it");
    let mut node = section.text("node", 63);
    match home {
        Some(home) if node.is_empty() => node.clone_from(&home.id),
        None if node.is_empty() => section.wrong("node", "", "the id of the node that has the tool"),
        _ => {}
    }
    if tool.is_empty() {
        return None;
    }
    if let Some(home) = home.filter(|home| home.id == node)
        && !home.tools.iter().any(|served| served.name == tool)
    {
        let tools: Vec<_> = home.tools.iter().map(|t| t.name.as_str()).collect();
        section.wrong(
            "tool",
            format!("\"{tool}\""),
            format!("this node has no such tool; it has {}", tools.join(", ")),
        );
    }
    Some(weft::ToolTarget { node, tool })
}
