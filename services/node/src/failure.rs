//! Why a tool has no answer: a stable code and a text for people, without a path, an address or a secret in it.

use weft_proto::weft::InvokeResult;

/// Why a tool has no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Failure {
    /// The source cannot be read, or does not hold what the manifest says. The text says what, not where.
    Unavailable(String),
    /// The tool's time was over.
    Timeout,
    /// The source is larger than the tool may read, in bytes.
    TooLarge(usize),
    /// An argument is not known or does not fit: its name, and what would be right.
    Argument(String, String),
    /// No rule of the scenario holds for the message.
    NoRule,
    /// The call holds no message for the agent.
    NoMessage,
    /// The remote agent refused, or what it said cannot be used.
    Agent {
        /// Stable, upper case.
        code: &'static str,
        /// For people.
        text: String,
    },
    /// The scenario asked for it.
    Played {
        /// The manifest's code.
        code: String,
        /// The manifest's text.
        error: String,
    },
}

impl Failure {
    /// Stable, upper case.
    pub(crate) fn code(&self) -> &str {
        match self {
            Failure::Unavailable(_) => "SOURCE_UNAVAILABLE",
            Failure::Timeout => "TIMEOUT",
            Failure::TooLarge(_) => "TOO_LARGE",
            Failure::Argument(..) => "INVALID_ARGUMENTS",
            Failure::NoRule => "NO_RULE",
            Failure::NoMessage => "INVALID_ARGUMENTS",
            Failure::Agent { code, .. } => code,
            Failure::Played { code, .. } => code,
        }
    }

    /// As the answer of a call.
    pub(crate) fn result(&self) -> InvokeResult {
        InvokeResult { error: self.to_string(), code: self.code().to_owned(), ..InvokeResult::default() }
    }
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Failure::Unavailable(what) => write!(f, "the source cannot be read now: {what}"),
            Failure::Timeout => f.write_str("the source did not answer within the tool's time"),
            Failure::TooLarge(bytes_max) => {
                write!(f, "the source holds more than the {bytes_max} bytes this tool reads")
            }
            Failure::Argument(name, remedy) => write!(f, "arguments.{name}: {remedy}"),
            Failure::NoRule => f.write_str("no rule of this scenario holds for the message"),
            Failure::NoMessage => f.write_str("a remote agent answers messages: send one with a part in it"),
            Failure::Agent { text, .. } => write!(f, "the remote agent: {text}"),
            Failure::Played { error, .. } => f.write_str(error),
        }
    }
}
