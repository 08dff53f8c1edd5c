//! The one writer: takes the commits that wait, writes them as one batch, syncs once, then answers them all.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};
use std::time::Instant;

use prost::Message;
use tokio::sync::{mpsc, oneshot};

use super::engine::Shared;
use super::kv::{Batch, Kv};
use super::layout::{self, STATES};
use super::{Broken, Claimed, Commit, Full, PushChange, Refused, Webhook};
use crate::TaskId;
use crate::record::{Delivery, Head, Push, Record};

/// Bytes of records after which a group takes no further commit.
const GROUP_BYTES_MAX: usize = 8 * 1024 * 1024;

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
    task: TaskId,
    /// Under which it is counted.
    owner: String,
    must: Must,
    /// What is there after it.
    after: After,
    writes: Batch,
    bytes: usize,
    claims: Vec<(Vec<u8>, Vec<u8>)>,
    counts: Vec<(i32, i64)>,
    pub(super) answer: Asker,
}

/// What a commit must find.
enum Must {
    /// The task at this version; `None`: no such task.
    Version(Option<u64>),
    /// This key.
    Key(Vec<u8>),
}

enum After {
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

/// Takes what waits, up to a group: `first` and what follows without waiting.
pub(super) fn gather(
    first: Request,
    requests: &mut mpsc::Receiver<Request>,
    group_max: usize,
    closers: &mut Vec<oneshot::Sender<()>>,
) -> Vec<Ask> {
    let (mut group, mut bytes, mut next) = (Vec::new(), 0, Some(first));
    while let Some(request) = next {
        match request {
            Request::Write(ask) => {
                bytes += ask.bytes;
                group.push(*ask);
            }
            Request::Close(closer) => {
                requests.close();
                closers.push(closer);
            }
        }
        let room = group.len() < group_max && bytes < GROUP_BYTES_MAX;
        next = if room { requests.try_recv().ok() } else { None };
    }
    group
}

/// A group that is being put together.
struct Group {
    batch: Batch,
    versions: HashMap<TaskId, Option<u64>>,
    claims: HashMap<Vec<u8>, Claimed>,
    /// Keys of webhooks that it writes or removes.
    pushes: HashMap<Vec<u8>, bool>,
    counts: HashMap<String, [i64; STATES]>,
    running: Vec<(TaskId, Option<Arc<Head>>)>,
    grown: i64,
    answers: Vec<(Asker, Answer)>,
}

impl<K: Kv> Shared<K> {
    /// First half: checks each commit and makes the accepted ones visible as one batch. Nothing is answered yet.
    pub(super) fn write_group(&self, asks: Vec<Ask>) -> Written {
        let began = Instant::now();
        let mut group = Group {
            batch: Batch::default(),
            versions: HashMap::new(),
            claims: HashMap::new(),
            pushes: HashMap::new(),
            counts: HashMap::new(),
            running: Vec::new(),
            grown: 0,
            answers: Vec::with_capacity(asks.len()),
        };
        let mut failed: Option<Broken> = None;
        for ask in asks {
            let checked = match &failed {
                None => self.check(&group, &ask),
                Some(broken) => Err(Refused::Broken(broken.clone())),
            };
            match checked {
                Ok(()) => group.add(ask),
                Err(refused) => {
                    if let Refused::Broken(broken) = &refused {
                        failed.get_or_insert_with(|| broken.clone());
                    }
                    group.answers.push((ask.answer, Err(refused)));
                }
            }
        }
        let accepted = group.answers.iter().filter(|(_, answer)| answer.is_ok()).count();
        let outcome = match failed {
            Some(broken) => Err(broken),
            None if accepted == 0 => Ok(()),
            None => self.apply(&mut group),
        };
        Written { answers: group.answers, outcome, accepted, began }
    }

    /// Second half: syncs, then answers.
    pub(super) fn finish_group(&self, written: Written) {
        let Written { answers, outcome, accepted, began } = written;
        let applied = self.applied.load(Ordering::Acquire);
        let outcome = outcome.and_then(|()| if accepted > 0 { self.kv.sync() } else { Ok(()) });
        if let Err(broken) = outcome {
            self.break_down(&broken);
            for (answer, _) in answers {
                let _ = answer.send(Err(Refused::Broken(broken.clone())));
            }
            return;
        }
        if accepted > 0 {
            self.synced.send_replace(applied);
            let size = answers.iter().filter(|(_, answer)| answer.is_ok()).count();
            self.meter.commits.inc_by(size as u64);
            self.meter.stored.set(self.total.load(Ordering::Relaxed).cast_signed());
            self.meter.group.observe(size as f64);
            self.meter.seconds.observe(began.elapsed().as_secs_f64());
        }
        for (answer, outcome) in answers {
            // Whoever asked may be gone; the commit stands.
            let _ = answer.send(outcome);
        }
    }

    fn check(&self, group: &Group, ask: &Ask) -> Result<(), Refused> {
        let base = match &ask.must {
            Must::Version(base) => *base,
            Must::Key(key) => return self.check_key(group, key),
        };
        let found = match group.versions.get(&ask.task) {
            Some(version) => *version,
            None => self.head(ask.task)?.map(|head| head.version),
        };
        if found != base {
            return Err(Refused::Conflict);
        }
        for (key, _) in &ask.claims {
            let holder = match group.claims.get(key) {
                Some(holder) => Some(holder.clone()),
                None => self.kv.get(key)?.map(|bytes| layout::read_claimed(&bytes)).transpose()?,
            };
            if let Some(holder) = holder {
                return Err(Refused::Taken(holder));
            }
        }
        if base.is_none() {
            let total = self.total.load(Ordering::Acquire).saturating_add_signed(group.grown);
            if total >= self.tasks_max {
                return Err(Refused::Full(Full::Tasks));
            }
            if self.bytes_lately() > self.bytes_max {
                return Err(Refused::Full(Full::Bytes));
            }
        }
        Ok(())
    }

    /// The key must be there, and the group must not have removed it.
    fn check_key(&self, group: &Group, key: &[u8]) -> Result<(), Refused> {
        let there = match group.pushes.get(key) {
            Some(there) => *there,
            None => self.kv.get(key)?.is_some(),
        };
        if there { Ok(()) } else { Err(Refused::Conflict) }
    }

    fn apply(&self, group: &mut Group) -> Result<(), Broken> {
        for (owner, deltas) in std::mem::take(&mut group.counts) {
            let key = layout::counts(&owner);
            let mut counts = layout::read_counts(self.kv.get(&key)?)?;
            for (count, delta) in counts.iter_mut().zip(deltas) {
                *count = count.saturating_add_signed(delta);
            }
            let gone = counts.iter().all(|count| *count == 0);
            let value = (!gone).then(|| layout::write_counts(&counts));
            group.batch.writes.push((key, value));
        }
        let mut view = self.view.write().unwrap_or_else(PoisonError::into_inner);
        self.kv.apply(std::mem::take(&mut group.batch))?;
        for (task, head) in group.running.drain(..) {
            view.set(task, head);
        }
        self.total.fetch_add(group.grown.cast_unsigned(), Ordering::AcqRel);
        self.applied.fetch_add(1, Ordering::AcqRel);
        Ok(())
    }
}

impl Group {
    fn add(&mut self, ask: Ask) {
        if !ask.counts.is_empty() {
            let counts = match self.counts.entry(ask.owner) {
                Entry::Occupied(counts) => counts.into_mut(),
                Entry::Vacant(place) => place.insert([0; STATES]),
            };
            for (state, delta) in ask.counts {
                if let Some(count) = usize::try_from(state).ok().and_then(|state| counts.get_mut(state)) {
                    *count += delta;
                }
            }
        }
        let new = i64::from(matches!(ask.must, Must::Version(None)));
        let moved = match ask.after {
            After::Running(head) => Some((Some(head.version), Some(head), new)),
            After::Settled(version) => Some((Some(version), None, new)),
            After::Removed => Some((None, None, -1)),
            After::Same => None,
        };
        if let Some((version, running, grown)) = moved {
            self.grown += grown;
            self.versions.insert(ask.task, version);
            self.running.push((ask.task, running));
        }
        for (key, value) in ask.claims {
            if let Ok(claimed) = layout::read_claimed(&value) {
                self.claims.insert(key.clone(), claimed);
            }
            self.batch.put(key, value);
        }
        for (key, value) in &ask.writes.writes {
            if key.first() == Some(&layout::PUSHES) {
                self.pushes.insert(key.clone(), value.is_some());
            }
        }
        self.batch.writes.extend(ask.writes.writes);
        self.answers.push((ask.answer, Ok(())));
    }
}

/// A group between its write and its sync.
pub(super) struct Written {
    answers: Vec<(Asker, Answer)>,
    outcome: Result<(), Broken>,
    accepted: usize,
    began: Instant,
}
