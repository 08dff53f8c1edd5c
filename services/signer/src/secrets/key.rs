//! Where the key of the secrets comes from.

use std::fmt;
use std::fs::File;
use std::io::{ErrorKind, Read as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use weft_chassis::Env;
use zeroize::Zeroizing;

use super::cipher::Cipher;
use super::{SecretFault, io};
use crate::private;

/// The variable that holds the key.
pub(super) const VARIABLE: &str = "WEFT_SECRETS_KEY";

/// The key itself.
pub(super) type Key = Zeroizing<[u8; 32]>;

/// Where the key comes from.
#[derive(Clone)]
pub(super) enum Source {
    /// The variable's value.
    Given(Zeroizing<String>),
    /// A file of the operator, for example of a Kubernetes Secret.
    File(PathBuf),
    /// A file that is made here. Beside it lies the next key while a rotation goes on.
    Own(PathBuf),
}

/// The keys that files may be encrypted under: the present one, and the next one while a rotation goes on.
pub(super) struct Keys {
    ciphers: Vec<Cipher>,
}

// === impl Source ===

impl Source {
    pub(super) fn choose(given: Option<String>, file: &str, data: &Path) -> Source {
        match given.filter(|text| !text.is_empty()) {
            Some(text) => Source::Given(Zeroizing::new(text)),
            None if file.is_empty() => Source::Own(data.join("keys").join("secrets.key")),
            None => Source::File(PathBuf::from(file)),
        }
    }

    /// The keys that are here; none before the first secret was set.
    pub(super) fn read(&self) -> Result<Keys, SecretFault> {
        let found = match self {
            Source::Given(text) => vec![parse(text, VARIABLE)?],
            Source::File(path) => vec![from_file(path)?],
            Source::Own(path) => {
                // The next one first: when it takes the place of the present one in between, that one is read.
                let next = own(&next_of(path))?;
                own(path)?.into_iter().chain(next).collect()
            }
        };
        Ok(Keys { ciphers: found.iter().map(|key| Cipher::new(key)).collect() })
    }

    /// The keys, of which the first is made when there is none. The folder's lock is held.
    pub(super) fn made(&self, env: &Env) -> Result<Keys, SecretFault> {
        if let Source::Own(path) = self
            && own(path)?.is_none()
        {
            write(path, &fresh(env), env)?;
        }
        self.read()
    }
}

/// Where the next key lies while a rotation goes on.
pub(super) fn next_of(path: &Path) -> PathBuf {
    path.with_extension("key.next")
}

pub(super) fn fresh(env: &Env) -> Key {
    let mut key = Zeroizing::new([0; 32]);
    env.fill(key.as_mut_slice());
    key
}

pub(super) fn write(path: &Path, key: &Key, env: &Env) -> Result<(), SecretFault> {
    let text = Zeroizing::new(URL_SAFE_NO_PAD.encode(key.as_slice()));
    private::replace(path, text.as_bytes(), &env.id()).map_err(SecretFault::Io)
}

/// The key in a file that is made here; nothing when there is none. Asked once: a rotation may make or take it at any time.
pub(super) fn own(path: &Path) -> Result<Option<Key>, SecretFault> {
    match File::open(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        file => in_file(file.map_err(io(path))?, path).map(Some),
    }
}

/// The key in a file. Its group may read it, as Kubernetes mounts want it; others may not.
pub(super) fn from_file(path: &Path) -> Result<Key, SecretFault> {
    in_file(File::open(path).map_err(io(path))?, path)
}

fn in_file(mut file: File, path: &Path) -> Result<Key, SecretFault> {
    let mode = file.metadata().map_err(io(path))?.permissions().mode();
    if mode & 0o007 != 0 {
        let text =
            format!("{}: everybody can reach it (mode {:03o}); chmod 600 it", path.display(), mode & 0o777);
        return Err(SecretFault::Io(text));
    }
    let mut text = Zeroizing::new(String::new());
    match file.read_to_string(&mut text) {
        Ok(_) => parse(&text, &path.display().to_string()),
        Err(error) if error.kind() == ErrorKind::InvalidData => {
            Err(SecretFault::Key { place: path.display().to_string() })
        }
        Err(error) => Err(io(path)(error)),
    }
}

fn parse(text: &str, place: &str) -> Result<Key, SecretFault> {
    let bad = || SecretFault::Key { place: place.to_owned() };
    let bytes = URL_SAFE_NO_PAD.decode(text.trim().trim_end_matches('=')).map(Zeroizing::new);
    let bytes = bytes.map_err(|_| bad())?;
    let key: [u8; 32] = bytes.as_slice().try_into().map_err(|_| bad())?;
    Ok(Zeroizing::new(key))
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Source::Given(_) => f.write_str(VARIABLE),
            Source::File(path) | Source::Own(path) => write!(f, "{}", path.display()),
        }
    }
}

impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Source({self})")
    }
}

// === impl Keys ===

impl Keys {
    /// With one more key, which new files are not encrypted under.
    pub(super) fn and(mut self, key: &Key) -> Keys {
        self.ciphers.push(Cipher::new(key));
        self
    }

    /// Under the present key.
    pub(super) fn seal(&self, name: &str, secret: &[u8], env: &Env) -> Result<Vec<u8>, SecretFault> {
        let sealed = self.ciphers.first().and_then(|cipher| cipher.seal(name, secret, env));
        sealed.ok_or_else(|| SecretFault::Io(format!("the secret {name} could not be encrypted")))
    }

    /// Under whichever key it was sealed.
    pub(super) fn open(&self, name: &str, sealed: &[u8]) -> Option<Zeroizing<Vec<u8>>> {
        self.ciphers.iter().find_map(|cipher| cipher.open(name, sealed))
    }
}
