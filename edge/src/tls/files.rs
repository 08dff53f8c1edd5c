//! The files of `edge.tls_cert` and `edge.tls_key`.

use std::path::{Path, PathBuf};

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use sha2::{Digest, Sha256};

/// Where they lie.
#[derive(Clone)]
pub(super) struct Files {
    pub(super) cert: PathBuf,
    pub(super) key: PathBuf,
}

/// What they hold.
pub(super) struct Pair {
    /// The server's own first, then those above it.
    pub(super) chain: Vec<CertificateDer<'static>>,
    pub(super) key: PrivateKeyDer<'static>,
    /// Of both files' bytes: tells a change, however the files were put there.
    pub(super) digest: [u8; 32],
}

// === impl Files ===

impl Files {
    /// # Errors
    /// Names the setting, the file and the remedy; never what a key file holds.
    pub(super) async fn read(&self) -> Result<Pair, String> {
        let cert = bytes("edge.tls_cert", &self.cert).await?;
        let key = bytes("edge.tls_key", &self.key).await?;
        let mut digest = Sha256::new();
        digest.update((cert.len() as u64).to_le_bytes());
        digest.update(&cert);
        digest.update(&key);
        let (at, bad) = (self.cert.display(), "must be PEM, -----BEGIN CERTIFICATE-----");
        let chain: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&cert).collect();
        let chain = chain.map_err(|e| format!("edge.tls_cert is {at}, which cannot be read: {e}: {bad}"))?;
        if chain.is_empty() {
            return Err(format!("edge.tls_cert is {at}, which holds no certificate: {bad}"));
        }
        let key = PrivateKeyDer::from_pem_slice(&key).map_err(|_| {
            format!(
                "edge.tls_key is {}, which holds no private key: must be PEM that is not encrypted",
                self.key.display()
            )
        })?;
        Ok(Pair { chain, key, digest: digest.finalize().into() })
    }
}

async fn bytes(setting: &str, file: &Path) -> Result<Vec<u8>, String> {
    let read = tokio::fs::read(file).await;
    read.map_err(|e| format!("{setting} is {}, which cannot be read: {e}", file.display()))
}
