//! A host on a port, and a host in this process.

use axum::Router;
use tokio::net::TcpListener;
use tower::ServiceExt;
use tower::util::BoxCloneSyncService;
use weft_chassis::{Env, Peer};

use crate::Host;
use crate::http;

impl Host {
    /// `POST /peer/invoke`, `GET /peer/about`, `GET /healthz`.
    pub fn router(&self) -> Router {
        http::router(self.clone())
    }

    /// The same routes without a port between: for a caller in this process, who seals and speaks HTTP all the same.
    #[must_use]
    pub fn peer(&self) -> Peer {
        let routes = self.router().into_service();
        BoxCloneSyncService::new(
            routes
                .map_response(|response: axum::response::Response| response.map(tonic::body::Body::new))
                .map_err(|never: std::convert::Infallible| match never {}),
        )
    }
}

/// Serves a node until the mesh stops; calls that run are finished.
///
/// # Errors
/// When the socket breaks.
pub async fn serve(listener: TcpListener, host: Host, env: Env) -> std::io::Result<()> {
    let stop = env.stop().clone();
    axum::serve(listener, host.router()).with_graceful_shutdown(async move { stop.cancelled().await }).await
}
