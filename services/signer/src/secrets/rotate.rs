//! Every secret encrypted anew under another key.
//!
//! The next key is on disk before the first file needs it, and takes the place of the present one after the last file
//! has been written. Whenever this is killed, both keys are there; the next rotation goes on where it ended.

use std::fs;
use std::path::Path;

use weft_chassis::Env;

use super::cipher::Cipher;
use super::key::{self, Key, Source};
use super::{SecretFault, Secrets, io, read};

impl Secrets {
    /// How many secrets are now encrypted under another key. A key that is made here is followed by one that is made
    /// here; one that comes from outside by the one in the file `to`, which is then to be put in its place. Blocks.
    ///
    /// # Errors
    /// When a secret cannot be read or written; what was done stays, and can be gone on with.
    pub fn rotate(&self, to: Option<&Path>, env: &Env) -> Result<usize, SecretFault> {
        let _held = self.lock()?;
        match (&self.source, to) {
            (Source::Own(path), None) => {
                let next_path = key::next_of(path);
                let next = match key::own(&next_path)? {
                    Some(begun) => begun,
                    None => {
                        let next = key::fresh(env);
                        key::write(&next_path, &next, env)?;
                        next
                    }
                };
                let count = self.encrypt_anew(&next, env)?;
                fs::rename(&next_path, path).map_err(io(path))?;
                let dir = path.parent().unwrap_or(Path::new("."));
                fs::File::open(dir).and_then(|dir| dir.sync_all()).map_err(io(dir))?;
                Ok(count)
            }
            (Source::Own(path), Some(_)) => Err(SecretFault::Io(format!(
                "{}: this key is made here, and so is the next one: rotate without --to",
                path.display()
            ))),
            (source, None) => Err(SecretFault::NextKey { place: source.to_string() }),
            (_, Some(file)) => self.encrypt_anew(&key::from_file(file)?, env),
        }
    }

    fn encrypt_anew(&self, next: &Key, env: &Env) -> Result<usize, SecretFault> {
        let keys = self.source.read()?.and(next);
        let cipher = Cipher::new(next);
        let mut count = 0;
        for listed in self.list()? {
            let path = self.path(&listed.name)?;
            let Some(sealed) = read(&path)? else { continue };
            let closed = || SecretFault::Closed { path: path.clone(), remedy: self.source.to_string() };
            let secret = keys.open(&listed.name, &sealed).ok_or_else(closed)?;
            if !cipher.made(&sealed) {
                let sealed = cipher.seal(&listed.name, &secret, env).ok_or_else(closed)?;
                self.put(&path, &sealed, env)?;
            }
            count += 1;
        }
        Ok(count)
    }
}
