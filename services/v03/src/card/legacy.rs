//! The members that v0.3 has and v1.0 has not.

use serde_json::{Value, json};
use weft_core::Fault;
use weft_proto::a2a::AgentCard;

use super::Object;

/// Members of v0.3 that a card of v1.0 gets as they are.
const ADDED: [&str; 6] = [
    "protocolVersion",
    "url",
    "preferredTransport",
    "additionalInterfaces",
    "supportsAuthenticatedExtendedCard",
    "security",
];

/// Adds the members of v0.3 to `json`, the JSON of `card`: the old top-level ones, `security` of each skill, and in each
/// security scheme the old members beside the new. What a reader of v1.0 looks at is not touched.
///
/// # Errors
/// `Internal` when the card holds what JSON cannot say.
pub fn merge(json: &mut Object, card: &AgentCard) -> Result<(), Fault> {
    let mut old = super::write(card)?;
    for name in ADDED {
        if let Some(value) = old.remove(name) {
            json.insert(name.to_owned(), value);
        }
    }
    let skills = json.get_mut("skills").and_then(Value::as_array_mut);
    if let (Some(skills), Some(Value::Array(old))) = (skills, old.remove("skills")) {
        for (skill, mut old) in skills.iter_mut().zip(old) {
            if let (Some(skill), Some(security)) = (skill.as_object_mut(), old.get_mut("security")) {
                skill.insert("security".to_owned(), security.take());
            }
        }
    }
    let schemes = json.get_mut("securitySchemes").and_then(Value::as_object_mut);
    if let (Some(schemes), Some(Value::Object(old))) = (schemes, old.remove("securitySchemes")) {
        for (name, old) in old {
            if let (Some(Value::Object(scheme)), Value::Object(old)) = (schemes.get_mut(&name), old) {
                scheme.extend(old);
            }
        }
    }
    Ok(())
}

/// Puts in what v0.3 requires and ProtoJSON leaves out when it is empty.
pub(super) fn complete(card: &mut Object) {
    let required = [
        ("name", json!("")),
        ("description", json!("")),
        ("url", json!("")),
        ("version", json!("")),
        ("defaultInputModes", json!([])),
        ("defaultOutputModes", json!([])),
        ("skills", json!([])),
        ("capabilities", json!({})),
        ("supportsAuthenticatedExtendedCard", json!(false)),
    ];
    require(card, required);
    for skill in card.get_mut("skills").and_then(Value::as_array_mut).into_iter().flatten() {
        if let Some(skill) = skill.as_object_mut() {
            let required =
                [("id", json!("")), ("name", json!("")), ("description", json!("")), ("tags", json!([]))];
            require(skill, required);
        }
    }
    if let Some(capabilities) = card.get_mut("capabilities").and_then(Value::as_object_mut) {
        require(capabilities, [("streaming", json!(false)), ("pushNotifications", json!(false))]);
    }
    if let Some(provider) = card.get_mut("provider").and_then(Value::as_object_mut) {
        require(provider, [("organization", json!("")), ("url", json!(""))]);
    }
}

fn require<const N: usize>(object: &mut Object, members: [(&str, Value); N]) {
    for (name, empty) in members {
        object.entry(name).or_insert(empty);
    }
}
