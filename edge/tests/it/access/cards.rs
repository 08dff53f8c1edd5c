//! Every card says what callers need, in the words of each version.

use std::collections::BTreeMap;

use axum::body::Body;
use http::Request;
use serde_json::{Value, json};
use weft_proto::a2a::security_scheme::Scheme;
use weft_proto::a2a::{
    ApiKeySecurityScheme, HttpAuthSecurityScheme, MutualTlsSecurityScheme, SecurityRequirement,
    SecurityScheme, StringList,
};
use weft_proto::weft::{AccessPolicy, Node, Tool};

use super::{Guarded, closed, grpc, with};
use crate::world::{post, rpc};

const PATH: &str = "/.well-known/agent-card.json";

fn policy() -> AccessPolicy {
    let scheme = |scheme| SecurityScheme { scheme: Some(scheme) };
    let bearer = HttpAuthSecurityScheme { scheme: "Bearer".into(), ..HttpAuthSecurityScheme::default() };
    let key = ApiKeySecurityScheme {
        location: "header".into(),
        name: "X-API-Key".into(),
        ..ApiKeySecurityScheme::default()
    };
    let needs = |name: &str| SecurityRequirement {
        schemes: BTreeMap::from([(name.to_owned(), StringList::default())]),
    };
    AccessPolicy {
        schemes: BTreeMap::from([
            ("bearer".to_owned(), scheme(Scheme::HttpAuthSecurityScheme(bearer))),
            ("key".to_owned(), scheme(Scheme::ApiKeySecurityScheme(key))),
            ("mtls".to_owned(), scheme(Scheme::MtlsSecurityScheme(MutualTlsSecurityScheme::default()))),
        ]),
        requirements: vec![needs("bearer"), needs("key"), needs("mtls")],
        ..closed()
    }
}

fn assert_new(card: &Value) {
    assert_eq!(card["securitySchemes"]["bearer"]["httpAuthSecurityScheme"]["scheme"], "Bearer", "{card}");
    assert_eq!(card["securitySchemes"]["key"]["apiKeySecurityScheme"]["name"], "X-API-Key");
    assert!(card["securitySchemes"]["mtls"]["mtlsSecurityScheme"].is_object());
    assert_eq!(card["securityRequirements"].as_array().unwrap().len(), 3);
    assert!(card["securityRequirements"][0]["schemes"]["bearer"].is_object());
}

fn assert_old(card: &Value) {
    let bearer = &card["securitySchemes"]["bearer"];
    assert_eq!((&bearer["type"], &bearer["scheme"]), (&json!("http"), &json!("Bearer")), "{card}");
    let key = &card["securitySchemes"]["key"];
    assert_eq!(
        (&key["type"], &key["in"], &key["name"]),
        (&json!("apiKey"), &json!("header"), &json!("X-API-Key"))
    );
    assert_eq!(card["securitySchemes"]["mtls"]["type"], "mutualTLS");
    assert_eq!(card["security"], json!([{"bearer": []}, {"key": []}, {"mtls": []}]));
}

#[tokio::test]
async fn the_mesh_and_each_of_its_nodes_say_what_callers_need_in_both_versions() {
    let guarded = Guarded::with(policy(), |settings| settings.extended_card = "authenticated".into()).await;
    guarded.catalog.send_modify(|snapshot| {
        let tool = Tool { name: "t".into(), description: "rows".into(), read_only: true };
        let node = Node { id: "lan".into(), name: "lan".into(), role: "lan".into(), ..Node::default() };
        snapshot.revision += 1;
        snapshot.nodes = vec![Node { tools: vec![tool], ..node }];
    });
    let lan = "/agents/lan/.well-known/agent-card.json";
    while guarded.world.get(lan).await.status != 200 {
        tokio::task::yield_now().await;
    }
    for path in [PATH, "/.well-known/agent.json", lan] {
        let card = guarded.world.get(path).await.json();
        assert_new(&card);
        assert_old(&card);
    }
    let extended = guarded.call_as("ci-token", "GetExtendedAgentCard", &json!({})).await.json();
    assert_new(&extended["result"]);
    let old = guarded.call_as("ci-token", "agent/getAuthenticatedExtendedCard", &json!({})).await.json();
    assert_old(&old["result"]);
}

#[tokio::test]
async fn without_the_legacy_fields_a_card_holds_those_of_v1_alone() {
    let guarded = Guarded::with(policy(), |settings| settings.legacy_card = false).await;
    let card = guarded.world.get(PATH).await.json();
    assert_new(&card);
    assert!(card.get("security").is_none() && card["securitySchemes"]["bearer"].get("type").is_none());
    assert_old(&guarded.world.get("/.well-known/agent.json").await.json());
}

#[tokio::test]
async fn another_policy_makes_another_card() {
    let guarded = Guarded::new(closed()).await;
    let before = guarded.world.get(PATH).await;
    assert!(before.json().get("securitySchemes").is_none());
    guarded.policy.send_replace(AccessPolicy { version: 2, ..policy() });
    let after = guarded.world.until(|card| card.text.contains("httpAuthSecurityScheme")).await;
    assert_ne!(before.header("etag"), after.header("etag"));
    guarded.policy.send_replace(AccessPolicy { version: 3, ..closed() });
    guarded.world.until(|card| !card.text.contains("httpAuthSecurityScheme")).await;
}

#[tokio::test]
async fn whoever_is_not_let_in_hears_of_keys_too_where_there_are_any() {
    let guarded = Guarded::new(policy()).await;
    let key = r#"ApiKey realm="weft", header="X-API-Key""#;
    let none = [r#"Bearer realm="weft""#, key];
    let wrong = [r#"Bearer realm="weft", error="invalid_token""#, key];
    let short = [r#"Bearer realm="weft", error="insufficient_scope", scope="a2a:write""#];
    for (token, expected) in [("", &none[..]), ("nobody", &wrong), ("reader-token", &short)] {
        let bearer = format!("Bearer {token}");
        let shown = [("authorization", bearer.as_str())];
        let shown = if token.is_empty() { &[][..] } else { &shown[..] };
        let body = rpc("CancelTask", &json!({"id": "t1"}));
        let rest = Request::post("/rest/tasks/t1:cancel").header("host", "localhost");
        for request in [
            with(post(), shown).body(body.into()).unwrap(),
            with(rest, shown).body(Body::empty()).unwrap(),
            grpc("/lf.a2a.v1.A2AService/CancelTask", shown),
            grpc("/a2a.v1.A2AService/CancelTask", shown),
        ] {
            let place = request.uri().path().to_owned();
            let answer = guarded.world.open(request).await;
            let challenges: Vec<_> = answer.headers().get_all("www-authenticate").iter().collect();
            assert_eq!(challenges, expected, "{place} with {shown:?}");
        }
    }
}
