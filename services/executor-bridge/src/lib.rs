//! The only way out to nodes: claims work from the task store, runs it on the node that the catalog names, and writes
//! down what comes back. It decides nothing about tasks and keeps nothing.
//!
//! | module | holds |
//! |---|---|
//! | [`settings`] | every bound of the bridge |
//! | `claim` | work comes in: one stream, granted by credit |
//! | `append` | progress goes up: one stream, at most one unanswered request a lease, resent without doubling |
//! | `run`, `steps` | one work item, from its first step to its last |
//! | `left` | an agent's work that nobody waits for any more: it is told to stop |
//! | `door` | the one outbound call: sealed, traced, bounded, in process or over HTTP |
//! | `failure`, `outcome` | what went wrong, and what an answer means for its task: pure |
//! | `directory` | what the catalog last said |
//! | `probe` | how each node is, told to the catalog |
//! | `grpc` | calls outside of any task, status, drain |

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tonic::service::Routes;
use weft_chassis::peer::MESSAGE_BYTES_MAX;
use weft_chassis::{Env, Peer};
use weft_proto::weft::catalog_client::CatalogClient;
use weft_proto::weft::executor_bridge_server::ExecutorBridgeServer;
use weft_proto::weft::tasks_client::TasksClient;

mod append;
mod backoff;
mod claim;
mod directory;
mod door;
mod failure;
mod grpc;
mod left;
mod metrics;
mod outcome;
mod probe;
mod run;
pub mod settings;
mod steps;

pub use settings::Settings;

/// The services the bridge calls.
pub struct Upstreams {
    /// Work to claim, progress to append.
    pub tasks: Peer,
    /// Where capabilities are served.
    pub catalog: Peer,
    /// Seals for calls to nodes.
    pub signer: Peer,
}

/// The nodes of this process, by id; each takes `POST /peer/invoke`, `POST /peer/cancel`
/// and `GET /peer/about`. They may come and go.
#[derive(Clone)]
pub struct Hosted(watch::Receiver<HashMap<String, Peer>>);

impl Hosted {
    /// The node of this id, as it is now.
    fn get(&self, id: &str) -> Option<Peer> {
        self.0.borrow().get(id).cloned()
    }
}

impl From<watch::Receiver<HashMap<String, Peer>>> for Hosted {
    fn from(nodes: watch::Receiver<HashMap<String, Peer>>) -> Hosted {
        Hosted(nodes)
    }
}

/// Nodes that stay as they are.
impl From<HashMap<String, Peer>> for Hosted {
    fn from(nodes: HashMap<String, Peer>) -> Hosted {
        Hosted(watch::channel(nodes).1)
    }
}

/// A running bridge. Cheap to clone; dropping it stops nothing.
#[derive(Clone)]
pub struct Handle(Arc<Bridge>);

/// What every part of one bridge shares.
struct Bridge {
    settings: Settings,
    env: Env,
    tasks: TasksClient<Peer>,
    catalog: CatalogClient<Peer>,
    directory: directory::Current,
    door: door::Door,
    appender: append::Appender,
    metrics: metrics::Metrics,
    /// No further work is taken.
    stop_claiming: CancellationToken,
    /// Everything ends.
    closed: CancellationToken,
}

/// Starts a bridge: it follows the catalog, claims work and probes nodes until the mesh stops.
///
/// When the mesh stops, no further work is claimed; what runs may end within `bridge.drain_ms`, then its leases run
/// out and somebody else takes it up.
///
/// # Errors
/// When the HTTP client for nodes cannot be made.
pub fn start(
    settings: Settings,
    upstreams: Upstreams,
    hosted: impl Into<Hosted>,
    env: Env,
) -> Result<(Routes, Handle), String> {
    let metrics = metrics::Metrics::new(env.metrics());
    let (current, directory) = watch::channel(None);
    let bridge = Arc::new(Bridge {
        door: door::Door::new(&settings, upstreams.signer, hosted, env.outbound(), metrics.clone())?,
        appender: append::Appender::new(&settings),
        tasks: TasksClient::new(upstreams.tasks).max_decoding_message_size(MESSAGE_BYTES_MAX),
        catalog: CatalogClient::new(upstreams.catalog.clone()),
        directory,
        metrics,
        stop_claiming: CancellationToken::new(),
        closed: CancellationToken::new(),
        settings,
        env,
    });
    let env = &bridge.env;
    env.spawn(directory::follow(upstreams.catalog, current, bridge.closed.clone(), env.clone()));
    env.spawn(bridge.appender.clone().keep(bridge.tasks.clone(), bridge.closed.clone(), env.clone()));
    env.spawn(claim::claim(bridge.clone()));
    env.spawn(probe::keep(bridge.clone()));
    env.spawn(stop_with_the_mesh(bridge.clone()));
    let service =
        ExecutorBridgeServer::new(grpc::Grpc(bridge.clone())).max_decoding_message_size(MESSAGE_BYTES_MAX);
    Ok((Routes::new(service), Handle(bridge)))
}

async fn stop_with_the_mesh(bridge: Arc<Bridge>) {
    bridge.env.stop().cancelled().await;
    let left = bridge.drain(Duration::from_millis(bridge.settings.drain_ms)).await;
    if left > 0 {
        tracing::warn!(left, "stopping with work under way: it is taken up again when its leases run out");
    }
    bridge.appender.stop_all();
    bridge.closed.cancel();
}

impl Bridge {
    /// Stops claiming for good; waits for what runs. Gives how many runs are left after `within`.
    async fn drain(&self, within: Duration) -> usize {
        self.stop_claiming.cancel();
        self.appender.settled(within).await
    }
}

impl Handle {
    /// Stops claiming for good and waits until the running work has ended, at most `within`. Gives how many runs are
    /// left; they go on, and their results are still written down.
    pub async fn drain(&self, within: Duration) -> usize {
        self.0.drain(within).await
    }

    /// Revision of the catalog snapshot in use; `None` until the catalog has answered once.
    #[must_use]
    pub fn catalog_revision(&self) -> Option<u64> {
        self.0.directory.borrow().as_ref().map(|directory| directory.revision)
    }

    /// Resolves when the catalog has answered once; from then on work is claimed.
    pub async fn ready(&self) {
        // Fails only when the bridge has ended; then nobody waits for it.
        let _ = self.0.directory.clone().wait_for(Option::is_some).await;
    }
}

#[cfg(test)]
mod tests;
