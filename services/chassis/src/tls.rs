//! TLS for clients of the outside.

use std::sync::Arc;

use rustls::ClientConfig;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls_platform_verifier::Verifier;

/// A configuration to be handed to a client, so that nothing has to be installed for the whole process. It trusts the
/// machine's certificate authorities and `roots`; `identity` is what it shows of itself. `whom` names, for the log, what
/// cannot be reached on a machine without any authority; plain HTTP still can.
///
/// # Errors
/// When TLS cannot be set up at all, or a root or the identity cannot be used.
pub fn client(
    whom: &str,
    roots: &[CertificateDer<'static>],
    identity: Option<(Vec<CertificateDer<'static>>, PrivateKeyDer<'static>)>,
) -> Result<ClientConfig, String> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let versions = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .map_err(|error| format!("cannot set up TLS: {error}"))?;
    let trusting = match Verifier::new_with_extra_roots(roots.iter().cloned(), provider) {
        Ok(verifier) => versions.dangerous().with_custom_certificate_verifier(Arc::new(verifier)),
        Err(error) if roots.is_empty() => {
            tracing::warn!(%error, "no certificate authorities here: {whom} behind https cannot be reached");
            versions.with_root_certificates(rustls::RootCertStore::empty())
        }
        Err(error) => return Err(format!("a certificate authority cannot be used: {error}")),
    };
    let mut config = match identity {
        Some((chain, key)) => trusting
            .with_client_auth_cert(chain, key)
            .map_err(|error| format!("the client certificate and its key cannot be used: {error}"))?,
        None => trusting.with_no_client_auth(),
    };
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(config)
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_client_offers_both_protocols() {
        let config = super::client("peers", &[], None).unwrap();
        assert_eq!(config.alpn_protocols, [b"h2".to_vec(), b"http/1.1".to_vec()]);
    }
}
