//! The top-level fields that A2A v0.3 clients look for, beside those of v1.0 on one card.

use serde_json::{Map, Value, json};
use weft_core::Fault;
use weft_proto::a2a::{AgentCard, AgentInterface};

use crate::json;

/// What v0.3 calls its version in full.
const VERSION: &str = "0.3.0";

/// A card as JSON; with what v0.3 has beside it when `legacy` says so.
pub(super) fn bytes(card: &AgentCard, legacy: bool) -> Vec<u8> {
    // A projection of checked text holds nothing that JSON cannot say.
    written(card, legacy).unwrap_or_else(|fault| {
        tracing::error!(error = fault.message, "an agent card cannot be written");
        Vec::new()
    })
}

fn written(card: &AgentCard, legacy: bool) -> Result<Vec<u8>, Fault> {
    let mut bytes = Vec::with_capacity(8_192);
    json::encode(card, &mut bytes)?;
    let fields = if legacy { fields(card) } else { Map::new() };
    if fields.is_empty() {
        return Ok(bytes);
    }
    if !card.security_schemes.is_empty() {
        return secured(&bytes, card);
    }
    // Spliced behind the card's own fields, which so keep the order of the schema.
    if let (Ok(more), Some(b'}')) = (serde_json::to_vec(&fields), bytes.pop()) {
        bytes.push(b',');
        bytes.extend_from_slice(&more[1..]);
    }
    Ok(bytes)
}

/// The same where schemes have members of both versions, so that they cannot just be put behind.
fn secured(bytes: &[u8], card: &AgentCard) -> Result<Vec<u8>, Fault> {
    let unwritten = |error: serde_json::Error| Fault::internal(format!("the card is not JSON: {error}"));
    let mut both = serde_json::from_slice(bytes).map_err(unwritten)?;
    weft_v03::card::merge(&mut both, card)?;
    serde_json::to_vec(&both).map_err(unwritten)
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
