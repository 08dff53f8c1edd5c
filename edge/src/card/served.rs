//! A card as it is served: bytes, their tag, and the caching of A2A v1.0 §8.6.

use axum::body::Body;
use bytes::Bytes;
use http::header::{CACHE_CONTROL, CONTENT_TYPE, ETAG, IF_MODIFIED_SINCE, IF_NONE_MATCH, LAST_MODIFIED};
use http::{HeaderMap, HeaderValue, Response, StatusCode};
use jiff::Timestamp as Instant;
use jiff::fmt::rfc2822::{DateTimeParser, DateTimePrinter};
use sha2::{Digest, Sha256};
use weft_proto::wkt::Timestamp;

/// The bytes of a card, a strong tag over them, the time of the last change.
#[derive(Debug, Clone)]
pub(crate) struct Served {
    bytes: Bytes,
    etag: HeaderValue,
    /// Whole seconds since the Unix epoch, as HTTP dates have them.
    modified_s: i64,
}

// === impl Served ===

impl Served {
    pub(crate) fn new(bytes: Vec<u8>, changed: Timestamp) -> Served {
        Served { etag: etag(&bytes), bytes: bytes.into(), modified_s: changed.seconds }
    }

    /// Whether the bytes are the same.
    pub(crate) fn same_as(&self, other: &Served) -> bool {
        self.etag == other.etag
    }

    /// Answers a request with these headers; whoever has the card already is told so.
    pub(crate) fn answer(&self, asked: &HeaderMap, max_age_s: u32) -> Response<Body> {
        let fresh = self.is_fresh(asked);
        let answer = Response::builder()
            .status(if fresh { StatusCode::NOT_MODIFIED } else { StatusCode::OK })
            .header(CACHE_CONTROL, format!("public, max-age={max_age_s}"))
            .header(ETAG, &self.etag);
        let answer = match self.last_modified() {
            Some(date) => answer.header(LAST_MODIFIED, date),
            None => answer,
        };
        let answer = if fresh {
            answer.body(Body::empty())
        } else {
            answer.header(CONTENT_TYPE, "application/json").body(Body::from(self.bytes.clone()))
        };
        answer.expect("every header is well-formed")
    }

    /// RFC 9110 §13.2.2: `If-None-Match` decides alone when it is there.
    fn is_fresh(&self, asked: &HeaderMap) -> bool {
        let mut tags = asked.get_all(IF_NONE_MATCH).iter().peekable();
        if tags.peek().is_some() {
            return tags.any(|list| list.to_str().is_ok_and(|list| names(list, &self.etag)));
        }
        let since = asked.get(IF_MODIFIED_SINCE).and_then(|v| v.to_str().ok());
        let since = since.and_then(|date| DateTimeParser::new().parse_timestamp(date).ok());
        since.is_some_and(|since| self.modified_s <= since.as_second())
    }

    /// As an HTTP date; none for a time that has no such form.
    fn last_modified(&self) -> Option<String> {
        let at = Instant::from_second(self.modified_s).ok()?;
        DateTimePrinter::new().timestamp_to_rfc9110_string(&at).ok()
    }
}

/// A strong entity tag: the start of the SHA-256 of the bytes.
pub(crate) fn etag(bytes: &[u8]) -> HeaderValue {
    quoted(&Sha256::digest(bytes))
}

/// A digest as an entity tag.
pub(crate) fn quoted(digest: &[u8]) -> HeaderValue {
    let hex: String = digest.iter().take(16).map(|byte| format!("{byte:02x}")).collect();
    HeaderValue::try_from(format!("\"{hex}\"")).expect("hex digits and quotes are visible ASCII")
}

/// Whether a list of entity tags names this one; compared weakly, as `If-None-Match` is.
pub(crate) fn names(list: &str, etag: &HeaderValue) -> bool {
    let wanted = etag.as_bytes();
    list.trim() == "*"
        || list
            .split(',')
            .map(str::trim)
            .any(|tag| tag.strip_prefix("W/").unwrap_or(tag).as_bytes() == wanted)
}
