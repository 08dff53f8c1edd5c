//! Media types: what is offered, what is taken, and when the two meet.

/// What is taken or given when a capability does not say.
pub const DEFAULT: [&str; 2] = ["text/plain", "application/json"];

/// True when `given` falls under `pattern`. Both may carry parameters, which do not count; a pattern may end in `/*` or
/// be `*/*` or `*`. Case does not count. Clients from before v1.0 write a group without the rest: `text` is `text/*`.
#[must_use]
pub fn matches(pattern: &str, given: &str) -> bool {
    let (pattern, given) = (essence(pattern), essence(given));
    if pattern == "*" || pattern == "*/*" {
        return given.contains('/');
    }
    let group = pattern.strip_suffix("/*").unwrap_or(pattern);
    pattern.eq_ignore_ascii_case(given)
        || given.split_once('/').is_some_and(|(kind, _)| kind.eq_ignore_ascii_case(group))
}

/// True when something that is accepted meets something that is offered; either side may hold patterns.
pub fn meet<A: AsRef<str>, B: AsRef<str>>(accepted: &[A], offered: &[B]) -> bool {
    accepted.iter().map(AsRef::as_ref).any(|accepted| {
        offered
            .iter()
            .map(AsRef::as_ref)
            .any(|offered| matches(accepted, offered) || matches(offered, accepted))
    })
}

/// The type without its parameters.
fn essence(media_type: &str) -> &str {
    media_type.split(';').next().unwrap_or_default().trim()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_media_type_matches_itself_its_group_and_everything() {
        for (pattern, given) in [
            ("text/plain", "text/plain"),
            ("Text/Plain", "text/PLAIN; charset=utf-8"),
            ("text/*", "text/markdown"),
            ("Text", "text/plain; charset=utf-8"),
            ("text", "text/*"),
            ("text", "text"),
            ("*/*", "image/png"),
            ("*", "image/png"),
        ] {
            assert!(matches(pattern, given), "{pattern} {given}");
        }
        for (pattern, given) in [
            ("text/plain", "text/plainer"),
            ("text/*", "application/json"),
            ("*/*", "png"),
            ("text", "application/json"),
            ("text", "textual/plain"),
            ("", "text/plain"),
            ("text/plain", ""),
        ] {
            assert!(!matches(pattern, given), "{pattern} {given}");
        }
    }

    #[test]
    fn either_side_may_hold_the_pattern() {
        assert!(meet(&["image/png", "text/*"], &["text/plain"]));
        assert!(meet(&["image/png"], &["*/*"]));
        assert!(!meet(&["image/png"], &["text/plain", "application/json"]));
        assert!(!meet::<&str, &str>(&["text/plain"], &[]));
    }
}
