//! TLS for clients of the outside: the machine's own certificate authorities.

use std::sync::Arc;

use rustls::ClientConfig;
use rustls_platform_verifier::BuilderVerifierExt;

/// A configuration to be handed to a client, so that nothing has to be installed for the whole process. `whom` names,
/// for the log, what cannot be reached on a machine without certificate authorities; plain HTTP still can.
///
/// # Errors
/// When TLS cannot be set up at all.
pub fn client(whom: &str) -> Result<ClientConfig, String> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let versions = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| format!("cannot set up TLS: {error}"))?;
    let mut config = match versions.clone().with_platform_verifier() {
        Ok(verified) => verified.with_no_client_auth(),
        Err(error) => {
            tracing::warn!(%error, "no certificate authorities here: {whom} behind https cannot be reached");
            versions.with_root_certificates(rustls::RootCertStore::empty()).with_no_client_auth()
        }
    };
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(config)
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_client_offers_both_protocols() {
        assert_eq!(super::client("peers").unwrap().alpn_protocols, [b"h2".to_vec(), b"http/1.1".to_vec()]);
    }
}
