//! Writes the JSON form of every message straight from its descriptor: which key is which field, which form a field
//! has, what must be there. How a form is read and written is in `src/json`.

mod field;
mod message;
mod names;

use std::error::Error;

use prost_reflect::{DescriptorPool, MessageDescriptor};

use names::Required;

/// The packages that travel as JSON.
const PACKAGES: [&str; 3] = ["a2a.v1", "lf.a2a.v1", "weft.v1"];

/// The text of a module that implements `json::Message` and `json::Names` for all messages and enums of [`PACKAGES`].
pub(crate) fn generate(pool: &DescriptorPool) -> Result<String, Box<dyn Error>> {
    let required = Required::of(pool)?;
    let mut out = String::new();
    for message in messages(pool) {
        message::generate(&message, &required, &mut out)?;
    }
    for names in pool.all_enums().filter(|e| PACKAGES.contains(&e.package_name())) {
        out += &format!("json::names!({});\n", names::rust_path(names.full_name(), names.parent_message())?);
    }
    Ok(out)
}

/// A call of the macro `messages!` with the name and type of every message, for tests.
pub(crate) fn list(pool: &DescriptorPool) -> Result<String, Box<dyn Error>> {
    let mut entries = Vec::new();
    for message in messages(pool) {
        let path = names::rust_path(message.full_name(), message.parent_message())?;
        entries.push(format!("{:?} => {}", message.full_name(), path.replace("crate::", "weft_proto::")));
    }
    Ok(format!("messages! {{ {} }}", entries.join(", ")))
}

fn messages(pool: &DescriptorPool) -> impl Iterator<Item = MessageDescriptor> {
    pool.all_messages()
        .filter(|message| PACKAGES.contains(&message.package_name()) && !message.is_map_entry())
}
