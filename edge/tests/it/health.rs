//! Liveness, readiness and figures.

use http::StatusCode;
use serde_json::json;
use tonic::Status;

use crate::store::lock;
use crate::world::{World, hello};

#[tokio::test]
async fn ready_means_that_every_part_answers_and_nothing_stops() {
    let world = World::new().await;
    let ready = world.get("/readyz").await;
    assert_eq!(ready.status, StatusCode::OK);
    let parts = json!({"edge": "ok", "tasks": "ok", "catalog": "ok"});
    assert_eq!(ready.json(), json!({"ready": true, "parts": parts, "warnings": []}));

    *lock(&world.script.refuse) = Some(Status::unavailable("gone"));
    let without = world.get("/readyz").await;
    assert_eq!(
        (without.status, without.json()["parts"]["tasks"].clone()),
        (StatusCode::SERVICE_UNAVAILABLE, json!("unreachable"))
    );
    assert_eq!(world.get("/healthz").await.status, StatusCode::OK, "the process lives all the same");

    *lock(&world.script.refuse) = None;
    assert_eq!(world.get("/readyz").await.status, StatusCode::OK);
    world.env.stop().cancel();
    let stopping = world.get("/readyz").await;
    assert_eq!(
        (stopping.status, stopping.json()["parts"]["edge"].clone()),
        (StatusCode::SERVICE_UNAVAILABLE, json!("stopping"))
    );
    assert_eq!(
        world.call("GetTask", json!({"id": "t1"})).await["result"]["id"],
        "t1",
        "a stop still serves calls"
    );
}

#[tokio::test]
async fn calls_are_counted_by_method_and_outcome_and_never_by_content() {
    let world = World::new().await;
    world.call("SendMessage", hello("which sectors moved most SECRETWORD")).await;
    world.code("GetTask", json!({})).await;
    world.code("NoSuchMethodOfMine", json!({})).await;
    let figures = world.get("/metrics").await;
    assert!(figures.header("content-type").starts_with("application/openmetrics-text"));
    for line in [
        r#"weft_edge_calls_total{method="SendMessage",outcome="ok"} 1"#,
        r#"weft_edge_calls_total{method="GetTask",outcome="INVALID_PARAMS"} 1"#,
        r#"weft_edge_calls_total{method="unknown",outcome="METHOD_NOT_FOUND"} 1"#,
        "weft_edge_streams_open 0",
    ] {
        assert!(figures.text.contains(line), "{line}:\n{}", figures.text);
    }
    assert!(!figures.text.contains("SECRETWORD") && !figures.text.contains("NoSuchMethodOfMine"));
}
