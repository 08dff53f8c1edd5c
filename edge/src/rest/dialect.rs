//! Which shapes an HTTP+JSON call speaks.

use weft_core::Fault;
use weft_proto::a2a::StreamResponse;

use super::query::Query;
use super::route::Route;
use crate::a2a::{Call, Operation, Reply};
use crate::caller::Version;
use crate::json;

/// The shapes of one call and its answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Dialect {
    /// ProtoJSON of A2A v1.0.
    V1,
}

// === impl Dialect ===

impl Dialect {
    pub(super) fn of(version: Version) -> Dialect {
        match version {
            Version::V1 | Version::V03 => Dialect::V1,
        }
    }

    /// Puts a call together from path, query and body.
    pub(super) fn read(self, route: &Route, query: Query, body: &[u8]) -> Result<Call, Fault> {
        match self {
            Dialect::V1 => read(route, query, body),
        }
    }

    /// Writes an answer that is no stream.
    pub(super) fn write(self, reply: &Reply, out: &mut Vec<u8>) -> Result<(), Fault> {
        match self {
            Dialect::V1 => reply.to_json(out),
        }
    }

    /// Writes one event of a stream.
    pub(super) fn write_event(self, event: &StreamResponse, out: &mut Vec<u8>) -> Result<(), Fault> {
        match self {
            Dialect::V1 => json::encode(event, out),
        }
    }
}

fn read(route: &Route, mut query: Query, body: &[u8]) -> Result<Call, Fault> {
    let call = match route.operation {
        Operation::GetTask => Call::GetTask(query.get_task()?),
        Operation::ListTasks => Call::ListTasks(query.list_tasks()?),
        Operation::ListPushConfigs => Call::ListPushConfigs(query.list_push_configs()?),
        operation => {
            let text = std::str::from_utf8(body).map_err(|_| Fault::invalid("body", "must be UTF-8"))?;
            let text = if text.trim().is_empty() { "{}" } else { text };
            Call::from_json(operation, text, "body")?.at(&query.text("tenant"))?
        }
    };
    call.about(&route.task_id, &route.config_id)
}
