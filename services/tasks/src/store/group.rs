//! The one writer: takes the commits that wait, writes them as one batch, syncs once, then answers them all. What must
//! go to make room for a commit goes in the same batch.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};
use std::time::Instant;

use tokio::sync::{mpsc, oneshot};

use super::ask::{After, Answer, Ask, Asker, InContext, Must, Request};
use super::engine::Shared;
use super::kv::{Batch, Kv};
use super::layout::{self, STATES, owner};
use super::{Broken, Claimed, Refused, Used};
use crate::TaskId;
use crate::record::Head;

/// Bytes of records after which a group takes no further commit.
const GROUP_BYTES_MAX: usize = 8 * 1024 * 1024;

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
#[derive(Default)]
pub(super) struct Group {
    batch: Batch,
    versions: HashMap<TaskId, Option<u64>>,
    claims: HashMap<Vec<u8>, Claimed>,
    /// Keys of webhooks and conversations that it writes or removes.
    keys: HashMap<Vec<u8>, bool>,
    counts: HashMap<String, [i64; STATES]>,
    /// Tasks and bytes by base, tasks and turns by context.
    more: HashMap<String, (i64, i64)>,
    contexts: HashMap<Vec<u8>, (i64, i64)>,
    capabilities: Vec<String>,
    forgetting: HashMap<String, bool>,
    running: Vec<(TaskId, Option<Arc<Head>>)>,
    grown: i64,
    answers: Vec<(Asker, Answer)>,
}

impl<K: Kv> Shared<K> {
    /// First half: checks each commit and makes the accepted ones visible as one batch. Nothing is answered yet.
    pub(super) fn write_group(&self, asks: Vec<Ask>) -> Written {
        let began = Instant::now();
        let mut group = Group { answers: Vec::with_capacity(asks.len()), ..Group::default() };
        let mut failed: Option<Broken> = None;
        for mut ask in asks {
            let answer = ask.answer.take();
            let outcome = match &failed {
                None => self.admit(&mut group, ask),
                Some(broken) => Err(Refused::Broken(broken.clone())),
            };
            if let Err(Refused::Broken(broken)) = &outcome {
                failed.get_or_insert_with(|| broken.clone());
            }
            group.answers.extend(answer.map(|answer| (answer, outcome)));
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

    /// Takes a commit into the group with all that goes to make room for it; answers what goes.
    fn admit(&self, group: &mut Group, ask: Ask) -> Answer {
        self.check(group, &ask)?;
        let room = self.room(group, &ask)?;
        for head in &room {
            group.add(Ask::removal(head, self.keys_of(head.id(), &head.owner)?));
        }
        group.add(ask);
        Ok(room.iter().map(Head::id).collect())
    }

    fn check(&self, group: &Group, ask: &Ask) -> Result<(), Refused> {
        let forgets = || group.forgetting.get(&ask.base).copied().unwrap_or_else(|| self.forgets(&ask.base));
        if ask.begins() && forgets() {
            return Err(Refused::Forgetting);
        }
        let base = match &ask.must {
            Must::Version(base) => *base,
            Must::Key(key) if self.has(group, key)? => return Ok(()),
            Must::NoKey(key) if !self.has(group, key)? => return Ok(()),
            Must::Key(_) | Must::NoKey(_) => return Err(Refused::Conflict),
            Must::Owner | Must::Any => return Ok(()),
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
            // One that makes room in this group lets go of its keys too.
            let goes = |holder: &Claimed| group.versions.get(&holder.task) == Some(&None);
            if let Some(holder) = holder.filter(|holder| !goes(holder)) {
                return Err(Refused::Taken(holder));
            }
        }
        Ok(())
    }

    /// True when the key is there, and the group has not removed it.
    fn has(&self, group: &Group, key: &[u8]) -> Result<bool, Broken> {
        match group.keys.get(key) {
            Some(there) => Ok(*there),
            None => Ok(self.kv.get(key)?.is_some()),
        }
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
        for (base, more) in std::mem::take(&mut group.more) {
            self.add_up(group, owner::of_base(owner::USED, &base), more)?;
        }
        for (context, more) in std::mem::take(&mut group.contexts) {
            if self.add_up(group, context.clone(), more)? == 0 {
                let (from, to) = owner::range(owner::sessions_of(&context));
                self.kv.scan(&from, &to, &mut |key, _| {
                    group.batch.remove(key.to_vec());
                    Ok(true)
                })?;
            }
        }
        let mut view = self.view.write().unwrap_or_else(PoisonError::into_inner);
        self.kv.apply(std::mem::take(&mut group.batch))?;
        for (task, head) in group.running.drain(..) {
            view.set(task, head);
        }
        self.capabilities
            .write()
            .unwrap_or_else(PoisonError::into_inner)
            .extend(group.capabilities.drain(..));
        let mut forgetting = self.forgetting.write().unwrap_or_else(PoisonError::into_inner);
        for (base, forgets) in group.forgetting.drain() {
            if forgets {
                forgetting.insert(base)
            } else {
                forgetting.remove(&base)
            };
        }
        self.total.fetch_add(group.grown.cast_unsigned(), Ordering::AcqRel);
        self.applied.fetch_add(1, Ordering::AcqRel);
        Ok(())
    }

    /// Adds to two counters, of which none is left when the first is none; answers the first.
    fn add_up(&self, group: &mut Group, key: Vec<u8>, more: (i64, i64)) -> Result<u64, Broken> {
        let before = owner::read_used(self.kv.get(&key)?.as_deref())?;
        let now = Used {
            tasks: before.tasks.saturating_add_signed(more.0),
            bytes: before.bytes.saturating_add_signed(more.1),
        };
        group.batch.writes.push((key, (now.tasks > 0).then(|| owner::write_used(now))));
        Ok(now.tasks)
    }
}

impl Group {
    /// Tasks and bytes that a base has more by it.
    pub(super) fn more_of(&self, base: &str) -> (i64, i64) {
        self.more.get(base).copied().unwrap_or_default()
    }

    /// Turns that a context has more by it.
    pub(super) fn turns_more(&self, context: &[u8]) -> i64 {
        self.contexts.get(context).map_or(0, |(_, turns)| *turns)
    }

    /// Tasks that the store has more by it.
    pub(super) fn grown(&self) -> i64 {
        self.grown
    }

    /// True when it leaves this task as it is on disk.
    pub(super) fn leaves(&self, task: TaskId) -> bool {
        !self.versions.contains_key(&task)
    }

    fn add(&mut self, ask: Ask) {
        if ask.more != (0, 0) {
            let more = self.more.entry(ask.base.clone()).or_default();
            *more = (more.0 + ask.more.0, more.1 + ask.more.1);
        }
        if let Some(InContext { key, tasks, turns }) = ask.context {
            let more = self.contexts.entry(key).or_default();
            *more = (more.0 + tasks, more.1 + turns);
        }
        self.capabilities.extend(ask.capability);
        if let Some(forgets) = ask.forgets {
            self.forgetting.insert(ask.base, forgets);
        }
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
            if matches!(key.first(), Some(&layout::PUSHES | &owner::CONVERSATIONS)) {
                self.keys.insert(key.clone(), value.is_some());
            }
        }
        self.batch.writes.extend(ask.writes.writes);
    }
}

/// A group between its write and its sync.
pub(super) struct Written {
    answers: Vec<(Asker, Answer)>,
    outcome: Result<(), Broken>,
    accepted: usize,
    began: Instant,
}
