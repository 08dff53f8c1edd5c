//! Who may come in: hosts, origins, pages of other sites.

use axum::body::Body;
use http::{Method, Request, StatusCode};
use serde_json::json;

use crate::world::{World, get, post, rpc};

#[tokio::test]
async fn a_foreign_host_or_page_is_refused_before_anything_is_done() {
    let world = World::new().await;
    let call = || Body::from(rpc("CancelTask", &json!({"id": "t1"})));
    let rebound = Request::post("/a2a").header("host", "evil.example:8420").body(call()).unwrap();
    let page = post().header("origin", "https://evil.example").body(call()).unwrap();
    for request in [rebound, page] {
        let reply = world.send(request).await;
        assert_eq!(
            (reply.status, reply.json()["error"]["code"].clone()),
            (StatusCode::FORBIDDEN, json!(-32053))
        );
        assert_eq!(reply.header("access-control-allow-origin"), "");
    }
    assert!(crate::store::lock(&world.script.cancelled).is_empty());
    for path in ["/", "/api/catalog", "/api/tasks/feed", "/metrics"] {
        let request = Request::get(path).header("host", "evil.example").body(Body::empty()).unwrap();
        let reply = world.send(request).await;
        assert_eq!(reply.status, StatusCode::FORBIDDEN, "{path}");
        assert!(reply.text.contains("edge.allowed_hosts"), "{}", reply.text);
    }
}

#[tokio::test]
async fn a_listed_page_may_call_with_the_headers_of_a2a_and_an_unlisted_one_may_not_even_ask() {
    let world = World::with(|settings| settings.allowed_origins = vec!["https://app.example".into()]).await;
    let preflight = |origin: &str| {
        let request = Request::builder().method(Method::OPTIONS).uri("/a2a").header("host", "localhost");
        let request = request.header("origin", origin).header("access-control-request-method", "POST");
        request.header("access-control-request-headers", "a2a-version").body(Body::empty()).unwrap()
    };
    let allowed = world.send(preflight("https://app.example")).await;
    assert_eq!(
        (allowed.status, allowed.header("access-control-allow-origin")),
        (StatusCode::NO_CONTENT, "https://app.example")
    );
    let headers = allowed.header("access-control-allow-headers");
    for name in [
        "a2a-version",
        "a2a-extensions",
        "authorization",
        "x-api-key",
        "task-access-token",
        "content-type",
        "idempotency-key",
        "traceparent",
        "tracestate",
        "last-event-id",
    ] {
        assert!(headers.split(", ").any(|h| h == name), "{name}: {headers}");
    }
    assert!(!allowed.headers.contains_key("access-control-allow-credentials"));
    assert_eq!(world.send(preflight("https://evil.example")).await.status, StatusCode::FORBIDDEN);

    let call =
        post().header("origin", "https://app.example").body(rpc("ListTasks", &json!({})).into()).unwrap();
    let reply = world.send(call).await;
    assert_eq!(
        (reply.header("access-control-allow-origin"), reply.header("vary")),
        ("https://app.example", "origin")
    );
    let exposed = reply.header("access-control-expose-headers");
    for name in ["www-authenticate", "retry-after", "task-access-token"] {
        assert!(exposed.split(", ").any(|h| h == name), "{name}: {exposed}");
    }
    assert_eq!(reply.json()["result"]["totalSize"], 0);
}

#[tokio::test]
async fn the_card_is_for_every_page_and_without_credentials() {
    let world = World::new().await;
    let request = get("/.well-known/agent-card.json")
        .header("origin", "https://any.example")
        .body(Body::empty())
        .unwrap();
    let reply = world.send(request).await;
    assert_eq!((reply.status, reply.header("access-control-allow-origin")), (StatusCode::OK, "*"));
    assert!(!reply.headers.contains_key("access-control-allow-credentials"));
    let preflight = Request::builder().method(Method::OPTIONS).uri("/.well-known/agent-card.json");
    let preflight =
        preflight.header("origin", "https://any.example").header("access-control-request-method", "GET");
    let reply = world.send(preflight.body(Body::empty()).unwrap()).await;
    assert_eq!((reply.status, reply.header("access-control-allow-origin")), (StatusCode::NO_CONTENT, "*"));
}

#[tokio::test]
async fn the_console_on_its_own_page_may_call() {
    let world = World::new().await;
    let call =
        post().header("origin", "http://127.0.0.1:8420").body(rpc("ListTasks", &json!({})).into()).unwrap();
    assert_eq!(world.send(call).await.json()["result"]["totalSize"], 0);
}
