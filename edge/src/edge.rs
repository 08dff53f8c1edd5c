//! What the handlers share: settings, the services behind, the watched catalog, limits and counters of one edge.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use weft_chassis::{Env, Peer};
use weft_core::card::Public;
use weft_proto::weft::signer_client::SignerClient;
use weft_proto::weft::tasks_client::TasksClient;

use crate::access::Access;
use crate::audit::Audit;
use crate::caller::Version;
use crate::card::Publisher;
use crate::catalog::Catalog;
use crate::guard::Guard;
use crate::limits::Limits;
use crate::metrics::Counters;
use crate::tls::Authorities;
use crate::{Settings, Upstreams};

/// Why an edge does not start; names the setting and the remedy.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Refused(pub(crate) String);

/// One edge. Shared by all requests.
pub(crate) struct Edge {
    settings: Settings,
    env: Env,
    tasks: TasksClient<Peer>,
    signer: SignerClient<Peer>,
    catalog: Catalog,
    limits: Limits,
    counters: Counters,
    guard: Guard,
    warnings: Vec<String>,
    public_base: String,
    access: Access,
    audit: Audit,
    /// The first listener that other machines can reach: its setting and its address.
    open: Option<(&'static str, SocketAddr)>,
}

// === impl Edge ===

impl Edge {
    /// An edge whose one listener serves every binding.
    pub(crate) fn new(
        settings: Settings,
        bound: SocketAddr,
        upstreams: &Upstreams,
        env: &Env,
    ) -> Result<Arc<Edge>, Refused> {
        Edge::over(settings, bound, None, upstreams, env)
    }

    /// Puts an edge together and begins to watch the catalog and the access policy. `grpc` is where gRPC has a listener of
    /// its own.
    pub(crate) fn over(
        settings: Settings,
        bound: SocketAddr,
        grpc: Option<SocketAddr>,
        upstreams: &Upstreams,
        env: &Env,
    ) -> Result<Arc<Edge>, Refused> {
        let open = [("edge.http", Some(bound)), ("edge.grpc", grpc)]
            .into_iter()
            .find_map(|(name, address)| address.filter(|a| !a.ip().is_loopback()).map(|a| (name, a)));
        check_base_path(&settings.base_path)?;
        let guard = Guard::new(&settings, bound)?;
        let public = public(&settings, bound)?;
        for warning in &public.warnings {
            tracing::warn!("{warning}");
        }
        let (warnings, public_base) = (public.warnings.clone(), public.base.clone());
        let signer = SignerClient::new(upstreams.signer.clone());
        let publisher = Publisher::new(&settings, public, grpc, signer.clone())?;
        let exposed = open.is_some() && !settings.tokenless_beyond_loopback;
        let within = Duration::from_millis(u64::from(settings.upstream_ms));
        let access = Access::watch(upstreams.access_client(), exposed, within, env);
        let counters = Counters::register(env.metrics());
        let drain = Duration::from_millis(u64::from(settings.drain_ms));
        let audit = Audit::open(upstreams.audit_client(), (within, drain), &counters, env);
        Ok(Arc::new(Edge {
            warnings,
            public_base,
            tasks: upstreams.tasks_client(),
            signer,
            catalog: Catalog::watch(upstreams.catalog_client(), publisher, access.policies(), env),
            access,
            audit,
            open,
            limits: Limits::new(&settings, &counters),
            counters,
            guard,
            settings,
            env: env.clone(),
        }))
    }

    /// Waits for the access policy, but not for long: without it, calls are sent away until it comes.
    ///
    /// # Errors
    /// When other machines can reach a listener, nobody has credentials, and the operator has not said that this is
    /// meant.
    pub(crate) async fn settled(&self, within: Duration) -> Result<(), Refused> {
        let Some(policy) = self.access.first(within).await else {
            tracing::warn!("the signer has not said who may call yet");
            return Ok(());
        };
        match self.open {
            Some((name, bound)) if !policy.credentials && !self.settings.tokenless_beyond_loopback => {
                Err(Refused(format!(
                    "{name} is {bound}, which other machines can reach, and nobody has credentials: make some with \
                     `weft access add NAME`, bind to 127.0.0.1, or set edge.tokenless_beyond_loopback = true if \
                     everyone who can reach it may use it"
                )))
            }
            _ => Ok(()),
        }
    }

    pub(crate) fn access(&self) -> &Access {
        &self.access
    }

    /// The way to the record of security events.
    pub(crate) fn audit(&self) -> &Audit {
        &self.audit
    }

    pub(crate) fn settings(&self) -> &Settings {
        &self.settings
    }

    pub(crate) fn env(&self) -> &Env {
        &self.env
    }

    /// A client of the task store; a clone, since calls need it mutable.
    pub(crate) fn tasks(&self) -> TasksClient<Peer> {
        self.tasks.clone()
    }

    /// A client of the signer.
    pub(crate) fn signer(&self) -> SignerClient<Peer> {
        self.signer.clone()
    }

    pub(crate) fn catalog(&self) -> &Catalog {
        &self.catalog
    }

    pub(crate) fn limits(&self) -> &Limits {
        &self.limits
    }

    pub(crate) fn counters(&self) -> &Counters {
        &self.counters
    }

    pub(crate) fn guard(&self) -> &Guard {
        &self.guard
    }

    /// What an operator should mend, one sentence each.
    pub(crate) fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// The URL under which callers reach this edge, without a trailing slash.
    pub(crate) fn public_base(&self) -> &str {
        &self.public_base
    }

    /// The versions that are spoken.
    pub(crate) fn spoken(&self) -> &'static [Version] {
        if self.settings.legacy_v03 { &[Version::V1, Version::V03] } else { &[Version::V1] }
    }

    /// The path below which everything but gRPC lies; empty: the root. It begins with a slash and ends with none.
    pub(crate) fn base_path(&self) -> &str {
        self.settings.base_path.trim_end_matches('/')
    }

    /// Whose client certificates are taken.
    pub(crate) fn client_authorities(&self) -> Authorities {
        self.access.authorities()
    }

    pub(crate) fn upstream_time(&self) -> Duration {
        Duration::from_millis(u64::from(self.settings.upstream_ms))
    }

    pub(crate) fn body_bytes_max(&self) -> usize {
        usize::try_from(self.settings.body_bytes_max).unwrap_or(usize::MAX)
    }

    pub(crate) fn body_read_time(&self) -> Duration {
        Duration::from_millis(u64::from(self.settings.body_read_ms))
    }

    pub(crate) fn keep_alive(&self) -> Duration {
        Duration::from_millis(u64::from(self.settings.keep_alive_ms))
    }
}

/// The address of the other end of the connection, put on each request by the listener. Forwarded headers do not count.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PeerAddr(pub(crate) SocketAddr);

/// The certificate that the client has shown and proved to own (DER), checked against the authorities of the access
/// policy; put on each request by the listener.
#[derive(Debug, Clone)]
pub(crate) struct PeerCertificate(pub(crate) Arc<[u8]>);

/// Who is on the other end; a request that came over no connection counts as local.
pub(crate) fn peer_of(extensions: &http::Extensions) -> IpAddr {
    extensions.get::<PeerAddr>().map_or(IpAddr::from([127, 0, 0, 1]), |peer| peer.0.ip().to_canonical())
}

/// Under which address the card says the mesh is reached. Never taken from a request, never an unspecified address.
fn public(settings: &Settings, bound: SocketAddr) -> Result<Public, Refused> {
    let url = settings.public_url.trim_end_matches('/');
    if !url.is_empty() {
        let parsed: http::Uri = url.parse().map_err(|_| bad_public_url(url))?;
        let web = matches!(parsed.scheme_str(), Some("http" | "https"));
        let plain = parsed.query().is_none() && !url.contains(['#', '@']);
        if !web || !plain || parsed.host().is_none_or(str::is_empty) {
            return Err(bad_public_url(url));
        }
        return Ok(Public { base: url.to_owned(), warnings: Vec::new() });
    }
    let mut reached = bound;
    let mut warnings = Vec::new();
    if bound.ip().is_unspecified() {
        reached.set_ip(IpAddr::from([127, 0, 0, 1]));
        warnings.push(format!(
            "listening on every address ({bound}) without edge.public_url: the agent card can only name {reached}, \
             which other machines cannot reach; set edge.public_url"
        ));
    } else if !bound.ip().is_loopback() {
        warnings
            .push("edge.public_url is not set: the agent card names the listener's own address".to_owned());
    }
    Ok(Public {
        base: format!("{}://{reached}{}", settings.scheme(), settings.base_path.trim_end_matches('/')),
        warnings,
    })
}

/// A path of plain segments, or nothing.
fn check_base_path(path: &str) -> Result<(), Refused> {
    let plain = |segment: &str| {
        !segment.is_empty()
            && segment.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.~".contains(&b))
            && !segment.bytes().all(|b| b == b'.')
    };
    let fits = path.is_empty()
        || path.trim_end_matches('/').strip_prefix('/').is_some_and(|rest| rest.split('/').all(plain));
    if fits {
        Ok(())
    } else {
        Err(Refused(format!("edge.base_path is {path}: must be empty or like /mesh or /teams/mesh")))
    }
}

fn bad_public_url(url: &str) -> Refused {
    Refused(format!(
        "edge.public_url is {url}: must be http(s)://host[:port][/prefix], for example https://mesh.example"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn base(public_url: &str, bound: &str) -> Result<(String, usize), Refused> {
        let settings = Settings { public_url: public_url.into(), ..Settings::default() };
        public(&settings, bound.parse().unwrap()).map(|p| (p.base, p.warnings.len()))
    }

    #[test]
    fn the_card_names_the_public_url_or_the_listener_but_never_an_unspecified_address() {
        assert_eq!(base("", "127.0.0.1:8420").unwrap(), ("http://127.0.0.1:8420".into(), 0));
        assert_eq!(base("", "0.0.0.0:8420").unwrap(), ("http://127.0.0.1:8420".into(), 1));
        assert_eq!(base("", "[::]:8420").unwrap(), ("http://127.0.0.1:8420".into(), 1));
        assert_eq!(base("", "192.0.2.1:80").unwrap(), ("http://192.0.2.1:80".into(), 1));
        assert_eq!(base("https://m.example/x/", "0.0.0.0:1").unwrap(), ("https://m.example/x".into(), 0));
        for bad in ["m.example", "ftp://m", "http://", "http://u:p@m", "http://m?x", "http://m#x", "/x"] {
            assert!(base(bad, "127.0.0.1:1").is_err(), "{bad}");
        }
    }
}
