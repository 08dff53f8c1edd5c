//! What the writer is asked for: one commit, encoded by whoever asks, so that the writer has little to do.

use std::sync::Arc;

use prost::Message;
use tokio::sync::oneshot;

use super::kv::Batch;
use super::{Commit, PushChange, Refused, Webhook, layout};
use crate::TaskId;
use crate::record::{Delivery, Head, Push, Record};

/// What became of a commit, and who is told.
pub(super) type Answer = Result<(), Refused>;
pub(super) type Asker = oneshot::Sender<Answer>;

/// What the writer is asked for.
pub(super) enum Request {
    Write(Box<Ask>),
    /// Accept nothing more; answered when all that was accepted is on disk.
    Close(oneshot::Sender<()>),
}

/// One commit, encoded by whoever asks, so that the writer has little to do.
pub(super) struct Ask {
    pub(super) task: TaskId,
    /// Under which it is counted.
    pub(super) owner: String,
    pub(super) must: Must,
    /// What is there after it.
    pub(super) after: After,
    pub(super) writes: Batch,
    pub(super) bytes: usize,
    pub(super) claims: Vec<(Vec<u8>, Vec<u8>)>,
    pub(super) counts: Vec<(i32, i64)>,
    pub(super) answer: Asker,
}

/// What a commit must find.
pub(super) enum Must {
    /// The task at this version; `None`: no such task.
    Version(Option<u64>),
    /// This key.
    Key(Vec<u8>),
}

pub(super) enum After {
    Running(Arc<Head>),
    Settled(u64),
    Removed,
    /// The task is as it was.
    Same,
}

impl Ask {
    pub(super) fn commit(commit: Commit, answer: Asker) -> Ask {
        let Commit { base, head, record, push } = commit;
        let owner = head.owner.clone();
        let mut ask = Ask::write(base, head, record.iter().map(Arc::as_ref), answer);
        match push {
            Some(PushChange::Set(push, delivery)) => ask.put_push(&push, &delivery),
            Some(PushChange::Delete(id)) => {
                for kind in [layout::PUSHES, layout::DELIVERIES] {
                    ask.writes.remove(layout::push(kind, ask.task, &id));
                }
                ask.writes.remove(layout::failing(&owner, ask.task, &id));
            }
            None => {}
        }
        ask
    }

    /// Writes a whole task as it was elsewhere.
    pub(super) fn import(
        head: Arc<Head>,
        records: &[Record],
        pushes: &[(Push, Delivery)],
        answer: Asker,
    ) -> Ask {
        let mut ask = Ask::write(None, head, records.iter(), answer);
        pushes.iter().for_each(|(push, delivery)| ask.put_push(push, delivery));
        ask
    }

    /// Writes how far a webhook is, while it is there.
    pub(super) fn note(webhook: &Webhook, answer: Asker) -> Ask {
        let Webhook { task, push, delivery, .. } = webhook;
        let mut writes = Batch::default();
        put_delivery(&mut writes, *task, push, delivery);
        Ask {
            task: *task,
            owner: push.owner.clone(),
            must: Must::Key(layout::push(layout::PUSHES, *task, &push.id)),
            after: After::Same,
            writes,
            bytes: 0,
            claims: Vec::new(),
            counts: Vec::new(),
            answer,
        }
    }

    fn put_push(&mut self, push: &Push, delivery: &Delivery) {
        self.writes.put(layout::push(layout::PUSHES, self.task, &push.id), push.encode_to_vec());
        put_delivery(&mut self.writes, self.task, push, delivery);
    }

    fn write<'a>(
        base: Option<Arc<Head>>,
        head: Arc<Head>,
        records: impl Iterator<Item = &'a Record> + Clone,
        answer: Asker,
    ) -> Ask {
        let (task, mut writes, mut counts, mut bytes) = (head.id(), Batch::default(), Vec::new(), 0);
        if let Some(base) = &base {
            leave(&mut writes, &mut counts, base, Some(&head));
        }
        writes.put(layout::head(head.is_running(), task), head.encode_to_vec());
        if !head.is_running() {
            layout::indexes(&head).for_each(|(key, value)| writes.put(key, value));
            counts.push((head.state, 1));
        }
        for record in records.clone() {
            let encoded = record.encode_to_vec();
            bytes += encoded.len();
            layout::put_record(&mut writes, task, record.first, &encoded);
        }
        let turns = records.filter_map(|record| record.turn.as_ref());
        let claims = turns
            .flat_map(|turn| turn.replays.iter().map(move |replay| (replay, &turn.digest)))
            .map(|(replay, digest)| (layout::replay(&head.owner, replay), layout::claimed(task, digest)))
            .collect();
        let owner = layout::counted_for(&head).to_owned();
        let after = if head.is_running() { After::Running(head) } else { After::Settled(head.version) };
        let must = Must::Version(base.map(|base| base.version));
        Ask { task, owner, must, after, writes, bytes, claims, counts, answer }
    }

    /// Removes a task with these further keys.
    pub(super) fn removal(head: &Head, keys: Vec<Vec<u8>>, answer: Asker) -> Ask {
        let (mut writes, mut counts) = (Batch::default(), Vec::new());
        leave(&mut writes, &mut counts, head, None);
        keys.into_iter().for_each(|key| writes.remove(key));
        Ask {
            task: head.id(),
            owner: layout::counted_for(head).to_owned(),
            must: Must::Version(Some(head.version)),
            after: After::Removed,
            writes,
            bytes: 0,
            claims: Vec::new(),
            counts,
            answer,
        }
    }
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
}
