//! An agent's refusal, read back into the mesh's list of faults: by the reason that its details name, else by its code.
//!
//! A code alone can be shared by several faults; what was asked for then decides. Nothing here fails: what cannot be
//! read keeps the meaning of its status.

use std::collections::BTreeMap;
use std::time::Duration;

use http::{HeaderMap, StatusCode, header};
use serde::Deserialize;
use serde_json::Value;
use tonic::{Code, Status};
use tonic_types::StatusExt;
use weft_chassis::status;
use weft_core::{Fault, Kind, Violation};

use crate::error::{Refusal, Why};

/// What an operation is about, where a code alone does not tell the fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum About {
    /// A task.
    Task,
    /// The end of a task.
    Cancel,
    /// A webhook.
    Push,
    /// The card.
    Card,
}

/// Longest text of an agent that goes into a message, in characters.
const TEXT_MAX: usize = 400;

/// The `error` member of a JSON-RPC answer.
#[derive(Debug, Deserialize)]
pub(crate) struct RpcError {
    code: i64,
    #[serde(default)]
    message: String,
    #[serde(default)]
    data: Value,
}

/// The error body of HTTP+JSON: `google.rpc.Status` in JSON, under `error`.
#[derive(Debug, Deserialize)]
struct RestBody {
    error: RestError,
}

#[derive(Debug, Deserialize)]
struct RestError {
    #[serde(default)]
    code: Option<u16>,
    #[serde(default)]
    message: String,
    #[serde(default)]
    details: Value,
}

/// JSON-RPC's own "method not found".
pub(crate) const METHOD_NOT_FOUND: i64 = -32601;

/// From a JSON-RPC error object.
pub(crate) fn of_rpc(error: &RpcError, headers: &HeaderMap) -> Why {
    let by_code = match error.code {
        -32700 | -32600 => Kind::Invalid,
        METHOD_NOT_FOUND => Kind::UnsupportedOperation,
        code => {
            let known = Kind::ALL.into_iter().find(|kind| i64::from(kind.row().jsonrpc) == code);
            known.unwrap_or(Kind::Internal)
        }
    };
    // Version 1.0 gives a list of details; older agents an object of their own, or a text.
    let details = Details::read(&error.data);
    refused(details, by_code, &error.message, error.code, headers)
}

/// The error of an HTTP answer that is not a success; JSON of any of the usual forms, or something else.
pub(crate) fn of_http(status: StatusCode, headers: &HeaderMap, body: &[u8], about: About) -> Why {
    let by_status = of_status(status, about);
    let code = i64::from(status.as_u16());
    let Ok(json) = serde_json::from_slice::<Value>(body) else {
        let text = clip(&String::from_utf8_lossy(body));
        let message =
            if text.is_empty() { format!("HTTP {status}") } else { format!("HTTP {status}: {text}") };
        return refused(Details::default(), by_status, &message, code, headers);
    };
    if let Some(error) = json.get("error").filter(|error| error.is_object()) {
        // A JSON-RPC error with an HTTP status of its own.
        if json.get("jsonrpc").is_some()
            && let Ok(error) = RpcError::deserialize(error)
        {
            return of_rpc(&error, headers);
        }
        if let Ok(error) = RestError::deserialize(error) {
            return refused(Details::read(&error.details), by_status, &error.message, code, headers);
        }
    }
    // The body of version 0.3: the error object of JSON-RPC, alone.
    if json.get("code").and_then(Value::as_i64).is_some_and(|code| code < 0)
        && let Ok(error) = RpcError::deserialize(&json)
    {
        return of_rpc(&error, headers);
    }
    // RFC 9457, and servers that answer a plain `message`.
    let told = ["detail", "message", "title", "error"].into_iter().find_map(|name| json.get(name)?.as_str());
    let message = told.map_or_else(|| format!("HTTP {status}"), str::to_owned);
    refused(Details::default(), by_status, &message, code, headers)
}

/// An error object on a stream of HTTP+JSON; `None` when `json` is none.
pub(crate) fn on_stream(json: &[u8], about: About) -> Option<Why> {
    let body: RestBody = serde_json::from_slice(json).ok()?;
    let status = body.error.code.and_then(|code| StatusCode::from_u16(code).ok());
    let status = status.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let code = i64::from(status.as_u16());
    let details = Details::read(&body.error.details);
    Some(refused(details, of_status(status, about), &body.error.message, code, &HeaderMap::new()))
}

/// From a gRPC status.
pub(crate) fn of_grpc(status: &Status, about: About) -> Why {
    if let Some(broken) = transport(status) {
        return broken;
    }
    let mut fault = status::fault(status);
    let named = tonic_reason(status).is_some();
    if !named {
        fault.kind = match (status.code(), about) {
            (Code::NotFound, About::Task | About::Cancel) => Kind::TaskNotFound,
            (Code::FailedPrecondition | Code::Unimplemented, about) => precondition(about),
            // Nobody here asked for it: the other side gave up.
            (Code::Cancelled, _) => Kind::Unavailable,
            _ => fault.kind,
        };
    }
    Why::Refused(Box::new(Refusal { fault, code: i64::from(i32::from(status.code())) }))
}

fn tonic_reason(status: &Status) -> Option<Kind> {
    status.get_details_error_info().and_then(|info| Kind::from_reason(&info.reason))
}

/// A status that was made on this side, since the connection did not stand or broke.
fn transport(status: &Status) -> Option<Why> {
    let mut cause = std::error::Error::source(status);
    let broken = cause.is_some();
    while let Some(error) = cause {
        if let Some(error) = error.downcast_ref::<crate::http::HttpError>() {
            return Some(crate::http::why(error));
        }
        cause = error.source();
    }
    broken.then(|| Why::Broken(status.message().to_owned()))
}

fn precondition(about: About) -> Kind {
    match about {
        About::Task => Kind::UnsupportedOperation,
        About::Cancel => Kind::TaskNotCancelable,
        About::Push => Kind::PushNotificationNotSupported,
        About::Card => Kind::ExtendedAgentCardNotConfigured,
    }
}

fn of_status(status: StatusCode, about: About) -> Kind {
    match status.as_u16() {
        401 | 407 => Kind::Unauthenticated,
        403 => Kind::Denied,
        404 if matches!(about, About::Task | About::Cancel) => Kind::TaskNotFound,
        404 | 410 => Kind::NotFound,
        405 | 501 => Kind::UnsupportedOperation,
        408 | 504 => Kind::Deadline,
        409 if about == About::Cancel => Kind::TaskNotCancelable,
        409 => Kind::Conflict,
        413 => Kind::TooLarge,
        415 => Kind::ContentTypeNotSupported,
        429 => Kind::Exhausted,
        502 | 503 => Kind::Unavailable,
        code if code < 500 => Kind::Invalid,
        _ => Kind::Internal,
    }
}

fn refused(details: Details, by_code: Kind, message: &str, code: i64, headers: &HeaderMap) -> Why {
    let mut fault = Fault::new(details.kind.unwrap_or(by_code), clip(message));
    fault.violations = details.violations;
    fault.metadata = details.metadata;
    fault.retry_after_ms = details.retry_after_ms.or_else(|| retry_after(headers));
    Why::Refused(Box::new(Refusal { fault, code }))
}

/// `Retry-After` in seconds; a date is not read, since there is no clock here.
fn retry_after(headers: &HeaderMap) -> Option<u32> {
    let seconds: u32 = headers.get(header::RETRY_AFTER)?.to_str().ok()?.trim().parse().ok()?;
    Some(seconds.saturating_mul(1_000))
}

fn clip(text: &str) -> String {
    let mut clipped: String = text.trim().chars().filter(|c| !c.is_control()).take(TEXT_MAX).collect();
    if text.trim().chars().count() > TEXT_MAX {
        clipped.push('…');
    }
    clipped
}

/// What a list of `google.rpc` details says.
#[derive(Default)]
struct Details {
    kind: Option<Kind>,
    metadata: BTreeMap<String, String>,
    violations: Vec<Violation>,
    retry_after_ms: Option<u32>,
}

impl Details {
    fn read(list: &Value) -> Details {
        let mut details = Details::default();
        let one = std::slice::from_ref(list);
        for detail in list.as_array().map_or(one, Vec::as_slice) {
            let kind = detail.get("@type").and_then(Value::as_str).unwrap_or_default();
            match kind.rsplit('/').next() {
                Some("google.rpc.ErrorInfo") => details.info(detail),
                Some("google.rpc.BadRequest") => details.bad_request(detail),
                Some("google.rpc.RetryInfo") => details.retry(detail),
                _ => {}
            }
        }
        details
    }

    fn info(&mut self, detail: &Value) {
        self.kind = detail.get("reason").and_then(Value::as_str).and_then(Kind::from_reason);
        let facts = detail.get("metadata").and_then(Value::as_object).into_iter().flatten();
        let texts = facts.filter_map(|(key, value)| Some((key.clone(), value.as_str()?.to_owned())));
        self.metadata.extend(texts);
    }

    fn bad_request(&mut self, detail: &Value) {
        let text = |of: &Value, name| of.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
        let list = detail.get("fieldViolations").and_then(Value::as_array).into_iter().flatten();
        self.violations
            .extend(list.map(|v| Violation { field: text(v, "field"), description: text(v, "description") }));
    }

    /// A `google.protobuf.Duration` in JSON: seconds and an `s`.
    fn retry(&mut self, detail: &Value) {
        let delay = detail.get("retryDelay").and_then(Value::as_str).and_then(|text| text.strip_suffix('s'));
        let delay = delay.and_then(|s| s.parse().ok()).and_then(|s| Duration::try_from_secs_f64(s).ok());
        self.retry_after_ms = delay.map(|delay| u32::try_from(delay.as_millis()).unwrap_or(u32::MAX));
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn refusal(why: Why) -> Refusal {
        match why {
            Why::Refused(refusal) => *refusal,
            other => panic!("{other:?}"),
        }
    }

    fn rpc(error: Value) -> Refusal {
        refusal(of_rpc(&serde_json::from_value(error).unwrap(), &HeaderMap::new()))
    }

    #[test]
    fn every_kind_comes_back_from_its_json_rpc_code() {
        for kind in Kind::ALL {
            let read = rpc(json!({ "code": kind.row().jsonrpc, "message": "no" }));
            assert_eq!((read.fault.kind, read.code), (kind, i64::from(kind.row().jsonrpc)));
        }
    }

    #[test]
    fn the_reason_goes_before_the_code_and_the_details_are_kept() {
        let read = rpc(json!({ "code": -32603, "message": "no", "data": [
            { "@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "TASK_NOT_FOUND",
              "domain": "a2a-protocol.org", "metadata": { "taskId": "t1" } },
            { "@type": "type.googleapis.com/google.rpc.BadRequest",
              "fieldViolations": [{ "field": "id", "description": "is unknown" }] },
            { "@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "1.5s" },
        ]}));
        assert_eq!((read.fault.kind, read.code), (Kind::TaskNotFound, -32603));
        assert_eq!(read.fault.metadata["taskId"], "t1");
        assert_eq!(read.fault.violations[0].field, "id");
        assert_eq!(read.fault.retry_after_ms, Some(1_500));
    }

    #[test]
    fn odd_errors_are_still_errors() {
        assert_eq!(rpc(json!({ "code": -1 })).fault.kind, Kind::Internal);
        assert_eq!(
            rpc(json!({ "code": -32601, "message": "m", "data": "text" })).fault.kind,
            Kind::UnsupportedOperation
        );
        assert_eq!(rpc(json!({ "code": -32602, "data": { "a": [1] } })).fault.kind, Kind::Invalid);
        let long = "x".repeat(10_000);
        assert!(rpc(json!({ "code": -1, "message": long })).fault.message.chars().count() <= TEXT_MAX + 1);
    }

    #[test]
    fn an_http_error_is_read_in_each_of_its_forms() {
        let read = |status: u16, body: &str, about| {
            let headers = HeaderMap::from_iter([(header::RETRY_AFTER, "7".parse().unwrap())]);
            let read =
                refusal(of_http(StatusCode::from_u16(status).unwrap(), &headers, body.as_bytes(), about));
            (read.fault.kind, read.fault.message, read.code)
        };
        let rest = r#"{"error":{"code":400,"status":"FAILED_PRECONDITION","message":"m","details":[
            {"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"VERSION_NOT_SUPPORTED"}]}}"#;
        assert_eq!(read(400, rest, About::Task), (Kind::VersionNotSupported, "m".into(), 400));
        let rpc = r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32001,"message":"m"}}"#;
        assert_eq!(read(404, rpc, About::Card), (Kind::TaskNotFound, "m".into(), -32001));
        let problem = r#"{"type":"about:blank","title":"t","detail":"d","status":404}"#;
        assert_eq!(read(404, problem, About::Task), (Kind::TaskNotFound, "d".into(), 404));
        let old = r#"{"code":-32002,"type":"TaskNotCancelableError","message":"m","data":[]}"#;
        assert_eq!(read(409, old, About::Task), (Kind::TaskNotCancelable, "m".into(), -32002));
        assert_eq!(read(404, "", About::Push), (Kind::NotFound, "HTTP 404 Not Found".into(), 404));
        assert_eq!(read(409, "{}", About::Cancel).0, Kind::TaskNotCancelable);
        assert_eq!(read(401, "<html>who</html>", About::Task).0, Kind::Unauthenticated);
        assert_eq!(read(503, "[]", About::Task).0, Kind::Unavailable);
        let headers = HeaderMap::from_iter([(header::RETRY_AFTER, "7".parse().unwrap())]);
        let busy = refusal(of_http(StatusCode::TOO_MANY_REQUESTS, &headers, b"", About::Task));
        assert_eq!((busy.fault.kind, busy.fault.retry_after_ms), (Kind::Exhausted, Some(7_000)));
    }

    #[test]
    fn a_grpc_status_without_details_is_judged_by_what_was_asked_for() {
        let read = |status: Status, about| refusal(of_grpc(&status, about)).fault.kind;
        assert_eq!(read(Status::not_found("t"), About::Task), Kind::TaskNotFound);
        assert_eq!(read(Status::not_found("c"), About::Push), Kind::NotFound);
        assert_eq!(read(Status::failed_precondition("x"), About::Cancel), Kind::TaskNotCancelable);
        assert_eq!(read(Status::unimplemented("x"), About::Push), Kind::PushNotificationNotSupported);
        for kind in Kind::ALL {
            let sent = Fault::new(kind, "m").with("k", "v");
            let back = refusal(of_grpc(&status::status(sent.clone()), About::Cancel));
            assert_eq!(back.fault, sent);
        }
    }
}
