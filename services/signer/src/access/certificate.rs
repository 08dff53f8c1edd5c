//! Client certificates: their digest, and the names in them. The listener has verified chain and possession.

use rustls::pki_types::CertificateDer;
use sha2::{Digest as _, Sha256};
use webpki::EndEntityCert;

/// Largest certificate, in bytes.
const BYTES_MAX: usize = 64 * 1024;

/// What principals are known by.
pub(super) struct Presented {
    pub(super) digest: [u8; 32],
    /// As the access file writes them: `dns:…` in lower case, `uri:…`.
    pub(super) names: Vec<String>,
}

/// Reads a certificate; nothing when it is none.
pub(super) fn read(der: &[u8]) -> Option<Presented> {
    if der.len() > BYTES_MAX {
        return None;
    }
    let wrapped = CertificateDer::from(der);
    let certificate = EndEntityCert::try_from(&wrapped).ok()?;
    let dns = certificate.valid_dns_names().map(|name| format!("dns:{}", name.to_ascii_lowercase()));
    let uri = certificate.valid_uri_names().map(|name| format!("uri:{name}"));
    Some(Presented { digest: Sha256::digest(der).into(), names: dns.chain(uri).collect() })
}

/// A name as the access file writes it after `san:`; nothing when it is of no kind that is compared.
pub(super) fn name(text: &str) -> Option<String> {
    match text.split_once(':')? {
        ("dns", name) if !name.is_empty() => Some(format!("dns:{}", name.to_ascii_lowercase())),
        ("uri", name) if name.contains(':') => Some(format!("uri:{name}")),
        _ => None,
    }
}
