//! The one writer: takes the commits that wait, writes them as one batch, syncs once, then answers them all.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};
use std::time::Instant;

use tokio::sync::{mpsc, oneshot};

use super::ask::{After, Answer, Ask, Asker, Must, Request};
use super::engine::Shared;
use super::kv::{Batch, Kv};
use super::layout::{self, STATES};
use super::{Broken, Claimed, Full, Refused};
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
