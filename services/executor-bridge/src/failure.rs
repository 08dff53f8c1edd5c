//! The ways in which a call to a node comes to nothing. Each has a stable code, a text that says what to do, and an
//! outcome for spans and counters.

use weft_core::{Fault, Kind};
use weft_proto::weft::InvokeResult;

/// Longest text of a node that is passed on, in characters.
const REASON_CHARS_MAX: usize = 500;
/// Longest code of a node that is passed on, in characters.
const CODE_CHARS_MAX: usize = 64;

/// Why a call to a node gave no result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Failure {
    /// Nobody answered, or somebody asked to come back later: worth trying again.
    Unreachable(String),
    /// The seal for it cannot be had now: worth trying again.
    NoSeal(String),
    /// The answer broke off before its result came: worth trying again while nothing was passed on.
    Broken(String),
    /// The node refused: seal, scope or unknown tool.
    Denied { code: String, reason: String },
    /// The tool failed.
    Error { code: String, reason: String },
    /// The bound on silence or on the whole call was over.
    Timeout(String),
    /// What came is not what a node may say, or more than is taken.
    Garbage(String),
    /// The catalog knows no such capability.
    UnknownCapability(String),
}

impl Failure {
    /// The failure a node stated itself.
    pub(crate) fn of_result(result: &InvokeResult) -> Failure {
        let reason = clip(&result.error, REASON_CHARS_MAX);
        let reason = if reason.is_empty() { "no reason was given".to_owned() } else { reason };
        let code = clip(&result.code, CODE_CHARS_MAX);
        if result.denied {
            let code = if code.is_empty() { "DENIED".to_owned() } else { code };
            Failure::Denied { code, reason }
        } else {
            let code = if code.is_empty() { "TOOL_FAILED".to_owned() } else { code };
            Failure::Error { code, reason }
        }
    }

    /// Stable, upper case.
    pub(crate) fn code(&self) -> &str {
        match self {
            Failure::Unreachable(_) => "NODE_UNREACHABLE",
            Failure::NoSeal(_) => "SIGNER_UNREACHABLE",
            Failure::Broken(_) => "STREAM_BROKEN",
            Failure::Denied { code, .. } | Failure::Error { code, .. } => code,
            Failure::Timeout(_) => "TIMEOUT",
            Failure::Garbage(_) => "INVALID_AGENT_RESPONSE",
            Failure::UnknownCapability(_) => "UNKNOWN_CAPABILITY",
        }
    }

    /// `unreachable`, `denied` or `error`.
    pub(crate) fn outcome(&self) -> &'static str {
        match self {
            Failure::Unreachable(_) => "unreachable",
            Failure::Denied { .. } => "denied",
            _ => "error",
        }
    }

    /// True when the same call may work a moment later.
    pub(crate) fn passing(&self) -> bool {
        matches!(self, Failure::Unreachable(_) | Failure::NoSeal(_) | Failure::Broken(_))
    }

    /// For people: what happened and what to do.
    pub(crate) fn text(&self, node: &str, tool: &str) -> String {
        match self {
            Failure::Unreachable(reason) => format!(
                "{node} cannot be reached ({reason}): start the node or correct its address, then send again"
            ),
            Failure::NoSeal(reason) => {
                format!(
                    "the call to {node} cannot be sealed now ({reason}): bring the signer back, then send again"
                )
            }
            Failure::Broken(reason) => {
                format!("the answer of {tool} on {node} broke off ({reason}): send again")
            }
            Failure::Denied { reason, .. } => {
                format!("{node} refused {tool} ({reason}): check the node's keys and its tools")
            }
            Failure::Error { reason, .. } => format!("{tool} on {node} failed: {reason}"),
            Failure::Timeout(reason) => {
                format!("{tool} on {node} did not answer in time ({reason}): ask for less or raise the bound")
            }
            Failure::Garbage(reason) => {
                format!("{node} answered {tool} against the protocol ({reason}): update the node")
            }
            Failure::UnknownCapability(capability) => {
                format!(
                    "the catalog knows no capability `{capability}`: see the agent card for what can be asked"
                )
            }
        }
    }

    /// The same as a fault, for a caller that is no task.
    pub(crate) fn fault(&self, node: &str, tool: &str) -> Fault {
        let kind = match self {
            Failure::Unreachable(_) | Failure::NoSeal(_) | Failure::Broken(_) => Kind::Unavailable,
            Failure::Denied { .. } => Kind::Denied,
            Failure::Timeout(_) => Kind::Deadline,
            Failure::Garbage(_) => Kind::InvalidAgentResponse,
            Failure::UnknownCapability(_) => Kind::NotFound,
            Failure::Error { .. } => Kind::Internal,
        };
        Fault::new(kind, self.text(node, tool)).with("code", self.code()).with("node", node)
    }
}

/// A node's text without control characters, at most this long.
fn clip(text: &str, chars_max: usize) -> String {
    text.chars().filter(|c| !c.is_control()).take(chars_max).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_that_states_no_reason_still_fails_with_a_code_and_a_text() {
        let failed = Failure::of_result(&InvokeResult::default());
        assert_eq!(failed.code(), "TOOL_FAILED");
        assert!(failed.text("crm", "reach").contains("no reason was given"));
        let denied = Failure::of_result(&InvokeResult { denied: true, ..InvokeResult::default() });
        assert_eq!((denied.code(), denied.outcome()), ("DENIED", "denied"));
    }

    #[test]
    fn a_nodes_text_is_cut_and_stripped_of_control_characters() {
        let failed = Failure::of_result(&InvokeResult {
            error: format!("bad\r\n{}", "x".repeat(10_000)),
            code: "C".repeat(1_000),
            ..InvokeResult::default()
        });
        assert_eq!(failed.code().len(), CODE_CHARS_MAX);
        let text = failed.text("crm", "reach");
        assert!(text.len() < 600 && !text.contains('\n'), "{text}");
    }

    #[test]
    fn only_what_may_work_a_moment_later_is_tried_again() {
        let passing = [Failure::Unreachable(String::new()), Failure::Broken(String::new())];
        assert!(passing.iter().all(Failure::passing));
        for lasting in [
            Failure::Timeout(String::new()),
            Failure::Garbage(String::new()),
            Failure::Denied { code: String::new(), reason: String::new() },
            Failure::Error { code: String::new(), reason: String::new() },
        ] {
            assert!(!lasting.passing(), "{lasting:?}");
        }
    }
}
