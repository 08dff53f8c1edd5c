//! The one way in which HTTP clients of the outside are made: whom they trust, who they are, whether a proxy lies
//! between, and what is said when they fail.
//!
//! Nothing is taken from the process's surroundings: `HTTPS_PROXY`, `NO_PROXY` and their like are not read. This machine
//! itself is never reached through a proxy.

mod error;
mod pem;
mod proxy;
mod resolve;

use std::path::Path;
use std::sync::Arc;

use reqwest::ClientBuilder;
use reqwest::dns::Resolve;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

use crate::tls;

pub use error::{causes, chain};
use proxy::Proxy;
use resolve::Beside;

crate::settings! {
    /// How other machines are called: nodes, agents, sources behind https, webhooks.
    pub struct Settings in "outbound" {
        /// PEM files of certificate authorities that are trusted besides those of the machine
        pub ca_files: Vec<String> = Vec::new();
        /// proxy for calls to other machines, like http://proxy.example:3128; empty: none. HTTPS_PROXY is not read
        pub proxy: String = String::new();
        /// file that holds user:password for the proxy; empty: it asks for none
        pub proxy_credentials_file: String = String::new();
        /// hosts, domains, addresses and ranges (10.0.0.0/8) that are called without the proxy, as this machine always is
        pub no_proxy: Vec<String> = Vec::new();
        /// send webhooks and sources at public addresses through it too, which then alone judges what may be reached
        pub proxy_guarded: bool = false;
    }
}

/// A certificate for calls, leaf first, and its key.
type Identity = (Vec<CertificateDer<'static>>, PrivateKeyDer<'static>);

/// How other machines are called. Cheap to clone; by default with the machine's authorities and no proxy.
#[derive(Clone, Default)]
pub struct Outbound(Arc<Parts>);

#[derive(Default)]
struct Parts {
    roots: Vec<CertificateDer<'static>>,
    identity: Option<Identity>,
    proxy: Option<Proxy>,
    /// Guarded calls take the proxy too.
    guarded: bool,
}

// === impl Outbound ===

impl Outbound {
    /// Reads the files that the settings name.
    ///
    /// # Errors
    /// Names the setting, its value and the remedy; never a secret.
    pub fn open(settings: &Settings) -> Result<Outbound, String> {
        let mut roots = Vec::new();
        for file in &settings.ca_files {
            roots.extend(authorities(file).map_err(|e| format!("outbound.ca_files: {e}"))?);
        }
        let proxy = Proxy::open(&settings.proxy, &settings.proxy_credentials_file, &settings.no_proxy)?;
        Ok(Outbound(Arc::new(Parts { roots, identity: None, proxy, guarded: settings.proxy_guarded })))
    }

    /// Without a proxy, trusting the authorities in one more file, and with a certificate of its own.
    ///
    /// # Errors
    /// Names the file and what is wrong with it.
    pub fn with_files(ca: Option<&Path>, identity: Option<(&Path, &Path)>) -> Result<Outbound, String> {
        let roots = match ca {
            Some(file) => authorities(&file.display().to_string())?,
            None => Vec::new(),
        };
        let identity = identity.map(|(cert, key)| pem::identity(cert, key)).transpose()?;
        Ok(Outbound(Arc::new(Parts { roots, identity, ..Parts::default() })))
    }

    /// A client that follows no redirects. `whom` names, for the log, what cannot be reached on a machine without
    /// certificate authorities.
    ///
    /// # Errors
    /// When TLS cannot be set up.
    pub fn client(&self, whom: &str) -> Result<ClientBuilder, String> {
        let builder = self.direct(whom)?;
        Ok(match &self.0.proxy {
            Some(proxy) => builder.proxy(proxy.made()?),
            None => builder,
        })
    }

    /// A client for addresses that strangers name: every name is resolved by `guard`, which hands on only addresses that
    /// may be called. It takes no proxy unless `outbound.proxy_guarded` says so; then `guard` sees only the names that
    /// are called without it.
    ///
    /// # Errors
    /// As [`Outbound::client`].
    pub fn guarded(&self, whom: &str, guard: impl Resolve + 'static) -> Result<ClientBuilder, String> {
        let builder = self.direct(whom)?;
        match self.0.proxy.as_ref().filter(|_| self.0.guarded) {
            // The proxy may well lie where the guard lets nobody go.
            Some(proxy) => Ok(builder.proxy(proxy.made()?).dns_resolver(Beside::new(guard, proxy.host()))),
            None => Ok(builder.dns_resolver(guard)),
        }
    }

    fn direct(&self, whom: &str) -> Result<ClientBuilder, String> {
        let identity = self.0.identity.as_ref().map(|(chain, key)| (chain.clone(), key.clone_key()));
        let tls = tls::client(whom, &self.0.roots, identity)?;
        Ok(reqwest::Client::builder()
            .redirect(reqwest::redirect::Policy::none())
            .no_proxy()
            .referer(false)
            .user_agent(concat!("weft/", env!("CARGO_PKG_VERSION")))
            .tls_backend_preconfigured(tls))
    }
}

impl std::fmt::Debug for Outbound {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Outbound")
            .field("roots", &self.0.roots.len())
            .field("identity", &self.0.identity.is_some())
            .field("proxy", &self.0.proxy)
            .finish_non_exhaustive()
    }
}

/// The certificate authorities of a file, each one usable.
fn authorities(file: &str) -> Result<Vec<CertificateDer<'static>>, String> {
    let found = pem::certificates(Path::new(file))?;
    let mut store = rustls::RootCertStore::empty();
    for certificate in &found {
        store.add(certificate.clone()).map_err(|e| format!("{file}: holds no certificate authority: {e}"))?;
    }
    Ok(found)
}

#[cfg(test)]
mod tests;
