//! The files of the record. Each is named after the number of its first line, so that their order is that of their names.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

const SUFFIX: &str = ".jsonl";

/// The folder of the record under the data folder.
pub(super) fn of(data: &Path) -> PathBuf {
    data.join("audit")
}

/// The file whose first line has that number.
pub(super) fn file(dir: &Path, first: u64) -> PathBuf {
    dir.join(format!("{first:020}{SUFFIX}"))
}

/// The first number of each file, in order; none when there is no folder.
///
/// # Errors
/// Names the folder.
pub(super) fn files(dir: &Path) -> Result<Vec<u64>, String> {
    let entries = match fs::read_dir(dir) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(|error| failed(dir, &error))?,
    };
    let mut found = Vec::new();
    for entry in entries {
        let name = entry.map_err(|error| failed(dir, &error))?.file_name();
        let first =
            name.to_str().and_then(|name| name.strip_suffix(SUFFIX)).filter(|first| first.len() == 20);
        found.extend(first.and_then(|first| first.parse::<u64>().ok()));
    }
    found.sort_unstable();
    Ok(found)
}

pub(super) fn failed(path: &Path, error: &std::io::Error) -> String {
    format!("{}: {error}", path.display())
}
