//! The channel: seals, scopes, limits, what a node says of itself, reload.

use http::{HeaderMap, StatusCode};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use weft_chassis::Env;
use weft_core::manifest::Manifest;
use weft_node::Settings;
use weft_seal::Key;

use crate::world::{World, folder, header, manifest, trust, write};

const ROWS: &str = r#"[{"name":"a","secret":"s"},{"name":"b","secret":"t"}]"#;
const BODY: &str = r#"{"tool":"test.rows"}"#;

fn text() -> String {
    manifest("{ kind = \"json\", file = \"rows.json\" }", "fields = [\"name\"]")
}

async fn world() -> World {
    World::open(&text(), &[("rows.json", ROWS)]).await
}

#[tokio::test]
async fn a_call_without_a_good_seal_is_refused_with_one_text() {
    let world = world().await;
    let mut heard = Vec::new();
    let mut refused = async |spoil: fn(&mut http::Request<String>)| {
        let mut request = world.request(BODY, "tool:test.rows", "application/json");
        spoil(&mut request);
        let (status, body) = world.send(request).await;
        assert_eq!(status, StatusCode::UNAUTHORIZED, "{body}");
        heard.push(body);
    };
    refused(|r| *r.headers_mut() = HeaderMap::new()).await;
    refused(|r| r.body_mut().push(' ')).await;
    refused(|r| header(r, "weft-audience", "crm")).await;
    refused(|r| header(r, "weft-scope", "tool:other")).await;
    refused(|r| header(r, "weft-depth", "2")).await;
    refused(|r| header(r, "weft-extra", "1")).await;
    refused(|r| header(r, "signature", "weft=:AAAA:")).await;
    let body: Value = serde_json::from_str(&heard[0]).unwrap();
    assert_eq!((body["denied"].clone(), body["code"].clone()), (json!(true), json!("SEAL_REFUSED")));
    assert!(heard.iter().all(|text| *text == heard[0]), "a forger can tell them apart: {heard:?}");
}

#[tokio::test]
async fn a_seal_is_good_once_and_only_from_a_trusted_key() {
    let world = world().await;
    let request = world.request(BODY, "tool:test.rows", "application/json");
    assert_eq!(world.send(request.clone()).await.0, StatusCode::OK);
    assert_eq!(world.send(request).await.0, StatusCode::UNAUTHORIZED);
    world.host.trust(trust(&Key::from_seed(&[8; 32])));
    let request = world.request(BODY, "tool:test.rows", "application/json");
    assert_eq!(world.send(request).await.0, StatusCode::UNAUTHORIZED);
}

#[tokio::test]
async fn a_scope_names_the_tool_and_the_tool_exists() {
    let world = world().await;
    let denied = async |body: &str, scope: &str, status: StatusCode, code: &str| {
        let (found, text) = world.send(world.request(body, scope, "application/json")).await;
        let body: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(
            (found, body["code"].clone(), body["denied"].clone()),
            (status, json!(code), json!(true)),
            "{text}"
        );
    };
    denied(BODY, "tool:test.other", StatusCode::FORBIDDEN, "SCOPE").await;
    denied(BODY, "test.rows", StatusCode::FORBIDDEN, "SCOPE").await;
    denied(r#"{"tool":"none"}"#, "tool:none", StatusCode::NOT_FOUND, "UNKNOWN_TOOL").await;
}

#[tokio::test]
async fn a_call_that_came_too_far_or_in_a_circle_is_refused() {
    let world = world().await;
    let by = async |hop: &[(&str, &str)]| {
        let request = world.request_by(BODY, "tool:test.rows", "application/json", hop);
        let (status, text) = world.send(request).await;
        (status, serde_json::from_str::<Value>(&text).unwrap()["code"].clone())
    };
    assert_eq!(
        by(&[("weft-depth", "8"), ("weft-ancestors", "mesh,tests")]).await,
        (StatusCode::OK, Value::Null)
    );
    for depth in ["9", "-1", "x"] {
        assert_eq!(by(&[("weft-depth", depth)]).await, (StatusCode::FORBIDDEN, json!("DEPTH")), "{depth}");
    }
    assert_eq!(by(&[("weft-ancestors", "mesh, test")]).await, (StatusCode::FORBIDDEN, json!("LOOP")));
}

#[tokio::test]
async fn what_is_no_call_is_said_to_be_none_after_its_seal_was_good() {
    let world = world().await;
    let (status, body) = world.send(world.request("{\"tool\":", "tool:test.rows", "application/json")).await;
    assert_eq!(status, StatusCode::BAD_REQUEST);
    assert!(body.contains("INVALID_REQUEST"), "{body}");
}

#[tokio::test]
async fn a_body_over_the_bound_is_refused_before_anything_else() {
    let settings = Settings { body_bytes_max: 1_024, ..Settings::default() };
    let manifest = Manifest::parse("test.toml", &text()).unwrap();
    let world =
        World::with(manifest, folder(&[("rows.json", ROWS)]), Env::system(), &settings).await.unwrap();
    let (status, body) = world.send(world.request(&" ".repeat(1_025), "tool:x", "application/json")).await;
    assert_eq!(status, StatusCode::PAYLOAD_TOO_LARGE);
    assert!(body.contains("1024 bytes"), "{body}");
}

#[tokio::test]
async fn a_full_node_says_when_to_come_back() {
    let settings = Settings { calls_max: 1, ..Settings::default() };
    let text = format!(
        "{}[[scenario.rule]]\nname = \"r\"\n[[scenario.rule.step]]\nstatus = \"working\"\nrepeat = 9\n",
        manifest("{ kind = \"scenario\" }", "")
    );
    let manifest = Manifest::parse("test.toml", &text).unwrap();
    let world = World::with(manifest, folder(&[]), Env::system(), &settings).await.unwrap();
    let request = |world: &World| {
        let request = world.request(BODY, "tool:test.rows", "text/event-stream");
        request.map(|body| tonic::body::Body::new(http_body_util::Full::from(body)))
    };
    let held = tower::ServiceExt::oneshot(world.peer.clone(), request(&world)).await.unwrap();
    let full = tower::ServiceExt::oneshot(world.peer.clone(), request(&world)).await.unwrap();
    assert_eq!(
        (full.status(), full.headers()["retry-after"].as_bytes()),
        (StatusCode::SERVICE_UNAVAILABLE, &b"1"[..])
    );
    drop(held);
    let free = tower::ServiceExt::oneshot(world.peer.clone(), request(&world)).await.unwrap();
    assert_eq!(free.status(), StatusCode::OK, "the room of a caller that left is free again");
}

#[tokio::test]
async fn an_answer_comes_as_events_when_they_are_asked_for() {
    let world = world().await;
    let (status, body) =
        world.send(world.request(BODY, "tool:test.rows", "text/event-stream, application/json")).await;
    assert_eq!(status, StatusCode::OK);
    let data: Vec<_> = body.lines().filter_map(|line| line.strip_prefix("data: ")).collect();
    assert_eq!(data.len(), 1, "{body}");
    let event: Value = serde_json::from_str(data[0]).unwrap();
    assert_eq!(event["result"]["result"]["count"], 2);
}

#[tokio::test]
async fn a_node_says_what_it_is_without_a_seal_and_without_paths() {
    let world = world().await;
    let get = |path: &str| http::Request::get(format!("http://test{path}")).body(String::new()).unwrap();
    let (status, body) = world.send(get("/peer/about")).await;
    let about: Value = serde_json::from_str(&body).unwrap();
    assert_eq!(
        (status, about["node"].clone(), about["tools"][0]["name"].clone()),
        (StatusCode::OK, json!("test"), json!("test.rows"),)
    );
    assert_eq!(about["tools"][0]["readOnly"], true);
    assert!(!body.contains("rows.json"), "{body}");
    assert_eq!(world.send(get("/healthz")).await, (StatusCode::OK, "ok".into()));
    assert_eq!(world.send(get("/peer/invoke")).await.0, StatusCode::METHOD_NOT_ALLOWED);
}

#[tokio::test]
async fn a_reload_swaps_the_manifest_whole_or_not_at_all() {
    let world = world().await;
    let load = async |text: &str| world.host.reload(Manifest::parse("test.toml", text).unwrap()).await;
    load(&text().replace("[\"name\"]", "[\"secret\"]")).await.unwrap();
    assert_eq!(world.rows(json!({})).await["rows"][0], json!({"secret": "s"}));
    let wrong = load(&text().replace("rows.json", "gone.json")).await.unwrap_err().to_string();
    assert!(wrong.contains("test.toml: `tool(test.rows).source.file` is \"gone.json\""), "{wrong}");
    assert_eq!(world.rows(json!({})).await["rows"][0], json!({"secret": "s"}), "the old one stays");
    let other = load(&text().replace("id = \"test\"", "id = \"other\"")).await.unwrap_err().to_string();
    assert!(other.contains("node.id"), "{other}");
    write(world.folder.path(), "rows.json", "[]");
    assert_eq!(world.rows(json!({})).await["count"], 0, "a changed file is a changed answer");
}

#[tokio::test]
async fn a_node_on_a_port_answers_as_it_does_in_process() {
    let world = world().await;
    let (listener, address) = weft_chassis::serve::bind("127.0.0.1:0").await.unwrap();
    let (host, env) = (world.host.clone(), world.env.clone());
    let serving = weft_node::serve(listener, host, env.clone());
    env.spawn(async move { serving.await.unwrap() });
    let mut socket = tokio::net::TcpStream::connect(address).await.unwrap();
    socket.write_all(b"GET /peer/about HTTP/1.1\r\nhost: test\r\nconnection: close\r\n\r\n").await.unwrap();
    let mut answer = String::new();
    socket.read_to_string(&mut answer).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 200 OK\r\n") && answer.contains("\"node\":\"test\""), "{answer}");
    assert!(env.drain(std::time::Duration::from_secs(30)).await, "it ends when the mesh stops");
}
