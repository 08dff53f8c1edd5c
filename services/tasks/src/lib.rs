//! The ledger: the only writer of task state.
//!
//! | module | holds |
//! |---|---|
//! | `grpc` | the service, thin |
//! | `ledger` | decide, commit, publish: submit, append, cancel, read, follow, run; an owner's limits and all it has |
//! | `slot`, `cache` | tasks in memory, one slot each, and how readers pull |
//! | `queue` | who waits for a worker and who has one, under fenced leases |
//! | `push` | webhooks: each event of a task to each of them, in order, at least once |
//! | `feed`, `retention`, `token` | an owner's changes; what goes when; page tokens |
//! | [`record`] | what is written down |
//! | [`store`] | where: the trait, the embedded and the simulated backend, backup and restore |

mod cache;
mod feed;
mod grpc;
mod id;
mod ledger;
mod metrics;
mod push;
mod queue;
pub mod record;
mod retention;
mod settings;
mod slot;
pub mod store;
mod token;

use std::path::Path;

use tokio_util::sync::CancellationToken;
use tonic::service::Routes;
use weft_chassis::{Env, peer};
use weft_proto::weft::owners_server::OwnersServer;
use weft_proto::weft::tasks_server::TasksServer;

pub use id::TaskId;
pub use metrics::Meter;
pub use push::{Names, Outside};
pub use settings::Settings;

use ledger::Ledger;
use push::Outbox;
use store::{OpenError, Store};

/// The running service, for whoever composes the mesh.
pub struct Handle<S = store::sled::Sled> {
    ledger: Ledger<S>,
}

impl<S: Store> Handle<S> {
    /// Cancelled when the disk failed: nothing can be written any more, and the process should end with an error.
    #[must_use]
    pub fn failed(&self) -> CancellationToken {
        self.ledger.broken().clone()
    }

    /// Writes what was accepted and accepts nothing more. Call it when the mesh has drained.
    pub async fn close(self) {
        self.ledger.store.close().await;
    }
}

/// The service over the embedded store in `data_dir/tasks`. Reads the store and takes up unfinished work.
///
/// # Errors
/// When the store cannot be opened; the message says why and what to do.
pub async fn routes(
    settings: &Settings,
    data_dir: &Path,
    outside: Outside,
    env: &Env,
) -> Result<(Routes, Handle), OpenError> {
    let (dir, given, world) = (store::place(data_dir), settings.clone(), env.clone());
    let meter = Meter::new(env.metrics());
    let opening = meter.clone();
    let opened = tokio::task::spawn_blocking(move || store::sled::open(&dir, &given, &world, opening));
    let store = opened.await.map_err(|error| OpenError(format!("opening the store failed: {error}")))??;
    serve(store, settings, outside, env, meter).await
}

/// The service over an open store.
///
/// # Errors
/// When unfinished work cannot be taken up, or a setting of the webhooks is wrong.
pub async fn serve<S: Store>(
    store: S,
    settings: &Settings,
    outside: Outside,
    env: &Env,
    meter: Meter,
) -> Result<(Routes, Handle<S>), OpenError> {
    let outbox = Outbox::new(settings, outside, env.outbound()).map_err(OpenError)?;
    let ledger = Ledger::new(store, settings.clone(), env.clone(), meter, outbox);
    ledger.recover().await.map_err(|fault| OpenError(fault.message))?;
    in_background(env, ledger.clone(), |ledger| async move { ledger.watch_leases().await });
    in_background(env, ledger.clone(), |ledger| async move { ledger.retain().await });
    in_background(env, ledger.clone(), |ledger| async move { ledger.take_up_pushes().await });
    in_background(env, ledger.clone(), |ledger| async move { ledger.watch_pushes().await });
    in_background(env, ledger.clone(), |ledger| async move { ledger.deliver().await });
    let server = TasksServer::new(ledger.clone())
        .max_decoding_message_size(peer::MESSAGE_BYTES_MAX)
        .max_encoding_message_size(peer::MESSAGE_BYTES_MAX);
    let owners = OwnersServer::new(ledger.clone())
        .max_decoding_message_size(peer::MESSAGE_BYTES_MAX)
        .max_encoding_message_size(peer::MESSAGE_BYTES_MAX);
    Ok((Routes::new(server).add_service(owners), Handle { ledger }))
}

/// Runs `work` until the mesh stops.
fn in_background<S: Store, F>(env: &Env, ledger: Ledger<S>, work: impl FnOnce(Ledger<S>) -> F)
where
    F: Future<Output = ()> + Send + 'static,
{
    let (stop, work) = (env.stop().clone(), work(ledger));
    env.spawn(async move {
        tokio::select! {
            () = stop.cancelled() => {}
            () = work => {}
        }
    });
}
