//! What a caller hears who is not let in (RFC 6750 §3): as a fault for its binding, as a challenge in the headers.

use http::header::WWW_AUTHENTICATE;
use http::{HeaderName, HeaderValue};
use weft_core::{Fault, Kind};

/// Key of the metadata that says why.
const REASON: &str = "reason";
/// Credentials were shown, and are not good.
const INVALID: &str = "CREDENTIAL_INVALID";
/// None were shown.
const REQUIRED: &str = "CREDENTIAL_REQUIRED";
/// The caller is anonymous and has no task access token.
const TASK_ACCESS_REQUIRED: &str = "TASK_ACCESS_REQUIRED";

/// Credentials are needed, and there are none.
pub(crate) fn required(message: impl Into<String>) -> Fault {
    Fault::new(Kind::Unauthenticated, message).with(REASON, REQUIRED)
}

/// Credentials that prove nothing. What about them is bad is not said.
pub(super) fn invalid() -> Fault {
    Fault::new(Kind::Unauthenticated, "these credentials are not known here").with(REASON, INVALID)
}

/// An anonymous caller who asks for what is kept must have what opens it.
pub(crate) fn task_access() -> Fault {
    let text = "send the header Task-Access-Token with what the first answer gave you, or credentials";
    Fault::new(Kind::Unauthenticated, text).with(REASON, TASK_ACCESS_REQUIRED)
}

/// The header that goes with a fault; nothing when credentials would not help.
pub(crate) fn challenge(fault: &Fault) -> Option<(HeaderName, HeaderValue)> {
    let value = match fault.kind {
        Kind::Unauthenticated if fault.metadata.get(REASON).is_some_and(|reason| reason == INVALID) => {
            HeaderValue::from_static(r#"Bearer realm="weft", error="invalid_token""#)
        }
        Kind::Unauthenticated => HeaderValue::from_static(r#"Bearer realm="weft""#),
        Kind::Denied => {
            let scope = fault.metadata.get("scope").filter(|scope| weft_core::scope::is_scope(scope))?;
            let text = format!(r#"Bearer realm="weft", error="insufficient_scope", scope="{scope}""#);
            HeaderValue::try_from(text).ok()?
        }
        _ => return None,
    };
    Some((WWW_AUTHENTICATE, value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_challenge_says_what_would_help() {
        let said = |fault: &Fault| challenge(fault).map(|(_, value)| value.to_str().unwrap().to_owned());
        assert_eq!(said(&required("x")).unwrap(), r#"Bearer realm="weft""#);
        assert_eq!(said(&task_access()).unwrap(), r#"Bearer realm="weft""#);
        assert_eq!(said(&invalid()).unwrap(), r#"Bearer realm="weft", error="invalid_token""#);
        let lacking = weft_core::scope::require(&[], weft_core::scope::WRITE).unwrap_err();
        let expected = r#"Bearer realm="weft", error="insufficient_scope", scope="a2a:write""#;
        assert_eq!(said(&lacking).unwrap(), expected);
        assert_eq!(said(&Fault::new(Kind::Denied, "x")), None);
        assert_eq!(said(&Fault::new(Kind::Denied, "x").with("scope", "a\"\r\nb")), None);
        assert_eq!(said(&Fault::task_not_found("t").with("scope", "a")), None);
    }
}
