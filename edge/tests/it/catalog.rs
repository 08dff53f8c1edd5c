//! The catalog as it is used: shown to the console, followed as it changes, missed while it is away.

use axum::body::Body;
use futures::stream::{self, StreamExt};
use http::StatusCode;
use http_body_util::BodyExt;
use serde_json::json;
use tokio::sync::watch;
use weft_chassis::Env;
use weft_edge::Settings;
use weft_proto::weft::FeedEvent;

use crate::store::lock;
use crate::world::{World, get, hello};

#[tokio::test]
async fn the_console_reads_the_snapshot_that_calls_go_by() {
    let world = World::new().await;
    let reply = world.get("/api/catalog").await;
    assert_eq!((reply.status, reply.header("cache-control")), (StatusCode::OK, "no-store"));
    let snapshot = reply.json();
    assert_eq!(snapshot["mesh"]["name"], "Sample mesh");
    assert_eq!(snapshot["capabilities"][0]["tool"], json!({"node": "scanner", "tool": "t"}));
}

#[tokio::test]
async fn nodes_read_the_keys_of_the_mesh() {
    let world = World::new().await;
    let reply = world.get("/.well-known/jwks.json").await;
    assert_eq!((reply.status, reply.text.as_str()), (StatusCode::OK, r#"{"keys":[]}"#));
}

#[tokio::test]
async fn a_new_capability_is_routed_to_as_soon_as_it_is_declared() {
    let world = World::new().await;
    assert_eq!(world.code("SendMessage", named("customer.reach")).await, -32602);
    let before = world.get("/.well-known/agent-card.json").await.header("etag").to_owned();
    world.catalog.send_modify(|snapshot| {
        snapshot.revision = 2;
        let mut added = snapshot.capabilities[0].clone();
        added.id = "customer.reach".into();
        snapshot.capabilities.push(added);
    });
    world.until(|card| card.header("etag") != before).await;
    assert_eq!(world.call("SendMessage", named("customer.reach")).await["result"]["task"]["id"], "t1");
}

fn named(id: &str) -> serde_json::Value {
    let mut params = hello("x");
    params["message"]["metadata"] = json!({"skillId": id});
    params
}

#[tokio::test]
async fn the_feed_is_a_stream_of_task_events() {
    let world = World::new().await;
    let event =
        FeedEvent { task_id: "t1".into(), capability: "sector.movement".into(), ..FeedEvent::default() };
    *lock(&world.script.feed) = Some(stream::iter([Ok(event)]).boxed());
    let reply = world.get("/api/tasks/feed").await;
    assert_eq!(reply.header("content-type"), "text/event-stream");
    assert_eq!(reply.text, "event: task\ndata: {\"taskId\":\"t1\",\"capability\":\"sector.movement\"}\n\n");
}

#[tokio::test]
async fn a_stop_ends_the_feed() {
    let world = World::new().await;
    let open = world.open(get("/api/tasks/feed").body(Body::empty()).unwrap()).await;
    world.env.stop().cancel();
    assert!(open.into_body().collect().await.unwrap().to_bytes().is_empty());
}

#[tokio::test]
async fn without_a_catalog_calls_that_need_it_are_sent_away_and_others_go_on() {
    let (_, snapshots) = watch::channel(crate::world::declared());
    let script = std::sync::Arc::default();
    let mut upstreams = crate::world::upstreams(&script, snapshots);
    upstreams.catalog = weft_chassis::peer::remote("http://127.0.0.1:9").unwrap();
    let bound = "127.0.0.1:8420".parse().unwrap();
    let router = weft_edge::router(Settings::default(), bound, &upstreams, &Env::system()).unwrap();
    let world = World::over(router, script);
    assert_eq!(world.code("SendMessage", hello("x")).await, -32056);
    assert_eq!(world.call("GetTask", json!({"id": "t1"})).await["result"]["id"], "t1");
    assert_eq!(world.get("/.well-known/agent-card.json").await.status, StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(world.get("/readyz").await.json()["parts"]["catalog"], "unreachable");
}
