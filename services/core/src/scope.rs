//! What a principal may do, in the words of OAuth 2.0 scopes (RFC 6749 §3.3).

use crate::{Fault, Kind};

/// Reading: cards, tasks, streams, webhooks.
pub const READ: &str = "a2a:read";
/// Sending messages, cancelling tasks, setting and removing webhooks.
pub const WRITE: &str = "a2a:write";
/// The operator's console and its calls, other owners' data.
pub const ADMIN: &str = "weft:admin";

/// Longest name of a scope.
const CHARS_MAX: usize = 128;

/// Whether a text can name a scope: visible ASCII without `"` and `\`, 1 to 128 characters.
#[must_use]
pub fn is_scope(text: &str) -> bool {
    let fits = |b: u8| b.is_ascii_graphic() && b != b'"' && b != b'\\';
    (1..=CHARS_MAX).contains(&text.len()) && text.bytes().all(fits)
}

/// Whether scopes hold the one that is needed. An administrator's hold every one.
#[must_use]
pub fn holds(held: &[String], needed: &str) -> bool {
    held.iter().any(|scope| scope == needed || scope == ADMIN)
}

/// # Errors
/// `Denied`, with the missing scope as metadata `scope`.
pub fn require(held: &[String], needed: &str) -> Result<(), Fault> {
    if holds(held, needed) {
        return Ok(());
    }
    Err(Fault::new(Kind::Denied, format!("the credentials lack the scope {needed}")).with("scope", needed))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_scope_is_named() {
        let held = [READ.to_owned()];
        assert_eq!(require(&held, READ), Ok(()));
        let fault = require(&held, WRITE).unwrap_err();
        assert_eq!((fault.kind, fault.metadata["scope"].as_str()), (Kind::Denied, WRITE));
        assert_eq!(require(&[ADMIN.to_owned()], "crm:read"), Ok(()));
    }

    #[test]
    fn a_scope_has_no_quotes_and_no_spaces() {
        assert!(is_scope("crm:read"));
        for bad in ["", "a b", "a\"", "a\\b", "é", &"x".repeat(129)] {
            assert!(!is_scope(bad), "{bad:?}");
        }
    }
}
