//! Which requests may come in at all, by the host they name and the page they come from.
//!
//! A tokenless listener on loopback must not be reachable from a web page. `Host` is checked against DNS rebinding (an
//! attacker's name that resolves here is not one of ours; a literal address cannot be rebound), `Origin` against calls
//! across sites. Health and the public card are for everybody.

use std::collections::BTreeSet;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::middleware::Next;
use http::header::{HOST, ORIGIN};
use http::uri::Authority;
use http::{HeaderValue, Response};
use weft_core::{Fault, Kind};

use crate::edge::{Edge, Refused};
use crate::{Settings, cors, early};

/// The rules of one listener.
pub(crate) struct Guard {
    /// Names without port, lower case.
    hosts: BTreeSet<String>,
    /// Whether any literal address is one of ours: true on a listener for every address.
    any_address: bool,
    /// As browsers write them: scheme, host, port unless it is the scheme's own.
    origins: BTreeSet<String>,
}

/// Where a request comes from.
#[derive(Debug, PartialEq, Eq)]
enum From {
    /// No page, or one of our own.
    Home,
    /// A page of an origin that the operator listed.
    Listed(HeaderValue),
}

// === impl Guard ===

impl Guard {
    pub(crate) fn new(settings: &Settings, bound: SocketAddr) -> Result<Guard, Refused> {
        let mut hosts: BTreeSet<String> = ["localhost".to_owned(), bound.ip().to_string()].into();
        if bound.ip().is_loopback() {
            hosts.extend(["127.0.0.1".to_owned(), "::1".to_owned()]);
        }
        hosts.extend(
            settings.allowed_hosts.iter().map(|host| host.trim_matches(['[', ']']).to_ascii_lowercase()),
        );
        let mut origins = BTreeSet::new();
        for origin in &settings.allowed_origins {
            origins.insert(origin_of(origin).ok_or_else(|| {
                Refused(format!("edge.allowed_origins holds {origin}: must be like https://app.example.com"))
            })?);
        }
        if let Some(public) = origin_of(&settings.public_url) {
            let uri: http::Uri =
                public.parse().map_err(|_| Refused("edge.public_url is no URL".to_owned()))?;
            hosts.extend(uri.host().map(|host| host.trim_matches(['[', ']']).to_owned()));
            origins.insert(public);
        }
        Ok(Guard { hosts, any_address: bound.ip().is_unspecified(), origins })
    }

    /// Whether a request may come in, and from where it does.
    fn check(&self, request: &Request) -> Result<From, String> {
        let authority = authority(request)?;
        let host = authority.host().trim_matches(['[', ']']).to_ascii_lowercase();
        let ours = self.hosts.contains(&host) || (self.any_address && host.parse::<IpAddr>().is_ok());
        if !ours {
            return Err("this host name is not served here: see edge.allowed_hosts".to_owned());
        }
        let mut origins = request.headers().get_all(ORIGIN).iter();
        let Some(origin) = origins.next() else { return Ok(From::Home) };
        if origins.next().is_some() {
            return Err("Origin must be given once".to_owned());
        }
        let given = origin.to_str().unwrap_or_default();
        if given.split_once("://").is_some_and(|(_, rest)| rest.eq_ignore_ascii_case(authority.as_str())) {
            return Ok(From::Home);
        }
        if origin_of(given).is_some_and(|o| self.origins.contains(&o)) {
            return Ok(From::Listed(origin.clone()));
        }
        Err("pages of this origin may not call here: see edge.allowed_origins".to_owned())
    }
}

/// Lets a request through, or refuses it with 403 and the reason.
pub(crate) async fn pass(State(edge): State<Arc<Edge>>, request: Request, next: Next) -> Response<Body> {
    let path = request.uri().path();
    if matches!(path, "/healthz" | "/readyz") {
        return next.run(request).await;
    }
    if cors::is_card(path) {
        return cors::card(request, next).await;
    }
    match edge.guard().check(&request) {
        Ok(From::Home) => next.run(request).await,
        Ok(From::Listed(origin)) => cors::listed(origin, request, next).await,
        Err(reason) => {
            let fault = Fault::new(Kind::Denied, reason);
            early::refusal(request.method(), request.uri(), request.headers(), fault)
        }
    }
}

/// The one authority that a request names: `:authority` in HTTP/2, an absolute target or `Host` in HTTP/1.
fn authority(request: &Request) -> Result<Authority, String> {
    if let Some(authority) = request.uri().authority() {
        return Ok(authority.clone());
    }
    let mut hosts = request.headers().get_all(HOST).iter();
    let (Some(host), None) = (hosts.next(), hosts.next()) else {
        return Err("Host must be given once".to_owned());
    };
    Authority::try_from(host.as_bytes()).map_err(|_| "Host is malformed".to_owned())
}

/// An origin as browsers write it; also that of a URL.
fn origin_of(url: &str) -> Option<String> {
    let uri: http::Uri = url.parse().ok()?;
    let scheme = uri.scheme_str().filter(|scheme| matches!(*scheme, "http" | "https"))?;
    let host = uri.host().filter(|host| !host.is_empty())?.to_ascii_lowercase();
    let own = if scheme == "https" { 443 } else { 80 };
    match uri.port_u16().filter(|port| *port != own) {
        Some(port) => Some(format!("{scheme}://{host}:{port}")),
        None => Some(format!("{scheme}://{host}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(bound: &str, host: &str, origin: Option<&str>) -> Result<bool, String> {
        let settings = Settings {
            public_url: "https://mesh.example/x".into(),
            allowed_hosts: vec!["Inner.example".into()],
            allowed_origins: vec!["https://app.example:443".into()],
            ..Settings::default()
        };
        let guard = Guard::new(&settings, bound.parse().unwrap()).unwrap();
        let mut request = Request::post("/a2a").header(HOST, host);
        if let Some(origin) = origin {
            request = request.header(ORIGIN, origin);
        }
        guard.check(&request.body(Body::empty()).unwrap()).map(|from| from != From::Home)
    }

    #[test]
    fn only_names_of_this_mesh_are_served() {
        for host in
            ["localhost", "LOCALHOST:1", "127.0.0.1:8420", "[::1]:9", "mesh.example", "inner.example:80"]
        {
            assert_eq!(check("127.0.0.1:8420", host, None), Ok(false), "{host}");
        }
        for host in
            ["evil.example", "192.0.2.1", "127.0.0.1.evil.example", "localhost.evil.example", "", "a b"]
        {
            assert!(check("127.0.0.1:8420", host, None).is_err(), "{host}");
        }
        assert_eq!(check("0.0.0.0:8420", "192.0.2.1:8420", None), Ok(false), "an address cannot be rebound");
        assert!(check("0.0.0.0:8420", "evil.example", None).is_err());
    }

    #[test]
    fn only_own_and_listed_pages_may_call() {
        let at = "127.0.0.1:8420";
        assert_eq!(check(at, at, Some("http://127.0.0.1:8420")), Ok(false));
        assert_eq!(check(at, "mesh.example", Some("https://mesh.example")), Ok(false));
        assert_eq!(check(at, at, Some("https://app.example")), Ok(true));
        for origin in [
            "http://localhost:3000",
            "http://127.0.0.1:8421",
            "http://app.example",
            "https://app.example:8443",
            "https://app.example.evil.example",
            "null",
            "",
            "https://evil.example",
        ] {
            assert!(check(at, at, Some(origin)).is_err(), "{origin}");
        }
    }

    #[test]
    fn a_request_without_a_host_or_with_two_is_refused() {
        let guard = Guard::new(&Settings::default(), "127.0.0.1:1".parse().unwrap()).unwrap();
        let two = Request::get("/").header(HOST, "localhost").header(HOST, "localhost").body(Body::empty());
        assert!(guard.check(&Request::new(Body::empty())).is_err());
        assert!(guard.check(&two.unwrap()).is_err());
    }

    #[test]
    fn a_listed_origin_that_is_none_is_refused_at_the_start() {
        for bad in ["*", "app.example", "ftp://x"] {
            let settings = Settings { allowed_origins: vec![bad.into()], ..Settings::default() };
            assert!(Guard::new(&settings, "127.0.0.1:1".parse().unwrap()).is_err(), "{bad}");
        }
    }
}
