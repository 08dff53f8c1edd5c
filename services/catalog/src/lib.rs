//! Nodes, capabilities, cards and health: the only source of what the fleet can do.
//!
//! | module | holds |
//! |---|---|
//! | `files` | the folder of manifests |
//! | `book` | the present snapshot: the last declarations without a mistake, and health |
//! | `health` | reports, and what silence or a difference means |
//! | `grpc` | the service: Watch and Report |
//!
//! The catalog calls nobody: what it knows of running nodes the executor-bridge reports.

mod book;
mod files;
mod grpc;
mod health;
mod metrics;
mod settings;

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{Semaphore, watch};
use tonic::service::Routes;
use weft_chassis::Env;
use weft_core::manifest::{Fleet, Problems};
use weft_proto::weft::Snapshot;
use weft_proto::weft::catalog_server::CatalogServer;

pub use files::read_fleet;
pub use settings::Settings;

use book::Book;

/// What the composition root holds of the catalog. Cheap to clone.
#[derive(Clone)]
pub struct Handle {
    book: Arc<Book>,
}

/// The catalog's service and its handle; the folder is read before this returns, and watched until the mesh stops.
///
/// # Errors
/// Everything that is wrong in the folder.
pub fn routes(settings: &Settings, env: &Env) -> Result<(Routes, Handle), Problems> {
    let book = Arc::new(Book::open(settings, env)?);
    let watchers_max =
        usize::try_from(settings.watchers_max).unwrap_or(usize::MAX).min(Semaphore::MAX_PERMITS);
    let watchers = Arc::new(Semaphore::new(watchers_max));
    let service = grpc::Grpc { book: book.clone(), env: env.clone(), watchers };
    env.spawn(look(book.clone(), env.clone(), Duration::from_millis(settings.poll_ms)));
    let server = CatalogServer::new(service).max_decoding_message_size(REPORT_BYTES_MAX);
    Ok((Routes::new(server), Handle { book }))
}

/// Largest report, in bytes.
const REPORT_BYTES_MAX: usize = 1024 * 1024;

// === impl Handle ===

impl Handle {
    /// Looks at the folder now. True when the declarations changed. Blocks.
    ///
    /// # Errors
    /// Everything that is wrong in the folder; the fleet stays as it was.
    pub fn reload(&self) -> Result<bool, Problems> {
        self.book.reload()
    }

    /// The present snapshot.
    #[must_use]
    pub fn snapshot(&self) -> Arc<Snapshot> {
        self.book.snapshots().borrow().clone()
    }

    /// The declarations as they are now and whenever they change, for whoever hosts nodes in this process.
    #[must_use]
    pub fn fleets(&self) -> watch::Receiver<Arc<Fleet>> {
        self.book.fleets()
    }
}

/// Looks at the folder and at the nodes' silence until the mesh stops.
async fn look(book: Arc<Book>, env: Env, every: Duration) {
    let mut ticks = tokio::time::interval(every);
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            () = env.stop().cancelled() => return,
            _ = ticks.tick() => {}
        }
        let folder = book.clone();
        // What is wrong in the folder was logged where it was found.
        if tokio::task::spawn_blocking(move || folder.reload().is_err()).await.is_err() {
            tracing::error!("reading the manifests failed");
        }
        book.tick();
    }
}
