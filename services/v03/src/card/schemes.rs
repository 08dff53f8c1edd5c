//! Security, where the JSON of v0.3 and its schema differ: schemes have a `type` instead of a member each, requirements
//! are plain objects of lists.

use serde_json::{Value, json};

use super::Object;

/// `type` in JSON, member in the schema.
const TYPES: [(&str, &str); 5] = [
    ("apiKey", "apiKeySecurityScheme"),
    ("http", "httpAuthSecurityScheme"),
    ("oauth2", "oauth2SecurityScheme"),
    ("openIdConnect", "openIdConnectSecurityScheme"),
    ("mutualTLS", "mtlsSecurityScheme"),
];

/// The flows of the schema, which has one of them for a scheme; earlier ones are preferred.
const FLOWS: [&str; 4] = ["authorizationCode", "clientCredentials", "implicit", "password"];

/// From the JSON of v0.3 to ProtoJSON of its schema. A scheme of an unknown type is left out.
pub(super) fn to_schema(card: &mut Object) {
    requirements(card, requirement_to_schema);
    schemes(card, scheme_to_schema);
}

/// From ProtoJSON of the schema to the JSON of v0.3.
pub(super) fn from_schema(card: &mut Object) {
    requirements(card, requirement_from_schema);
    schemes(card, scheme_from_schema);
}

/// Rewrites every scheme, or leaves it out.
fn schemes(card: &mut Object, rewritten: fn(Value) -> Option<Value>) {
    let Some(schemes) = card.get_mut("securitySchemes").and_then(Value::as_object_mut) else { return };
    let before = std::mem::take(schemes);
    schemes.extend(before.into_iter().filter_map(|(name, scheme)| Some((name, rewritten(scheme)?))));
}

fn scheme_to_schema(mut scheme: Value) -> Option<Value> {
    let kind = scheme.get("type")?.as_str()?;
    let (_, member) = TYPES.iter().find(|(name, _)| *name == kind)?;
    let members = scheme.as_object_mut()?;
    members.remove("type");
    if let Some(place) = members.remove("in") {
        members.insert("location".to_owned(), place);
    }
    if let Some(Value::Object(flows)) = members.get_mut("flows") {
        let first = FLOWS.into_iter().find(|flow| flows.get(*flow).is_some_and(|flow| !flow.is_null()));
        flows.retain(|name, _| Some(name.as_str()) == first);
    }
    Some(json!({ (*member): scheme }))
}

fn scheme_from_schema(mut scheme: Value) -> Option<Value> {
    let (kind, member) = TYPES.iter().find(|(_, member)| scheme.get(*member).is_some())?;
    let Value::Object(mut members) = scheme.get_mut(*member)?.take() else { return None };
    members.insert("type".to_owned(), json!(kind));
    match *kind {
        "apiKey" => {
            let place = members.remove("location").unwrap_or_else(|| json!("header"));
            members.insert("in".to_owned(), place);
            members.entry("name").or_insert(json!(""));
        }
        "http" => {
            members.entry("scheme").or_insert(json!(""));
        }
        "oauth2" => {
            let flows = members.entry("flows").or_insert(json!({}));
            for flow in flows.as_object_mut().into_iter().flat_map(Object::values_mut) {
                if let Some(flow) = flow.as_object_mut() {
                    flow.entry("scopes").or_insert(json!({}));
                }
            }
        }
        _ => {}
    }
    Some(Value::Object(members))
}

/// Rewrites every requirement, of the card and of its skills.
fn requirements(card: &mut Object, rewritten: fn(Value) -> Value) {
    let rewrite = |holder: &mut Object| {
        for requirement in holder.get_mut("security").and_then(Value::as_array_mut).into_iter().flatten() {
            *requirement = rewritten(requirement.take());
        }
    };
    rewrite(card);
    for skill in card.get_mut("skills").and_then(Value::as_array_mut).into_iter().flatten() {
        if let Some(skill) = skill.as_object_mut() {
            rewrite(skill);
        }
    }
}

/// `{"key": ["a"]}` → `{"schemes": {"key": {"list": ["a"]}}}`
fn requirement_to_schema(mut requirement: Value) -> Value {
    for scopes in requirement.as_object_mut().into_iter().flat_map(Object::values_mut) {
        *scopes = json!({ "list": scopes.take() });
    }
    json!({ "schemes": requirement })
}

/// The way back.
fn requirement_from_schema(mut requirement: Value) -> Value {
    let mut schemes = requirement.get_mut("schemes").map_or_else(|| json!({}), Value::take);
    for scopes in schemes.as_object_mut().into_iter().flat_map(Object::values_mut) {
        *scopes = scopes.get_mut("list").map_or_else(|| json!([]), Value::take);
    }
    schemes
}
