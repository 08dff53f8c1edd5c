//! The drift gate: what the card advertises, what is dispatched, what the console offers and what the nodes serve must
//! be the same. Each list is read from outside by the caller; here they are only compared.

use std::collections::BTreeSet;
use std::fmt;

/// The lists, each as it was read from its own side.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Lists {
    /// Skill ids on the agent card.
    pub card: BTreeSet<String>,
    /// Capability ids that the executor-bridge can dispatch.
    pub dispatch: BTreeSet<String>,
    /// Capability ids that the console offers.
    pub console: BTreeSet<String>,
    /// Every declared node.
    pub nodes: Vec<NodeTools>,
}

/// Tool names of one node.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NodeTools {
    /// The node's id.
    pub node: String,
    /// What its manifest declares.
    pub declared: BTreeSet<String>,
    /// What it says it serves; unset when it could not be asked, which is no difference: nobody knows.
    pub served: Option<BTreeSet<String>>,
}

/// Where something is listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Side {
    /// The agent card.
    Card,
    /// The executor-bridge.
    Dispatch,
    /// The console.
    Console,
    /// The node's manifest.
    Declared,
    /// The running node.
    Served,
}

/// One thing that not every side knows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// Capability id, or tool name.
    pub id: String,
    /// The node, when `id` is a tool.
    pub node: Option<String>,
    /// Who lists it.
    pub listed: Vec<Side>,
    /// Who does not.
    pub missing: Vec<Side>,
}

/// Every difference: capabilities first, then tools node by node, each sorted by id. Empty: no drift.
#[must_use]
pub fn differences(lists: &Lists) -> Vec<Difference> {
    let Lists { card, dispatch, console, nodes } = lists;
    let capabilities = [(Side::Card, card), (Side::Dispatch, dispatch), (Side::Console, console)];
    let mut found = compare(&capabilities, None);
    for NodeTools { node, declared, served } in nodes {
        if let Some(served) = served {
            found.extend(compare(&[(Side::Declared, declared), (Side::Served, served)], Some(node)));
        }
    }
    found
}

fn compare(sides: &[(Side, &BTreeSet<String>)], node: Option<&String>) -> Vec<Difference> {
    let all: BTreeSet<&String> = sides.iter().flat_map(|(_, ids)| ids.iter()).collect();
    let mut found = Vec::new();
    for id in all {
        let (listed, missing): (Vec<_>, Vec<_>) = sides.iter().partition(|(_, ids)| ids.contains(id));
        if !missing.is_empty() {
            let names =
                |sides: Vec<&(Side, &BTreeSet<String>)>| sides.into_iter().map(|(side, _)| *side).collect();
            let (listed, missing) = (names(listed), names(missing));
            found.push(Difference { id: id.clone(), node: node.cloned(), listed, missing });
        }
    }
    found
}

// === impl Display ===

impl fmt::Display for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Side::Card => "the card",
            Side::Dispatch => "dispatch",
            Side::Console => "the console",
            Side::Declared => "the manifest",
            Side::Served => "the running node",
        })
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = |sides: &[Side]| sides.iter().map(ToString::to_string).collect::<Vec<_>>().join(" and ");
        let (listed, missing) = (text(&self.listed), text(&self.missing));
        match &self.node {
            Some(node) => write!(f, "tool {} of node {node}: in {listed}, not in {missing}", self.id),
            None => write!(f, "capability {}: in {listed}, not in {missing}", self.id),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(ids: &[&str]) -> BTreeSet<String> {
        ids.iter().map(|id| (*id).to_owned()).collect()
    }

    fn same() -> Lists {
        let ids = set(&["customer.reach", "sector.movement"]);
        let tools = set(&["crm.customers", "crm.industries"]);
        let node = NodeTools { node: "crm".into(), declared: tools.clone(), served: Some(tools) };
        Lists { card: ids.clone(), dispatch: ids.clone(), console: ids, nodes: vec![node] }
    }

    fn check(seed: impl FnOnce(&mut Lists), expected: &[&str]) {
        let mut lists = same();
        seed(&mut lists);
        let lines: Vec<_> = differences(&lists).iter().map(ToString::to_string).collect();
        assert_eq!(lines, expected);
    }

    #[test]
    fn equal_lists_have_no_difference() {
        check(|_| {}, &[]);
    }

    #[test]
    fn a_capability_that_one_side_lacks_is_found_on_each_side() {
        let gone = "customer.reach";
        check(
            |l| assert!(l.card.remove(gone)),
            &["capability customer.reach: in dispatch and the console, not in the card"],
        );
        check(
            |l| assert!(l.dispatch.remove(gone)),
            &["capability customer.reach: in the card and the console, not in dispatch"],
        );
        check(
            |l| assert!(l.console.remove(gone)),
            &["capability customer.reach: in the card and dispatch, not in the console"],
        );
    }

    #[test]
    fn a_capability_that_only_one_side_has_is_found_on_each_side() {
        let extra = || "x.y".to_owned();
        check(
            |l| assert!(l.card.insert(extra())),
            &["capability x.y: in the card, not in dispatch and the console"],
        );
        check(
            |l| assert!(l.dispatch.insert(extra())),
            &["capability x.y: in dispatch, not in the card and the console"],
        );
        check(
            |l| assert!(l.console.insert(extra())),
            &["capability x.y: in the console, not in the card and dispatch"],
        );
    }

    #[test]
    fn a_tool_is_compared_both_ways_between_manifest_and_node() {
        check(
            |l| l.nodes[0].served = Some(set(&["crm.customers"])),
            &["tool crm.industries of node crm: in the manifest, not in the running node"],
        );
        check(
            |l| assert!(l.nodes[0].declared.remove("crm.customers")),
            &["tool crm.customers of node crm: in the running node, not in the manifest"],
        );
    }

    #[test]
    fn a_node_that_could_not_be_asked_is_unknown_and_no_difference() {
        check(|l| l.nodes[0].served = None, &[]);
    }

    #[test]
    fn every_difference_is_told_not_only_the_first() {
        check(
            |l| {
                l.card.clear();
                l.nodes[0].served = Some(BTreeSet::new());
            },
            &[
                "capability customer.reach: in dispatch and the console, not in the card",
                "capability sector.movement: in dispatch and the console, not in the card",
                "tool crm.customers of node crm: in the manifest, not in the running node",
                "tool crm.industries of node crm: in the manifest, not in the running node",
            ],
        );
    }
}
