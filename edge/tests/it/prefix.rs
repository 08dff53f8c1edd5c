//! The edge below a path prefix: everything but gRPC and health moves, and the card says where to.

use http::StatusCode;
use serde_json::json;

use crate::world::{World, rpc};

#[tokio::test]
async fn every_route_lies_below_the_prefix_and_nothing_elsewhere() {
    let world = World::with_prefix("/teams/mesh").await;
    let card = world.get("/teams/mesh/.well-known/agent-card.json").await.json();
    let urls: Vec<_> =
        card["supportedInterfaces"].as_array().unwrap().iter().map(|i| i["url"].as_str().unwrap()).collect();
    assert!(urls.contains(&"http://127.0.0.1:8420/teams/mesh/a2a"), "{urls:?}");
    assert!(urls.contains(&"http://127.0.0.1:8420/teams/mesh/rest"), "{urls:?}");
    for path in ["rest/tasks/t1", "api/catalog", "healthz", ".well-known/jwks.json"] {
        assert_eq!(world.get(&format!("/teams/mesh/{path}")).await.status, StatusCode::OK, "{path}");
    }
    let call = http::Request::post("/teams/mesh/a2a").header("host", "localhost");
    let body = rpc("GetTask", &json!({"id": "t1"}));
    assert_eq!(world.send(call.body(body.into()).unwrap()).await.json()["result"]["id"], "t1");
    for path in ["/rest/tasks/t1", "/a2a", "/api/catalog", "/.well-known/agent-card.json", "/"] {
        assert_eq!(world.get(path).await.status, StatusCode::NOT_FOUND, "{path}");
    }
    assert_eq!(world.get("/healthz").await.status, StatusCode::OK, "probes need no prefix");
}

#[tokio::test]
async fn a_prefix_that_is_no_path_is_refused_at_the_start() {
    for bad in ["mesh", "/", "/a b", "/../x", "//x", "/x?y"] {
        let refused = World::refused(|settings| settings.base_path = bad.into());
        assert!(refused.contains("edge.base_path"), "{bad}: {refused}");
    }
}
