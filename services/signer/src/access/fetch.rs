//! Key sets of identity providers, over HTTP: `https` only but for this machine itself, no redirects, bounded.

use std::fmt;
use std::time::Duration;

use reqwest::{Client, Url};
use serde::Deserialize;
use weft_chassis::Outbound;
use weft_chassis::outbound::chain;

use super::key_set::KeySet;

/// Largest document of a provider, in bytes.
const BYTES_MAX: usize = 256 * 1024;
const CONNECT: Duration = Duration::from_secs(3);
/// Where a provider describes itself (OpenID Connect Discovery 1.0 §4).
pub(super) const DISCOVERY: &str = "/.well-known/openid-configuration";

/// Where keys come from.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Place {
    pub(super) issuer: String,
    /// The set itself; else the issuer's description says where it lies.
    pub(super) jwks: Option<String>,
}

/// The client for all providers. Cheap to clone.
#[derive(Clone)]
pub(super) struct Fetcher {
    client: Client,
}

#[derive(Deserialize)]
struct Description {
    issuer: String,
    jwks_uri: String,
}

// === impl Place ===

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.issuer)
    }
}

// === impl Fetcher ===

impl Fetcher {
    /// # Errors
    /// When the client cannot be made.
    pub(super) fn new(outbound: &Outbound, within: Duration) -> Result<Fetcher, String> {
        let client = outbound
            .client("identity providers")?
            .connect_timeout(CONNECT.min(within))
            .timeout(within)
            .pool_max_idle_per_host(1)
            .build()
            .map_err(|error| format!("cannot make the client of identity providers: {}", chain(&error)))?;
        Ok(Fetcher { client })
    }

    /// # Errors
    /// What was asked for and how it failed.
    pub(super) async fn fetch(&self, place: &Place) -> Result<KeySet, String> {
        let url = match &place.jwks {
            Some(jwks) => address(jwks)?,
            None => self.discover(&place.issuer).await?,
        };
        let shown = url.to_string();
        KeySet::parse(&self.get(url).await?).map_err(|problem| format!("{shown} {problem}"))
    }

    async fn discover(&self, issuer: &str) -> Result<Url, String> {
        let at = address(&format!("{}{DISCOVERY}", issuer.trim_end_matches('/')))?;
        let (here, shown) = (is_this_machine(&at), at.to_string());
        let description: Description = serde_json::from_slice(&self.get(at).await?)
            .map_err(|_| format!("{shown} does not name issuer and jwks_uri"))?;
        if description.issuer != issuer {
            return Err(format!("{shown} describes another issuer"));
        }
        let keys =
            address(&description.jwks_uri).map_err(|problem| format!("{shown}: jwks_uri {problem}"))?;
        // A provider elsewhere does not make us call what listens on this machine.
        if is_this_machine(&keys) && !here {
            return Err(format!("{shown}: jwks_uri leads to this machine"));
        }
        Ok(keys)
    }

    async fn get(&self, url: Url) -> Result<Vec<u8>, String> {
        let shown = url.to_string();
        let failed = |e: reqwest::Error| format!("{shown} cannot be read: {}", chain(&e.without_url()));
        let mut response =
            self.client.get(url).header("accept", "application/json").send().await.map_err(failed)?;
        if !response.status().is_success() {
            return Err(format!("{shown} answers {}", response.status()));
        }
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(failed)? {
            if body.len() + chunk.len() > BYTES_MAX {
                return Err(format!("{shown} is larger than {BYTES_MAX} bytes"));
            }
            body.extend_from_slice(&chunk);
        }
        Ok(body)
    }
}

/// An address that may be asked for keys.
///
/// # Errors
/// Says what it must be.
pub(super) fn address(text: &str) -> Result<Url, String> {
    let must = "must be an https URL without credentials; http is taken for this machine itself only";
    let url = Url::parse(text).map_err(|_| must.to_owned())?;
    let scheme = match url.scheme() {
        "https" => url.has_host(),
        "http" => is_this_machine(&url),
        _ => false,
    };
    let bare = url.username().is_empty() && url.password().is_none() && url.fragment().is_none();
    if scheme && bare { Ok(url) } else { Err(must.to_owned()) }
}

fn is_this_machine(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost" || bare.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_fetched_over_https_or_from_this_machine() {
        for good in
            ["https://id.example/jwks", "http://127.0.0.1:80/k", "http://localhost/k", "http://[::1]/k"]
        {
            assert!(address(good).is_ok(), "{good}");
        }
        for bad in [
            "http://id.example/jwks",
            "http://127.0.0.1.example/",
            "http://10.0.0.1/",
            "https://a:b@id.example/",
            "file:///etc/passwd",
            "id.example",
            "",
        ] {
            assert!(address(bad).is_err(), "{bad}");
        }
    }
}
