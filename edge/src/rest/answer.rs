//! Answers and refusals of the HTTP+JSON binding (A2A v1.0 §11.6).

use axum::body::Body;
use http::header::{ACCEPT, ALLOW, CACHE_CONTROL, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue, Response, StatusCode};
use serde::Serialize;
use weft_core::Fault;

use crate::details::{self, Detail};
use crate::observe::Refused;
use crate::{early, plain};

const A2A_JSON: HeaderValue = HeaderValue::from_static("application/a2a+json");
const JSON: HeaderValue = HeaderValue::from_static("application/json");

/// A fault under an HTTP status.
#[derive(Debug)]
pub(crate) struct Refusal {
    status: StatusCode,
    fault: Fault,
    allow: Option<&'static str>,
    /// The caller knows the form of v0.3.
    old: bool,
}

impl From<Fault> for Refusal {
    fn from(fault: Fault) -> Refusal {
        Refusal { status: early::status(&fault), fault, allow: None, old: false }
    }
}

impl Refused for Refusal {
    fn reason(&self) -> &'static str {
        self.fault.kind.row().reason
    }

    fn code(&self) -> i32 {
        i32::from(self.status.as_u16())
    }

    fn fault(&self) -> Option<&Fault> {
        Some(&self.fault)
    }
}

// === impl Refusal ===

impl Refusal {
    /// Under a status that is not the one of the fault's kind.
    pub(crate) fn under(status: StatusCode, fault: Fault) -> Refusal {
        Refusal { status, fault, allow: None, old: false }
    }

    /// The path is there for other methods.
    pub(super) fn method(allow: &'static str, fault: Fault) -> Refusal {
        Refusal { status: StatusCode::METHOD_NOT_ALLOWED, fault, allow: Some(allow), old: false }
    }

    /// The same for a caller of v0.3, in its words.
    pub(super) fn old(self, worded: impl FnOnce(Fault) -> Fault) -> Refusal {
        Refusal { fault: worded(self.fault), old: true, ..self }
    }

    /// The body: `google.rpc.Status` as AIP-193 writes it over HTTP.
    pub(super) fn body(&self) -> Vec<u8> {
        if self.old {
            return weft_v03::rest::error(&self.fault, &details::of(&self.fault));
        }
        let error = Error {
            code: self.status.as_u16(),
            status: name_of(self.fault.kind.row().grpc),
            message: &self.fault.message,
            details: details::of(&self.fault),
        };
        serde_json::to_vec(&Document { error }).expect("texts and ordered maps have a JSON form")
    }

    /// The whole answer.
    pub(crate) fn answer(&self, asked: &HeaderMap) -> Response<Body> {
        let mut answer = json(self.status, asked, self.body());
        answer.headers_mut().extend(plain::advice(&self.fault));
        if let Some(allow) = self.allow {
            answer.headers_mut().insert(ALLOW, HeaderValue::from_static(allow));
        }
        answer
    }
}

#[derive(Serialize)]
struct Document<'a> {
    error: Error<'a>,
}

#[derive(Serialize)]
struct Error<'a> {
    code: u16,
    status: &'static str,
    message: &'a str,
    details: Vec<Detail<'a>>,
}

/// JSON, under the media type that the caller speaks: `application/a2a+json` to those who name it, the plain one to
/// everybody else, since not every client reads the other.
pub(super) fn json(status: StatusCode, asked: &HeaderMap, body: Vec<u8>) -> Response<Body> {
    let named = |name| {
        asked.get_all(name).iter().any(|value| {
            value.to_str().is_ok_and(|text| text.to_ascii_lowercase().contains("application/a2a+json"))
        })
    };
    let kind = if named(CONTENT_TYPE) || named(ACCEPT) { A2A_JSON } else { JSON };
    let mut answer = Response::new(Body::from(body));
    *answer.status_mut() = status;
    answer.headers_mut().insert(CONTENT_TYPE, kind);
    // What one caller may see is nobody else's, and old by the next change.
    answer.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    answer
}

/// The name of a gRPC status code.
const fn name_of(code: i32) -> &'static str {
    match code {
        0 => "OK",
        1 => "CANCELLED",
        3 => "INVALID_ARGUMENT",
        4 => "DEADLINE_EXCEEDED",
        5 => "NOT_FOUND",
        6 => "ALREADY_EXISTS",
        7 => "PERMISSION_DENIED",
        8 => "RESOURCE_EXHAUSTED",
        9 => "FAILED_PRECONDITION",
        10 => "ABORTED",
        11 => "OUT_OF_RANGE",
        12 => "UNIMPLEMENTED",
        13 => "INTERNAL",
        14 => "UNAVAILABLE",
        15 => "DATA_LOSS",
        16 => "UNAUTHENTICATED",
        _ => "UNKNOWN",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use weft_core::Kind;

    use super::*;

    #[test]
    fn a_fault_is_written_with_status_name_and_details() {
        let fault = Fault::task_not_found("t1");
        let body: Value = serde_json::from_slice(&Refusal::from(fault).body()).unwrap();
        assert_eq!(
            body,
            json!({"error": {
                "code": 404,
                "status": "NOT_FOUND",
                "message": "task not found: t1",
                "details": [{"@type": "type.googleapis.com/google.rpc.ErrorInfo",
                    "reason": "TASK_NOT_FOUND", "domain": "a2a-protocol.org"}],
            }})
        );
    }

    #[test]
    fn every_kind_has_a_status_with_a_name() {
        for kind in Kind::ALL {
            let refusal = Refusal::from(Fault::new(kind, "x"));
            assert!(refusal.status.as_u16() >= 400, "{kind:?}");
            assert_ne!(name_of(kind.row().grpc), "UNKNOWN", "{kind:?}");
        }
    }

    #[test]
    fn the_media_type_mirrors_the_caller() {
        let kind = |name, value: &str| {
            let asked = HeaderMap::from_iter([(name, value.parse().unwrap())]);
            json(StatusCode::OK, &asked, Vec::new()).headers()[CONTENT_TYPE].clone()
        };
        assert_eq!(kind(ACCEPT, "application/a2a+json, application/json"), A2A_JSON);
        assert_eq!(kind(CONTENT_TYPE, "Application/A2A+JSON; charset=utf-8"), A2A_JSON);
        assert_eq!(kind(CONTENT_TYPE, "application/json"), JSON);
        assert_eq!(kind(ACCEPT, "*/*"), JSON);
    }
}
