//! Keys that check seals.

use std::fmt;

use ed25519_dalek::VerifyingKey;
use hmac::Mac as _;

use super::{HmacSha256, Key, Kind, PublicKey};
use crate::{Mode, SealFault};

/// A key that checks seals: a public key, or the secret that also makes them.
pub struct CheckKey {
    id: String,
    kind: CheckKind,
}

enum CheckKind {
    Ed25519(Box<VerifyingKey>),
    Secret { mode: Mode, mac: Box<HmacSha256> },
}

impl CheckKey {
    /// The `keyid` of the seals that it checks.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// How strong it is.
    pub fn mode(&self) -> Mode {
        match &self.kind {
            CheckKind::Ed25519(_) => Mode::Ed25519,
            CheckKind::Secret { mode, .. } => *mode,
        }
    }

    /// Checks a signature over a finished base; HMACs are compared in constant time, Ed25519 strictly (no
    /// malleable or small-order forms).
    pub(crate) fn check(&self, base: &[u8], signature: &[u8]) -> Result<(), SealFault> {
        let good = match &self.kind {
            CheckKind::Ed25519(key) => ed25519_dalek::Signature::from_slice(signature)
                .is_ok_and(|signature| key.verify_strict(base, &signature).is_ok()),
            CheckKind::Secret { mac, .. } => {
                mac.as_ref().clone().chain_update(base).verify_slice(signature).is_ok()
            }
        };
        if good { Ok(()) } else { Err(SealFault::Signature) }
    }
}

impl From<PublicKey> for CheckKey {
    fn from(key: PublicKey) -> Self {
        let (id, key) = key.into_parts();
        Self { id, kind: CheckKind::Ed25519(Box::new(key)) }
    }
}

/// What checks the seals that this key makes.
impl From<&Key> for CheckKey {
    fn from(key: &Key) -> Self {
        let kind = match &key.kind {
            Kind::Ed25519(key) => CheckKind::Ed25519(Box::new(key.verifying_key())),
            Kind::Secret { mode, mac } => CheckKind::Secret { mode: *mode, mac: mac.clone() },
        };
        Self { id: key.id.clone(), kind }
    }
}

impl fmt::Debug for CheckKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CheckKey").field("id", &self.id).field("mode", &self.mode()).finish_non_exhaustive()
    }
}
