//! One secret, encrypted under one key for one name.

use chacha20poly1305::aead::{Aead, KeyInit, Payload};
use chacha20poly1305::{XChaCha20Poly1305, XNonce};
use sha2::{Digest as _, Sha256};
use weft_chassis::Env;
use zeroize::Zeroizing;

/// What a file begins with.
const VERSION: u8 = 1;
const ID_BYTES: usize = 8;
const NONCE_BYTES: usize = 24;

/// A key, and the id under which files name it.
pub(super) struct Cipher {
    id: [u8; ID_BYTES],
    cipher: XChaCha20Poly1305,
}

impl Cipher {
    pub(super) fn new(key: &[u8; 32]) -> Cipher {
        let digest: [u8; 32] =
            Sha256::new().chain_update(b"weft secrets key id\0").chain_update(key).finalize().into();
        let mut id = [0; ID_BYTES];
        id.copy_from_slice(&digest[..ID_BYTES]);
        Cipher { id, cipher: XChaCha20Poly1305::new(key.into()) }
    }

    /// Nothing when it cannot be encrypted, which is a defect.
    pub(super) fn seal(&self, name: &str, secret: &[u8], env: &Env) -> Option<Vec<u8>> {
        let mut nonce = [0; NONCE_BYTES];
        env.fill(&mut nonce);
        let bound = bound(name);
        let sealed = self.cipher.encrypt(&XNonce::from(nonce), Payload { msg: secret, aad: &bound }).ok()?;
        Some([&[VERSION], self.id.as_slice(), &nonce, &sealed].concat())
    }

    /// Nothing when it was not sealed by this key for this name.
    pub(super) fn open(&self, name: &str, sealed: &[u8]) -> Option<Zeroizing<Vec<u8>>> {
        let (nonce, sealed) = self.parts(sealed)?;
        let bound = bound(name);
        let opened = self.cipher.decrypt(&XNonce::from(*nonce), Payload { msg: sealed, aad: &bound });
        opened.ok().map(Zeroizing::new)
    }

    /// Whether a file says that it is of this key.
    pub(super) fn made(&self, sealed: &[u8]) -> bool {
        self.parts(sealed).is_some()
    }

    fn parts<'a>(&self, sealed: &'a [u8]) -> Option<(&'a [u8; NONCE_BYTES], &'a [u8])> {
        sealed.strip_prefix(&[VERSION])?.strip_prefix(self.id.as_slice())?.split_first_chunk()
    }
}

/// What is authenticated besides the secret.
fn bound(name: &str) -> Vec<u8> {
    [b"weft secret\0", name.as_bytes()].concat()
}
