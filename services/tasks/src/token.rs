//! Page tokens: opaque, bound to owner and filters, not to be made by anyone else.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use weft_core::Fault;
use weft_core::list::{Cursor, Query};

/// Bytes of the code that is kept of the full one.
const CODE_BYTES: usize = 16;

/// The token that leads on from `cursor` under `query`.
pub(crate) fn seal(secret: &[u8; 32], query: &Query, cursor: Cursor) -> String {
    let mut token = cursor.bytes().to_vec();
    token.extend_from_slice(&code(secret, query, cursor).finalize().into_bytes()[..CODE_BYTES]);
    URL_SAFE_NO_PAD.encode(token)
}

/// The token that leads on from `place` within `scope`.
pub(crate) fn seal_place(secret: &[u8; 32], scope: &str, place: &[u8]) -> String {
    let code = place_code(secret, scope, place).finalize().into_bytes();
    URL_SAFE_NO_PAD.encode([&code[..CODE_BYTES], place].concat())
}

/// The place in a token that we made for this scope.
///
/// # Errors
/// `Invalid` on `pageToken` for any other text.
pub(crate) fn open_place(secret: &[u8; 32], scope: &str, token: &str) -> Result<Vec<u8>, Fault> {
    let bytes = URL_SAFE_NO_PAD.decode(token).map_err(|_| bad())?;
    let (given, place) = bytes.split_first_chunk::<CODE_BYTES>().ok_or_else(bad)?;
    place_code(secret, scope, place).verify_truncated_left(given).map_err(|_| bad())?;
    Ok(place.to_vec())
}

/// What is said of a token that is not ours.
pub(crate) fn bad() -> Fault {
    let text = "is not a token of this list; use nextPageToken as it was given, with the same filters, or start again without it";
    Fault::invalid("pageToken", text)
}

/// The cursor in a token that we made for this owner and these filters.
///
/// # Errors
/// `Invalid` on `pageToken` for any other text.
pub(crate) fn open(secret: &[u8; 32], query: &Query, token: &str) -> Result<Cursor, Fault> {
    let bytes: [u8; Cursor::BYTES + CODE_BYTES] =
        URL_SAFE_NO_PAD.decode(token).ok().and_then(|bytes| bytes.try_into().ok()).ok_or_else(bad)?;
    let (cursor, given) = bytes.split_first_chunk().ok_or_else(bad)?;
    let cursor = Cursor::read(cursor);
    code(secret, query, cursor).verify_truncated_left(given).map_err(|_| bad())?;
    Ok(cursor)
}

fn place_code(secret: &[u8; 32], scope: &str, place: &[u8]) -> Hmac<Sha256> {
    let mut code = Hmac::<Sha256>::new_from_slice(secret).expect("a key may have any length");
    code.update(b"weft place 1\0");
    code.update(&(scope.len() as u64).to_be_bytes());
    code.update(scope.as_bytes());
    code.update(place);
    code
}

fn code(secret: &[u8; 32], query: &Query, cursor: Cursor) -> Hmac<Sha256> {
    let mut code = Hmac::<Sha256>::new_from_slice(secret).expect("a key may have any length");
    code.update(b"weft list page 1\0");
    code.update(&query.scope());
    code.update(&cursor.bytes());
    code
}

#[cfg(test)]
mod tests {
    use super::*;
    use weft_core::Owner;
    use weft_proto::a2a::ListTasksRequest;

    fn query(owner: &str, context: &str) -> Query {
        let request = ListTasksRequest { context_id: context.into(), ..ListTasksRequest::default() };
        Query::check(Owner::parse(owner).unwrap(), &request).unwrap()
    }

    #[test]
    fn a_token_opens_under_its_own_list_only() {
        let (secret, cursor) = ([7; 32], Cursor { status_ms: 5, task: [9; 16] });
        let token = seal(&secret, &query("local", ""), cursor);
        assert_eq!(open(&secret, &query("local", ""), &token), Ok(cursor));
        for (secret, query) in
            [(secret, query("other", "")), (secret, query("local", "c")), ([8; 32], query("local", ""))]
        {
            assert_eq!(open(&secret, &query, &token).unwrap_err().violations[0].field, "pageToken");
        }
    }

    #[test]
    fn a_place_opens_within_its_scope_only() {
        let secret = [7; 32];
        let token = seal_place(&secret, "task a", b"hook");
        assert_eq!(open_place(&secret, "task a", &token).unwrap(), b"hook");
        assert!(
            open_place(&secret, "task b", &token).is_err() && open_place(&[8; 32], "task a", &token).is_err()
        );
        for bad in ["", "x", "%%%", &token[1..], &format!("{token}AA")] {
            assert!(open_place(&secret, "task a", bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_changed_token_is_refused_wherever_it_was_changed() {
        let (secret, query) = ([7; 32], query("local", ""));
        let token = seal(&secret, &query, Cursor { status_ms: 5, task: [9; 16] });
        for at in 0..token.len() {
            let mut forged = token.clone().into_bytes();
            forged[at] = if forged[at] == b'A' { b'B' } else { b'A' };
            let forged = String::from_utf8(forged).unwrap();
            assert!(open(&secret, &query, &forged).is_err(), "{at}");
        }
        for bad in ["", "x", "%%%", &token[1..], &format!("{token}A")] {
            assert!(open(&secret, &query, bad).is_err(), "{bad}");
        }
    }
}
