//! Where tasks are kept: one trait, its backends, and what a commit is.
//!
//! A backend knows nothing of the task machine. It keeps heads and records, refuses a commit that was decided on an
//! older version, lists by owner, and answers only what is safe on disk: also a read waits for the sync that covers it.

mod ask;
mod dump;
mod engine;
mod group;
pub mod kv;
mod layout;
mod room;
pub mod simulated;
pub mod sled;
mod upgrade;

pub use dump::{Forgotten, Report, backup, check, export, forget, place, restore};

use std::fmt;
use std::future::Future;
use std::sync::Arc;

use tokio_util::sync::CancellationToken;
use weft_core::list::{Cursor, Query};
use weft_proto::a2a::Task;

use crate::TaskId;
use crate::record::{Conversation, Delivery, Head, Push, Record, Replay, Turn};

/// One step of one task's ledger.
#[derive(Debug, Clone)]
pub struct Commit {
    /// The head it was decided on; `None`: the task is new.
    pub base: Option<Arc<Head>>,
    /// The head after it; its version is one more than `base`'s.
    pub head: Arc<Head>,
    /// What happened; `None` when only the head changes. The replay keys of its turn must be free and then lead here.
    pub record: Option<Arc<Record>>,
    /// What happens to a webhook of the task; the head counts them.
    pub push: Option<PushChange>,
    /// What its owner may keep, when the record begins a turn.
    pub limits: Limits,
    /// What its run leaves for the next one of the same owner, context and capability.
    pub session: Option<String>,
}

/// What an owner may keep, in every tenant together; 0: any number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Limits {
    /// Tasks. At the limit the oldest ended ones make room.
    pub tasks_max: u64,
    /// Bytes of their records; likewise.
    pub bytes_max: u64,
    /// Turns of the commit's context.
    pub turns_max: u32,
}

/// What an owner keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Used {
    /// Tasks; of a context: its tasks.
    pub tasks: u64,
    /// Bytes of their records; of a context: its turns so far.
    pub bytes: u64,
}

/// For how long ended tasks are kept whose head does not say it, in hours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Keep {
    /// Those of most owners.
    pub hours: u32,
    /// Those of owners without credentials.
    pub anonymous_hours: u32,
}

/// What a commit does to a webhook.
#[derive(Debug, Clone, PartialEq)]
pub enum PushChange {
    /// There is this one, this far; it replaces one of the same id.
    Set(Push, Delivery),
    /// There is none of this id.
    Delete(String),
}

/// A webhook as it is on disk.
#[derive(Debug, Clone, PartialEq)]
pub struct Webhook {
    /// Its task.
    pub task: TaskId,
    /// Itself.
    pub push: Push,
    /// How far it is.
    pub delivery: Delivery,
    /// Number of the task's last event.
    pub last: u64,
}

/// Why a commit did not happen. Nothing of it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refused {
    /// The task has moved on from the base, or exists already.
    Conflict,
    /// A replay key leads to this task already.
    Taken(Claimed),
    /// There is as much as there may be, and nothing that has ended to make room.
    Full(Full),
    /// Everything of this owner is being removed.
    Forgetting,
    /// The store cannot write any more; the process should end.
    Broken(Broken),
}

/// What there is too much of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Full {
    /// As many tasks of the owner as [`Limits::tasks_max`].
    OwnerTasks,
    /// As many bytes of the owner as [`Limits::bytes_max`].
    OwnerBytes,
    /// As many turns of the context as [`Limits::turns_max`].
    Turns,
    /// As many conversations of the owner as were said to be the most.
    Conversations,
    /// As many tasks as `tasks.tasks_max`.
    Tasks,
    /// As many bytes on disk as `tasks.store_bytes_max`.
    Bytes,
}

/// Where a replay key leads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claimed {
    /// The task.
    pub task: TaskId,
    /// SHA-256 of what was sent with it.
    pub digest: Vec<u8>,
}

/// The disk failed, or the store was closed. Says which.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Broken(pub String);

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Broken {}

impl From<Broken> for Refused {
    fn from(broken: Broken) -> Refused {
        Refused::Broken(broken)
    }
}

/// A task as it is on disk.
#[derive(Debug, Clone, PartialEq)]
pub struct Stored {
    /// Its head.
    pub head: Arc<Head>,
    /// All its records folded.
    pub task: Task,
    /// Its latest turn.
    pub turn: Turn,
}

impl Stored {
    pub(crate) fn fold(head: Arc<Head>, records: Vec<Record>) -> Stored {
        let (mut task, mut turn) = (Task::default(), Turn::default());
        for record in records {
            record.apply(&mut task);
            turn = record.turn.unwrap_or(turn);
        }
        Stored { head, task, turn }
    }
}

/// Some webhooks, and task and id after which there are more.
pub type Webhooks = (Vec<Webhook>, Option<(TaskId, String)>);

/// A page of a list.
#[derive(Debug, Clone, PartialEq)]
pub struct Page {
    /// In the order of the list, at most as many as asked for.
    pub heads: Vec<Arc<Head>>,
    /// Where it ended, when there is more.
    pub more: Option<Cursor>,
    /// Tasks on all pages together.
    pub total: u64,
}

/// A backend. All answers are of what is on disk; `Broken` ends the store's life.
pub trait Store: Send + Sync + 'static {
    /// `sled`, `postgres`, `simulated`.
    fn backend(&self) -> &'static str;

    /// Writes one step; answers when it is on disk. Of a new turn that is over a limit the oldest ended tasks, of its
    /// owner or of all, make room in the same write: these are answered.
    fn commit(&self, commit: Commit) -> impl Future<Output = Result<Vec<TaskId>, Refused>> + Send;

    /// The task; `None` when there is none.
    fn load(&self, task: TaskId) -> impl Future<Output = Result<Option<Stored>, Broken>> + Send;

    /// The task when it is this owner's. It reads the same of somebody else's as of none.
    fn load_of(
        &self,
        owner: &str,
        task: TaskId,
    ) -> impl Future<Output = Result<Option<Stored>, Broken>> + Send;

    /// Records from the one that holds event `from` on, at most `most`; none when the task or the event is unknown.
    fn records(
        &self,
        task: TaskId,
        from: u64,
        most: usize,
    ) -> impl Future<Output = Result<Vec<Record>, Broken>> + Send;

    /// Where a replay key of this owner leads.
    fn replayed(
        &self,
        owner: &str,
        replay: &Replay,
    ) -> impl Future<Output = Result<Option<Claimed>, Broken>> + Send;

    /// A page of one owner's tasks. Its cost does not grow with the number of tasks, but for `total` when a time or a
    /// context is asked for: that counts the index entries of what matches.
    fn list(&self, query: &Query) -> impl Future<Output = Result<Page, Broken>> + Send;

    /// Every task that runs or is to run, oldest first.
    fn running(&self) -> Vec<Arc<Head>>;

    /// Ended tasks that are kept long enough, of each time of keeping the oldest first, at most `most`.
    fn over(
        &self,
        keep: Keep,
        now_ms: i64,
        most: usize,
    ) -> impl Future<Output = Result<Vec<Head>, Broken>> + Send;

    /// The task that ended first.
    fn oldest(&self) -> impl Future<Output = Result<Option<Head>, Broken>> + Send;

    /// The webhooks of a task, by id.
    fn webhooks(&self, task: TaskId) -> impl Future<Output = Result<Vec<Webhook>, Broken>> + Send;

    /// One webhook of a task.
    fn webhook(&self, task: TaskId, id: &str)
    -> impl Future<Output = Result<Option<Webhook>, Broken>> + Send;

    /// Notes how far a webhook is; answers when it is on disk. False when the webhook is gone.
    fn note(&self, webhook: &Webhook) -> impl Future<Output = Result<bool, Broken>> + Send;

    /// Webhooks of an owner that [fail](Delivery::is_failing), by task and id from after `after`, at most `most`.
    fn failing(
        &self,
        owner: &str,
        after: Option<(TaskId, String)>,
        most: usize,
    ) -> impl Future<Output = Result<Vec<Webhook>, Broken>> + Send;

    /// Webhooks that may have something to deliver, by task and id from after `after`; looks at no more than `most`.
    /// With them, where to go on; `None` when there is nothing after.
    fn undelivered(
        &self,
        after: Option<(TaskId, String)>,
        most: usize,
    ) -> impl Future<Output = Result<Webhooks, Broken>> + Send;

    /// Removes everything of a task that is still at this version; false when it is not.
    fn remove(&self, head: Head) -> impl Future<Output = Result<bool, Broken>> + Send;

    /// What the last run of this capability left within a context of an owner.
    fn session(
        &self,
        owner: &str,
        context: &str,
        capability: &str,
    ) -> impl Future<Output = Result<Option<String>, Broken>> + Send;

    /// The present conversation of an owner with a peer.
    fn conversation(
        &self,
        owner: &str,
        peer: &str,
    ) -> impl Future<Output = Result<Option<Conversation>, Broken>> + Send;

    /// The present conversations of an owner, by peer.
    fn conversations(&self, owner: &str) -> impl Future<Output = Result<Vec<Conversation>, Broken>> + Send;

    /// Begins a conversation; answers when it is on disk. A `first` one conflicts when there is one with the peer.
    fn converse(
        &self,
        conversation: Conversation,
        first: bool,
    ) -> impl Future<Output = Result<(), Refused>> + Send;

    /// What an owner without its tenant keeps.
    fn used(&self, base: &str) -> impl Future<Output = Result<Used, Broken>> + Send;

    /// The tasks of an owner in every tenant, hidden ones too, oldest first, from after `after`, at most `most`.
    fn of_base(
        &self,
        base: &str,
        after: Option<TaskId>,
        most: usize,
    ) -> impl Future<Output = Result<Vec<Arc<Head>>, Broken>> + Send;

    /// From now on nothing of this owner begins, in any tenant, until [`Store::forgotten`]; also after a restart.
    fn forget(&self, base: &str) -> impl Future<Output = Result<(), Refused>> + Send;

    /// Removes what an owner has besides tasks; answers how many conversations. The owner may begin anew.
    fn forgotten(&self, base: &str) -> impl Future<Output = Result<u64, Refused>> + Send;

    /// The owners that are being forgotten.
    fn forgetting(&self) -> Vec<String>;

    /// Tasks held.
    fn tasks(&self) -> u64;

    /// Bytes on disk, roughly.
    fn bytes(&self) -> u64;

    /// Secret of this store, for page tokens.
    fn secret(&self) -> [u8; 32];

    /// Grows by one each time the store is opened.
    fn epoch(&self) -> u32;

    /// Cancelled when a write failed: nothing more will be accepted.
    fn broken(&self) -> &CancellationToken;

    /// Finishes what was accepted and accepts nothing more.
    fn close(&self) -> impl Future<Output = ()> + Send;
}

/// Why a store cannot be opened; for people, with the remedy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenError(pub String);

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for OpenError {}

impl From<Broken> for OpenError {
    fn from(broken: Broken) -> OpenError {
        OpenError(broken.0)
    }
}
