use std::time::Duration;

use opentelemetry_proto::tonic::collector::trace::v1::trace_service_client::TraceServiceClient;
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::common::v1::{AnyValue, ArrayValue, KeyValue};
use opentelemetry_proto::tonic::resource::v1::Resource;
use opentelemetry_proto::tonic::trace::v1::{ResourceSpans, ScopeSpans, Span, Status as SpanStatus};
use weft_chassis::{Peer, peer, status as faults};
use weft_proto::weft::journal_client::JournalClient;

use super::*;

struct World {
    traces: TraceServiceClient<Peer>,
    journal: JournalClient<Peer>,
    env: Env,
}

fn world(settings: &Settings) -> World {
    let env = Env::simulated(1);
    let peer = peer::local(routes(settings, &env));
    World { traces: TraceServiceClient::new(peer.clone()), journal: JournalClient::new(peer), env }
}

fn attribute(key: &str, value: Value) -> KeyValue {
    KeyValue { key: key.into(), value: Some(AnyValue { value: Some(value) }), ..KeyValue::default() }
}

fn text(value: &str) -> Value {
    Value::StringValue(value.into())
}

fn span(trace: u8, id: u8, start: u64) -> Span {
    Span {
        trace_id: vec![trace; 16],
        span_id: vec![id; 8],
        name: format!("span {id}"),
        start_time_unix_nano: start,
        end_time_unix_nano: start + 1,
        ..Span::default()
    }
}

fn id(trace: u8) -> String {
    format!("{trace:02x}").repeat(16)
}

impl World {
    /// Gives how many were rejected.
    async fn send(&mut self, spans: Vec<Span>) -> i64 {
        let resource =
            Resource { attributes: vec![attribute("service.name", text("tasks"))], ..Resource::default() };
        let scope_spans = vec![ScopeSpans { spans, ..ScopeSpans::default() }];
        let of_tasks = ResourceSpans { resource: Some(resource), scope_spans, ..ResourceSpans::default() };
        let request = ExportTraceServiceRequest { resource_spans: vec![of_tasks] };
        let answer = self.traces.export(request).await.unwrap().into_inner();
        answer.partial_success.map_or(0, |partial| partial.rejected_spans)
    }

    async fn get(&mut self, trace: u8) -> Result<Trace, Fault> {
        let asked = self.journal.get_trace(GetTraceRequest { trace_id: id(trace) }).await;
        asked.map(Response::into_inner).map_err(|status| faults::fault(&status))
    }

    async fn has(&mut self, trace: u8) -> bool {
        self.get(trace).await.is_ok()
    }
}

#[tokio::test]
async fn a_trace_comes_back_in_the_order_its_spans_started_each_once() {
    let mut world = world(&Settings::default());
    let mut child = span(1, 2, 20);
    child.parent_span_id = vec![1; 8];
    child.status = Some(SpanStatus { code: 2, message: "refused".into() });
    child.attributes = vec![
        attribute("weft.outcome", text("denied")),
        attribute("weft.attempt", Value::IntValue(3)),
        attribute("weft.flag", Value::BoolValue(true)),
        attribute("list", Value::ArrayValue(ArrayValue { values: vec![] })),
    ];
    assert_eq!(world.send(vec![child.clone(), span(1, 1, 10)]).await, 0);
    assert_eq!(world.send(vec![child]).await, 0);
    let trace = world.get(1).await.unwrap();
    let names: Vec<_> = trace.spans.iter().map(|span| span.name.as_str()).collect();
    assert_eq!((trace.trace_id, names), (id(1), vec!["span 1", "span 2"]));
    let child = &trace.spans[1];
    assert_eq!((child.parent_span_id.as_str(), child.service.as_str()), ("0101010101010101", "tasks"));
    assert_eq!((child.status.as_str(), child.status_message.as_str()), ("error", "refused"));
    let attributes: Vec<_> = child.attributes.iter().map(|(k, v)| format!("{k}={v}")).collect();
    assert_eq!(attributes, ["list=list of 0", "weft.attempt=3", "weft.flag=true", "weft.outcome=denied"]);
}

#[tokio::test]
async fn the_trace_that_began_first_goes_first_and_whole() {
    let mut world = world(&Settings { spans_max: 100, ..Settings::default() });
    world.send((0..60).map(|n| span(1, n + 1, 1)).collect()).await;
    world.send((0..30).map(|n| span(2, n + 1, 1)).collect()).await;
    assert!(world.has(1).await);
    world.send((0..11).map(|n| span(3, n + 1, 1)).collect()).await;
    assert!(!world.has(1).await && world.has(2).await && world.has(3).await);
    let metrics = world.env.metrics().render();
    for line in ["weft_journal_spans 41", "weft_journal_spans_forgotten 60", "weft_journal_traces 2"] {
        assert!(metrics.contains(line), "{line} is not in\n{metrics}");
    }
}

#[tokio::test]
async fn memory_is_bounded_too() {
    let mut world = world(&Settings { bytes_max: 65_536, ..Settings::default() });
    for trace in 1..=200 {
        let mut heavy = span(trace, 1, 1);
        heavy.attributes = vec![attribute("text", text(&"x".repeat(1_000)))];
        world.send(vec![heavy]).await;
    }
    assert!(!world.has(100).await && world.has(200).await);
}

#[tokio::test(start_paused = true)]
async fn a_trace_is_forgotten_when_its_time_is_over() {
    let mut world = world(&Settings { age_ms: 60_000, ..Settings::default() });
    world.send(vec![span(1, 1, 1)]).await;
    tokio::time::advance(Duration::from_secs(59)).await;
    assert!(world.has(1).await);
    tokio::time::advance(Duration::from_secs(2)).await;
    assert!(!world.has(1).await);
}

#[tokio::test]
async fn what_cannot_be_kept_is_counted_in_the_answer() {
    let mut world = world(&Settings { trace_spans_max: 10, ..Settings::default() });
    let mut nameless = span(1, 1, 1);
    nameless.trace_id = vec![0; 16];
    let mut short = span(1, 1, 1);
    short.span_id = vec![1; 3];
    assert_eq!(world.send(vec![nameless, short, span(1, 1, 1)]).await, 2);
    assert_eq!(world.send((0..12).map(|n| span(1, n + 10, 1)).collect()).await, 3);
    assert_eq!(world.get(1).await.unwrap().spans.len(), 10);
}

#[tokio::test]
async fn long_names_texts_and_lists_are_cut() {
    let mut world = world(&Settings::default());
    let mut long = span(1, 1, 1);
    long.name = "é".repeat(1_000);
    long.attributes = (0..200).map(|n| attribute(&format!("key {n}"), text(&"x".repeat(10_000)))).collect();
    world.send(vec![long]).await;
    let span = world.get(1).await.unwrap().spans.remove(0);
    assert_eq!((span.name.len(), span.attributes.len(), span.attributes["key 0"].len()), (256, 64, 1_024));
}

#[tokio::test]
async fn an_id_that_is_none_is_refused_and_an_unknown_one_is_not_found() {
    let mut world = world(&Settings::default());
    assert_eq!(world.get(9).await.unwrap_err().kind, Kind::NotFound);
    for bad in ["", "1", &"0".repeat(32), &"A".repeat(32), &"+".repeat(32)] {
        let asked = world.journal.get_trace(GetTraceRequest { trace_id: bad.into() }).await;
        let fault = faults::fault(&asked.unwrap_err());
        assert_eq!((fault.kind, fault.violations[0].field.as_str()), (Kind::Invalid, "traceId"), "{bad}");
    }
}
