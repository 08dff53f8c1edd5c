//! A node elsewhere, over HTTP: the one client of the mesh that goes out to nodes.

use std::time::Duration;

use bytes::Bytes;
use http::Request;
use weft_chassis::Outbound;
use weft_chassis::outbound::causes;

use crate::failure::Failure;

/// Idle connections to one node that are kept.
const IDLE_PER_NODE_MAX: usize = 64;

/// The client: no redirects (a seal holds for one target), the bounds of the settings.
pub(super) fn client(outbound: &Outbound, connect: Duration) -> Result<reqwest::Client, String> {
    let builder = outbound
        .client("nodes")?
        .connect_timeout(connect)
        .tcp_nodelay(true)
        // A peer that is gone without a word is found out within 30 s.
        .tcp_keepalive(Duration::from_secs(15))
        .tcp_keepalive_interval(Duration::from_secs(5))
        .tcp_keepalive_retries(3)
        .pool_idle_timeout(Duration::from_secs(30))
        .pool_max_idle_per_host(IDLE_PER_NODE_MAX);
    builder.build().map_err(|error| format!("cannot make the client for nodes: {}", causes(&error)))
}

pub(super) async fn send(
    client: &reqwest::Client,
    request: Request<Bytes>,
) -> Result<reqwest::Response, Failure> {
    let request = reqwest::Request::try_from(request.map(reqwest::Body::from))
        .map_err(|error| Failure::Unreachable(format!("its address is not a URL: {}", causes(&error))))?;
    client.execute(request).await.map_err(|error| {
        if error.is_connect() || error.is_timeout() {
            Failure::Unreachable(causes(&error))
        } else {
            Failure::Broken(causes(&error))
        }
    })
}
