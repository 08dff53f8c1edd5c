//! What an edge that other machines can reach needs before it starts, and what becomes of it when that is taken away.

use std::sync::Arc;

use http::{Request, StatusCode};
use serde_json::json;
use weft_chassis::Env;
use weft_edge::Settings;
use weft_proto::weft::AccessPolicy;

use super::{Guarded, behind, closed};
use crate::world::rpc;

async fn bound(policy: AccessPolicy, tokenless: bool, grpc: &str) -> Result<(), String> {
    let (upstreams, _gate, _policy, _catalog) = behind(&Arc::default(), policy);
    let http = if grpc.is_empty() { "0.0.0.0:0" } else { "127.0.0.1:0" };
    let settings = Settings {
        http: http.into(),
        grpc: grpc.into(),
        tokenless_beyond_loopback: tokenless,
        ..Settings::default()
    };
    weft_edge::bind(settings, &upstreams, &Env::system()).await.map(drop)
}

#[tokio::test]
async fn beyond_loopback_somebody_must_have_credentials_or_the_operator_must_say_that_nobody_needs_any() {
    let refused = bound(AccessPolicy::default(), false, "").await.unwrap_err();
    for named in ["edge.http", "weft access add NAME", "edge.tokenless_beyond_loopback"] {
        assert!(refused.contains(named), "{refused}");
    }
    let refused = bound(AccessPolicy::default(), false, "0.0.0.0:0").await.unwrap_err();
    assert!(refused.contains("edge.grpc"), "{refused}");
    assert_eq!(bound(AccessPolicy::default(), true, "").await, Ok(()));
    assert_eq!(bound(closed(), false, "").await, Ok(()));
    assert_eq!(bound(closed(), false, "0.0.0.0:0").await, Ok(()));
}

#[tokio::test]
async fn an_edge_that_loses_its_last_credential_lets_nobody_in() {
    let open = |settings: &mut Settings| settings.http = "0.0.0.0:8420".into();
    let guarded = Guarded::with(closed(), open).await;
    guarded.until_status("ci-token", StatusCode::OK).await;
    guarded.policy.send_replace(AccessPolicy { version: 2, ..AccessPolicy::default() });
    guarded.until_status("ci-token", StatusCode::SERVICE_UNAVAILABLE).await;
    for path in ["/api/catalog", "/rest/tasks"] {
        assert_eq!(guarded.world.get(path).await.status, StatusCode::SERVICE_UNAVAILABLE, "{path}");
    }
    let reply = guarded.world.post(rpc("ListTasks", &json!({}))).await;
    assert_eq!(reply.status, StatusCode::SERVICE_UNAVAILABLE);
    assert!(reply.text.contains("weft access add"), "{reply:?}");
}

#[tokio::test]
async fn whoever_runs_the_mesh_looks_at_it_from_within_and_nobody_else_does() {
    use tower::ServiceExt;
    let (upstreams, _gate, _policy, _catalog) = behind(&Arc::default(), closed());
    let settings = Settings { http: "127.0.0.1:0".into(), ..Settings::default() };
    let bound = weft_edge::bind(settings, &upstreams, &Env::system()).await.unwrap();
    let asked =
        || Request::get("/api/catalog").header("host", "localhost").body(axum::body::Body::empty()).unwrap();
    let inside = bound.router().oneshot(asked()).await.unwrap();
    assert_eq!(inside.status(), StatusCode::OK);
    let at = bound.address();
    bound.serve();
    let mut stream = tokio::net::TcpStream::connect(at).await.unwrap();
    let request = format!("GET /api/catalog HTTP/1.1\r\nhost: {at}\r\nconnection: close\r\n\r\n");
    tokio::io::AsyncWriteExt::write_all(&mut stream, request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    tokio::io::AsyncReadExt::read_to_string(&mut stream, &mut answer).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 401 "), "{answer}");
}
