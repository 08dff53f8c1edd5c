//! Why a command did not succeed, and with which exit code it ends.

use std::fmt;

/// A command's failure.
#[derive(Debug)]
pub enum Failure {
    /// Bad arguments or settings. Exit code 2.
    Usage(String),
    /// The mesh cannot be reached, or the connection broke. Exit code 3.
    Unreachable(String),
    /// The mesh answered with an error. Exit code 1.
    Refused(String),
    /// The task ended as failed, rejected or canceled; it was printed. Exit code 4.
    TaskUnsuccessful,
    /// The mesh could not start, or a part of it broke. Exit code 5.
    Mesh(String),
}

impl Failure {
    /// The process's exit code.
    pub fn exit_code(&self) -> u8 {
        match self {
            Failure::Refused(_) => 1,
            Failure::Usage(_) => 2,
            Failure::Unreachable(_) => 3,
            Failure::TaskUnsuccessful => 4,
            Failure::Mesh(_) => 5,
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Usage(text)
            | Failure::Unreachable(text)
            | Failure::Refused(text)
            | Failure::Mesh(text) => f.write_str(text),
            Failure::TaskUnsuccessful => f.write_str("the task did not complete"),
        }
    }
}

impl std::error::Error for Failure {}
