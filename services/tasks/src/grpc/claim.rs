//! A worker's claim stream: credit in, work and stop notices out.

use tokio::sync::mpsc;
use tokio_stream::StreamExt;
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Status, Streaming};
use weft_proto::weft::{ClaimEvent, ClaimRequest, claim_event};

use super::{Events, stopping};
use crate::ledger::Ledger;
use crate::queue::Worker;
use crate::store::Store;

/// Events on their way to a worker.
const EVENTS_MAX: usize = 16;
/// Most credit that is remembered.
const CREDIT_MAX: u32 = 65_536;

/// Serves a worker until it or the mesh goes. The worker keeps its half of the stream open.
pub(super) fn serve<S: Store>(
    ledger: Ledger<S>,
    worker: Worker,
    requests: Streaming<ClaimRequest>,
) -> Events<ClaimEvent> {
    let (events, read) = mpsc::channel(EVENTS_MAX);
    let env = ledger.env.clone();
    env.spawn(run(ledger, worker, requests, events));
    Box::pin(ReceiverStream::new(read))
}

async fn run<S: Store>(
    ledger: Ledger<S>,
    mut worker: Worker,
    mut requests: Streaming<ClaimRequest>,
    events: mpsc::Sender<Result<ClaimEvent, Status>>,
) {
    let (id, mut credit) = (worker.id(), 0u32);
    loop {
        let event = tokio::select! {
            biased;
            () = ledger.env.stop().cancelled() => {
                let _ = events.send(Err(stopping())).await;
                return;
            }
            () = events.closed() => return,
            request = requests.next() => {
                let Some(Ok(request)) = request else { return };
                if request.credit == 0 {
                    ledger.queue.renew_prepared(id);
                }
                credit = credit.saturating_add(request.credit).min(CREDIT_MAX);
                continue;
            }
            Some(stop) = worker.stops.recv() => claim_event::Event::Stop(stop),
            (task, lease) = ledger.queue.take(id), if credit > 0 => {
                match ledger.item(task, lease).await {
                    Ok(Some(item)) => {
                        credit -= 1;
                        claim_event::Event::Item(item)
                    }
                    Ok(None) => {
                        ledger.queue.end(task, lease);
                        continue;
                    }
                    // It could not be read; the lease runs out and the task is tried again.
                    Err(_) => continue,
                }
            }
        };
        if events.send(Ok(ClaimEvent { event: Some(event) })).await.is_err() {
            return;
        }
    }
}
