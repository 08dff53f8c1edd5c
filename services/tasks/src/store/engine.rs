//! A store over any [`Kv`]: what is in memory, what is read from disk, and when a read is safe to answer.

mod list;
mod owner;
mod push;
mod read;
mod serve;
mod view;

use std::collections::HashSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::{Duration, Instant};

use tokio::sync::{mpsc, oneshot, watch};
use tokio_util::sync::CancellationToken;

use super::ask::{Answer, Ask, Request};
use super::kv::Kv;
use super::layout::{self, FORMAT};
use super::{Broken, OpenError, upgrade};
use crate::metrics::Meter;
use crate::record::Head;
use crate::{Settings, TaskId};
use view::View;

/// Commits that may wait for the writer; beyond them callers wait to ask.
const REQUESTS_MAX: usize = 4_096;
/// How often the size on disk is looked at, at most.
const BYTES_EVERY: Duration = Duration::from_secs(1);

/// A store over `K`.
pub struct KvStore<K: Kv> {
    shared: Arc<Shared<K>>,
    requests: mpsc::Sender<Request>,
}

pub(super) struct Shared<K> {
    pub(super) kv: K,
    /// Held for writing only while a batch becomes visible, so that memory and disk are read as one.
    pub(super) view: RwLock<View>,
    /// Groups made visible, and groups synced.
    pub(super) applied: AtomicU64,
    pub(super) synced: watch::Sender<u64>,
    pub(super) total: AtomicU64,
    pub(super) tasks_max: u64,
    /// Bytes on disk when they were last looked at.
    pub(super) bytes: Mutex<(Instant, u64)>,
    pub(super) bytes_max: u64,
    pub(super) group_max: usize,
    /// Capabilities whose runs ever left a session; the others' are not looked for.
    pub(super) capabilities: RwLock<HashSet<String>>,
    /// Owners of whom nothing new is taken.
    pub(super) forgetting: RwLock<HashSet<String>>,
    pub(super) meter: Meter,
    pub(super) broken: CancellationToken,
    reason: Mutex<Option<Broken>>,
    secret: [u8; 32],
    epoch: u32,
}

impl<K: Kv> KvStore<K> {
    /// Opens the store and hands the writer's end to `drive`, which runs it.
    pub(super) fn start(
        kv: K,
        settings: &Settings,
        meter: Meter,
        fresh_secret: [u8; 32],
        drive: impl FnOnce(Arc<Shared<K>>, mpsc::Receiver<Request>) -> Result<(), OpenError>,
    ) -> Result<KvStore<K>, OpenError> {
        let shared = Arc::new(Shared::open(kv, settings, meter, fresh_secret)?);
        let (requests, waiting) = mpsc::channel(REQUESTS_MAX);
        drive(shared.clone(), waiting)?;
        Ok(KvStore { shared, requests })
    }

    async fn write(&self, ask: Ask) -> Answer {
        let (answer, answered) = oneshot::channel();
        let request = Request::Write(Box::new(Ask { answer: Some(answer), ..ask }));
        self.requests.send(request).await.map_err(|_| self.shared.why())?;
        answered.await.map_err(|_| self.shared.why())?
    }
}

/// Checks the format, or writes it into an empty store; answers the secret and a new epoch.
fn adopt<K: Kv>(kv: &K, fresh_secret: [u8; 32]) -> Result<([u8; 32], u32), OpenError> {
    let mut batch = super::kv::Batch::default();
    let (secret, epoch) = match read_format(kv)? {
        Some(format) => {
            let secret = kv.get(&layout::meta("secret"))?.and_then(|bytes| bytes.try_into().ok());
            let epoch = kv
                .get(&layout::meta("epoch"))?
                .and_then(|bytes| Some(u32::from_be_bytes(bytes.try_into().ok()?)));
            let (Some(secret), Some(epoch)) = (secret, epoch) else {
                return Err(layout::damaged("its own description").into());
            };
            if format < layout::BY_BASE {
                upgrade::by_base(kv)?;
            }
            batch.put(layout::meta("format"), FORMAT.to_be_bytes().to_vec());
            (secret, epoch)
        }
        None => {
            batch.put(layout::meta("format"), FORMAT.to_be_bytes().to_vec());
            batch.put(layout::meta("secret"), fresh_secret.to_vec());
            (fresh_secret, 0)
        }
    };
    let epoch = epoch.checked_add(1).ok_or_else(|| OpenError("the store was opened too often".into()))?;
    batch.put(layout::meta("epoch"), epoch.to_be_bytes().to_vec());
    kv.apply(batch)?;
    kv.sync()?;
    Ok((secret, epoch))
}

/// `None`: the store is empty.
pub(super) fn read_format<K: Kv>(kv: &K) -> Result<Option<u32>, OpenError> {
    let Some(bytes) = kv.get(&layout::meta("format"))? else {
        let mut empty = true;
        kv.scan(&[], &[u8::MAX; 4], &mut |_, _| {
            empty = false;
            Ok(false)
        })?;
        let foreign =
            "the directory holds a database that is not a task store; choose another --data directory";
        return if empty { Ok(None) } else { Err(OpenError(foreign.into())) };
    };
    match bytes.try_into().map(u32::from_be_bytes) {
        Ok(format @ 1..=FORMAT) => Ok(Some(format)),
        Ok(newer) if newer > FORMAT => Err(OpenError(format!(
            "the store has format {newer}, this program reads format {FORMAT}: run the version that wrote it, or a newer one"
        ))),
        _ => Err(OpenError("the store has a format that no version of this program wrote; restore a backup with `weft store restore`".into())),
    }
}

impl<K: Kv> Shared<K> {
    /// Reads what must be in memory and takes the next epoch.
    pub(super) fn open(
        kv: K,
        settings: &Settings,
        meter: Meter,
        fresh_secret: [u8; 32],
    ) -> Result<Shared<K>, OpenError> {
        let (secret, epoch) = adopt(&kv, fresh_secret)?;
        let ((view, total), bytes) = (View::read(&kv)?, kv.bytes());
        let (capabilities, forgetting) = (owner::capabilities(&kv)?, owner::forgetting(&kv)?);
        Ok(Shared {
            kv,
            view: RwLock::new(view),
            applied: AtomicU64::new(0),
            synced: watch::Sender::new(0),
            total: AtomicU64::new(total),
            tasks_max: settings.tasks_max,
            bytes: Mutex::new((Instant::now(), bytes)),
            bytes_max: settings.store_bytes_max,
            group_max: settings.group_max as usize,
            capabilities: RwLock::new(capabilities),
            forgetting: RwLock::new(forgetting),
            meter,
            broken: CancellationToken::new(),
            reason: Mutex::new(None),
            secret,
            epoch,
        })
    }

    /// The head, wherever it is.
    pub(super) fn head(&self, task: TaskId) -> Result<Option<Arc<Head>>, Broken> {
        let view = self.view.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(head) = view.get(task) {
            return Ok(Some(head.clone()));
        }
        let bytes = self.kv.get(&layout::head(false, task))?;
        bytes.map(|bytes| layout::decode(bytes.as_slice(), "a head").map(Arc::new)).transpose()
    }

    /// Bytes on disk, as they were a moment ago.
    pub(super) fn bytes_lately(&self) -> u64 {
        let mut lately = self.bytes.lock().unwrap_or_else(PoisonError::into_inner);
        if lately.0.elapsed() > BYTES_EVERY {
            *lately = (Instant::now(), self.kv.bytes());
        }
        lately.1
    }

    pub(super) fn break_down(&self, broken: &Broken) {
        let mut reason = self.reason.lock().unwrap_or_else(PoisonError::into_inner);
        if reason.is_none() {
            tracing::error!(target: "weft::tasks", error = %broken, "the task store cannot write any more");
            *reason = Some(broken.clone());
        }
        drop(reason);
        self.broken.cancel();
    }

    fn why(&self) -> Broken {
        let reason = self.reason.lock().unwrap_or_else(PoisonError::into_inner);
        reason.clone().unwrap_or_else(|| Broken("the task store is closed".into()))
    }

    /// Returns when all that is visible now is on disk.
    async fn barrier(&self) -> Result<(), Broken> {
        let applied = self.applied.load(Ordering::Acquire);
        let mut synced = self.synced.subscribe();
        tokio::select! {
            biased;
            reached = synced.wait_for(|synced| *synced >= applied) => reached.map(drop).map_err(|_| self.why()),
            () = self.broken.cancelled() => Err(self.why()),
        }
    }
}

impl<K: Kv> KvStore<K> {
    /// Reads off the async threads when the disk may block, and answers when what was read is safe.
    async fn read<T: Send + 'static>(
        &self,
        read: impl FnOnce(&Shared<K>) -> Result<T, Broken> + Send + 'static,
    ) -> Result<T, Broken> {
        let shared = self.shared.clone();
        let value = if K::BLOCKS {
            let reading = tokio::task::spawn_blocking(move || read(&shared));
            reading.await.map_err(|error| Broken(format!("reading the store failed: {error}")))??
        } else {
            read(&shared)?
        };
        self.shared.barrier().await?;
        Ok(value)
    }
}
