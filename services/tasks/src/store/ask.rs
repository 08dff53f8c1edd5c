//! What the writer is asked for: one commit, encoded by whoever asks, so that the writer has little to do.

use std::sync::Arc;

use prost::Message;
use tokio::sync::oneshot;
use weft_core::task::is_terminal;

use super::kv::Batch;
use super::layout::owner;
use super::{Commit, Limits, PushChange, Refused, Webhook, layout};
use crate::TaskId;
use crate::record::{Conversation, Delivery, Head, Push, Record, Session, space};

/// What became of a commit, with the tasks that made room for it, and who is told.
pub(super) type Answer = Result<Vec<TaskId>, Refused>;
pub(super) type Asker = oneshot::Sender<Answer>;

/// What the writer is asked for.
pub(super) enum Request {
    Write(Box<Ask>),
    /// Accept nothing more; answered when all that was accepted is on disk.
    Close(oneshot::Sender<()>),
}

/// One commit.
pub(super) struct Ask {
    pub(super) task: TaskId,
    /// Under which settled tasks are counted.
    pub(super) owner: String,
    /// Under which everything is counted.
    pub(super) base: String,
    pub(super) must: Must,
    /// What is there after it.
    pub(super) after: After,
    pub(super) writes: Batch,
    pub(super) bytes: usize,
    pub(super) claims: Vec<(Vec<u8>, Vec<u8>)>,
    pub(super) counts: Vec<(i32, i64)>,
    /// Tasks and bytes that the base has more, or fewer.
    pub(super) more: (i64, i64),
    pub(super) context: Option<InContext>,
    pub(super) limits: Limits,
    /// Whose session is left.
    pub(super) capability: Option<String>,
    /// The base is being forgotten from now on, or no more.
    pub(super) forgets: Option<bool>,
    /// Nobody, when it only makes room.
    pub(super) answer: Option<Asker>,
}

/// Tasks and turns that a context has more, or fewer.
pub(super) struct InContext {
    pub(super) key: Vec<u8>,
    pub(super) tasks: i64,
    pub(super) turns: i64,
}

/// What a commit must find.
pub(super) enum Must {
    /// The task at this version; `None`: no such task.
    Version(Option<u64>),
    /// This key.
    Key(Vec<u8>),
    /// This key not, of an owner that is not being forgotten.
    NoKey(Vec<u8>),
    /// Only that its owner is not being forgotten.
    Owner,
    /// Whatever there is.
    Any,
}

pub(super) enum After {
    Running(Arc<Head>),
    Settled(u64),
    Removed,
    /// The task is as it was.
    Same,
}

impl Ask {
    fn blank(task: TaskId, base: &str, must: Must) -> Ask {
        Ask {
            task,
            owner: String::new(),
            base: base.to_owned(),
            must,
            after: After::Same,
            writes: Batch::default(),
            bytes: 0,
            claims: Vec::new(),
            counts: Vec::new(),
            more: (0, 0),
            context: None,
            limits: Limits::default(),
            capability: None,
            forgets: None,
            answer: None,
        }
    }

    pub(super) fn commit(commit: Commit) -> Ask {
        let Commit { base, head, record, push, limits, session } = commit;
        let mut ask = Ask::write(base.as_deref(), head.clone(), record.iter().map(Arc::as_ref));
        ask.limits = limits;
        match push {
            Some(PushChange::Set(push, delivery)) => ask.put_push(&push, &delivery),
            Some(PushChange::Delete(id)) => {
                for kind in [layout::PUSHES, layout::DELIVERIES] {
                    ask.writes.remove(layout::push(kind, ask.task, &id));
                }
                ask.writes.remove(layout::failing(&head.owner, ask.task, &id));
            }
            None => {}
        }
        if let Some(text) = session {
            let (owner, context) = (head.owner.clone(), head.context.clone());
            ask.put_session(&Session { owner, context, capability: head.capability.clone(), text });
        }
        ask
    }

    /// Writes a whole task as it was elsewhere.
    pub(super) fn import(head: Arc<Head>, records: &[Record], pushes: &[(Push, Delivery)]) -> Ask {
        let mut ask = Ask::write(None, head, records.iter());
        pushes.iter().for_each(|(push, delivery)| ask.put_push(push, delivery));
        ask
    }

    /// Writes how far a webhook is, while it is there.
    pub(super) fn note(webhook: &Webhook) -> Ask {
        let Webhook { task, push, delivery, .. } = webhook;
        let must = Must::Key(layout::push(layout::PUSHES, *task, &push.id));
        let mut ask = Ask::blank(*task, space(&push.owner).1, must);
        put_delivery(&mut ask.writes, *task, push, delivery);
        ask
    }

    /// Leaves a session alone, as it was elsewhere.
    pub(super) fn session(session: &Session) -> Ask {
        let key = owner::context(&session.owner, &session.context);
        let mut ask = Ask::blank(TaskId::new([0; 16]), space(&session.owner).1, Must::Key(key));
        ask.put_session(session);
        ask
    }

    /// Begins a conversation; when it must be the first with its peer, there must be none.
    pub(super) fn conversation(conversation: &Conversation, first: bool) -> Ask {
        let key = owner::conversation(&conversation.owner, &conversation.peer);
        let must = if first { Must::NoKey(key.clone()) } else { Must::Owner };
        let mut ask = Ask::blank(TaskId::new([0; 16]), space(&conversation.owner).1, must);
        ask.writes.put(key, conversation.encode_to_vec());
        ask
    }

    /// Nothing new is taken of this base any more.
    pub(super) fn forget(base: &str) -> Ask {
        let mut ask = Ask::blank(TaskId::new([0; 16]), base, Must::Any);
        ask.writes.put(owner::of_base(owner::FORGETTING, base), Vec::new());
        ask.forgets = Some(true);
        ask
    }

    /// Removes these last keys of a base, which is forgotten by that.
    pub(super) fn forgotten(base: &str, keys: Vec<Vec<u8>>) -> Ask {
        let mut ask = Ask::blank(TaskId::new([0; 16]), base, Must::Any);
        keys.into_iter().for_each(|key| ask.writes.remove(key));
        ask.writes.remove(owner::of_base(owner::FORGETTING, base));
        ask.forgets = Some(false);
        ask
    }

    /// Removes a task with these further keys.
    pub(super) fn removal(head: &Head, keys: Vec<Vec<u8>>) -> Ask {
        let mut ask = Ask::blank(head.id(), owner::base_of(head), Must::Version(Some(head.version)));
        layout::counted_for(head).clone_into(&mut ask.owner);
        leave(&mut ask.writes, &mut ask.counts, head, None);
        ask.writes.remove(owner::owned(&ask.base, head.id()));
        keys.into_iter().for_each(|key| ask.writes.remove(key));
        ask.more = (-1, -signed(head.bytes));
        let key = owner::context(&head.owner, &head.context);
        ask.context = Some(InContext { key, tasks: -1, turns: 0 });
        ask.after = After::Removed;
        ask
    }

    /// True when something of the caller begins with it.
    pub(super) fn begins(&self) -> bool {
        let begins_turn = self.context.as_ref().is_some_and(|context| context.turns > 0);
        begins_turn || matches!(self.must, Must::NoKey(_) | Must::Owner)
    }

    fn put_push(&mut self, push: &Push, delivery: &Delivery) {
        self.writes.put(layout::push(layout::PUSHES, self.task, &push.id), push.encode_to_vec());
        put_delivery(&mut self.writes, self.task, push, delivery);
    }

    fn put_session(&mut self, session: &Session) {
        let key = owner::session(&session.owner, &session.context, &session.capability);
        self.writes.put(key, session.encode_to_vec());
        self.capability = Some(session.capability.clone());
    }

    fn write<'a>(
        base: Option<&Head>,
        head: Arc<Head>,
        records: impl Iterator<Item = &'a Record> + Clone,
    ) -> Ask {
        let task = head.id();
        let must = Must::Version(base.map(|base| base.version));
        let mut ask = Ask::blank(task, owner::base_of(&head), must);
        layout::counted_for(&head).clone_into(&mut ask.owner);
        ask.more = (0, signed(head.bytes));
        match base {
            Some(base) => {
                leave(&mut ask.writes, &mut ask.counts, base, Some(&head));
                ask.more.1 -= signed(base.bytes);
            }
            None => {
                ask.writes.put(owner::owned(&ask.base, task), Vec::new());
                ask.more.0 = 1;
            }
        }
        ask.writes.put(layout::head(head.is_running(), task), head.encode_to_vec());
        if !head.is_running() {
            layout::indexes(&head).for_each(|(key, value)| ask.writes.put(key, value));
            owner::ended(&head).for_each(|key| ask.writes.put(key, Vec::new()));
            ask.counts.push((head.state, 1));
        }
        for record in records.clone() {
            let encoded = record.encode_to_vec();
            ask.bytes += encoded.len();
            layout::put_record(&mut ask.writes, task, record.first, &encoded);
        }
        let turns = records.filter_map(|record| record.turn.as_ref());
        let begun = turns.clone().count();
        ask.claims = turns
            .flat_map(|turn| turn.replays.iter().map(move |replay| (replay, &turn.digest)))
            .map(|(replay, digest)| (layout::replay(&head.owner, replay), layout::claimed(task, digest)))
            .collect();
        if base.is_none() || begun > 0 {
            let key = owner::context(&head.owner, &head.context);
            ask.context = Some(InContext { key, tasks: ask.more.0, turns: signed(begun as u64) });
        }
        ask.after = if head.is_running() { After::Running(head) } else { After::Settled(head.version) };
        ask
    }
}

fn signed(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

fn put_delivery(writes: &mut Batch, task: TaskId, push: &Push, delivery: &Delivery) {
    writes.put(layout::push(layout::DELIVERIES, task, &push.id), delivery.encode_to_vec());
    let mark = layout::failing(&push.owner, task, &push.id);
    if delivery.is_failing() { writes.put(mark, Vec::new()) } else { writes.remove(mark) }
}

/// Takes back what the old head wrote, as far as the new one does not write over it.
fn leave(writes: &mut Batch, counts: &mut Vec<(i32, i64)>, base: &Head, head: Option<&Head>) {
    if head.is_none_or(|head| head.is_running() != base.is_running()) {
        writes.remove(layout::head(base.is_running(), base.id()));
    }
    if !base.is_running() {
        layout::indexes(base).for_each(|(key, _)| writes.remove(key));
        counts.push((base.state, -1));
    }
    if is_terminal(base.state()) {
        owner::ended(base).for_each(|key| writes.remove(key));
    }
}
