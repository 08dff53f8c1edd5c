//! Why a seal is refused, and why a call cannot be sealed.

use crate::Mode;

/// Why an incoming call's seal is refused. The display text and [`SealFault::code`] are for the log of whoever
/// checks; callers hear [`SealFault::public`] only, so that a forger learns nothing from trying.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SealFault {
    /// A header or parameter that the profile requires is not there.
    #[error("{0} is missing")]
    Missing(&'static str),
    /// A header is there but not in the one form that the profile allows.
    #[error("malformed: {0}")]
    Malformed(&'static str),
    /// Something that must be signed is there but outside the signature.
    #[error("{0} is not covered by the signature")]
    Uncovered(&'static str),
    /// The call is sealed for another receiver.
    #[error("sealed for another audience")]
    WrongAudience,
    /// No trusted key has this key id.
    #[error("unknown key id")]
    UnknownKey,
    /// The `alg` parameter is not the algorithm of the named key.
    #[error("the named algorithm is not the one of the key")]
    Algorithm,
    /// Both sides know a stronger key than the one used.
    #[error("downgrade: {used} key used where {required} is known to both")]
    Downgrade {
        /// The strongest mode known to both.
        required: Mode,
        /// The mode of the key that made this seal.
        used: Mode,
    },
    /// Created longer ago than the window allows.
    #[error("created too long ago")]
    Stale,
    /// Created further in the future than the window allows.
    #[error("created in the future")]
    Future,
    /// The body is not the one that was sealed.
    #[error("the body does not match its digest")]
    Digest,
    /// The signature does not verify.
    #[error("the signature does not verify")]
    Signature,
    /// Created before the time from which the nonces are remembered (see [`crate::Nonces`]): whether it was
    /// used before cannot be known. A fresh seal will be accepted.
    #[error("created before the nonces are remembered")]
    BeforeStart,
    /// This seal was used before.
    #[error("replayed")]
    Replayed,
    /// The nonce store is full of live entries; nothing is forgotten to make room.
    #[error("too many live nonces")]
    Busy,
}

impl SealFault {
    /// Stable code for logs and the process page, upper case with underscores.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Missing(_) => "MISSING",
            Self::Malformed(_) => "MALFORMED",
            Self::Uncovered(_) => "UNCOVERED",
            Self::WrongAudience => "WRONG_AUDIENCE",
            Self::UnknownKey => "UNKNOWN_KEY",
            Self::Algorithm => "ALGORITHM",
            Self::Downgrade { .. } => "DOWNGRADE",
            Self::Stale => "STALE",
            Self::Future => "FUTURE",
            Self::Digest => "DIGEST",
            Self::Signature => "SIGNATURE",
            Self::BeforeStart => "BEFORE_START",
            Self::Replayed => "REPLAYED",
            Self::Busy => "BUSY",
        }
    }

    /// True when the same call, sealed afresh a second later, may pass. Only holders of a trusted key ever get
    /// such a fault: the signature is checked first. Over HTTP: 503 with `Retry-After: 1`; every other: 401.
    pub fn retryable(&self) -> bool {
        matches!(self, Self::BeforeStart | Self::Busy)
    }

    /// What the caller is told: the same text for every refusal, another one for what can be retried.
    pub fn public(&self) -> &'static str {
        if self.retryable() {
            "the seal cannot be checked now: seal the call again and retry"
        } else {
            "the seal of this call was refused"
        }
    }
}

/// Why a call cannot be sealed: the caller of [`crate::seal`] gave something that the profile cannot carry.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{field}: {problem}")]
pub struct CallFault {
    /// The field of [`crate::Call`], or the name of the hop header.
    pub field: String,
    /// What is wrong with it and what would be right.
    pub problem: &'static str,
}

impl CallFault {
    pub(crate) fn new(field: impl Into<String>, problem: &'static str) -> Self {
        Self { field: field.into(), problem }
    }
}

#[cfg(test)]
mod tests {
    use super::SealFault;
    use crate::Mode;

    #[test]
    fn callers_cannot_tell_one_refusal_from_another() {
        let refusals = [
            SealFault::Missing("signature"),
            SealFault::Malformed("signature"),
            SealFault::Uncovered("traceparent"),
            SealFault::WrongAudience,
            SealFault::UnknownKey,
            SealFault::Algorithm,
            SealFault::Downgrade { required: Mode::Ed25519, used: Mode::Shared },
            SealFault::Stale,
            SealFault::Future,
            SealFault::Digest,
            SealFault::Signature,
            SealFault::Replayed,
        ];
        let mut codes: Vec<_> = refusals.iter().map(SealFault::code).collect();
        codes.sort_unstable();
        codes.dedup();
        assert_eq!(codes.len(), refusals.len(), "every reason has its own code");
        for refusal in refusals {
            assert_eq!(refusal.public(), SealFault::Signature.public());
            assert!(!refusal.retryable());
        }
        assert!(SealFault::Busy.retryable() && SealFault::BeforeStart.retryable());
    }
}
