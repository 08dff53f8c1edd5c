//! The agent card as JSON of v0.3: on its own, and merged into one of v1.0 for clients that read the old members.

mod legacy;
mod schemes;

use weft_core::Fault;
use weft_proto::a2a::AgentCard;
use weft_proto::{a2a_v03 as v03, json};

use crate::wire::{Downgrade, Upgrade};

pub use legacy::merge;

/// What a card says it speaks.
pub const PROTOCOL_VERSION: &str = "0.3.0";

/// The transport of a card that names none.
pub(crate) const JSONRPC: &str = "JSONRPC";

/// A JSON object.
pub type Object = serde_json::Map<String, serde_json::Value>;

/// Whether this is a card of v0.3 alone: it has no `supportedInterfaces`, which every card of v1.0 has.
pub fn is_legacy(card: &Object) -> bool {
    !card.contains_key("supportedInterfaces") && !card.contains_key("supported_interfaces")
}

/// Reads a card of v0.3; its addresses become `supportedInterfaces` with protocol version 0.3 (or what else the card
/// says). Of several OAuth flows of one scheme the first in the order of the schema is kept.
///
/// # Errors
/// `Invalid`, naming the member.
pub fn read(mut card: Object) -> Result<AgentCard, Fault> {
    schemes::to_schema(&mut card);
    let text = serde_json::to_vec(&card).map_err(|error| Fault::invalid("card", error.to_string()))?;
    let card: v03::AgentCard = json::decode(&text).map_err(|fault| {
        Fault::invalid(if fault.path.is_empty() { "card".to_owned() } else { fault.path }, fault.reason)
    })?;
    Ok(card.upgrade())
}

/// Writes a card of v0.3 and nothing else.
///
/// # Errors
/// `Internal` when it holds what JSON cannot say.
pub fn write(card: &AgentCard) -> Result<Object, Fault> {
    let unsaid = |why: String| Fault::internal(format!("cannot write the card as JSON: {why}"));
    match serde_json::to_value(card.clone().downgrade()).map_err(|error| unsaid(error.to_string()))? {
        serde_json::Value::Object(mut card) => {
            schemes::from_schema(&mut card);
            legacy::complete(&mut card);
            Ok(card)
        }
        _ => Err(unsaid("it is no object".to_owned())),
    }
}

/// The addresses that speak v0.3, all of them if none says so.
pub(crate) fn interfaces(card: &AgentCard) -> Vec<v03::AgentInterface> {
    let old = |with: &dyn Fn(&str) -> bool| -> Vec<_> {
        let interfaces =
            card.supported_interfaces.iter().filter(|interface| with(&interface.protocol_version));
        interfaces
            .map(|i| v03::AgentInterface { url: i.url.clone(), transport: i.protocol_binding.clone() })
            .collect()
    };
    let said = old(&|version| version.starts_with("0."));
    if said.is_empty() { old(&|_| true) } else { said }
}

/// `0.3.0` → `0.3`; nothing said is 0.3.
pub(crate) fn major_minor(version: &str) -> String {
    let mut numbers = version.split('.');
    match (numbers.next(), numbers.next()) {
        (Some(major), Some(minor)) if !major.is_empty() => format!("{major}.{minor}"),
        _ => crate::VERSION.to_owned(),
    }
}
