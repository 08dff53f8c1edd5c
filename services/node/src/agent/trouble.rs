//! Why an agent cannot be asked now, or at all; in words without addresses.

use weft_client::{Error, Why};
use weft_core::Kind;

use crate::failure::Failure;

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Trouble {
    /// The agent is away: worth trying again.
    Away {
        reason: String,
        /// It has the message, or may have it.
        begun: bool,
    },
    /// Trying again does not help.
    Failed(Failure),
}

impl Trouble {
    /// Of a call that sends nothing which could be done twice.
    pub(crate) fn of(error: &Error, begun: bool) -> Trouble {
        tracing::debug!(%error, "a remote agent gave no answer");
        if is_passing(error) {
            Trouble::Away { reason: words(&error.why), begun }
        } else {
            Trouble::Failed(failure(error))
        }
    }
}

impl From<Failure> for Trouble {
    fn from(failure: Failure) -> Trouble {
        Trouble::Failed(failure)
    }
}

/// True when the agent was not there or not able, and may be a moment later.
pub(crate) fn is_passing(error: &Error) -> bool {
    matches!(error.kind(), Kind::Unavailable | Kind::Exhausted | Kind::Deadline)
}

/// What an agent's last word on a call means for the tool. It names what a reconciliation needs.
pub(crate) fn failure(error: &Error) -> Failure {
    let code = match &error.why {
        Why::Refused(_) => "AGENT_REFUSED",
        Why::NoInterface(_) | Why::ForeignOrigin { .. } | Why::Unusable(_) => "AGENT_UNUSABLE",
        _ => "INVALID_AGENT_RESPONSE",
    };
    let mut text = words(&error.why);
    if let Some(task) = &error.trail.task_id {
        text = format!("{text} (its task {task})");
    }
    Failure::Agent { code, text }
}

fn words(why: &Why) -> String {
    match why {
        Why::Refused(refusal) => format!("it answered: {}", refusal.fault),
        Why::Unreachable(_) => "there is no connection".to_owned(),
        Why::Broken(_) => "the connection broke".to_owned(),
        Why::TimedOut(_) => "it did not answer in time".to_owned(),
        Why::Malformed(_) => "what it answered does not fit the protocol".to_owned(),
        Why::TooLarge { what, bytes_max } => format!("{what} is larger than {bytes_max} bytes"),
        Why::Redirected { status, .. } => {
            format!("it answered {status} and sends callers elsewhere: correct agent.url")
        }
        Why::ForeignOrigin { .. } => "its card sends callers to another origin".to_owned(),
        Why::NoInterface(text) => format!("no interface of it can be used: {text}"),
        Why::Unfinished(_) => "its stream was cut and could not be taken up again".to_owned(),
        Why::Unusable(_) => "the call cannot be made".to_owned(),
    }
}
