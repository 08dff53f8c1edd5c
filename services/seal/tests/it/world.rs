//! One caller, one receiver, and a sealed call between them.

use std::sync::Arc;

use http::{HeaderMap, HeaderName, HeaderValue};
use weft_seal::{
    Body, Call, IncomingCall, Key, Mode, Nonces, SealFault, Secret, Trust, Verifier, Window, digest, seal,
};

pub(crate) const NOW: i64 = 1_800_000_000;
/// What is trusted by [`verifier`].
pub(crate) const MODES: [Mode; 3] = [Mode::Ed25519, Mode::Derived, Mode::Shared];

pub(crate) fn key(mode: Mode) -> Key {
    let secret = Secret::from_bytes(&[9; 32]).unwrap();
    match mode {
        Mode::Ed25519 => Key::from_seed(&[1; 32]),
        Mode::Derived => Key::derived("derived:mesh:crm", &secret, "mesh", "crm").unwrap(),
        Mode::Shared => Key::shared("shared:mesh", &secret).unwrap(),
    }
}

/// A receiver named `crm` that began long ago and trusts one peer for each mode, named after it.
pub(crate) fn verifier() -> Verifier {
    let mut trust = Trust::new();
    for mode in MODES {
        trust.add(mode.as_str(), &key(mode)).unwrap();
    }
    Verifier::new("crm", trust, Arc::new(Nonces::new(Window::default(), 1000, NOW - 10_000)))
}

/// A call as it arrives. Fields are changed by tests.
#[derive(Clone, Debug)]
pub(crate) struct Arrived {
    pub(crate) method: String,
    pub(crate) target_uri: String,
    pub(crate) body: Vec<u8>,
    pub(crate) headers: HeaderMap,
}

impl Arrived {
    /// The usual call, sealed by `key` at `created`.
    pub(crate) fn sealed(key: &Key, created: i64) -> Self {
        Self::sealed_as(key, created, "crm", "tool:customers", HOP)
    }

    pub(crate) fn sealed_as(
        key: &Key,
        created: i64,
        audience: &str,
        scope: &str,
        hop: &[(&str, &str)],
    ) -> Self {
        let body = br#"{"tool":"customers","arguments":{}}"#.to_vec();
        let call = Call {
            method: "POST",
            target_uri: "http://127.0.0.1:8431/peer/invoke?trace=1",
            body_sha256: digest(&body),
            audience,
            scope,
            hop,
        };
        let mut headers = HeaderMap::new();
        headers.insert("host", HeaderValue::from_static("127.0.0.1:8431"));
        headers.insert("content-type", HeaderValue::from_static("application/json"));
        headers.extend(seal(key, &call, created, b"0123456789abcdef").unwrap());
        Self { method: call.method.to_owned(), target_uri: call.target_uri.to_owned(), body, headers }
    }

    pub(crate) fn call(&self) -> IncomingCall<'_> {
        IncomingCall {
            method: &self.method,
            target_uri: &self.target_uri,
            headers: &self.headers,
            body: Body::Bytes(&self.body),
        }
    }

    pub(crate) fn set(&mut self, name: &str, value: impl AsRef<[u8]>) {
        let name = HeaderName::try_from(name).unwrap();
        self.headers.insert(name, HeaderValue::from_bytes(value.as_ref()).unwrap());
    }

    pub(crate) fn text(&self, name: &str) -> String {
        self.headers[name].to_str().unwrap().to_owned()
    }

    /// What a fresh receiver says to it at [`NOW`].
    pub(crate) fn outcome(&self) -> Result<(), SealFault> {
        verifier().open(&self.call(), NOW).map(|_| ())
    }
}

pub(crate) const HOP: &[(&str, &str)] = &[
    ("traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"),
    ("weft-depth", "1"),
    ("weft-ancestors", "mesh"),
    ("weft-task", "0198c2a4"),
];
