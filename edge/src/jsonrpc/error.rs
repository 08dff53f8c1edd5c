//! The JSON-RPC error object of A2A v1.0 §9.5: code, message, and details as `google.rpc` messages.

use std::borrow::Cow;

use serde::Serialize;
use weft_core::Fault;
use weft_core::fault::WEFT_DOMAIN;

use super::envelope::{Id, Malformed};
use crate::details::{self, Detail};
use crate::observe::Refused;

/// What a call is refused with.
#[derive(Debug)]
pub(crate) enum Refusal {
    /// The body is not JSON.
    Parse,
    /// The body is no request object; says why.
    Request(&'static str),
    /// No such method; says which.
    Method(String),
    /// The operation failed.
    Fault(Fault),
    /// The operation failed, and the caller knows the codes of v0.3.
    Old(Fault),
}

impl From<Fault> for Refusal {
    fn from(fault: Fault) -> Refusal {
        Refusal::Fault(fault)
    }
}

impl<'a> Malformed<'a> {
    /// The id to answer to, and what with.
    pub(crate) fn refusal(self) -> (Id<'a>, Refusal) {
        match self {
            Malformed::Syntax => (Id::NULL, Refusal::Parse),
            Malformed::Request(id, why) => (id, Refusal::Request(why)),
        }
    }
}

// === impl Refusal ===

impl Refusal {
    /// The whole response object.
    pub(crate) fn envelope(&self, id: Id<'_>) -> Vec<u8> {
        let mut out = Vec::with_capacity(256);
        out.extend_from_slice(br#"{"jsonrpc":"2.0","id":"#);
        out.extend_from_slice(id.as_str().as_bytes());
        out.extend_from_slice(br#","error":"#);
        let error = Object { code: self.code(), message: self.message(), data: self.details() };
        serde_json::to_writer(&mut out, &error).expect("texts and ordered maps have a JSON form");
        out.push(b'}');
        out
    }

    fn message(&self) -> Cow<'_, str> {
        match self {
            Refusal::Parse => "the body is not valid JSON".into(),
            Refusal::Request(why) => format!("not a JSON-RPC request: {why}").into(),
            Refusal::Method(name) => {
                let shown: String = name.chars().filter(|c| !c.is_control()).take(80).collect();
                let remedy =
                    if shown.contains('/') { ": names are those of A2A 1.0, like SendMessage" } else { "" };
                format!("no method {shown}{remedy}").into()
            }
            Refusal::Fault(fault) | Refusal::Old(fault) => fault.message.as_str().into(),
        }
    }

    fn details(&self) -> Vec<Detail<'_>> {
        match self {
            Refusal::Fault(fault) | Refusal::Old(fault) => details::of(fault),
            _ => vec![Detail::ErrorInfo { reason: self.reason(), domain: WEFT_DOMAIN, metadata: None }],
        }
    }
}

impl Refused for Refusal {
    fn reason(&self) -> &'static str {
        match self {
            Refusal::Parse => "PARSE_ERROR",
            Refusal::Request(_) => "INVALID_REQUEST",
            Refusal::Method(_) => "METHOD_NOT_FOUND",
            Refusal::Fault(fault) | Refusal::Old(fault) => fault.kind.row().reason,
        }
    }

    fn code(&self) -> i32 {
        match self {
            Refusal::Parse => -32700,
            Refusal::Request(_) => -32600,
            Refusal::Method(_) => -32601,
            Refusal::Fault(fault) => fault.kind.row().jsonrpc,
            Refusal::Old(fault) => weft_v03::fault::code(fault.kind),
        }
    }

    fn fault(&self) -> Option<&Fault> {
        match self {
            Refusal::Fault(fault) | Refusal::Old(fault) => Some(fault),
            _ => None,
        }
    }
}

#[derive(Serialize)]
struct Object<'a> {
    code: i32,
    message: Cow<'a, str>,
    data: Vec<Detail<'a>>,
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use weft_core::Kind;

    use super::*;

    fn written(refusal: impl Into<Refusal>) -> Value {
        serde_json::from_slice(&refusal.into().envelope(Id::NULL)).unwrap()
    }

    #[test]
    fn a_fault_is_written_with_its_code_and_every_detail() {
        let mut fault = Fault::invalid("message.parts", "must hold at least one part").with("taskId", "t1");
        fault.retry_after_ms = Some(1_500);
        assert_eq!(
            written(fault),
            json!({"jsonrpc": "2.0", "id": null, "error": {
                "code": -32602,
                "message": "message.parts: must hold at least one part",
                "data": [
                    {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "INVALID_PARAMS",
                     "domain": "weft", "metadata": {"taskId": "t1"}},
                    {"@type": "type.googleapis.com/google.rpc.BadRequest", "fieldViolations": [
                        {"field": "message.parts", "description": "must hold at least one part"}]},
                    {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "1.500s"},
                ],
            }})
        );
    }

    #[test]
    fn every_kind_of_fault_has_its_own_code_on_the_wire() {
        for kind in Kind::ALL {
            let error = &written(Fault::new(kind, "x"))["error"];
            assert_eq!(error["code"], kind.row().jsonrpc);
            assert_eq!(error["data"][0]["reason"], kind.row().reason);
            assert_eq!(error["data"][0]["domain"], kind.row().domain);
        }
    }

    #[test]
    fn faults_of_the_envelope_have_the_codes_of_json_rpc() {
        assert_eq!(written(Refusal::Parse)["error"]["code"], -32700);
        assert_eq!(written(Refusal::Request("why"))["error"]["code"], -32600);
        let old = written(Refusal::Method("message/send".into()));
        assert_eq!(old["error"]["code"], -32601);
        assert!(old["error"]["message"].as_str().unwrap().contains("SendMessage"));
    }
}
