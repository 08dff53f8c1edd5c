//! Public keys as JSON Web Keys (RFC 7517, RFC 8037).

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ed25519_dalek::VerifyingKey;
use serde::Deserialize;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::KeyFault;

/// An Ed25519 public key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublicKey {
    id: String,
    key: VerifyingKey,
}

#[derive(Deserialize)]
struct Jwk {
    kty: String,
    crv: String,
    x: String,
    #[serde(default)]
    d: Option<serde::de::IgnoredAny>,
}

impl PublicKey {
    /// Reads a JWK (`{"kty":"OKP","crv":"Ed25519","x":"…"}`) or the bare `x`: 32 bytes in base64url without
    /// padding. A `kid` is ignored: the id is always the thumbprint.
    ///
    /// # Errors
    /// [`KeyFault::Public`], [`KeyFault::Weak`] and [`KeyFault::PrivateGiven`].
    pub fn parse(text: &str) -> Result<Self, KeyFault> {
        let text = text.trim();
        if !text.starts_with('{') {
            return Self::from_base64url(text);
        }
        let jwk: Jwk = serde_json::from_str(text).map_err(|_| KeyFault::Public)?;
        if jwk.d.is_some() {
            return Err(KeyFault::PrivateGiven);
        }
        if jwk.kty != "OKP" || jwk.crv != "Ed25519" {
            return Err(KeyFault::Public);
        }
        Self::from_base64url(&jwk.x)
    }

    /// The RFC 7638 thumbprint of the key (SHA-256 over its required members as RFC 8037 §2 names them, base64url):
    /// 43 characters that anyone who has the key can compute.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The `x` value: 43 characters of base64url.
    pub fn to_base64url(&self) -> String {
        URL_SAFE_NO_PAD.encode(self.key.as_bytes())
    }

    /// The public JWK, with `kid`, `use` and `alg`.
    pub fn to_jwk(&self) -> Value {
        json!({"kty": "OKP", "crv": "Ed25519", "x": self.to_base64url(), "kid": self.id, "use": "sig", "alg": "EdDSA"})
    }

    pub(super) fn of(key: VerifyingKey) -> Self {
        Self { id: thumbprint(key.as_bytes()), key }
    }

    pub(super) fn into_parts(self) -> (String, VerifyingKey) {
        (self.id, self.key)
    }

    fn from_base64url(x: &str) -> Result<Self, KeyFault> {
        let bytes = URL_SAFE_NO_PAD.decode(x).map_err(|_| KeyFault::Public)?;
        let bytes: [u8; 32] = bytes.try_into().map_err(|_| KeyFault::Public)?;
        let key = VerifyingKey::from_bytes(&bytes).map_err(|_| KeyFault::Public)?;
        if key.is_weak() { Err(KeyFault::Weak) } else { Ok(Self::of(key)) }
    }
}

/// RFC 7638 §3: the required members in lexicographic order, no white space.
pub(super) fn thumbprint(public: &[u8; 32]) -> String {
    let x = URL_SAFE_NO_PAD.encode(public);
    URL_SAFE_NO_PAD.encode(Sha256::digest(format!(r#"{{"crv":"Ed25519","kty":"OKP","x":"{x}"}}"#)))
}

#[cfg(test)]
mod tests {
    use super::PublicKey;
    use crate::KeyFault;

    const X: &str = "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo";

    #[test]
    fn the_thumbprint_is_the_one_that_rfc_8037_publishes() {
        let key = PublicKey::parse(X).unwrap();
        assert_eq!(key.id(), "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k");
    }

    #[test]
    fn a_jwk_reads_back_and_holds_no_private_part() {
        let key = PublicKey::parse(X).unwrap();
        assert_eq!(PublicKey::parse(&key.to_jwk().to_string()).unwrap(), key);
        assert_eq!(key.to_jwk()["kid"], key.id());
        assert!(key.to_jwk().get("d").is_none());
    }

    #[test]
    fn what_is_no_public_ed25519_key_is_refused() {
        let check = |text: &str, fault| assert_eq!(PublicKey::parse(text).err(), Some(fault), "{text}");
        check("", KeyFault::Public);
        check("{}", KeyFault::Public);
        check("AAAA", KeyFault::Public);
        check(&format!("{X}="), KeyFault::Public);
        check(&format!(r#"{{"kty":"EC","crv":"P-256","x":"{X}"}}"#), KeyFault::Public);
        check(&format!(r#"{{"kty":"OKP","crv":"X25519","x":"{X}"}}"#), KeyFault::Public);
        check(&format!(r#"{{"kty":"OKP","crv":"Ed25519","x":"{X}","d":"{X}"}}"#), KeyFault::PrivateGiven);
        // The neutral element and a point of order 8.
        check("AQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", KeyFault::Weak);
        check("xxdqcD1N2E-6PAt2DRBnDyogU_osOczGTsf9d5KsA3o", KeyFault::Weak);
    }
}
