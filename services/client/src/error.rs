//! Why a call did not succeed, and what is needed to find out what became of it.

use std::fmt;

use weft_core::{Fault, Kind};

/// A call that did not succeed.
#[derive(Debug)]
pub struct Error {
    /// What happened.
    pub why: Why,
    /// What identifies the work, so that a lost answer can be asked for again.
    pub trail: Box<Trail>,
}

/// What happened.
#[derive(Debug)]
pub enum Why {
    /// The agent answered with an error.
    Refused(Box<Refusal>),
    /// There was no connection: the agent has not heard of the call.
    Unreachable(String),
    /// The connection broke after the call was sent: the agent may have taken it.
    Broken(String),
    /// No answer in time: the agent may have taken the call.
    TimedOut(String),
    /// The answer does not fit the protocol.
    Malformed(String),
    /// An answer, card or event is over its limit.
    TooLarge {
        /// What was too large.
        what: &'static str,
        /// The limit in bytes.
        bytes_max: usize,
    },
    /// The agent sends callers elsewhere: to another origin, or with a status that does not keep the call.
    Redirected {
        /// HTTP status.
        status: u16,
        /// Where to.
        to: String,
    },
    /// Credentials are set, and the agent's interfaces lie on origins they may not go to.
    ForeignOrigin {
        /// Origin of the card.
        card: String,
        /// Origin of the interface.
        interface: String,
    },
    /// The card has no interface that can be spoken here.
    NoInterface(String),
    /// The stream was cut before the task ended, and could neither be resumed nor replaced by polling.
    Unfinished(String),
    /// What was asked for cannot be put on the wire.
    Unusable(String),
}

/// An agent's error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// In the mesh's terms.
    pub fault: Fault,
    /// The code as the agent gave it: JSON-RPC code, HTTP status or gRPC status code.
    pub code: i64,
}

/// What identifies the work of a call.
#[derive(Default, Clone, PartialEq, Eq)]
pub struct Trail {
    /// The task, when one was named by either side.
    pub task_id: Option<String>,
    /// The token that gives access to the task, when the agent works with such.
    pub access_token: Option<String>,
    /// The key under which a repeat gives the same task.
    pub idempotency_key: Option<String>,
}

// === impl Error ===

impl Error {
    pub(crate) fn new(why: Why) -> Error {
        Error { why, trail: Box::default() }
    }

    /// The kind of fault this is for whoever asked us.
    #[must_use]
    pub fn kind(&self) -> Kind {
        match &self.why {
            Why::Refused(refusal) => refusal.fault.kind,
            Why::Unreachable(_) | Why::Broken(_) | Why::Unfinished(_) => Kind::Unavailable,
            Why::TimedOut(_) => Kind::Deadline,
            Why::Malformed(_) | Why::TooLarge { .. } | Why::Redirected { .. } => Kind::InvalidAgentResponse,
            Why::ForeignOrigin { .. } => Kind::Denied,
            Why::NoInterface(_) => Kind::UnsupportedOperation,
            Why::Unusable(_) => Kind::Invalid,
        }
    }

    /// True when the agent may have done what was asked, although no answer says so.
    #[must_use]
    pub fn may_have_run(&self) -> bool {
        match &self.why {
            Why::Broken(_)
            | Why::TimedOut(_)
            | Why::Malformed(_)
            | Why::TooLarge { .. }
            | Why::Unfinished(_) => true,
            Why::Refused(_)
            | Why::Unreachable(_)
            | Why::Redirected { .. }
            | Why::ForeignOrigin { .. }
            | Why::NoInterface(_)
            | Why::Unusable(_) => false,
        }
    }

    /// When the agent said to try again, in milliseconds.
    #[must_use]
    pub fn retry_after_ms(&self) -> Option<u32> {
        match &self.why {
            Why::Refused(refusal) => refusal.fault.retry_after_ms,
            _ => None,
        }
    }

    /// The same as a fault of the mesh, the agent's own details kept.
    #[must_use]
    pub fn fault(&self) -> Fault {
        let mut fault = match &self.why {
            Why::Refused(refusal) => refusal.fault.clone(),
            _ => Fault::new(self.kind(), self.why.to_string()),
        };
        if let Some(id) = &self.trail.task_id {
            fault.metadata.entry("taskId".to_owned()).or_insert_with(|| id.clone());
        }
        fault
    }
}

impl From<Why> for Error {
    fn from(why: Why) -> Error {
        Error::new(why)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.why.fmt(f)?;
        if let Some(id) = &self.trail.task_id {
            write!(f, " (task {id})")?;
        }
        Ok(())
    }
}

impl std::error::Error for Error {}

// === impl Why ===

impl Why {
    /// True when trying again may help, since the other side was not there or not able.
    pub(crate) fn is_transient(&self) -> bool {
        match self {
            Why::Unreachable(_) | Why::Broken(_) | Why::TimedOut(_) => true,
            Why::Refused(refusal) => {
                matches!(refusal.fault.kind, Kind::Unavailable | Kind::Exhausted | Kind::Deadline)
            }
            _ => false,
        }
    }
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Why::Refused(refusal) => refusal.fault.fmt(f),
            Why::Unreachable(text) => write!(f, "cannot reach the agent: {text}"),
            Why::Broken(text) => write!(f, "the connection to the agent broke: {text}"),
            Why::TimedOut(text) => write!(f, "no answer in time: {text}"),
            Why::Malformed(text) => write!(f, "the answer does not fit the protocol: {text}"),
            Why::TooLarge { what, bytes_max } => write!(f, "{what} is over the limit of {bytes_max} bytes"),
            Why::Redirected { status, to } => {
                write!(
                    f,
                    "the agent answered {status} and sends callers to {to}; name that address if it is right"
                )
            }
            Why::ForeignOrigin { card, interface } => write!(
                f,
                "the card of {card} names interfaces at {interface}: credentials go there only when that origin is \
                 allowed"
            ),
            Why::NoInterface(text) => write!(f, "no interface of the agent can be used: {text}"),
            Why::Unfinished(text) => {
                write!(f, "the stream ended before the task did, and could not be resumed: {text}")
            }
            Why::Unusable(text) => f.write_str(text),
        }
    }
}

// === impl Trail ===

impl fmt::Debug for Trail {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Trail")
            .field("task_id", &self.task_id)
            .field("access_token", &self.access_token.as_ref().map(|_| "…"))
            .field("idempotency_key", &self.idempotency_key)
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_access_token_is_carried_and_never_printed() {
        let trail = Trail { access_token: Some("s3cret".into()), ..Trail::default() };
        let error = Error { why: Why::Broken("gone".into()), trail: Box::new(trail) };
        assert!(!format!("{error:?} {error}").contains("s3cret"));
        assert_eq!(error.trail.access_token.as_deref(), Some("s3cret"));
    }

    #[test]
    fn a_refusal_keeps_what_the_agent_said_and_gains_the_task() {
        let fault = Fault::exhausted("full", 1_500).with("queue", "7");
        let mut error = Error::new(Why::Refused(Box::new(Refusal { fault, code: 429 })));
        error.trail.task_id = Some("t1".into());
        assert_eq!((error.kind(), error.retry_after_ms()), (Kind::Exhausted, Some(1_500)));
        let fault = error.fault();
        assert_eq!((fault.metadata["queue"].as_str(), fault.metadata["taskId"].as_str()), ("7", "t1"));
    }
}
