//! A file beside the manifest, read whole and anew at each call, so that a changed file is a changed answer.

use std::io::Read;
use std::path::{Path, PathBuf};

use crate::failure::Failure;
use crate::source::Misfit;

/// See the module.
#[derive(Debug, Clone)]
pub(crate) struct File {
    path: PathBuf,
}

impl File {
    /// The file `name` under `base`. It must be there: a manifest that names a file that is not is refused at once.
    pub(crate) fn open(base: &Path, key: &'static str, name: &str) -> Result<File, Misfit> {
        let path = base.join(name);
        if path.is_file() {
            return Ok(File { path });
        }
        let remedy = "no such file beside the manifest: add it, or correct the name".to_owned();
        Err(Misfit { key, value: format!("\"{name}\""), remedy })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The whole file, when it is no larger than this.
    pub(crate) fn read(&self, bytes_max: usize) -> Result<Vec<u8>, Failure> {
        let mut bytes = Vec::new();
        let limit = u64::try_from(bytes_max).unwrap_or(u64::MAX).saturating_add(1);
        let read = std::fs::File::open(&self.path).and_then(|file| file.take(limit).read_to_end(&mut bytes));
        if let Err(error) = read {
            tracing::warn!(path = %self.path.display(), %error, "a source file cannot be read");
            return Err(Failure::Unavailable("its file cannot be read".to_owned()));
        }
        if bytes.len() > bytes_max { Err(Failure::TooLarge(bytes_max)) } else { Ok(bytes) }
    }
}
