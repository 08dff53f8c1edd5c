//! What comes back over either way: a head, then a body in pieces.

use bytes::Bytes;
use http::header::{CONTENT_TYPE, RETRY_AFTER};
use http::{HeaderMap, StatusCode};
use weft_chassis::outbound::causes;
use weft_proto::json::{self, JsonFault};
use weft_proto::weft::InvokeResult;

use super::{EVENT_STREAM, hosted};
use crate::failure::Failure;

/// Most bytes of a refusal that are read.
const REFUSAL_BYTES_MAX: usize = 16 * 1024;

/// See the module.
pub(crate) struct Reply {
    status: StatusCode,
    headers: HeaderMap,
    body: Body,
}

pub(super) enum Body {
    /// From a node in this process.
    Near(tonic::body::Body),
    /// From a node elsewhere.
    Far(reqwest::Response),
}

impl Reply {
    pub(super) fn near(response: http::Response<tonic::body::Body>) -> Reply {
        let (head, body) = response.into_parts();
        Reply { status: head.status, headers: head.headers, body: Body::Near(body) }
    }

    pub(super) fn far(mut response: reqwest::Response) -> Reply {
        Reply {
            status: response.status(),
            headers: std::mem::take(response.headers_mut()),
            body: Body::Far(response),
        }
    }

    /// True when the answer comes as events.
    pub(super) fn is_events(&self) -> bool {
        let media_type =
            self.headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
        media_type.split(';').next().unwrap_or_default().trim().eq_ignore_ascii_case(EVENT_STREAM)
    }

    /// Itself when the node took the call, else why it did not.
    pub(super) async fn accepted(mut self) -> Result<Reply, Failure> {
        if self.status == StatusCode::OK {
            return Ok(self);
        }
        let text = match self.whole(REFUSAL_BYTES_MAX).await {
            Ok(body) => body,
            Err(_) => Bytes::new(),
        };
        let stated = json::decode::<InvokeResult>(&text).ok().filter(|result| !result.error.is_empty());
        Err(refusal(self.status, &self.headers, stated.as_ref()))
    }

    /// The next piece of the body; `None` at its end.
    pub(super) async fn chunk(&mut self) -> Result<Option<Bytes>, Failure> {
        let chunk = match &mut self.body {
            Body::Near(body) => hosted::chunk(body).await,
            Body::Far(response) => response.chunk().await.map_err(|error| causes(&error)),
        };
        chunk.map_err(Failure::Broken)
    }

    /// The whole body, when it is no larger than this.
    pub(super) async fn whole(&mut self, bytes_max: usize) -> Result<Bytes, Failure> {
        let mut whole = Vec::new();
        while let Some(chunk) = self.chunk().await? {
            if whole.len() + chunk.len() > bytes_max {
                return Err(too_large(bytes_max));
            }
            whole.extend_from_slice(&chunk);
        }
        Ok(whole.into())
    }
}

pub(super) fn too_large(bytes_max: usize) -> Failure {
    Failure::Garbage(format!("more than {bytes_max} bytes"))
}

/// What came is not the message it should be.
#[allow(clippy::needless_pass_by_value, reason = "it is handed to map_err")]
pub(super) fn garbled(fault: JsonFault) -> Failure {
    Failure::Garbage(fault.to_string())
}

/// What a status other than 200 means. What the node says itself counts more than the number.
fn refusal(status: StatusCode, headers: &HeaderMap, stated: Option<&InvokeResult>) -> Failure {
    let number = status.as_u16();
    let reason = match stated {
        Some(result) => Failure::of_result(result),
        None => Failure::Error { code: String::new(), reason: format!("HTTP status {number}") },
    };
    let (code, reason) = match reason {
        Failure::Denied { code, reason } | Failure::Error { code, reason } => (code, reason),
        other => (other.code().to_owned(), String::new()),
    };
    let code_or = |fallback: &str| if stated.is_some() { code.clone() } else { fallback.to_owned() };
    match number {
        // "Come back later" is no failure of the tool.
        429 | 502 | 503 | 504 => {
            let after = headers.get(RETRY_AFTER).and_then(|value| value.to_str().ok());
            let after = after.map_or_else(String::new, |seconds| format!(", after {seconds} s"));
            Failure::Unreachable(format!("{reason}{after}"))
        }
        401 | 403 | 404 | 405 | 421 => Failure::Denied { code: code_or("DENIED"), reason },
        300..=399 => Failure::Denied {
            code: "REDIRECTED".to_owned(),
            reason: "it points elsewhere, and a seal holds for one target only".to_owned(),
        },
        200..=299 => Failure::Garbage(format!("HTTP status {number}")),
        _ if stated.is_some_and(|result| result.denied) => Failure::Denied { code, reason },
        _ => Failure::Error { code: code_or("NODE_FAILED"), reason },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(status: u16, stated: Option<&InvokeResult>) -> (String, &'static str) {
        let failure = refusal(StatusCode::from_u16(status).unwrap(), &HeaderMap::new(), stated);
        (failure.code().to_owned(), failure.outcome())
    }

    #[test]
    fn a_status_says_whether_the_node_refused_failed_or_is_away() {
        for away in [429, 502, 503, 504] {
            assert_eq!(code(away, None), ("NODE_UNREACHABLE".into(), "unreachable"), "{away}");
        }
        for denied in [401, 403, 404, 405, 421] {
            assert_eq!(code(denied, None), ("DENIED".into(), "denied"), "{denied}");
        }
        assert_eq!(code(302, None), ("REDIRECTED".into(), "denied"));
        assert_eq!(code(500, None), ("NODE_FAILED".into(), "error"));
        assert_eq!(code(204, None), ("INVALID_AGENT_RESPONSE".into(), "error"));
    }

    #[test]
    fn what_the_node_states_itself_counts_more_than_the_number() {
        let stated = |denied| InvokeResult {
            error: "no such tool".into(),
            code: "UNKNOWN_TOOL".into(),
            denied,
            ..InvokeResult::default()
        };
        assert_eq!(code(404, Some(&stated(true))), ("UNKNOWN_TOOL".into(), "denied"));
        assert_eq!(code(400, Some(&stated(true))), ("UNKNOWN_TOOL".into(), "denied"));
        assert_eq!(code(500, Some(&stated(false))), ("UNKNOWN_TOOL".into(), "error"));
    }
}
