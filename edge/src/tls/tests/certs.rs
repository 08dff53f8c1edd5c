//! Authorities, and certificates of theirs, made for one test.

use std::path::Path;

use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, ExtendedKeyUsagePurpose, IsCa, KeyPair,
};

/// An authority.
pub(crate) struct Authority(CertifiedIssuer<'static, KeyPair>);

/// A certificate and its key.
pub(crate) struct Leaf {
    pub(crate) cert: rcgen::Certificate,
    pub(crate) key: KeyPair,
}

impl Authority {
    pub(crate) fn new(name: &str) -> Authority {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.distinguished_name.push(DnType::CommonName, name);
        Authority(CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap())
    }

    pub(crate) fn pem(&self) -> String {
        self.0.pem()
    }

    /// A certificate for a server or a client of this name.
    pub(crate) fn leaf(&self, name: &str) -> Leaf {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(vec![name.to_owned(), "127.0.0.1".to_owned()]).unwrap();
        params.extended_key_usages =
            vec![ExtendedKeyUsagePurpose::ServerAuth, ExtendedKeyUsagePurpose::ClientAuth];
        Leaf { cert: params.signed_by(&key, &self.0).unwrap(), key }
    }
}

impl Leaf {
    /// Writes `cert.pem` and `key.pem`.
    pub(crate) fn write(&self, dir: &Path) {
        std::fs::write(dir.join("cert.pem"), self.cert.pem()).unwrap();
        std::fs::write(dir.join("key.pem"), self.key.serialize_pem()).unwrap();
    }
}
