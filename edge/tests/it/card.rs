//! The public card: content, caching, addresses.

use axum::body::Body;
use http::{Method, Request, StatusCode};
use serde_json::{Value, json};

use crate::world::{World, get};

const PATH: &str = "/.well-known/agent-card.json";

#[tokio::test]
async fn the_card_has_every_required_field_and_shows_the_catalog() {
    let world = World::new().await;
    let reply = world.get(PATH).await;
    assert_eq!((reply.status, reply.header("content-type")), (StatusCode::OK, "application/json"));
    let card = reply.json();
    for field in [
        "name",
        "description",
        "version",
        "capabilities",
        "skills",
        "supportedInterfaces",
        "defaultInputModes",
        "defaultOutputModes",
    ] {
        assert!(!card[field].is_null(), "{field}: {card}");
    }
    assert_eq!(
        card["supportedInterfaces"],
        json!([
            {"url": "http://127.0.0.1:8420/a2a", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}
        ])
    );
    let capabilities = &card["capabilities"];
    assert_eq!(
        (&capabilities["streaming"], &capabilities["pushNotifications"]),
        (&json!(true), &json!(false))
    );
    assert_eq!(capabilities["extendedAgentCard"], json!(false));
    assert_eq!(capabilities["extensions"][0]["params"]["agentBacked"], json!(["network.state"]));
    let ids: Vec<_> = card["skills"].as_array().unwrap().iter().map(|s| s["id"].as_str().unwrap()).collect();
    assert_eq!(ids, ["sector.movement", "network.state"]);
    assert!(card["skills"][0]["tags"].as_array().is_some_and(|tags| !tags.is_empty()));
    const KNOWN: [&str; 8] = [
        "name",
        "description",
        "version",
        "capabilities",
        "skills",
        "supportedInterfaces",
        "defaultInputModes",
        "defaultOutputModes",
    ];
    for key in card.as_object().unwrap().keys() {
        assert!(KNOWN.contains(&key.as_str()), "{key} is not of A2A 1.0");
    }
}

#[tokio::test]
async fn a_client_that_has_the_card_is_told_so() {
    let world = World::new().await;
    let fresh = world.get(PATH).await;
    assert_eq!(fresh.header("cache-control"), "public, max-age=60");
    assert_eq!(fresh.header("last-modified"), "Thu, 01 Jan 2026 00:00:00 GMT");
    let tag = fresh.header("etag").to_owned();
    assert!(tag.starts_with('"') && tag.ends_with('"'), "strong: {tag}");
    for (name, value, status) in [
        ("if-none-match", tag.clone(), 304),
        ("if-none-match", format!("W/{tag}"), 304),
        ("if-none-match", format!("\"x\", W/{tag} , \"y\""), 304),
        ("if-none-match", "*".into(), 304),
        ("if-none-match", "\"x\"".into(), 200),
        ("if-none-match", tag.trim_matches('"').into(), 200),
        ("if-modified-since", "Thu, 01 Jan 2026 00:00:00 GMT".into(), 304),
        ("if-modified-since", "Fri, 02 Jan 2026 00:00:00 GMT".into(), 304),
        ("if-modified-since", "Wed, 31 Dec 2025 23:59:59 GMT".into(), 200),
        ("if-modified-since", "yesterday".into(), 200),
    ] {
        let reply = world.send(get(PATH).header(name, &value).body(Body::empty()).unwrap()).await;
        assert_eq!(reply.status.as_u16(), status, "{name}: {value}");
        assert_eq!(reply.text.is_empty(), status == 304);
        assert_eq!(reply.header("etag"), tag);
    }
    let both = get(PATH)
        .header("if-none-match", "\"x\"")
        .header("if-modified-since", "Fri, 02 Jan 2026 00:00:00 GMT");
    assert_eq!(world.send(both.body(Body::empty()).unwrap()).await.status, StatusCode::OK, "the tag decides");
}

#[tokio::test]
async fn head_answers_like_get_without_the_body() {
    let world = World::new().await;
    let whole = world.get(PATH).await;
    let request = Request::builder().method(Method::HEAD).uri(PATH).header("host", "localhost");
    let head = world.send(request.body(Body::empty()).unwrap()).await;
    assert_eq!((head.status, head.text.as_str()), (StatusCode::OK, ""));
    assert_eq!(head.header("etag"), whole.header("etag"));
    assert_eq!(head.header("content-length"), whole.text.len().to_string());
}

#[tokio::test]
async fn a_change_of_the_catalog_makes_another_card() {
    let world = World::new().await;
    let before = world.get(PATH).await.header("etag").to_owned();
    world.catalog.send_modify(|snapshot| {
        snapshot.revision = 2;
        snapshot.capabilities.truncate(1);
        snapshot.changed.as_mut().unwrap().seconds += 3_600;
    });
    let after = world.until(|card| card.header("etag") != before).await;
    assert_eq!(after.json()["skills"].as_array().unwrap().len(), 1);
    assert_eq!(after.header("last-modified"), "Thu, 01 Jan 2026 01:00:00 GMT");
}

#[tokio::test]
async fn the_address_on_the_card_comes_from_the_operator_never_from_the_request() {
    let world = World::with(|settings| settings.public_url = "https://mesh.example/weft/".into()).await;
    for (name, value) in [
        ("host", "evil.example"),
        ("x-forwarded-host", "evil.example"),
        ("x-forwarded-proto", "gopher"),
        ("forwarded", "host=evil.example;proto=https"),
    ] {
        let reply = world.send(Request::get(PATH).header(name, value).body(Body::empty()).unwrap()).await;
        assert_eq!(reply.json()["supportedInterfaces"][0]["url"], "https://mesh.example/weft/a2a", "{name}");
        assert!(!reply.text.contains("evil"), "{name}");
    }
}

#[tokio::test]
async fn a_listener_on_every_address_without_a_public_url_is_warned_about_on_the_card_and_in_readiness() {
    let world = World::with(|settings| {
        settings.http = "0.0.0.0:8420".into();
        settings.tokenless_beyond_loopback = true;
    })
    .await;
    let card: Value = world.get(PATH).await.json();
    assert_eq!(card["supportedInterfaces"][0]["url"], "http://127.0.0.1:8420/a2a");
    let warning = card["capabilities"]["extensions"][0]["params"]["warnings"][0].as_str().unwrap();
    assert!(warning.contains("edge.public_url"), "{warning}");
    assert_eq!(world.get("/readyz").await.json()["warnings"][0], warning);
}
