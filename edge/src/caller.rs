//! Who calls, and what a call says about itself beside its body: the service parameters of A2A v1.0 §3.2.6.

use http::request::Parts;
use http::{HeaderMap, HeaderName};
use weft_core::{Fault, Kind, Owner, message};

/// Names the protocol version a caller speaks.
pub(crate) const A2A_VERSION: HeaderName = HeaderName::from_static("a2a-version");
/// Makes a message that creates a task safe to send again.
pub(crate) const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");
/// Resumes a stream after the event with this `id:`.
pub(crate) const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

/// `Major.Minor` of the versions that are spoken here.
pub(crate) const VERSIONS: [&str; 1] = ["1.0"];

/// Who calls.
#[derive(Debug, Clone)]
pub(crate) struct Caller {
    /// To whom the tasks belong that it creates and sees.
    pub(crate) owner: Owner,
    /// True for an authenticated principal: sending the same `messageId` again answers the same task.
    pub(crate) replay_by_message_id: bool,
    /// Empty: none.
    pub(crate) idempotency_key: String,
    /// The last event it has seen of the stream it asks for.
    pub(crate) last_event: Option<u64>,
}

impl Caller {
    /// Reads the caller of a request. Without credentials every caller is the one local principal.
    ///
    /// # Errors
    /// `VersionNotSupported`, or `Invalid` for a header that breaks its rule.
    pub(crate) fn of(request: &Parts) -> Result<Caller, Fault> {
        check_version(request)?;
        let headers = &request.headers;
        let idempotency_key = single(headers, &IDEMPOTENCY_KEY, "Idempotency-Key")?.map(str::to_owned);
        if let Some(key) = &idempotency_key {
            message::idempotency_key(key)?;
        }
        Ok(Caller {
            owner: Owner::local(),
            replay_by_message_id: false,
            idempotency_key: idempotency_key.unwrap_or_default(),
            last_event: last_event(headers)?,
        })
    }
}

fn last_event(headers: &HeaderMap) -> Result<Option<u64>, Fault> {
    match single(headers, &LAST_EVENT_ID, "Last-Event-ID")? {
        None | Some("") => Ok(None),
        Some(text) => text
            .parse()
            .map(Some)
            .map_err(|_| Fault::invalid("Last-Event-ID", "must be the id of an event, a whole number")),
    }
}

/// The value of a header that may come once.
fn single<'h>(headers: &'h HeaderMap, name: &HeaderName, shown: &str) -> Result<Option<&'h str>, Fault> {
    let mut values = headers.get_all(name).iter();
    let Some(first) = values.next() else { return Ok(None) };
    if values.next().is_some() {
        return Err(Fault::invalid(shown, "must be given once"));
    }
    let text = first.to_str().map_err(|_| Fault::invalid(shown, "must be visible ASCII"))?;
    Ok(Some(text.trim()))
}

/// Only `Major.Minor` counts (A2A v1.0 §3.6). Without a version, or with an empty one, the method decides: the names
/// that are served here exist in 1.0 only. The query parameter counts when the header does not say.
fn check_version(request: &Parts) -> Result<(), Fault> {
    let mut said = false;
    for value in request.headers.get_all(&A2A_VERSION) {
        let text = value.to_str().unwrap_or("?").trim();
        said |= !text.is_empty();
        check_one_version(text)?;
    }
    if said {
        return Ok(());
    }
    let pairs = request.uri.query().unwrap_or_default().split('&').filter_map(|pair| pair.split_once('='));
    for (_, version) in pairs.filter(|(name, _)| name.eq_ignore_ascii_case(A2A_VERSION.as_str())) {
        check_one_version(version.trim())?;
    }
    Ok(())
}

fn check_one_version(text: &str) -> Result<(), Fault> {
    if text.is_empty() || spoken(text) {
        return Ok(());
    }
    let supported = VERSIONS.join(", ");
    let shown: String = text.chars().filter(char::is_ascii_graphic).take(40).collect();
    let message = format!("A2A version {shown} is not spoken here: supported are {supported}");
    Err(Fault::new(Kind::VersionNotSupported, message).with("supportedVersions", supported))
}

fn spoken(text: &str) -> bool {
    let mut numbers = text.split('.');
    let (Some(major), Some(minor), patch, None) =
        (numbers.next(), numbers.next(), numbers.next(), numbers.next())
    else {
        return false;
    };
    let digits = |n: &str| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit());
    patch.is_none_or(digits) && VERSIONS.iter().any(|v| v.split_once('.') == Some((major, minor)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn caller(uri: &str, headers: &[(&str, &str)]) -> Result<Caller, Fault> {
        let mut request = http::Request::post(uri);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        Caller::of(&request.body(()).unwrap().into_parts().0)
    }

    #[test]
    fn only_major_and_minor_of_the_version_count() {
        for fine in ["", "1.0", "1.0.0", "1.0.37", " 1.0 "] {
            assert!(caller("/a2a", &[("a2a-version", fine)]).is_ok(), "{fine:?}");
        }
        for bad in
            ["99.0", "2.0", "0.30", "0.3", "1", "1.", "1.1", "1.00", "abc", "1.0.x", "1.0.0.0", "1.0,0.3"]
        {
            let fault = caller("/a2a", &[("a2a-version", bad)]).unwrap_err();
            assert_eq!(fault.kind, Kind::VersionNotSupported, "{bad:?}");
            assert_eq!(fault.metadata["supportedVersions"], "1.0");
        }
        assert!(caller("/a2a", &[("a2a-version", "1.0"), ("a2a-version", "99.0")]).is_err());
    }

    #[test]
    fn the_query_says_the_version_when_the_header_does_not() {
        assert!(caller("/a2a?A2A-Version=1.0", &[]).is_ok());
        assert!(caller("/a2a?x=1&A2A-Version=99.0", &[]).is_err());
        assert!(caller("/a2a?A2A-Version=99.0", &[("a2a-version", "")]).is_err());
        assert!(caller("/a2a?A2A-Version=99.0", &[("a2a-version", "1.0")]).is_ok());
    }

    #[test]
    fn a_bad_header_is_named() {
        for (name, value, field) in [
            ("idempotency-key", "a b", "Idempotency-Key"),
            ("idempotency-key", "", "Idempotency-Key"),
            ("last-event-id", "x", "Last-Event-ID"),
            ("last-event-id", "-1", "Last-Event-ID"),
        ] {
            let fault = caller("/a2a", &[(name, value)]).unwrap_err();
            assert_eq!(fault.violations[0].field, field);
        }
        let twice = [("idempotency-key", "a"), ("idempotency-key", "b")];
        assert!(caller("/a2a", &twice).is_err());
        assert_eq!(caller("/a2a", &[("last-event-id", "7")]).unwrap().last_event, Some(7));
    }
}
