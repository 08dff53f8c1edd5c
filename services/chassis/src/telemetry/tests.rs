use std::sync::Arc;
use std::time::Duration;

use http::HeaderMap;
use opentelemetry_proto::tonic::collector::trace::v1::trace_service_server::{
    TraceService, TraceServiceServer,
};
use opentelemetry_proto::tonic::collector::trace::v1::{
    ExportTraceServiceRequest, ExportTraceServiceResponse,
};
use opentelemetry_proto::tonic::trace::v1::Span;
use tokio::sync::{Mutex, mpsc};
use tonic::service::Routes;
use tonic::{Request, Response, Status};

use super::*;
use crate::{Env, peer, serve, trace};

/// Keeps what is sent to it, each span with its service.
#[derive(Clone)]
struct Sink(mpsc::UnboundedSender<(String, Span)>);

#[tonic::async_trait]
impl TraceService for Sink {
    async fn export(
        &self,
        request: Request<ExportTraceServiceRequest>,
    ) -> Result<Response<ExportTraceServiceResponse>, Status> {
        for of_resource in request.into_inner().resource_spans {
            let attributes = of_resource.resource.unwrap().attributes;
            let service = format!("{:?}", attributes.iter().find(|a| a.key == "service.name").unwrap().value);
            for span in of_resource.scope_spans.into_iter().flat_map(|scope| scope.spans) {
                let _ = self.0.send((service.clone(), span));
            }
        }
        Ok(Response::new(ExportTraceServiceResponse::default()))
    }
}

fn sink() -> (Routes, mpsc::UnboundedReceiver<(String, Span)>) {
    let (sender, receiver) = mpsc::unbounded_channel();
    (Routes::new(TraceServiceServer::new(Sink(sender))), receiver)
}

const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";

fn incoming() -> HeaderMap {
    let mut headers = HeaderMap::new();
    headers.insert("traceparent", format!("00-{TRACE}-00f067aa0ba902b7-01").parse().unwrap());
    headers
}

/// Work with a span within a span; gives the context that would leave with an outgoing call.
fn work() -> String {
    let outer = tracing::info_span!(target: "weft::edge", "outer", otel.kind = "server");
    trace::adopt(&outer, &incoming());
    let _in_outer = outer.enter();
    let inner = tracing::info_span!(target: "weft::bridge", "inner", otel.kind = "client");
    let _in_inner = inner.enter();
    tracing::info_span!(target: "hyper::client", "foreign").in_scope(|| ());
    let mut outgoing = HeaderMap::new();
    trace::inject(&mut outgoing);
    outgoing.get("traceparent").map(|value| value.to_str().unwrap().to_owned()).unwrap_or_default()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The two spans of [`work`] arrived under their services, the inner one a child of the outer one.
async fn arrived(spans: &mut mpsc::UnboundedReceiver<(String, Span)>, outgoing: &str) {
    let mut both = Vec::new();
    for _ in 0..2 {
        both.push(tokio::time::timeout(Duration::from_secs(30), spans.recv()).await.unwrap().unwrap());
    }
    both.sort_by(|a, b| a.1.name.cmp(&b.1.name));
    let [(bridge, inner), (edge, outer)] = &both[..] else { panic!("two spans") };
    assert_eq!((inner.name.as_str(), outer.name.as_str()), ("inner", "outer"));
    assert!(bridge.contains("\"executor-bridge\"") && edge.contains("\"edge\""), "{bridge} {edge}");
    assert_eq!((hex(&inner.trace_id), hex(&outer.trace_id)), (TRACE.into(), TRACE.into()));
    assert_eq!(hex(&outer.parent_span_id), "00f067aa0ba902b7");
    assert_eq!(inner.parent_span_id, outer.span_id);
    assert_eq!(outgoing, format!("00-{TRACE}-{}-01", hex(&inner.span_id)));
}

#[tokio::test]
async fn spans_reach_a_collector_with_the_right_parents() {
    let (routes, mut spans) = sink();
    let env = Env::system();
    let (listener, address) = serve::bind("127.0.0.1:0").await.unwrap();
    let serving = env.clone();
    env.spawn(async move { serve::grpc(listener, routes, &serving).await.unwrap() });
    let settings = Settings { otlp_endpoint: format!("http://{address}"), ..Settings::default() };
    let (subscriber, guard) = layer(&settings, "weft", None, &Metrics::default()).unwrap();
    let outgoing = tracing::subscriber::with_default(subscriber, work);
    guard.shutdown().await;
    arrived(&mut spans, &outgoing).await;
    assert!(env.drain(Duration::from_secs(30)).await);
}

#[tokio::test]
async fn spans_reach_the_journal_in_process_and_make_no_spans_of_their_own() {
    let (routes, mut spans) = sink();
    let journal = peer::local(routes);
    let (subscriber, guard) =
        layer(&Settings::default(), "weft", Some(journal), &Metrics::default()).unwrap();
    let outgoing = {
        let _installed = tracing::subscriber::set_default(subscriber);
        let outgoing = work();
        guard.shutdown().await;
        outgoing
    };
    arrived(&mut spans, &outgoing).await;
    assert!(spans.recv().await.is_none(), "a third span arrived");
}

#[tokio::test]
async fn without_a_receiver_the_context_still_passes_through() {
    let (subscriber, guard) = layer(&Settings::default(), "weft", None, &Metrics::default()).unwrap();
    let outgoing = tracing::subscriber::with_default(subscriber, work);
    let fields: Vec<_> = outgoing.split('-').collect();
    assert_eq!((fields[1], fields[3]), (TRACE, "00"), "{outgoing}");
    assert_ne!(fields[2], "00f067aa0ba902b7", "the hop must have a span of its own");
    guard.shutdown().await;
}

/// A collector that takes connections and never says a word.
async fn black_hole() -> (String, Arc<Mutex<Vec<tokio::net::TcpStream>>>) {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let endpoint = format!("http://{}", listener.local_addr().unwrap());
    let held = Arc::new(Mutex::new(Vec::new()));
    let holding = held.clone();
    Env::system().spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            holding.lock().await.push(stream);
        }
    });
    (endpoint, held)
}

#[tokio::test]
async fn a_collector_that_never_answers_costs_neither_the_work_nor_the_shutdown() {
    let (endpoint, _held) = black_hole().await;
    let metrics = Metrics::default();
    let settings = Settings { otlp_endpoint: endpoint, queue_spans_max: 64, ..Settings::default() };
    let (subscriber, guard) = layer(&settings, "weft", None, &metrics).unwrap();
    tracing::subscriber::with_default(subscriber, || {
        for _ in 0..1_000 {
            work();
        }
    });
    tokio::time::timeout(Duration::from_secs(20), guard.shutdown()).await.expect("the shutdown is bounded");
    let dropped = metrics
        .render()
        .lines()
        .find_map(|line| {
            line.strip_prefix("weft_telemetry_spans_dropped_total{to=\"collector\"} ")?.parse::<u64>().ok()
        })
        .unwrap();
    assert!(dropped >= 1_936, "{dropped} of 2000 spans are counted as dropped, 64 fit the queue");
}

#[tokio::test]
async fn a_wrong_setting_is_named_with_its_remedy() {
    let check = |settings: Settings, parts: [&str; 2]| {
        let error = layer(&settings, "weft", None, &Metrics::default()).err().unwrap();
        for part in parts {
            assert!(error.contains(part), "{error} lacks {part}");
        }
    };
    check(Settings { format: "xml".into(), ..Settings::default() }, ["telemetry.format", "json"]);
    check(Settings { log: "a=b=c".into(), ..Settings::default() }, ["telemetry.log", "info"]);
    let endpoint = Settings { otlp_endpoint: "localhost:4317".into(), ..Settings::default() };
    check(endpoint, ["telemetry.otlp_endpoint", "http://host:port"]);
}
