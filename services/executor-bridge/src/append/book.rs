//! What is known of every lease: which steps wait, which request is unanswered, when to speak up. No I/O: requests
//! come out, answers go in, time is told.
//!
//! At most one request of a lease is unanswered; what a run says meanwhile waits and goes into the next one together.
//! That is what makes a fast run one commit.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;
use weft_proto::weft::append_answer::Refusal;
use weft_proto::weft::{AppendAnswer, AppendRequest, Progress, WorkItem};

use super::Signals;
use crate::directory::Target;
use crate::failure::Failure;
use crate::outcome::{self, Turn};

/// Pauses between tries when the store cannot take a request now.
const RETRY: (Duration, Duration) = (Duration::from_millis(50), Duration::from_secs(2));

/// One run's place in the book; never used twice.
pub(crate) type Key = u64;

/// See the module.
pub(crate) struct Book {
    leases: HashMap<Key, Lease>,
    by_task: HashMap<String, Key>,
    /// Number of an unanswered request → whose it is.
    unanswered: HashMap<u64, Key>,
    /// False while there is no stream: then nothing comes out and everything waits.
    connected: bool,
    last_number: u64,
    last_key: Key,
    waiting_max: Waiting,
}

/// How much of one run may wait.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Waiting {
    pub(crate) steps: usize,
    pub(crate) bytes: usize,
}

/// One lease and the run under it.
pub(crate) struct Lease {
    pub(crate) turn: Turn,
    pub(crate) attempt: u32,
    pub(crate) started_unix_ms: i64,
    lease_ms: u64,
    waiting: Vec<Progress>,
    waiting_bytes: usize,
    sent: Option<Sent>,
    /// When the last request that was accepted had been sent: the lease lives from there.
    confirmed: Instant,
    /// The run has said its last step.
    ended: bool,
    /// The store refused a step and the refusal itself is being written down.
    refused: bool,
    signals: Arc<Signals>,
}

struct Sent {
    request: AppendRequest,
    at: Instant,
    tries: u32,
    /// Set while the store cannot take it: when to send it again.
    again: Option<Instant>,
}

impl Book {
    pub(crate) fn new(waiting_max: Waiting) -> Book {
        Book {
            leases: HashMap::new(),
            by_task: HashMap::new(),
            unanswered: HashMap::new(),
            connected: false,
            last_number: 0,
            last_key: 0,
            waiting_max,
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.leases.len()
    }

    pub(crate) fn leases(&self) -> impl Iterator<Item = &Lease> {
        self.leases.values()
    }

    /// Takes up a lease. `None` when it is held already; an older lease of the same task is stopped.
    pub(crate) fn open(
        &mut self,
        item: &WorkItem,
        target: Option<&Target>,
        started_unix_ms: i64,
        now: Instant,
    ) -> Option<(Key, Arc<Signals>)> {
        if let Some(held) = self.by_task.get(&item.task_id).copied() {
            if self.leases.get(&held).is_some_and(|lease| lease.turn.lease >= item.lease) {
                return None;
            }
            self.stop(held);
        }
        let mut turn = Turn::of(item);
        if let Some(target) = target {
            turn.aim(target);
        }
        let signals = Arc::new(Signals::default());
        self.last_key += 1;
        self.by_task.insert(item.task_id.clone(), self.last_key);
        let lease = Lease {
            turn,
            attempt: item.attempt,
            started_unix_ms,
            lease_ms: u64::from(item.lease_ms.max(1)),
            waiting: Vec::new(),
            waiting_bytes: 0,
            sent: None,
            confirmed: now,
            ended: false,
            refused: false,
            signals: signals.clone(),
        };
        self.leases.insert(self.last_key, lease);
        Some((self.last_key, signals))
    }

    /// Takes steps of a run; with `last` nothing more will come from it. Gives the request to send now, if one may be
    /// sent. Steps of a run whose lease is gone are dropped.
    pub(crate) fn push(
        &mut self,
        key: Key,
        steps: Vec<Progress>,
        bytes: usize,
        last: bool,
        now: Instant,
    ) -> Option<AppendRequest> {
        let lease = self.leases.get_mut(&key).filter(|lease| !lease.ended)?;
        lease.waiting_bytes += bytes;
        if lease.waiting.is_empty() {
            lease.waiting = steps;
        } else {
            lease.waiting.extend(steps);
        }
        lease.ended = last;
        self.next(key, now)
    }

    /// True while so much of a run waits that it is not to say more.
    pub(crate) fn full(&self, key: Key) -> bool {
        self.leases.get(&key).is_some_and(|lease| {
            !lease.ended
                && (lease.waiting.len() >= self.waiting_max.steps
                    || lease.waiting_bytes >= self.waiting_max.bytes)
        })
    }

    /// Takes an answer; gives what its lease has to say next.
    pub(crate) fn answer(&mut self, answer: &AppendAnswer, now: Instant) -> Option<AppendRequest> {
        let key = self.unanswered.remove(&answer.number)?;
        let lease = self.leases.get_mut(&key)?;
        let mut sent = lease.sent.take()?;
        if answer.accepted {
            lease.confirmed = sent.at;
            if lease.ended && lease.waiting.is_empty() {
                self.remove(key);
                return None;
            }
            return self.next(key, now);
        }
        match answer.refusal() {
            Refusal::Unavailable => {
                sent.again = Some(now + retry_pause(sent.tries));
                sent.tries += 1;
                self.unanswered.insert(answer.number, key);
                lease.sent = Some(sent);
                None
            }
            Refusal::Invalid if !lease.refused => {
                lease.signals.task_ended();
                lease.signals.stop.cancel();
                lease.refused = true;
                lease.ended = true;
                let failure = Failure::Garbage(answer.message.clone());
                lease.waiting = vec![outcome::failed(&lease.turn, &failure)];
                lease.waiting_bytes = 0;
                self.next(key, now)
            }
            Refusal::Terminal => {
                lease.signals.task_ended();
                self.stop(key);
                None
            }
            Refusal::Invalid | Refusal::Unspecified | Refusal::StaleLease => {
                self.stop(key);
                None
            }
        }
    }

    /// What is to be sent because time has passed: requests to try again and heartbeats. Runs whose lease has run out
    /// unconfirmed are stopped: somebody else has the task by now.
    pub(crate) fn due(&mut self, now: Instant) -> Vec<AppendRequest> {
        let mut requests = Vec::new();
        let mut lapsed = Vec::new();
        for (key, lease) in &mut self.leases {
            let life = Duration::from_millis(lease.lease_ms);
            let waits_for_store = lease.sent.as_ref().is_some_and(|sent| sent.again.is_some());
            if now.duration_since(lease.confirmed) >= life && (!lease.ended || waits_for_store) {
                lapsed.push(*key);
                continue;
            }
            match &mut lease.sent {
                Some(sent) if self.connected && sent.again.is_some_and(|again| again <= now) => {
                    sent.again = None;
                    sent.at = now;
                    requests.push(sent.request.clone());
                }
                None if self.connected && now.duration_since(lease.confirmed) >= life / 3 => {
                    self.last_number += 1;
                    self.unanswered.insert(self.last_number, *key);
                    requests.push(lease.send(self.last_number, now));
                }
                _ => {}
            }
        }
        for key in lapsed {
            self.stop(key);
        }
        requests
    }

    /// How often [`Book::due`] is to be asked; `None` while there is nothing to watch.
    pub(crate) fn beat(&self) -> Option<Duration> {
        let shortest = self.leases.values().map(|lease| lease.lease_ms).min()?;
        Some(Duration::from_millis((shortest / 12).clamp(5, 1_000)))
    }

    /// The stream broke: nothing comes out until [`Book::connected`].
    pub(crate) fn disconnected(&mut self) {
        self.connected = false;
    }

    /// There is a new stream: what is unanswered goes out again under its old number, then what waits.
    pub(crate) fn connected(&mut self, now: Instant) -> Vec<AppendRequest> {
        self.connected = true;
        let mut requests = Vec::new();
        let keys: Vec<Key> = self.leases.keys().copied().collect();
        for key in keys {
            match self.leases.get_mut(&key).and_then(|lease| lease.sent.as_mut()) {
                Some(sent) => {
                    sent.at = now;
                    sent.again = None;
                    requests.push(sent.request.clone());
                }
                None => requests.extend(self.next(key, now)),
            }
        }
        requests
    }

    /// Stops the run of a task under this lease, as the store asked: the task was canceled.
    pub(crate) fn stop_task(&mut self, task_id: &str, lease: u64) {
        if let Some(key) = self.by_task.get(task_id).copied()
            && let Some(held) = self.leases.get(&key).filter(|held| held.turn.lease == lease)
        {
            held.signals.task_ended();
            self.stop(key);
        }
    }

    /// Stops every run; their leases run out.
    pub(crate) fn stop_all(&mut self) {
        let keys: Vec<Key> = self.leases.keys().copied().collect();
        for key in keys {
            self.stop(key);
        }
    }

    /// The run is gone without its last step: its lease runs out and somebody takes it up again.
    pub(crate) fn abandon(&mut self, key: Key) {
        if self.leases.get(&key).is_some_and(|lease| !lease.ended) {
            self.remove(key);
        }
    }

    fn stop(&mut self, key: Key) {
        if let Some(lease) = self.remove(key) {
            lease.signals.stop.cancel();
        }
    }

    fn remove(&mut self, key: Key) -> Option<Lease> {
        let lease = self.leases.remove(&key)?;
        lease.signals.room.notify_one();
        if let Some(sent) = &lease.sent {
            self.unanswered.remove(&sent.request.number);
        }
        if self.by_task.get(&lease.turn.task_id) == Some(&key) {
            self.by_task.remove(&lease.turn.task_id);
        }
        Some(lease)
    }

    /// The next request of a lease, when it may speak and has something to say.
    fn next(&mut self, key: Key, now: Instant) -> Option<AppendRequest> {
        let lease = self.leases.get_mut(&key)?;
        if !self.connected || lease.sent.is_some() || lease.waiting.is_empty() {
            return None;
        }
        self.last_number += 1;
        self.unanswered.insert(self.last_number, key);
        Some(lease.send(self.last_number, now))
    }
}

impl Lease {
    fn send(&mut self, number: u64, now: Instant) -> AppendRequest {
        let request = AppendRequest {
            number,
            task_id: self.turn.task_id.clone(),
            lease: self.turn.lease,
            progress: std::mem::take(&mut self.waiting),
            session: String::new(),
        };
        self.waiting_bytes = 0;
        self.signals.room.notify_one();
        self.sent = Some(Sent { request: request.clone(), at: now, tries: 0, again: None });
        request
    }
}

fn retry_pause(tries: u32) -> Duration {
    RETRY.0.saturating_mul(1 << tries.min(10)).min(RETRY.1)
}

#[cfg(test)]
mod tests;
