//! What prost calls the things of a .proto file, and which fields are REQUIRED.

use std::error::Error;

use heck::{ToSnakeCase, ToUpperCamelCase};
use prost_reflect::{DescriptorPool, ExtensionDescriptor, FieldDescriptor, MessageDescriptor};

/// Crate module of each package that a field's type may come from.
const MODULES: [(&str, &str); 4] = [
    ("a2a.v1", "crate::a2a_v03"),
    ("lf.a2a.v1", "crate::a2a"),
    ("weft.v1", "crate::weft"),
    ("google.protobuf", "crate::wkt"),
];

/// Path of the Rust type of a message or enum; a nested one is in a module named after its parent.
pub(super) fn rust_path(
    full_name: &str,
    parent: Option<MessageDescriptor>,
) -> Result<String, Box<dyn Error>> {
    let (scope, name) = full_name.rsplit_once('.').ok_or("a type without a package")?;
    let scope = match parent {
        Some(parent) => {
            let path = rust_path(parent.full_name(), parent.parent_message())?;
            let (module, parent) = path.rsplit_once("::").ok_or("a path without a module")?;
            format!("{module}::{}", ident(&parent.to_snake_case()))
        }
        None => {
            let module = MODULES.iter().find(|(package, _)| *package == scope);
            module.ok_or_else(|| format!("{full_name}: no module for this package"))?.1.to_owned()
        }
    };
    Ok(format!("{scope}::{}", type_name(name)))
}

/// Name of the Rust type, or of the variant of a oneof's enum.
pub(super) fn type_name(name: &str) -> String {
    name.to_upper_camel_case()
}

/// Name of the Rust field or module.
pub(super) fn ident(name: &str) -> String {
    // Of the words that are Rust keywords, those that occur as field names.
    const KEYWORDS: [&str; 4] = ["type", "ref", "match", "final"];
    let name = name.to_snake_case();
    if KEYWORDS.contains(&name.as_str()) { format!("r#{name}") } else { name }
}

/// Knows which fields carry `(google.api.field_behavior) = REQUIRED`.
pub(super) struct Required {
    behavior: ExtensionDescriptor,
}

impl Required {
    pub(super) fn of(pool: &DescriptorPool) -> Result<Required, Box<dyn Error>> {
        let behavior = pool.get_extension_by_name("google.api.field_behavior");
        Ok(Required { behavior: behavior.ok_or("google.api.field_behavior is not declared")? })
    }

    pub(super) fn is(&self, field: &FieldDescriptor) -> bool {
        const REQUIRED: i32 = 2;
        let options = field.options();
        let behaviors = options.get_extension(&self.behavior);
        behaviors.as_list().is_some_and(|list| list.iter().any(|b| b.as_enum_number() == Some(REQUIRED)))
    }
}
