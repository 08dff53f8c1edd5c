//! Logs and spans of one process: what is written to stderr, what goes to a collector and to the journal. Installed
//! in `main` only; [`layer`] builds the same without touching anything global.
//!
//! Spans never wait: finished ones go into a bounded queue for each receiver, and what does not fit is counted and
//! dropped. Without a receiver spans are not recorded at all, yet the W3C context still passes through.
//!
//! Only spans of the mesh's own crates are exported, and no log lines: neither message content nor credentials are
//! ever put into a span's fields.

use std::io::IsTerminal;
use std::time::Duration;

use opentelemetry::trace::TracerProvider;
use opentelemetry_sdk::trace::{Sampler, SdkTracerProvider};
use tracing::level_filters::LevelFilter;
use tracing::{Metadata, Subscriber};
use tracing_subscriber::filter::{EnvFilter, FilterExt, filter_fn};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::registry::LookupSpan;
use tracing_subscriber::{Layer, Registry};

use crate::{Metrics, Peer};

mod export;
mod queue;
mod service;

use export::{Collector, Journal};
use queue::{Counters, Queue};

/// The variables that name a collector; the more specific one first.
const ENDPOINT_VARIABLES: [&str; 2] = ["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT"];
/// How long [`Guard::shutdown`] may take in all.
const SHUTDOWN_MAX: Duration = Duration::from_secs(4);

crate::settings! {
    /// What is logged and where spans go.
    pub struct Settings in "telemetry" {
        /// what is logged, as tracing directives: level or target=level, comma-separated
        pub log: String = "info,h2=warn,hyper=warn,rustls=warn,sled=warn,tonic=warn,tower=warn".into();
        /// form of the log: text, json, or auto (text on a terminal, else json)
        pub format: String = "auto".into();
        /// OTLP/gRPC collector, http(s)://host:port; empty: OTEL_EXPORTER_OTLP_ENDPOINT, else none
        pub otlp_endpoint: String = String::new();
        /// how many of 100 traces go to the collector; spans that failed or came back empty always do
        pub otlp_percent: u32 = 100, 0..=100;
        /// whether spans go to the mesh's own journal
        pub journal: bool = true;
        /// finished spans that wait for one receiver; further ones are dropped and counted
        pub queue_spans_max: u32 = 8_192, 64..=1_000_000;
    }
}

/// The exporters of one process. Dropped without [`Guard::shutdown`], what waits in the queues is lost.
#[must_use = "the queued spans are flushed by `shutdown`"]
pub struct Guard {
    queues: Vec<Queue>,
    provider: SdkTracerProvider,
}

/// Installs logging and tracing for this process; once, in `main`, inside the runtime. `service` is what spans are
/// filed under that belong to no role.
///
/// # Errors
/// When a setting is wrong, naming it, or when something is installed already.
pub fn init(
    settings: &Settings,
    service: &str,
    journal: Option<Peer>,
    metrics: &Metrics,
) -> Result<Guard, String> {
    let mut settings = settings.clone();
    if settings.otlp_endpoint.is_empty() {
        let named = ENDPOINT_VARIABLES.into_iter().filter_map(|name| std::env::var(name).ok());
        settings.otlp_endpoint = named.into_iter().find(|endpoint| !endpoint.is_empty()).unwrap_or_default();
    }
    let (subscriber, guard) = layer(&settings, service, journal, metrics)?;
    tracing::subscriber::set_global_default(subscriber)
        .map_err(|_| "cannot install telemetry: it is installed already".to_owned())?;
    Ok(guard)
}

/// What [`init`] installs, for a test to use with `tracing::subscriber::set_default`. Reads no environment. To be
/// called inside a runtime when there is a receiver.
///
/// # Errors
/// When a setting is wrong, naming it.
pub fn layer(
    settings: &Settings,
    service: &str,
    journal: Option<Peer>,
    metrics: &Metrics,
) -> Result<(impl Subscriber + Send + Sync + use<>, Guard), String> {
    let queues = receivers(settings, service, journal, metrics)?;
    // The journal gets every span, whatever the caller sampled; without a receiver nothing is recorded, and the
    // context that came in still goes out.
    let sampler = if queues.is_empty() { Sampler::AlwaysOff } else { Sampler::AlwaysOn };
    let provider = queues
        .iter()
        .fold(SdkTracerProvider::builder(), |builder, queue| builder.with_span_processor(queue.processor()));
    let provider = provider.with_sampler(sampler).build();
    let spans = tracing_opentelemetry::layer()
        .with_tracer(provider.tracer("weft"))
        .with_location(false)
        .with_threads(false)
        .with_tracked_inactivity(false)
        .with_target(true)
        .with_filter(filter_fn(is_own_span));
    let subscriber = Registry::default().with(spans).with(log(settings)?);
    Ok((subscriber, Guard { queues, provider }))
}

fn receivers(
    settings: &Settings,
    service: &str,
    journal: Option<Peer>,
    metrics: &Metrics,
) -> Result<Vec<Queue>, String> {
    let journal = journal.filter(|_| settings.journal);
    if settings.otlp_endpoint.is_empty() && journal.is_none() {
        return Ok(Vec::new());
    }
    let counters = Counters::new(metrics);
    let spans_max = settings.queue_spans_max as usize;
    let mut queues = Vec::new();
    if !settings.otlp_endpoint.is_empty() {
        let collector = Collector::new(&settings.otlp_endpoint, service)?;
        queues.push(Queue::start(collector, spans_max, settings.otlp_percent, &counters));
    }
    if let Some(peer) = journal {
        queues.push(Queue::start(Journal::new(peer, service), spans_max, 100, &counters));
    }
    Ok(queues)
}

/// Log lines only: formatting every span's fields would cost more than the spans themselves.
fn log<S>(settings: &Settings) -> Result<Box<dyn Layer<S> + Send + Sync>, String>
where
    S: Subscriber + for<'a> LookupSpan<'a>,
{
    let directives = EnvFilter::builder()
        .with_default_directive(LevelFilter::INFO.into())
        .parse(&settings.log)
        .map_err(|error| {
            format!("`telemetry.log` is \"{}\": {error}: use for example info,weft=debug", settings.log)
        })?;
    let json = match settings.format.as_str() {
        "json" => true,
        "text" => false,
        "auto" => !std::io::stderr().is_terminal(),
        other => return Err(format!("`telemetry.format` is \"{other}\": must be text, json or auto")),
    };
    let lines = tracing_subscriber::fmt::layer().with_writer(std::io::stderr);
    let filter = directives.and(filter_fn(|metadata| metadata.is_event()));
    Ok(if json {
        lines
            .json()
            .flatten_event(true)
            .with_current_span(false)
            .with_span_list(false)
            .with_filter(filter)
            .boxed()
    } else {
        lines.compact().with_ansi(std::io::stderr().is_terminal()).with_filter(filter).boxed()
    })
}

fn is_own_span(metadata: &Metadata<'_>) -> bool {
    metadata.is_span() && metadata.target().starts_with("weft")
}

// === impl Guard ===

impl Guard {
    /// Flushes what waits, at most four seconds; a receiver that is away costs no more than that.
    pub async fn shutdown(self) {
        let flushed = futures::future::join_all(self.queues.into_iter().map(Queue::close));
        if tokio::time::timeout(SHUTDOWN_MAX, flushed).await.is_err() {
            tracing::warn!("spans that no receiver took in time are lost");
        }
        // Nothing is left in the processors: this only marks the provider as ended.
        if let Err(error) = self.provider.shutdown() {
            tracing::debug!(%error, "the tracer had ended already");
        }
    }
}

#[cfg(test)]
mod tests;
