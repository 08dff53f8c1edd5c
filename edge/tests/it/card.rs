//! The public card: content, caching, addresses.

use axum::body::Body;
use http::{Method, Request, StatusCode};
use serde_json::{Value, json};

use weft_proto::weft::{Node, Tool};

use crate::world::{World, declared, get};

const PATH: &str = "/.well-known/agent-card.json";
const NODE: &str = "/agents/lan/.well-known/agent-card.json";

/// What A2A v1.0 requires at the root of a card; a card of ours has no more.
const FIELDS: [&str; 8] = [
    "name",
    "description",
    "version",
    "capabilities",
    "skills",
    "supportedInterfaces",
    "defaultInputModes",
    "defaultOutputModes",
];

/// Binding, version, URL and tenant of each interface.
fn interfaces(card: &Value) -> Vec<String> {
    let of = |i: &Value| {
        let texts =
            ["protocolBinding", "protocolVersion", "url", "tenant"].map(|f| i[f].as_str().unwrap_or(""));
        texts.join(" ").trim_end().to_owned()
    };
    card["supportedInterfaces"].as_array().unwrap().iter().map(of).collect()
}

fn fields(card: &Value) -> Vec<&str> {
    card.as_object().unwrap().keys().map(String::as_str).collect()
}

fn ids(card: &Value) -> Vec<&str> {
    card["skills"].as_array().unwrap().iter().map(|s| s["id"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn the_card_has_every_required_field_and_shows_the_catalog() {
    let world = World::new().await;
    let reply = world.get(PATH).await;
    assert_eq!((reply.status, reply.header("content-type")), (StatusCode::OK, "application/json"));
    let card = reply.json();
    for field in FIELDS {
        assert!(!card[field].is_null(), "{field}: {card}");
    }
    assert_eq!(
        interfaces(&card),
        [
            "JSONRPC 1.0 http://127.0.0.1:8420/a2a",
            "HTTP+JSON 1.0 http://127.0.0.1:8420/rest",
            "GRPC 1.0 127.0.0.1:8420",
            "JSONRPC 0.3 http://127.0.0.1:8420/a2a",
            "HTTP+JSON 0.3 http://127.0.0.1:8420/rest",
            "GRPC 0.3 127.0.0.1:8420",
        ]
    );
    let capabilities = &card["capabilities"];
    let switches = ["streaming", "pushNotifications", "extendedAgentCard"].map(|name| &capabilities[name]);
    assert_eq!(switches, [&json!(true), &json!(true), &json!(false)]);
    assert_eq!(capabilities["extensions"][0]["params"]["agentBacked"], json!(["network.state"]));
    assert_eq!(ids(&card), ["sector.movement", "network.state"]);
    assert!(card["skills"][0]["tags"].as_array().is_some_and(|tags| !tags.is_empty()));
    assert_eq!(
        (&card["url"], &card["protocolVersion"]),
        (&json!("http://127.0.0.1:8420/a2a"), &json!("0.3.0"))
    );
}

#[tokio::test]
async fn without_the_legacy_switch_the_root_has_the_fields_of_v1_alone_and_the_old_path_both() {
    let world = World::with(|settings| settings.legacy_card = false).await;
    let card = world.get(PATH).await.json();
    assert_eq!(fields(&card).into_iter().filter(|field| !FIELDS.contains(field)).count(), 0, "{card}");
    let old = world.get("/.well-known/agent.json").await;
    assert_eq!((&old.json()["preferredTransport"], &old.json()["name"]), (&json!("JSONRPC"), &card["name"]));
    assert_ne!(old.header("etag"), world.get(PATH).await.header("etag"));
}

#[tokio::test]
async fn what_is_switched_off_is_not_on_the_card() {
    let world = World::with(|settings| {
        settings.streaming = false;
        settings.push_notifications = false;
        settings.legacy_v03 = false;
    })
    .await;
    let card = world.get(PATH).await.json();
    assert_eq!(interfaces(&card).len(), 3, "{card}");
    assert!(!card.to_string().contains("0.3"), "{card}");
    let capabilities = &card["capabilities"];
    let switches = ["streaming", "pushNotifications", "extendedAgentCard"].map(|name| &capabilities[name]);
    assert_eq!(switches, [&json!(false); 3]);
    let old = world.get("/.well-known/agent.json").await;
    assert_eq!(old.status, StatusCode::NOT_FOUND);
    assert!(old.text.contains("agent-card.json"), "it says where the card is: {}", old.text);
}

#[tokio::test]
async fn grpc_is_named_only_where_a_public_url_lets_it_be_reached() {
    for (public_url, expected) in [("https://mesh.example", 1), ("https://mesh.example/weft", 0)] {
        let world = World::with(|settings| {
            settings.public_url = public_url.into();
            settings.legacy_v03 = false;
        })
        .await;
        let card = world.get(PATH).await.json();
        let named = interfaces(&card).iter().filter(|i| *i == "GRPC 1.0 mesh.example:443").count();
        assert_eq!(named, expected, "{card}");
    }
}

/// A world in which the node `lan` has one tool and `hands` none that is read-only.
async fn with_nodes(change: impl FnOnce(&mut weft_edge::Settings)) -> World {
    let world = World::with(change).await;
    world.catalog.send_modify(|snapshot| {
        snapshot.revision += 1;
        let tool = |name: &str, read_only| Tool { name: name.into(), description: "t".into(), read_only };
        snapshot.nodes[0].name = "Network".into();
        snapshot.nodes[0].role = "this network".into();
        snapshot.nodes[0].address = "http://inside.example".into();
        snapshot.nodes[0].tools = vec![tool("t", true)];
        snapshot.nodes.push(Node { id: "hands".into(), tools: vec![tool("run", false)], ..Node::default() });
    });
    for _ in 0..10_000 {
        if world.get(NODE).await.status == StatusCode::OK {
            return world;
        }
        tokio::task::yield_now().await;
    }
    panic!("the node never became an agent");
}

#[tokio::test]
async fn a_node_has_a_card_of_its_own_with_the_same_caching() {
    let world = with_nodes(|_| {}).await;
    let reply = world.get(NODE).await;
    let card = reply.json();
    assert_eq!((&card["name"], &card["description"]), (&json!("Network"), &json!("this network")));
    assert_eq!(ids(&card), ["t"]);
    assert_eq!(card["skills"][0]["examples"], json!(["What is the state of the local network?"]));
    assert_eq!(
        interfaces(&card),
        [
            "JSONRPC 1.0 http://127.0.0.1:8420/agents/lan/a2a lan",
            "HTTP+JSON 1.0 http://127.0.0.1:8420/rest lan",
            "GRPC 1.0 127.0.0.1:8420 lan",
            "JSONRPC 0.3 http://127.0.0.1:8420/agents/lan/a2a",
        ]
    );
    assert_eq!(card["url"], "http://127.0.0.1:8420/agents/lan/a2a");
    assert!(!reply.text.contains("inside.example"), "{card}");
    assert_eq!(reply.header("cache-control"), "public, max-age=60");
    assert_eq!(reply.header("last-modified"), "Thu, 01 Jan 2026 00:00:00 GMT");
    let tag = reply.header("etag").to_owned();
    let again = world.send(get(NODE).header("if-none-match", &tag).body(Body::empty()).unwrap()).await;
    assert_eq!((again.status, again.text.as_str()), (StatusCode::NOT_MODIFIED, ""));
    let head = Request::builder().method(Method::HEAD).uri(NODE).header("host", "localhost");
    let head = world.send(head.body(Body::empty()).unwrap()).await;
    assert_eq!((head.status, head.text.as_str(), head.header("etag")), (StatusCode::OK, "", tag.as_str()));
    assert_ne!(tag, world.get(PATH).await.header("etag"));
}

#[tokio::test]
async fn a_change_of_one_node_leaves_the_cards_of_others_as_they_were() {
    let world = with_nodes(|_| {}).await;
    let (mesh, node) = (world.get(PATH).await, world.get(NODE).await);
    world.catalog.send_modify(|snapshot| {
        snapshot.revision += 1;
        snapshot.changed.as_mut().unwrap().seconds += 3_600;
        snapshot.capabilities.remove(0);
    });
    let after = world.until(|card| card.header("etag") != mesh.header("etag")).await;
    assert_eq!(after.header("last-modified"), "Thu, 01 Jan 2026 01:00:00 GMT");
    let same = world.get(NODE).await;
    assert_eq!(
        (same.header("etag"), same.header("last-modified")),
        (node.header("etag"), node.header("last-modified"))
    );
}

#[tokio::test]
async fn who_is_no_agent_has_no_card_and_is_named() {
    let world = with_nodes(|_| {}).await;
    for (name, status) in [("nobody", 404), ("hands", 404), ("lan%2Ft", 404), ("..", 404), ("tasks", 404)] {
        let reply = world.get(&format!("/agents/{name}/.well-known/agent-card.json")).await;
        assert_eq!(reply.status.as_u16(), status, "{name}: {reply:?}");
    }
    let reply = world.get("/agents/nobody/.well-known/agent-card.json").await;
    assert!(reply.text.contains("nobody"), "{}", reply.text);
}

#[tokio::test]
async fn the_extended_card_lists_the_nodes_and_is_there_only_when_the_operator_opened_it() {
    let world = with_nodes(|settings| settings.extended_card = "open".into()).await;
    let card = world.call("GetExtendedAgentCard", json!({})).await["result"].clone();
    let nodes = card["capabilities"]["extensions"][0]["params"]["nodes"].as_array().unwrap();
    assert_eq!((&nodes[0]["id"], &nodes[0]["tools"]), (&json!("lan"), &json!(["t"])));
    assert_eq!(nodes[0]["card"], "http://127.0.0.1:8420/agents/lan/.well-known/agent-card.json");
    assert!(!card.to_string().contains("inside.example"), "{card}");
    let public = world.get(PATH).await.json();
    assert_eq!(public["capabilities"]["extendedAgentCard"], json!(true));
    assert!(public["capabilities"]["extensions"][0]["params"].get("nodes").is_none(), "{public}");
    let own = world.call("GetExtendedAgentCard", json!({"tenant": "lan"})).await["result"].clone();
    assert_eq!((&own["name"], ids(&own)), (&json!("Network"), vec!["t"]));

    let closed = World::new().await;
    assert_eq!(closed.code("GetExtendedAgentCard", json!({})).await, -32007);
}

#[tokio::test]
async fn an_extended_card_for_somebody_unheard_of_refuses_the_start() {
    let script = std::sync::Arc::default();
    let upstreams = crate::world::upstreams(&script, tokio::sync::watch::channel(declared()).1);
    let settings = weft_edge::Settings { extended_card: "friends".into(), ..weft_edge::Settings::default() };
    let bound = "127.0.0.1:8420".parse().unwrap();
    let refused = weft_edge::router(settings, bound, &upstreams, &weft_chassis::Env::system());
    let said = refused.err().unwrap().to_string();
    assert!(
        said.contains("edge.extended_card is friends") && said.contains("off, authenticated or open"),
        "{said}"
    );
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
