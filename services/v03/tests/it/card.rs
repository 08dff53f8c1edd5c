//! The agent card, by example.

use serde_json::{Value, json};
use weft_proto::a2a as v1;
use weft_v03::card;
use weft_v03::wire::{Downgrade, Upgrade};

fn interface(url: &str, binding: &str, version: &str) -> v1::AgentInterface {
    v1::AgentInterface {
        url: url.into(),
        protocol_binding: binding.into(),
        protocol_version: version.into(),
        tenant: String::new(),
    }
}

fn card() -> v1::AgentCard {
    let schemes = json!({
        "key": {"apiKeySecurityScheme": {"location": "header", "name": "X-Key"}},
        "web": {"httpAuthSecurityScheme": {"scheme": "bearer", "bearerFormat": "JWT", "description": "d"}},
        "oauth": {"oauth2SecurityScheme": {"flows": {"clientCredentials": {"tokenUrl": "https://h/t", "scopes": {"s": "S"}}}}},
        "oidc": {"openIdConnectSecurityScheme": {"openIdConnectUrl": "https://h/.well-known/o"}},
        "tls": {"mtlsSecurityScheme": {}},
    });
    let card = json!({
        "name": "N", "description": "D", "version": "1", "iconUrl": "https://h/i",
        "provider": {"organization": "O", "url": "https://o/"},
        "capabilities": {"streaming": true, "pushNotifications": false, "extendedAgentCard": true,
                         "extensions": [{"uri": "urn:x", "params": {"n": 1}}]},
        "defaultInputModes": ["text/plain"], "defaultOutputModes": ["text/plain"],
        "securitySchemes": schemes,
        "securityRequirements": [{"schemes": {"oauth": {"list": ["s"]}}}, {"schemes": {"key": {}}}],
        "skills": [{"id": "s", "name": "S", "description": "d", "tags": ["t"],
                    "securityRequirements": [{"schemes": {"web": {}}}]}],
        "signatures": [{"protected": "p", "signature": "s"}],
    });
    v1::AgentCard {
        supported_interfaces: vec![
            interface("https://h/a2a", "JSONRPC", "1.0"),
            interface("https://h/a2a", "JSONRPC", "0.3"),
            interface("h:443", "GRPC", "0.3"),
        ],
        ..weft_proto::json::decode(card.to_string().as_bytes()).expect("as it should be")
    }
}

/// The card of v0.3 with the addresses that speak it.
fn legacy() -> Value {
    json!({
        "protocolVersion": "0.3.0", "name": "N", "description": "D", "version": "1", "iconUrl": "https://h/i",
        "url": "https://h/a2a", "preferredTransport": "JSONRPC",
        "additionalInterfaces": [{"url": "https://h/a2a", "transport": "JSONRPC"}, {"url": "h:443", "transport": "GRPC"}],
        "provider": {"organization": "O", "url": "https://o/"},
        "capabilities": {"streaming": true, "pushNotifications": false,
                         "extensions": [{"uri": "urn:x", "params": {"n": 1}}]},
        "supportsAuthenticatedExtendedCard": true,
        "defaultInputModes": ["text/plain"], "defaultOutputModes": ["text/plain"],
        "securitySchemes": {
            "key": {"type": "apiKey", "in": "header", "name": "X-Key"},
            "web": {"type": "http", "scheme": "bearer", "bearerFormat": "JWT", "description": "d"},
            "oauth": {"type": "oauth2", "flows": {"clientCredentials": {"tokenUrl": "https://h/t", "scopes": {"s": "S"}}}},
            "oidc": {"type": "openIdConnect", "openIdConnectUrl": "https://h/.well-known/o"},
            "tls": {"type": "mutualTLS"},
        },
        "security": [{"oauth": ["s"]}, {"key": []}],
        "skills": [{"id": "s", "name": "S", "description": "d", "tags": ["t"], "security": [{"web": []}]}],
        "signatures": [{"protected": "p", "signature": "s"}],
    })
}

/// The same card, as far as v0.3 can say it.
fn said() -> v1::AgentCard {
    let mut card = card();
    card.supported_interfaces.remove(0);
    card
}

fn object(value: &Value) -> card::Object {
    value.as_object().expect("an object").clone()
}

#[test]
fn a_card_of_v03_is_written_and_read() {
    assert_eq!(Value::Object(card::write(&card()).unwrap()), legacy());
    assert_eq!(card::read(object(&legacy())).unwrap(), said());
    assert_eq!(card().downgrade().upgrade(), said());
}

#[test]
fn a_merged_card_has_the_old_members_and_keeps_the_new() {
    let new = object(&serde_json::to_value(card()).unwrap());
    let mut merged = new.clone();
    card::merge(&mut merged, &card()).unwrap();
    assert!(!card::is_legacy(&merged) && card::is_legacy(&object(&legacy())));
    let again: v1::AgentCard = weft_proto::json::decode(&serde_json::to_vec(&merged).unwrap()).unwrap();
    assert_eq!(again, card(), "a reader of v1.0 sees no difference");
    for (name, old) in object(&legacy()) {
        match name.as_str() {
            "securitySchemes" => {
                for (scheme, members) in old.as_object().unwrap() {
                    for (member, value) in members.as_object().unwrap() {
                        assert_eq!(merged[&name][scheme][member], *value, "{scheme}.{member}");
                    }
                }
            }
            "skills" => assert_eq!(merged["skills"][0]["security"], old[0]["security"]),
            "capabilities" => assert_eq!(merged[&name]["streaming"], json!(true)),
            _ => assert_eq!(merged[&name], old, "{name}"),
        }
    }
    let gone: Vec<_> = new.keys().filter(|name| !merged.contains_key(*name)).collect();
    assert!(gone.is_empty(), "{gone:?}");
}

#[test]
fn a_small_card_has_everything_that_v03_requires() {
    let card = v1::AgentCard {
        supported_interfaces: vec![interface("https://h/", "HTTP+JSON", "1.0")],
        skills: vec![v1::AgentSkill::default()],
        ..v1::AgentCard::default()
    };
    let written = card::write(&card).unwrap();
    assert_eq!(
        (&written["url"], &written["preferredTransport"]),
        (&json!("https://h/"), &json!("HTTP+JSON"))
    );
    for name in ["name", "description", "version", "capabilities", "defaultInputModes", "defaultOutputModes"]
    {
        assert!(written.contains_key(name), "{name}");
    }
    assert_eq!(written["skills"], json!([{"id": "", "name": "", "description": "", "tags": []}]));
}

#[test]
fn old_cards_are_read_by_the_versions_they_name() {
    let interfaces = |card: Value| card::read(object(&card)).unwrap().supported_interfaces;
    assert_eq!(interfaces(json!({"url": "u"})), [interface("u", "JSONRPC", "0.3")]);
    assert_eq!(
        interfaces(json!({"url": "u", "protocolVersion": "0.2.6", "preferredTransport": "GRPC"})),
        [interface("u", "GRPC", "0.2")]
    );
    assert_eq!(
        interfaces(json!({"url": "u", "protocolVersion": "0.3.0", "additionalInterfaces": [
            {"url": "u", "transport": "JSONRPC"}, {"url": "r", "transport": "HTTP+JSON"}]})),
        [interface("u", "JSONRPC", "0.3"), interface("r", "HTTP+JSON", "0.3")]
    );
    assert_eq!(interfaces(json!({})), []);
}

#[test]
fn several_flows_and_unknown_schemes_do_not_spoil_a_card() {
    let flow = json!({"tokenUrl": "t", "scopes": {}});
    let read = card::read(object(&json!({
        "securitySchemes": {
            "many": {"type": "oauth2", "flows": {"password": flow, "clientCredentials": flow, "x": {}}},
            "odd": {"type": "magic"}, "none": {}, "null": null,
        },
        "future": {"a": [1]},
    })))
    .unwrap();
    let schemes: Vec<_> = read.security_schemes.keys().collect();
    assert_eq!(schemes, ["many"]);
    let written = card::write(&read).unwrap();
    assert_eq!(written["securitySchemes"]["many"]["flows"], json!({"clientCredentials": flow}));
    let fault = card::read(object(&json!({"name": 1}))).unwrap_err();
    assert_eq!(fault.violations[0].field, "name");
    let fault = card::read(object(
        &json!({"capabilities": {"extensions": [{"params": {"n": 9007199254740993_u64}}]}}),
    ));
    assert!(fault.is_err(), "a number that a double would change");
}
