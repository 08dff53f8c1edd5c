//! The console's page and what must never be mistaken for it. Holds with and without a built console.

use axum::body::Body;
use http::{Request, StatusCode};

use crate::world::{World, get};

#[tokio::test]
async fn the_page_or_how_to_build_it_is_served_under_every_path_of_its_own() {
    let world = World::new().await;
    for path in ["/", "/tasks", "/tasks/01a-b", "/apiary"] {
        let reply = world.get(path).await;
        assert_eq!(reply.status, StatusCode::OK, "{path}");
        let html = reply.header("content-type").starts_with("text/html");
        assert!(html || reply.text.contains("make console"), "{path}: {}", reply.text);
        assert!(reply.header("content-security-policy").starts_with("default-src 'self';"));
        assert_eq!(reply.header("x-content-type-options"), "nosniff");
        assert!(matches!(reply.header("cache-control"), "no-cache" | "no-store"));
    }
}

#[tokio::test]
async fn nothing_else_is_answered_with_the_page() {
    let world = World::new().await;
    for path in [
        "/no-such.js",
        "/api",
        "/api/",
        "/api/nope",
        "/a2a/nope",
        "/.well-known/agent-cards.json",
        "/.well-known/",
        "/healthz/x",
        "/..%2f..%2fetc/passwd",
        "/../Cargo.toml",
        "/%2e%2e/Cargo.toml",
        "/assets/..\\x",
        "/.git/config",
    ] {
        let reply = world.get(path).await;
        assert_eq!(reply.status, StatusCode::NOT_FOUND, "{path}: {}", reply.text);
        assert!(reply.header("content-type").starts_with("text/plain"), "{path}");
    }
    let posted = Request::post("/tasks").header("host", "localhost").body(Body::empty()).unwrap();
    assert_eq!(world.send(posted).await.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn a_browser_that_has_the_page_is_told_so() {
    let world = World::new().await;
    let tag = world.get("/").await.header("etag").to_owned();
    if tag.is_empty() {
        return; // Not built: there is no page to have.
    }
    let again = world.send(get("/").header("if-none-match", &tag).body(Body::empty()).unwrap()).await;
    assert_eq!((again.status, again.text.as_str()), (StatusCode::NOT_MODIFIED, ""));
}
