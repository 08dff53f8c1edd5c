//! The JSON-RPC 2.0 request object: read once, borrowed from the body, judged field by field.

use std::borrow::Cow;

use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

/// Longest id, in bytes of its JSON text: it is sent again with every event of a stream.
const ID_BYTES_MAX: usize = 1_024;

/// An id as the caller wrote it, digit for digit; echoed, never understood.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Id<'a>(&'a str);

/// A request that is one.
#[derive(Debug)]
pub(crate) struct Envelope<'a> {
    /// `None`: a notification.
    pub(crate) id: Option<Id<'a>>,
    pub(crate) method: Cow<'a, str>,
    /// Absent and null stand for no parameters.
    pub(crate) params: Option<&'a RawValue>,
}

/// Why a body is no request.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Malformed<'a> {
    /// Not JSON.
    Syntax,
    /// JSON, but not a request; with its id when that could be read.
    Request(Id<'a>, &'static str),
}

// === impl Id ===

impl Id<'static> {
    /// What is said when there is no id to echo.
    pub(crate) const NULL: Id<'static> = Id("null");
}

impl<'a> Id<'a> {
    /// Strings, whole numbers and null are ids.
    fn read(raw: &'a RawValue) -> Option<Id<'a>> {
        let text = raw.get();
        let fits = match text.as_bytes() {
            [b'"', ..] | b"null" => true,
            [b'-' | b'0'..=b'9', ..] => !text.contains(['.', 'e', 'E']),
            _ => false,
        };
        (fits && text.len() <= ID_BYTES_MAX).then_some(Id(text))
    }

    /// An id that was read before and kept as text.
    pub(crate) fn of(read: &'a str) -> Id<'a> {
        Id(read)
    }

    /// Its JSON text.
    pub(crate) fn as_str(self) -> &'a str {
        self.0
    }
}

// === impl Envelope ===

/// The members of a request, whatever their types.
#[derive(Deserialize)]
struct Members<'a> {
    #[serde(borrow, default, deserialize_with = "present")]
    jsonrpc: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    id: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    method: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    params: Option<&'a RawValue>,
}

/// Keeps an explicit null, which `Option` alone would take for absent.
fn present<'de: 'a, 'a, D: Deserializer<'de>>(deserializer: D) -> Result<Option<&'a RawValue>, D::Error> {
    <&'a RawValue>::deserialize(deserializer).map(Some)
}

impl<'a> Envelope<'a> {
    /// Reads a body.
    pub(crate) fn read(body: &'a [u8]) -> Result<Envelope<'a>, Malformed<'a>> {
        let text = std::str::from_utf8(body).map_err(|_| Malformed::Syntax)?;
        let not_a_request = |why| match serde_json::from_str::<IgnoredAny>(text) {
            Ok(_) => Malformed::Request(Id::NULL, why),
            Err(_) => Malformed::Syntax,
        };
        match text.bytes().find(|byte| !byte.is_ascii_whitespace()) {
            Some(b'{') => {}
            Some(b'[') => return Err(not_a_request("batches are not served: send one request at a time")),
            _ => return Err(not_a_request("must be a JSON object")),
        }
        let members: Members<'a> = serde_json::from_str(text).map_err(|error| {
            if error.is_data() { not_a_request("a member is given twice") } else { Malformed::Syntax }
        })?;
        members.judge()
    }
}

impl<'a> Members<'a> {
    fn judge(self) -> Result<Envelope<'a>, Malformed<'a>> {
        let id = match self.id.map(Id::read) {
            Some(None) => {
                return Err(Malformed::Request(Id::NULL, "id must be a string, a whole number or null"));
            }
            Some(Some(id)) => Some(id),
            None => None,
        };
        let wrong = |why| Malformed::Request(id.unwrap_or(Id::NULL), why);
        if self.jsonrpc.and_then(string).as_deref() != Some("2.0") {
            return Err(wrong("jsonrpc must be \"2.0\""));
        }
        let method = self.method.and_then(string).ok_or_else(|| wrong("method must be a string"))?;
        let params = self.params.filter(|params| params.get() != "null");
        Ok(Envelope { id, method, params })
    }
}

fn string(raw: &RawValue) -> Option<Cow<'_, str>> {
    let text = raw.get().strip_prefix('"')?.strip_suffix('"')?;
    if text.contains('\\') {
        serde_json::from_str(raw.get()).ok().map(Cow::Owned)
    } else {
        Some(Cow::Borrowed(text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_read_with_its_id_as_written() {
        for id in [
            "1",
            "-7",
            "0",
            "9007199254740993",
            "123456789012345678901234567890",
            "\"a\\u0041\"",
            "\"\"",
            "null",
        ] {
            let body = format!(
                r#" {{"jsonrpc":"2.0","id":{id},"method":"GetTask","params":{{"id":"t"}},"x":[1]}} "#
            );
            let envelope = Envelope::read(body.as_bytes()).unwrap();
            assert_eq!(envelope.id.unwrap().as_str(), id);
            assert_eq!(
                (envelope.method.as_ref(), envelope.params.unwrap().get()),
                ("GetTask", r#"{"id":"t"}"#)
            );
        }
        let escaped = Envelope::read(br#"{"jsonrpc":"2\u002e0","method":"Get\u0054ask"}"#).unwrap();
        assert_eq!((escaped.id, escaped.method.as_ref()), (None, "GetTask"));
        assert!(
            Envelope::read(br#"{"jsonrpc":"2.0","id":1,"method":"m","params":null}"#)
                .unwrap()
                .params
                .is_none()
        );
    }

    #[test]
    fn what_is_no_json_is_a_syntax_error() {
        for body in [
            "",
            " ",
            "{",
            "}",
            "{\"a\":}",
            "[1,",
            "nul",
            "\u{feff}{}",
            "\"text\" x",
            "{} {}",
            "[] x",
            "{\"jsonrpc\":\"2.0\",\"jsonrpc\":}",
            "{'a':1}",
            "{\"method\":\"\u{1}\"}",
        ] {
            assert_eq!(Envelope::read(body.as_bytes()).unwrap_err(), Malformed::Syntax, "{body:?}");
        }
        assert_eq!(Envelope::read(b"{\"method\":\"\xff\"}").unwrap_err(), Malformed::Syntax);
    }

    #[test]
    fn json_that_is_no_request_echoes_the_id_when_it_can_be_read() {
        for (body, id) in [
            (r#""text""#, "null"),
            ("null", "null"),
            ("42", "null"),
            ("[]", "null"),
            ("[1]", "null"),
            (r#"["2.0",1,"GetTask",{}]"#, "null"),
            (r#"{"hello":"world"}"#, "null"),
            (r#"{"jsonrpc":"2.0","id":7}"#, "7"),
            (r#"{"jsonrpc":"1.0","id":"a","method":"GetTask"}"#, "\"a\""),
            (r#"{"id":1,"method":"GetTask"}"#, "1"),
            (r#"{"jsonrpc":2.0,"id":1,"method":"GetTask"}"#, "1"),
            (r#"{"jsonrpc":"2.0","id":1,"method":42}"#, "1"),
            (r#"{"jsonrpc":"2.0","id":1,"method":null}"#, "1"),
            (r#"{"jsonrpc":"2.0","id":{},"method":"GetTask"}"#, "null"),
            (r#"{"jsonrpc":"2.0","id":[1],"method":"GetTask"}"#, "null"),
            (r#"{"jsonrpc":"2.0","id":true,"method":"GetTask"}"#, "null"),
            (r#"{"jsonrpc":"2.0","id":1.5,"method":"GetTask"}"#, "null"),
            (r#"{"jsonrpc":"2.0","id":1e3,"method":"GetTask"}"#, "null"),
            (r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"GetTask"}"#, "null"),
        ] {
            match Envelope::read(body.as_bytes()) {
                Err(Malformed::Request(found, _)) => assert_eq!(found.as_str(), id, "{body}"),
                other => panic!("{body}: {other:?}"),
            }
        }
        let long = format!(r#"{{"jsonrpc":"2.0","id":"{}","method":"m"}}"#, "x".repeat(ID_BYTES_MAX));
        assert!(matches!(Envelope::read(long.as_bytes()), Err(Malformed::Request(Id::NULL, _))));
    }

    #[test]
    fn deep_nesting_is_measured_later_and_does_not_overflow_here() {
        let deep = format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"m","params":{}{}}}"#,
            "[".repeat(100_000),
            "]".repeat(100_000)
        );
        assert!(Envelope::read(deep.as_bytes()).is_ok());
        assert_eq!(Envelope::read("[".repeat(100_000).as_bytes()).unwrap_err(), Malformed::Syntax);
    }
}
