//! Which webhook has the next turn. One turn at a time for each webhook, so its events stay in order; some at a time
//! for each host, so that a slow one leaves places to others; hosts in turn.
//!
//! Holds one small entry for each webhook that has something to deliver or is just being called; the others are only
//! in the store.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::TaskId;

/// A webhook.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Key {
    pub(crate) task: TaskId,
    pub(crate) id: Arc<str>,
}

/// See the module. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Line {
    shared: Arc<Shared>,
}

struct Shared {
    state: Mutex<State>,
    /// A turn may begin.
    ready: Notify,
    calls_max: usize,
    host_calls_max: usize,
}

#[derive(Default)]
struct State {
    entries: HashMap<Key, Entry>,
    /// Those that wait for their time.
    later: BTreeMap<(Instant, u64), Key>,
    hosts: HashMap<Arc<str>, Host>,
    /// Hosts with a webhook that is ready and a place that is free, each once.
    round: VecDeque<Arc<str>>,
    running: usize,
    ticket: u64,
}

struct Entry {
    host: Arc<str>,
    phase: Phase,
}

enum Phase {
    Later((Instant, u64)),
    Ready,
    Running(Running),
    /// Somebody changes the webhook.
    Held,
}

#[derive(Clone)]
struct Running {
    /// There was news meanwhile.
    again: bool,
    stop: CancellationToken,
    ended: CancellationToken,
}

#[derive(Default)]
struct Host {
    ready: VecDeque<Key>,
    running: usize,
    in_round: bool,
}

/// A turn; ends when it is dropped, or with what [`Turn::end`] says.
pub(crate) struct Turn {
    line: Line,
    pub(crate) key: Key,
    /// Cancelled when the webhook is to be left alone at once.
    pub(crate) stop: CancellationToken,
    next: Next,
}

/// What follows a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Next {
    /// Nothing, unless there was news.
    Rest,
    /// Another turn, after the others that wait.
    Again,
    /// Another turn at this time.
    At(Instant),
}

/// Keeps a webhook from being called while it lives.
pub(crate) struct Hold {
    line: Line,
    key: Key,
}

impl Line {
    pub(crate) fn new(calls_max: u32, host_calls_max: u32) -> Line {
        let shared = Shared {
            state: Mutex::default(),
            ready: Notify::new(),
            calls_max: calls_max as usize,
            host_calls_max: host_calls_max as usize,
        };
        Line { shared: Arc::new(shared) }
    }

    /// Webhooks with something to deliver.
    pub(crate) fn len(&self) -> usize {
        self.lock().entries.len()
    }

    /// There is something to deliver, not before `due`. One that waits for its next attempt goes on waiting.
    pub(crate) fn put(&self, key: &Key, host: &Arc<str>, due: Instant) {
        let mut state = self.lock();
        match state.entries.get_mut(key) {
            Some(Entry { phase: Phase::Running(running), .. }) => running.again = true,
            Some(_) => {}
            None => {
                let entry = Entry { host: host.clone(), phase: Phase::Ready };
                state.entries.insert(key.clone(), entry);
                self.wait(&mut state, key, due);
            }
        }
    }

    /// The next turn; waits for one.
    pub(crate) async fn next(&self) -> Turn {
        loop {
            let ready = self.shared.ready.notified();
            let wait = match self.begin() {
                Ok(turn) => return turn,
                Err(wait) => wait,
            };
            match wait {
                Some(at) => tokio::select! {
                    () = ready => {}
                    () = tokio::time::sleep_until(at) => {}
                },
                None => ready.await,
            }
        }
    }

    /// A turn, or when to look again.
    fn begin(&self) -> Result<Turn, Option<Instant>> {
        let mut state = self.lock();
        let now = Instant::now();
        while let Some(first) = state.later.first_entry() {
            if first.key().0 > now {
                break;
            }
            let key = first.remove();
            self.make_ready(&mut state, &key);
        }
        let later = state.later.first_key_value().map(|((at, _), _)| *at);
        if state.running >= self.shared.calls_max {
            return Err(later);
        }
        let Some(name) = state.round.pop_front() else { return Err(later) };
        let Some(host) = state.hosts.get_mut(&name) else { return Err(later) };
        host.in_round = false;
        let Some(key) = host.ready.pop_front() else { return Err(later) };
        host.running += 1;
        self.join_round(&mut state, &name);
        state.running += 1;
        let running =
            Running { again: false, stop: CancellationToken::new(), ended: CancellationToken::new() };
        let stop = running.stop.clone();
        if let Some(entry) = state.entries.get_mut(&key) {
            entry.phase = Phase::Running(running);
        }
        Ok(Turn { line: self.clone(), key, stop, next: Next::Rest })
    }

    /// Ends a turn that runs and keeps others from beginning; returns when none runs.
    pub(crate) async fn hold(&self, key: &Key) -> Hold {
        loop {
            let ended = {
                let mut state = self.lock();
                match state.entries.get(key).map(|entry| &entry.phase) {
                    Some(Phase::Running(running)) => {
                        running.stop.cancel();
                        running.ended.clone()
                    }
                    // The task's writer is held by whoever holds a webhook: there is one at a time.
                    _ => {
                        self.leave(&mut state, key);
                        let entry = Entry { host: "".into(), phase: Phase::Held };
                        state.entries.insert(key.clone(), entry);
                        return Hold { line: self.clone(), key: key.clone() };
                    }
                }
            };
            ended.cancelled().await;
        }
    }

    /// Takes a webhook out of wherever it waits.
    fn leave(&self, state: &mut State, key: &Key) {
        let Some(entry) = state.entries.remove(key) else { return };
        match entry.phase {
            Phase::Later(at) => {
                state.later.remove(&at);
            }
            Phase::Ready => {
                if let Some(host) = state.hosts.get_mut(&entry.host) {
                    host.ready.retain(|ready| ready != key);
                }
                forget_idle(state, &entry.host);
            }
            Phase::Running(_) | Phase::Held => {}
        }
    }

    fn wait(&self, state: &mut State, key: &Key, due: Instant) {
        if due <= Instant::now() {
            self.make_ready(state, key);
            return;
        }
        state.ticket += 1;
        let at = (due, state.ticket);
        if let Some(entry) = state.entries.get_mut(key) {
            entry.phase = Phase::Later(at);
            state.later.insert(at, key.clone());
            self.shared.ready.notify_one();
        }
    }

    fn make_ready(&self, state: &mut State, key: &Key) {
        let Some(entry) = state.entries.get_mut(key) else { return };
        entry.phase = Phase::Ready;
        let name = entry.host.clone();
        state.hosts.entry(name.clone()).or_default().ready.push_back(key.clone());
        self.join_round(state, &name);
    }

    /// Lets a host take part, when it has a webhook that is ready and a free place.
    fn join_round(&self, state: &mut State, name: &Arc<str>) {
        let Some(host) = state.hosts.get_mut(name) else { return };
        if !host.in_round && !host.ready.is_empty() && host.running < self.shared.host_calls_max {
            host.in_round = true;
            state.round.push_back(name.clone());
            self.shared.ready.notify_one();
        }
    }

    fn end(&self, key: &Key, next: Next) {
        let mut state = self.lock();
        let Some(Entry { host, phase: Phase::Running(running) }) = state.entries.remove(key) else { return };
        state.running -= 1;
        if let Some(place) = state.hosts.get_mut(&host) {
            place.running -= 1;
        }
        self.join_round(&mut state, &host);
        running.ended.cancel();
        let due = match next {
            Next::At(at) => Some(at),
            Next::Again => Some(Instant::now()),
            Next::Rest => running.again.then(Instant::now),
        };
        if let Some(due) = due {
            state.entries.insert(key.clone(), Entry { host: host.clone(), phase: Phase::Ready });
            self.wait(&mut state, key, due);
        }
        forget_idle(&mut state, &host);
        // A place is free: another host may have waited for it.
        self.shared.ready.notify_one();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.shared.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Lets go of a host that has nothing to do.
fn forget_idle(state: &mut State, name: &Arc<str>) {
    if state.hosts.get(name).is_some_and(|host| host.running == 0 && host.ready.is_empty()) {
        state.hosts.remove(name);
        state.round.retain(|in_round| in_round != name);
    }
}

impl Turn {
    /// Says what follows, and ends.
    pub(crate) fn end(mut self, next: Next) {
        self.next = next;
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        self.line.end(&self.key, self.next);
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        self.line.lock().entries.remove(&self.key);
    }
}

#[cfg(test)]
mod tests;
