//! The catalog as the edge sees it: one watched snapshot with everything that is derived from it, built once per
//! change. While the catalog is away the last snapshot goes on being used.

use std::collections::BTreeMap;
use std::future;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use weft_chassis::{Env, Peer};
use weft_core::{Fault, Kind, Violation, tenant};
use weft_proto::weft::catalog_client::CatalogClient;
use weft_proto::weft::{Snapshot, WatchRequest};

use crate::access::Policies;
pub(crate) use crate::card::Agent;
use crate::card::{Made, Publisher};
use crate::upstreams;

/// How long to wait before the watch is opened again: first and most.
const RETRY: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(5));
/// How long cards that could not be signed wait for the next try.
const UNSIGNED: Duration = Duration::from_secs(5);
/// How long the first cards wait for the access policy, which is on them.
const POLICY_WAIT: Duration = Duration::from_secs(1);
/// How often cards are signed again, in case the signer has another key.
const RESIGN: Duration = Duration::from_secs(3_600);

/// One snapshot and its projections.
pub(crate) struct View {
    pub(crate) snapshot: Snapshot,
    mesh: Agent,
    /// By node id.
    nodes: BTreeMap<String, Agent>,
}

/// The present view. Cheap to read.
pub(crate) struct Catalog {
    state: watch::Receiver<State>,
}

#[derive(Clone, Default)]
struct State {
    view: Option<Arc<View>>,
    /// True while the watch is open.
    live: bool,
}

// === impl View ===

impl View {
    /// The agent of this name; empty: the mesh.
    ///
    /// # Errors
    /// `NotFound`, naming the tenant.
    pub(crate) fn agent(&self, tenant: &str) -> Result<&Agent, Fault> {
        if tenant.is_empty() {
            return Ok(&self.mesh);
        }
        self.nodes.get(tenant).ok_or_else(|| {
            let name: String = tenant.chars().filter(|c| !c.is_control()).take(63).collect();
            let description = format!("no agent {name} here: leave it out to ask the mesh itself");
            let message = format!("tenant: {description}");
            let violations = vec![Violation { field: "tenant".to_owned(), description }];
            Fault { violations, ..Fault::new(Kind::NotFound, message) }
        })
    }

    /// True when every card that should be signed is.
    fn is_signed(&self) -> bool {
        self.mesh.is_signed() && self.nodes.values().all(Agent::is_signed)
    }
}

// === impl Catalog ===

impl Catalog {
    /// Watches the catalog until the mesh stops. A change of the access policy makes other cards too.
    pub(crate) fn watch(
        client: CatalogClient<Peer>,
        publisher: Publisher,
        policies: Policies,
        env: &Env,
    ) -> Catalog {
        let (sender, state) = watch::channel(State::default());
        let following = Following { publisher, policies, state: sender, env: env.clone() };
        env.spawn(following.follow(client));
        Catalog { state }
    }

    /// The present view.
    ///
    /// # Errors
    /// `Unavailable` until the first snapshot has come.
    pub(crate) fn view(&self) -> Result<Arc<View>, Fault> {
        self.state.borrow().view.clone().ok_or_else(upstreams::unavailable)
    }

    /// Waits for the first view, but not for long: without one, calls are sent away until it comes.
    pub(crate) async fn ready(&self, within: Duration) {
        let mut state = self.state.clone();
        let first = state.wait_for(|s| s.view.is_some());
        if tokio::time::timeout(within, first).await.is_err() {
            tracing::warn!("the catalog has not answered yet");
        }
    }

    /// Whether the watch is open now.
    pub(crate) fn is_live(&self) -> bool {
        self.state.borrow().live
    }
}

/// What the watch of the catalog makes views with.
struct Following {
    publisher: Publisher,
    policies: Policies,
    state: watch::Sender<State>,
    env: Env,
}

// === impl Following ===

impl Following {
    async fn follow(mut self, mut client: CatalogClient<Peer>) {
        let stop = self.env.stop().clone();
        let known = self.policies.wait_for(Option::is_some);
        tokio::select! {
            _ = tokio::time::timeout(POLICY_WAIT, known) => {}
            () = stop.cancelled() => return,
        }
        let mut pause = RETRY.0;
        loop {
            let watched = tokio::select! {
                watched = self.follow_once(&mut client) => watched,
                () = stop.cancelled() => return,
            };
            self.state.send_modify(|s| s.live = false);
            match watched {
                Ok(()) => pause = RETRY.0,
                Err(refused) => tracing::warn!(error = refused.message(), "the catalog cannot be watched"),
            }
            tokio::select! {
                () = tokio::time::sleep(pause) => pause = (pause * 2).min(RETRY.1),
                () = stop.cancelled() => return,
            }
        }
    }

    /// Follows one watch to its end; `Ok` when it brought at least one snapshot.
    async fn follow_once(&mut self, client: &mut CatalogClient<Peer>) -> Result<(), tonic::Status> {
        let mut snapshots = client.watch(WatchRequest {}).await?.into_inner();
        let mut any = false;
        loop {
            let before = self.state.borrow().view.clone();
            let again = before.as_ref().map(|view| view.snapshot.clone());
            let (snapshot, resign) = tokio::select! {
                snapshot = snapshots.message() => (snapshot, false),
                snapshot = due(&self.publisher, before.as_deref()) => (Ok(snapshot), true),
                Ok(()) = self.policies.changed(), if again.is_some() => (Ok(again), false),
            };
            match snapshot {
                Ok(Some(snapshot)) => {
                    any = true;
                    let view = Arc::new(self.project(snapshot, before.as_deref(), resign).await);
                    self.state.send_replace(State { view: Some(view), live: true });
                }
                Ok(None) => return Ok(()),
                Err(refused) if any => {
                    tracing::warn!(error = refused.message(), "the watch of the catalog broke");
                    return Ok(());
                }
                Err(refused) => return Err(refused),
            }
        }
    }

    async fn project(&mut self, snapshot: Snapshot, before: Option<&View>, resign: bool) -> View {
        let policy = self.policies.borrow_and_update().clone().unwrap_or_default();
        let declared = snapshot.changed.unwrap_or_default();
        // Under the same declarations a card is another one when a node says so of itself, by another key, or by another
        // access policy.
        let changed = match before {
            Some(b) if b.snapshot.revision == snapshot.revision => self.env.now(),
            _ => declared,
        };
        let made = Made { policy: &policy, changed, resign };
        let mesh = self.publisher.agent("", &snapshot, before.map(|b| &b.mesh), &made).await;
        let mut nodes = BTreeMap::new();
        for node in &snapshot.nodes {
            let Some(view) = tenant::view(&snapshot, &node.id) else { continue };
            let before = before.and_then(|b| b.nodes.get(&node.id));
            nodes.insert(node.id.clone(), self.publisher.agent(&node.id, &view, before, &made).await);
        }
        View { snapshot, mesh, nodes }
    }
}

/// The present snapshot once more, when its cards are to be signed again; never without signing.
async fn due(publisher: &Publisher, before: Option<&View>) -> Option<Snapshot> {
    match before {
        Some(view) if publisher.signing.is_on() => {
            tokio::time::sleep(if view.is_signed() { RESIGN } else { UNSIGNED }).await;
            Some(view.snapshot.clone())
        }
        _ => future::pending().await,
    }
}
