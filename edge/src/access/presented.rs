//! The credentials that a request shows.

use std::sync::Arc;

use http::header::AUTHORIZATION;
use http::{Extensions, HeaderMap, HeaderName};
use sha2::{Digest, Sha256};
use weft_core::Fault;

use super::challenge::invalid;
use crate::edge::PeerCertificate;

/// Holds a key of the access file.
pub(crate) const X_API_KEY: HeaderName = HeaderName::from_static("x-api-key");
/// A call with it carries a seal (RFC 9421).
const SIGNATURE_INPUT: HeaderName = HeaderName::from_static("signature-input");
/// Longest token or key, in bytes.
const BYTES_MAX: usize = 8_192;

/// What can be proved with; never logged.
pub(super) struct Presented {
    /// Empty: none.
    pub(super) bearer: String,
    /// Empty: none.
    pub(super) api_key: String,
    pub(super) certificate: Option<Arc<[u8]>>,
    pub(super) sealed: bool,
}

// === impl Presented ===

impl Presented {
    /// # Errors
    /// `Unauthenticated` for what cannot be a credential.
    pub(super) fn read(headers: &HeaderMap, extensions: &Extensions) -> Result<Presented, Fault> {
        let bearer = match single(headers, &AUTHORIZATION)? {
            None => String::new(),
            Some(value) => match value.split_once(' ') {
                Some((scheme, token)) if scheme.eq_ignore_ascii_case("bearer") => visible(token.trim())?,
                _ => return Err(invalid()),
            },
        };
        let api_key = single(headers, &X_API_KEY)?.map_or(Ok(String::new()), visible)?;
        let certificate = extensions.get::<PeerCertificate>().map(|shown| Arc::clone(&shown.0));
        Ok(Presented { bearer, api_key, certificate, sealed: headers.contains_key(&SIGNATURE_INPUT) })
    }

    pub(super) fn is_nothing(&self) -> bool {
        !self.names_itself() && self.certificate.is_none()
    }

    /// Whether it shows more than what the connection says by itself.
    pub(super) fn names_itself(&self) -> bool {
        !self.bearer.is_empty() || !self.api_key.is_empty() || self.sealed
    }

    /// Under which answers are kept: SHA-256 of all of it.
    pub(super) fn digest(&self) -> [u8; 32] {
        let certificate = self.certificate.as_deref().unwrap_or_default();
        let mut digest = Sha256::new();
        for part in [self.bearer.as_bytes(), self.api_key.as_bytes(), certificate] {
            digest.update((part.len() as u64).to_le_bytes());
            digest.update(part);
        }
        digest.finalize().into()
    }
}

fn single<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Result<Option<&'h str>, Fault> {
    let mut values = headers.get_all(name).iter();
    match (values.next(), values.next()) {
        (None, _) => Ok(None),
        (Some(only), None) => only.to_str().map(|text| Some(text.trim())).map_err(|_| invalid()),
        _ => Err(invalid()),
    }
}

fn visible(text: &str) -> Result<String, Fault> {
    let fits = (1..=BYTES_MAX).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_graphic());
    if fits { Ok(text.to_owned()) } else { Err(invalid()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(pairs: &[(&'static str, &str)]) -> Result<Presented, Fault> {
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            headers.append(HeaderName::from_static(name), value.parse().unwrap());
        }
        Presented::read(&headers, &Extensions::new())
    }

    #[test]
    fn a_token_and_a_key_are_read_and_what_is_neither_is_refused() {
        assert!(read(&[]).is_ok_and(|shown| shown.is_nothing()));
        assert_eq!(read(&[("authorization", "bEaReR  abc")]).unwrap().bearer, "abc");
        assert_eq!(read(&[("x-api-key", " k ")]).unwrap().api_key, "k");
        for bad in ["", "abc", "Bearer", "Bearer ", "Basic abc", "Bearer a b", "Bearer é"] {
            assert!(read(&[("authorization", bad)]).is_err(), "{bad:?}");
        }
        assert!(read(&[("authorization", "Bearer a"), ("authorization", "Bearer a")]).is_err());
        assert!(read(&[("x-api-key", "")]).is_err() && read(&[("x-api-key", &"x".repeat(9_000))]).is_err());
    }

    #[test]
    fn no_two_credentials_are_kept_under_one_digest() {
        let digest = |bearer: &str, api_key: &str, certificate: Option<&[u8]>| {
            let certificate = certificate.map(Arc::from);
            Presented { bearer: bearer.into(), api_key: api_key.into(), certificate, sealed: false }.digest()
        };
        let all = [
            digest("ab", "", None),
            digest("a", "b", None),
            digest("", "ab", None),
            digest("", "", Some(b"ab")),
            digest("ab", "", Some(b"x")),
        ];
        assert_eq!(std::collections::BTreeSet::from(all).len(), all.len());
    }
}
