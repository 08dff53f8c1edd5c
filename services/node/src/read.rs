//! A manifest from a file.

use std::path::Path;

use weft_core::manifest::{Manifest, Problem, Problems};

/// Reads the manifest of one node. Blocks.
///
/// # Errors
/// When the file cannot be read, and everything that is wrong in it.
pub fn manifest(path: &Path) -> Result<Manifest, Problems> {
    let name = path.file_name().map_or_else(|| path.to_string_lossy(), |name| name.to_string_lossy());
    let text = std::fs::read_to_string(path)
        .map_err(|error| Problems(vec![Problem::new(&name, "", "", format!("cannot be read: {error}"))]))?;
    Manifest::parse(&name, &text)
}
