//! The ledger: every change of every task is decided, committed and published here, one after another for each task.
//!
//! ```text
//! load ─▶ decide (weft_core::task) ─▶ commit (Store, on disk) ─▶ fold, publish, queue
//! ```
//! What began runs to its end, also when the caller goes away.

mod append;
mod cancel;
mod follow;
mod limits;
mod owners;
mod push;
mod read;
mod run;
mod submit;

use std::pin::Pin;
use std::sync::Arc;

use prost::Message as _;
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;
use tracing::Instrument;
use weft_chassis::Env;
use weft_core::task::{Bounds, Change};
use weft_core::{Fault, Kind, Owner};
use weft_proto::a2a::stream_response::Payload;
use weft_proto::a2a::{StreamResponse, TaskState};

pub(crate) use follow::Answer;
pub(crate) use submit::Sent;

use crate::cache::Cache;
use crate::feed::Feeds;
use crate::metrics::Meter;
use crate::push::Outbox;
use crate::queue::Queue;
use crate::record::{Head, Record, Turn};
use crate::slot::{Slot, Snapshot};
use crate::store::{Broken, Commit, Limits, PushChange, Refused, Store};
use crate::{Settings, TaskId};

/// How often a decision is made anew when another writer was faster.
const TRIES: usize = 5;

/// The ledger over a store. Cheap to clone.
pub(crate) struct Ledger<S> {
    inner: Arc<Inner<S>>,
}

impl<S> Clone for Ledger<S> {
    fn clone(&self) -> Ledger<S> {
        Ledger { inner: self.inner.clone() }
    }
}

pub(crate) struct Inner<S> {
    pub(crate) store: S,
    pub(crate) settings: Settings,
    pub(crate) env: Env,
    pub(crate) queue: Queue,
    pub(crate) feeds: Feeds,
    pub(crate) meter: Meter,
    pub(crate) outbox: Outbox,
    cache: Cache,
    /// Held while an owner is forgotten: one after another.
    forgets: tokio::sync::Mutex<()>,
    /// Read while a run that is over is ended; written by whoever waits for all of these.
    ends_runs: tokio::sync::RwLock<()>,
    opened: weft_proto::wkt::Timestamp,
}

impl<S> std::ops::Deref for Ledger<S> {
    type Target = Inner<S>;

    fn deref(&self) -> &Inner<S> {
        &self.inner
    }
}

/// What is to happen to a task, and what its head must say of it.
struct Decision {
    change: Change,
    head: Head,
    turn: Option<Turn>,
    push: Option<PushChange>,
    /// What the owner may keep, when it begins a turn.
    limits: Limits,
    session: Option<String>,
}

impl Decision {
    /// Nothing happens but to the head.
    fn head_only(head: Head) -> Decision {
        Decision {
            change: Change::default(),
            head,
            turn: None,
            push: None,
            limits: Limits::default(),
            session: None,
        }
    }
}

impl<S: Store> Ledger<S> {
    /// A ledger over an open store; [`Ledger::recover`] and the background work are the caller's to start.
    pub(crate) fn new(store: S, settings: Settings, env: Env, meter: Meter, outbox: Outbox) -> Ledger<S> {
        let inner = Inner {
            queue: Queue::new(&settings, store.epoch(), meter.clone()),
            cache: Cache::new(settings.cache_tasks, settings.cache_bytes),
            feeds: Feeds::default(),
            forgets: tokio::sync::Mutex::default(),
            ends_runs: tokio::sync::RwLock::default(),
            opened: env.now(),
            store,
            settings,
            env,
            meter,
            outbox,
        };
        Ledger { inner: Arc::new(inner) }
    }

    /// Cancelled when the store cannot write any more.
    pub(crate) fn broken(&self) -> &CancellationToken {
        self.store.broken()
    }

    /// When the store was opened.
    pub(crate) fn opened(&self) -> weft_proto::wkt::Timestamp {
        self.opened
    }

    /// Runs `work` to its end, whether or not the caller waits for it. It is boxed: moved about by the runtime, a
    /// future of this size costs more than the allocation.
    async fn whole<T: Send + 'static>(
        &self,
        work: Pin<Box<dyn Future<Output = Result<T, Fault>> + Send>>,
    ) -> Result<T, Fault> {
        let (done, outcome) = oneshot::channel();
        let span = tracing::Span::current();
        let work = async move {
            let _ = done.send(work.await);
        };
        self.env.spawn(work.instrument(span));
        outcome.await.unwrap_or_else(|_| Err(Fault::internal("the work on this request ended early")))
    }

    /// Lets go of a removed task.
    pub(crate) fn forget(&self, task: TaskId) {
        self.cache.forget(task);
    }

    /// The slot of a task, loaded.
    async fn slot(&self, task: TaskId) -> Result<Option<Arc<Slot>>, Fault> {
        let slot = self.cache.slot(task);
        if slot.now().is_some() {
            return Ok(Some(slot));
        }
        if Box::pin(slot.load(self.store.load(task))).await.map_err(broken)? {
            if let Some(now) = slot.now() {
                self.cache.weigh(task, now.head.bytes);
            }
            return Ok(Some(slot));
        }
        self.cache.forget(task);
        Ok(None)
    }

    /// The slot of an owner's task, who is told of it by that; another's is as unknown as none, and costs as much.
    async fn slot_of(&self, owner: &Owner, task: &str) -> Result<(Arc<Slot>, Snapshot), Fault> {
        let unknown = || Fault::task_not_found(task);
        let id = TaskId::parse(task).ok_or_else(unknown)?;
        let slot = self.cache.slot(id);
        let owned = |slot: &Slot| slot.now().is_some_and(|now| now.head.owner == owner.as_str());
        if !owned(&slot) {
            let load = Box::pin(self.store.load_of(owner.as_str(), id));
            let loaded = if slot.now().is_some() {
                load.await.map(|stored| stored.is_some())
            } else {
                Box::pin(slot.load(load)).await
            };
            if !loaded.map_err(broken)? || !owned(&slot) {
                self.cache.release(&slot);
                return Err(unknown());
            }
            if let Some(now) = slot.now() {
                self.cache.weigh(id, now.head.bytes);
            }
        }
        // Told before it is looked at: what is shown stays.
        if !slot.tell() {
            return Err(unknown());
        }
        let now = slot.now().ok_or_else(unknown)?;
        Ok((slot, now))
    }

    /// Decides, commits and publishes; the caller holds the slot's writer. A decision of `None` changes nothing.
    async fn change(
        &self,
        slot: &Slot,
        mut decide: impl FnMut(&Snapshot) -> Result<Option<Decision>, Fault>,
    ) -> Result<bool, Fault> {
        for _ in 0..TRIES {
            let Some(now) = slot.now() else { return Ok(false) };
            let Some(decision) = decide(&now)? else { return Ok(false) };
            let (base, limits) = (now.head.clone(), decision.limits);
            // The folded task must have one owner when it is written to, or it would be copied.
            drop(now);
            match self.write(slot, base, decision).await {
                Err(Refused::Conflict) => match Box::pin(self.store.load(slot.id())).await.map_err(broken)? {
                    Some(stored) => slot.reload(stored),
                    None => return Err(Fault::task_not_found(&slot.id().to_string())),
                },
                Err(refused) => return Err(self.refused(refused, limits)),
                Ok(()) => return Ok(true),
            }
        }
        Err(Fault::unavailable("the task changed again and again meanwhile; try again"))
    }

    async fn write(&self, slot: &Slot, base: Arc<Head>, decision: Decision) -> Result<(), Refused> {
        let Decision { change, mut head, turn, push, limits, session } = decision;
        let record = record(&mut head, change, turn);
        head.version = base.version + 1;
        let head = Arc::new(head);
        let record_of = record.clone();
        let commit =
            Commit { base: Some(base), head: head.clone(), record: record_of, push, limits, session };
        let span = tracing::info_span!(target: "weft::tasks", "commit", weft.task.id = %slot.id(), weft.version = head.version);
        self.went(&self.store.commit(commit).instrument(span).await?);
        self.announce(&head, record.as_deref());
        self.cache.weigh(slot.id(), head.bytes);
        slot.publish(head, record.map(Arc::unwrap_or_clone));
        Ok(())
    }

    /// Tells what watches all tasks.
    fn announce(&self, head: &Head, record: Option<&Record>) {
        let Some(record) = record else { return };
        if head.pushes > 0 {
            self.outbox.told(head.id());
        }
        if weft_core::task::is_terminal(head.state()) {
            self.meter.ended.get_or_create(&[("state", weft_core::task::name(head.state()))]).inc();
        }
        self.feeds.publish(head, record.events.iter());
    }

    fn bounds(&self) -> Bounds {
        Bounds {
            messages_max: self.settings.messages_max as usize,
            artifacts_max: self.settings.artifacts_max as usize,
        }
    }
}

/// The record of a change, numbered after what `head` says came before; `head` then says what comes after.
fn record(head: &mut Head, change: Change, turn: Option<Turn>) -> Option<Arc<Record>> {
    if change.events.is_empty() {
        return None;
    }
    for event in &change.events {
        let status = match &event.payload {
            Some(Payload::Task(task)) => task.status.as_ref(),
            Some(Payload::StatusUpdate(update)) => update.status.as_ref(),
            Some(Payload::Message(_)) => {
                (head.state, head.hidden) = (TaskState::Completed.into(), true);
                None
            }
            _ => None,
        };
        if let Some(status) = status {
            head.state = status.state;
            head.status_ms =
                status.timestamp.map_or(0, |at| at.seconds * 1_000 + i64::from(at.nanos) / 1_000_000);
        }
    }
    let turn = turn.map(|turn| Turn { message: change.said, ..turn });
    let record = Record { first: head.seq + 1, events: change.events, turn };
    head.seq += record.events.len() as u64;
    head.bytes += record.encoded_len() as u64;
    Some(Arc::new(record))
}

fn broken(why: Broken) -> Fault {
    Fault::unavailable(why.0)
}

fn stopping() -> Fault {
    Fault::unavailable("the task store is stopping; what it has accepted goes on, try again later")
}

/// The same key with another content.
fn used_up() -> Fault {
    Fault::new(
        Kind::Conflict,
        "this Idempotency-Key or messageId was used for another message; send this one under a new one",
    )
}

/// True when the run of a task ends with this event.
fn settles(event: &StreamResponse) -> bool {
    weft_core::task::state_of(event).is_some_and(weft_core::task::is_settled)
}
