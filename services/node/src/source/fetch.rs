//! One bounded GET: no redirects, no cookies, and no private address unless the manifest allows it.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::header::ACCEPT;
use weft_chassis::Outbound;
use weft_chassis::outbound::chain;
use weft_core::address::is_public;
use weft_core::manifest::source::Url;

use crate::failure::Failure;
use crate::source::Misfit;

/// How long a connection may take to be made; the tool's time bounds the whole.
const CONNECT: Duration = Duration::from_secs(5);

/// See the module.
#[derive(Debug)]
pub(crate) struct Fetch {
    client: reqwest::Client,
    url: reqwest::Url,
    accept: &'static str,
}

impl Fetch {
    /// Judges the address as far as it can be without asking a name server; connects to nothing yet.
    pub(crate) fn open(url: &Url, accept: &'static str, outbound: &Outbound) -> Result<Fetch, Misfit> {
        let misfit = |remedy: String| Misfit { key: "url", value: format!("\"{}\"", url.text), remedy };
        let parsed = reqwest::Url::parse(&url.text).map_err(|error| misfit(format!("not a URL: {error}")))?;
        // A literal address is never resolved, so the resolver below would not see it.
        let host = parsed.host_str().unwrap_or_default().trim_matches(['[', ']']);
        if !url.private && host.parse::<IpAddr>().is_ok_and(|ip| !is_public(ip)) {
            return Err(misfit("a private address: say private = true when this is meant".to_owned()));
        }
        let builder =
            if url.private { outbound.client("sources") } else { outbound.guarded("sources", PublicOnly) };
        let builder = builder
            .map_err(misfit)?
            .connect_timeout(CONNECT)
            .pool_max_idle_per_host(1)
            .user_agent(concat!("weft-node/", env!("CARGO_PKG_VERSION")));
        let client = builder.build().map_err(|error| misfit(format!("cannot be fetched: {error}")))?;
        Ok(Fetch { client, url: parsed, accept })
    }

    /// The body of a 200 answer, when it is no larger than this.
    pub(crate) async fn get(&self, bytes_max: usize) -> Result<Vec<u8>, Failure> {
        let failed = |error: &reqwest::Error| {
            // Without the address: it may hold a token.
            tracing::warn!(error = %chain(error), "a source cannot be fetched");
            Failure::Unavailable("it does not answer".to_owned())
        };
        let sent = self.client.get(self.url.clone()).header(ACCEPT, self.accept).send().await;
        let mut response = sent.map_err(|error| failed(&error.without_url()))?;
        if response.status() != reqwest::StatusCode::OK {
            return Err(Failure::Unavailable(format!(
                "it answered HTTP status {}",
                response.status().as_u16()
            )));
        }
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(|error| failed(&error.without_url()))? {
            if body.len() + chunk.len() > bytes_max {
                return Err(Failure::TooLarge(bytes_max));
            }
            body.extend_from_slice(&chunk);
        }
        Ok(body)
    }
}

/// Resolves names to public addresses only; the address that is connected to is the one that was judged.
#[derive(Debug)]
struct PublicOnly;

impl Resolve for PublicOnly {
    fn resolve(&self, name: Name) -> Resolving {
        Box::pin(async move {
            let found = tokio::net::lookup_host((name.as_str(), 0)).await?;
            let public: Vec<SocketAddr> = found.filter(|address| is_public(address.ip())).collect();
            if public.is_empty() {
                return Err("the name has no public address".into());
            }
            let addresses: Addrs = Box::new(public.into_iter());
            Ok(addresses)
        })
    }
}
