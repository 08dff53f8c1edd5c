//! Small secrets encrypted for others to keep: webhook credentials lie in the task store, their key does not.
//!
//! XChaCha20-Poly1305 under one key of this mesh. The context is authenticated with the secret, so one that was moved
//! to another place of the store does not open there.
//!
//! ```text
//! version 1 u8 │ nonce 24 │ ciphertext │ tag 16
//! ```

use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use chacha20poly1305::aead::{Aead, KeyInit, Payload};
use chacha20poly1305::{XChaCha20Poly1305, XNonce};
use weft_chassis::Env;
use weft_core::{Fault, Kind};
use weft_seal::KeyFault;
use zeroize::Zeroizing;

use crate::KeyringFault;
use crate::keyring::file;

/// Largest secret, in bytes.
const SECRET_BYTES_MAX: usize = 64 * 1024;
/// Longest context, in bytes.
const CONTEXT_BYTES_MAX: usize = 2_048;
/// What a wrapped secret begins with.
const VERSION: u8 = 1;
const NONCE_BYTES: usize = 24;
const TAG_BYTES: usize = 16;

/// The key of kept secrets.
pub(crate) struct Wrapping {
    cipher: XChaCha20Poly1305,
}

impl Wrapping {
    /// Reads the key under `<data>/keys`; makes it at the first start.
    pub(crate) fn open(data: &Path, env: &Env) -> Result<Wrapping, KeyringFault> {
        let path = data.join("keys").join("wrap.key");
        if !file::exists(&path)? {
            let mut key = Zeroizing::new([0; 32]);
            env.fill(key.as_mut_slice());
            let text = Zeroizing::new(URL_SAFE_NO_PAD.encode(key.as_slice()));
            file::create_private(&path, text.as_bytes(), &env.id())?;
        }
        let text = file::read_private(&path)?;
        let key = URL_SAFE_NO_PAD.decode(text.trim()).ok().map(Zeroizing::new);
        let cipher = key.and_then(|key| XChaCha20Poly1305::new_from_slice(&key).ok());
        let damaged = || KeyringFault::Damaged { path: path.clone(), fault: KeyFault::Encoding };
        Ok(Wrapping { cipher: cipher.ok_or_else(damaged)? })
    }

    /// Encrypts `secret` for `context`.
    ///
    /// # Errors
    /// `Invalid` when one of them has a length that it may not have.
    pub(crate) fn wrap(&self, secret: &[u8], context: &[u8], env: &Env) -> Result<Vec<u8>, Fault> {
        if secret.len() > SECRET_BYTES_MAX {
            return Err(Fault::invalid("secret", format!("must be at most {SECRET_BYTES_MAX} bytes")));
        }
        check_context(context)?;
        let mut nonce = [0; NONCE_BYTES];
        env.fill(&mut nonce);
        let sealed = self
            .cipher
            .encrypt(&XNonce::from(nonce), Payload { msg: secret, aad: context })
            .map_err(|_| Fault::internal("a secret could not be encrypted"))?;
        Ok([&[VERSION], nonce.as_slice(), &sealed].concat())
    }

    /// Reads what [`Wrapping::wrap`] made for the same context.
    ///
    /// # Errors
    /// `Denied` for anything else.
    pub(crate) fn unwrap(&self, wrapped: &[u8], context: &[u8]) -> Result<Vec<u8>, Fault> {
        check_context(context)?;
        let refused = || {
            let text =
                "the secret was not wrapped by this mesh for this context, or was changed; set it again";
            Fault::new(Kind::Denied, text)
        };
        let sealed = wrapped.strip_prefix(&[VERSION]).ok_or_else(refused)?;
        let (nonce, sealed) = sealed.split_first_chunk::<NONCE_BYTES>().ok_or_else(refused)?;
        if sealed.len() > SECRET_BYTES_MAX + TAG_BYTES {
            return Err(refused());
        }
        self.cipher
            .decrypt(&XNonce::from(*nonce), Payload { msg: sealed, aad: context })
            .map_err(|_| refused())
    }
}

fn check_context(context: &[u8]) -> Result<(), Fault> {
    if (1..=CONTEXT_BYTES_MAX).contains(&context.len()) {
        Ok(())
    } else {
        Err(Fault::invalid("context", format!("must be 1 to {CONTEXT_BYTES_MAX} bytes")))
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    fn wrapping() -> (tempfile::TempDir, Env, Wrapping) {
        let (data, env) = (tempfile::tempdir().unwrap(), Env::simulated(3));
        file::private_dir(&data.path().join("keys")).unwrap();
        let wrapping = Wrapping::open(data.path(), &env).unwrap();
        (data, env, wrapping)
    }

    #[tokio::test]
    async fn a_secret_opens_for_its_own_context_also_after_a_restart() {
        let (data, env, wrapping) = wrapping();
        let wrapped = wrapping.wrap(b"s3cret", b"task/1", &env).unwrap();
        assert_eq!(wrapped.len(), b"s3cret".len() + 41);
        assert!(!wrapped.windows(6).any(|bytes| bytes == b"s3cret"));
        let again = Wrapping::open(data.path(), &env).unwrap();
        assert_eq!(again.unwrap(&wrapped, b"task/1").unwrap(), b"s3cret");
        assert_eq!(again.unwrap(&wrapped, b"task/2").unwrap_err().kind, Kind::Denied);
        assert_ne!(wrapping.wrap(b"s3cret", b"task/1", &env).unwrap(), wrapped);
    }

    #[tokio::test]
    async fn a_changed_or_foreign_secret_does_not_open() {
        let (_data, env, wrapping) = wrapping();
        let wrapped = wrapping.wrap(b"s3cret", b"c", &env).unwrap();
        for at in 0..wrapped.len() {
            let mut changed = wrapped.clone();
            changed[at] ^= 1;
            assert!(wrapping.unwrap(&changed, b"c").is_err(), "{at}");
            assert!(wrapping.unwrap(&wrapped[..at], b"c").is_err(), "{at}");
        }
        let other = tempfile::tempdir().unwrap();
        file::private_dir(&other.path().join("keys")).unwrap();
        let other = Wrapping::open(other.path(), &env).unwrap();
        assert_eq!(other.unwrap(&wrapped, b"c").unwrap_err().kind, Kind::Denied);
    }

    #[tokio::test]
    async fn lengths_are_bounded() {
        let (_data, env, wrapping) = wrapping();
        let field = |fault: Fault| fault.violations[0].field.clone();
        assert_eq!(field(wrapping.wrap(&vec![0; 65_537], b"c", &env).unwrap_err()), "secret");
        assert_eq!(field(wrapping.wrap(b"s", b"", &env).unwrap_err()), "context");
        assert_eq!(field(wrapping.unwrap(b"s", &[0; 2_049]).unwrap_err()), "context");
    }

    #[tokio::test]
    async fn the_key_is_private_and_a_damaged_one_is_refused() {
        let (data, env, _) = wrapping();
        let path = data.path().join("keys/wrap.key");
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        std::fs::write(&path, "short").unwrap();
        assert!(matches!(Wrapping::open(data.path(), &env), Err(KeyringFault::Damaged { .. })));
    }
}
