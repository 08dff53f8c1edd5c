//! TLS on the listeners: a certificate that is read again when its files change, clients that may show one of theirs,
//! and a clean word for whoever speaks plain HTTP.

mod accept;
mod config;
mod files;
mod follow;
pub(crate) mod hsts;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use weft_chassis::Env;

use crate::Settings;
use crate::edge::Refused;

#[cfg(test)]
use accept::Secured;
pub(crate) use accept::{Accepted, Protocol};
use config::Current;
use files::Files;

/// Authorities of client certificates (PEM), as the access policy says them; nothing: no client is asked for one.
pub(crate) type Authorities = watch::Receiver<Option<Arc<str>>>;

/// TLS of one edge. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Tls {
    current: watch::Receiver<Current>,
    handshake: Duration,
}

// === impl Tls ===

impl Tls {
    /// Nothing when no certificate is set. Else the files are read now, and again whenever they change.
    pub(crate) async fn open(
        settings: &Settings,
        authorities: Authorities,
        env: &Env,
    ) -> Result<Option<Tls>, Refused> {
        let files = match (settings.tls_cert.as_str(), settings.tls_key.as_str()) {
            ("", "") => return Ok(None),
            (_, "") => return Err(alone("edge.tls_cert", "edge.tls_key")),
            ("", _) => return Err(alone("edge.tls_key", "edge.tls_cert")),
            (cert, key) => Files { cert: PathBuf::from(cert), key: PathBuf::from(key) },
        };
        let pair = files.read().await.map_err(Refused)?;
        let asked = authorities.borrow().clone();
        let first = Current::new(&pair, asked.as_deref()).map_err(Refused)?;
        let (sender, current) = watch::channel(first);
        let every = Duration::from_millis(u64::from(settings.tls_poll_ms));
        let follower = follow::Follower::new(files, pair, authorities, asked, sender);
        let stop = env.stop().clone();
        env.spawn(async move {
            tokio::select! {
                () = follower.run(every) => {}
                () = stop.cancelled() => {}
            }
        });
        Ok(Some(Tls { current, handshake: Duration::from_millis(u64::from(settings.header_read_ms)) }))
    }
}

fn alone(given: &str, missing: &str) -> Refused {
    Refused(format!("{given} is set, but {missing} is not: set both, or none to speak plain HTTP"))
}

#[cfg(test)]
mod tests;
