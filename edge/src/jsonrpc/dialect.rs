//! Which shapes a JSON-RPC call speaks, decided by its version and its method; the two are never mixed in one answer.

use weft_core::Fault;
use weft_proto::a2a::StreamResponse;
use weft_v03::fault::Form;
use weft_v03::jsonrpc::{DELETED, Method};

use super::error::Refusal;
use crate::a2a::{Call, Operation, Reply};
use crate::caller::{self, Version};
use crate::json;

/// The shapes of one call and its answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dialect {
    /// ProtoJSON of A2A v1.0.
    V1,
    /// The JSON of A2A v0.3.
    V03(Method),
}

// === impl Dialect ===

impl Dialect {
    /// Finds the operation that a method means to a caller of this version. Without a version the method decides. To a
    /// caller that says 1.0 the names of v0.3 are aliases.
    pub(crate) fn find(
        method: &str,
        said: Option<Version>,
        spoken: &[Version],
    ) -> Result<(Dialect, Operation), Refusal> {
        let unknown = || Refusal::Method(method.to_owned());
        let operation = Operation::find(method).ok_or_else(unknown)?;
        let is_old = method.contains('/');
        match said {
            Some(Version::V1) => Ok((Dialect::V1, operation)),
            None if !is_old => Ok((Dialect::V1, operation)),
            None if !spoken.contains(&Version::V03) => Err(caller::not_spoken("0.3", spoken).into()),
            Some(Version::V03) | None => {
                let method = Method::find(method).ok_or_else(unknown)?;
                Ok((Dialect::V03(method), operation))
            }
        }
    }

    /// Reads the parameters of a call.
    pub(crate) fn read(self, operation: Operation, params: &str) -> Result<Call, Fault> {
        match self {
            Dialect::V1 => Call::from_json(operation, params, "params"),
            Dialect::V03(method) => method.read(params).map(Call::from),
        }
    }

    /// Writes an answer that is no stream.
    pub(crate) fn write(self, reply: &Reply, out: &mut Vec<u8>) -> Result<(), Fault> {
        match (self, reply) {
            (Dialect::V1, Reply::Deleted) => {
                // A JSON-RPC result that says nothing is null.
                out.extend_from_slice(b"null");
                Ok(())
            }
            (Dialect::V1, reply) => reply.to_json(out),
            (Dialect::V03(_), reply) => match reply {
                Reply::Sent(sent) => weft_v03::json::encode(sent, out),
                Reply::Task(task) => weft_v03::json::encode(task, out),
                Reply::PushConfig(config) => weft_v03::json::encode(config, out),
                Reply::PushConfigs(configs) => weft_v03::json::encode(configs, out),
                Reply::Card(card) => weft_v03::rest::card(card, out),
                Reply::Deleted => {
                    out.extend_from_slice(DELETED);
                    Ok(())
                }
                Reply::Tasks(_) | Reply::Stream(_) => Err(Fault::internal("v0.3 has no such answer")),
            },
        }
    }

    /// Writes one event of a stream.
    pub(crate) fn write_event(self, event: &StreamResponse, out: &mut Vec<u8>) -> Result<(), Fault> {
        match self {
            Dialect::V1 => json::encode(event, out),
            Dialect::V03(_) => weft_v03::json::encode(event, out),
        }
    }

    /// A fault in the words and codes of the dialect.
    pub(crate) fn refusal(self, fault: Fault) -> Refusal {
        match self {
            Dialect::V1 => Refusal::Fault(fault),
            Dialect::V03(_) => Refusal::Old(Form::Json.fault(fault)),
        }
    }
}
