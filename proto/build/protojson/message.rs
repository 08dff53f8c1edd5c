//! Prints `json::Message` for one message.

use std::{error::Error, fmt::Write};

use prost_reflect::MessageDescriptor;

use super::{
    field::Field,
    names::{Required, rust_path},
};

/// Seen fields are bits of a u64.
const FIELDS_MAX: usize = 64;

pub(super) fn generate(
    message: &MessageDescriptor,
    required: &Required,
    out: &mut String,
) -> Result<(), Box<dyn Error>> {
    let name = message.full_name();
    let path = rust_path(name, message.parent_message())?;
    let fields = message.fields().map(|field| Field::of(&field, required)).collect::<Result<Vec<_>, _>>()?;
    if fields.len() > FIELDS_MAX {
        return Err(format!("{name} has more than {FIELDS_MAX} fields").into());
    }
    let keys = fields.iter().map(|field| format!("{:?}", field.key)).collect::<Vec<_>>().join(", ");
    write!(
        out,
        "impl json::Message for {path} {{
            const NAME: &'static str = {name:?};
            const KEYS: &'static [&'static str] = &[{keys}];
            const ONEOFS: &'static [u64] = &[{oneofs}];
            fn field(key: &str) -> usize {{ match key {{ {find} _ => json::UNKNOWN }} }}
            fn read<'de, A: MapAccess<'de>>(&mut self, field: usize, map: &mut A) -> Result<bool, A::Error> {{
                match field {{ {read} _ => json::read::unknown(map) }}
            }}
            fn write<S: SerializeMap>(&self, map: &mut S) -> Result<(), S::Error> {{ {write} Ok(()) }}
        }}
        impl Walk for {path} {{
            fn walk(&self, at: &At<'_>, visitor: &mut dyn Visitor) {{ {walk} }}
        }}
        json::serde!({path});\n",
        oneofs = oneofs(&fields),
        find = numbered(&fields, |field| match field.key == field.proto_name {
            true => (format!("{:?}", field.key), String::new()),
            false => (format!("{:?} | {:?}", field.key, field.proto_name), String::new()),
        }),
        read = numbered(&fields, |field| (String::new(), field.read())),
        write = grouped(&fields, Field::write, "None => {}"),
        walk = grouped(&fields, Field::walk, "None => {}"),
    )?;
    Ok(())
}

/// Match arms `pattern => number,` or `number => statement,`.
fn numbered(fields: &[Field], arm: impl Fn(&Field) -> (String, String)) -> String {
    let arms = fields.iter().enumerate().map(|(number, field)| match arm(field) {
        (pattern, statement) if statement.is_empty() => format!("{pattern} => {number},"),
        (_, statement) => format!("{number} => {statement},"),
    });
    arms.collect::<Vec<_>>().join("\n")
}

/// One bit mask of fields for each oneof.
fn oneofs(fields: &[Field]) -> String {
    let mut masks: Vec<(&str, u64)> = Vec::new();
    for (number, field) in fields.iter().enumerate() {
        let Some(oneof) = &field.oneof else { continue };
        match masks.iter_mut().find(|(name, _)| name == oneof) {
            Some((_, mask)) => *mask |= 1 << number,
            None => masks.push((oneof, 1 << number)),
        }
    }
    masks.iter().map(|(_, mask)| format!("{mask:#b}")).collect::<Vec<_>>().join(", ")
}

/// The fields' statements in order; the arms of a oneof's members in one match, where its first member stands.
fn grouped(fields: &[Field], statement: impl Fn(&Field) -> String, rest: &str) -> String {
    let mut out = String::new();
    for (number, field) in fields.iter().enumerate() {
        match &field.oneof {
            None => out += &statement(field),
            Some(oneof) if fields[..number].iter().any(|earlier| earlier.oneof.as_ref() == Some(oneof)) => {}
            Some(oneof) => {
                let members = fields.iter().filter(|other| other.oneof.as_ref() == Some(oneof));
                let arms = members.map(&statement).collect::<Vec<_>>().join("\n");
                out += &format!("match &self.{oneof} {{ {arms} {rest} }}");
            }
        }
        out.push('\n');
    }
    out
}
