//! The folder of manifests: read whole, within bounds.

use std::fs;
use std::path::Path;
use std::time::SystemTime;

use weft_core::manifest::{FILE_BYTES_MAX, Fleet, Problem, Problems};

/// The manifests as they lie in the folder: name and text, sorted by name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Files {
    texts: Vec<(String, String)>,
    /// When the newest of them, or the folder itself, was changed.
    pub(crate) changed: Option<SystemTime>,
}

impl Files {
    /// Reads every `.toml` file that lies in the folder itself. Blocks.
    ///
    /// # Errors
    /// When the folder or a file cannot be read.
    pub(crate) fn read(dir: &Path) -> Result<Files, Problems> {
        let failed = |name: &str, error: &std::io::Error| {
            Problems(vec![Problem::new(name, "", "", format!("cannot be read: {error}"))])
        };
        let shown = dir.display().to_string();
        let mut changed = fs::metadata(dir).and_then(|data| data.modified()).ok();
        let mut texts = Vec::new();
        for entry in fs::read_dir(dir).map_err(|error| failed(&shown, &error))? {
            let path = entry.map_err(|error| failed(&shown, &error))?.path();
            // Names that begin with a dot are editors' own.
            let Some(name) =
                path.file_name().and_then(|name| name.to_str()).filter(|name| !name.starts_with('.'))
            else {
                continue;
            };
            if path.extension().is_none_or(|extension| extension != "toml") {
                continue;
            }
            let data = fs::metadata(&path).map_err(|error| failed(name, &error))?;
            if data.len() > u64::try_from(FILE_BYTES_MAX).unwrap_or(u64::MAX) {
                let remedy = format!("is {} bytes long: must be at most {FILE_BYTES_MAX}", data.len());
                return Err(Problems(vec![Problem::new(name, "", "", remedy)]));
            }
            changed = changed.max(data.modified().ok());
            texts.push((name.to_owned(), fs::read_to_string(&path).map_err(|error| failed(name, &error))?));
        }
        texts.sort();
        Ok(Files { texts, changed })
    }

    /// True when names and texts are the same.
    pub(crate) fn same_texts(&self, other: &Files) -> bool {
        self.texts == other.texts
    }

    /// The fleet that they declare.
    ///
    /// # Errors
    /// Everything that is wrong in them.
    pub(crate) fn fleet(&self) -> Result<Fleet, Problems> {
        Fleet::parse(self.texts.iter().map(|(name, text)| (name.as_str(), text.as_str())))
    }
}

/// Reads and checks a folder of manifests. Blocks.
///
/// # Errors
/// Everything that is wrong in it.
pub fn read_fleet(dir: &Path) -> Result<Fleet, Problems> {
    Files::read(dir)?.fleet()
}
