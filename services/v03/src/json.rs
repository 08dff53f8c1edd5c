//! The JSON of v0.3 that JSON-RPC carries ⇄ messages of v1.0.
//!
//! In: `kind` may be left out wherever the members tell, also in parts in the form of v1.0 (`raw`, `url`,
//! `mediaType`); snake_case names are taken; null stands for absence; unknown members are skipped. Numbers that a
//! double would change are refused, as everywhere.
//!
//! Out: nothing that v0.3 does not have.

mod read;
mod write;

pub(crate) use read::BASE64;
use serde::Serialize;
use serde::de::DeserializeOwned;
use weft_core::Fault;

use crate::at::At;

/// A v1.0 message that serializes as v0.3 has it.
#[derive(Debug, Clone, Copy)]
pub struct Shown<'a, T>(pub &'a T);

/// A v1.0 message that can be read from the JSON of v0.3; implemented for every one that v0.3 has.
pub trait Read: Sized + sealed::Sealed {
    /// See [`decode`].
    #[doc(hidden)]
    fn read(text: &str, whole: &str) -> Result<Self, Fault>;
}

mod sealed {
    pub trait Sealed {}
}

/// Reads one message.
///
/// # Errors
/// `Invalid`, naming the member by its path; `whole` names the document itself.
pub fn decode<T: Read>(text: &str, whole: &str) -> Result<T, Fault> {
    T::read(text, whole)
}

/// Writes one message behind what is in `out`.
///
/// # Errors
/// `Internal` when it holds what JSON cannot say; nothing that came in as JSON does.
pub fn encode<T>(message: &T, out: &mut Vec<u8>) -> Result<(), Fault>
where
    for<'a> Shown<'a, T>: Serialize,
{
    serde_json::to_writer(out, &Shown(message))
        .map_err(|error| Fault::internal(format!("cannot write the answer as JSON: {error}")))
}

/// Reads text into the form of a message, before its members are looked at.
fn form<T: DeserializeOwned>(text: &str, at: &At<'_>) -> Result<T, Fault> {
    weft_proto::json::decode(text.as_bytes()).map_err(|fault| {
        let field = if fault.path.is_empty() { at.to_string() } else { fault.path };
        Fault::invalid(field, fault.reason)
    })
}
