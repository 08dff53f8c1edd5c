//! Finished spans on their way to one receiver: a bounded queue that is never waited for, emptied in batches.

use std::fmt;
use std::future::Future;
use std::time::Duration;

use opentelemetry::Context;
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::trace::{Span, SpanData, SpanProcessor};
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tracing::instrument::WithSubscriber;
use tracing::subscriber::NoSubscriber;

use crate::Metrics;

/// Most spans sent at once.
const BATCH_SPANS_MAX: usize = 512;
/// How long spans are gathered before they are sent.
const LINGER: Duration = Duration::from_millis(100);
/// Bound on sending one batch.
const EXPORT_MAX: Duration = Duration::from_secs(3);

/// Sends a batch of spans somewhere.
pub(super) trait Receiver: Send + 'static {
    /// For counters and logs.
    const NAME: &'static str;

    /// How many of the spans were not kept, or why none was.
    fn send(&mut self, spans: Vec<SpanData>) -> impl Future<Output = Result<usize, String>> + Send;
}

/// One receiver's queue and the task that empties it.
pub(super) struct Queue {
    spans: mpsc::Sender<SpanData>,
    percent: u32,
    dropped: Counter,
    pump: JoinHandle<()>,
}

/// What became of spans.
#[derive(Clone)]
pub(super) struct Counters {
    sent: Family<To, Counter>,
    dropped: Family<To, Counter>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct To {
    to: &'static str,
}

impl Counters {
    pub(super) fn new(metrics: &Metrics) -> Counters {
        let counters = Counters { sent: Family::default(), dropped: Family::default() };
        metrics.register(|registry| {
            let telemetry = registry.sub_registry_with_prefix("weft_telemetry");
            telemetry.register("spans_sent", "Spans that a receiver took", counters.sent.clone());
            telemetry.register("spans_dropped", "Spans that no receiver took", counters.dropped.clone());
        });
        counters
    }
}

impl Queue {
    pub(super) fn start<R: Receiver>(
        receiver: R,
        spans_max: usize,
        percent: u32,
        counters: &Counters,
    ) -> Queue {
        let (spans, waiting) = mpsc::channel(spans_max);
        let label = To { to: R::NAME };
        let sent = counters.sent.get_or_create(&label).clone();
        let dropped = counters.dropped.get_or_create(&label).clone();
        // Without a subscriber: what sending does must not make spans of its own.
        let pump = pump(receiver, waiting, sent, dropped.clone()).with_subscriber(NoSubscriber::default());
        #[allow(
            clippy::disallowed_methods,
            reason = "outlives the mesh's own drain and is joined by `close`"
        )]
        let pump = tokio::spawn(pump);
        Queue { spans, percent, dropped, pump }
    }

    pub(super) fn processor(&self) -> Processor {
        Processor { spans: self.spans.downgrade(), percent: self.percent, dropped: self.dropped.clone() }
    }

    /// Takes no more spans; resolves when those that wait were sent or given up.
    pub(super) async fn close(self) {
        drop(self.spans);
        // A pump that panicked has nothing left to flush.
        let _ = self.pump.await;
    }
}

async fn pump<R: Receiver>(
    mut receiver: R,
    mut waiting: mpsc::Receiver<SpanData>,
    sent: Counter,
    dropped: Counter,
) {
    let mut batch = Vec::with_capacity(BATCH_SPANS_MAX);
    while waiting.recv_many(&mut batch, BATCH_SPANS_MAX).await > 0 {
        let linger = tokio::time::sleep(LINGER);
        tokio::pin!(linger);
        while batch.len() < BATCH_SPANS_MAX {
            let room = BATCH_SPANS_MAX - batch.len();
            tokio::select! {
                got = waiting.recv_many(&mut batch, room) => if got == 0 { break },
                () = &mut linger => break,
            }
        }
        let count = batch.len();
        let spans = std::mem::replace(&mut batch, Vec::with_capacity(BATCH_SPANS_MAX));
        let lost = match tokio::time::timeout(EXPORT_MAX, receiver.send(spans)).await {
            Ok(Ok(rejected)) => rejected.min(count),
            // Said by the counter only: a log line a batch would drown everything else while a receiver is away.
            Ok(Err(_)) | Err(_) => count,
        };
        sent.inc_by((count - lost) as u64);
        dropped.inc_by(lost as u64);
    }
}

/// Puts finished spans into a queue; never waits.
pub(super) struct Processor {
    /// Weak, so that the queue closes although the tracer lives on.
    spans: mpsc::WeakSender<SpanData>,
    percent: u32,
    dropped: Counter,
}

impl fmt::Debug for Processor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Processor").field("percent", &self.percent).finish_non_exhaustive()
    }
}

impl SpanProcessor for Processor {
    fn on_start(&self, _: &mut Span, _: &Context) {}

    fn on_end(&self, span: SpanData) {
        if !kept(&span, self.percent) {
            return;
        }
        let taken = self.spans.upgrade().is_some_and(|spans| spans.try_send(span).is_ok());
        if !taken {
            self.dropped.inc();
        }
    }

    fn force_flush(&self) -> OTelSdkResult {
        Ok(())
    }

    fn shutdown_with_timeout(&self, _: Duration) -> OTelSdkResult {
        Ok(())
    }
}

/// The same share of traces everywhere, by trace id; what went wrong or came back empty is always kept.
fn kept(span: &SpanData, percent: u32) -> bool {
    if percent >= 100 || matches!(span.status, opentelemetry::trace::Status::Error { .. }) {
        return true;
    }
    let bytes = span.span_context.trace_id().to_bytes();
    let low = bytes[8..].iter().fold(0u64, |low, byte| low << 8 | u64::from(*byte));
    if low % 100 < u64::from(percent) {
        return true;
    }
    span.attributes.iter().any(|a| a.key.as_str() == "weft.outcome" && a.value.as_str() == "empty")
}
