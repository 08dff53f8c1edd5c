//! From files and authorities to what a handshake goes by.

use std::sync::Arc;

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::server::danger::ClientCertVerifier;
use rustls::server::{NoServerSessionStorage, WebPkiClientVerifier};
use rustls::{RootCertStore, ServerConfig};
use tokio_util::sync::CancellationToken;

use super::files::Pair;

/// What new connections go by.
#[derive(Clone)]
pub(super) struct Current {
    pub(super) config: Arc<ServerConfig>,
    /// Cancelled when other authorities are asked for: what a client has proved before holds no longer.
    pub(super) clients: CancellationToken,
}

// === impl Current ===

impl Current {
    /// # Errors
    /// Says what does not fit, and the remedy.
    pub(super) fn new(pair: &Pair, authorities: Option<&str>) -> Result<Current, String> {
        let authorities = authorities.filter(|pem| !pem.trim().is_empty());
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        // TLS 1.2 and 1.3.
        let builder = ServerConfig::builder_with_provider(Arc::clone(&provider))
            .with_safe_default_protocol_versions()
            .map_err(|error| format!("TLS cannot be set up: {error}"))?;
        let clients: Arc<dyn ClientCertVerifier> = match authorities {
            None => WebPkiClientVerifier::no_client_auth(),
            // A client without a certificate gets in; it proves who it is in another way, or not.
            Some(pem) => WebPkiClientVerifier::builder_with_provider(roots(pem)?, provider)
                .allow_unauthenticated()
                .build()
                .map_err(|error| format!("the authorities of client certificates cannot be used: {error}"))?,
        };
        let mut config = builder
            .with_client_cert_verifier(clients)
            .with_single_cert(pair.chain.clone(), pair.key.clone_key())
            .map_err(|error| format!("edge.tls_cert and edge.tls_key cannot be used together: {error}"))?;
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        if authorities.is_some() {
            // A session taken up again would skip the check of the client's certificate.
            config.session_storage = Arc::new(NoServerSessionStorage {});
            config.send_tls13_tickets = 0;
        }
        Ok(Current { config: Arc::new(config), clients: CancellationToken::new() })
    }
}

fn roots(pem: &str) -> Result<Arc<RootCertStore>, String> {
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_slice_iter(pem.as_bytes()) {
        let added =
            certificate.map_err(|e| e.to_string()).and_then(|c| roots.add(c).map_err(|e| e.to_string()));
        added.map_err(|error| format!("the authorities of client certificates cannot be read: {error}"))?;
    }
    Ok(Arc::new(roots))
}
