//! The record of security events: lines under `<data>/audit`, numbered, each with the digest of the line before it.
//!
//! | module | contents |
//! |---|---|
//! | `line` | one event as a line, and back |
//! | `folder` | the files and their names |
//! | `log` | [`Log`]: appends, begins new files, lets the oldest go |
//! | `read` | [`Cursor`]: events from a number on |
//! | `check` | [`check`]: whether anything was changed, taken out or put in |
//! | `writer` | many events, one write: [`Audit`] |
//! | `failures` | the same failure again and again is counted, not written each time |
//! | `grpc` | the service |
//!
//! Whoever can write into the folder can write the whole record anew; against that, `weft audit export` carries it
//! elsewhere, and [`check`] tells the last digest to compare with.

mod check;
mod failures;
mod folder;
mod grpc;
mod line;
mod log;
mod read;
mod writer;

use std::path::Path;

use weft_chassis::Env;
use weft_proto::weft::AuditEvent;

pub use check::{Checked, check};
pub use log::Log;
pub use read::{Cursor, ReadFault};
pub(crate) use writer::Audit;

use crate::Settings;

/// Bounds of the record.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// A file that has reached this is followed by the next one, in bytes.
    pub file_bytes_max: u64,
    /// Files kept; the oldest goes first.
    pub files_max: usize,
}

// === impl Limits ===

impl Limits {
    /// As set.
    #[must_use]
    pub fn of(settings: &Settings) -> Limits {
        Limits {
            file_bytes_max: u64::from(settings.audit_file_bytes_max),
            files_max: usize::try_from(settings.audit_files_max).unwrap_or(usize::MAX),
        }
    }
}

/// Writes one event of a command on this machine into the record under `data`, beside a mesh that runs or not. Blocks.
///
/// # Errors
/// Names the file.
pub fn note(data: &Path, settings: &Settings, event: AuditEvent, env: &Env) -> Result<(), String> {
    Log::new(data, Limits::of(settings)).append(vec![event], env.now())
}
