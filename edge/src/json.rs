//! ProtoJSON at the edge: text to messages with faults that name the field, messages to bytes.

use serde::Serialize;
use serde::de::DeserializeOwned;
use weft_core::Fault;
use weft_proto::json;

/// Reads one message.
///
/// # Errors
/// `Invalid` naming the field by its JSON path, or `whole` when the document itself is at fault.
pub(crate) fn decode<T: DeserializeOwned>(text: &str, whole: &str) -> Result<T, Fault> {
    json::decode(text.as_bytes()).map_err(|fault| {
        let field = if fault.path.is_empty() { whole.to_owned() } else { fault.path };
        Fault::invalid(field, fault.reason)
    })
}

/// Writes one message behind what is in `out`.
///
/// # Errors
/// `Internal` when it holds what JSON cannot say; nothing that came in as JSON does.
pub(crate) fn encode<T: Serialize>(message: &T, out: &mut Vec<u8>) -> Result<(), Fault> {
    serde_json::to_writer(out, message)
        .map_err(|error| Fault::internal(format!("cannot write the answer as JSON: {error}")))
}
