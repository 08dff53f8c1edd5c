//! Progress of every run, over one long-lived stream to the task store.
//!
//! The stream may break at any time: the unanswered requests are sent again, each under its old number, and the store
//! answers what it has committed already without committing it twice.

use std::future::Future;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures::FutureExt;
use tokio::sync::{Notify, mpsc};
use tokio::time::Instant;
use tokio_stream::wrappers::ReceiverStream;
use tokio_util::sync::CancellationToken;
use tonic::{Status, Streaming};
use weft_chassis::{Env, Peer};
use weft_proto::weft::tasks_client::TasksClient;
use weft_proto::weft::{AppendAnswer, AppendRequest, Progress, WorkItem};

use crate::backoff::Backoff;
use crate::directory::Target;
use crate::settings::Settings;

mod book;

pub(crate) use book::Lease as Held;
use book::{Book, Key, Waiting};

/// How long to look away when no lease is held; opening one ends the wait.
const IDLE: Duration = Duration::from_secs(3_600);

/// What a run hears from the book.
#[derive(Default)]
pub(crate) struct Signals {
    /// The run is to stop: cancelled, or the lease is somebody else's.
    pub(crate) stop: CancellationToken,
    /// Its task has ended: nobody takes it up again.
    task_ended: AtomicBool,
    /// There is room for further steps.
    pub(crate) room: Notify,
}

/// All leases of this bridge. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Appender(Arc<Shared>);

struct Shared {
    state: Mutex<State>,
    /// A lease ended: its slot is free.
    freed: Notify,
    /// The first lease was opened, or the stream has to be made anew.
    wake: Notify,
    slots: usize,
}

struct State {
    book: Book,
    out: Option<mpsc::Sender<AppendRequest>>,
}

/// One run's hold on its lease. Dropped without a last step, it lets the lease run out.
pub(crate) struct Lease {
    key: Key,
    signals: Arc<Signals>,
    appender: Appender,
}

// === impl Appender ===

impl Appender {
    pub(crate) fn new(settings: &Settings) -> Appender {
        let waiting = Waiting {
            steps: settings.steps_waiting_max as usize,
            bytes: usize::try_from(settings.steps_waiting_bytes_max).unwrap_or(usize::MAX),
        };
        Appender(Arc::new(Shared {
            state: Mutex::new(State { book: Book::new(waiting), out: None }),
            freed: Notify::new(),
            wake: Notify::new(),
            slots: settings.slots as usize,
        }))
    }

    /// Takes up the lease of a work item; `None` when it is held already.
    pub(crate) fn open(&self, item: &WorkItem, target: Option<&Target>, env: &Env) -> Option<Lease> {
        let mut state = self.state();
        let first = state.book.len() == 0;
        let (key, signals) = state.book.open(item, target, env.unix_ms(), Instant::now())?;
        drop(state);
        if first {
            self.0.wake.notify_one();
        }
        Some(Lease { key, signals, appender: self.clone() })
    }

    /// Leases held now; each takes a slot until its last step is on disk.
    pub(crate) fn held(&self) -> usize {
        self.state().book.len()
    }

    /// Looks at every lease that is held.
    pub(crate) fn each<T>(&self, look: impl FnMut(&Held) -> T) -> Vec<T> {
        self.state().book.leases().map(look).collect()
    }

    /// Resolves when a lease has ended since it last did.
    pub(crate) fn freed(&self) -> impl Future<Output = ()> + '_ {
        self.0.freed.notified()
    }

    /// The store asked for this run to stop.
    pub(crate) fn stop(&self, task_id: &str, lease: u64) {
        self.state().book.stop_task(task_id, lease);
        self.0.freed.notify_one();
    }

    /// Stops every run and lets the leases run out.
    pub(crate) fn stop_all(&self) {
        self.state().book.stop_all();
        self.0.freed.notify_one();
    }

    /// Resolves when no lease is held, or after `within`. Gives how many are left.
    pub(crate) async fn settled(&self, within: Duration) -> usize {
        let none_held = async {
            let mut look = tokio::time::interval(Duration::from_millis(5));
            while self.held() > 0 {
                look.tick().await;
            }
        };
        // The bound is not an error: what is left is counted.
        let _ = tokio::time::timeout(within, none_held).await;
        self.held()
    }

    /// Keeps the stream until `closed`; reconnects for ever.
    pub(crate) async fn keep(self, tasks: TasksClient<Peer>, closed: CancellationToken, env: Env) {
        let mut backoff = Backoff::stream();
        while !closed.is_cancelled() {
            let reason = tokio::select! {
                () = closed.cancelled() => return,
                broken = self.stream_once(tasks.clone(), &mut backoff) => broken,
            };
            {
                let mut state = self.state();
                state.out = None;
                state.book.disconnected();
            }
            tracing::warn!(reason = reason.message(), "the append stream ended: opening it again");
            tokio::select! {
                () = closed.cancelled() => return,
                () = tokio::time::sleep(backoff.pause(&env)) => self.beat(),
            }
        }
    }

    /// Never ends well: the stream has no end of its own.
    async fn stream_once(&self, mut tasks: TasksClient<Peer>, backoff: &mut Backoff) -> Status {
        // One unanswered request a lease, and room for those of leases that were just dropped.
        let (out, requests) = mpsc::channel(self.0.slots * 4);
        let mut answers = match tasks.append(ReceiverStream::new(requests)).await {
            Ok(answer) => answer.into_inner(),
            Err(status) => return status,
        };
        {
            let mut state = self.state();
            let again = state.book.connected(Instant::now());
            state.out = Some(out);
            again.into_iter().for_each(|request| self.send(&mut state, request));
        }
        let mut next_beat = Instant::now() + self.pause();
        loop {
            tokio::select! {
                answer = answers.message() => match answer {
                    Ok(Some(answer)) => {
                        backoff.reset();
                        self.take(&answer);
                        // What has come already is taken without going to sleep in between.
                        while let Some(Ok(Some(answer))) = ready(&mut answers) {
                            self.take(&answer);
                        }
                    }
                    Ok(None) => return Status::unavailable("closed by the task store"),
                    Err(status) => return status,
                },
                () = tokio::time::sleep_until(next_beat) => {
                    self.beat();
                    next_beat = Instant::now() + self.pause();
                }
                () = self.0.wake.notified() => {
                    if self.state().out.is_none() {
                        return Status::unavailable("more was unanswered than the stream takes");
                    }
                    next_beat = Instant::now() + self.pause();
                }
            }
        }
    }

    fn take(&self, answer: &AppendAnswer) {
        let mut state = self.state();
        let held = state.book.len();
        if let Some(request) = state.book.answer(answer, Instant::now()) {
            self.send(&mut state, request);
        }
        if state.book.len() < held {
            self.0.freed.notify_one();
        }
    }

    fn beat(&self) {
        let mut state = self.state();
        let held = state.book.len();
        for request in state.book.due(Instant::now()) {
            self.send(&mut state, request);
        }
        if state.book.len() < held {
            self.0.freed.notify_one();
        }
    }

    fn pause(&self) -> Duration {
        self.state().book.beat().unwrap_or(IDLE)
    }

    fn send(&self, state: &mut State, request: AppendRequest) {
        // Without a stream the book keeps it as unanswered and it goes out with the next one.
        let Some(out) = &state.out else { return };
        if out.try_send(request).is_err() {
            state.out = None;
            state.book.disconnected();
            self.0.wake.notify_one();
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An answer that is there already.
fn ready(answers: &mut Streaming<AppendAnswer>) -> Option<Result<Option<AppendAnswer>, Status>> {
    answers.message().now_or_never()
}

// === impl Lease ===

impl Lease {
    /// Hands steps of this many encoded bytes over; with `last` the run has nothing more to say. Waits while too much
    /// is waiting already.
    pub(crate) async fn push(&self, steps: Vec<Progress>, bytes: usize, last: bool) {
        {
            let mut state = self.appender.state();
            if let Some(request) = state.book.push(self.key, steps, bytes, last, Instant::now()) {
                self.appender.send(&mut state, request);
            }
        }
        while self.appender.state().book.full(self.key) {
            self.signals.room.notified().await;
        }
    }

    /// Resolves when the run is to stop.
    pub(crate) async fn stopped(&self) {
        self.signals.stop.cancelled().await;
    }

    /// True when the task has ended meanwhile: it was canceled, or the store refused a step. False for a lease that
    /// somebody else has, or that runs out.
    pub(crate) fn task_ended(&self) -> bool {
        self.signals.has_task_ended()
    }
}

impl Signals {
    /// Notes why the run is to stop, before it is told to.
    fn task_ended(&self) {
        self.task_ended.store(true, Ordering::Release);
    }

    fn has_task_ended(&self) -> bool {
        self.task_ended.load(Ordering::Acquire)
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        self.appender.state().book.abandon(self.key);
        self.appender.0.freed.notify_one();
    }
}
