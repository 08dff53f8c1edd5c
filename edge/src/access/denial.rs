//! Why somebody may not do what they asked for, as one word for the record and the counters.

use weft_core::{Fault, Kind};

use super::challenge::{self, REASON};

/// A closed list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Denial {
    /// The credentials lack the scope.
    Scope,
    /// The capability is not theirs to use.
    Capability,
    /// They would have to say who they are.
    Credentials,
    /// They are nobody in particular and have not what opens the task.
    TaskAccess,
    /// A page that is not ours sent the request with our cookie.
    ForeignPage,
    /// What they show proves nothing.
    Invalid,
    /// What they show cannot be a credential.
    Malformed,
    /// What stands behind the edge does not let them.
    Behind,
}

// === impl Denial ===

impl Denial {
    /// What a fault says of it; nothing when it is about something else.
    pub(crate) fn of(fault: &Fault) -> Option<Denial> {
        let reason = fault.metadata.get(REASON).map(String::as_str);
        match fault.kind {
            Kind::Unauthenticated if reason == Some(challenge::INVALID) => Some(Denial::Invalid),
            Kind::Unauthenticated | Kind::Denied if fault.metadata.contains_key("capability") => {
                Some(Denial::Capability)
            }
            Kind::Unauthenticated if reason == Some(challenge::TASK_ACCESS_REQUIRED) => {
                Some(Denial::TaskAccess)
            }
            Kind::Unauthenticated => Some(Denial::Credentials),
            Kind::Denied if fault.metadata.contains_key("scope") => Some(Denial::Scope),
            Kind::Denied if reason == Some(challenge::FOREIGN_PAGE) => Some(Denial::ForeignPage),
            Kind::Denied => Some(Denial::Behind),
            _ => None,
        }
    }

    /// Stable name.
    pub(crate) const fn reason(self) -> &'static str {
        match self {
            Denial::Scope => "SCOPE_MISSING",
            Denial::Capability => "CAPABILITY_NOT_ALLOWED",
            Denial::Credentials => challenge::REQUIRED,
            Denial::TaskAccess => challenge::TASK_ACCESS_REQUIRED,
            Denial::ForeignPage => challenge::FOREIGN_PAGE,
            Denial::Invalid => challenge::INVALID,
            Denial::Malformed => "CREDENTIAL_MALFORMED",
            Denial::Behind => "PERMISSION_DENIED",
        }
    }
}

#[cfg(test)]
mod tests {
    use weft_core::scope;

    use super::*;

    #[test]
    fn a_fault_says_what_kind_of_denial_it_is() {
        let kept = Fault::new(Kind::Unauthenticated, "x").with("capability", "a.b");
        for (fault, denial) in [
            (scope::require(&[], scope::READ).unwrap_err(), Some(Denial::Scope)),
            (kept, Some(Denial::Capability)),
            (Fault::new(Kind::Denied, "x").with("capability", "a.b"), Some(Denial::Capability)),
            (challenge::required("x"), Some(Denial::Credentials)),
            (challenge::task_access(), Some(Denial::TaskAccess)),
            (challenge::foreign_page("x"), Some(Denial::ForeignPage)),
            (Fault::new(Kind::Denied, "x"), Some(Denial::Behind)),
            (challenge::invalid(), Some(Denial::Invalid)),
            (Fault::task_not_found("t1"), None),
            (Fault::invalid("scope", "x").with("scope", "x"), None),
        ] {
            assert_eq!(Denial::of(&fault), denial, "{fault:?}");
        }
    }
}
