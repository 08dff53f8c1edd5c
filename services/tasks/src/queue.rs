//! Who waits for a worker and who has one: in memory, rebuilt from the store at start.
//!
//! Tasks are handed out in the order in which they came, whoever owns them and whichever worker asks first. A lease
//! carries a token that only grows, so a worker that lost its task cannot write to it any more.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{Notify, mpsc};
use tokio::time::Instant;
use weft_core::Fault;
use weft_proto::weft::Stop;

use crate::metrics::Meter;
use crate::{Settings, TaskId};

/// Notices to one worker that it has not read yet; one lost is made good by the refusal of its next write.
const STOPS_MAX: usize = 1_024;

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
    queue_max: usize,
    workers_max: usize,
    meter: Meter,
}

#[derive(Default)]
struct State {
    waiting: BTreeMap<u64, TaskId>,
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

struct Lease {
    token: u64,
    worker: u64,
    until: Instant,
}

/// A promised place in the queue; given back when dropped.
pub(crate) struct Place {
    queue: Queue,
    used: bool,
}

/// A worker's claim stream; its leases run out by themselves when it is gone.
pub(crate) struct Worker {
    queue: Queue,
    id: u64,
    pub(crate) stops: mpsc::Receiver<Stop>,
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
            queue_max: settings.queue_max as usize,
            workers_max: settings.workers_max as usize,
            meter,
        };
        Queue { shared: Arc::new(shared) }
    }

    /// Promises a place.
    ///
    /// # Errors
    /// `Exhausted` when as many tasks wait as may.
    pub(crate) fn reserve(&self) -> Result<Place, Fault> {
        let mut state = self.lock();
        let most = self.shared.queue_max;
        if state.waiting.len() + state.reserved >= most {
            let text = format!(
                "{most} tasks wait for a worker already, the most that may (tasks.queue_max); try later"
            );
            return Err(Fault::exhausted(text, 1_000));
        }
        state.reserved += 1;
        drop(state);
        Ok(Place { queue: self.clone(), used: false })
    }

    /// Lets a task wait, also beyond the bound: it was accepted before.
    pub(crate) fn put(&self, task: TaskId) {
        self.put_in(&mut self.lock(), task);
    }

    fn put_in(&self, state: &mut State, task: TaskId) {
        if state.tickets.contains_key(&task) {
            return;
        }
        let ticket = state.next_ticket;
        state.next_ticket += 1;
        state.tickets.insert(task, ticket);
        state.waiting.insert(ticket, task);
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
        let (_, task) = state.waiting.pop_first()?;
        state.tickets.remove(&task);
        let token = state.next_token;
        state.next_token += 1;
        let until = Instant::now() + self.shared.lease;
        state.leases.insert(task, Lease { token, worker, until });
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

    /// True when this token holds the task; its time starts anew.
    pub(crate) fn renew(&self, task: TaskId, token: u64) -> bool {
        let until = Instant::now() + self.shared.lease;
        match self.lock().leases.get_mut(&task) {
            Some(lease) if lease.token == token => {
                lease.until = until;
                true
            }
            _ => false,
        }
    }

    /// Ends a lease whose run is over.
    pub(crate) fn end(&self, task: TaskId, token: u64) {
        let mut state = self.lock();
        if state.leases.get(&task).is_some_and(|lease| lease.token == token) {
            state.leases.remove(&task);
            self.shared.meter.leased.set(state.leases.len() as i64);
        }
    }

    /// Takes a lease back and tells its worker; true when this token held the task and its time was over.
    pub(crate) fn revoke_expired(&self, task: TaskId, token: u64) -> bool {
        let mut state = self.lock();
        let Some(lease) = state.leases.get(&task).filter(|lease| lease.token == token) else { return false };
        let until = lease.until;
        if until > Instant::now() {
            // Renewed meanwhile: it is watched again.
            state.ends.push(Reverse((until, task, token)));
            self.shared.leased.notify_one();
            return false;
        }
        self.revoke(&mut state, task);
        true
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

    fn revoke(&self, state: &mut State, task: TaskId) {
        let Some(lease) = state.leases.remove(&task) else { return };
        self.shared.meter.leased.set(state.leases.len() as i64);
        if let Some(stops) = state.workers.get(&lease.worker) {
            let _ = stops.try_send(Stop { task_id: task.to_string(), lease: lease.token });
        }
    }

    /// The next lease whose time is over; waits for one. It stays until it is revoked.
    pub(crate) async fn expired(&self) -> (TaskId, u64) {
        loop {
            let next = {
                let mut state = self.lock();
                match pop_expired(&mut state) {
                    Ok(expired) => return expired,
                    Err(next) => next,
                }
            };
            match next {
                Some(at) => tokio::time::sleep_until(at).await,
                None => self.shared.leased.notified().await,
            }
        }
    }

    /// Opens a worker's claim.
    ///
    /// # Errors
    /// `Exhausted` when as many are open as may be.
    pub(crate) fn join(&self) -> Result<Worker, Fault> {
        let mut state = self.lock();
        let most = self.shared.workers_max;
        if state.workers.len() >= most {
            let text = format!("{most} claim streams are open, the most there may be (tasks.workers_max)");
            return Err(Fault::exhausted(text, 5_000));
        }
        let (sender, stops) = mpsc::channel(STOPS_MAX);
        let id = state.next_worker;
        state.next_worker += 1;
        state.workers.insert(id, sender);
        drop(state);
        Ok(Worker { queue: self.clone(), id, stops })
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

/// An expired lease, or when to look again.
fn pop_expired(state: &mut State) -> Result<(TaskId, u64), Option<Instant>> {
    let now = Instant::now();
    while let Some(Reverse((at, task, token))) = state.ends.peek().copied() {
        if at > now {
            return Err(Some(at));
        }
        state.ends.pop();
        match state.leases.get(&task) {
            Some(lease) if lease.token == token && lease.until > now => {
                state.ends.push(Reverse((lease.until, task, token)));
            }
            Some(lease) if lease.token == token => return Ok((task, token)),
            _ => {}
        }
    }
    Err(None)
}

impl Place {
    /// Uses the promise.
    pub(crate) fn put(mut self, task: TaskId) {
        self.used = true;
        let mut state = self.queue.lock();
        state.reserved -= 1;
        self.queue.put_in(&mut state, task);
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if !self.used {
            self.queue.lock().reserved -= 1;
        }
    }
}

impl Worker {
    pub(crate) fn id(&self) -> u64 {
        self.id
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.queue.lock().workers.remove(&self.id);
    }
}
