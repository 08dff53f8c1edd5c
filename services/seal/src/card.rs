//! Signatures of agent cards (A2A v1.0 §8.4): detached JWS (RFC 7515) over the canonical form (RFC 8785) of a card.
//!
//! | module | contents |
//! |---|---|
//! | `canonical` | [`canonical()`]: the bytes that are signed |
//! | `key` | [`CardKey`], [`CardPublicKey`]: ES256 and EdDSA keys, in PEM and as JWK |
//! | `set` | [`key_set`], [`keys_in`]: JWK sets (RFC 7517), written and read |
//! | `pins` | [`Pins`], [`KeySets`]: whose signatures count, and when a key set is fetched again |
//!
//! A signature proves nothing by itself: the key must be pinned, or come from a key set at a place that the operator
//! allowed. What a card says of its own key (`jku`) is only ever looked up among those places.

mod canonical;
mod key;
mod pins;
mod set;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::Deserialize;
use serde_json::json;

pub use canonical::canonical;
pub use key::{Alg, CardKey, CardPublicKey};
pub use pins::{Find, KeySets, Look, Pins};
pub use set::{is_for_cards, key_set, keys_in};

/// Longest protected header that is read, in characters of base64url.
const PROTECTED_CHARS_MAX: usize = 8_192;

/// One signature, in the parts that an `AgentCardSignature` has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CardSignature {
    /// Base64url of the protected header.
    pub protected: String,
    /// Base64url of the signature.
    pub signature: String,
}

/// What a protected header says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Header {
    /// How it is signed.
    pub alg: Alg,
    /// Which key signed it.
    pub kid: String,
    /// Where the signer says that the key is found; believed by nobody (see [`Pins`]).
    pub jku: Option<String>,
}

/// Why a card or its signature is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum CardFault {
    /// The card has no canonical form.
    #[error("the card has no canonical form: {0}")]
    Canonical(&'static str),
    /// The protected header cannot be read.
    #[error("malformed protected header: {0}")]
    Header(&'static str),
    /// Signed by an algorithm that is not taken; among them `none` and every HMAC.
    #[error("the algorithm is not taken: ES256 and EdDSA are")]
    Algorithm,
    /// No pinned key has this id, and its key set lies at no allowed place.
    #[error("signed by a key that is neither pinned nor from an allowed key set")]
    Untrusted,
    /// The key set holds no such key.
    #[error("the key set holds no such key")]
    UnknownKey,
    /// The signature is of another card, or by another key.
    #[error("the signature does not verify")]
    Signature,
    /// A key cannot be used.
    #[error("unusable key: {0}")]
    Key(&'static str),
}

#[derive(Deserialize)]
struct Protected {
    alg: String,
    #[serde(default)]
    kid: String,
    #[serde(default)]
    jku: Option<String>,
    #[serde(default)]
    crit: Option<serde::de::IgnoredAny>,
}

// === impl Header ===

impl Header {
    /// Reads a protected header.
    ///
    /// # Errors
    /// [`CardFault::Header`] and [`CardFault::Algorithm`].
    pub fn read(protected: &str) -> Result<Header, CardFault> {
        if protected.len() > PROTECTED_CHARS_MAX {
            return Err(CardFault::Header("too long"));
        }
        let json = URL_SAFE_NO_PAD.decode(protected).map_err(|_| CardFault::Header("not base64url"))?;
        let read: Protected =
            serde_json::from_slice(&json).map_err(|_| CardFault::Header("not a header of a JWS"))?;
        if read.crit.is_some() {
            // RFC 7515 §4.1.11: what is critical and not understood refuses the signature.
            return Err(CardFault::Header("has critical extensions"));
        }
        if read.kid.is_empty() {
            return Err(CardFault::Header("names no key"));
        }
        let alg = Alg::parse(&read.alg).ok_or(CardFault::Algorithm)?;
        Ok(Header { alg, kid: read.kid, jku: read.jku })
    }
}

/// Signs a canonical card. Verifiers find the key at `jku`. The same key, card and place give the same signature.
#[must_use]
pub fn sign(key: &CardKey, canonical: &[u8], jku: &str) -> CardSignature {
    let header = json!({"alg": key.alg().name(), "jku": jku, "kid": key.id(), "typ": "JOSE"});
    let protected = URL_SAFE_NO_PAD.encode(header.to_string());
    let signature = URL_SAFE_NO_PAD.encode(key.sign(&signing_input(&protected, canonical)));
    CardSignature { protected, signature }
}

/// Checks one signature of a canonical card by a key that is trusted (see [`Pins`]).
///
/// # Errors
/// [`CardFault::Algorithm`] when the header names another algorithm than the key's, [`CardFault::UnknownKey`] when it
/// names another key, [`CardFault::Signature`] when it does not verify.
pub fn verify(key: &CardPublicKey, canonical: &[u8], signature: &CardSignature) -> Result<(), CardFault> {
    let header = Header::read(&signature.protected)?;
    if header.alg != key.alg() {
        return Err(CardFault::Algorithm);
    }
    if header.kid != key.id() {
        return Err(CardFault::UnknownKey);
    }
    let bytes = URL_SAFE_NO_PAD.decode(&signature.signature).map_err(|_| CardFault::Signature)?;
    key.check(&signing_input(&signature.protected, canonical), &bytes)
}

/// RFC 7515 §5.1: what is really signed.
fn signing_input(protected: &str, canonical: &[u8]) -> Vec<u8> {
    let mut input = protected.as_bytes().to_vec();
    input.push(b'.');
    input.extend_from_slice(URL_SAFE_NO_PAD.encode(canonical).as_bytes());
    input
}
