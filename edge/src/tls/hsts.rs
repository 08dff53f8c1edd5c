//! `Strict-Transport-Security` (RFC 6797): whoever came over TLS once comes over TLS again.

use http::header::HOST;
use http::{HeaderValue, Request};

/// The header; nothing when it is switched off.
pub(crate) fn header(max_age_s: u32) -> Option<HeaderValue> {
    (max_age_s > 0).then(|| HeaderValue::try_from(format!("max-age={max_age_s}")).ok()).flatten()
}

/// False for `localhost`: browsers would hold every port of the machine to it, whoever listens there.
pub(crate) fn applies<B>(request: &Request<B>) -> bool {
    let named = request.headers().get(HOST).and_then(|host| host.to_str().ok());
    let host = request.uri().host().or_else(|| named.map(|host| host.split(':').next().unwrap_or(host)));
    host.is_some_and(|host| !host.eq_ignore_ascii_case("localhost"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_host_but_this_machine_is_held_to_tls() {
        let over = |uri: &str, host: &str| applies(&Request::get(uri).header(HOST, host).body(()).unwrap());
        assert!(
            over("/", "mesh.example:8420") && over("https://mesh.example/", "") && over("/", "127.0.0.1:1")
        );
        assert!(!over("/", "localhost:8420") && !over("https://LOCALHOST:1/", ""));
        assert_eq!(header(60).unwrap(), "max-age=60");
        assert_eq!(header(0), None);
    }
}
