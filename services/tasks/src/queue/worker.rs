//! Who holds something of the queue: a submit its place, a worker its claim.

use std::time::Duration;

use tokio::sync::mpsc;
use weft_core::Fault;
use weft_proto::weft::Stop;

use super::{Queue, Waiting};
use crate::TaskId;

/// Notices to one worker that it has not read yet; one lost is made good by the refusal of its next write.
const STOPS_MAX: usize = 1_024;

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

impl Queue {
    /// Promises a place.
    ///
    /// # Errors
    /// `Exhausted` when as many tasks wait as may.
    pub(crate) fn reserve(&self) -> Result<Place, Fault> {
        let mut state = self.lock();
        // What was taken and not begun waits again, before it is counted.
        self.give_back_due(&mut state);
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
}

impl Place {
    /// Uses the promise.
    pub(crate) fn put(mut self, task: TaskId) {
        self.used = true;
        let mut state = self.queue.lock();
        state.reserved -= 1;
        self.queue.put_in(&mut state, Waiting { task, ran: Duration::ZERO });
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
