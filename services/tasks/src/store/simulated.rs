//! A disk in memory that can crash: what was not synced may be lost, whole groups at a time.
//!
//! Everything above the disk is the same code as with the embedded store, but the writer runs on tokio's clock
//! instead of a thread of its own, so that whole runs repeat under paused time.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::oneshot;
use weft_chassis::Env;

use super::engine::KvStore;
use super::group::gather;
use super::kv::{Batch, Kv, Visit};
use super::{Broken, OpenError, Report};
use crate::Settings;
use crate::metrics::Meter;

/// A disk. Clones are the same disk.
#[derive(Debug, Clone, Default)]
pub struct Disk {
    state: Arc<Mutex<State>>,
}

#[derive(Debug, Default)]
struct State {
    /// What a reader sees.
    seen: BTreeMap<Vec<u8>, Vec<u8>>,
    /// What survives a crash for sure.
    synced: BTreeMap<Vec<u8>, Vec<u8>>,
    /// Written since, in order; a crash keeps the first few of them.
    unsynced: Vec<Batch>,
    sync_fails: bool,
    syncs: u64,
    reads: u64,
}

impl Disk {
    /// The disk as it may be after a power cut now: what was synced, and the first `kept` batches that were not.
    /// The old disk goes on without an effect on the new one.
    #[must_use]
    pub fn crash(&self, kept: usize) -> Disk {
        let state = self.lock();
        let mut left = state.synced.clone();
        state.unsynced.iter().take(kept).for_each(|batch| write(&mut left, batch));
        let left = State { seen: left.clone(), synced: left, ..State::default() };
        Disk { state: Arc::new(Mutex::new(left)) }
    }

    /// Batches that a crash now could lose.
    #[must_use]
    pub fn unsynced(&self) -> usize {
        self.lock().unsynced.len()
    }

    /// Compares everything on it that is written twice; see [`super::check`].
    #[must_use]
    pub fn check(&self) -> Report {
        super::dump::check_keys(self)
    }

    /// Syncs so far.
    #[must_use]
    pub fn syncs(&self) -> u64 {
        self.lock().syncs
    }

    /// Keys looked up and ranges looked through so far.
    #[must_use]
    pub fn reads(&self) -> u64 {
        self.lock().reads
    }

    /// Entries with this text in key or value.
    #[must_use]
    pub fn keys_with(&self, text: &str) -> usize {
        let holds = |bytes: &[u8]| bytes.windows(text.len().max(1)).any(|window| window == text.as_bytes());
        self.lock().seen.iter().filter(|(key, value)| holds(key) || holds(value)).count()
    }

    /// Entries whose keys begin so.
    #[must_use]
    pub fn keys_with_prefix(&self, prefix: &[u8]) -> usize {
        self.lock().seen.keys().filter(|key| key.starts_with(prefix)).count()
    }

    /// From now on every sync fails.
    pub fn fail(&self) {
        self.lock().sync_fails = true;
    }

    /// To look something up.
    fn read(&self) -> MutexGuard<'_, State> {
        let mut state = self.lock();
        state.reads += 1;
        state
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn write(map: &mut BTreeMap<Vec<u8>, Vec<u8>>, batch: &Batch) {
    for (key, value) in &batch.writes {
        match value {
            Some(value) => map.insert(key.clone(), value.clone()),
            None => map.remove(key),
        };
    }
}

/// The simulated store.
pub type Simulated = KvStore<Disk>;

/// Opens a store on `disk`. `sync` is how long the disk takes to sync, on tokio's clock.
///
/// # Errors
/// As the embedded store, without what only a real disk can have.
pub fn open(
    disk: &Disk,
    sync: Duration,
    settings: &Settings,
    env: &Env,
    meter: Meter,
) -> Result<Simulated, OpenError> {
    let mut secret = [0; 32];
    env.fill(&mut secret);
    KvStore::start(disk.clone(), settings, meter, secret, |shared, mut requests| {
        env.spawn(async move {
            let mut closers: Vec<oneshot::Sender<()>> = Vec::new();
            while let Some(first) = requests.recv().await {
                let group = gather(first, &mut requests, shared.group_max, &mut closers);
                let written = shared.write_group(group);
                tokio::time::sleep(sync).await;
                shared.finish_group(written);
            }
            for closer in closers {
                let _ = closer.send(());
            }
        });
        Ok(())
    })
}

impl Kv for Disk {
    const BLOCKS: bool = false;
    const NAME: &'static str = "simulated";

    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, Broken> {
        Ok(self.read().seen.get(key).cloned())
    }

    fn scan(&self, from: &[u8], to: &[u8], visit: &mut Visit<'_>) -> Result<(), Broken> {
        let found: Vec<_> = if from < to {
            self.read().seen.range(from.to_vec()..to.to_vec()).map(|(k, v)| (k.clone(), v.clone())).collect()
        } else {
            Vec::new()
        };
        for (key, value) in found {
            if !visit(&key, &value)? {
                break;
            }
        }
        Ok(())
    }

    fn last(&self, from: &[u8], to: &[u8]) -> Result<Option<Vec<u8>>, Broken> {
        Ok(self.read().seen.range(from.to_vec()..=to.to_vec()).next_back().map(|(key, _)| key.clone()))
    }

    fn apply(&self, batch: Batch) -> Result<(), Broken> {
        let mut state = self.lock();
        write(&mut state.seen, &batch);
        state.unsynced.push(batch);
        Ok(())
    }

    fn sync(&self) -> Result<(), Broken> {
        let mut state = self.lock();
        if state.sync_fails {
            return Err(Broken("the simulated disk does not sync".into()));
        }
        for batch in std::mem::take(&mut state.unsynced) {
            write(&mut state.synced, &batch);
        }
        state.syncs += 1;
        Ok(())
    }

    fn bytes(&self) -> u64 {
        self.lock().seen.iter().map(|(key, value)| (key.len() + value.len()) as u64).sum()
    }
}
