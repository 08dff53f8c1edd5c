//! The listeners: HTTP/1.1 and HTTP/2 on one port, with TLS or without, bounded in connections and in patience.

mod connection;
mod patience;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use weft_chassis::Env;

use crate::edge::{Edge, Refused};
use crate::tls::Tls;
use crate::{Settings, Upstreams, access, router};
use connection::Connections;

/// A pause after a failed accept: out of file handles, most likely.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// How long a start waits for the first snapshot of the catalog, and before it for the access policy, so that the first
/// caller is not sent away.
const FIRST_WAIT: Duration = Duration::from_secs(2);

/// An edge whose address is taken, but which does not answer there yet.
pub struct Bound {
    listener: TcpListener,
    address: SocketAddr,
    router: Router,
    /// The gRPC services' own listener.
    grpc: Option<(TcpListener, Router)>,
    tls: Option<Tls>,
    edge: Arc<Edge>,
}

/// Binds the address of `edge.http` and begins to watch the catalog.
///
/// # Errors
/// When the address cannot be bound or a setting cannot be obeyed; names it and the remedy.
pub async fn bind(settings: Settings, upstreams: &Upstreams, env: &Env) -> Result<Bound, String> {
    let (listener, address) = weft_chassis::serve::bind(&settings.http).await?;
    let apart = match settings.grpc.as_str() {
        "" => None,
        address => Some(weft_chassis::serve::bind(address).await?),
    };
    let grpc_address = apart.as_ref().map(|(_, address)| *address);
    let text = |refused: Refused| refused.to_string();
    let edge = Edge::over(settings, address, grpc_address, upstreams, env).map_err(text)?;
    edge.settled(FIRST_WAIT).await.map_err(text)?;
    let tls = Tls::open(edge.settings(), edge.client_authorities(), env).await.map_err(text)?;
    edge.catalog().ready(FIRST_WAIT).await;
    let router = router::routes(&edge).map_err(text)?;
    let grpc = match apart {
        Some((listener, _)) => Some((listener, router::grpc(&edge).map_err(text)?)),
        None => None,
    };
    Ok(Bound { listener, address, router, grpc, tls, edge })
}

impl Bound {
    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// What it will answer, for whoever inspects it before it is open, from within and without credentials.
    pub fn router(&self) -> Router {
        access::inspected(self.router.clone())
    }

    /// Where gRPC has a listener of its own.
    #[must_use]
    pub fn grpc_address(&self) -> Option<SocketAddr> {
        self.grpc.as_ref().and_then(|(listener, _)| listener.local_addr().ok())
    }

    /// Answers until the mesh stops. On a stop it says that it is not ready and ends its streams, still answers for
    /// `edge.drain_ms`, and lets running calls finish. The listener and its connections are parts of the mesh: a drain
    /// waits for them.
    pub fn serve(self) {
        let env = self.edge.env().clone();
        if let Some((listener, router)) = self.grpc {
            env.spawn(accept(listener, router, self.tls.clone(), Arc::clone(&self.edge)));
        }
        env.spawn(accept(self.listener, self.router, self.tls, self.edge));
    }
}

async fn accept(listener: TcpListener, service: Router, tls: Option<Tls>, edge: Arc<Edge>) {
    let (settings, env) = (edge.settings(), edge.env());
    let connections =
        Arc::new(Semaphore::new(usize::try_from(settings.connections_max).unwrap_or(usize::MAX)));
    let drain = Duration::from_millis(u64::from(settings.drain_ms));
    let header_read = Duration::from_millis(u64::from(settings.header_read_ms));
    let closing = CancellationToken::new();
    let shared = Connections::new(service, tls, settings.hsts_max_age_s, header_read, closing.clone());
    let drained = async {
        env.stop().cancelled().await;
        tokio::time::sleep(drain).await;
    };
    tokio::pin!(drained);
    loop {
        // A full house leaves callers in the system's own queue; they are served when one leaves.
        let accepted = async {
            let permit = Arc::clone(&connections).acquire_owned().await;
            (permit, listener.accept().await)
        };
        let (permit, accepted) = tokio::select! {
            accepted = accepted => accepted,
            () = &mut drained => break,
        };
        match accepted {
            Ok((stream, peer)) => {
                // The handshake is the connection's own affair: nobody else waits for it.
                let connection = shared.clone().serve(stream, peer);
                env.spawn(async move {
                    connection.await;
                    drop(permit);
                });
            }
            Err(error) => {
                tracing::warn!(%error, "a connection was not accepted");
                tokio::time::sleep(ACCEPT_PAUSE).await;
            }
        }
    }
    closing.cancel();
}
