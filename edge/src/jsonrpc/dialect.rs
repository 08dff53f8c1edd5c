//! Which shapes a JSON-RPC call speaks, decided by its version and its method; the two are never mixed in one answer.

use weft_core::Fault;
use weft_proto::a2a::StreamResponse;

use super::error::Refusal;
use crate::a2a::{Call, Operation, Reply};
use crate::caller::{self, Version};
use crate::json;

/// The shapes of one call and its answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dialect {
    /// ProtoJSON of A2A v1.0.
    V1,
}

// === impl Dialect ===

impl Dialect {
    /// Finds the operation that a method means to a caller of this version. Without a version the method decides.
    pub(crate) fn find(
        method: &str,
        said: Option<Version>,
        spoken: &[Version],
    ) -> Result<(Dialect, Operation), Refusal> {
        let unknown = || Refusal::Method(method.to_owned());
        let operation = Operation::find(method).ok_or_else(unknown)?;
        let slashed = method.contains('/');
        match said {
            Some(Version::V1) => Ok((Dialect::V1, operation)),
            None if !slashed => Ok((Dialect::V1, operation)),
            Some(Version::V03) if !slashed => Err(unknown()),
            Some(Version::V03) | None => Err(caller::not_spoken("0.3", spoken).into()),
        }
    }

    /// Reads the parameters of a call.
    pub(crate) fn read(self, operation: Operation, params: &str) -> Result<Call, Fault> {
        match self {
            Dialect::V1 => Call::from_json(operation, params, "params"),
        }
    }

    /// Writes an answer that is no stream.
    pub(crate) fn write(self, reply: &Reply, out: &mut Vec<u8>) -> Result<(), Fault> {
        match self {
            Dialect::V1 => reply.to_json(out),
        }
    }

    /// Writes one event of a stream.
    pub(crate) fn write_event(self, event: &StreamResponse, out: &mut Vec<u8>) -> Result<(), Fault> {
        match self {
            Dialect::V1 => json::encode(event, out),
        }
    }
}
