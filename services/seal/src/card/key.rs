//! Keys that sign cards: ECDSA on P-256 (ES256) and Ed25519 (EdDSA).

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ed25519_dalek::pkcs8::spki::der::pem::LineEnding;
use ed25519_dalek::pkcs8::{DecodePrivateKey as _, EncodePrivateKey as _};
use p256::ecdsa::signature::Verifier as _;
use p256::ecdsa::{Signature, SigningKey, VerifyingKey};
use serde::Deserialize;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use zeroize::Zeroizing;

use super::CardFault;
use crate::{CheckKey, Key, PublicKey};

/// How a card is signed (RFC 7518 §3.1, RFC 8037).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Alg {
    /// ECDSA on P-256 with SHA-256.
    Es256,
    /// Ed25519.
    EdDsa,
}

/// A key that signs cards.
pub struct CardKey {
    id: String,
    kind: Kind,
}

enum Kind {
    Es256(Box<SigningKey>),
    EdDsa(Box<Key>),
}

/// A key that checks the signatures of cards.
#[derive(Debug, Clone, PartialEq)]
pub struct CardPublicKey {
    id: String,
    kind: PublicKind,
}

#[derive(Debug, Clone, PartialEq)]
enum PublicKind {
    Es256(Box<VerifyingKey>),
    EdDsa(Box<PublicKey>),
}

/// The members of a JWK that matter here.
#[derive(Deserialize)]
struct Jwk {
    kty: String,
    #[serde(default)]
    crv: String,
    #[serde(default)]
    x: String,
    #[serde(default)]
    y: String,
    #[serde(default)]
    kid: String,
    #[serde(default)]
    d: Option<serde::de::IgnoredAny>,
}

// === impl Alg ===

impl Alg {
    /// Every algorithm that is taken, in the order of preference.
    pub const ALL: [Alg; 2] = [Alg::Es256, Alg::EdDsa];

    /// As a header names it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Alg::Es256 => "ES256",
            Alg::EdDsa => "EdDSA",
        }
    }

    /// Reads a name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Alg> {
        Alg::ALL.into_iter().find(|alg| alg.name() == name)
    }
}

// === impl CardKey ===

impl CardKey {
    /// A key from 32 random bytes; `None` when they are no P-256 key, which happens once in 2^32 times.
    #[must_use]
    pub fn from_seed(alg: Alg, seed: &[u8; 32]) -> Option<CardKey> {
        match alg {
            Alg::Es256 => SigningKey::from_slice(seed).ok().map(CardKey::es256),
            Alg::EdDsa => CardKey::eddsa(Key::from_seed(seed)),
        }
    }

    /// Reads a key from PKCS#8 in PEM.
    ///
    /// # Errors
    /// [`CardFault::Key`].
    pub fn from_pem(alg: Alg, pem: &str) -> Result<CardKey, CardFault> {
        let read = match alg {
            Alg::Es256 => SigningKey::from_pkcs8_pem(pem).ok().map(CardKey::es256),
            Alg::EdDsa => Key::from_pem(pem).ok().and_then(CardKey::eddsa),
        };
        read.ok_or(CardFault::Key("not a private key of its kind in pkcs#8 pem"))
    }

    /// The PKCS#8 PEM. Wiped when dropped: write it to a file of mode 0600 and nowhere else.
    #[must_use]
    pub fn to_pem(&self) -> Zeroizing<String> {
        match &self.kind {
            Kind::Es256(key) => key.to_pkcs8_pem(LineEnding::LF).expect("a P-256 key has a PEM form"),
            Kind::EdDsa(key) => key.to_pem().expect("an Ed25519 key has a PEM form"),
        }
    }

    /// Its name in `kid`: the RFC 7638 thumbprint of its public half.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// How it signs.
    #[must_use]
    pub fn alg(&self) -> Alg {
        match &self.kind {
            Kind::Es256(_) => Alg::Es256,
            Kind::EdDsa(_) => Alg::EdDsa,
        }
    }

    /// The public half.
    #[must_use]
    pub fn public(&self) -> CardPublicKey {
        let kind = match &self.kind {
            Kind::Es256(key) => PublicKind::Es256(Box::new(*key.verifying_key())),
            Kind::EdDsa(key) => PublicKind::EdDsa(Box::new(key.public().expect("it is an Ed25519 key"))),
        };
        CardPublicKey { id: self.id.clone(), kind }
    }

    /// 64 bytes either way; deterministic (RFC 6979, RFC 8032).
    pub(super) fn sign(&self, input: &[u8]) -> Vec<u8> {
        use p256::ecdsa::signature::Signer as _;
        match &self.kind {
            Kind::Es256(key) => {
                let signature: Signature = key.sign(input);
                signature.to_bytes().to_vec()
            }
            Kind::EdDsa(key) => key.sign(input),
        }
    }

    fn es256(key: SigningKey) -> CardKey {
        CardKey { id: es256_id(key.verifying_key()), kind: Kind::Es256(Box::new(key)) }
    }

    fn eddsa(key: Key) -> Option<CardKey> {
        Some(CardKey { id: key.public()?.id().to_owned(), kind: Kind::EdDsa(Box::new(key)) })
    }
}

impl fmt::Debug for CardKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CardKey").field("id", &self.id).field("alg", &self.alg()).finish_non_exhaustive()
    }
}

// === impl CardPublicKey ===

impl CardPublicKey {
    /// Reads a JWK; `None` when it is of a kind that signs no cards here. Its `kid` names it, the thumbprint when it has
    /// none.
    ///
    /// # Errors
    /// [`CardFault::Key`] when it is no key, or a private one.
    pub fn parse(jwk: &Value) -> Result<Option<CardPublicKey>, CardFault> {
        let read = Jwk::deserialize(jwk).map_err(|_| CardFault::Key("not a jwk"))?;
        if read.d.is_some() {
            return Err(CardFault::Key("a private key where a public one is expected"));
        }
        let kind = match (read.kty.as_str(), read.crv.as_str()) {
            ("EC", "P-256") => PublicKind::Es256(Box::new(point(&read.x, &read.y)?)),
            ("OKP", "Ed25519") => {
                let key = PublicKey::parse(&read.x).map_err(|_| CardFault::Key("not an ed25519 point"))?;
                PublicKind::EdDsa(Box::new(key))
            }
            _ => return Ok(None),
        };
        let thumbprint = match &kind {
            PublicKind::Es256(key) => es256_id(key),
            PublicKind::EdDsa(key) => key.id().to_owned(),
        };
        let id = if read.kid.is_empty() { thumbprint } else { read.kid };
        Ok(Some(CardPublicKey { id, kind }))
    }

    /// The public JWK, with `kid`, `use` and `alg`.
    #[must_use]
    pub fn to_jwk(&self) -> Value {
        match &self.kind {
            PublicKind::Es256(key) => {
                let (x, y) = coordinates(key);
                json!({"kty": "EC", "crv": "P-256", "x": x, "y": y, "kid": self.id, "use": "sig", "alg": "ES256"})
            }
            PublicKind::EdDsa(key) => {
                let x = key.to_base64url();
                json!({"kty": "OKP", "crv": "Ed25519", "x": x, "kid": self.id, "use": "sig", "alg": "EdDSA"})
            }
        }
    }

    /// Its name in `kid`.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// What it checks.
    #[must_use]
    pub fn alg(&self) -> Alg {
        match &self.kind {
            PublicKind::Es256(_) => Alg::Es256,
            PublicKind::EdDsa(_) => Alg::EdDsa,
        }
    }

    pub(super) fn check(&self, input: &[u8], signature: &[u8]) -> Result<(), CardFault> {
        let good = match &self.kind {
            PublicKind::Es256(key) => {
                Signature::from_slice(signature).is_ok_and(|signature| key.verify(input, &signature).is_ok())
            }
            PublicKind::EdDsa(key) => CheckKey::from(key.as_ref().clone()).check(input, signature).is_ok(),
        };
        if good { Ok(()) } else { Err(CardFault::Signature) }
    }
}

fn point(x: &str, y: &str) -> Result<VerifyingKey, CardFault> {
    let bad = CardFault::Key("not a point of p-256");
    let mut sec1 = vec![4];
    for coordinate in [x, y] {
        let bytes = URL_SAFE_NO_PAD.decode(coordinate).map_err(|_| bad)?;
        if bytes.len() != 32 {
            return Err(bad);
        }
        sec1.extend_from_slice(&bytes);
    }
    VerifyingKey::from_sec1_bytes(&sec1).map_err(|_| bad)
}

/// Both in base64url.
fn coordinates(key: &VerifyingKey) -> (String, String) {
    let point = key.to_sec1_point(false);
    let (x, y) = point.as_bytes()[1..].split_at(32);
    (URL_SAFE_NO_PAD.encode(x), URL_SAFE_NO_PAD.encode(y))
}

/// RFC 7638 §3: the required members in lexicographic order, no white space.
fn es256_id(key: &VerifyingKey) -> String {
    let (x, y) = coordinates(key);
    URL_SAFE_NO_PAD.encode(Sha256::digest(format!(r#"{{"crv":"P-256","kty":"EC","x":"{x}","y":"{y}"}}"#)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_signature_that_rfc_7515_publishes_verifies_and_no_other() {
        let jwk = json!({
            "kty": "EC", "crv": "P-256", "x": "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU",
            "y": "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"
        });
        let key = CardPublicKey::parse(&jwk).unwrap().unwrap();
        let input =
            b"eyJhbGciOiJFUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLm\
                      NvbS9pc19yb290Ijp0cnVlfQ";
        let signature =
            "DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q";
        let mut signature = URL_SAFE_NO_PAD.decode(signature).unwrap();
        assert_eq!(key.check(input, &signature), Ok(()));
        assert_eq!(key.check(b"another", &signature), Err(CardFault::Signature));
        signature[0] ^= 1;
        assert_eq!(key.check(input, &signature), Err(CardFault::Signature));
        assert_eq!(key.check(input, &[0; 64]), Err(CardFault::Signature));
        assert_eq!(key.check(input, &[]), Err(CardFault::Signature));
    }

    #[test]
    fn keys_read_back_and_print_no_secret() {
        for alg in Alg::ALL {
            let key = CardKey::from_seed(alg, &[0x5a; 32]).unwrap();
            let again = CardKey::from_pem(alg, &key.to_pem()).unwrap();
            assert_eq!((again.id(), again.to_pem()), (key.id(), key.to_pem()));
            let jwk = key.public().to_jwk();
            assert_eq!(CardPublicKey::parse(&jwk).unwrap().unwrap(), key.public());
            assert!(jwk.get("d").is_none());
            let printed = format!("{key:?}");
            assert!(!printed.contains("90, 90") && !printed.contains("5a5a"), "{printed}");
        }
        assert!(CardKey::from_seed(Alg::Es256, &[0xff; 32]).is_none(), "greater than the order of the curve");
        let other = CardKey::from_seed(Alg::EdDsa, &[1; 32]).unwrap().to_pem();
        assert!(CardKey::from_pem(Alg::Es256, &other).is_err());
    }

    #[test]
    fn what_is_no_public_key_is_refused_and_other_kinds_are_passed_over() {
        let x = "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU";
        for bad in [
            json!([]),
            json!({"kty": "EC", "crv": "P-256", "x": x, "y": x}),
            json!({"kty": "EC", "crv": "P-256", "x": x}),
            json!({"kty": "EC", "crv": "P-256", "x": x, "y": "AA"}),
            json!({"kty": "OKP", "crv": "Ed25519", "x": x, "d": x}),
            json!({"kty": "OKP", "crv": "Ed25519", "x": "AQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"}),
        ] {
            assert!(CardPublicKey::parse(&bad).is_err(), "{bad}");
        }
        for other in [json!({"kty": "RSA", "n": "AQ", "e": "AQAB"}), json!({"kty": "EC", "crv": "P-384"})] {
            assert_eq!(CardPublicKey::parse(&other), Ok(None), "{other}");
        }
    }
}
