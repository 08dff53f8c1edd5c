//! The public keys of an identity provider (RFC 7517), and signatures checked against them.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED, ED25519, RSA_PKCS1_2048_8192_SHA256, RsaPublicKeyComponents, UnparsedPublicKey,
};
use serde::Deserialize;

use super::token::Algorithm;

/// Most keys of one set; further ones are not looked at.
const KEYS_MAX: usize = 64;

/// Keys that check signatures of the algorithms that are known here. Others of the set are left out.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct KeySet {
    keys: Vec<Key>,
}

/// One key.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Key {
    kid: Option<String>,
    public: Public,
}

#[derive(Debug, PartialEq, Eq)]
enum Public {
    /// Modulus and exponent.
    Rsa(Vec<u8>, Vec<u8>),
    /// Uncompressed point.
    P256(Vec<u8>),
    Ed25519(Vec<u8>),
}

#[derive(Deserialize)]
struct Jwks {
    keys: Vec<serde_json::Value>,
}

#[derive(Deserialize)]
struct Jwk {
    kty: String,
    kid: Option<String>,
    #[serde(rename = "use")]
    used: Option<String>,
    alg: Option<String>,
    crv: Option<String>,
    n: Option<String>,
    e: Option<String>,
    x: Option<String>,
    y: Option<String>,
}

// === impl KeySet ===

impl KeySet {
    /// # Errors
    /// When it is no key set at all. A key that cannot be read is left out: providers add kinds of keys.
    pub(super) fn parse(json: &[u8]) -> Result<KeySet, String> {
        let set: Jwks = serde_json::from_slice(json).map_err(|_| "is no JWK set (RFC 7517)".to_owned())?;
        let keys = set.keys.into_iter().filter_map(|key| Key::of(serde_json::from_value(key).ok()?));
        Ok(KeySet { keys: keys.take(KEYS_MAX).collect() })
    }

    /// The key of that id for that algorithm. Without an id: the only one for that algorithm.
    pub(super) fn find(&self, kid: Option<&str>, algorithm: Algorithm) -> Option<&Key> {
        let mut fitting = self
            .keys
            .iter()
            .filter(|key| key.algorithm() == algorithm && (kid.is_none() || key.kid.as_deref() == kid));
        let first = fitting.next()?;
        (kid.is_some() || fitting.next().is_none()).then_some(first)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }
}

// === impl Key ===

impl Key {
    fn of(jwk: Jwk) -> Option<Key> {
        if jwk.used.is_some_and(|used| used != "sig") {
            return None;
        }
        let public = match (jwk.kty.as_str(), jwk.crv.as_deref()) {
            ("RSA", _) => Public::Rsa(number(jwk.n)?, number(jwk.e)?),
            ("EC", Some("P-256")) => {
                let (x, y) = (bytes(jwk.x)?, bytes(jwk.y)?);
                let fits = x.len() == 32 && y.len() == 32;
                Public::P256(fits.then(|| [&[4], x.as_slice(), &y].concat())?)
            }
            ("OKP", Some("Ed25519")) => Public::Ed25519(bytes(jwk.x).filter(|x| x.len() == 32)?),
            _ => return None,
        };
        let key = Key { kid: jwk.kid, public };
        // A key that is meant for another algorithm is not taken for this one.
        let meant = jwk.alg.is_none_or(|alg| alg == key.algorithm().name());
        meant.then_some(key)
    }

    fn algorithm(&self) -> Algorithm {
        match self.public {
            Public::Rsa(..) => Algorithm::Rs256,
            Public::P256(_) => Algorithm::Es256,
            Public::Ed25519(_) => Algorithm::EdDsa,
        }
    }

    /// Whether the holder of this key signed that.
    pub(super) fn verifies(&self, signed: &[u8], signature: &[u8]) -> bool {
        match &self.public {
            Public::Rsa(n, e) => {
                RsaPublicKeyComponents { n, e }.verify(&RSA_PKCS1_2048_8192_SHA256, signed, signature)
            }
            Public::P256(point) => {
                UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, point).verify(signed, signature)
            }
            Public::Ed25519(x) => UnparsedPublicKey::new(&ED25519, x).verify(signed, signature),
        }
        .is_ok()
    }
}

fn bytes(text: Option<String>) -> Option<Vec<u8>> {
    URL_SAFE_NO_PAD.decode(text?.trim_end_matches('=')).ok()
}

/// Without the zeros that some put before it, and the checker does not take.
fn number(text: Option<String>) -> Option<Vec<u8>> {
    let bytes = bytes(text)?;
    let zeros = bytes.iter().take_while(|byte| **byte == 0).count();
    Some(bytes[zeros..].to_vec())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn set(keys: &serde_json::Value) -> KeySet {
        KeySet::parse(json!({ "keys": keys }).to_string().as_bytes()).unwrap()
    }

    fn x(byte: u8) -> String {
        URL_SAFE_NO_PAD.encode([byte; 32])
    }

    #[test]
    fn a_key_is_found_by_its_id_and_only_for_its_algorithm() {
        let set = set(&json!([
            { "kty": "OKP", "crv": "Ed25519", "kid": "a", "x": x(1) },
            { "kty": "EC", "crv": "P-256", "kid": "b", "x": x(2), "y": x(3) },
            { "kty": "RSA", "n": "AQAB", "e": "AQAB" },
        ]));
        assert!(set.find(Some("a"), Algorithm::EdDsa).is_some());
        assert!(set.find(Some("a"), Algorithm::Es256).is_none());
        assert!(set.find(Some("c"), Algorithm::EdDsa).is_none());
        assert!(set.find(None, Algorithm::Rs256).is_some());
    }

    #[test]
    fn without_an_id_two_fitting_keys_are_none() {
        let two = json!([
            { "kty": "OKP", "crv": "Ed25519", "kid": "a", "x": x(1) },
            { "kty": "OKP", "crv": "Ed25519", "kid": "b", "x": x(2) },
        ]);
        assert!(set(&two).find(None, Algorithm::EdDsa).is_none());
    }

    #[test]
    fn keys_for_other_purposes_are_left_out() {
        for other in [
            json!({ "kty": "oct", "k": "AAAA" }),
            json!({ "kty": "RSA", "use": "enc", "n": "AQAB", "e": "AQAB" }),
            json!({ "kty": "RSA", "alg": "RS512", "n": "AQAB", "e": "AQAB" }),
            json!({ "kty": "EC", "crv": "P-384", "x": x(1), "y": x(2) }),
            json!({ "kty": "OKP", "crv": "Ed25519", "x": "AAAA" }),
            json!({ "kty": 7 }),
            json!("key"),
        ] {
            assert!(set(&json!([other])).is_empty(), "{other}");
        }
        assert!(KeySet::parse(b"{}").is_err() && KeySet::parse(b"<html>").is_err());
    }
}
