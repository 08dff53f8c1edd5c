//! What the journal counts.

use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::gauge::Gauge;

use crate::store::Figures;

/// Counters of one journal.
#[derive(Clone, Default)]
pub(crate) struct Meter {
    traces: Gauge,
    spans: Gauge,
    bytes: Gauge,
    forgotten: Gauge,
    received: Counter,
    rejected: Counter,
}

impl Meter {
    pub(crate) fn new(metrics: &weft_chassis::Metrics) -> Meter {
        let meter = Meter::default();
        metrics.register(|registry| {
            let journal = registry.sub_registry_with_prefix("weft_journal");
            journal.register("traces", "Traces that are kept", meter.traces.clone());
            journal.register("spans", "Spans that are kept", meter.spans.clone());
            journal.register("bytes", "Memory of kept spans, estimated", meter.bytes.clone());
            let forgotten = "Spans that made room or grew too old since the start";
            journal.register("spans_forgotten", forgotten, meter.forgotten.clone());
            journal.register("spans_received", "Spans that were kept when they came", meter.received.clone());
            journal.register("spans_rejected", "Spans that were never kept", meter.rejected.clone());
        });
        meter
    }

    pub(crate) fn took(&self, kept: u64, rejected: u64, figures: Figures) {
        self.received.inc_by(kept);
        self.rejected.inc_by(rejected);
        for (gauge, value) in [
            (&self.traces, figures.traces),
            (&self.spans, figures.spans),
            (&self.bytes, figures.bytes),
            (&self.forgotten, figures.forgotten),
        ] {
            gauge.set(i64::try_from(value).unwrap_or(i64::MAX));
        }
    }
}
