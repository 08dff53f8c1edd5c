//! One message, one trace: every hop from the edge to the node and back is a span under the right parent, in one
//! process and across processes and the queue; no content and no credential is in any span.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use opentelemetry_proto::tonic::collector::trace::v1::trace_service_server::{
    TraceService, TraceServiceServer,
};
use opentelemetry_proto::tonic::collector::trace::v1::{
    ExportTraceServiceRequest, ExportTraceServiceResponse,
};
use opentelemetry_proto::tonic::common::v1::any_value;
use opentelemetry_proto::tonic::trace::v1::Span;
use tokio_util::sync::{CancellationToken, DropGuard};
use tonic::transport::Server;
use tonic::transport::server::TcpIncoming;
use tonic::{Request, Response, Status};
use weft_chassis::{Env, serve, telemetry};
use weft_proto::a2a::TaskState;

use crate::client::{Client, said, state};
use crate::process::Deployment;
use crate::world::{Form, World};

const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
const CALLER: &str = "00f067aa0ba902b7";

/// Spans of one message: name, name of its parent, service.
const EXPECTED: [(&str, &str, &str); 9] = [
    ("a2a SendMessage", "the caller", "edge"),
    ("append", "weft.v1.Tasks/Submit", "tasks"),
    ("commit", "append", "tasks"),
    ("commit", "weft.v1.Tasks/Submit", "tasks"),
    ("invoke play/play.rules", "run play.rules", "executor-bridge"),
    ("play/peer/invoke", "invoke play/play.rules", "node"),
    ("run play.rules", "weft.v1.Tasks/Submit", "executor-bridge"),
    ("weft.v1.Signer/Sign", "invoke play/play.rules", "signer"),
    ("weft.v1.Tasks/Submit", "a2a SendMessage", "tasks"),
];

/// A collector that keeps what it is sent, each span with its service.
#[derive(Clone, Default)]
struct Sink(Arc<Mutex<Vec<(String, Span)>>>);

#[tonic::async_trait]
impl TraceService for Sink {
    async fn export(
        &self,
        request: Request<ExportTraceServiceRequest>,
    ) -> Result<Response<ExportTraceServiceResponse>, Status> {
        let mut kept = self.0.lock().unwrap();
        for of_resource in request.into_inner().resource_spans {
            let attributes = of_resource.resource.unwrap_or_default().attributes;
            let name = attributes.into_iter().find(|attribute| attribute.key == "service.name");
            let service = match name.and_then(|name| name.value).and_then(|value| value.value) {
                Some(any_value::Value::StringValue(text)) => text,
                other => panic!("a resource without a service name: {other:?}"),
            };
            let spans = of_resource.scope_spans.into_iter().flat_map(|scope| scope.spans);
            kept.extend(spans.map(|span| (service.clone(), span)));
        }
        Ok(Response::new(ExportTraceServiceResponse::default()))
    }
}

impl Sink {
    /// Serves until the guard is dropped. On a thread of its own: what it does must not be traced itself.
    async fn serve(&self) -> (String, DropGuard) {
        let (listener, address) = serve::bind("127.0.0.1:0").await.unwrap();
        let listener = listener.into_std().unwrap();
        let (sink, stop) = (self.clone(), CancellationToken::new());
        let stopped = stop.clone();
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async move {
                let incoming = TcpIncoming::from(tokio::net::TcpListener::from_std(listener).unwrap());
                let server = Server::builder().add_service(TraceServiceServer::new(sink));
                server.serve_with_incoming_shutdown(incoming, stopped.cancelled_owned()).await.unwrap();
            });
        });
        (format!("http://{address}"), stop.drop_guard())
    }

    /// Name, parent's name and service of every span of our trace; equal ones once, since a slow machine may commit a
    /// run in more than one step.
    fn tree(&self) -> BTreeSet<(String, String, String)> {
        let kept = self.0.lock().unwrap();
        let of_trace: Vec<_> = kept.iter().filter(|(_, span)| hex(&span.trace_id) == TRACE).collect();
        let mut names: BTreeMap<String, &str> =
            of_trace.iter().map(|(_, span)| (hex(&span.span_id), span.name.as_str())).collect();
        names.insert(CALLER.to_owned(), "the caller");
        let row = |(service, span): &&(String, Span)| {
            let parent = names.get(&hex(&span.parent_span_id)).copied().unwrap_or("nobody");
            (span.name.clone(), parent.to_owned(), service.clone())
        };
        of_trace.iter().map(row).collect()
    }

    /// Waits until as much has come as is expected; what has come.
    async fn gathered(&self, names: &[(&str, &str, &str)]) -> BTreeSet<(String, String, String)> {
        let all = async {
            while !names.iter().all(|(name, ..)| self.tree().iter().any(|row| row.0 == *name)) {
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        };
        // When it is over, the comparison says what is missing.
        let _ = tokio::time::timeout(Duration::from_secs(20), all).await;
        self.tree()
    }

    /// What a caller wrote is in no span of any trace.
    fn assert_silent(&self) {
        let kept = self.0.lock().unwrap();
        assert!(!kept.is_empty());
        for (_, span) in kept.iter() {
            assert!(!format!("{span:?}").contains("canary"), "content in a span: {span:?}");
        }
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn expected() -> BTreeSet<(String, String, String)> {
    EXPECTED.map(|(name, parent, service)| (name.to_owned(), parent.to_owned(), service.to_owned())).into()
}

/// One message under the caller's trace, with content and credentials that must show nowhere.
async fn one_message(client: &Client) {
    let parent = format!("00-{TRACE}-{CALLER}-01");
    let headers = [
        ("traceparent", parent.as_str()),
        ("idempotency-key", "canary-key"),
        ("authorization", "Bearer canary-token"),
    ];
    let task = client.send(&said("echo canary-text"), &headers).await.unwrap();
    assert_eq!(state(&task), TaskState::Completed);
    // What is refused leaves no content either.
    client.send(&said("canary-changed"), &[("idempotency-key", "canary-key")]).await.unwrap_err();
    client.task("canary-id").await.unwrap_err();
}

// One thread, so that the subscriber of this test is everybody's.
#[tokio::test]
async fn one_message_is_one_trace_in_one_process_and_with_a_port_between_any_two_roles() {
    for form in Form::BOTH {
        let (sink, data) = (Sink::default(), tempfile::tempdir().unwrap());
        let (endpoint, _serving) = sink.serve().await;
        let settings =
            telemetry::Settings { otlp_endpoint: endpoint, log: "error".into(), ..Default::default() };
        let (subscriber, guard) = telemetry::layer(&settings, "test", None, Env::system().metrics()).unwrap();
        let _traced = tracing::subscriber::set_default(subscriber);
        let world = World::start(form, data.path()).await;
        one_message(&world.client).await;
        assert_eq!(sink.gathered(&EXPECTED).await, expected(), "{form:?}");
        world.stop().await;
        guard.shutdown().await;
        assert_eq!(sink.tree(), expected(), "{form:?}: nothing is added later");
        sink.assert_silent();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn one_message_is_one_trace_across_processes() {
    for form in Form::BOTH {
        let (sink, dir) = (Sink::default(), tempfile::tempdir().unwrap());
        let (endpoint, _serving) = sink.serve().await;
        let env = [("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint.as_str())];
        let mut mesh = Deployment::start(form, dir.path(), &[], &env).await;
        one_message(&mesh.client).await;
        assert_eq!(sink.gathered(&EXPECTED).await, expected(), "{form:?}");
        mesh.stop().await;
        assert_eq!(sink.tree(), expected(), "{form:?}: nothing is added later");
        sink.assert_silent();
    }
}
