//! The two receivers of spans: a collector outside, over OTLP/gRPC, and the mesh's own journal.

use std::collections::HashMap;
use std::time::Duration;

use opentelemetry::KeyValue;
use opentelemetry_otlp::{SpanExporter, WithExportConfig};
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::collector::trace::v1::trace_service_client::TraceServiceClient;
use opentelemetry_proto::transform::common::tonic::ResourceAttributesWithSchema;
use opentelemetry_proto::transform::trace::tonic::group_spans_by_resource_and_scope;
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::{SpanData, SpanExporter as _};

use super::queue::Receiver;
use super::service;
use crate::Peer;

/// Bound on one call to a collector.
const TIMEOUT: Duration = Duration::from_secs(3);

/// A collector, for example Jaeger. One exporter a service: the service's name is a property of the exporter.
pub(super) struct Collector {
    endpoint: String,
    service: String,
    exporters: HashMap<String, SpanExporter>,
}

/// The journal of this mesh.
pub(super) struct Journal {
    client: TraceServiceClient<Peer>,
    service: String,
}

// === impl Collector ===

impl Collector {
    /// Connects when there is something to send.
    pub(super) fn new(endpoint: &str, service: &str) -> Result<Collector, String> {
        let bad = |why: &str| {
            format!(
                "`telemetry.otlp_endpoint` is \"{endpoint}\": {why}: expected http://host:port or https://host:port"
            )
        };
        let uri: http::Uri = endpoint.parse().map_err(|_| bad("not a URL"))?;
        if !matches!(uri.scheme_str(), Some("http" | "https")) || uri.host().is_none() {
            return Err(bad("not an absolute http URL"));
        }
        Ok(Collector {
            endpoint: endpoint.to_owned(),
            service: service.to_owned(),
            exporters: HashMap::new(),
        })
    }

    async fn send_as(&mut self, service: &str, spans: Vec<SpanData>) -> Result<(), String> {
        if !self.exporters.contains_key(service) {
            let mut exporter = SpanExporter::builder()
                .with_tonic()
                .with_endpoint(&self.endpoint)
                .with_timeout(TIMEOUT)
                .build()
                .map_err(|error| error.to_string())?;
            exporter.set_resource(&resource(service));
            self.exporters.insert(service.to_owned(), exporter);
        }
        match self.exporters.get(service) {
            Some(exporter) => exporter.export(spans).await.map_err(|error| error.to_string()),
            None => Ok(()),
        }
    }
}

impl Receiver for Collector {
    const NAME: &'static str = "collector";

    async fn send(&mut self, spans: Vec<SpanData>) -> Result<usize, String> {
        let mut lost = 0;
        for (service, spans) in by_service(spans, &self.service.clone()) {
            let count = spans.len();
            if self.send_as(&service, spans).await.is_err() {
                lost += count;
            }
        }
        Ok(lost)
    }
}

// === impl Journal ===

impl Journal {
    pub(super) fn new(peer: Peer, service: &str) -> Journal {
        Journal { client: TraceServiceClient::new(peer), service: service.to_owned() }
    }
}

impl Receiver for Journal {
    const NAME: &'static str = "journal";

    async fn send(&mut self, spans: Vec<SpanData>) -> Result<usize, String> {
        let grouped = by_service(spans, &self.service).into_iter().flat_map(|(service, spans)| {
            let resource = ResourceAttributesWithSchema::from(&resource(&service));
            group_spans_by_resource_and_scope(spans, &resource)
        });
        let request = ExportTraceServiceRequest { resource_spans: grouped.collect() };
        let answer = self.client.export(request).await.map_err(|status| status.message().to_owned())?;
        let rejected = answer.into_inner().partial_success.map_or(0, |partial| partial.rejected_spans);
        Ok(usize::try_from(rejected).unwrap_or(0))
    }
}

fn by_service(spans: Vec<SpanData>, otherwise: &str) -> HashMap<String, Vec<SpanData>> {
    let mut grouped: HashMap<String, Vec<SpanData>> = HashMap::new();
    for span in spans {
        let service = service::of(&span, otherwise);
        match grouped.get_mut(service) {
            Some(group) => group.push(span),
            None => {
                grouped.insert(service.to_owned(), vec![span]);
            }
        }
    }
    grouped
}

fn resource(service: &str) -> Resource {
    Resource::builder_empty()
        .with_attributes([
            KeyValue::new("service.name", service.to_owned()),
            KeyValue::new("service.namespace", "weft"),
            KeyValue::new("service.version", env!("CARGO_PKG_VERSION")),
        ])
        .build()
}
