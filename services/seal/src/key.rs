//! Keys that make seals, and keys that check them. None prints its secret; all wipe it when dropped.

mod check;
mod public;
mod secret;

use std::fmt;

use ed25519_dalek::pkcs8::spki::der::pem::LineEnding;
use ed25519_dalek::pkcs8::{DecodePrivateKey as _, EncodePrivateKey as _, KeypairBytes};
use ed25519_dalek::{Signer as _, SigningKey};
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;
use zeroize::Zeroizing;

pub use check::CheckKey;
pub use public::PublicKey;
pub use secret::Secret;

use crate::{Mode, fields};

/// HMAC-SHA256 with its key already taken in, so that one signature costs the message alone.
type HmacSha256 = Hmac<Sha256>;

/// A key that makes seals.
pub struct Key {
    id: String,
    kind: Kind,
}

enum Kind {
    Ed25519(Box<SigningKey>),
    Secret { mode: Mode, mac: Box<HmacSha256> },
}

/// Why a key cannot be used. Never tells what was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum KeyFault {
    /// Not a PKCS#8 private key in PEM.
    #[error("not an ed25519 private key in pkcs#8 pem")]
    Pem,
    /// Not a public key in one of the forms that are read.
    #[error("not an ed25519 public key: give a jwk or its x value in base64url")]
    Public,
    /// A point of small order: signatures by it prove nothing.
    #[error("weak ed25519 public key")]
    Weak,
    /// A private key stands where a public one belongs.
    #[error("a private key where a public one is expected: remove d from the jwk and replace the key")]
    PrivateGiven,
    /// Not a key that signs cards.
    #[error("not a private key of the kind its name says, in pkcs#8 pem")]
    Card,
    /// Not base64url.
    #[error("not a base64url secret")]
    Encoding,
    /// Too short to be safe or longer than HMAC-SHA256 can use.
    #[error("a secret must have 32 to 64 bytes")]
    SecretLength,
    /// A key id that a seal cannot carry.
    #[error(
        "a key id must have 1 to 128 printable ascii characters without quotes, backslashes and spaces at the ends"
    )]
    Id,
    /// The id of a node, needed to derive a key, is not usable.
    #[error("a node id must have 1 to 128 printable ascii characters without spaces at the ends")]
    Node,
    /// One key id for two peers: a seal would not say whose it is.
    #[error("this key id is already trusted for another key or peer")]
    Taken,
}

impl Key {
    /// An Ed25519 key from its 32-byte seed (RFC 8032 private key). Its id is the RFC 7638 thumbprint of its
    /// public key (see [`PublicKey::id`]).
    pub fn from_seed(seed: &[u8; 32]) -> Self {
        Self::ed25519(SigningKey::from_bytes(seed))
    }

    /// Reads an Ed25519 key from PKCS#8 in PEM (RFC 8410); a public key inside must be the right one.
    ///
    /// # Errors
    /// [`KeyFault::Pem`].
    pub fn from_pem(pem: &str) -> Result<Self, KeyFault> {
        SigningKey::from_pkcs8_pem(pem).map(Self::ed25519).map_err(|_| KeyFault::Pem)
    }

    /// The key used as it is, for everyone who has it; HMAC-SHA256.
    ///
    /// # Errors
    /// [`KeyFault::Id`].
    pub fn shared(id: &str, secret: &Secret) -> Result<Self, KeyFault> {
        Self::secret(id, Mode::Shared, secret.bytes())
    }

    /// The key for calls from node `from` to node `to`, and for nothing else; HMAC-SHA256 under
    /// `HKDF-SHA256(ikm = secret, salt = "weft-hop-v1", info = "derived" 00 from 00 to, length = 32)`,
    /// where `00` is one zero byte.
    ///
    /// # Errors
    /// [`KeyFault::Id`] and [`KeyFault::Node`].
    pub fn derived(id: &str, secret: &Secret, from: &str, to: &str) -> Result<Self, KeyFault> {
        let derived = secret.derive(from, to)?;
        Self::secret(id, Mode::Derived, derived.as_slice())
    }

    /// Its name in `keyid`.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// How strong it is.
    pub fn mode(&self) -> Mode {
        match &self.kind {
            Kind::Ed25519(_) => Mode::Ed25519,
            Kind::Secret { mode, .. } => *mode,
        }
    }

    /// The public half of an Ed25519 key; `None` for a secret.
    pub fn public(&self) -> Option<PublicKey> {
        match &self.kind {
            Kind::Ed25519(key) => Some(PublicKey::of(key.verifying_key())),
            Kind::Secret { .. } => None,
        }
    }

    /// The PKCS#8 PEM of an Ed25519 key, 119 characters, seed only (the form every library reads); `None` for a
    /// secret. Wiped when dropped: write it to a file of mode 0600 and nowhere else.
    pub fn to_pem(&self) -> Option<Zeroizing<String>> {
        let Kind::Ed25519(key) = &self.kind else { return None };
        let pair = KeypairBytes { secret_key: key.to_bytes(), public_key: None };
        pair.to_pkcs8_pem(LineEnding::LF).ok()
    }

    /// Signs a finished signature base: 64 bytes for Ed25519, 32 for HMAC.
    pub(crate) fn sign(&self, base: &[u8]) -> Vec<u8> {
        match &self.kind {
            Kind::Ed25519(key) => key.sign(base).to_bytes().to_vec(),
            Kind::Secret { mac, .. } => {
                mac.as_ref().clone().chain_update(base).finalize().into_bytes().to_vec()
            }
        }
    }

    fn ed25519(key: SigningKey) -> Self {
        Self { id: public::thumbprint(key.verifying_key().as_bytes()), kind: Kind::Ed25519(Box::new(key)) }
    }

    fn secret(id: &str, mode: Mode, key: &[u8]) -> Result<Self, KeyFault> {
        if id.is_empty()
            || id.len() > fields::KEY_ID_CHARS_MAX
            || !fields::is_plain(id)
            || id.contains(['"', '\\'])
        {
            return Err(KeyFault::Id);
        }
        let mac = HmacSha256::new_from_slice(key).map_err(|_| KeyFault::SecretLength)?;
        Ok(Self { id: id.to_owned(), kind: Kind::Secret { mode, mac: Box::new(mac) } })
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Key").field("id", &self.id).field("mode", &self.mode()).finish_non_exhaustive()
    }
}

#[cfg(test)]
pub(crate) mod testing {
    //! Published test keys (RFC 9421 appendix B.1.4 and B.1.5).
    pub(crate) const RFC_9421_ED25519_PEM: &str = "-----BEGIN PRIVATE KEY-----\n\
        MC4CAQAwBQYDK2VwBCIEIJ+DYvh6SEqVTm50DFtMDoQikTmiCqirVv9mWG9qfSnF\n\
        -----END PRIVATE KEY-----\n";
    pub(crate) const RFC_9421_SHARED_SECRET: &str =
        "uzvJfB4u3N0Jy4T7NZ75MDVcr8zSTInedJtkgcu46YW4XByzNJjxBdtjUkdJPBtbmHhIDi6pcl8jsasjlTMtDQ==";
}

#[cfg(test)]
mod tests {
    use super::{Key, KeyFault, Secret, testing::RFC_9421_ED25519_PEM};
    use crate::Mode;

    #[test]
    fn a_pem_key_reads_and_writes_back_to_the_same_bytes() {
        let key = Key::from_pem(RFC_9421_ED25519_PEM).unwrap();
        assert_eq!(key.to_pem().unwrap().as_str(), RFC_9421_ED25519_PEM);
        assert_eq!(key.public().unwrap().to_base64url(), "JrQLj5P_89iXES9-vFgrIy29clF9CC_oPPsw3c5D0bs");
        assert_eq!(key.id(), key.public().unwrap().id());
        assert_eq!(key.mode(), Mode::Ed25519);
    }

    #[test]
    fn a_damaged_pem_is_refused_without_saying_what_was_in_it() {
        let body = "MC4CAQAwBQYDK2VwBCIEIJ+DYvh6SEqVTm50DFtMDoQikTmiCqirVv9mWG9qfSnF";
        for bad in [
            String::new(),
            RFC_9421_ED25519_PEM.replace("PRIVATE", "PUBLIC"),
            RFC_9421_ED25519_PEM.replace("MC4C", "MC4D"),
            RFC_9421_ED25519_PEM.replace(body, &body[..40]),
            RFC_9421_ED25519_PEM[..60].to_owned(),
        ] {
            assert_eq!(Key::from_pem(&bad).err(), Some(KeyFault::Pem), "{bad}");
        }
    }

    #[test]
    fn keys_do_not_print_what_they_hold() {
        let secret = Secret::from_bytes(&[0x5a; 32]).unwrap();
        let encoded = secret.to_base64url();
        for printed in [
            format!("{:?}", Key::from_pem(RFC_9421_ED25519_PEM).unwrap()),
            format!("{:?}", Key::derived("k", &secret, "a", "b").unwrap()),
            format!("{secret:?}"),
        ] {
            assert!(!printed.contains("90") && !printed.contains(encoded.as_str()), "{printed}");
            assert!(!printed.contains("159, 131"), "{printed}");
            assert!(printed.len() < 120, "{printed}");
        }
    }

    #[test]
    fn key_material_is_wiped_when_dropped() {
        fn wiped<T: zeroize::ZeroizeOnDrop>() {}
        wiped::<ed25519_dalek::SigningKey>();
        wiped::<p256::ecdsa::SigningKey>();
        wiped::<sha2::Sha256>(); // an HMAC is two of these and has no marker of its own
        wiped::<zeroize::Zeroizing<Vec<u8>>>();
    }

    #[test]
    fn derived_keys_differ_by_pair_and_direction() {
        let secret = Secret::from_bytes(&[7; 32]).unwrap();
        let sign = |key: Key| key.sign(b"base");
        let mut all = vec![
            sign(Key::shared("k", &secret).unwrap()),
            sign(Key::derived("k", &secret, "mesh", "crm").unwrap()),
            sign(Key::derived("k", &secret, "crm", "mesh").unwrap()),
            sign(Key::derived("k", &secret, "mesh", "lan").unwrap()),
            sign(Key::derived("k", &secret, "meshc", "rm").unwrap()),
        ];
        all.sort();
        all.dedup();
        assert_eq!(all.len(), 5);
        let again = sign(Key::derived("k", &secret, "mesh", "crm").unwrap());
        assert!(all.contains(&again), "the same pair gives the same key");
    }

    #[test]
    fn ids_that_a_seal_cannot_carry_are_refused() {
        let secret = Secret::from_bytes(&[7; 32]).unwrap();
        for id in ["", "a\"b", "a\\b", "a\nb", " a", "é", &"x".repeat(129)] {
            assert_eq!(Key::shared(id, &secret).err(), Some(KeyFault::Id), "{id}");
        }
        for node in ["", "a\nb", "a\0b", &"x".repeat(129)] {
            assert_eq!(Key::derived("k", &secret, node, "b").err(), Some(KeyFault::Node), "{node}");
            assert_eq!(Key::derived("k", &secret, "a", node).err(), Some(KeyFault::Node), "{node}");
        }
    }
}
