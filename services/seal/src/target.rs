//! One spelling for one address: both sides sign `@target-uri` in the same canonical form.

use std::borrow::Cow;

/// Longest target URI, in bytes.
pub(crate) const BYTES_MAX: usize = 4096;

/// Brings an absolute `http` or `https` URI into the form that is signed: scheme and host in lower case, no default
/// port, `/` for an empty path; path and query stay byte for byte. `None` when it is not absolute, has user
/// information or a fragment, no host, a bad port, characters outside printable ASCII or more than 4096 bytes.
///
/// A receiver should build its URI from its own configured base address and the request's path and query, not
/// from what the caller claims in `Host`.
pub fn canonical(uri: &str) -> Option<Cow<'_, str>> {
    if uri.len() > BYTES_MAX || !uri.bytes().all(|b| b.is_ascii_graphic() && b != b'#') {
        return None;
    }
    let (scheme, rest) = uri.split_once("://")?;
    let default_port = match scheme.to_ascii_lowercase().as_str() {
        "http" => 80,
        "https" => 443,
        _ => return None,
    };
    let path_start = rest.find(['/', '?']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at(path_start);
    let (host, port) = split_port(authority)?;
    let keep_port = port.filter(|port| *port != default_port);

    let authority_kept = if keep_port.is_some() { authority } else { host };
    let same_port = keep_port.is_none_or(|port| authority.ends_with(&format!(":{port}")));
    let lower = |text: &str| !text.bytes().any(|b| b.is_ascii_uppercase());
    if lower(scheme) && lower(host) && path.starts_with('/') && authority_kept == authority && same_port {
        return Some(Cow::Borrowed(uri));
    }
    let slash = if path.starts_with('/') { "" } else { "/" };
    let port = keep_port.map(|port| format!(":{port}")).unwrap_or_default();
    Some(Cow::Owned(format!(
        "{}://{}{port}{slash}{path}",
        scheme.to_ascii_lowercase(),
        host.to_ascii_lowercase()
    )))
}

fn split_port(authority: &str) -> Option<(&str, Option<u16>)> {
    let host_end = if authority.starts_with('[') { authority.find(']')? + 1 } else { 0 };
    let (host, port) = match authority[host_end..].find(':') {
        Some(colon) => {
            let (host, port) = authority.split_at(host_end + colon);
            let digits = &port[1..];
            if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
                return None;
            }
            (host, Some(digits.parse().ok()?))
        }
        None => (authority, None),
    };
    let host_ok = if host_end > 0 { host.len() == host_end } else { !host.is_empty() };
    (host_ok && !host.contains(['@', '\\', '"'])).then_some((host, port))
}

#[cfg(test)]
mod tests {
    use super::canonical;

    fn check(uri: &str, expected: Option<&str>) {
        assert_eq!(canonical(uri).as_deref(), expected, "{uri}");
    }

    #[test]
    fn one_address_has_one_spelling() {
        check("http://127.0.0.1:8431/peer/invoke", Some("http://127.0.0.1:8431/peer/invoke"));
        check("HTTP://Node.Example:80/Peer?A=b", Some("http://node.example/Peer?A=b"));
        check("https://node.example:443", Some("https://node.example/"));
        check("https://node.example?x=1", Some("https://node.example/?x=1"));
        check("http://node.example:443/", Some("http://node.example:443/"));
        check("http://node.example:0080/", Some("http://node.example/"));
        check("http://node.example:08080/", Some("http://node.example:8080/"));
        check("http://[::1]:8431/a", Some("http://[::1]:8431/a"));
        check("http://[::1]/a", Some("http://[::1]/a"));
    }

    #[test]
    fn a_canonical_form_is_its_own_canonical_form() {
        for uri in ["HTTPS://A:443?q", "http://b:0081", "http://c/%7e//x"] {
            let once = canonical(uri).unwrap();
            check(&once, Some(&once));
        }
    }

    #[test]
    fn what_is_no_plain_absolute_address_is_refused() {
        for uri in [
            "",
            "/peer/invoke",
            "node.example/x",
            "ftp://node.example/",
            "http://",
            "http:///x",
            "http://:80/",
            "http://user@node.example/",
            "http://node.example/#top",
            "http://node.example:/",
            "http://node.example:x/",
            "http://node.example:99999/",
            "http://node.example:+80/",
            "http://node.example/a b",
            "http://node.example/a\nb",
            "http://nöde.example/",
            "http://[::1/x",
            "http://[::1]x/",
            "http://a:1:2/",
        ] {
            check(uri, None);
        }
        check(&format!("http://a/{}", "x".repeat(5000)), None);
    }
}
