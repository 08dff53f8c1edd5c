//! One role on a port: the same routes that [`crate::peer::local`] takes, with limits, keep-alive, health and drain.

use std::net::SocketAddr;
use std::time::Duration;

use tokio::net::TcpListener;
use tonic::service::Routes;
use tonic::transport::Server;
use tonic::transport::server::TcpIncoming;

use crate::{Env, peer};

/// Streams one connection may hold at once.
const STREAMS_PER_CONNECTION_MAX: u32 = 4_096;
/// A connection is renewed after this long, so that a balanced client finds new replicas.
const CONNECTION_AGE: Duration = Duration::from_secs(30 * 60);
/// How long the streams of an old connection may go on.
const CONNECTION_GRACE: Duration = Duration::from_secs(60);

/// Serves `routes` on `listener` until the mesh stops; running calls are finished. Health answers `SERVING` until then.
///
/// # Errors
/// When the socket breaks.
pub async fn grpc(listener: TcpListener, routes: Routes, env: &Env) -> Result<(), tonic::transport::Error> {
    let (health, health_service) = tonic_health::server::health_reporter();
    // The empty service name stands for the whole server (gRPC health protocol).
    health.set_service_status("", tonic_health::ServingStatus::Serving).await;
    // Not `TcpListenerStream`: with it `tcp_nodelay` has no effect and every call costs 40 ms.
    let incoming = TcpIncoming::from(listener).with_nodelay(Some(true));
    let stop = env.stop().clone();
    Server::builder()
        .http2_keepalive_interval(Some(Duration::from_secs(20)))
        .http2_keepalive_timeout(Some(Duration::from_secs(10)))
        .max_concurrent_streams(Some(STREAMS_PER_CONNECTION_MAX))
        .max_connection_age(CONNECTION_AGE)
        .max_connection_age_grace(CONNECTION_GRACE)
        .layer(tower::layer::layer_fn(peer::traced))
        .add_routes(routes.add_service(health_service))
        .serve_with_incoming_shutdown(incoming, async move {
            stop.cancelled().await;
            health.set_service_status("", tonic_health::ServingStatus::NotServing).await;
        })
        .await
}

/// Binds a listener and says where.
///
/// # Errors
/// With the address in the message.
pub async fn bind(address: &str) -> Result<(TcpListener, SocketAddr), String> {
    let listener =
        TcpListener::bind(address).await.map_err(|e| format!("cannot listen on {address}: {e}"))?;
    let bound = listener.local_addr().map_err(|e| format!("cannot listen on {address}: {e}"))?;
    Ok((listener, bound))
}
