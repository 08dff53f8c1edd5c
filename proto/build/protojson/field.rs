//! What one field is: its form, where it lives in the Rust struct, and how it is read, written and walked.

use std::error::Error;

use prost_reflect::{Cardinality, FieldDescriptor, Kind};

use super::names::{Required, ident, rust_path, type_name};

/// A field, ready to be printed.
pub(super) struct Field {
    /// Name in JSON.
    pub(super) key: String,
    /// Name in the .proto file; read too.
    pub(super) proto_name: String,
    /// `Some` for a member of a oneof that is not just proto3 `optional`: the Rust field of the oneof.
    pub(super) oneof: Option<String>,
    rust_name: String,
    variant: String,
    form: String,
    presence: Presence,
    required: bool,
    emptiness: Emptiness,
    walked: bool,
}

#[derive(Clone, Copy, PartialEq)]
enum Presence {
    /// The default stands for absence.
    Implicit,
    /// An `Option`.
    Optional,
    /// A `google.protobuf.Value`, to which JSON null is a value.
    JsonValue,
}

/// How a REQUIRED field is seen to be missing.
#[derive(Clone, Copy, PartialEq)]
enum Emptiness {
    Absent,
    Empty,
    Unspecified,
    /// Every value is a value: numbers, booleans, maps.
    Never,
}

impl Field {
    pub(super) fn of(field: &FieldDescriptor, required: &Required) -> Result<Field, Box<dyn Error>> {
        let oneof = field.containing_oneof().filter(|oneof| !oneof.is_synthetic());
        let container = field.is_list() || field.is_map();
        let value = matches!(field.kind(), Kind::Message(m) if m.full_name() == "google.protobuf.Value");
        let presence = match (container, value, field.supports_presence()) {
            (true, ..) | (false, false, false) => Presence::Implicit,
            (false, true, _) => Presence::JsonValue,
            (false, false, true) => Presence::Optional,
        };
        let emptiness = match (field.kind(), presence) {
            (_, Presence::Optional | Presence::JsonValue) => Emptiness::Absent,
            _ if field.is_map() => Emptiness::Never,
            _ if field.is_list() => Emptiness::Empty,
            (Kind::String | Kind::Bytes, _) => Emptiness::Empty,
            (Kind::Enum(_), _) => Emptiness::Unspecified,
            _ => Emptiness::Never,
        };
        Ok(Field {
            key: field.json_name().to_owned(),
            proto_name: field.name().to_owned(),
            oneof: oneof.as_ref().map(|oneof| ident(oneof.name())),
            rust_name: ident(field.name()),
            variant: match &oneof {
                Some(oneof) => {
                    let enumeration = rust_path(oneof.full_name(), Some(field.parent_message().clone()))?;
                    format!("{enumeration}::{}", type_name(field.name()))
                }
                None => String::new(),
            },
            form: form(field)?,
            presence,
            required: required.is(field),
            emptiness,
            walked: holds_messages(field),
        })
    }

    /// Statement that reads the field's value from `map` into `self`.
    pub(super) fn read(&self) -> String {
        let Field { form, rust_name, variant, .. } = self;
        match (&self.oneof, self.presence) {
            (Some(oneof), Presence::JsonValue) => {
                format!("json::read::json_member::<_, A>(&mut self.{oneof}, {variant}, map)")
            }
            (Some(oneof), _) => {
                format!("json::read::member::<{form}, _, A>(&mut self.{oneof}, {variant}, map)")
            }
            (None, Presence::Implicit) => {
                format!("json::read::plain::<{form}, A>(&mut self.{rust_name}, map)")
            }
            (None, Presence::Optional) => {
                format!("json::read::optional::<{form}, A>(&mut self.{rust_name}, map)")
            }
            (None, Presence::JsonValue) => format!("json::read::json_value(&mut self.{rust_name}, map)"),
        }
    }

    /// Statement that writes the field into `map`; for a member of a oneof, the arm of a match.
    pub(super) fn write(&self) -> String {
        let Field { key, form, rust_name, variant, required, .. } = self;
        match (&self.oneof, self.presence) {
            (Some(_), _) => {
                format!("Some({variant}(v)) => json::write::always::<{form}, S>(\"{key}\", v, map)?,")
            }
            (None, Presence::Implicit) if *required => {
                format!("json::write::always::<{form}, S>(\"{key}\", &self.{rust_name}, map)?;")
            }
            (None, Presence::Implicit) => {
                format!("json::write::plain::<{form}, S>(\"{key}\", &self.{rust_name}, map)?;")
            }
            (None, _) => format!("json::write::optional::<{form}, S>(\"{key}\", &self.{rust_name}, map)?;"),
        }
    }

    /// Statements that report the field when it is REQUIRED and missing, and walk the messages in it; for a member of
    /// a oneof, the arm of a match. Empty: nothing to look at.
    pub(super) fn walk(&self) -> String {
        let Field { key, rust_name, variant, .. } = self;
        if self.oneof.is_some() {
            return match self.walked {
                true => format!("Some({variant}(v)) => v.walk(&at.field(\"{key}\"), visitor),"),
                false => format!("Some({variant}(_)) => {{}}"),
            };
        }
        let mut out = String::new();
        if self.required && self.emptiness != Emptiness::Never {
            let missing = match self.emptiness {
                Emptiness::Absent => format!("self.{rust_name}.is_none()"),
                Emptiness::Unspecified => format!("self.{rust_name} == 0"),
                _ => format!("self.{rust_name}.is_empty()"),
            };
            out += &format!("if {missing} {{ visitor.missing(&at.field(\"{key}\")); }}");
        }
        if self.walked {
            out += &format!("self.{rust_name}.walk(&at.field(\"{key}\"), visitor);");
        }
        out
    }
}

/// Rust type of the field's form.
fn form(field: &FieldDescriptor) -> Result<String, Box<dyn Error>> {
    if let (true, Kind::Message(entry)) = (field.is_map(), field.kind()) {
        if entry.map_entry_key_field().kind() != Kind::String {
            return Err(format!("{}: only maps by string have a JSON form here", field.full_name()).into());
        }
        return Ok(format!("form::Table<{}>", single(&entry.map_entry_value_field())?));
    }
    let form = single(field)?;
    Ok(if field.cardinality() == Cardinality::Repeated { format!("form::List<{form}>") } else { form })
}

fn single(field: &FieldDescriptor) -> Result<String, Box<dyn Error>> {
    Ok(match field.kind() {
        Kind::String => "form::Text".to_owned(),
        Kind::Bool => "form::Flag".to_owned(),
        Kind::Bytes => "form::Bytes".to_owned(),
        Kind::Int32 | Kind::Sint32 | Kind::Sfixed32 => "form::Integer<i32>".to_owned(),
        Kind::Uint32 | Kind::Fixed32 => "form::Integer<u32>".to_owned(),
        Kind::Int64 | Kind::Sint64 | Kind::Sfixed64 => "form::Integer<i64>".to_owned(),
        Kind::Uint64 | Kind::Fixed64 => "form::Integer<u64>".to_owned(),
        Kind::Enum(e) => format!("form::Enumeration<{}>", rust_path(e.full_name(), e.parent_message())?),
        Kind::Message(m) => format!("form::Nested<{}>", rust_path(m.full_name(), m.parent_message())?),
        Kind::Float | Kind::Double => {
            return Err(format!("{}: no field has had a fraction; give it a form", field.full_name()).into());
        }
    })
}

fn holds_messages(field: &FieldDescriptor) -> bool {
    match field.kind() {
        Kind::Message(entry) if field.is_map() => holds_messages(&entry.map_entry_value_field()),
        Kind::Message(_) => true,
        _ => false,
    }
}
