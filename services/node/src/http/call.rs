//! One admitted call: its events, and its room in the node until they end or the caller leaves.

use futures::{Stream, StreamExt};
use tokio::sync::OwnedSemaphorePermit;
use tracing::{Instrument, Span};
use weft_proto::weft::{InvokeEvent, invoke_event};

use crate::host::Events;

/// See the module.
pub(super) struct Call {
    events: Events,
    /// Held, not read: dropping it is what gives the room back.
    _room: OwnedSemaphorePermit,
}

/// Says how a call ended; dropped before its result, the caller left or the node broke.
struct Outcome {
    span: Span,
    ended: bool,
}

// === impl Call ===

impl Call {
    pub(super) fn new(events: Events, room: OwnedSemaphorePermit) -> Call {
        Call { events, _room: room }
    }

    /// The events, each made within `span`, which is told the outcome.
    pub(super) fn traced(self, span: Span) -> impl Stream<Item = InvokeEvent> + Send + 'static {
        let outcome = Outcome { span, ended: false };
        futures::stream::unfold((self, outcome), async |(mut call, mut outcome)| {
            let event = call.events.next().instrument(outcome.span.clone()).await?;
            outcome.hear(&event);
            Some((event, (call, outcome)))
        })
    }
}

// === impl Outcome ===

impl Outcome {
    fn hear(&mut self, event: &InvokeEvent) {
        let Some(invoke_event::Event::Result(result)) = &event.event else { return };
        self.ended = true;
        let outcome = match (result.ok, result.empty) {
            (true, false) => "ok",
            (true, true) => "empty",
            (false, _) => "error",
        };
        self.span.record("weft.outcome", outcome);
        if !result.ok {
            self.span.record("otel.status_code", "ERROR");
            self.span.record("error.type", result.code.as_str());
        }
    }
}

impl Drop for Outcome {
    fn drop(&mut self) {
        if !self.ended {
            self.span.record("weft.outcome", "cancelled");
        }
    }
}
