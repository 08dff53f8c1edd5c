//! Files that only their owner may read, changed as a whole while others read them.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::Path;

/// The lock of a folder: a hidden file in it.
const LOCK: &str = ".lock";

/// Puts `content` in the place of the file, whole or not at all, with mode 0600, and on disk when this returns. Its
/// folder is made when there is none. `unique` tells this write from any other one.
///
/// # Errors
/// Names the file.
pub(crate) fn replace(path: &Path, content: &[u8], unique: &str) -> Result<(), String> {
    replace_with(path, content, 0o600, unique)
}

/// The same with another mode.
///
/// # Errors
/// Names the file.
pub(crate) fn replace_with(path: &Path, content: &[u8], mode: u32, unique: &str) -> Result<(), String> {
    let dir = path.parent().unwrap_or(Path::new("."));
    folder(dir)?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let unfinished = dir.join(format!(".{name}.{unique}.new"));
    let written = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(mode)
        .open(&unfinished)
        .and_then(|mut file| file.write_all(content).and_then(|()| file.sync_all()))
        .and_then(|()| fs::rename(&unfinished, path))
        .and_then(|()| File::open(dir)?.sync_all());
    written.map_err(|error| {
        // What was begun is of no use; that it is gone is not needed either.
        let _ = fs::remove_file(&unfinished);
        format!("{}: cannot be written: {error}", path.display())
    })
}

/// Makes a folder with mode 0700, and what leads to it.
///
/// # Errors
/// Names the folder.
pub(crate) fn folder(dir: &Path) -> Result<(), String> {
    let made = DirBuilder::new().recursive(true).mode(0o700).create(dir);
    made.map_err(|error| format!("{}: cannot be made: {error}", dir.display()))
}

/// Waits until nobody else works in the folder, and keeps others waiting until what it returns is dropped.
///
/// # Errors
/// Names the folder.
pub(crate) fn lock(dir: &Path) -> Result<File, String> {
    folder(dir)?;
    let path = dir.join(LOCK);
    let locked = OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .open(&path)
        .and_then(|file| file.lock().map(|()| file));
    locked.map_err(|error| format!("{}: cannot be locked: {error}", path.display()))
}
