//! How a caller names a capability: `metadata.skillId` of the message, or a data part `{"skill", "arguments"}`.

use weft_proto::a2a::Message;
use weft_proto::a2a::part::Content;
use weft_proto::wkt::{Kind, Struct, Value};

use crate::Fault;

/// What a message says about where it goes.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Named {
    /// The field that names the capability, and its id.
    pub(crate) skill: Option<(String, String)>,
    /// The arguments it gives.
    pub(crate) arguments: Option<Struct>,
}

/// Reads it.
///
/// # Errors
/// `Invalid` when a name is no string, arguments are no object, or two names differ.
pub(crate) fn named(message: &Message) -> Result<Named, Fault> {
    let mut named = Named::default();
    if let Some(value) = message.metadata.as_ref().and_then(|m| m.fields.get("skillId")) {
        named.skill = Some(skill("message.metadata.skillId".to_owned(), value)?);
    }
    for (index, part) in message.parts.iter().enumerate() {
        let Some(Content::Data(Value { kind: Some(Kind::Struct(data)) })) = &part.content else { continue };
        let path = format!("message.parts[{index}].data");
        let value = data.fields.get("skill");
        if let Some(value) = value {
            named.skill = Some(agreed(named.skill.take(), skill(format!("{path}.skill"), value)?)?);
        }
        // Data that names nothing is content, unless the message names a capability elsewhere.
        if (value.is_some() || named.skill.is_some()) && named.arguments.is_none() {
            named.arguments = arguments(&path, data)?;
        }
    }
    Ok(named)
}

fn skill(field: String, value: &Value) -> Result<(String, String), Fault> {
    match &value.kind {
        Some(Kind::String(id)) if !id.trim().is_empty() => Ok((field, id.clone())),
        _ => Err(Fault::invalid(field, "must be the id of a skill, as a string")),
    }
}

fn agreed(before: Option<(String, String)>, now: (String, String)) -> Result<(String, String), Fault> {
    match before {
        Some((field, id)) if id != now.1 => {
            Err(Fault::invalid(now.0, format!("names another skill than {field}")))
        }
        Some(before) => Ok(before),
        None => Ok(now),
    }
}

fn arguments(path: &str, data: &Struct) -> Result<Option<Struct>, Fault> {
    match data.fields.get("arguments").map(|value| &value.kind) {
        None | Some(None | Some(Kind::Null(_))) => Ok(None),
        Some(Some(Kind::Struct(arguments))) => Ok(Some(arguments.clone())),
        Some(_) => Err(Fault::invalid(format!("{path}.arguments"), "must be an object")),
    }
}
