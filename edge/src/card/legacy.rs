//! The top-level fields that A2A v0.3 clients look for, beside those of v1.0 on one card.

use serde_json::{Map, Value, json};
use weft_proto::a2a::{AgentCard, AgentInterface};

use crate::json;

/// What v0.3 calls its version in full.
const VERSION: &str = "0.3.0";

/// A card as JSON; with what v0.3 has at its top level when `legacy` says so.
pub(super) fn bytes(card: &AgentCard, legacy: bool) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(8_192);
    // A projection of checked text holds nothing that JSON cannot say.
    if let Err(fault) = json::encode(card, &mut bytes) {
        tracing::error!(error = fault.message, "an agent card cannot be written");
    }
    let fields = if legacy { fields(card) } else { Map::new() };
    // Spliced behind the card's own fields, which so keep the order of the schema.
    if let (Ok(more), false) = (serde_json::to_vec(&fields), fields.is_empty())
        && bytes.pop() == Some(b'}')
    {
        bytes.push(b',');
        bytes.extend_from_slice(&more[1..]);
    }
    bytes
}

/// Where the agent is and over which transports, taken from the card's own v0.3 interfaces; empty when it has none.
///
/// What both versions name alike (name, description, skills, capabilities, modes, provider) has the same form in both.
fn fields(card: &AgentCard) -> Map<String, Value> {
    let legacy: Vec<&AgentInterface> =
        card.supported_interfaces.iter().filter(|i| i.protocol_version == "0.3").collect();
    let Some(preferred) = legacy.first() else { return Map::new() };
    let extended = card.capabilities.as_ref().and_then(|c| c.extended_agent_card).unwrap_or_default();
    let interface = |i: &&AgentInterface| json!({"url": i.url, "transport": i.protocol_binding});
    let fields = [
        ("protocolVersion", json!(VERSION)),
        ("url", json!(preferred.url)),
        ("preferredTransport", json!(preferred.protocol_binding)),
        ("additionalInterfaces", legacy.iter().map(interface).collect()),
        ("supportsAuthenticatedExtendedCard", json!(extended)),
    ];
    fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn card(version: &str) -> AgentCard {
        let interface = |url: &str, binding: &str| AgentInterface {
            url: url.into(),
            protocol_binding: binding.into(),
            protocol_version: version.into(),
            tenant: String::new(),
        };
        AgentCard {
            name: "M".into(),
            supported_interfaces: vec![interface("http://h/a2a", "JSONRPC"), interface("h:1", "GRPC")],
            ..AgentCard::default()
        }
    }

    #[test]
    fn a_card_with_v03_interfaces_gets_their_fields_and_keeps_its_own() {
        let written: Value = serde_json::from_slice(&bytes(&card("0.3"), true)).unwrap();
        assert_eq!(
            (&written["url"], &written["preferredTransport"]),
            (&json!("http://h/a2a"), &json!("JSONRPC"))
        );
        let both = json!([
            {"url": "http://h/a2a", "transport": "JSONRPC"},
            {"url": "h:1", "transport": "GRPC"}
        ]);
        assert_eq!((&written["protocolVersion"], &written["additionalInterfaces"]), (&json!("0.3.0"), &both));
        assert_eq!(
            (&written["name"], written["supportedInterfaces"].as_array().map(Vec::len)),
            (&json!("M"), Some(2))
        );
    }

    #[test]
    fn a_card_without_v03_or_without_the_switch_has_the_fields_of_v1_alone() {
        let plain = bytes(&card("1.0"), false);
        assert_eq!(bytes(&card("1.0"), true), plain);
        let closed: Value = serde_json::from_slice(&bytes(&card("0.3"), false)).unwrap();
        assert!(closed.get("url").is_none() && closed.get("protocolVersion").is_none(), "{closed}");
    }
}
