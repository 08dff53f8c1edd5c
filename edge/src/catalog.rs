//! The catalog as the edge sees it: one watched snapshot with everything that is derived from it, built once per
//! change. While the catalog is away the last snapshot goes on being used.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use weft_chassis::{Env, Peer};
use weft_core::Fault;
use weft_core::card::{self, Public};
use weft_core::route::Index;
use weft_proto::weft::catalog_client::CatalogClient;
use weft_proto::weft::{Snapshot, WatchRequest};
use weft_proto::wkt::Timestamp;

use crate::card::Served;
use crate::upstreams;

/// How long to wait before the watch is opened again: first and most.
const RETRY: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(5));

/// One snapshot and its projections.
pub(crate) struct View {
    pub(crate) snapshot: Snapshot,
    pub(crate) index: Arc<Index>,
    pub(crate) card: Served,
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

// === impl Catalog ===

impl Catalog {
    /// Watches the catalog until the mesh stops.
    pub(crate) fn watch(client: CatalogClient<Peer>, public: Public, env: &Env) -> Catalog {
        let (sender, state) = watch::channel(State::default());
        env.spawn(follow(client, public, sender, env.clone()));
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

async fn follow(mut client: CatalogClient<Peer>, public: Public, state: watch::Sender<State>, env: Env) {
    let stop = env.stop().clone();
    let mut pause = RETRY.0;
    loop {
        let watched = tokio::select! {
            watched = follow_once(&mut client, &public, &state, &env) => watched,
            () = stop.cancelled() => return,
        };
        state.send_modify(|s| s.live = false);
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
async fn follow_once(
    client: &mut CatalogClient<Peer>,
    public: &Public,
    state: &watch::Sender<State>,
    env: &Env,
) -> Result<(), tonic::Status> {
    let mut snapshots = client.watch(WatchRequest {}).await?.into_inner();
    let mut any = false;
    loop {
        match snapshots.message().await {
            Ok(Some(snapshot)) => {
                any = true;
                let before = state.borrow().view.clone();
                let view = Arc::new(project(snapshot, public, before.as_deref(), env));
                state.send_replace(State { view: Some(view), live: true });
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

fn project(snapshot: Snapshot, public: &Public, before: Option<&View>, env: &Env) -> View {
    // Health changes often and declarations seldom: the index follows the revision.
    let kept = before.filter(|b| b.snapshot.capabilities == snapshot.capabilities);
    let index =
        kept.map_or_else(|| Arc::new(Index::new(snapshot.capabilities.clone())), |b| Arc::clone(&b.index));
    let declared: Timestamp = snapshot.changed.unwrap_or_default();
    let card = Served::new(&card::project(&snapshot, public), declared);
    let card = match before {
        Some(b) if b.card.etag == card.etag => b.card.clone(),
        // What a node says of itself changes the card without a change of declarations.
        Some(b) if b.snapshot.revision == snapshot.revision => card.changed_at(env.now()),
        _ => card,
    };
    View { snapshot, index, card }
}
