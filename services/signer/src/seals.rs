//! Checking the seals of incoming calls, for whoever asks: Verify, and Authenticate for calls that carry one.

use http::{HeaderMap, HeaderName, HeaderValue};
use weft_chassis::Env;
use weft_core::{Fault, Kind};
use weft_proto::weft as pb;
use weft_seal::{Body, IncomingCall, SealFault, Verifier};

use crate::metrics::Metrics;

/// Most headers of a call that is to be verified.
const HEADERS_MAX: usize = 256;

/// The one who checks, and counts.
pub(crate) struct Seals {
    pub(crate) verifier: Verifier,
    pub(crate) metrics: Metrics,
    pub(crate) env: Env,
}

/// A good seal.
pub(crate) struct Good {
    /// Whose key it is.
    pub(crate) peer: String,
    pub(crate) key_id: String,
    pub(crate) scope: String,
}

/// Why there is no good seal.
pub(crate) enum Bad {
    /// The request cannot be a call.
    Request(Fault),
    Seal(SealFault),
}

// === impl Seals ===

impl Seals {
    /// Checks the seal of a call and burns its nonce.
    pub(crate) fn check(&self, request: &pb::VerifyRequest) -> Result<Good, Bad> {
        let headers = header_map(&request.headers).map_err(Bad::Request)?;
        let call = IncomingCall {
            method: &request.method,
            target_uri: &request.target_uri,
            headers: &headers,
            body: Body::Sha256(sha256(&request.body_sha256).map_err(Bad::Request)?),
        };
        match self.verifier.open(&call, self.env.now().seconds) {
            Ok(opened) => {
                self.metrics.accepted.inc();
                Ok(Good {
                    peer: opened.peer.to_owned(),
                    key_id: opened.key_id.to_owned(),
                    scope: opened.scope.to_owned(),
                })
            }
            Err(fault) => {
                self.metrics.refused(fault.code());
                Err(Bad::Seal(fault))
            }
        }
    }
}

// === impl Bad ===

impl Bad {
    /// What the caller hears: the same for every seal that is refused.
    pub(crate) fn fault(self) -> Fault {
        match self {
            Bad::Request(fault) => fault,
            Bad::Seal(fault) if fault.retryable() => {
                Fault { retry_after_ms: Some(1_000), ..Fault::unavailable(fault.public()) }
            }
            Bad::Seal(fault) => Fault::new(Kind::Unauthenticated, fault.public()),
        }
    }
}

/// # Errors
/// `Invalid` when these are not the 32 bytes of a digest.
pub(crate) fn sha256(bytes: &[u8]) -> Result<[u8; 32], Fault> {
    bytes.try_into().map_err(|_| {
        Fault::invalid("bodySha256", format!("must be the 32 bytes of a SHA-256, not {} bytes", bytes.len()))
    })
}

fn header_map(pairs: &[pb::Header]) -> Result<HeaderMap, Fault> {
    if pairs.len() > HEADERS_MAX {
        return Err(Fault::invalid("headers", format!("must be at most {HEADERS_MAX}")));
    }
    let mut headers = HeaderMap::with_capacity(pairs.len());
    for (index, pair) in pairs.iter().enumerate() {
        let name = HeaderName::try_from(pair.name.as_str())
            .map_err(|_| Fault::invalid(format!("headers[{index}].name"), "must be a header name"))?;
        let value = HeaderValue::try_from(pair.value.as_str())
            .map_err(|_| Fault::invalid(format!("headers[{index}].value"), "must be a header value"))?;
        // Appended, not inserted: a header that is there twice must be seen to be.
        headers.append(name, value);
    }
    Ok(headers)
}
