//! One task in memory: what is on disk of it, folded, and the events its readers have yet to read.
//!
//! Readers pull. Each holds the number of the next event it wants and waits on the task's mark; a few recent events
//! are kept for those who keep up, and one who does not reads the rest from the store. So a slow reader costs nothing
//! and misses nothing.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use prost::Message;
use tokio::sync::{OnceCell, watch};
use weft_proto::a2a::{StreamResponse, Task, TaskState};

use crate::TaskId;
use crate::record::{Head, Record, Turn};
use crate::store::Stored;

/// Recent events kept for readers, in number and bytes.
const RECENT_MAX: usize = 64;
const RECENT_BYTES_MAX: usize = 256 * 1024;

/// A task in memory; at most one a task.
pub(crate) struct Slot {
    id: TaskId,
    /// Held from decision to publication.
    pub(crate) writer: tokio::sync::Mutex<()>,
    live: OnceCell<Mutex<Live>>,
    mark: watch::Sender<Mark>,
    readers: AtomicUsize,
    told: AtomicU8,
}

/// Whether anybody has been told of the task: while nobody has, a message may answer instead of it.
mod told {
    pub(super) const YES: u8 = 0;
    pub(super) const NOT_YET: u8 = 1;
    /// A message answers; nobody will be told any more.
    pub(super) const NEVER: u8 = 2;
}

/// How far a task is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Mark {
    pub(crate) seq: u64,
    pub(crate) turn: u32,
    pub(crate) state: TaskState,
}

struct Live {
    head: Arc<Head>,
    task: Arc<Task>,
    turn: Arc<Turn>,
    recent: VecDeque<(u64, Arc<StreamResponse>)>,
    recent_bytes: usize,
}

/// A task at one moment.
#[derive(Clone)]
pub(crate) struct Snapshot {
    pub(crate) head: Arc<Head>,
    pub(crate) task: Arc<Task>,
    pub(crate) turn: Arc<Turn>,
}

/// Events that follow one another, or where to find them.
pub(crate) enum Recent {
    Here(Vec<(u64, Arc<StreamResponse>)>),
    Stored,
}

impl Slot {
    /// A place for a task that is yet to be loaded.
    pub(crate) fn new(id: TaskId) -> Slot {
        Slot {
            id,
            writer: tokio::sync::Mutex::new(()),
            live: OnceCell::new(),
            mark: watch::Sender::new(Mark::default()),
            readers: AtomicUsize::new(0),
            told: AtomicU8::new(told::YES),
        }
    }

    /// Nobody is told of this new task until somebody asks for it.
    pub(crate) fn keep_quiet(&self) {
        self.told.store(told::NOT_YET, Ordering::SeqCst);
    }

    /// Somebody is to be told of the task: false when there is none, since a message answers instead.
    pub(crate) fn tell(&self) -> bool {
        let swapped =
            self.told.compare_exchange(told::NOT_YET, told::YES, Ordering::SeqCst, Ordering::SeqCst);
        swapped.unwrap_or_else(|is| is) != told::NEVER
    }

    /// A message is to answer instead of the task: true when nobody has been told of it, and then nobody will be.
    pub(crate) fn answer_instead(&self) -> bool {
        let swapped =
            self.told.compare_exchange(told::NOT_YET, told::NEVER, Ordering::SeqCst, Ordering::SeqCst);
        swapped.is_ok()
    }

    /// The message was not written after all.
    pub(crate) fn answer_not(&self) {
        let _ = self.told.compare_exchange(told::NEVER, told::NOT_YET, Ordering::SeqCst, Ordering::SeqCst);
    }

    pub(crate) fn id(&self) -> TaskId {
        self.id
    }

    /// Loads it once; false when there is no such task.
    pub(crate) async fn load<E>(
        &self,
        load: impl Future<Output = Result<Option<Stored>, E>>,
    ) -> Result<bool, E> {
        let mut missing = false;
        let loaded = self.live.get_or_try_init(|| async {
            match load.await {
                Ok(Some(stored)) => Ok(self.begin(stored)),
                Ok(None) => {
                    missing = true;
                    Err(None)
                }
                Err(error) => Err(Some(error)),
            }
        });
        match loaded.await {
            Ok(_) => Ok(true),
            Err(None) => Ok(false),
            Err(Some(error)) => Err(error),
        }
    }

    /// Fills it with a task that was just made.
    pub(crate) async fn fill(&self, stored: Stored) {
        self.live.get_or_init(|| async { self.begin(stored) }).await;
    }

    fn begin(&self, stored: Stored) -> Mutex<Live> {
        if stored.head.hidden {
            self.told.store(told::NEVER, Ordering::SeqCst);
        }
        let live = Live::of(stored);
        self.mark.send_replace(live.mark());
        Mutex::new(live)
    }

    /// `None` until it is loaded.
    fn live(&self) -> Option<MutexGuard<'_, Live>> {
        Some(self.live.get()?.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The task now; `None` until it is loaded.
    pub(crate) fn now(&self) -> Option<Snapshot> {
        let live = self.live()?;
        Some(Snapshot { head: live.head.clone(), task: live.task.clone(), turn: live.turn.clone() })
    }

    /// Starts reading: the task now, and a mark that moves with every later event.
    pub(crate) fn follow(self: &Arc<Slot>, readers_max: usize) -> Option<(Snapshot, Reader)> {
        if self.readers.fetch_add(1, Ordering::AcqRel) >= readers_max {
            self.readers.fetch_sub(1, Ordering::AcqRel);
            return None;
        }
        // The mark first: what is published after the snapshot is then kept for this reader.
        let reader = Reader { slot: self.clone(), mark: self.mark.subscribe() };
        Some((self.now()?, reader))
    }

    /// What was committed, made known: first to those who look, then to those who wait.
    pub(crate) fn publish(&self, head: Arc<Head>, record: Option<Record>) {
        let Some(mut live) = self.live() else { return };
        live.head = head;
        if let Some(mut record) = record {
            record.apply(Arc::make_mut(&mut live.task));
            if self.mark.receiver_count() == 0 {
                live.forget();
            } else {
                live.keep(&record);
            }
            if let Some(turn) = record.turn.take() {
                live.turn = Arc::new(turn);
            }
        }
        self.mark.send_replace(live.mark());
    }

    /// Replaces everything by what another writer has stored.
    pub(crate) fn reload(&self, stored: Stored) {
        let Some(mut live) = self.live() else { return };
        *live = Live::of(stored);
        self.mark.send_replace(live.mark());
    }

    /// Events from number `next` on.
    pub(crate) fn recent(&self, next: u64) -> Recent {
        let Some(live) = self.live() else { return Recent::Stored };
        if next > live.head.seq {
            return Recent::Here(Vec::new());
        }
        match live.recent.front() {
            Some((first, _)) if *first <= next => {
                let at = usize::try_from(next - first).unwrap_or(usize::MAX);
                Recent::Here(live.recent.iter().skip(at).cloned().collect())
            }
            _ => Recent::Stored,
        }
    }
}

impl Live {
    fn of(stored: Stored) -> Live {
        let Stored { head, task, turn } = stored;
        Live { head, task: Arc::new(task), turn: Arc::new(turn), recent: VecDeque::new(), recent_bytes: 0 }
    }

    fn mark(&self) -> Mark {
        Mark { seq: self.head.seq, turn: self.head.turn, state: self.head.state() }
    }

    fn forget(&mut self) {
        self.recent = VecDeque::new();
        self.recent_bytes = 0;
    }

    fn keep(&mut self, record: &Record) {
        for (seq, event) in record.published() {
            self.recent_bytes += event.encoded_len();
            self.recent.push_back((seq, Arc::new(event)));
        }
        while self.recent.len() > RECENT_MAX || self.recent_bytes > RECENT_BYTES_MAX {
            let Some((_, event)) = self.recent.pop_front() else { break };
            self.recent_bytes -= event.encoded_len();
        }
    }
}

/// A reader's hold on a task: while it lives, the task stays in memory and keeps recent events.
pub(crate) struct Reader {
    slot: Arc<Slot>,
    mark: watch::Receiver<Mark>,
}

impl Reader {
    pub(crate) fn slot(&self) -> &Arc<Slot> {
        &self.slot
    }

    /// Returns when the mark has moved since it was last looked at.
    pub(crate) async fn moved(&mut self) {
        // The sender lives in the slot that this reader holds.
        let _ = self.mark.changed().await;
    }

    /// Returns when the mark is as wanted.
    pub(crate) async fn until(&mut self, wanted: impl FnMut(&Mark) -> bool) {
        let _ = self.mark.wait_for(wanted).await;
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        self.slot.readers.fetch_sub(1, Ordering::AcqRel);
    }
}
