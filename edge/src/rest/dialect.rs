//! Which shapes an HTTP+JSON call speaks.

use http::HeaderMap;
use weft_core::Fault;
use weft_proto::a2a::StreamResponse;
use weft_v03::fault::Form;
use weft_v03::files::{self, Parts};
use weft_v03::{rest as v03, wire::Downgrade};

use super::answer::Refusal;
use super::query::Query;
use super::route::Route;
use crate::a2a::{Call, Operation, Reply};
use crate::caller::Version;
use crate::json;
use crate::v03::{get_push_config, writes_files_as_text};

/// The shapes of one call and its answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Dialect {
    /// ProtoJSON of A2A v1.0.
    V1,
    /// ProtoJSON of A2A v0.3.
    V03 {
        /// Files are written as base64 text in the place of their bytes.
        text: bool,
    },
}

// === impl Dialect ===

impl Dialect {
    pub(super) fn of(version: Version, headers: &HeaderMap) -> Dialect {
        match version {
            Version::V1 => Dialect::V1,
            Version::V03 => Dialect::V03 { text: writes_files_as_text(headers) },
        }
    }

    /// Puts a call together from path, query and body.
    pub(super) fn read(self, route: &Route, query: Query, body: &[u8]) -> Result<Call, Fault> {
        match (self, route.operation) {
            (Dialect::V03 { text }, Operation::SendMessage) => Ok(Call::SendMessage(message(body, text)?)),
            (Dialect::V03 { text }, Operation::SendStreamingMessage) => {
                Ok(Call::SendStreamingMessage(message(body, text)?))
            }
            (Dialect::V03 { .. }, Operation::CreatePushConfig) => {
                Ok(Call::CreatePushConfig(v03::push_config(body, &route.task_id)?))
            }
            _ => match (self, read(route, query, body)?) {
                (Dialect::V03 { .. }, Call::GetPushConfig(request)) => Ok(get_push_config(request)),
                (Dialect::V03 { .. }, Call::GetTask(mut request)) => {
                    // 0 stands for unset there.
                    request.history_length = request.history_length.filter(|length| *length != 0);
                    Ok(Call::GetTask(request))
                }
                (_, call) => Ok(call),
            },
        }
    }

    /// Writes an answer that is no stream.
    pub(super) fn write(self, reply: Reply, out: &mut Vec<u8>) -> Result<(), Fault> {
        let Dialect::V03 { text } = self else { return reply.to_json(out) };
        match reply {
            Reply::Sent(sent) => v03::encode(shown(sent, text), out),
            Reply::Task(task) => v03::encode(shown(task, text), out),
            Reply::PushConfig(config) => v03::encode(config, out),
            Reply::PushConfigs(configs) => v03::encode(configs, out),
            Reply::Card(card) => v03::card(&card, out),
            Reply::Deleted => reply.to_json(out),
            Reply::Tasks(_) | Reply::Stream(_) => Err(Fault::internal("v0.3 has no such answer")),
        }
    }

    /// Writes one event of a stream.
    pub(super) fn write_event(self, event: StreamResponse, out: &mut Vec<u8>) -> Result<(), Fault> {
        match self {
            Dialect::V1 => json::encode(&event, out),
            Dialect::V03 { text } => v03::encode(shown(event, text), out),
        }
    }

    /// A refusal in the words of the dialect.
    pub(super) fn refusal(self, refusal: Refusal) -> Refusal {
        match self {
            Dialect::V1 => refusal,
            Dialect::V03 { .. } => refusal.old(|fault| Form::Wire.fault(fault)),
        }
    }
}

fn message(body: &[u8], text: bool) -> Result<weft_proto::a2a::SendMessageRequest, Fault> {
    let mut request = v03::send(body)?;
    if text {
        files::from_text(&mut request);
    }
    Ok(request)
}

fn shown<T: Parts + Downgrade>(mut answer: T, text: bool) -> T {
    if text {
        files::to_text(&mut answer);
    }
    answer
}

fn read(route: &Route, mut query: Query, body: &[u8]) -> Result<Call, Fault> {
    let call = match route.operation {
        Operation::GetTask => Call::GetTask(query.get_task()?),
        Operation::ListTasks => Call::ListTasks(query.list_tasks()?),
        Operation::ListPushConfigs => Call::ListPushConfigs(query.list_push_configs()?),
        operation => {
            let text = std::str::from_utf8(body).map_err(|_| Fault::invalid("body", "must be UTF-8"))?;
            // Some clients write `null` where they have no body.
            let text = if matches!(text.trim(), "" | "null") { "{}" } else { text };
            Call::from_json(operation, text, "body")?.at(&query.text("tenant"))?
        }
    };
    call.about(&route.task_id, &route.config_id)
}
