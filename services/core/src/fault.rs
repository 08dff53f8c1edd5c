//! The closed list of ways to fail, and the one table that says what each is on every binding.
//!
//! Source: A2A v1.0.1 §5.4 (codes), §9.5, §10.6, §11.6 (shapes). A boundary turns a [`Fault`] into a gRPC status, a
//! JSON-RPC error or an HTTP answer once, by [`Kind::row`]; nothing else knows a code.

use std::collections::BTreeMap;
use std::fmt;

/// Domain of A2A's own reasons in `google.rpc.ErrorInfo`.
pub const A2A_DOMAIN: &str = "a2a-protocol.org";
/// Domain of the mesh's reasons in `google.rpc.ErrorInfo`.
pub const WEFT_DOMAIN: &str = "weft";

/// Why something could not be done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// Which of the closed list.
    pub kind: Kind,
    /// For people: lower case, no full stop, says what was being tried and what to do.
    pub message: String,
    /// Fields at fault, when the input was bad.
    pub violations: Vec<Violation>,
    /// Further facts for programs, carried in `ErrorInfo.metadata`.
    pub metadata: BTreeMap<String, String>,
    /// When to try again, in milliseconds; set by whoever is full.
    pub retry_after_ms: Option<u32>,
}

/// One field that broke a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// Path in the request, JSON names, for example `message.parts[0].data`.
    pub field: String,
    /// What is wrong and what would be right.
    pub description: String,
}

/// The closed list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// No such task for this caller.
    TaskNotFound,
    /// The task is terminal and not canceled.
    TaskNotCancelable,
    /// Push notifications are off.
    PushNotificationNotSupported,
    /// The operation does not fit the task's state or the agent's capabilities.
    UnsupportedOperation,
    /// A media type that the agent does not take or give.
    ContentTypeNotSupported,
    /// An agent behind the mesh answered against the protocol.
    InvalidAgentResponse,
    /// There is no extended card.
    ExtendedAgentCardNotConfigured,
    /// The card requires an extension that the caller did not activate.
    ExtensionSupportRequired,
    /// The protocol version asked for is not spoken here.
    VersionNotSupported,
    /// The input breaks a rule; see the violations.
    Invalid,
    /// Something other than a task does not exist.
    NotFound,
    /// The same key with another content.
    Conflict,
    /// The caller has not said who it is.
    Unauthenticated,
    /// The caller may not do this.
    Denied,
    /// A body, page or value is over its limit.
    TooLarge,
    /// A queue, rate or store limit is reached; try later.
    Exhausted,
    /// A part of the mesh or a node cannot be reached now; try later.
    Unavailable,
    /// The time for it was over.
    Deadline,
    /// The caller went away.
    Cancelled,
    /// A defect, or a broken disk.
    Internal,
}

/// What a [`Kind`] is on each binding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Row {
    /// `ErrorInfo.reason`.
    pub reason: &'static str,
    /// `ErrorInfo.domain`.
    pub domain: &'static str,
    /// JSON-RPC `error.code`.
    pub jsonrpc: i32,
    /// HTTP status of the HTTP+JSON binding.
    pub http: u16,
    /// gRPC status code.
    pub grpc: i32,
}

impl Kind {
    /// Every kind, in the order of the table.
    pub const ALL: [Kind; 20] = [
        Kind::TaskNotFound,
        Kind::TaskNotCancelable,
        Kind::PushNotificationNotSupported,
        Kind::UnsupportedOperation,
        Kind::ContentTypeNotSupported,
        Kind::InvalidAgentResponse,
        Kind::ExtendedAgentCardNotConfigured,
        Kind::ExtensionSupportRequired,
        Kind::VersionNotSupported,
        Kind::Invalid,
        Kind::NotFound,
        Kind::Conflict,
        Kind::Unauthenticated,
        Kind::Denied,
        Kind::TooLarge,
        Kind::Exhausted,
        Kind::Unavailable,
        Kind::Deadline,
        Kind::Cancelled,
        Kind::Internal,
    ];

    /// The codes of this kind on every binding.
    pub const fn row(self) -> Row {
        const fn a2a(reason: &'static str, jsonrpc: i32, http: u16, grpc: i32) -> Row {
            Row { reason, domain: A2A_DOMAIN, jsonrpc, http, grpc }
        }
        const fn own(reason: &'static str, jsonrpc: i32, http: u16, grpc: i32) -> Row {
            Row { reason, domain: WEFT_DOMAIN, jsonrpc, http, grpc }
        }
        match self {
            Kind::TaskNotFound => a2a("TASK_NOT_FOUND", -32001, 404, 5),
            Kind::TaskNotCancelable => a2a("TASK_NOT_CANCELABLE", -32002, 400, 9),
            Kind::PushNotificationNotSupported => a2a("PUSH_NOTIFICATION_NOT_SUPPORTED", -32003, 400, 9),
            Kind::UnsupportedOperation => a2a("UNSUPPORTED_OPERATION", -32004, 400, 9),
            Kind::ContentTypeNotSupported => a2a("CONTENT_TYPE_NOT_SUPPORTED", -32005, 400, 3),
            Kind::InvalidAgentResponse => a2a("INVALID_AGENT_RESPONSE", -32006, 500, 13),
            Kind::ExtendedAgentCardNotConfigured => a2a("EXTENDED_AGENT_CARD_NOT_CONFIGURED", -32007, 400, 9),
            Kind::ExtensionSupportRequired => a2a("EXTENSION_SUPPORT_REQUIRED", -32008, 400, 9),
            Kind::VersionNotSupported => a2a("VERSION_NOT_SUPPORTED", -32009, 400, 9),
            Kind::Invalid => own("INVALID_PARAMS", -32602, 400, 3),
            Kind::NotFound => own("NOT_FOUND", -32050, 404, 5),
            Kind::Conflict => own("CONFLICT", -32051, 409, 6),
            Kind::Unauthenticated => own("UNAUTHENTICATED", -32052, 401, 16),
            Kind::Denied => own("PERMISSION_DENIED", -32053, 403, 7),
            Kind::TooLarge => own("TOO_LARGE", -32054, 413, 8),
            Kind::Exhausted => own("RESOURCE_EXHAUSTED", -32055, 429, 8),
            Kind::Unavailable => own("UNAVAILABLE", -32056, 503, 14),
            Kind::Deadline => own("DEADLINE_EXCEEDED", -32057, 504, 4),
            Kind::Cancelled => own("CANCELLED", -32058, 499, 1),
            Kind::Internal => own("INTERNAL", -32603, 500, 13),
        }
    }

    /// The kind with this `ErrorInfo.reason`.
    pub fn from_reason(reason: &str) -> Option<Kind> {
        Kind::ALL.into_iter().find(|kind| kind.row().reason == reason)
    }
}

impl Fault {
    /// A fault with a message and nothing else.
    pub fn new(kind: Kind, message: impl Into<String>) -> Fault {
        Fault {
            kind,
            message: message.into(),
            violations: Vec::new(),
            metadata: BTreeMap::new(),
            retry_after_ms: None,
        }
    }

    /// One bad field.
    pub fn invalid(field: impl Into<String>, description: impl Into<String>) -> Fault {
        Fault::violated(vec![Violation { field: field.into(), description: description.into() }])
    }

    /// Several bad fields; the message names the first.
    pub fn violated(violations: Vec<Violation>) -> Fault {
        let message = match violations.as_slice() {
            [] => "invalid request".to_owned(),
            [only] => format!("{}: {}", only.field, only.description),
            [first, rest @ ..] => format!("{}: {} (and {} more)", first.field, first.description, rest.len()),
        };
        Fault { violations, ..Fault::new(Kind::Invalid, message) }
    }

    /// The same for an unknown task and for somebody else's.
    pub fn task_not_found(id: &str) -> Fault {
        Fault::new(Kind::TaskNotFound, format!("task not found: {}", clip(id)))
    }

    /// A limit is reached; try again after this many milliseconds.
    pub fn exhausted(message: impl Into<String>, retry_after_ms: u32) -> Fault {
        Fault { retry_after_ms: Some(retry_after_ms), ..Fault::new(Kind::Exhausted, message) }
    }

    /// A part cannot be reached now.
    pub fn unavailable(message: impl Into<String>) -> Fault {
        Fault::new(Kind::Unavailable, message)
    }

    /// A defect or a broken disk.
    pub fn internal(message: impl Into<String>) -> Fault {
        Fault::new(Kind::Internal, message)
    }

    /// Adds one fact for programs.
    #[must_use]
    pub fn with(mut self, key: &str, value: impl Into<String>) -> Fault {
        self.metadata.insert(key.to_owned(), value.into());
        self
    }
}

/// At most 80 characters of a caller's text, for messages.
fn clip(text: &str) -> String {
    let mut clipped: String = text.chars().filter(|c| !c.is_control()).take(80).collect();
    if clipped.len() < text.len() {
        clipped.push('…');
    }
    clipped
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Fault {}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_kind_has_a_reason_and_a_json_rpc_code_of_its_own() {
        let reasons: BTreeSet<_> = Kind::ALL.iter().map(|k| k.row().reason).collect();
        let codes: BTreeSet<_> = Kind::ALL.iter().map(|k| k.row().jsonrpc).collect();
        assert_eq!((reasons.len(), codes.len()), (Kind::ALL.len(), Kind::ALL.len()));
        for kind in Kind::ALL {
            assert_eq!(Kind::from_reason(kind.row().reason), Some(kind));
        }
    }

    #[test]
    fn a_callers_text_is_clipped_before_it_is_echoed() {
        let fault = Fault::task_not_found(&"x".repeat(10_000));
        assert!(fault.message.chars().count() < 120, "{}", fault.message);
        assert!(!Fault::task_not_found("a\r\nb").message.contains('\n'));
    }
}
