//! A secret that two sides hold, and the keys derived from it.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hkdf::Hkdf;
use sha2::Sha256;
use zeroize::Zeroizing;

use super::KeyFault;
use crate::call;

/// 32 to 64 secret bytes; wiped when dropped, never printed.
pub struct Secret(Zeroizing<Vec<u8>>);

impl Secret {
    /// Takes 32 to 64 bytes from a good source of randomness.
    ///
    /// # Errors
    /// [`KeyFault::SecretLength`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, KeyFault> {
        if !(32..=64).contains(&bytes.len()) {
            return Err(KeyFault::SecretLength);
        }
        Ok(Self(Zeroizing::new(bytes.to_vec())))
    }

    /// Reads base64url without padding, as in a secret file; white space around it is ignored.
    ///
    /// # Errors
    /// [`KeyFault::Encoding`] and [`KeyFault::SecretLength`].
    pub fn from_base64url(text: &str) -> Result<Self, KeyFault> {
        let bytes =
            URL_SAFE_NO_PAD.decode(text.trim()).map(Zeroizing::new).map_err(|_| KeyFault::Encoding)?;
        Self::from_bytes(&bytes)
    }

    /// The form that [`Secret::from_base64url`] reads. Wiped when dropped: write it to a file of mode 0600.
    pub fn to_base64url(&self) -> Zeroizing<String> {
        Zeroizing::new(URL_SAFE_NO_PAD.encode(self.0.as_slice()))
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// See [`super::Key::derived`] for the recipe.
    pub(super) fn derive(&self, from: &str, to: &str) -> Result<Zeroizing<[u8; 32]>, KeyFault> {
        if !call::is_node_id(from) || !call::is_node_id(to) {
            return Err(KeyFault::Node);
        }
        let mut key = Zeroizing::new([0; 32]);
        Hkdf::<Sha256>::new(Some(b"weft-hop-v1"), &self.0)
            .expand_multi_info(&[b"derived\0", from.as_bytes(), b"\0", to.as_bytes()], key.as_mut_slice())
            .expect("32 bytes are far below the 8160 that HKDF-SHA256 can give");
        Ok(key)
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::Secret;
    use crate::KeyFault::{Encoding, SecretLength};

    #[test]
    fn secrets_read_back_and_bad_ones_are_refused() {
        let text = Secret::from_bytes(&[1; 32]).unwrap().to_base64url();
        assert_eq!(Secret::from_base64url(&format!("{}\n", *text)).unwrap().bytes(), [1; 32]);
        let check = |text: &str, fault| assert_eq!(Secret::from_base64url(text).err(), Some(fault), "{text}");
        check("", SecretLength);
        check("c2hvcnQ", SecretLength);
        check("+/+/", Encoding);
        check(&format!("{}=", *text), Encoding);
        assert!(Secret::from_bytes(&[1; 65]).is_err());
    }
}
