//! What the bridge counts.

use std::time::Duration;

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use weft_proto::weft::InvokeResult;

use crate::failure::Failure;
use crate::outcome::{self, Said};

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ran {
    Ok,
    Empty,
    Error,
    Denied,
    Unreachable,
    Cancelled,
}

/// Counters of one bridge.
#[derive(Clone)]
pub(crate) struct Metrics {
    runs: Family<RunLabels, Counter>,
    running: Gauge,
    calls: Family<CallLabels, Histogram>,
    retries: Counter,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RunLabels {
    capability: String,
    outcome: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct CallLabels {
    node: String,
    outcome: &'static str,
}

/// Counts a run as long as it is held.
pub(crate) struct Running(Gauge);

impl Metrics {
    pub(crate) fn new(registry: &weft_chassis::Metrics) -> Metrics {
        // 0.1 ms to 26 s.
        let buckets = || Histogram::new(exponential_buckets(0.0001, 4.0, 10));
        let metrics = Metrics {
            runs: Family::default(),
            running: Gauge::default(),
            calls: Family::new_with_constructor(buckets),
            retries: Counter::default(),
        };
        registry.register(|registry| {
            let bridge = registry.sub_registry_with_prefix("weft_bridge");
            bridge.register("runs", "Runs that ended, by capability and outcome", metrics.runs.clone());
            bridge.register("running", "Runs under way", metrics.running.clone());
            bridge.register(
                "call_seconds",
                "Calls to nodes, from seal to the end of the answer",
                metrics.calls.clone(),
            );
            bridge.register("retries", "Calls to nodes that were tried again", metrics.retries.clone());
        });
        metrics
    }

    pub(crate) fn running(&self) -> Running {
        self.running.inc();
        Running(self.running.clone())
    }

    pub(crate) fn ran(&self, capability: &str, ran: Ran) {
        let labels = RunLabels { capability: capability.to_owned(), outcome: ran.as_str() };
        self.runs.get_or_create(&labels).inc();
    }

    pub(crate) fn called(&self, node: &str, outcome: &'static str, took: Duration) {
        let labels = CallLabels { node: node.to_owned(), outcome };
        self.calls.get_or_create(&labels).observe(took.as_secs_f64());
    }

    pub(crate) fn retry(&self) {
        self.retries.inc();
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.0.dec();
    }
}

impl Ran {
    pub(crate) fn of(result: &InvokeResult, said: Said) -> Ran {
        match result {
            InvokeResult { ok: false, denied: true, .. } => Ran::Denied,
            InvokeResult { ok: false, .. } => Ran::Error,
            result if outcome::is_empty(result, said.any) => Ran::Empty,
            _ => Ran::Ok,
        }
    }

    pub(crate) fn of_failure(failure: &Failure) -> Ran {
        match failure.outcome() {
            "denied" => Ran::Denied,
            "unreachable" => Ran::Unreachable,
            _ => Ran::Error,
        }
    }

    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Ran::Ok => "ok",
            Ran::Empty => "empty",
            Ran::Error => "error",
            Ran::Denied => "denied",
            Ran::Unreachable => "unreachable",
            Ran::Cancelled => "cancelled",
        }
    }

    /// A cancelled run did what it was asked to.
    pub(crate) fn is_bad(self) -> bool {
        matches!(self, Ran::Error | Ran::Denied | Ran::Unreachable)
    }
}
