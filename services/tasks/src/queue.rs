//! Who waits for a worker and who has one: in memory, rebuilt from the store at start.
//!
//! Tasks are handed out in the order in which they came, whoever owns them and whichever worker asks first. A lease
//! carries a token that only grows, so a worker that lost its task cannot write to it any more. It has two phases:
//! *prepared*, until the worker is first heard of, for a short time after which the task waits again in its old place as
//! if nobody had taken it; then *active*, renewed whenever the worker is heard of, for as long as a turn may run.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{Notify, mpsc};
use tokio::time::Instant;
use weft_proto::weft::Stop;

mod lease;
mod worker;

use lease::Lease;
pub(crate) use lease::Over;
pub(crate) use worker::Worker;

use crate::metrics::Meter;
use crate::{Settings, TaskId};

/// The queue. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Queue {
    shared: Arc<Shared>,
}

struct Shared {
    state: Mutex<State>,
    /// Something waits.
    came: Notify,
    /// There is a lease to watch.
    leased: Notify,
    lease: Duration,
    prepare: Duration,
    run_max: Duration,
    queue_max: usize,
    workers_max: usize,
    meter: Meter,
}

#[derive(Default)]
struct State {
    waiting: BTreeMap<u64, Waiting>,
    tickets: HashMap<TaskId, u64>,
    next_ticket: u64,
    /// Places promised to submits that are on their way to the disk.
    reserved: usize,
    leases: HashMap<TaskId, Lease>,
    /// One entry a lease, at a time when it may have run out.
    ends: BinaryHeap<Reverse<(Instant, TaskId, u64)>>,
    next_token: u64,
    workers: HashMap<u64, mpsc::Sender<Stop>>,
    next_worker: u64,
}

#[derive(Clone, Copy)]
struct Waiting {
    task: TaskId,
    /// How long the earlier runs of its turn took.
    ran: Duration,
}

/// Figures for people.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Figures {
    pub(crate) queued: u64,
    pub(crate) leased: u64,
    pub(crate) workers: u64,
}

impl Queue {
    /// An empty queue whose tokens are greater than those of every earlier epoch.
    pub(crate) fn new(settings: &Settings, epoch: u32, meter: Meter) -> Queue {
        let state = State { next_token: (u64::from(epoch) << 32) + 1, ..State::default() };
        let shared = Shared {
            state: Mutex::new(state),
            came: Notify::new(),
            leased: Notify::new(),
            lease: Duration::from_millis(u64::from(settings.lease_ms)),
            prepare: Duration::from_millis(u64::from(settings.prepare_ms.min(settings.lease_ms))),
            run_max: Duration::from_millis(u64::from(settings.run_ms_max)),
            queue_max: settings.queue_max as usize,
            workers_max: settings.workers_max as usize,
            meter,
        };
        Queue { shared: Arc::new(shared) }
    }

    /// Lets a task wait whose turn ran this long already, also beyond the bound: it was accepted before.
    pub(crate) fn put(&self, task: TaskId, ran: Duration) {
        self.put_in(&mut self.lock(), Waiting { task, ran });
    }

    fn put_in(&self, state: &mut State, waiting: Waiting) {
        if state.tickets.contains_key(&waiting.task) {
            return;
        }
        let ticket = state.next_ticket;
        state.next_ticket += 1;
        self.put_at(state, ticket, waiting);
    }

    fn put_at(&self, state: &mut State, ticket: u64, waiting: Waiting) {
        state.tickets.insert(waiting.task, ticket);
        state.waiting.insert(ticket, waiting);
        self.shared.meter.queued.set(state.waiting.len() as i64);
        self.shared.came.notify_one();
    }

    /// The next task, leased to this worker; waits for one.
    pub(crate) async fn take(&self, worker: u64) -> (TaskId, u64) {
        loop {
            if let Some(leased) = self.try_take(worker) {
                return leased;
            }
            self.shared.came.notified().await;
        }
    }

    fn try_take(&self, worker: u64) -> Option<(TaskId, u64)> {
        let mut state = self.lock();
        let (ticket, Waiting { task, ran }) = state.waiting.pop_first()?;
        state.tickets.remove(&task);
        let token = state.next_token;
        state.next_token += 1;
        let began = Instant::now();
        let until = began + self.shared.prepare;
        let lease = Lease { token, worker, until, active: false, began, ran, ticket };
        state.leases.insert(task, lease);
        if state.ends.is_empty() {
            self.shared.leased.notify_one();
        }
        state.ends.push(Reverse((until, task, token)));
        self.shared.meter.queued.set(state.waiting.len() as i64);
        self.shared.meter.leased.set(state.leases.len() as i64);
        if !state.waiting.is_empty() {
            // One notice may stand for several tasks.
            self.shared.came.notify_one();
        }
        Some((task, token))
    }

    /// True when this token holds the task; it is active, and its time starts anew.
    pub(crate) fn renew(&self, task: TaskId, token: u64) -> bool {
        let (until, run_max) = (Instant::now() + self.shared.lease, self.shared.run_max);
        let mut state = self.lock();
        let Some(lease) = state.leases.get_mut(&task).filter(|lease| lease.token == token) else {
            return false;
        };
        let watched = lease.until;
        let begins = !std::mem::replace(&mut lease.active, true);
        lease.until = until;
        let at = lease.look_at(run_max);
        if begins && at < watched {
            // A turn may have less time left than it took to begin on it.
            state.ends.push(Reverse((at, task, token)));
            self.shared.leased.notify_one();
        }
        true
    }

    /// Starts the time of what this worker was given and has not begun on anew.
    pub(crate) fn renew_prepared(&self, worker: u64) {
        let until = Instant::now() + self.shared.prepare;
        let mut state = self.lock();
        let prepared = state.leases.values_mut().filter(|lease| lease.worker == worker && !lease.active);
        prepared.for_each(|lease| lease.until = until);
    }

    /// Ends a lease whose run is over.
    pub(crate) fn end(&self, task: TaskId, token: u64) {
        let mut state = self.lock();
        if state.leases.get(&task).is_some_and(|lease| lease.token == token) {
            state.leases.remove(&task);
            self.shared.meter.leased.set(state.leases.len() as i64);
        }
    }

    /// Takes an active lease that is over back and tells its worker; `None` when this token does not hold the task, or
    /// its time is not over.
    pub(crate) fn revoke_over(&self, task: TaskId, token: u64) -> Option<Over> {
        let mut state = self.lock();
        let lease = state.leases.get(&task).filter(|lease| lease.token == token && lease.active)?;
        let Some(over) = lease.over(Instant::now(), self.shared.run_max) else {
            // Renewed meanwhile: it is watched again.
            let at = lease.look_at(self.shared.run_max);
            state.ends.push(Reverse((at, task, token)));
            self.shared.leased.notify_one();
            return None;
        };
        self.revoke(&mut state, task);
        Some(over)
    }

    /// The task neither waits nor runs any more; a worker that has it is told.
    pub(crate) fn stop(&self, task: TaskId) {
        let mut state = self.lock();
        if let Some(ticket) = state.tickets.remove(&task) {
            state.waiting.remove(&ticket);
            self.shared.meter.queued.set(state.waiting.len() as i64);
        }
        self.revoke(&mut state, task);
    }

    fn revoke(&self, state: &mut State, task: TaskId) -> Option<Lease> {
        let lease = state.leases.remove(&task)?;
        self.shared.meter.leased.set(state.leases.len() as i64);
        if let Some(stops) = state.workers.get(&lease.worker) {
            let _ = stops.try_send(Stop { task_id: task.to_string(), lease: lease.token });
        }
        Some(lease)
    }

    /// The next active lease that is over; waits for one. It stays until it is revoked.
    pub(crate) async fn over(&self) -> (TaskId, u64) {
        loop {
            let next = match self.pop_over(&mut self.lock()) {
                Ok(over) => return over,
                Err(next) => next,
            };
            match next {
                Some(at) => {
                    tokio::select! {
                        () = tokio::time::sleep_until(at) => {}
                        () = self.shared.leased.notified() => {}
                    }
                }
                None => self.shared.leased.notified().await,
            }
        }
    }

    /// The active leases that are over now, those that somebody is about to end too.
    pub(crate) fn all_over(&self) -> Vec<(TaskId, u64)> {
        let (now, run_max, state) = (Instant::now(), self.shared.run_max, self.lock());
        let over =
            state.leases.iter().filter(|(_, lease)| lease.active && lease.over(now, run_max).is_some());
        over.map(|(task, lease)| (*task, lease.token)).collect()
    }

    /// An active lease that is over, or when to look again. What was only prepared waits again at once.
    fn pop_over(&self, state: &mut State) -> Result<(TaskId, u64), Option<Instant>> {
        let (now, run_max) = (Instant::now(), self.shared.run_max);
        while let Some(Reverse((at, task, token))) = state.ends.peek().copied() {
            if at > now {
                return Err(Some(at));
            }
            state.ends.pop();
            let Some(lease) = state.leases.get(&task).filter(|lease| lease.token == token) else { continue };
            if lease.active {
                if lease.over(now, run_max).is_some() {
                    return Ok((task, token));
                }
            } else if lease.until <= now {
                self.give_back(state, task);
                continue;
            }
            let at = lease.look_at(run_max);
            state.ends.push(Reverse((at, task, token)));
        }
        Err(None)
    }

    /// Gives back what was prepared and not begun in time.
    fn give_back_due(&self, state: &mut State) {
        let mut over = Vec::new();
        while let Ok((task, token)) = self.pop_over(state) {
            over.push(Reverse((Instant::now(), task, token)));
        }
        if !over.is_empty() {
            // These are somebody else's to end.
            state.ends.extend(over);
            self.shared.leased.notify_one();
        }
    }

    fn give_back(&self, state: &mut State, task: TaskId) {
        if let Some(lease) = self.revoke(state, task) {
            self.shared.meter.given_back.inc();
            self.put_at(state, lease.ticket, Waiting { task, ran: lease.ran });
        }
    }

    pub(crate) fn figures(&self) -> Figures {
        let state = self.lock();
        Figures {
            queued: state.waiting.len() as u64,
            leased: state.leases.len() as u64,
            workers: state.workers.len() as u64,
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.shared.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
