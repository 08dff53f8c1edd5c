//! Why somebody was not let in: reason codes for the record. The caller hears none of them.

use weft_core::{Fault, Kind};

/// Why credentials do not prove who calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// The call carries nothing to check.
    None,
    /// No principal has this bearer token, and it is no token of a provider.
    UnknownToken,
    /// No principal has this key.
    UnknownApiKey,
    /// No principal has this certificate or one of its names.
    UnknownCertificate,
    /// Not DER of a certificate.
    MalformedCertificate,
    /// Two credentials of one call, or two names of one certificate, belong to different principals.
    DifferentPrincipals,
    /// The seal is refused; its own code.
    Seal(&'static str),
    /// The seal is good, but the operator did not list its peer.
    UnknownPeer,
    /// Longer than a token may be.
    TokenTooLong,
    /// Not a signed JWT.
    TokenMalformed,
    /// `alg` is `none`, symmetric, or not allowed for the provider.
    TokenAlgorithm,
    /// No provider is that issuer.
    TokenIssuer,
    /// Meant for somebody else.
    TokenAudience,
    /// Its time is over.
    TokenExpired,
    /// Its time has not come.
    TokenNotYet,
    /// `sub` is missing or unusable.
    TokenSubject,
    /// No key of the provider has its `kid`.
    TokenUnknownKey,
    /// The signature is wrong.
    TokenSignature,
}

/// How an attempt ended that proved nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Failed {
    Refused(Refusal),
    /// It could not be found out; what to try, and when, is in the text and in milliseconds.
    Unavailable(&'static str, u32),
    /// The request itself cannot be read.
    Invalid(Fault),
}

// === impl Refusal ===

impl Refusal {
    /// Stable code, upper case with underscores.
    pub(crate) const fn code(self) -> &'static str {
        match self {
            Refusal::None => "NO_CREDENTIALS",
            Refusal::UnknownToken => "TOKEN_UNKNOWN",
            Refusal::UnknownApiKey => "API_KEY_UNKNOWN",
            Refusal::UnknownCertificate => "CERTIFICATE_UNKNOWN",
            Refusal::MalformedCertificate => "CERTIFICATE_MALFORMED",
            Refusal::DifferentPrincipals => "DIFFERENT_PRINCIPALS",
            Refusal::Seal(code) => code,
            Refusal::UnknownPeer => "PEER_UNKNOWN",
            Refusal::TokenTooLong => "TOKEN_TOO_LONG",
            Refusal::TokenMalformed => "TOKEN_MALFORMED",
            Refusal::TokenAlgorithm => "TOKEN_ALGORITHM",
            Refusal::TokenIssuer => "TOKEN_ISSUER",
            Refusal::TokenAudience => "TOKEN_AUDIENCE",
            Refusal::TokenExpired => "TOKEN_EXPIRED",
            Refusal::TokenNotYet => "TOKEN_NOT_YET",
            Refusal::TokenSubject => "TOKEN_SUBJECT",
            Refusal::TokenUnknownKey => "TOKEN_KEY",
            Refusal::TokenSignature => "TOKEN_SIGNATURE",
        }
    }
}

// === impl Failed ===

impl From<Refusal> for Failed {
    fn from(refusal: Refusal) -> Failed {
        Failed::Refused(refusal)
    }
}

impl Failed {
    /// What the caller hears: one text for every refusal.
    pub(crate) fn fault(self) -> Fault {
        match self {
            Failed::Refused(_) => {
                Fault::new(Kind::Unauthenticated, "the credentials of this call were not accepted")
            }
            Failed::Unavailable(text, retry_ms) => {
                Fault { retry_after_ms: Some(retry_ms), ..Fault::unavailable(text) }
            }
            Failed::Invalid(fault) => fault,
        }
    }
}
