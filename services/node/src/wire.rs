//! ProtoJSON on the node's side of the wire.

use serde::Serialize;
use serde::de::DeserializeOwned;
use weft_proto::json;
use weft_proto::wkt::Value;

/// Reads a message.
///
/// # Errors
/// What is wrong, and where.
pub(crate) fn read<T: DeserializeOwned>(text: &[u8]) -> Result<T, String> {
    json::decode(text).map_err(|fault| fault.to_string())
}

/// Reads any JSON value.
///
/// # Errors
/// What is wrong, and where; also when a number in it cannot be kept exactly.
pub(crate) fn value(text: &[u8]) -> Result<Value, String> {
    read(text)
}

/// Writes a message. What JSON cannot say is refused when it comes in, so that nothing of it can be here; should it
/// all the same, it is logged and the reader gets an empty message, which holds no result.
pub(crate) fn text<T: Serialize>(message: &T) -> String {
    json::encode_string(message).unwrap_or_else(|fault| {
        tracing::error!(%fault, "an answer cannot be written as JSON");
        "{}".to_owned()
    })
}
