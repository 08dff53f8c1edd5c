//! Who was not let do what, on its way to the signer's record of security events. No call waits for it: what finds the
//! queue full, or a signer that does not take it, is counted and gone.
//!
//! Credentials that prove nothing are not written down here: whoever judges them does that.

use std::net::IpAddr;
use std::time::Duration;

use http::Extensions;
use tokio::sync::mpsc;
use tracing::Span;
use weft_chassis::{Env, Peer, trace};
use weft_core::Fault;
use weft_proto::weft::audit_client::AuditClient;
use weft_proto::weft::audit_event::Outcome;
use weft_proto::weft::{AuditEvent, RecordRequest};

use crate::access::{Admitted, Denial, Who};
use crate::edge::peer_of;
use crate::metrics::Counters;
use crate::upstreams::bounded;

/// Most events that wait; more are lost.
const QUEUE_MAX: usize = 1_024;
/// Most events of one call to the signer.
const BATCH_MAX: usize = 64;

/// The way to the record. Cheap to use: it never waits.
pub(crate) struct Audit {
    queue: mpsc::Sender<AuditEvent>,
    counters: Counters,
}

// === impl Audit ===

impl Audit {
    /// Writes down what is noted for as long as calls are answered: until the mesh stops, and `drain` longer. The signer
    /// may take `within` for each call.
    pub(crate) fn open(
        client: AuditClient<Peer>,
        (within, drain): (Duration, Duration),
        counters: &Counters,
        env: &Env,
    ) -> Audit {
        let (queue, events) = mpsc::channel(QUEUE_MAX);
        let stop = env.stop().clone();
        let stopped = async move {
            stop.cancelled().await;
            tokio::time::sleep(drain).await;
        };
        env.spawn(write(client, within, events, counters.clone(), stopped));
        Audit { queue, counters: counters.clone() }
    }

    /// A request was refused `target` with this fault. Written down when the gate has let it through; whoever has not
    /// proved anything is counted.
    pub(crate) fn refused(&self, extensions: &Extensions, target: &str, fault: &Fault) {
        match (extensions.get::<Admitted>(), Denial::of(fault)) {
            (Some(Admitted(who)), _) => self.denied(who, peer_of(extensions), target, fault),
            (None, Some(unproved @ (Denial::Credentials | Denial::Invalid))) => {
                self.counters.denied(unproved.reason());
            }
            (None, _) => {}
        }
    }

    /// Somebody was refused `target` with this fault; nothing when that says nothing about what they may do.
    pub(crate) fn denied(&self, who: &Who, peer: IpAddr, target: &str, fault: &Fault) {
        let Some(denial) = Denial::of(fault) else { return };
        self.counters.denied(denial.reason());
        let target = fault.metadata.get("capability").map_or(target, String::as_str);
        self.note("authorize", Some(who), peer, target, Some(denial));
    }

    /// Credentials that cannot be any, so that the signer is not asked about them.
    pub(crate) fn malformed(&self, peer: IpAddr) {
        self.note("authenticate", None, peer, "", Some(Denial::Malformed));
    }

    /// Something an administrator did here.
    pub(crate) fn done(&self, action: &str, who: &Who, peer: IpAddr) {
        self.note(action, Some(who), peer, "", None);
    }

    fn note(&self, action: &str, who: Option<&Who>, peer: IpAddr, target: &str, denial: Option<Denial>) {
        let owner = who.and_then(|who| who.owner.as_ref());
        let event = AuditEvent {
            action: action.to_owned(),
            owner: owner.map_or(String::new(), ToString::to_string),
            target: target.to_owned(),
            outcome: denial.map_or(Outcome::Ok, |_| Outcome::Denied).into(),
            reason: denial.map_or("", Denial::reason).to_owned(),
            trace_id: trace::trace_id(&Span::current()).unwrap_or_default(),
            peer: peer.to_string(),
            ..AuditEvent::default()
        };
        if self.queue.try_send(event).is_err() {
            self.counters.unrecorded("full", 1);
        }
    }
}

async fn write(
    mut client: AuditClient<Peer>,
    within: Duration,
    mut events: mpsc::Receiver<AuditEvent>,
    counters: Counters,
    stopped: impl Future<Output = ()>,
) {
    tokio::pin!(stopped);
    let mut failing = false;
    loop {
        let mut batch = Vec::with_capacity(BATCH_MAX);
        let taken = tokio::select! {
            biased;
            taken = events.recv_many(&mut batch, BATCH_MAX) => taken,
            () = &mut stopped => return,
        };
        if taken == 0 {
            return;
        }
        match bounded(within, client.record(RecordRequest { events: batch })).await {
            Ok(_) => failing = false,
            Err(fault) => {
                counters.unrecorded("refused", taken);
                if !failing {
                    tracing::warn!(error = fault.message, "security events cannot be written down");
                }
                failing = true;
            }
        }
    }
}
