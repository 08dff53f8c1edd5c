//! Work comes in over one long-lived Claim stream; credit says how much more fits.

use std::sync::Arc;

use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::Status;
use weft_proto::weft::{ClaimRequest, claim_event};

use crate::Bridge;
use crate::backoff::Backoff;
use crate::run;

/// Claims and runs work until the bridge stops claiming; reconnects for ever. Runs are not tied to the stream: they
/// go on while it is away.
pub(crate) async fn claim(bridge: Arc<Bridge>) {
    let mut backoff = Backoff::stream();
    let mut directory = bridge.directory.clone();
    // Without a catalog every item would fail as unknown.
    tokio::select! {
        () = bridge.stop_claiming.cancelled() => return,
        seen = directory.wait_for(Option::is_some) => if seen.is_err() { return },
    }
    while !bridge.stop_claiming.is_cancelled() {
        let broken = tokio::select! {
            () = bridge.stop_claiming.cancelled() => return,
            broken = claim_once(&bridge, &mut backoff) => broken,
        };
        tracing::warn!(reason = broken.message(), "the claim stream ended: opening it again");
        tokio::select! {
            () = bridge.stop_claiming.cancelled() => return,
            () = tokio::time::sleep(backoff.pause(&bridge.env)) => {}
        }
    }
}

/// Never ends well: the stream has no end of its own.
async fn claim_once(bridge: &Arc<Bridge>, backoff: &mut Backoff) -> Status {
    let slots = bridge.settings.slots;
    let (requests, outgoing) = mpsc::channel(4);
    let mut unused = 0;
    grant(bridge, &requests, &mut unused, slots);
    let mut events = match bridge.tasks.clone().claim(ReceiverStream::new(outgoing)).await {
        Ok(answer) => answer.into_inner(),
        Err(status) => return status,
    };
    loop {
        tokio::select! {
            event = events.message() => match event {
                Ok(Some(event)) => {
                    backoff.reset();
                    match event.event {
                        Some(claim_event::Event::Item(item)) => {
                            unused = unused.saturating_sub(1);
                            run::start(bridge, item);
                        }
                        Some(claim_event::Event::Stop(stop)) => bridge.appender.stop(&stop.task_id, stop.lease),
                        None => {}
                    }
                }
                Ok(None) => return Status::unavailable("closed by the task store"),
                Err(status) => return status,
            },
            () = bridge.appender.freed() => {}
        }
        grant(bridge, &requests, &mut unused, slots);
    }
}

fn grant(bridge: &Bridge, requests: &mpsc::Sender<ClaimRequest>, unused: &mut u32, slots: u32) {
    let held = u32::try_from(bridge.appender.held()).unwrap_or(u32::MAX);
    let credit = credit(*unused, held, slots);
    if credit > 0 {
        let request = ClaimRequest { worker: bridge.settings.worker.clone(), credit };
        // A full channel means that the store has not read the last grants yet; the next event tries again.
        if requests.try_send(request).is_ok() {
            *unused += credit;
        }
    }
}

/// How much credit to add. It is added in bulk, once no more than half of the slots is granted and unused, so that a
/// busy bridge does not send one request an item.
fn credit(unused: u32, held: u32, slots: u32) -> u32 {
    if unused > slots / 2 { 0 } else { slots.saturating_sub(held).saturating_sub(unused) }
}

#[cfg(test)]
mod tests {
    use super::credit;

    #[test]
    fn credit_never_exceeds_the_free_slots_and_never_stays_at_none_while_a_slot_is_free() {
        for slots in [1, 2, 7, 64] {
            for held in 0..=slots {
                for unused in 0..=slots - held {
                    let more = credit(unused, held, slots);
                    assert!(unused + more + held <= slots, "{unused} + {more} + {held} > {slots}");
                    assert!(unused + more > 0 || held == slots, "stalled at {unused}, {held}, {slots}");
                }
            }
        }
    }

    #[test]
    fn credit_is_added_in_bulk() {
        assert_eq!(credit(0, 0, 64), 64);
        assert_eq!(credit(63, 0, 64), 0);
        assert_eq!(credit(32, 0, 64), 32);
    }
}
