//! The listener: HTTP/1.1 and HTTP/2 without TLS on one port, bounded in connections and in patience.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tower::Service;
use weft_chassis::Env;

use crate::edge::Refused;
use crate::edge::{Edge, PeerAddr};
use crate::{Settings, Upstreams, router};

/// Calls that one HTTP/2 connection may hold at once.
const STREAMS_PER_CONNECTION_MAX: u32 = 256;
/// A pause after a failed accept: out of file handles, most likely.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// How long a start waits for the first snapshot of the catalog, so that the first caller is not sent away.
const CATALOG_WAIT: Duration = Duration::from_secs(2);

/// An edge whose address is taken, but which does not answer there yet.
pub struct Bound {
    listener: TcpListener,
    address: SocketAddr,
    router: Router,
    /// The gRPC services' own listener.
    grpc: Option<(TcpListener, Router)>,
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
    edge.catalog().ready(CATALOG_WAIT).await;
    let router = router::routes(&edge).map_err(text)?;
    let grpc = match apart {
        Some((listener, _)) => Some((listener, router::grpc(&edge).map_err(text)?)),
        None => None,
    };
    Ok(Bound { listener, address, router, grpc, edge })
}

impl Bound {
    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// What it will answer, for whoever inspects it before it is open.
    pub fn router(&self) -> Router {
        self.router.clone()
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
            env.spawn(accept(listener, router, Arc::clone(&self.edge)));
        }
        env.spawn(accept(self.listener, self.router, self.edge));
    }
}

async fn accept(listener: TcpListener, service: Router, edge: Arc<Edge>) {
    let (settings, env) = (edge.settings(), edge.env());
    let connections =
        Arc::new(Semaphore::new(usize::try_from(settings.connections_max).unwrap_or(usize::MAX)));
    let drain = Duration::from_millis(u64::from(settings.drain_ms));
    let http = protocol(Duration::from_millis(u64::from(settings.header_read_ms)));
    let closing = CancellationToken::new();
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
                let connection = connection(http.clone(), stream, peer, service.clone(), closing.clone());
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

fn protocol(header_read: Duration) -> auto::Builder<TokioExecutor> {
    let mut http = auto::Builder::new(TokioExecutor::new());
    http.http1().timer(TokioTimer::new()).header_read_timeout(header_read);
    http.http2()
        .timer(TokioTimer::new())
        .max_concurrent_streams(STREAMS_PER_CONNECTION_MAX)
        .keep_alive_interval(Duration::from_secs(20))
        .keep_alive_timeout(Duration::from_secs(10));
    http
}

async fn connection(
    http: auto::Builder<TokioExecutor>,
    stream: TcpStream,
    peer: SocketAddr,
    service: Router,
    closing: CancellationToken,
) {
    // Without it a small answer may wait 40 ms for an acknowledgement; failing costs only that.
    let _ = stream.set_nodelay(true);
    let service = service_fn(move |mut request: hyper::Request<Incoming>| {
        request.extensions_mut().insert(PeerAddr(peer));
        let mut service = service.clone();
        Service::call(&mut service, request)
    });
    let serving = http.serve_connection(TokioIo::new(stream), service);
    tokio::pin!(serving);
    let ended = tokio::select! {
        ended = serving.as_mut() => ended,
        () = closing.cancelled() => {
            serving.as_mut().graceful_shutdown();
            serving.await
        }
    };
    if let Err(error) = ended {
        tracing::debug!(error, "a connection broke");
    }
}
