//! Secrets that the operator keeps here: tokens for other origins, tokens that callers bring. Encrypted files under
//! `<data>/secrets`, one for each name.
//!
//! XChaCha20-Poly1305; the name is authenticated with the secret, so a file that was renamed does not open. A running
//! mesh reads them anew each time, so a change needs no restart. Commands that write hold a lock on the folder.
//!
//! ```text
//! version 1 u8 │ key id 8 │ nonce 24 │ ciphertext │ tag 16
//! ```

mod cipher;
mod key;
mod rotate;

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use weft_chassis::Env;
use zeroize::Zeroizing;

use crate::private;
use key::Source;

/// Largest secret, in bytes.
pub const SECRET_BYTES_MAX: usize = 64 * 1024;
/// Longest name.
const NAME_CHARS_MAX: usize = 64;
/// How often a reader looks again when a file and the keys do not fit, because they are being rotated.
const READS_MAX: usize = 3;

/// The store. Opens nothing before it is asked.
#[derive(Debug, Clone)]
pub struct Secrets {
    dir: PathBuf,
    source: Source,
}

/// What is told of a secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// Its name.
    pub name: String,
    /// When it was set, or encrypted anew.
    pub changed: SystemTime,
}

/// Why the store cannot do it. Names the file, the variable or the setting and the remedy; never a secret.
#[derive(Debug, thiserror::Error)]
pub enum SecretFault {
    /// Not a name.
    #[error(
        "a secret's name must be 1 to {NAME_CHARS_MAX} letters, digits and -_., beginning with a letter or digit"
    )]
    Name,
    /// Too long, or empty.
    #[error("a secret must be 1 to {SECRET_BYTES_MAX} bytes")]
    Length,
    /// The key is no key.
    #[error("{place} must be 32 random bytes in base64url (43 characters)")]
    Key {
        /// Where it was looked for.
        place: String,
    },
    /// Encrypted under a key that is not here, or changed.
    #[error("{}: cannot be decrypted with the present key: bring back the key that it was set with ({remedy}), or set the secret again", path.display())]
    Closed {
        /// The file.
        path: PathBuf,
        /// Where the key belongs.
        remedy: String,
    },
    /// A key that comes from outside is followed by another one from outside.
    #[error(
        "the key comes from {place}: put the next one into a file of its own and name it: weft secrets rotate --to FILE"
    )]
    NextKey {
        /// Where the present key comes from.
        place: String,
    },
    /// The disk says no.
    #[error("{0}")]
    Io(String),
}

impl Secrets {
    /// The store under `data`. Its key: `WEFT_SECRETS_KEY`, else `key_file` (`signer.secrets_key_file`), else
    /// `<data>/keys/secrets.key`, which is made with the first secret.
    #[must_use]
    pub fn new(data: &Path, key_file: &str) -> Secrets {
        let given = std::env::var(key::VARIABLE).ok();
        Secrets { dir: data.join("secrets"), source: Source::choose(given, key_file, data) }
    }

    /// The secret of that name, if there is one. Blocks.
    ///
    /// # Errors
    /// When it cannot be read or decrypted.
    pub fn get(&self, name: &str) -> Result<Option<Zeroizing<Vec<u8>>>, SecretFault> {
        let path = self.path(name)?;
        for _ in 0..READS_MAX {
            // The keys first: one that a rotation makes is there before a file that needs it.
            let keys = self.source.read()?;
            let Some(sealed) = read(&path)? else { return Ok(None) };
            if let Some(secret) = keys.open(name, &sealed) {
                return Ok(Some(secret));
            }
        }
        Err(SecretFault::Closed { path, remedy: self.source.to_string() })
    }

    /// Keeps a secret, in place of the former one of that name. Blocks.
    ///
    /// # Errors
    /// When name or length do not fit, or it cannot be written.
    pub fn set(&self, name: &str, secret: &[u8], env: &Env) -> Result<(), SecretFault> {
        let path = self.path(name)?;
        if !(1..=SECRET_BYTES_MAX).contains(&secret.len()) {
            return Err(SecretFault::Length);
        }
        let _held = self.lock()?;
        let keys = self.source.made(env)?;
        self.put(&path, &keys.seal(name, secret, env)?, env)
    }

    /// Takes a secret away; false when there was none. Blocks.
    ///
    /// # Errors
    /// When it cannot be removed.
    pub fn remove(&self, name: &str) -> Result<bool, SecretFault> {
        let path = self.path(name)?;
        let _held = self.lock()?;
        match fs::remove_file(&path) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
            Err(error) => Err(io(&path)(error)),
        }
    }

    /// Every name, in order. Blocks.
    ///
    /// # Errors
    /// When the folder cannot be read.
    pub fn list(&self) -> Result<Vec<Listed>, SecretFault> {
        let entries = match fs::read_dir(&self.dir) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries.map_err(io(&self.dir))?,
        };
        let mut listed = Vec::new();
        for entry in entries {
            let entry = entry.map_err(io(&self.dir))?;
            let Some(name) = entry.file_name().to_str().filter(|name| is_name(name)).map(str::to_owned)
            else {
                continue;
            };
            match entry.metadata().and_then(|metadata| metadata.modified()) {
                Ok(changed) => listed.push(Listed { name, changed }),
                // Removed meanwhile.
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                Err(error) => return Err(io(&entry.path())(error)),
            }
        }
        listed.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(listed)
    }

    fn path(&self, name: &str) -> Result<PathBuf, SecretFault> {
        if is_name(name) { Ok(self.dir.join(name)) } else { Err(SecretFault::Name) }
    }

    fn put(&self, path: &Path, sealed: &[u8], env: &Env) -> Result<(), SecretFault> {
        private::replace(path, sealed, &env.id()).map_err(SecretFault::Io)
    }

    /// One writer at a time, among all processes.
    fn lock(&self) -> Result<fs::File, SecretFault> {
        private::lock(&self.dir).map_err(SecretFault::Io)
    }
}

/// Hidden names are those of the lock and of what is being written.
fn is_name(name: &str) -> bool {
    let plain = |b: u8| b.is_ascii_alphanumeric() || b"-_.".contains(&b);
    (1..=NAME_CHARS_MAX).contains(&name.len())
        && name.bytes().all(plain)
        && name.as_bytes()[0].is_ascii_alphanumeric()
}

fn read(path: &Path) -> Result<Option<Vec<u8>>, SecretFault> {
    match fs::read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(io(path)(error)),
    }
}

fn io(path: &Path) -> impl FnOnce(std::io::Error) -> SecretFault + '_ {
    |error| SecretFault::Io(format!("{}: {error}", path.display()))
}

#[cfg(test)]
mod tests;
