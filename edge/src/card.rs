//! `GET /.well-known/agent-card.json`: the public card, with the caching of A2A v1.0 §8.6.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use bytes::Bytes;
use http::header::{CACHE_CONTROL, CONTENT_TYPE, ETAG, IF_MODIFIED_SINCE, IF_NONE_MATCH, LAST_MODIFIED};
use http::{HeaderMap, HeaderValue, Response, StatusCode};
use jiff::Timestamp as Instant;
use jiff::fmt::rfc2822::{DateTimeParser, DateTimePrinter};
use sha2::{Digest, Sha256};
use weft_proto::a2a::AgentCard;
use weft_proto::wkt::Timestamp;

use crate::edge::Edge;
use crate::json;

/// A card as it is served: bytes, strong tag over them, time of the last change.
#[derive(Debug, Clone)]
pub(crate) struct Served {
    pub(crate) bytes: Bytes,
    pub(crate) etag: HeaderValue,
    /// Whole seconds since the Unix epoch, as HTTP dates have them.
    modified_s: i64,
}

// === impl Served ===

impl Served {
    pub(crate) fn new(card: &AgentCard, changed: Timestamp) -> Served {
        let mut bytes = Vec::with_capacity(4_096);
        // A projection of text holds nothing that JSON cannot say.
        if let Err(fault) = json::encode(card, &mut bytes) {
            tracing::error!(error = fault.message, "the agent card cannot be written");
        }
        let etag = etag(&bytes);
        Served { bytes: bytes.into(), etag, modified_s: 0 }.changed_at(changed)
    }

    pub(crate) fn changed_at(mut self, changed: Timestamp) -> Served {
        self.modified_s = changed.seconds;
        self
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

/// Serves the card.
pub(crate) async fn serve(State(edge): State<Arc<Edge>>, headers: HeaderMap) -> Response<Body> {
    let view = match edge.catalog().view() {
        Ok(view) => view,
        Err(fault) => return crate::plain::fault(&fault),
    };
    let card = &view.card;
    let fresh = is_fresh(&headers, card);
    let cache = format!("public, max-age={}", edge.settings().card_max_age_s);
    let answer = Response::builder()
        .status(if fresh { StatusCode::NOT_MODIFIED } else { StatusCode::OK })
        .header(CACHE_CONTROL, cache)
        .header(ETAG, &card.etag);
    let answer = match card.last_modified() {
        Some(date) => answer.header(LAST_MODIFIED, date),
        None => answer,
    };
    let answer = if fresh {
        answer.body(Body::empty())
    } else {
        answer.header(CONTENT_TYPE, "application/json").body(Body::from(card.bytes.clone()))
    };
    answer.expect("every header is well-formed")
}

/// RFC 9110 §13.2.2: `If-None-Match` decides alone when it is there.
fn is_fresh(headers: &HeaderMap, card: &Served) -> bool {
    let mut tags = headers.get_all(IF_NONE_MATCH).iter().peekable();
    if tags.peek().is_some() {
        return tags.any(|list| list.to_str().is_ok_and(|list| names(list, &card.etag)));
    }
    let since = headers.get(IF_MODIFIED_SINCE).and_then(|v| v.to_str().ok());
    let since = since.and_then(|date| DateTimeParser::new().parse_timestamp(date).ok());
    since.is_some_and(|since| card.modified_s <= since.as_second())
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
