//! Many events, one write: what comes while a write is on its way travels with the next one.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{mpsc, oneshot, watch};
use weft_chassis::Env;
use weft_core::Fault;
use weft_proto::weft::AuditEvent;

use super::failures::Failures;
use super::{Limits, Log};

/// Requests that wait to be written.
const QUEUE_MAX: usize = 1_024;
/// Most requests in one write.
const GROUP_MAX: usize = 256;
/// How often counted failures are looked at.
const TICK: Duration = Duration::from_secs(5);
/// When to try again, in milliseconds.
const RETRY_MS: u32 = 1_000;

/// The record of one signer. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Audit {
    pub(super) data: PathBuf,
    queue: mpsc::Sender<Request>,
    failures: Arc<Mutex<Failures>>,
    /// Grows with every write.
    pub(super) written: watch::Sender<u64>,
    pub(super) env: Env,
}

/// Events that are to be written together, and who waits for it.
struct Request {
    events: Vec<AuditEvent>,
    done: Option<oneshot::Sender<Result<(), String>>>,
}

// === impl Audit ===

impl Audit {
    /// The record under `data`, written until the mesh stops.
    pub(crate) fn open(data: &Path, limits: Limits, env: &Env) -> Audit {
        let (queue, requests) = mpsc::channel(QUEUE_MAX);
        let audit = Audit {
            data: data.to_owned(),
            queue,
            failures: Arc::default(),
            written: watch::Sender::new(0),
            env: env.clone(),
        };
        env.spawn(audit.clone().run(requests, Log::new(data, limits)));
        audit
    }

    /// Writes events down; back when they are on disk.
    ///
    /// # Errors
    /// `Exhausted` when too many wait, `Unavailable` when the disk says no or the mesh stops.
    pub(crate) async fn record(&self, events: Vec<AuditEvent>) -> Result<(), Fault> {
        let (done, answer) = oneshot::channel();
        self.queue.try_send(Request { events, done: Some(done) }).map_err(|full| match full {
            mpsc::error::TrySendError::Full(_) => {
                Fault::exhausted("too many security events wait to be written down", RETRY_MS)
            }
            mpsc::error::TrySendError::Closed(_) => Fault::unavailable("the mesh stops"),
        })?;
        match answer.await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(_)) => Err(Fault::unavailable(
                "the security event cannot be written down; the signer's log says why",
            )),
            Err(_) => Err(Fault::unavailable("the mesh stops")),
        }
    }

    /// Takes note of something that the mesh itself did; nobody waits for it.
    pub(crate) fn note(&self, event: AuditEvent) {
        if self.queue.try_send(Request { events: vec![event], done: None }).is_err() {
            tracing::warn!(target: "weft::audit", "a security event is not in the record: too many wait");
        }
    }

    /// Takes note of a failure that strangers can cause; true when it is the first of its kind for a while.
    pub(crate) fn failed(&self, event: AuditEvent) -> bool {
        let due = self.failures().take(event, self.env.unix_ms());
        let first = due.is_some();
        if let Some(event) = due {
            self.note(event);
        }
        first
    }

    async fn run(self, mut requests: mpsc::Receiver<Request>, mut log: Log) {
        let mut ticks = tokio::time::interval(TICK);
        ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            let mut group = Vec::new();
            let mut stopped = false;
            tokio::select! {
                _ = requests.recv_many(&mut group, GROUP_MAX) => {}
                _ = ticks.tick() => {}
                () = self.env.stop().cancelled() => stopped = true,
            }
            if stopped {
                // What waits is still written; nothing further is taken.
                requests.close();
                while let Ok(request) = requests.try_recv() {
                    group.push(request);
                }
            }
            let counted = self.failures().due(self.env.unix_ms(), stopped);
            if !counted.is_empty() {
                group.push(Request { events: counted, done: None });
            }
            if !group.is_empty() {
                log = self.write(group, log).await;
            }
            if stopped {
                return;
            }
        }
    }

    async fn write(&self, group: Vec<Request>, mut log: Log) -> Log {
        let (mut events, mut waiting) = (Vec::new(), Vec::new());
        for request in group {
            events.extend(request.events);
            waiting.extend(request.done);
        }
        let now = self.env.now();
        let limits = log.limits();
        let written = tokio::task::spawn_blocking(move || {
            let written = log.append(events, now);
            (log, written)
        });
        let (log, written) = written.await.unwrap_or_else(|_| {
            (Log::new(&self.data, limits), Err("writing the record broke off".to_owned()))
        });
        match &written {
            Ok(()) => self.written.send_modify(|count| *count += 1),
            Err(problem) => {
                tracing::error!(target: "weft::audit", %problem, "security events cannot be written down");
            }
        }
        for waiting in waiting {
            // Whoever went away needs no answer.
            let _ = waiting.send(written.clone());
        }
        log
    }

    fn failures(&self) -> MutexGuard<'_, Failures> {
        self.failures.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
