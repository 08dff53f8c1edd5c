//! Certificates and keys in PEM files.

use std::path::Path;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

use super::Identity;

/// The certificates of a file, at least one.
pub(super) fn certificates(file: &Path) -> Result<Vec<CertificateDer<'static>>, String> {
    let shown = file.display();
    let text = std::fs::read(file).map_err(|e| format!("{shown}: cannot be read: {e}"))?;
    let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&text).collect();
    let found = found.map_err(|e| format!("{shown}: is not PEM: {e}"))?;
    if found.is_empty() {
        return Err(format!("{shown}: holds no certificate: it must be PEM, -----BEGIN CERTIFICATE-----"));
    }
    Ok(found)
}

/// A certificate with the authorities above it, and its key.
pub(super) fn identity(cert: &Path, key: &Path) -> Result<Identity, String> {
    let chain = certificates(cert)?;
    let shown = key.display();
    let text = std::fs::read(key).map_err(|e| format!("{shown}: cannot be read: {e}"))?;
    let key = PrivateKeyDer::from_pem_slice(&text)
        .map_err(|_| format!("{shown}: holds no private key in PEM that is not encrypted"))?;
    Ok((chain, key))
}
