//! Checking the seal of an incoming call.

use std::sync::Arc;

use http::{HeaderMap, HeaderName};
use subtle::ConstantTimeEq as _;

use crate::SealFault::{Malformed, Missing, Uncovered};
use crate::base::Base;
use crate::fields::{self, Input};
use crate::{CheckKey, Mode, Nonces, SealFault, Trust, call, header, target};

/// An incoming call.
#[derive(Debug, Clone, Copy)]
pub struct IncomingCall<'a> {
    /// As received.
    pub method: &'a str,
    /// Absolute, as this receiver knows its own address (see [`target::canonical`]).
    pub target_uri: &'a str,
    /// All headers of the call.
    pub headers: &'a HeaderMap,
    /// What was received as the body.
    pub body: Body<'a>,
}

/// A received body, or its digest when somebody trusted has computed it.
#[derive(Debug, Clone, Copy)]
pub enum Body<'a> {
    /// The bytes as received.
    Bytes(&'a [u8]),
    /// The SHA-256 of the bytes as received.
    Sha256([u8; 32]),
}

/// A call whose seal is good.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Opened<'a> {
    /// Who sealed it: the peer that the key is trusted for.
    pub peer: &'a str,
    /// The key that sealed it.
    pub key_id: &'a str,
    /// The mode of that key.
    pub mode: Mode,
    /// What the call may do.
    pub scope: &'a str,
    /// When it was sealed, Unix seconds.
    pub created: i64,
    /// The further headers that the seal covers, in its order. Every `weft-*` header, `traceparent` and `tracestate`
    /// of the call is either here, or the audience, or the scope.
    pub hop: Vec<(&'a str, &'a str)>,
}

impl<'a> Opened<'a> {
    /// The covered value of a hop header.
    pub fn hop(&self, name: &str) -> Option<&'a str> {
        self.hop.iter().find(|(covered, _)| *covered == name).map(|(_, value)| *value)
    }
}

/// Checks seals for one receiver.
#[derive(Debug)]
pub struct Verifier {
    audience: String,
    trust: Trust,
    nonces: Arc<Nonces>,
}

impl Verifier {
    /// A verifier for the receiver `audience`. Its window is the one of `nonces`; a verifier that replaces another
    /// one (with changed trust) must be given the same `nonces`.
    pub fn new(audience: &str, trust: Trust, nonces: Arc<Nonces>) -> Self {
        Self { audience: audience.to_owned(), trust, nonces }
    }

    /// A verifier that trusts one peer by one key: what a node needs to check the calls of its mesh.
    pub fn of_one(audience: &str, peer: &str, key: impl Into<CheckKey>, nonces: Arc<Nonces>) -> Self {
        Self::new(audience, Trust::one(peer, key), nonces)
    }

    /// Checks a call at `now` (Unix seconds) and burns its nonce. Cheap checks come first; nothing is remembered of a
    /// call whose signature is wrong.
    ///
    /// # Errors
    /// The first [`SealFault`] found, in this order: form, required components, audience, key, algorithm and
    /// mode, time, body, signature, nonce.
    pub fn open<'a>(&'a self, call: &IncomingCall<'a>, now: i64) -> Result<Opened<'a>, SealFault> {
        let input = Input::parse(single(call.headers, &header::SIGNATURE_INPUT, "signature-input")?)?;
        let signature = fields::signature(single(call.headers, &header::SIGNATURE, "signature")?)?;
        if input.tag != call::TAG {
            return Err(Malformed("tag is not weft-hop-v1"));
        }
        if !call::is_method(call.method) {
            return Err(Malformed("method"));
        }
        let target_uri = target::canonical(call.target_uri).ok_or(Malformed("target uri"))?;
        require_covered(&input.covered, call.headers)?;

        let audience = single(call.headers, &header::AUDIENCE, "weft-audience")?;
        if audience != self.audience {
            return Err(SealFault::WrongAudience);
        }
        let (peer, key) = self.trust.find(input.key_id, input.algorithm)?;
        self.nonces.window().check(input.created, now)?;

        let scope = single(call.headers, &header::SCOPE, "weft-scope")?;
        if !call::is_scope(scope) {
            return Err(Malformed("weft-scope"));
        }
        let content_digest = single(call.headers, &header::CONTENT_DIGEST, "content-digest")?;
        check_body(fields::digest(content_digest)?, call.body)?;

        let mut base = Base::with_capacity(1024);
        let mut hop = Vec::with_capacity(input.covered.len().saturating_sub(call::MANDATORY.len()));
        for name in &input.covered {
            let value = match *name {
                "@method" => call.method,
                "@target-uri" => &target_uri,
                "content-digest" => content_digest,
                "weft-audience" => audience,
                "weft-scope" => scope,
                name => {
                    let header =
                        HeaderName::try_from(name).map_err(|_| Malformed("name of a covered header"))?;
                    let value = single(call.headers, &header, "a covered header")?;
                    hop.push((name, value));
                    value
                }
            };
            base.line(name, value);
        }
        key.check(base.finish(input.params).as_bytes(), &signature)?;
        self.nonces.burn(input.key_id, input.nonce, input.created, now)?;
        Ok(Opened { peer, key_id: input.key_id, mode: key.mode(), scope, created: input.created, hop })
    }
}

/// The mandatory components must be covered, and every header that has a meaning between nodes.
fn require_covered(covered: &[&str], headers: &HeaderMap) -> Result<(), SealFault> {
    for name in call::MANDATORY {
        if !covered.contains(&name) {
            return Err(Uncovered(name));
        }
    }
    for name in headers.keys() {
        let what = match name.as_str() {
            "traceparent" => "traceparent",
            "tracestate" => "tracestate",
            name if name.starts_with("weft-") => "a weft-* header",
            _ => continue,
        };
        if !covered.contains(&name.as_str()) {
            return Err(Uncovered(what));
        }
    }
    Ok(())
}

fn check_body(claimed: [u8; 32], body: Body<'_>) -> Result<(), SealFault> {
    let actual = match body {
        Body::Bytes(bytes) => call::digest(bytes),
        Body::Sha256(digest) => digest,
    };
    if bool::from(claimed.ct_eq(&actual)) { Ok(()) } else { Err(SealFault::Digest) }
}

/// The value of a header that must be there exactly once, in plain printable ASCII of bounded length.
fn single<'a>(headers: &'a HeaderMap, name: &HeaderName, what: &'static str) -> Result<&'a str, SealFault> {
    let mut values = headers.get_all(name).iter();
    let value = values.next().ok_or(Missing(what))?;
    if values.next().is_some() {
        return Err(Malformed("a header of the seal is there twice"));
    }
    let value =
        value.to_str().map_err(|_| Malformed("a header of the seal has characters that are not allowed"))?;
    if value.len() > call::VALUE_BYTES_MAX || !fields::is_plain(value) {
        return Err(Malformed("a header of the seal is too long or has characters that are not allowed"));
    }
    Ok(value)
}
