//! How strong a key is, and the rule that the strongest one both sides know is the one that counts.

use std::fmt;
use std::str::FromStr;

use crate::SealFault;

/// Kinds of keys, weakest first: the derived order is the order of strength.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Mode {
    /// One secret, used as it is by everyone who has it.
    Shared,
    /// A key per pair and direction, derived from a secret (see [`crate::Key::derived`]).
    Derived,
    /// An Ed25519 key pair: whoever checks cannot sign.
    Ed25519,
}

impl Mode {
    /// The value of the `alg` parameter: `ed25519` or `hmac-sha256` (RFC 9421 §6.2.2).
    pub fn algorithm(self) -> &'static str {
        match self {
            Self::Ed25519 => "ed25519",
            Self::Derived | Self::Shared => "hmac-sha256",
        }
    }

    /// Its name in settings and key ids: `ed25519`, `derived` or `shared`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ed25519 => "ed25519",
            Self::Derived => "derived",
            Self::Shared => "shared",
        }
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Mode {
    type Err = UnknownMode;

    fn from_str(text: &str) -> Result<Self, UnknownMode> {
        [Self::Ed25519, Self::Derived, Self::Shared]
            .into_iter()
            .find(|mode| mode.as_str() == text)
            .ok_or(UnknownMode)
    }
}

/// The text is no key mode.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not a key mode: use ed25519, derived or shared")]
pub struct UnknownMode;

/// The mode that two sides must use: the strongest that both know. `None`: they share none and cannot talk.
pub fn strongest_common(ours: &[Mode], theirs: &[Mode]) -> Option<Mode> {
    ours.iter().filter(|mode| theirs.contains(mode)).max().copied()
}

/// Refuses a seal made with a weaker key than the two sides share; a stronger one is welcome.
pub fn refuse_downgrade(required: Mode, used: Mode) -> Result<(), SealFault> {
    if used < required { Err(SealFault::Downgrade { required, used }) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::{Mode, refuse_downgrade, strongest_common};
    use crate::SealFault;
    use Mode::{Derived, Ed25519, Shared};

    #[test]
    fn the_strongest_mode_both_know_is_chosen_whatever_the_order_of_naming() {
        let check = |ours: &[Mode], theirs: &[Mode], expected| {
            assert_eq!(strongest_common(ours, theirs), expected, "{ours:?} and {theirs:?}");
            assert_eq!(strongest_common(theirs, ours), expected, "{theirs:?} and {ours:?}");
        };
        check(&[Shared, Derived, Ed25519], &[Ed25519, Shared, Derived], Some(Ed25519));
        check(&[Shared, Derived, Ed25519], &[Shared, Derived], Some(Derived));
        check(&[Ed25519, Shared], &[Derived, Shared], Some(Shared));
        check(&[Ed25519], &[Derived, Shared], None);
        check(&[], &[Ed25519], None);
    }

    #[test]
    fn every_weaker_mode_is_a_downgrade_and_no_other_is() {
        let modes = [Shared, Derived, Ed25519];
        for (strength, required) in modes.into_iter().enumerate() {
            for (used_strength, used) in modes.into_iter().enumerate() {
                let expected = if used_strength < strength {
                    Err(SealFault::Downgrade { required, used })
                } else {
                    Ok(())
                };
                assert_eq!(refuse_downgrade(required, used), expected);
            }
        }
    }

    #[test]
    fn mode_names_read_back() {
        for mode in [Shared, Derived, Ed25519] {
            assert_eq!(mode.to_string().parse(), Ok(mode));
        }
        assert!("ED25519".parse::<Mode>().is_err());
    }
}
