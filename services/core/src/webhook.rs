//! What a webhook must be before it is kept: the rules that need no network.

use weft_proto::a2a::TaskPushNotificationConfig;

use crate::message::ID_CHARS_MAX;
use crate::{Fault, Violation};

/// Longest URL of a webhook, in bytes.
pub const URL_BYTES_MAX: usize = 2_048;
/// Longest token and longest credentials of a webhook, in bytes each.
pub const SECRET_BYTES_MAX: usize = 8_192;

/// Checks a webhook as a caller gave it; `at` is what its fields lie under in the request, empty or ending in a dot.
///
/// Token, scheme and credentials become header values, so nothing that could end a header line is let through.
///
/// # Errors
/// `Invalid` with every field that breaks a rule.
pub fn admit(config: &TaskPushNotificationConfig, at: &str) -> Result<(), Fault> {
    let mut found = Vec::new();
    let mut add = |field: &str, description: String| {
        found.push(Violation { field: format!("{at}{field}"), description });
    };
    let id = &config.id;
    if id.chars().count() > ID_CHARS_MAX {
        add("id", format!("must be at most {ID_CHARS_MAX} characters"));
    } else if id.chars().any(char::is_control) || (!id.is_empty() && id.trim().is_empty()) {
        add("id", "must not be blank or hold control characters".to_owned());
    }
    if config.url.is_empty() {
        add("url", "is required: an absolute http or https URL".to_owned());
    } else if config.url.len() > URL_BYTES_MAX {
        add("url", format!("must be at most {URL_BYTES_MAX} bytes"));
    } else if config.url.chars().any(|c| c.is_control() || c.is_whitespace()) {
        add("url", "must not hold white space or control characters".to_owned());
    }
    if let Some(problem) = header_value(&config.token) {
        add("token", problem);
    }
    if let Some(authentication) = &config.authentication {
        if !is_token(&authentication.scheme) {
            add("authentication.scheme", "must be a token of RFC 9110, for example Bearer".to_owned());
        }
        if let Some(problem) = header_value(&authentication.credentials) {
            add("authentication.credentials", problem);
        }
    }
    if found.is_empty() { Ok(()) } else { Err(Fault::violated(found)) }
}

/// What keeps a text from being a header value.
fn header_value(text: &str) -> Option<String> {
    if text.len() > SECRET_BYTES_MAX {
        return Some(format!("must be at most {SECRET_BYTES_MAX} bytes"));
    }
    let printable = text.bytes().all(|b| b == b' ' || b.is_ascii_graphic());
    let edged = text.starts_with(' ') || text.ends_with(' ');
    (!printable || edged).then(|| "must be printable ASCII without spaces at the ends".to_owned())
}

/// RFC 9110 §5.6.2, at most 64 characters.
fn is_token(text: &str) -> bool {
    (1..=64).contains(&text.len())
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b))
}

#[cfg(test)]
mod tests {
    use super::*;
    use weft_proto::a2a::AuthenticationInfo;

    fn config() -> TaskPushNotificationConfig {
        TaskPushNotificationConfig {
            url: "https://example.com/hook".into(),
            token: "t0ken".into(),
            authentication: Some(AuthenticationInfo { scheme: "Bearer".into(), credentials: "a b".into() }),
            ..TaskPushNotificationConfig::default()
        }
    }

    fn check(change: impl FnOnce(&mut TaskPushNotificationConfig), field: &str) {
        let mut config = config();
        change(&mut config);
        let fields: Vec<_> =
            admit(&config, "c.").unwrap_err().violations.into_iter().map(|v| v.field).collect();
        assert_eq!(fields, [format!("c.{field}")]);
    }

    #[test]
    fn a_webhook_with_and_without_secrets_is_admitted() {
        assert_eq!(admit(&config(), ""), Ok(()));
        let plain = TaskPushNotificationConfig { token: String::new(), authentication: None, ..config() };
        assert_eq!(admit(&plain, ""), Ok(()));
    }

    #[test]
    fn what_could_end_a_header_line_is_refused() {
        for bad in ["x\r\nX-Evil: 1", "a\nb", "a\0", "a\tb", " a", "a ", "é"] {
            check(|config| config.token = bad.into(), "token");
            check(
                |config| config.authentication.as_mut().unwrap().credentials = bad.into(),
                "authentication.credentials",
            );
        }
        for bad in ["", "Bearer x", "Bea\r\nrer", "a:b", &"x".repeat(65)] {
            check(
                |config| config.authentication.as_mut().unwrap().scheme = bad.into(),
                "authentication.scheme",
            );
        }
    }

    #[test]
    fn ids_urls_and_lengths_are_bounded() {
        check(|config| config.url.clear(), "url");
        check(|config| config.url = "http://a/\r\nb".into(), "url");
        check(|config| config.url = format!("http://a/{}", "x".repeat(URL_BYTES_MAX)), "url");
        check(|config| config.id = " ".into(), "id");
        check(|config| config.id = "x".repeat(257), "id");
        check(|config| config.token = "x".repeat(SECRET_BYTES_MAX + 1), "token");
    }
}
