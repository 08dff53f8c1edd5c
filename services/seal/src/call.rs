//! Sealing an outgoing call.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use http::{HeaderName, HeaderValue};
use sha2::{Digest as _, Sha256};

use crate::base::Base;
use crate::{CallFault, Key, fields, header, target};

/// The `tag` parameter: which profile of RFC 9421 this is.
pub(crate) const TAG: &str = "weft-hop-v1";
/// The components that every seal covers, in the order in which we sign them.
pub(crate) const MANDATORY: [&str; 5] =
    ["@method", "@target-uri", "content-digest", "weft-audience", "weft-scope"];
/// Longest value of a covered header, in bytes.
pub(crate) const VALUE_BYTES_MAX: usize = 2048;

/// An outgoing call, as far as its seal covers it.
#[derive(Debug, Clone, Copy)]
pub struct Call<'a> {
    /// Upper case.
    pub method: &'a str,
    /// Absolute; signed in the form of [`target::canonical`].
    pub target_uri: &'a str,
    /// SHA-256 of the body as it is sent (see [`digest`]).
    pub body_sha256: [u8; 32],
    /// Id of the node that is called: 1 to 128 printable ASCII characters.
    pub audience: &'a str,
    /// What the call may do: 1 to 256 printable ASCII characters.
    pub scope: &'a str,
    /// Further headers to cover, lower-case names, each once, at most 19: all `weft-*` headers, `traceparent` and
    /// `tracestate` of the call must be among them, others may.
    pub hop: &'a [(&'a str, &'a str)],
}

/// SHA-256 of a body.
pub fn digest(body: &[u8]) -> [u8; 32] {
    Sha256::digest(body).into()
}

/// Seals a call: returns *all* headers that belong to the seal, hop headers included, to be set on the request (each
/// replacing one of the same name): `content-digest`, `weft-audience`, `weft-scope`, the hop headers in the given
/// order, `signature-input`, `signature`.
///
/// `created` is the time in Unix seconds; `nonce` must come from a good source of randomness and be used once.
///
/// # Errors
/// A [`CallFault`] that names the field when the call holds what a seal cannot carry.
pub fn seal(
    key: &Key,
    call: &Call<'_>,
    created: i64,
    nonce: &[u8; 16],
) -> Result<Vec<(HeaderName, HeaderValue)>, CallFault> {
    let target_uri = target::canonical(call.target_uri).ok_or_else(|| {
        CallFault::new("target_uri", "must be an absolute http or https address without # and user")
    })?;
    check(call)?;
    let content_digest = format!("sha-256=:{}:", STANDARD.encode(call.body_sha256));

    let mut input = String::with_capacity(512);
    input.push_str("weft=(");
    for (index, name) in MANDATORY.iter().chain(call.hop.iter().map(|(name, _)| name)).enumerate() {
        let space = if index == 0 { "" } else { " " };
        for part in [space, "\"", name, "\""] {
            input.push_str(part);
        }
    }
    let nonce = URL_SAFE_NO_PAD.encode(nonce);
    let (id, algorithm) = (key.id(), key.mode().algorithm());
    let params =
        format!(");created={created};nonce=\"{nonce}\";keyid=\"{id}\";alg=\"{algorithm}\";tag=\"{TAG}\"");
    input.push_str(&params);

    let mut base = Base::with_capacity(1024);
    let mandatory = [call.method, &target_uri, &content_digest, call.audience, call.scope];
    for (name, value) in MANDATORY.into_iter().zip(mandatory).chain(call.hop.iter().copied()) {
        base.line(name, value);
    }
    let signature = key.sign(base.finish(&input["weft=".len()..]).as_bytes());

    let mut headers = Vec::with_capacity(5 + call.hop.len());
    headers.push((header::CONTENT_DIGEST, value("body_sha256", content_digest)?));
    headers.push((header::AUDIENCE, value("audience", call.audience.to_owned())?));
    headers.push((header::SCOPE, value("scope", call.scope.to_owned())?));
    for (name, text) in call.hop {
        let header = HeaderName::try_from(*name).map_err(|_| CallFault::new(*name, NAME_PROBLEM))?;
        headers.push((header, value(name, (*text).to_owned())?));
    }
    headers.push((header::SIGNATURE_INPUT, value("hop", input)?));
    headers.push((header::SIGNATURE, value("signature", format!("weft=:{}:", STANDARD.encode(signature)))?));
    Ok(headers)
}

const NAME_PROBLEM: &str =
    "must be a lower-case header name of at most 64 characters that the seal does not set itself";

/// True for what may stand as a node id in a seal and in a key derivation.
pub(crate) fn is_node_id(text: &str) -> bool {
    (1..=128).contains(&text.len()) && fields::is_plain(text)
}

/// True for what may stand as a scope in a seal.
pub(crate) fn is_scope(text: &str) -> bool {
    (1..=256).contains(&text.len()) && fields::is_plain(text)
}

/// True for what may stand as a method in a seal.
pub(crate) fn is_method(text: &str) -> bool {
    (1..=32).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_uppercase() || b == b'-')
}

/// True for the headers whose value the seal makes itself.
fn is_own(name: &str) -> bool {
    matches!(name, "signature" | "signature-input") || MANDATORY.contains(&name)
}

fn check(call: &Call<'_>) -> Result<(), CallFault> {
    let fail = |field: &str, problem| Err(CallFault::new(field, problem));
    if !is_method(call.method) {
        return fail("method", "must be an upper-case http method");
    }
    if !is_node_id(call.audience) {
        return fail("audience", "must be 1 to 128 printable ascii characters without spaces at the ends");
    }
    if !is_scope(call.scope) {
        return fail("scope", "must be 1 to 256 printable ascii characters without spaces at the ends");
    }
    if MANDATORY.len() + call.hop.len() > fields::COVERED_MAX {
        return fail("hop", "must be at most 19 headers");
    }
    for (index, (name, value)) in call.hop.iter().enumerate() {
        if !fields::is_field_name(name) || is_own(name) {
            return fail(name, NAME_PROBLEM);
        }
        if call.hop[..index].iter().any(|(earlier, _)| earlier == name) {
            return fail(name, "must be given once");
        }
        if value.len() > VALUE_BYTES_MAX || !fields::is_plain(value) {
            return fail(name, "must be at most 2048 printable ascii characters without spaces at the ends");
        }
    }
    Ok(())
}

fn value(field: &str, text: String) -> Result<HeaderValue, CallFault> {
    HeaderValue::try_from(text).map_err(|_| CallFault::new(field, "must be a valid header value"))
}

#[cfg(test)]
mod tests {
    use super::{Call, digest, seal};
    use crate::Key;

    fn call<'a>() -> Call<'a> {
        Call {
            method: "POST",
            target_uri: "http://crm.example/peer/invoke",
            body_sha256: digest(b"{}"),
            audience: "crm",
            scope: "tool:customers",
            hop: &[("traceparent", "00-1-2-01"), ("weft-depth", "1")],
        }
    }

    #[test]
    fn the_headers_come_in_order_and_the_same_input_gives_the_same_seal() {
        let key = Key::from_seed(&[1; 32]);
        let headers = seal(&key, &call(), 17, &[2; 16]).unwrap();
        let names: Vec<_> = headers.iter().map(|(name, _)| name.as_str()).collect();
        let expected =
            "content-digest weft-audience weft-scope traceparent weft-depth signature-input signature";
        assert_eq!(names.join(" "), expected);
        assert_eq!(seal(&key, &call(), 17, &[2; 16]).unwrap(), headers);
        assert_ne!(seal(&key, &call(), 17, &[3; 16]).unwrap(), headers);
    }

    #[test]
    fn what_a_seal_cannot_carry_is_refused_and_the_field_named() {
        let key = Key::from_seed(&[1; 32]);
        let check = |field: &str, call: Call<'_>| {
            let fault = seal(&key, &call, 17, &[2; 16]).unwrap_err();
            assert_eq!(fault.field, field, "{call:?}");
        };
        for method in ["", "post", "PO ST", "POST\n"] {
            check("method", Call { method, ..call() });
        }
        check("target_uri", Call { target_uri: "/peer/invoke", ..call() });
        for text in ["", "a\nb", "a\r\nweft-scope: all", " a", "a ", "é", "a\tb", &"x".repeat(300)] {
            check("audience", Call { audience: text, ..call() });
            check("scope", Call { scope: text, ..call() });
        }
        for name in ["", "Weft-Depth", "a b", "a:", "weft-scope", "@method", "signature", "content-digest"] {
            check(name, Call { hop: &[(name, "1")], ..call() });
        }
        check("weft-depth", Call { hop: &[("weft-depth", "1"), ("weft-depth", "2")], ..call() });
        check("weft-depth", Call { hop: &[("weft-depth", "1\nweft-scope: all")], ..call() });
        let names: Vec<_> = (0..20).map(|n| format!("weft-{n}")).collect();
        let hop: Vec<_> = names.iter().map(|name| (name.as_str(), "")).collect();
        check("hop", Call { hop: &hop, ..call() });
        assert!(seal(&key, &Call { hop: &hop[1..], ..call() }, 17, &[2; 16]).is_ok());
    }
}
