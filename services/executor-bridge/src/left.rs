//! Work that goes on at a node's agent although its task has ended: the node is told, so that it ends there too.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;
use tracing::Instrument;
use weft_proto::weft::{InvokeRequest, WorkItem};

use crate::Bridge;
use crate::backoff::Backoff;
use crate::directory::{Place, Target};
use crate::door::Call;

/// Pauses between tries, and how long one may take.
const RETRY: (Duration, Duration) = (Duration::from_millis(200), Duration::from_secs(2));
const CALL: Duration = Duration::from_secs(10);

/// What names the work to its node.
pub(crate) struct Left {
    place: Arc<Place>,
    request: InvokeRequest,
}

impl Left {
    /// `None` for a node whose work ends with its call.
    pub(crate) fn of(item: &WorkItem, target: &Target) -> Option<Left> {
        let request = || InvokeRequest {
            tool: target.tool.clone(),
            task_id: item.task_id.clone(),
            context_id: item.context_id.clone(),
            attempt: item.attempt,
            idempotency_key: item.idempotency_key.clone(),
            ..InvokeRequest::default()
        };
        target.place.agent.then(|| Left { place: target.place.clone(), request: request() })
    }

    /// Tells the node, beside everything else; again for as long as a node that is away is called again.
    pub(crate) fn tell(self, bridge: &Arc<Bridge>) {
        let work = self.insist(bridge.clone()).in_current_span();
        bridge.env.spawn(work);
    }

    async fn insist(self, bridge: Arc<Bridge>) {
        let until = Instant::now() + Duration::from_millis(bridge.settings.unreachable_ms);
        let mut backoff = Backoff::new(RETRY.0, RETRY.1);
        loop {
            let call = Call { place: &self.place, request: &self.request, within: CALL };
            let Err(failure) = bridge.door.cancel(call).await else { return };
            if !failure.passing() || Instant::now() >= until {
                let reason = failure.text(&self.place.node, &self.request.tool);
                tracing::warn!(
                    reason,
                    task = self.request.task_id,
                    "a node was not told that its work is over"
                );
                return;
            }
            tokio::select! {
                () = bridge.env.stop().cancelled() => return,
                () = tokio::time::sleep(backoff.pause(&bridge.env)) => {}
            }
        }
    }
}
