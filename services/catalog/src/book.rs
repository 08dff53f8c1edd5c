//! The present snapshot: the declarations that were read last without a mistake, and the health of the nodes.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use tokio::sync::watch;
use weft_chassis::Env;
use weft_core::Fault;
use weft_core::manifest::{Fleet, Problems};
use weft_proto::weft::{ReportRequest, Snapshot};
use weft_proto::wkt::Timestamp;

use crate::files::Files;
use crate::health::Reports;
use crate::metrics::Metrics;
use crate::settings::Settings;

/// See the module. Shared by the service, the folder's watcher and the handle.
pub(crate) struct Book {
    dir: PathBuf,
    stale_ms: i64,
    env: Env,
    pages: Mutex<Pages>,
    snapshots: watch::Sender<Arc<Snapshot>>,
    fleets: watch::Sender<Arc<Fleet>>,
    pub(crate) metrics: Metrics,
}

struct Pages {
    files: Files,
    /// What was last found wrong in the folder, so that it is said once and not at every look.
    refused: Option<String>,
    reports: Reports,
    revision: u64,
    changed: Timestamp,
}

impl Book {
    /// Reads the folder for the first time. Blocks.
    pub(crate) fn open(settings: &Settings, env: &Env) -> Result<Book, Problems> {
        let dir = PathBuf::from(&settings.dir);
        let files = Files::read(&dir)?;
        let fleet = files.fleet()?;
        let changed = files.changed.map_or_else(|| env.now(), timestamp);
        // Milliseconds of the newest change: grows with every edit, and is the same after a restart and on another
        // replica, so that a card's ETag is too.
        let revision = u64::try_from(changed.as_millis()).unwrap_or(0).max(1);
        let pages = Pages { files, refused: None, reports: Reports::default(), revision, changed };
        let book = Book {
            dir,
            stale_ms: i64::try_from(settings.stale_ms).unwrap_or(i64::MAX),
            env: env.clone(),
            pages: Mutex::new(pages),
            snapshots: watch::Sender::new(Arc::default()),
            fleets: watch::Sender::new(Arc::new(fleet)),
            metrics: Metrics::new(env),
        };
        book.publish(&book.pages());
        Ok(book)
    }

    /// Looks at the folder again. True when the declarations changed. What is wrong leaves the present ones in place,
    /// and is logged once. Blocks.
    pub(crate) fn reload(&self) -> Result<bool, Problems> {
        let read = Files::read(&self.dir);
        let mut pages = self.pages();
        let taken = read.and_then(|files| self.take(files, &mut pages));
        self.metrics.refused(taken.is_err());
        let refused = taken.as_ref().err().map(ToString::to_string);
        if let Some(problems) = refused.as_ref().filter(|text| pages.refused.as_ref() != Some(text)) {
            tracing::error!(%problems, "manifests refused, the fleet stays as it was");
        }
        pages.refused = refused;
        taken
    }

    fn take(&self, files: Files, pages: &mut Pages) -> Result<bool, Problems> {
        if pages.files.same_texts(&files) {
            return Ok(false);
        }
        let fleet = files.fleet()?;
        let now = self.env.now();
        let newest = files.changed.map_or(now, timestamp);
        pages.revision = u64::try_from(newest.as_millis()).unwrap_or(0).max(pages.revision + 1);
        pages.changed = now;
        pages.files = files;
        let nodes: Vec<_> = fleet.nodes.iter().map(|manifest| manifest.node.clone()).collect();
        pages.reports.keep(&nodes);
        tracing::info!(revision = pages.revision, nodes = nodes.len(), "manifests read anew");
        self.fleets.send_replace(Arc::new(fleet));
        self.publish(pages);
        Ok(true)
    }

    /// Takes a report; the differences between declared and served.
    pub(crate) fn report(&self, request: ReportRequest) -> Result<Vec<String>, Fault> {
        let mut pages = self.pages();
        let fleet = self.fleets.borrow().clone();
        let Some(manifest) = fleet.node(&request.node) else {
            let id: String = request.node.chars().filter(|c| !c.is_control()).take(63).collect();
            return Err(Fault::new(weft_core::Kind::NotFound, format!("no manifest declares a node `{id}`")));
        };
        let differences = pages.reports.take(request, &manifest.node, &self.env.now());
        self.publish(&pages);
        Ok(differences)
    }

    /// Judges silence anew.
    pub(crate) fn tick(&self) {
        self.publish(&self.pages());
    }

    pub(crate) fn snapshots(&self) -> watch::Receiver<Arc<Snapshot>> {
        self.snapshots.subscribe()
    }

    pub(crate) fn fleets(&self) -> watch::Receiver<Arc<Fleet>> {
        self.fleets.subscribe()
    }

    /// Puts declarations and health together, and tells the readers when it is news to them.
    fn publish(&self, pages: &Pages) {
        let now = self.env.now();
        let mut snapshot = self.fleets.borrow().snapshot();
        snapshot.revision = pages.revision;
        snapshot.changed = Some(pages.changed);
        for node in &mut snapshot.nodes {
            pages.reports.apply(node, &now, self.stale_ms);
        }
        self.metrics.nodes(&snapshot);
        let stale_ms = self.stale_ms;
        self.snapshots.send_if_modified(|present| {
            let news = is_news(present, &snapshot, stale_ms);
            if news {
                *present = Arc::new(snapshot);
            }
            news
        });
    }

    fn pages(&self) -> MutexGuard<'_, Pages> {
        self.pages.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// False when the two differ in nothing but when a node was seen last, by less than half of the time in which silence
/// means trouble: else every heartbeat of every node would wake every reader.
fn is_news(present: &Snapshot, next: &Snapshot, stale_ms: i64) -> bool {
    let mut next = next.clone();
    for (node, before) in next.nodes.iter_mut().zip(&present.nodes) {
        let (Some(health), Some(before)) = (&mut node.health, &before.health) else { continue };
        let (Some(seen), Some(earlier)) = (&health.seen, &before.seen) else { continue };
        if (seen.as_millis() - earlier.as_millis()).abs() < stale_ms / 2 {
            health.seen = before.seen;
            // The text counts seconds of silence.
            if health.state == before.state && health.state() == weft_proto::weft::health::State::Unreachable
            {
                health.detail.clone_from(&before.detail);
            }
        }
    }
    *present != next
}

fn timestamp(time: SystemTime) -> Timestamp {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp::from_millis(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}
