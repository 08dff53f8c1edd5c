//! Sources behind an address: what is fetched, and what is refused.

use std::net::SocketAddr;
use std::time::Duration;

use axum::Router;
use axum::response::Redirect;
use axum::routing::get;
use serde_json::json;

use crate::world::{World, manifest};

/// A web server with one answer of each kind, until the test ends.
async fn server() -> SocketAddr {
    let (listener, address) = weft_chassis::serve::bind("127.0.0.1:0").await.unwrap();
    let routes = Router::new()
        .route("/rows", get(async || r#"{"items":[{"name":"a","secret":"s"}]}"#))
        .route("/metrics", get(async || "up{job=\"a\"} 1\n"))
        .route("/large", get(async || format!("[{}1]", "1,".repeat(4_096))))
        .route("/elsewhere", get(async || Redirect::temporary("/rows")))
        .route("/slow", get(async || tokio::time::sleep(Duration::from_secs(600)).await))
        .route("/empty", get(async || r#"{"items":[]}"#));
    weft_chassis::Env::system().spawn(async move { axum::serve(listener, routes).await.unwrap() });
    address
}

fn json_at(address: SocketAddr, path: &str, lines: &str) -> String {
    let source = format!(
        "{{ kind = \"http_json\", url = \"http://{address}{path}\", pointer = \"/items\", private = true }}"
    );
    manifest(&source, &format!("fields = [\"name\"]\n{lines}"))
}

#[tokio::test]
async fn json_is_fetched_trimmed_and_dated() {
    let address = server().await;
    let world = World::open(&json_at(address, "/rows?page=1", ""), &[]).await;
    let answer = world.rows(json!({})).await;
    assert_eq!(answer["rows"], json!([{"name": "a"}]));
    assert!(answer["as_of"].as_str().unwrap().ends_with('Z'), "{answer}");
    let world = World::open(&json_at(address, "/empty", ""), &[]).await;
    assert!(world.call("test.rows", json!({})).await.empty);
}

#[tokio::test]
async fn prometheus_text_is_scraped() {
    let address = server().await;
    let source = format!(
        "{{ kind = \"prometheus\", url = \"http://{address}/metrics\", metrics = [\"up\"], private = true }}"
    );
    let world = World::open(&manifest(&source, "fields = [\"job\", \"value\"]"), &[]).await;
    assert_eq!(world.rows(json!({})).await["rows"], json!([{"job": "a", "value": 1}]));
}

#[tokio::test]
async fn what_an_address_does_wrong_has_a_code_and_no_address_in_the_text() {
    let address = server().await;
    let fails = async |path: &str, lines: &str, code: &str| {
        let world = World::open(&json_at(address, path, lines), &[]).await;
        let (found, text) = world.failure(json!({})).await;
        assert_eq!(found, code, "{path}: {text}");
        assert!(!text.contains("127.0.0.1") && !text.contains(path), "{text}");
    };
    fails("/gone", "", "SOURCE_UNAVAILABLE").await;
    fails("/elsewhere", "", "SOURCE_UNAVAILABLE").await;
    fails("/large", "bytes_max = 4096", "TOO_LARGE").await;
    fails("/slow", "timeout_ms = 50", "TIMEOUT").await;
    let (listener, address) = weft_chassis::serve::bind("127.0.0.1:0").await.unwrap();
    drop(listener);
    let world = World::open(&json_at(address, "/rows", ""), &[]).await;
    assert_eq!(world.failure(json!({})).await.0, "SOURCE_UNAVAILABLE", "nobody listens there");
}

#[tokio::test]
async fn a_private_address_is_reached_only_when_the_manifest_says_so() {
    let address = server().await;
    let literal = json_at(address, "/rows", "").replace(", private = true", "");
    let problems = World::try_open(&literal, &[]).await.err().expect("it opens").to_string();
    assert!(problems.contains("source.url") && problems.contains("private = true"), "{problems}");
    let named = literal.replace("127.0.0.1", "localhost");
    let world = World::open(&named, &[]).await;
    assert_eq!(world.failure(json!({})).await.0, "SOURCE_UNAVAILABLE", "the name is a private address");
    let world = World::open(&named.replace("pointer", "private = true, pointer"), &[]).await;
    assert_eq!(world.rows(json!({})).await["count"], 1);
}
