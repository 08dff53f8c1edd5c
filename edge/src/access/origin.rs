//! Whether a request that a browser sent with its cookie comes from a page of our own. `SameSite` alone lets pages of
//! other hosts of the same site through, and what listens on other ports of this one.

use http::header::{HOST, ORIGIN};
use http::request::Parts;
use http::{HeaderName, Method};

/// Where a page stands to what it calls (Fetch Metadata); browsers say it to trustworthy origins only.
const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// `public_base` is the URL under which pages reach this edge.
pub(super) fn is_own(parts: &Parts, public_base: &str) -> bool {
    let reads = matches!(parts.method, Method::GET | Method::HEAD);
    let mut origins = parts.headers.get_all(ORIGIN).iter();
    let origin = match (origins.next(), origins.next()) {
        (None, _) => None,
        (Some(only), None) => Some(only.to_str().unwrap_or("?")),
        _ => return false,
    };
    if origin.is_some_and(|origin| !names_us(origin, parts, public_base)) {
        return false;
    }
    match parts.headers.get(&SEC_FETCH_SITE).map(http::HeaderValue::as_bytes) {
        Some(b"same-origin") => true,
        // Typed by the user, or from a bookmark.
        Some(b"none") => reads,
        Some(_) => false,
        None => reads || origin.is_some(),
    }
}

fn names_us(origin: &str, parts: &Parts, public_base: &str) -> bool {
    let Some((_, authority)) = origin.split_once("://") else { return false };
    let asked = match parts.uri.authority() {
        Some(asked) => Some(asked.as_str()),
        None => parts.headers.get(HOST).and_then(|host| host.to_str().ok()),
    };
    asked.is_some_and(|asked| authority.eq_ignore_ascii_case(asked))
        || public_base
            .get(..origin.len())
            .is_some_and(|base| base.eq_ignore_ascii_case(origin) && ends(&public_base[origin.len()..]))
}

fn ends(rest: &str) -> bool {
    rest.is_empty() || rest.starts_with('/')
}

#[cfg(test)]
mod tests {
    use http::Request;

    use super::*;

    fn own(method: &str, headers: &[(&str, &str)]) -> bool {
        let mut request = Request::builder().method(method).uri("/a2a").header("host", "127.0.0.1:8420");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        is_own(&request.body(()).unwrap().into_parts().0, "https://mesh.example/x")
    }

    #[test]
    fn only_our_own_pages_change_anything() {
        for good in [
            &[("sec-fetch-site", "same-origin")][..],
            &[("origin", "http://127.0.0.1:8420")],
            &[("origin", "https://mesh.example"), ("sec-fetch-site", "same-origin")],
        ] {
            assert!(own("POST", good) && own("GET", good), "{good:?}");
        }
        for bad in [
            &[("sec-fetch-site", "same-site")][..],
            &[("sec-fetch-site", "cross-site")],
            &[("origin", "http://127.0.0.1:9999")],
            &[("origin", "https://mesh.example.evil.example")],
            &[("origin", "https://mesh.exampl")],
            &[("origin", "null")],
            &[("origin", "https://evil.example"), ("sec-fetch-site", "same-origin")],
        ] {
            assert!(!own("POST", bad) && !own("GET", bad), "{bad:?}");
        }
        for reading in [&[][..], &[("sec-fetch-site", "none")]] {
            assert!(!own("POST", reading) && !own("DELETE", reading) && own("GET", reading));
        }
    }
}
