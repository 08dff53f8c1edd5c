//! What is written down: a small head a task, rewritten by each commit, and one record a commit, never rewritten.

use weft_core::list::Cursor;
use weft_core::task;
use weft_proto::a2a::{Message, StreamResponse, Task, TaskState};
use weft_proto::weft::Route;

use crate::TaskId;

/// What the store must know of a task without reading its content. Its size does not depend on the task's.
#[derive(Clone, PartialEq, Eq, Hash, prost::Message)]
pub struct Head {
    #[prost(fixed64, tag = "1")]
    id_high: u64,
    #[prost(fixed64, tag = "2")]
    id_low: u64,
    /// Canonical owner.
    #[prost(string, tag = "3")]
    pub owner: String,
    /// The conversation.
    #[prost(string, tag = "4")]
    pub context: String,
    /// Commits so far; a commit names the version it was decided on.
    #[prost(uint64, tag = "5")]
    pub version: u64,
    /// Number of the last event.
    #[prost(uint64, tag = "6")]
    pub seq: u64,
    /// The task's state.
    #[prost(enumeration = "TaskState", tag = "7")]
    pub state: i32,
    /// When the status began, in milliseconds since the Unix epoch.
    #[prost(int64, tag = "8")]
    pub status_ms: i64,
    /// Turns so far.
    #[prost(uint32, tag = "9")]
    pub turn: u32,
    /// Runs of the latest turn, from 1.
    #[prost(uint32, tag = "10")]
    pub attempt: u32,
    /// True when the present run has been heard of.
    #[prost(bool, tag = "11")]
    pub started: bool,
    /// The last lease that wrote, and the number of its last request.
    #[prost(uint64, tag = "12")]
    pub lease: u64,
    /// See `lease`.
    #[prost(uint64, tag = "13")]
    pub number: u64,
    /// Bytes of all records.
    #[prost(uint64, tag = "14")]
    pub bytes: u64,
    /// The capability of the latest turn; empty when it has none.
    #[prost(string, tag = "15")]
    pub capability: String,
    /// Webhooks.
    #[prost(uint32, tag = "16")]
    pub pushes: u32,
    /// It was answered with a message instead: only a repetition of what opened it finds it.
    #[prost(bool, tag = "17")]
    pub hidden: bool,
    /// How long it is kept once it has ended, in hours; 0: as the settings say.
    #[prost(uint32, tag = "18")]
    pub keep_hours: u32,
    /// How long the earlier runs of the latest turn took together, in milliseconds.
    #[prost(uint64, tag = "19")]
    pub ran_ms: u64,
}

/// Tenant and base of an owner: `crm/p:ci` is `p:ci` in the space of `crm`.
#[must_use]
pub fn space(owner: &str) -> (&str, &str) {
    owner.split_once('/').unwrap_or(("", owner))
}

/// True for an owner that showed no credentials, only a task access token.
#[must_use]
pub fn is_anonymous(owner: &str) -> bool {
    space(owner).1.starts_with("anon:")
}

impl Head {
    /// The head of a task that is yet to be written.
    #[must_use]
    pub fn new(id: TaskId, owner: &str, context: &str) -> Head {
        let (id_high, id_low) = id.halves();
        Head { id_high, id_low, owner: owner.to_owned(), context: context.to_owned(), ..Head::default() }
    }

    /// The task's id.
    #[must_use]
    pub fn id(&self) -> TaskId {
        TaskId::of_halves(self.id_high, self.id_low)
    }

    /// True when a worker runs it or is to run it.
    #[must_use]
    pub fn is_running(&self) -> bool {
        !task::is_settled(self.state())
    }

    /// Its place in a list.
    #[must_use]
    pub fn cursor(&self) -> Cursor {
        Cursor { status_ms: self.status_ms, task: self.id().bytes() }
    }
}

/// A turn of the caller, with what a worker needs to run it.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Turn {
    /// The message, with its task's ids.
    #[prost(message, optional, tag = "1")]
    pub message: Option<Message>,
    /// Where it goes; unset: nothing to run.
    #[prost(message, optional, tag = "2")]
    pub route: Option<Route>,
    /// The caller's trace.
    #[prost(string, tag = "3")]
    pub traceparent: String,
    /// The caller's trace.
    #[prost(string, tag = "4")]
    pub tracestate: String,
    /// Media types the caller can show.
    #[prost(string, repeated, tag = "5")]
    pub accepted_output_modes: Vec<String>,
    /// SHA-256 of what the caller sent.
    #[prost(bytes = "vec", tag = "6")]
    pub digest: Vec<u8>,
    /// Keys under which the caller may send it again.
    #[prost(message, repeated, tag = "7")]
    pub replays: Vec<Replay>,
}

/// A key under which the same message answers the same task.
#[derive(Clone, PartialEq, Eq, Hash, prost::Message)]
pub struct Replay {
    /// False: an `Idempotency-Key`. True: a `messageId`.
    #[prost(bool, tag = "1")]
    pub by_message: bool,
    /// The key.
    #[prost(string, tag = "2")]
    pub key: String,
}

/// What one commit did.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Record {
    /// Number of the first event.
    #[prost(uint64, tag = "1")]
    pub first: u64,
    /// The events; see [`weft_core::task::Change::events`].
    #[prost(message, repeated, tag = "2")]
    pub events: Vec<StreamResponse>,
    /// The turn it began.
    #[prost(message, optional, tag = "3")]
    pub turn: Option<Turn>,
}

impl Record {
    fn said(&self) -> Option<&Message> {
        self.turn.as_ref()?.message.as_ref()
    }

    /// Lets it happen to `task`.
    pub fn apply(&self, task: &mut Task) {
        task::apply(task, &self.events, self.said());
    }

    /// The events as readers see them, each with its number.
    pub fn published(&self) -> impl Iterator<Item = (u64, StreamResponse)> + '_ {
        (self.first..).zip(task::published(&self.events, self.said()))
    }
}

/// What the last run of a capability left for the next one within a context.
#[derive(Clone, PartialEq, Eq, Hash, prost::Message)]
pub struct Session {
    /// Canonical owner.
    #[prost(string, tag = "1")]
    pub owner: String,
    /// The conversation.
    #[prost(string, tag = "2")]
    pub context: String,
    /// What ran.
    #[prost(string, tag = "3")]
    pub capability: String,
    /// Opaque to the store.
    #[prost(string, tag = "4")]
    pub text: String,
}

/// The present conversation of an owner with a peer.
#[derive(Clone, PartialEq, Eq, Hash, prost::Message)]
pub struct Conversation {
    /// Canonical owner.
    #[prost(string, tag = "1")]
    pub owner: String,
    /// With whom.
    #[prost(string, tag = "2")]
    pub peer: String,
    /// Under which context id.
    #[prost(string, tag = "3")]
    pub context: String,
    /// Since when, in milliseconds since the Unix epoch.
    #[prost(int64, tag = "4")]
    pub begun_ms: i64,
}

/// A webhook of a task.
#[derive(Clone, PartialEq, Eq, Hash, prost::Message)]
pub struct Push {
    /// Unique within its task.
    #[prost(string, tag = "1")]
    pub id: String,
    /// The task's owner.
    #[prost(string, tag = "2")]
    pub owner: String,
    /// Where events go.
    #[prost(string, tag = "3")]
    pub url: String,
    /// Authentication scheme; empty: none.
    #[prost(string, tag = "4")]
    pub scheme: String,
    /// [`Secrets`] as the signer wrapped them; empty: there are none.
    #[prost(bytes = "vec", tag = "5")]
    pub wrapped: Vec<u8>,
}

/// What of a webhook is never written down as it is.
#[derive(Clone, PartialEq, Eq, Hash, prost::Message)]
pub struct Secrets {
    /// The receiver's token; empty: none.
    #[prost(string, tag = "1")]
    pub token: String,
    /// What follows the scheme.
    #[prost(string, tag = "2")]
    pub credentials: String,
}

/// How far the deliveries to a webhook are.
#[derive(Clone, PartialEq, Eq, Hash, prost::Message)]
pub struct Delivery {
    /// Number of the last event that was delivered, or that came before the webhook.
    #[prost(uint64, tag = "1")]
    pub delivered: u64,
    /// Failed attempts at the next one.
    #[prost(uint32, tag = "2")]
    pub attempts: u32,
    /// When the first of them failed, in milliseconds since the Unix epoch.
    #[prost(int64, tag = "3")]
    pub failing_since_ms: i64,
    /// When the next one is due, in milliseconds since the Unix epoch.
    #[prost(int64, tag = "4")]
    pub next_try_ms: i64,
    /// Why the last one failed.
    #[prost(string, tag = "5")]
    pub error: String,
    /// No further attempt is made.
    #[prost(bool, tag = "6")]
    pub given_up: bool,
    /// The task has ended and every event was delivered.
    #[prost(bool, tag = "7")]
    pub done: bool,
    /// Trace of the turn that the next event belongs to.
    #[prost(string, tag = "8")]
    pub traceparent: String,
    /// See `traceparent`.
    #[prost(string, tag = "9")]
    pub tracestate: String,
}

impl Delivery {
    /// True while events fail or no more are tried.
    #[must_use]
    pub fn is_failing(&self) -> bool {
        self.attempts > 0 || self.given_up
    }

    /// True when nothing will be delivered until the webhook is set again.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.given_up || self.done
    }
}
