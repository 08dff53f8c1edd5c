//! Who was not let do what is written down, and nobody waits for it.

use axum::body::Body;
use http::{Method, Request, StatusCode};
use serde_json::{Value, json};
use weft_proto::weft::audit_event::Outcome;
use weft_proto::weft::{AccessPolicy, AuditEvent};

use super::{Guarded, ajar, closed, grpc, with};
use crate::store::lock;
use crate::world::{get, hello, post, rpc};

/// What one event says, but for what all of them say alike.
fn said(event: &AuditEvent) -> (&str, &str, &str, &str) {
    (&event.action, &event.owner, &event.target, &event.reason)
}

/// Waits until so many are written down, and takes them.
async fn written(guarded: &Guarded, count: usize) -> Vec<AuditEvent> {
    for _ in 0..10_000 {
        if lock(&guarded.record.events).len() >= count {
            return std::mem::take(&mut *lock(&guarded.record.events));
        }
        tokio::task::yield_now().await;
    }
    panic!("{:?}", lock(&guarded.record.events));
}

async fn figure(guarded: &Guarded, line: &str) -> u64 {
    let figures = guarded.world.get("/metrics").await.text;
    let found = figures.lines().find_map(|figure| figure.strip_prefix(line));
    found.map_or(0, |count| count.trim().parse().unwrap())
}

fn sectors() -> Value {
    hello("Which sectors moved most?")
}

#[tokio::test]
async fn every_binding_writes_down_who_was_not_let_do_what() {
    let guarded = Guarded::new(closed()).await;
    let shown = [("authorization", "Bearer reader-token")];
    guarded.call(&shown, "SendMessage", &hello("network state")).await;
    let old = json!({"message": {"kind": "message", "messageId": "m1", "role": "user",
                                 "parts": [{"kind": "text", "text": "network state"}]}});
    guarded.call(&shown, "message/send", &old).await;
    let rest = Request::post("/rest/message:send").header("host", "localhost");
    guarded.world.send(with(rest, &shown).body(hello("x").to_string().into()).unwrap()).await;
    guarded.world.open(grpc("/lf.a2a.v1.A2AService/SendMessage", &shown)).await;
    for event in written(&guarded, 4).await {
        assert_eq!(said(&event), ("authorize", "p:reader", "SendMessage", "SCOPE_MISSING"));
        assert_eq!((event.outcome(), event.peer.as_str()), (Outcome::Denied, "127.0.0.1"));
    }
}

#[tokio::test]
async fn the_record_says_who_upon_what_and_why_and_holds_no_credential() {
    let guarded = Guarded::new(ajar()).await;
    let traced = [
        ("authorization", "Bearer narrow-token"),
        ("traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"),
    ];
    guarded.call(&traced, "SendMessage", &sectors()).await;
    guarded.call(&[("task-access-token", "a-token-of-somebody-else")], "SendMessage", &sectors()).await;
    guarded.call(&[], "GetTask", &json!({"id": "t1"})).await;
    guarded.call(&[("authorization", "Basic c2VjcmV0")], "GetTask", &json!({"id": "t1"})).await;
    let catalog = get("/api/catalog").header("authorization", "Bearer ci-token").body(Body::empty());
    guarded.world.send(catalog.unwrap()).await;
    guarded.world.get("/api/catalog").await;
    let file = format!("/files/t1/{}", "0".repeat(64));
    let file = get(&file).header("authorization", "Bearer writer-token").body(Body::empty());
    guarded.world.send(file.unwrap()).await;
    // None of these is for the edge to write down: what was not found, what proved nothing, what went well.
    guarded.call_as("nobody", "GetTask", &json!({"id": "t1"})).await;
    guarded.call_as("ci-token", "GetTask", &json!({"id": ""})).await;
    guarded.call_as("ci-token", "SendMessage", &hello("network state")).await;
    guarded.call_as("reader-token", "SendMessage", &hello("network state")).await;
    let events = written(&guarded, 8).await;
    let told: Vec<_> = events.iter().map(said).collect();
    assert_eq!(
        told,
        [
            ("authorize", "p:narrow", "sector.movement", "CAPABILITY_NOT_ALLOWED"),
            ("authorize", "", "sector.movement", "CAPABILITY_NOT_ALLOWED"),
            ("authorize", "", "GetTask", "TASK_ACCESS_REQUIRED"),
            ("authenticate", "", "", "CREDENTIAL_MALFORMED"),
            ("authorize", "p:ci", "/api/catalog", "SCOPE_MISSING"),
            ("authorize", "", "/api/catalog", "CREDENTIAL_REQUIRED"),
            ("authorize", "p:writer", "files", "SCOPE_MISSING"),
            ("authorize", "p:reader", "SendMessage", "SCOPE_MISSING"),
        ]
    );
    let all = format!("{events:?}");
    for secret in ["-token\"", "a-token-of-somebody-else", "c2VjcmV0", "sectors moved"] {
        assert!(!all.contains(secret), "{secret}: {all}");
    }
    for (reason, count) in [
        ("CAPABILITY_NOT_ALLOWED", 2),
        ("SCOPE_MISSING", 3),
        ("CREDENTIAL_REQUIRED", 1),
        ("CREDENTIAL_INVALID", 2),
        ("TASK_ACCESS_REQUIRED", 1),
    ] {
        let line = format!("weft_edge_denied_total{{reason=\"{reason}\"}}");
        assert_eq!(figure(&guarded, &line).await, count, "{reason}");
    }
    assert!(!guarded.world.get("/metrics").await.text.contains("p:"));
}

#[tokio::test]
async fn the_console_s_session_is_written_down_and_so_is_its_abuse() {
    let guarded = Guarded::new(closed()).await;
    let session = |method: Method, headers: &[(&str, &str)]| {
        let request = Request::builder().method(method).uri("/api/session").header("host", "127.0.0.1:8420");
        guarded.world.send(with(request, headers).body(Body::empty()).unwrap())
    };
    session(Method::POST, &[("authorization", "Bearer ci-token")]).await;
    let reply = session(Method::POST, &[("authorization", "Bearer admin-token")]).await;
    let cookie = reply.header("set-cookie").split_once(';').unwrap().0.to_owned();
    let forged = post().header("cookie", &cookie).header("sec-fetch-site", "cross-site");
    guarded.world.send(forged.body(rpc("CancelTask", &json!({"id": "t1"})).into()).unwrap()).await;
    session(Method::DELETE, &[("cookie", &cookie), ("sec-fetch-site", "cross-site")]).await;
    session(Method::DELETE, &[("cookie", &cookie), ("sec-fetch-site", "same-origin")]).await;
    let again = session(Method::DELETE, &[("cookie", &cookie), ("sec-fetch-site", "same-origin")]).await;
    assert_eq!(again.status, StatusCode::NO_CONTENT, "who is out already stays out");
    let events = written(&guarded, 5).await;
    let told: Vec<_> = events.iter().map(said).collect();
    assert_eq!(
        told,
        [
            ("authorize", "p:ci", "/api/session", "SCOPE_MISSING"),
            ("session.begin", "p:root", "", ""),
            ("authorize", "p:root", "/a2a", "FOREIGN_PAGE"),
            ("authorize", "p:root", "/api/session", "FOREIGN_PAGE"),
            ("session.end", "p:root", "", ""),
        ]
    );
    assert_eq!(events[1].outcome(), Outcome::Ok);
    assert!(!format!("{events:?}").contains(cookie.split_once('=').unwrap().1));
}

#[tokio::test]
async fn nobody_waits_for_a_record_that_is_slow_and_what_it_has_no_room_for_is_counted() {
    let guarded = Guarded::new(closed()).await;
    let held = guarded.record.gate.clone().acquire_owned().await.unwrap();
    let denied = 1_200;
    for _ in 0..denied {
        let reply = guarded.call_as("reader-token", "CancelTask", &json!({"id": "t1"})).await;
        assert_eq!(reply.status, StatusCode::FORBIDDEN);
    }
    let lost = figure(&guarded, "weft_edge_audit_lost_total{reason=\"full\"}").await;
    assert!((1..=denied - 1_024).contains(&lost), "{lost}");
    drop(held);
    let kept = written(&guarded, usize::try_from(denied - lost).unwrap()).await;
    assert_eq!(kept.len() as u64, denied - lost, "the rest is all there");
}

#[tokio::test]
async fn what_the_signer_does_not_take_is_counted() {
    let guarded = Guarded::new(closed()).await;
    guarded.record.gate.close();
    guarded.call_as("reader-token", "CancelTask", &json!({"id": "t1"})).await;
    while figure(&guarded, "weft_edge_audit_lost_total{reason=\"refused\"}").await == 0 {
        tokio::task::yield_now().await;
    }
    assert!(lock(&guarded.record.events).is_empty());
}

#[tokio::test]
async fn where_nobody_needs_credentials_nothing_is_written_down() {
    let guarded = Guarded::new(AccessPolicy::default()).await;
    guarded.call(&[], "SendMessage", &sectors()).await;
    guarded.call_as("nobody", "GetTask", &json!({"id": "t1"})).await;
    guarded.policy.send_replace(AccessPolicy { version: 2, ..closed() });
    guarded.until_status("nobody", StatusCode::UNAUTHORIZED).await;
    guarded.call_as("reader-token", "CancelTask", &json!({"id": "t1"})).await;
    assert_eq!(written(&guarded, 1).await.len(), 1, "only the last of them");
}
