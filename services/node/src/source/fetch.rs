//! One bounded GET: no redirects, no proxy, no cookies, and no private address unless the manifest allows it.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::header::ACCEPT;
use rustls::ClientConfig;
use rustls_platform_verifier::BuilderVerifierExt;
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
    pub(crate) fn open(url: &Url, accept: &'static str) -> Result<Fetch, Misfit> {
        let misfit = |remedy: String| Misfit { key: "url", value: format!("\"{}\"", url.text), remedy };
        let parsed = reqwest::Url::parse(&url.text).map_err(|error| misfit(format!("not a URL: {error}")))?;
        // A literal address is never resolved, so the resolver below would not see it.
        let host = parsed.host_str().unwrap_or_default().trim_matches(['[', ']']);
        if !url.private && host.parse::<IpAddr>().is_ok_and(|ip| !is_public(ip)) {
            return Err(misfit("a private address: say private = true when this is meant".to_owned()));
        }
        let mut builder = reqwest::Client::builder()
            .redirect(reqwest::redirect::Policy::none())
            .no_proxy()
            .connect_timeout(CONNECT)
            .pool_max_idle_per_host(1)
            .user_agent(concat!("weft-node/", env!("CARGO_PKG_VERSION")))
            .tls_backend_preconfigured(tls().map_err(misfit)?);
        if !url.private {
            builder = builder.dns_resolver(PublicOnly);
        }
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

/// Handed to the client, so that nothing has to be installed for the whole process.
fn tls() -> Result<ClientConfig, String> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let versions = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| format!("TLS cannot be set up: {error}"))?;
    Ok(match versions.clone().with_platform_verifier() {
        Ok(verified) => verified.with_no_client_auth(),
        Err(error) => {
            // A machine without certificate authorities can still read sources over plain HTTP.
            tracing::warn!(%error, "no certificate authorities here: sources behind https cannot be read");
            versions.with_root_certificates(rustls::RootCertStore::empty()).with_no_client_auth()
        }
    })
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

/// An error with its causes, in one line.
fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        text = format!("{text}: {cause}");
        next = cause.source();
    }
    text
}
