//! `[node]` and `[[tool]]`.

use std::collections::BTreeSet;
use std::time::Duration;

use weft_proto::weft;

use super::reader::Reader;
use super::{Agent, Manifest, Source, Tool, agent, capability, is_id, scenario, source};

/// Most tools of one node.
const TOOLS_MAX: usize = 64;
/// Ids that no node may have: paths of the HTTP+JSON binding begin with a node's id, or with one of these.
const RESERVED: [&str; 2] = ["tasks", "v1"];
/// Most bytes of one answer that a manifest may allow.
const BYTES_MAX: u64 = 16 * 1024 * 1024;
/// Most fields of one tool.
const FIELDS_MAX: usize = 64;

/// Reads a node's whole file.
pub(super) fn manifest(root: &Reader<'_>) -> Manifest {
    let mut node = weft::Node::default();
    match root.table("node") {
        Some(section) => node = declared(section),
        None if !root.has("node") => {
            root.wrong("node", "", "declare the node in a section [node] with id, name, role")
        }
        None => {}
    }
    let mut tools = Vec::new();
    for section in root.tables("tool", TOOLS_MAX) {
        let (public, tool) = tool(section);
        if tools.iter().any(|earlier: &Tool| earlier.name == tool.name) {
            root.wrong("tool", format!("\"{}\" twice", tool.name), "give each tool a name of its own");
        }
        node.tools.push(public);
        tools.push(tool);
    }
    if !root.has("tool") {
        root.wrong("tool", "", "declare at least one [[tool]]");
    }
    let mut capabilities = capability::all(root, Some(&node));
    let rules = scenario::rules(root);
    let is_direct = rules.iter().flat_map(|rule| &rule.steps).any(scenario::Step::is_message);
    for capability in &mut capabilities {
        let Some(weft::capability::Target::Tool(target)) = &capability.target else { continue };
        let plays = |tool: &Tool| tool.name == target.tool && tool.source == Source::Scenario;
        capability.direct = is_direct && tools.iter().any(plays);
    }
    let plays = tools.iter().any(|tool| tool.source == Source::Scenario);
    if plays && rules.is_empty() && !root.has("scenario") {
        root.wrong("scenario", "", "a tool of kind \"scenario\" needs at least one [[scenario.rule]]");
    }
    if !plays && !rules.is_empty() {
        root.wrong(
            "scenario",
            "declared",
            "no tool plays it: declare a tool with source = { kind = \"scenario\" }",
        );
    }
    let agent = remote(root, &tools);
    node.agent_backed = agent.is_some();
    Manifest { file: String::new(), node, tools, capabilities, rules, agent }
}

/// `[agent]` belongs to the tools that forward to it, and they to it.
fn remote(root: &Reader<'_>, tools: &[Tool]) -> Option<Agent> {
    let agent = agent::read(root);
    let forwards = tools.iter().any(|tool| matches!(tool.source, Source::A2a { .. }));
    if forwards && !root.has("agent") {
        let remedy =
            "a tool of kind \"a2a\" forwards to a remote agent: declare it in a section [agent] with url";
        root.wrong("agent", "", remedy);
    }
    if !forwards && root.has("agent") {
        let remedy = "no tool forwards to it: declare a tool with source = { kind = \"a2a\" }";
        root.wrong("agent", "declared", remedy);
    }
    agent
}

fn declared(section: Reader<'_>) -> weft::Node {
    let id = section.required("id", 63, "the node's id, for example \"crm\"");
    if !id.is_empty() && !is_id(&id, 63, "") {
        section.wrong("id", format!("\"{id}\""), "must be 1 to 63 lower case letters, digits and inner `-`");
    }
    if RESERVED.contains(&id.as_str()) {
        let remedy =
            "begins a path of the HTTP+JSON binding, where a node's id stands too: choose another id";
        section.wrong("id", format!("\"{id}\""), remedy);
    }
    let address = section.text("address", 2_048);
    if !address.is_empty() && !is_http(&address) {
        let remedy = "must be an absolute http:// or https:// URL without user, query or fragment, \
                      or be left out for a node that is hosted in this process";
        section.wrong("address", format!("\"{address}\""), remedy);
    }
    let seal = seal(&section);
    let public_key = section.text("public_key", 64);
    if !public_key.is_empty() {
        if !is_key(&public_key) {
            let remedy = "must be an Ed25519 public key: 43 characters of base64url without padding";
            section.wrong("public_key", format!("\"{public_key}\""), remedy);
        } else if seal != weft::SealMode::Ed25519 {
            section.wrong(
                "public_key",
                format!("\"{public_key}\""),
                "belongs to seal = \"ed25519\" only: remove one",
            );
        }
    }
    let node = weft::Node {
        id,
        name: section.required("name", 80, "the name people see"),
        role: section.required("role", 120, "one line: what this node is for"),
        address,
        seal: seal.into(),
        public_key,
        ..weft::Node::default()
    };
    section.finish();
    node
}

fn seal(section: &Reader<'_>) -> weft::SealMode {
    match section.text("seal", 32).as_str() {
        "" | "ed25519" => weft::SealMode::Ed25519,
        "derived" => weft::SealMode::Derived,
        "shared" => weft::SealMode::Shared,
        other => {
            section.wrong("seal", format!("\"{other}\""), "must be \"ed25519\", \"derived\" or \"shared\"");
            weft::SealMode::Unspecified
        }
    }
}

fn tool(section: Reader<'_>) -> (weft::Tool, Tool) {
    let name = section.required("name", 64, "the tool's name, for example \"crm.customers\"");
    if !name.is_empty() && !is_id(&name, 64, "._") {
        section.wrong(
            "name",
            format!("\"{name}\""),
            "must be lower case letters, digits and inner `.`, `-`, `_`",
        );
    }
    let description = section.required("description", 120, "one public line: what it answers");
    let source = match section.table("source") {
        Some(inner) => source::read(inner),
        None => {
            if !section.has("source") {
                section.wrong("source", "", "say where the rows come from: source = { kind = \"json\", … }");
            }
            None
        }
    };
    let fields = section.texts("fields", FIELDS_MAX, 64);
    let speaks = source.as_ref().is_some_and(|source| !source.has_rows());
    if speaks && !fields.is_empty() {
        section.wrong("fields", fields.join(", "), "a scenario or an agent answers no rows: remove it");
    }
    if !speaks && !section.has("fields") {
        section.wrong("fields", "", "list the fields that may leave the node, like [\"name\", \"region\"]");
    } else if !speaks && fields.is_empty() {
        section.wrong("fields", "empty", "list at least one field that may leave the node");
    }
    let whitelisted: BTreeSet<&String> = fields.iter().collect();
    let filters = section.texts("filters", FIELDS_MAX, 64);
    for filter in filters.iter().filter(|f| !whitelisted.contains(f)) {
        section.wrong(
            "filters",
            format!("\"{filter}\""),
            "must be one of `fields`: nobody may filter by what never leaves",
        );
    }
    if filters.iter().any(|f| f == "limit") {
        section.wrong(
            "filters",
            "\"limit\"",
            "every tool takes `limit` as a number of rows: rename the field",
        );
    }
    let as_of = Some(section.text("as_of", 64)).filter(|field| !field.is_empty());
    if let Some(field) = as_of.as_ref().filter(|f| !whitelisted.contains(f)) {
        section.wrong("as_of", format!("\"{field}\""), "must be one of `fields`");
    }
    let default_ms = if speaks { 600_000 } else { 5_000 };
    let default_bytes = if matches!(source, Some(Source::A2a { .. })) { BYTES_MAX } else { 256 * 1024 };
    let tool = Tool {
        name: name.clone(),
        // A tool without a source was reported: the manifest is refused, and this one never seen.
        source: source.unwrap_or(Source::Network(source::NetworkTable::Interfaces)),
        fields,
        filters,
        as_of,
        rows_max: usize(section.number("rows_max", 100, 1..=10_000)),
        bytes_max: usize(section.number("bytes_max", default_bytes, 1_024..=BYTES_MAX)),
        timeout: Duration::from_millis(section.number("timeout_ms", default_ms, 1..=3_600_000)),
    };
    section.finish();
    (weft::Tool { name, description, read_only: true }, tool)
}

fn usize(n: u64) -> usize {
    usize::try_from(n).unwrap_or(usize::MAX)
}

/// An absolute http(s) URL: a host, perhaps a port and a path, nothing that hides a credential.
pub(super) fn is_http(text: &str) -> bool {
    let rest = text.strip_prefix("http://").or_else(|| text.strip_prefix("https://"));
    rest.is_some_and(|rest| {
        let authority = rest.split('/').next().unwrap_or_default();
        !authority.is_empty()
            && !authority.starts_with(':')
            && !authority.contains('@')
            && !rest.contains(['?', '#', '\\'])
            && rest.bytes().all(|b| b.is_ascii_graphic())
    })
}

fn is_key(text: &str) -> bool {
    text.len() == 43 && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_')
}
