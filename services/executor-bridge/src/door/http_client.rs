//! A node elsewhere, over HTTP: the one client of the mesh that goes out to nodes.

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::Request;
use reqwest::redirect;
use rustls::ClientConfig;
use rustls_platform_verifier::BuilderVerifierExt;

use crate::failure::Failure;

/// Idle connections to one node that are kept.
const IDLE_PER_NODE_MAX: usize = 64;

/// The client: no redirects (a seal holds for one target), no proxies, the bounds of the settings.
pub(super) fn client(connect: Duration) -> Result<reqwest::Client, String> {
    let builder = reqwest::Client::builder()
        .redirect(redirect::Policy::none())
        .no_proxy()
        .referer(false)
        .connect_timeout(connect)
        .tcp_nodelay(true)
        // A peer that is gone without a word is found out within 30 s.
        .tcp_keepalive(Duration::from_secs(15))
        .tcp_keepalive_interval(Duration::from_secs(5))
        .tcp_keepalive_retries(3)
        .pool_idle_timeout(Duration::from_secs(30))
        .pool_max_idle_per_host(IDLE_PER_NODE_MAX)
        .user_agent(concat!("weft/", env!("CARGO_PKG_VERSION")))
        .tls_backend_preconfigured(tls()?);
    builder.build().map_err(|error| format!("cannot make the client for nodes: {}", chain(&error)))
}

/// Handed to the client, so that nothing has to be installed for the whole process.
fn tls() -> Result<ClientConfig, String> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let versions = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| format!("cannot set up TLS: {error}"))?;
    let mut config = match versions.clone().with_platform_verifier() {
        Ok(verified) => verified.with_no_client_auth(),
        Err(error) => {
            // A machine without certificate authorities can still reach nodes over plain HTTP.
            tracing::warn!(%error, "no certificate authorities here: nodes behind https cannot be reached");
            versions.with_root_certificates(rustls::RootCertStore::empty()).with_no_client_auth()
        }
    };
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(config)
}

pub(super) async fn send(
    client: &reqwest::Client,
    request: Request<Bytes>,
) -> Result<reqwest::Response, Failure> {
    let request = reqwest::Request::try_from(request.map(reqwest::Body::from))
        .map_err(|error| Failure::Unreachable(format!("its address is not a URL: {}", chain(&error))))?;
    client.execute(request).await.map_err(|error| {
        if error.is_connect() || error.is_timeout() {
            Failure::Unreachable(chain(&error))
        } else {
            Failure::Broken(chain(&error))
        }
    })
}

/// An error with its causes, without the address: that stands beside it already.
pub(super) fn chain(error: &(dyn Error + 'static)) -> String {
    let mut texts: Vec<String> = Vec::new();
    let mut next = error.source();
    while let Some(cause) = next {
        texts.push(cause.to_string());
        next = cause.source();
    }
    texts.dedup();
    if texts.is_empty() { error.to_string() } else { texts.join(": ") }
}
