//! The embedded store: one sled database in a directory of its own, one thread that writes.
//!
//! sled's `flush` does not reach the disk on Linux: it starts the write-out and does not wait for the device. So
//! each group is flushed and then the database file is synced through a handle of our own, before anyone hears of it.

use std::fs::File;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use tokio::sync::oneshot;
use weft_chassis::Env;

use super::engine::KvStore;
use super::group::gather;
use super::kv::{Batch, Kv, Visit};
use super::{Broken, OpenError};
use crate::Settings;
use crate::metrics::Meter;

/// How long to wait for a database that is open elsewhere.
const LOCK_WAIT: Duration = Duration::from_secs(2);

/// The embedded store.
pub type Sled = KvStore<SledDisk>;

/// Makes a file's content safe; the seam at which a test watches the order of syncs and answers.
pub trait Sync: Send + std::marker::Sync + 'static {
    /// Returns when what was written is on the device.
    ///
    /// # Errors
    /// What the system says; then nothing is known of what was written.
    fn sync(&self) -> io::Result<()>;
}

impl Sync for File {
    fn sync(&self) -> io::Result<()> {
        self.sync_data()
    }
}

/// A sled database and the handle that syncs it.
pub struct SledDisk<S = File> {
    db: ::sled::Db,
    file: S,
}

/// Opens or makes the store in `dir`.
///
/// # Errors
/// When another process has it open, it is damaged, of a newer format, or no store at all; the message says what to do.
pub fn open(dir: &Path, settings: &Settings, env: &Env, meter: Meter) -> Result<Sled, OpenError> {
    open_synced_by(dir, settings, env, meter, |file| file)
}

/// [`open`], with another sync than the file's own.
///
/// # Errors
/// As [`open`].
pub fn open_synced_by<S: Sync>(
    dir: &Path,
    settings: &Settings,
    env: &Env,
    meter: Meter,
    seam: impl FnOnce(File) -> S,
) -> Result<KvStore<SledDisk<S>>, OpenError> {
    let disk = open_disk(dir, settings.page_cache_bytes, seam)?;
    let mut secret = [0; 32];
    env.fill(&mut secret);
    KvStore::start(disk, settings, meter, secret, |shared, mut requests| {
        let writer = std::thread::Builder::new().name("weft-tasks-disk".into());
        let run = move || {
            let mut closers: Vec<oneshot::Sender<()>> = Vec::new();
            // sled may panic on a damaged page; callers must then hear that the store is gone.
            let ran = catch_unwind(AssertUnwindSafe(|| {
                while let Some(first) = requests.blocking_recv() {
                    let group = gather(first, &mut requests, shared.group_max, &mut closers);
                    shared.finish_group(shared.write_group(group));
                    if shared.broken.is_cancelled() {
                        break;
                    }
                }
            }));
            if ran.is_err() {
                shared.break_down(&Broken("the task store's writer stopped at a defect".into()));
            }
            for closer in closers {
                let _ = closer.send(());
            }
        };
        writer
            .spawn(run)
            .map(drop)
            .map_err(|error| OpenError(format!("cannot start the store's writer: {error}")))
    })
}

/// Opens the database alone.
pub(super) fn open_disk<S: Sync>(
    dir: &Path,
    cache_bytes: u64,
    seam: impl FnOnce(File) -> S,
) -> Result<SledDisk<S>, OpenError> {
    let shown = dir.display();
    std::fs::create_dir_all(dir)
        .map_err(|error| OpenError(format!("{shown}: cannot make the directory: {error}")))?;
    let config = ::sled::Config::new()
        .path(dir)
        .cache_capacity(cache_bytes)
        .mode(::sled::Mode::LowSpace)
        // The writer flushes; sled's own flusher would do it a second time.
        .flush_every_ms(None);
    let db = catch_unwind(AssertUnwindSafe(|| unlocked(&config)))
        .map_err(|_| damaged(dir, "it could not be read"))?
        .map_err(|error| open_error(dir, &error))?;
    let file = File::open(dir.join("db")).map_err(|error| damaged(dir, &error.to_string()))?;
    // The names of new files are safe only when their directories are.
    let mut up: Option<PathBuf> = Some(dir.to_path_buf());
    for _ in 0..2 {
        let Some(path) = up.take().filter(|path| !path.as_os_str().is_empty()) else { break };
        let synced = File::open(&path).and_then(|dir| dir.sync_all());
        synced
            .map_err(|error| OpenError(format!("{}: cannot sync the directory: {error}", path.display())))?;
        up = path.parent().map(Path::to_path_buf);
    }
    Ok(SledDisk { db, file: seam(file) })
}

/// Opens the database; waits a moment for whoever has it open to let go: sled's own threads hold a closed database
/// for some milliseconds longer.
fn unlocked(config: &::sled::Config) -> ::sled::Result<::sled::Db> {
    let began = Instant::now();
    loop {
        match config.open() {
            Err(error) if is_lock(&error) && began.elapsed() < LOCK_WAIT => {
                std::thread::sleep(LOCK_WAIT / 100)
            }
            opened => return opened,
        }
    }
}

fn is_lock(error: &::sled::Error) -> bool {
    matches!(error, ::sled::Error::Io(io)
        if io.kind() == io::ErrorKind::WouldBlock || io.to_string().contains("lock"))
}

fn open_error(dir: &Path, error: &::sled::Error) -> OpenError {
    let shown = dir.display();
    match error {
        locked if is_lock(locked) => {
            OpenError(format!("{shown}: the store is in use by another process; stop that one first"))
        }
        ::sled::Error::Io(io) => OpenError(format!("{shown}: cannot open the store: {io}")),
        other => damaged(dir, &other.to_string()),
    }
}

fn damaged(dir: &Path, why: &str) -> OpenError {
    let shown = dir.display();
    OpenError(format!(
        "{shown}: the store is damaged ({why}); move the directory away and restore a backup with `weft store restore`"
    ))
}

fn broken(doing: &str, error: impl std::fmt::Display) -> Broken {
    Broken(format!("the task store failed {doing}: {error}"))
}

impl<S: Sync> Kv for SledDisk<S> {
    const BLOCKS: bool = true;
    const NAME: &'static str = "sled";

    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, Broken> {
        let value = self.db.get(key).map_err(|error| broken("reading", error))?;
        Ok(value.map(|value| value.to_vec()))
    }

    fn scan(&self, from: &[u8], to: &[u8], visit: &mut Visit<'_>) -> Result<(), Broken> {
        if from >= to {
            return Ok(());
        }
        for entry in self.db.range(from..to) {
            let (key, value) = entry.map_err(|error| broken("reading", error))?;
            if !visit(&key, &value)? {
                break;
            }
        }
        Ok(())
    }

    fn last(&self, from: &[u8], to: &[u8]) -> Result<Option<Vec<u8>>, Broken> {
        let last =
            self.db.range(from..=to).next_back().transpose().map_err(|error| broken("reading", error))?;
        Ok(last.map(|(key, _)| key.to_vec()))
    }

    fn apply(&self, batch: Batch) -> Result<(), Broken> {
        let mut writes = ::sled::Batch::default();
        for (key, value) in batch.writes {
            match value {
                Some(value) => writes.insert(key, value),
                None => writes.remove(key),
            }
        }
        self.db.apply_batch(writes).map_err(|error| broken("writing", error))
    }

    fn sync(&self) -> Result<(), Broken> {
        self.db.flush().map_err(|error| broken("flushing", error))?;
        self.file.sync().map_err(|error| broken("syncing", error))
    }

    fn bytes(&self) -> u64 {
        self.db.size_on_disk().unwrap_or(0)
    }
}
