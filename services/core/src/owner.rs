//! To whom a task belongs.
//!
//! The task store scopes every operation by owner and treats the canonical text as opaque; only the edge makes owners.

use std::fmt;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest, Sha256};

use crate::Fault;

/// The canonical text of an owner: 1 to 256 visible ASCII characters.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Owner(String);

/// Longest canonical text.
const CHARS_MAX: usize = 256;
/// Longest name within it; leaves room for its kind and for the agent's id.
const NAME_CHARS_MAX: usize = 190;

impl Owner {
    /// The one principal of a tokenless loopback listener: may list, replays only by `Idempotency-Key`.
    pub fn local() -> Owner {
        Owner("local".to_owned())
    }

    /// A principal of the access file.
    ///
    /// # Errors
    /// `Invalid` when the name is not visible ASCII of at most 190 characters without `/`.
    pub fn principal(name: &str) -> Result<Owner, Fault> {
        named("p", name)
    }

    /// A subject at an identity provider. One whose name has other characters, or too many, is known by its digest.
    ///
    /// # Errors
    /// As for [`Owner::principal`], about the provider's name.
    pub fn subject(provider: &str, subject: &str) -> Result<Owner, Fault> {
        let plain = |b: u8| b.is_ascii_alphanumeric() || b"-_.@".contains(&b);
        if (1..=NAME_CHARS_MAX / 2).contains(&subject.len()) && subject.bytes().all(plain) {
            return named("oidc", &format!("{provider}:{subject}"));
        }
        // `=` is in no plain name, so no two subjects meet.
        named("oidc", &format!("{provider}:={}", digest(subject)))
    }

    /// Whoever bears a task access token. Only its digest is known.
    #[must_use]
    pub fn bearer_of(token: &str) -> Owner {
        Owner(format!("anon:{}", digest(token)))
    }

    /// Reads a canonical text.
    ///
    /// # Errors
    /// `Invalid` on `owner` when it is empty, too long or not visible ASCII.
    pub fn parse(text: impl Into<String>) -> Result<Owner, Fault> {
        let text = text.into();
        let fits = (1..=CHARS_MAX).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_graphic());
        if fits {
            Ok(Owner(text))
        } else {
            Err(Fault::invalid("owner", "must be 1 to 256 visible ASCII characters"))
        }
    }

    /// The same owner in the space of one agent of the mesh (a tenant, which is a node id); the mesh itself has the
    /// empty name. What an owner has in one space is not seen from another.
    #[must_use]
    pub fn in_tenant(&self, tenant: &str) -> Owner {
        if tenant.is_empty() { self.clone() } else { Owner(format!("{tenant}/{}", self.0)) }
    }

    /// The canonical text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Base64url of the SHA-256, 43 characters.
fn digest(text: &str) -> String {
    URL_SAFE_NO_PAD.encode(Sha256::digest(text.as_bytes()))
}

fn named(kind: &str, name: &str) -> Result<Owner, Fault> {
    let fits =
        (1..=NAME_CHARS_MAX).contains(&name.len()) && name.bytes().all(|b| b.is_ascii_graphic() && b != b'/');
    if fits {
        Ok(Owner(format!("{kind}:{name}")))
    } else {
        let text = format!("must be 1 to {NAME_CHARS_MAX} visible ASCII characters without a slash");
        Err(Fault::invalid("name", text))
    }
}

impl fmt::Display for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_of_owners_never_meet() {
        let all = [
            Owner::local(),
            Owner::principal("local").unwrap(),
            Owner::principal("corp:alice").unwrap(),
            Owner::subject("corp", "alice").unwrap(),
            Owner::subject("corp", "alice cooper").unwrap(),
            Owner::subject("corp", &digest("alice cooper")).unwrap(),
            Owner::bearer_of("alice"),
        ];
        let texts: std::collections::BTreeSet<_> = all.iter().map(Owner::as_str).collect();
        assert_eq!(texts.len(), all.len());
        assert!(all.iter().all(|owner| Owner::parse(owner.as_str()).is_ok()));
        assert!(Owner::principal("a/b").is_err() && Owner::principal("").is_err());
        assert!(!Owner::bearer_of("secret").as_str().contains("secret"));
    }

    #[test]
    fn an_owner_is_visible_ascii_within_its_bound() {
        assert!(Owner::parse("local").is_ok());
        for bad in ["", " ", "a b", "é", "a\n", &"x".repeat(257)] {
            assert!(Owner::parse(bad).is_err(), "{bad:?}");
        }
    }
}
