//! What a run looks like in a trace: continued from the submit, one child per call, nothing of its content.

use std::collections::BTreeMap;

use opentelemetry_proto::tonic::collector::trace::v1::trace_service_server::{
    TraceService, TraceServiceServer,
};
use opentelemetry_proto::tonic::collector::trace::v1::{
    ExportTraceServiceRequest, ExportTraceServiceResponse,
};
use opentelemetry_proto::tonic::trace::v1::Span;
use tonic::{Request, Response, Status};
use weft_chassis::{Metrics, peer, telemetry};
use weft_proto::a2a::Message;

use super::*;

const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
const SUBMIT: &str = "00f067aa0ba902b7";

#[derive(Clone, Default)]
struct Sink(Arc<Mutex<Vec<Span>>>);

#[tonic::async_trait]
impl TraceService for Sink {
    async fn export(
        &self,
        request: Request<ExportTraceServiceRequest>,
    ) -> Result<Response<ExportTraceServiceResponse>, Status> {
        let resources = request.into_inner().resource_spans.into_iter();
        let spans = resources.flat_map(|resource| resource.scope_spans).flat_map(|scope| scope.spans);
        self.0.lock().unwrap().extend(spans);
        Ok(Response::new(ExportTraceServiceResponse::default()))
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Runs one traced task; gives its spans by name, and the `traceparent` that the node saw.
async fn spans_of(answer: fn() -> axum::response::Response) -> (BTreeMap<String, Span>, String) {
    let sink = Sink::default();
    let journal = peer::local(Routes::new(TraceServiceServer::new(sink.clone())));
    let settings = telemetry::Settings::default();
    let (subscriber, guard) =
        telemetry::layer(&settings, "weft", Some(journal), &Metrics::default()).unwrap();
    let _installed = tracing::subscriber::set_default(subscriber);
    let seen = Arc::new(Mutex::new(String::new()));
    let at_node = seen.clone();
    let world = with_node(move |call| {
        *at_node.lock().unwrap() = call.headers["traceparent"].to_str().unwrap().to_owned();
        answer()
    });
    let mut work = item("t1");
    work.traceparent = format!("00-{TRACE}-{SUBMIT}-01");
    let secret = Part { content: Some(part::Content::Text("CANARY".into())), ..Part::default() };
    work.message = Some(Message { message_id: "m1".into(), parts: vec![secret], ..Message::default() });
    world.tasks.offer([work]);
    world.ended("t1").await;
    world.tasks.until(|_| world.metric("weft_bridge_running") == 0.0).await;
    guard.shutdown().await;
    let spans = std::mem::take(&mut *sink.0.lock().unwrap());
    assert!(!format!("{spans:?}").contains("CANARY"), "content in a span");
    let of_trace = spans.into_iter().filter(|span| hex(&span.trace_id) == TRACE);
    let node_saw = seen.lock().unwrap().clone();
    (of_trace.map(|span| (span.name.clone(), span)).collect(), node_saw)
}

fn attribute(span: &Span, key: &str) -> String {
    let found = span.attributes.iter().find(|attribute| attribute.key == key);
    format!("{:?}", found.and_then(|attribute| attribute.value.as_ref()?.value.as_ref()))
}

#[tokio::test]
async fn a_run_continues_the_submits_trace_and_the_node_continues_the_call() {
    let (spans, node_saw) = spans_of(|| result(ok("done"))).await;
    let (run, call) = (&spans["run test.run"], &spans["invoke lab/run"]);
    assert_eq!(hex(&run.parent_span_id), SUBMIT);
    assert_eq!(call.parent_span_id, run.span_id);
    assert_eq!(node_saw, format!("00-{TRACE}-{}-01", hex(&call.span_id)));
    assert_eq!(spans["weft.v1.Signer/Sign"].parent_span_id, call.span_id);
    // SPAN_KIND_CONSUMER and SPAN_KIND_CLIENT.
    assert_eq!((run.kind, call.kind), (5, 3));
    for (key, value) in
        [("weft.node", "lab"), ("weft.tool", "run"), ("weft.task.id", "t1"), ("weft.outcome", "ok")]
    {
        assert!(attribute(call, key).contains(value), "{key} is {}", attribute(call, key));
    }
    assert_eq!((run.status.as_ref().unwrap().code, call.status.as_ref().unwrap().code), (0, 0));
}

#[tokio::test]
async fn a_failed_call_is_an_error_and_an_empty_one_is_not() {
    let (spans, _) = spans_of(|| result(InvokeResult { denied: true, ..InvokeResult::default() })).await;
    for name in ["run test.run", "invoke lab/run"] {
        assert_eq!(spans[name].status.as_ref().unwrap().code, 2, "{name}");
        assert!(attribute(&spans[name], "weft.outcome").contains("denied"), "{name}");
    }
    assert!(attribute(&spans["invoke lab/run"], "error.type").contains("DENIED"));
    let (spans, _) = spans_of(|| result(InvokeResult { ok: true, ..InvokeResult::default() })).await;
    for name in ["run test.run", "invoke lab/run"] {
        assert_eq!(spans[name].status.as_ref().unwrap().code, 0, "{name}");
        assert!(attribute(&spans[name], "weft.outcome").contains("empty"), "{name}");
    }
}
