//! What the edge counts: calls by method and outcome, how long they took, streams that are open, who was not let in or
//! had to wait. No label ever names a caller.

use std::time::Duration;

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use weft_chassis::Metrics;

/// Upper bounds of the duration buckets, in seconds.
const BUCKETS: [f64; 12] = [0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1.0, 5.0, 30.0];

/// The counters of one edge. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Counters {
    calls: Family<Call, Counter>,
    durations: Family<Method, Histogram>,
    streams: Gauge,
    denied: Family<Reason, Counter>,
    limited: Family<Limit, Counter>,
    unrecorded: Family<Reason, Counter>,
}

/// Both labels come from closed lists.
#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Call {
    method: &'static str,
    outcome: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Method {
    method: &'static str,
}

/// From a closed list.
#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Reason {
    reason: &'static str,
}

/// The name of a setting, or of a value in the access file.
#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Limit {
    limit: &'static str,
}

/// A stream that is open until this is dropped.
pub(crate) struct OpenStream(Gauge);

// === impl Counters ===

impl Counters {
    pub(crate) fn register(metrics: &Metrics) -> Counters {
        let counters = Counters {
            calls: Family::default(),
            durations: Family::new_with_constructor(|| Histogram::new(BUCKETS)),
            streams: Gauge::default(),
            denied: Family::default(),
            limited: Family::default(),
            unrecorded: Family::default(),
        };
        metrics.register(|registry| {
            let edge = registry.sub_registry_with_prefix("weft_edge");
            edge.register("calls", "A2A calls by method and outcome", counters.calls.clone());
            edge.register(
                "call_duration_seconds",
                "Time to the answer, of a stream to its first event",
                counters.durations.clone(),
            );
            edge.register("streams_open", "Event streams that are open", counters.streams.clone());
            edge.register("denied", "Callers who may not do what they asked for", counters.denied.clone());
            edge.register("limited", "Calls over a limit", counters.limited.clone());
            let lost = "Security events that the record did not get";
            edge.register("audit_lost", lost, counters.unrecorded.clone());
        });
        counters
    }

    /// Counts one answered call. `outcome` is `ok` or the reason of its fault.
    pub(crate) fn called(&self, method: &'static str, outcome: &'static str, took: Duration) {
        self.calls.get_or_create(&Call { method, outcome }).inc();
        self.durations.get_or_create(&Method { method }).observe(took.as_secs_f64());
    }

    /// Counts one caller who was not let in, or not let do something.
    pub(crate) fn denied(&self, reason: &'static str) {
        self.denied.get_or_create(&Reason { reason }).inc();
    }

    /// Counts one call over a limit.
    pub(crate) fn limited(&self, limit: &'static str) {
        self.limited.get_or_create(&Limit { limit }).inc();
    }

    /// Counts security events that were not written down.
    pub(crate) fn unrecorded(&self, reason: &'static str, events: usize) {
        self.unrecorded.get_or_create(&Reason { reason }).inc_by(u64::try_from(events).unwrap_or(u64::MAX));
    }

    pub(crate) fn stream_opened(&self) -> OpenStream {
        self.streams.inc();
        OpenStream(self.streams.clone())
    }
}

impl Drop for OpenStream {
    fn drop(&mut self) {
        self.0.dec();
    }
}
