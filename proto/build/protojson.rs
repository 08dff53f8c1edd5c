//! Writes the JSON form of every message straight from its descriptor: which key is which field, which form a field
//! has, what must be there. How a form is read and written is in `src/json`.

mod field;
mod message;
mod names;

use std::error::Error;

use prost_reflect::DescriptorPool;

use names::Required;

/// The packages that travel as JSON.
const PACKAGES: [&str; 2] = ["lf.a2a.v1", "weft.v1"];

/// The text of a module that implements `json::Message` and `json::Names` for all messages and enums of [`PACKAGES`].
pub(crate) fn generate(pool: &DescriptorPool) -> Result<String, Box<dyn Error>> {
    let required = Required::of(pool)?;
    let mut out = String::new();
    for message in pool.all_messages() {
        if PACKAGES.contains(&message.package_name()) && !message.is_map_entry() {
            message::generate(&message, &required, &mut out)?;
        }
    }
    for names in pool.all_enums().filter(|e| PACKAGES.contains(&e.package_name())) {
        out += &format!("json::names!({});\n", names::rust_path(names.full_name(), names.parent_message())?);
    }
    Ok(out)
}
