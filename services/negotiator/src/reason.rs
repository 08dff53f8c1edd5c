//! The text of a veto: `{name}` stands for a field of the proposal or, failing that, of the facts.

use weft_proto::wkt::{Kind, Struct, Value};

/// Fills in a reason. Dots lead into objects: `{sector.name}`.
///
/// # Errors
/// The name that stands for nothing: a reason with a hole in it is no reason.
pub(crate) fn fill(text: &str, proposal: Option<&Struct>, facts: Option<&Struct>) -> Result<String, String> {
    let mut filled = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('{') {
        let Some((name, behind)) = after.split_once('}') else { break };
        let field = [proposal, facts].into_iter().flatten().find_map(|object| find(object, name));
        let Some(shown) = field.and_then(shown) else { return Err(name.to_owned()) };
        filled.push_str(before);
        filled.push_str(&shown);
        rest = behind;
    }
    filled.push_str(rest);
    Ok(filled)
}

fn find<'a>(object: &'a Struct, path: &str) -> Option<&'a Value> {
    let (name, deeper) = path.split_once('.').map_or((path, None), |(name, deeper)| (name, Some(deeper)));
    let value = object.fields.get(name)?;
    match (deeper, &value.kind) {
        (None, _) => Some(value),
        (Some(deeper), Some(Kind::Struct(object))) => find(object, deeper),
        _ => None,
    }
}

/// Scalars only: a sentence has no place for lists and objects.
fn shown(value: &Value) -> Option<String> {
    match &value.kind {
        Some(Kind::String(text)) => Some(text.clone()),
        // `{}` prints -5.0 as "-5" and keeps every digit that matters.
        Some(Kind::Number(number)) => Some(format!("{number}")),
        Some(Kind::Bool(flag)) => Some(flag.to_string()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(fields: &[(&str, Kind)]) -> Struct {
        let value = |kind: &Kind| Value { kind: Some(kind.clone()) };
        Struct { fields: fields.iter().map(|(name, kind)| ((*name).to_owned(), value(kind))).collect() }
    }

    #[test]
    fn names_are_filled_from_the_proposal_first_and_then_from_the_facts() {
        let sector = object(&[("name", Kind::String("steel".into()))]);
        let proposal = object(&[("change", Kind::Number(-5.25)), ("sector", Kind::Struct(sector))]);
        let facts = object(&[("change", Kind::Number(1.0)), ("limit", Kind::Number(-5.0))]);
        let filled = fill("{sector.name} moved {change}, below {limit}", Some(&proposal), Some(&facts));
        assert_eq!(filled, Ok("steel moved -5.25, below -5".to_owned()));
        assert_eq!(fill("as it is {", None, None), Ok("as it is {".to_owned()));
    }

    #[test]
    fn a_name_that_stands_for_nothing_is_named() {
        let proposal = object(&[("sector", Kind::Struct(Struct::default()))]);
        for text in ["{nobody}", "{sector}", "{sector.name}"] {
            assert!(fill(text, Some(&proposal), None).is_err(), "{text}");
        }
    }
}
