//! To whom a task belongs.
//!
//! The task store scopes every operation by owner and treats the canonical text as opaque; only the edge makes owners.

use std::fmt;

use crate::Fault;

/// The canonical text of an owner: 1 to 256 visible ASCII characters.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Owner(String);

/// Longest canonical text.
const CHARS_MAX: usize = 256;

impl Owner {
    /// The one principal of a tokenless loopback listener: may list, replays only by `Idempotency-Key`.
    pub fn local() -> Owner {
        Owner("local".to_owned())
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

impl fmt::Display for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_owner_is_visible_ascii_within_its_bound() {
        assert!(Owner::parse("local").is_ok());
        for bad in ["", " ", "a b", "é", "a\n", &"x".repeat(257)] {
            assert!(Owner::parse(bad).is_err(), "{bad:?}");
        }
    }
}
