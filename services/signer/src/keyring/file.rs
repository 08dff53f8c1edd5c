//! Files that only their owner may read.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{ErrorKind, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use zeroize::Zeroizing;

use super::KeyringFault;

/// Largest key file, in bytes.
const BYTES_MAX: u64 = 16 * 1024;
const FILE_MODE: u32 = 0o600;
const DIR_MODE: u32 = 0o700;

/// Makes a directory with mode 0700, parents with the usual mode; refuses one that others can reach.
pub(crate) fn private_dir(path: &Path) -> Result<(), KeyringFault> {
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent).map_err(io(parent))?;
    }
    match DirBuilder::new().mode(DIR_MODE).create(path) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => Err(io(path)(error)),
        _ => private(path, &fs::metadata(path).map_err(io(path))?, DIR_MODE),
    }
}

/// Writes a new file with mode 0600, whole or not at all, and on disk before it has its name. Leaves a file that is
/// already there alone. `unique` tells this write from any other one.
pub(crate) fn create_private(path: &Path, content: &[u8], unique: &str) -> Result<(), KeyringFault> {
    let unfinished = path.with_extension(format!("{unique}.new"));
    let written = write_and_link(&unfinished, path, content);
    let removed = fs::remove_file(&unfinished).map_err(io(&unfinished));
    written.and(removed)
}

fn write_and_link(unfinished: &Path, path: &Path, content: &[u8]) -> Result<(), KeyringFault> {
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(FILE_MODE)
        .open(unfinished)
        .map_err(io(unfinished))?;
    file.write_all(content).and_then(|()| file.sync_all()).map_err(io(unfinished))?;
    match fs::hard_link(unfinished, path) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(io(path)(error)),
        _ => {}
    }
    let dir = path.parent().unwrap_or(Path::new("."));
    fs::File::open(dir).and_then(|dir| dir.sync_all()).map_err(io(dir))
}

/// Reads a small private file; refuses one that others can reach.
pub(crate) fn read_private(path: &Path) -> Result<Zeroizing<String>, KeyringFault> {
    let file = fs::File::open(path).map_err(io(path))?;
    private(path, &file.metadata().map_err(io(path))?, FILE_MODE)?;
    read_open(path, &file)
}

/// Reads a small file that anyone may read.
pub(crate) fn read(path: &Path) -> Result<Zeroizing<String>, KeyringFault> {
    read_open(path, &fs::File::open(path).map_err(io(path))?)
}

/// The files in a directory, by name; none when there is no directory. Hidden files are not key files.
pub(crate) fn list(dir: &Path) -> Result<Vec<PathBuf>, KeyringFault> {
    let entries = match fs::read_dir(dir) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(io(dir))?,
    };
    let mut paths = Vec::new();
    for entry in entries {
        let entry = entry.map_err(io(dir))?;
        if !entry.file_name().as_encoded_bytes().starts_with(b".") {
            paths.push(entry.path());
        }
    }
    paths.sort();
    Ok(paths)
}

pub(crate) fn exists(path: &Path) -> Result<bool, KeyringFault> {
    path.try_exists().map_err(io(path))
}

fn read_open(path: &Path, file: &fs::File) -> Result<Zeroizing<String>, KeyringFault> {
    // Room for all of it from the start: a string that grows leaves copies of the key behind.
    let mut text = Zeroizing::new(String::with_capacity(BYTES_MAX as usize + 1));
    file.take(BYTES_MAX + 1).read_to_string(&mut text).map_err(io(path))?;
    if text.len() as u64 > BYTES_MAX {
        return Err(io(path)(std::io::Error::new(ErrorKind::FileTooLarge, "larger than a key file can be")));
    }
    Ok(text)
}

fn private(path: &Path, metadata: &fs::Metadata, wanted: u32) -> Result<(), KeyringFault> {
    let mode = metadata.permissions().mode() & 0o777;
    if mode & 0o077 == 0 {
        Ok(())
    } else {
        Err(KeyringFault::TooOpen { path: path.to_owned(), mode, wanted })
    }
}

fn io(path: &Path) -> impl FnOnce(std::io::Error) -> KeyringFault + '_ {
    |error| KeyringFault::Io { path: path.to_owned(), error }
}
