//! An open stream of one reader: its first event has come, so it has begun well.

use std::sync::Arc;

use tracing::Span;
use weft_core::Fault;
use weft_proto::a2a::stream_response::Payload;
use weft_proto::weft::TaskEvent;

use super::call::tell_in_task;
use super::{Events, Scope, keep_history};
use crate::edge::Edge;
use crate::files::Outline;
use crate::limits::StreamPermit;
use crate::metrics::OpenStream;
use crate::observe;

/// Dropped with the connection, which drops the watch and never the work.
pub(crate) struct Stream {
    events: Events,
    /// How much history the caller wants to see in a task.
    history_length: Option<i32>,
    edge: Arc<Edge>,
    tenant: String,
    /// To be told with the task that comes first.
    issued: Option<String>,
    span: Span,
    over: bool,
    _permit: StreamPermit,
    _open: OpenStream,
}

// === impl Stream ===

impl Stream {
    pub(super) fn new(
        scope: &Scope<'_>,
        permit: StreamPermit,
        events: Events,
        history_length: Option<i32>,
    ) -> Stream {
        Stream {
            events,
            history_length,
            edge: Arc::clone(scope.edge),
            tenant: scope.tenant.to_owned(),
            issued: None,
            span: Span::current(),
            over: false,
            _permit: permit,
            _open: scope.edge.counters().stream_opened(),
        }
    }

    pub(super) fn tell(&mut self, token: &str) {
        self.issued = Some(token.to_owned());
    }

    /// The edge it runs in.
    pub(crate) fn edge(&self) -> &Arc<Edge> {
        &self.edge
    }

    /// The next event; a fault in the middle is the last thing it says; `None` after the end.
    pub(crate) async fn next(&mut self) -> Option<Result<TaskEvent, Fault>> {
        if self.over {
            return None;
        }
        let stop = self.edge.env().stop().clone();
        let mut next = tokio::select! {
            biased;
            next = self.events.next() => next?,
            () = stop.cancelled() => Err(stopping()),
        };
        match &mut next {
            Ok(event) => {
                let outline = Outline { edge: &self.edge, tenant: &self.tenant };
                event.body.iter_mut().for_each(|body| outline.event(body));
                if let Some(Payload::Task(task)) = event.body.as_mut().and_then(|body| body.payload.as_mut())
                {
                    self.span.record("weft.task.id", task.id.as_str());
                    keep_history(task, self.history_length);
                    if let Some(token) = self.issued.take() {
                        tell_in_task(task, &token);
                    }
                }
            }
            Err(fault) => {
                self.over = true;
                observe::failed(&self.span, fault.kind.row().reason, fault.kind.row().jsonrpc);
            }
        }
        Some(next)
    }
}

/// The mesh stops: its readers come back to the next one.
fn stopping() -> Fault {
    let text = "the mesh is stopping, the work goes on: come back with SubscribeToTask";
    Fault { retry_after_ms: Some(1_000), ..Fault::unavailable(text) }
}
