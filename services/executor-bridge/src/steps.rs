//! The steps of one run on their way to the store: gathered for a moment, so that a fast run is one commit.

use std::future::Future;
use std::pin::pin;
use std::time::Duration;

use prost::Message;
use tokio::time::Instant;
use weft_proto::weft::{InvokeResult, Progress};

use crate::append::Lease;
use crate::failure::Failure;
use crate::metrics::Ran;
use crate::outcome::{self, Said, Turn};
use crate::settings::Settings;

/// Most steps that are gathered, and most bytes.
const GATHERED_MAX: usize = 32;
const GATHERED_BYTES_MAX: usize = 256 * 1024;

/// See the module. Starts with the step WORKING.
pub(crate) struct Steps<'a> {
    lease: &'a Lease,
    gathered: Vec<Progress>,
    gathered_bytes: usize,
    /// When what is gathered goes out.
    due: Option<Instant>,
    linger: Duration,
    count: u32,
    count_max: u32,
}

impl Steps<'_> {
    pub(crate) fn new<'a>(lease: &'a Lease, settings: &Settings) -> Steps<'a> {
        let linger = Duration::from_millis(settings.linger_ms);
        let due = Some(Instant::now() + linger);
        let gathered = Vec::with_capacity(3);
        let mut steps = Steps {
            lease,
            gathered,
            gathered_bytes: 0,
            due,
            linger,
            count: 0,
            count_max: settings.steps_max,
        };
        steps.take(outcome::working());
        steps
    }

    /// Takes a step of the node; with `last` nothing more will be taken. A message instead of a task is that only as
    /// long as the node has said nothing else.
    pub(crate) async fn add(&mut self, mut step: Progress, last: bool) -> Result<(), Failure> {
        self.count += 1;
        if self.count > self.count_max {
            return Err(Failure::Garbage(format!("more than {} steps", self.count_max)));
        }
        if self.count > 1 {
            step = outcome::within_the_task(step);
        } else if outcome::is_working(&step) || outcome::is_message(&step) {
            // The node's own first WORKING says more than ours: one of them is enough. A message stands alone.
            self.gathered.clear();
            self.gathered_bytes = 0;
        }
        self.take(step);
        // A node that is never silent would have everything gathered and nothing sent.
        let enough = self.gathered.len() >= GATHERED_MAX || self.gathered_bytes >= GATHERED_BYTES_MAX;
        if last || enough || self.due.is_some_and(|due| due <= Instant::now()) {
            self.flush(last).await;
        } else if self.due.is_none() {
            self.due = Some(Instant::now() + self.linger);
        }
        Ok(())
    }

    /// Takes a step of the bridge itself and sends it at once.
    pub(crate) async fn say(&mut self, step: Progress) {
        self.take(step);
        self.flush(false).await;
    }

    /// Waits for `work`; what was gathered before goes out meanwhile, when its time has come.
    pub(crate) async fn gather<T>(&mut self, work: impl Future<Output = T>) -> T {
        let mut work = pin!(work);
        if let Some(due) = self.due {
            tokio::select! {
                biased;
                done = &mut work => return done,
                () = tokio::time::sleep_until(due) => self.flush(false).await,
            }
        }
        work.await
    }

    /// Ends the run as its result says.
    pub(crate) async fn settle(&mut self, turn: &Turn, result: InvokeResult, said: Said) -> Ran {
        let ran = if said.ended { said.ran() } else { Ran::of(&result, said) };
        if !said.ended {
            outcome::settled(turn, result, said).into_iter().for_each(|step| self.take(step));
            self.flush(true).await;
        }
        ran
    }

    /// Ends the run as FAILED.
    pub(crate) async fn fail(&mut self, turn: &Turn, failure: &Failure) -> Ran {
        self.take(outcome::failed(turn, failure));
        self.flush(true).await;
        Ran::of_failure(failure)
    }

    fn take(&mut self, step: Progress) {
        self.gathered_bytes += step.encoded_len();
        self.gathered.push(step);
    }

    async fn flush(&mut self, last: bool) {
        self.due = None;
        let bytes = std::mem::take(&mut self.gathered_bytes);
        self.lease.push(std::mem::take(&mut self.gathered), bytes, last).await;
    }
}
