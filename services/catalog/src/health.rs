//! What is known of the nodes from reports, and what it means now. Pure: time is told.

use std::collections::{BTreeMap, BTreeSet};

use weft_core::gate::{self, Lists, NodeTools};
use weft_proto::weft::health::State;
use weft_proto::weft::{Health, Node, ReportRequest, Tool};
use weft_proto::wkt::Timestamp;

/// Longest detail that is kept, in characters.
const DETAIL_CHARS_MAX: usize = 500;

/// The latest report of each node.
#[derive(Debug, Clone, Default)]
pub(crate) struct Reports {
    by_node: BTreeMap<String, Report>,
}

#[derive(Debug, Clone)]
struct Report {
    health: Health,
    served: Option<Vec<Tool>>,
    agent_backed: bool,
    /// When it came.
    came: Timestamp,
}

impl Reports {
    /// Keeps a report of a declared node and says how the node differs from its declaration.
    pub(crate) fn take(&mut self, request: ReportRequest, node: &Node, now: &Timestamp) -> Vec<String> {
        let health = request.health.unwrap_or_default();
        let served = (health.state() == State::Up).then_some(request.tools);
        let report = Report { health, served, agent_backed: request.agent_backed, came: *now };
        let differences = differences(node, report.served.as_deref());
        self.by_node.insert(request.node, report);
        differences
    }

    /// Forgets nodes that are no longer declared.
    pub(crate) fn keep(&mut self, nodes: &[Node]) {
        self.by_node.retain(|id, _| nodes.iter().any(|node| node.id == *id));
    }

    /// Writes into a declared node what is known of it. Without any report its health stays unset.
    pub(crate) fn apply(&self, node: &mut Node, now: &Timestamp, stale_ms: i64) {
        let Some(report) = self.by_node.get(&node.id) else { return };
        node.agent_backed = report.agent_backed;
        let (mut state, mut detail) = (report.health.state(), clip(&report.health.detail));
        let silent_ms = now.as_millis() - report.came.as_millis();
        let different = differences(node, report.served.as_deref());
        if silent_ms > stale_ms {
            state = State::Unreachable;
            detail = format!("nothing was heard of it for {} s", silent_ms / 1_000);
        } else if !different.is_empty() {
            state = State::Differs;
            detail = clip(&different.join("; "));
        }
        // The reporter's time when it gave one: it was nearer.
        let seen = report.health.seen.or(Some(report.came));
        node.health = Some(Health { state: state.into(), detail, seen });
    }
}

/// How the served tools differ from the declared ones, one line each. Not served as far as anyone knows: none.
fn differences(node: &Node, served: Option<&[Tool]>) -> Vec<String> {
    let Some(served) = served else { return Vec::new() };
    let names = |tools: &[Tool]| tools.iter().map(|tool| tool.name.clone()).collect::<BTreeSet<_>>();
    let tools =
        NodeTools { node: node.id.clone(), declared: names(&node.tools), served: Some(names(served)) };
    let lists = Lists { nodes: vec![tools], ..Lists::default() };
    let mut lines: Vec<String> = gate::differences(&lists).iter().map(ToString::to_string).collect();
    for declared in &node.tools {
        if served.iter().any(|tool| tool.name == declared.name && tool.read_only != declared.read_only) {
            let (is, says) =
                if declared.read_only { ("read-only", "not") } else { ("not read-only", "that it is") };
            lines.push(format!(
                "tool {} of node {}: declared {is}, the running node says {says}",
                declared.name, node.id
            ));
        }
    }
    lines
}

fn clip(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(DETAIL_CHARS_MAX).collect()
}
