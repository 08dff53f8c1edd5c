//! What a caller hears who is not let in (RFC 6750 §3): as a fault for its binding, as a challenge in the headers.

use http::header::WWW_AUTHENTICATE;
use http::{HeaderMap, HeaderName, HeaderValue};
use weft_core::{Fault, Kind};
use weft_proto::a2a::security_scheme::Scheme;
use weft_proto::weft::AccessPolicy;

/// Key of the metadata that says why.
pub(super) const REASON: &str = "reason";
/// Credentials were shown, and are not good.
pub(super) const INVALID: &str = "CREDENTIAL_INVALID";
/// None were shown.
pub(super) const REQUIRED: &str = "CREDENTIAL_REQUIRED";
/// The caller is anonymous and has no task access token.
pub(super) const TASK_ACCESS_REQUIRED: &str = "TASK_ACCESS_REQUIRED";
/// The request came with the cookie of the console's session, from a page that is not the console's.
pub(super) const FOREIGN_PAGE: &str = "FOREIGN_PAGE";

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

/// A session is good for the console's own page alone.
pub(super) fn foreign_page(message: &str) -> Fault {
    Fault::new(Kind::Denied, message).with(REASON, FOREIGN_PAGE)
}

/// Beside the challenge for a bearer token, where there is one, that for a key, where callers may have keys.
pub(super) fn or_key(headers: &mut HeaderMap, policy: &AccessPolicy) {
    let asks = headers.get(WWW_AUTHENTICATE).and_then(|value| value.to_str().ok());
    if asks.is_none_or(|asks| asks.contains("insufficient_scope")) {
        return;
    }
    let key = policy.schemes.values().find_map(|scheme| match &scheme.scheme {
        Some(Scheme::ApiKeySecurityScheme(key)) if key.location == "header" => Some(key),
        _ => None,
    });
    let challenge = key.map(|key| format!(r#"ApiKey realm="weft", header="{}""#, key.name));
    if let Some(Ok(challenge)) = challenge.map(HeaderValue::try_from) {
        headers.append(WWW_AUTHENTICATE, challenge);
    }
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
