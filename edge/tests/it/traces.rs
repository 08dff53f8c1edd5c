//! What a call leaves in traces: one server span, its codes, never its content.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::{Arc, Mutex};
use std::thread::{self, ThreadId};

use axum::body::Body;
use serde_json::json;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::{Context, SubscriberExt};

use crate::store::lock;
use crate::world::{World, hello, post, rpc};

type Fields = BTreeMap<String, String>;

/// The spans that began on this thread, in order, with all their fields. Other tests run beside this one, each on a
/// thread of its own; a subscriber of one thread alone would miss what another thread touched first.
#[derive(Clone)]
struct Seen {
    thread: ThreadId,
    spans: Arc<Mutex<Vec<(u64, Fields)>>>,
}

struct Reader<'a>(&'a mut Fields);

impl Visit for Reader<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.0.insert(field.name().to_owned(), format!("{value:?}").trim_matches('"').to_owned());
    }
}

impl<S: tracing::Subscriber> Layer<S> for Seen {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, _: Context<'_, S>) {
        if attributes.metadata().name() == "a2a" && thread::current().id() == self.thread {
            let mut fields = Fields::new();
            attributes.record(&mut Reader(&mut fields));
            lock(&self.spans).push((id.into_u64(), fields));
        }
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, _: Context<'_, S>) {
        if thread::current().id() != self.thread {
            return;
        }
        // Ids are used again: the latest span with this one is meant.
        if let Some((_, fields)) = lock(&self.spans).iter_mut().rev().find(|(span, _)| *span == id.into_u64())
        {
            values.record(&mut Reader(fields));
        }
    }
}

#[tokio::test]
async fn each_call_is_one_server_span_with_its_outcome_and_without_its_content() {
    let seen = Seen { thread: thread::current().id(), spans: Arc::default() };
    tracing::subscriber::set_global_default(tracing_subscriber::registry().with(seen.clone())).unwrap();
    tracing::callsite::rebuild_interest_cache();
    let world = World::new().await;
    world.call("SendMessage", hello("which sectors moved most SECRETWORD")).await;
    world.code("CancelTask", json!({"id": " SECRETWORD\n"})).await;
    // A read is traced as a part of its caller's trace only.
    world.call("GetTask", json!({"id": "t1"})).await;
    let traced = post().header("traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01");
    world.send(traced.body(Body::from(rpc("GetTask", &json!({"id": "t1"})))).unwrap()).await;
    world.get("/healthz").await;

    let spans: Vec<Fields> = lock(&seen.spans).iter().map(|(_, fields)| fields.clone()).collect();
    let of = |name: &str| spans.iter().map(|s| s.get(name).cloned().unwrap_or_default()).collect::<Vec<_>>();
    assert_eq!(of("otel.name"), ["a2a SendMessage", "a2a CancelTask", "a2a GetTask"]);
    assert_eq!(of("otel.kind"), ["server"; 3]);
    assert_eq!(of("rpc.method"), ["SendMessage", "CancelTask", "GetTask"]);
    assert_eq!(of("otel.status_code"), ["", "ERROR", ""], "a fault inside HTTP 200 is a fault");
    assert_eq!(of("error.type"), ["", "INVALID_PARAMS", ""]);
    assert_eq!(of("weft.task.id"), ["t1", "", "t1"]);
    assert!(!format!("{spans:?}").contains("SECRETWORD"), "{spans:?}");
}
