//! A closed loop: each connection sends its next request when the last one is answered.

use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use hdrhistogram::Histogram;
use tokio::task::JoinSet;

use crate::http::{Connection, Endpoint};
use crate::rpc::{self, Call, Seen};

/// How long an answer may be overdue at the end of a run before the run is given up.
const GRACE: Duration = Duration::from_secs(20);

/// One run against one server.
#[derive(Clone)]
pub(crate) struct Run {
    /// The server.
    pub(crate) endpoint: Endpoint,
    /// What is asked.
    pub(crate) call: Call,
    /// Connections at once.
    pub(crate) connections: usize,
    /// Load before the clock starts.
    pub(crate) warm_up: Duration,
    /// Load that counts.
    pub(crate) measured: Duration,
    /// Begins every message id, so that no run repeats another's.
    pub(crate) prefix: String,
}

/// What was counted in one run, or in several that were added up.
#[derive(Clone)]
pub(crate) struct Tally {
    /// Answers in microseconds: to the whole answer, or to the first event of a stream.
    pub(crate) micros: Histogram<u64>,
    /// Answers that were asked and came within the measured time.
    pub(crate) answers: u64,
    /// The time measured.
    pub(crate) elapsed: Duration,
}

// === impl Tally ===

impl Tally {
    /// Nothing counted yet.
    pub(crate) fn new() -> Self {
        let micros = Histogram::new_with_bounds(1, 60_000_000, 3).expect("the bounds are constants that fit");
        Self { micros, answers: 0, elapsed: Duration::ZERO }
    }

    /// Adds another connection's or run's answers, not its time.
    pub(crate) fn add(&mut self, other: &Self) {
        self.micros.add(&other.micros).expect("all histograms have the same bounds");
        self.answers += other.answers;
    }

    /// Answers a second; 0 when nothing was measured.
    pub(crate) fn rate(&self) -> f64 {
        if self.elapsed.is_zero() { 0.0 } else { self.answers as f64 / self.elapsed.as_secs_f64() }
    }

    fn record(&mut self, latency: Duration) {
        self.micros.saturating_record(u64::try_from(latency.as_micros()).unwrap_or(u64::MAX));
        self.answers += 1;
    }
}

/// The part of a run that counts.
#[derive(Clone, Copy)]
struct Window {
    from: Instant,
    to: Instant,
}

// === impl Run ===

impl Run {
    /// Runs the load; the first wrong answer ends it with that answer as the error.
    pub(crate) async fn measure(self) -> Result<Tally> {
        let mut seeder = Connection::open(&self.endpoint).await?;
        let task = rpc::seed(&mut seeder, &self.endpoint, &format!("{}-seed", self.prefix)).await?;

        let from = Instant::now() + self.warm_up;
        let window = Window { from, to: from + self.measured };
        let mut workers = JoinSet::new();
        for number in 0..self.connections {
            workers.spawn(worker(self.clone(), number, task.clone(), window));
        }
        let mut total = Tally::new();
        let join = async {
            while let Some(tally) = workers.join_next().await {
                total.add(&tally??);
            }
            anyhow::Ok(())
        };
        tokio::time::timeout(self.warm_up + self.measured + GRACE, join)
            .await
            .context("answers are overdue")??;
        total.elapsed = self.measured;
        Ok(total)
    }
}

async fn worker(run: Run, number: usize, task: String, window: Window) -> Result<Tally> {
    let mut connection = Connection::open(&run.endpoint).await?;
    let mut tally = Tally::new();
    let get = rpc::get(&run.endpoint, &task);
    for turn in 0u64.. {
        let tag = format!("{}-{number}-{turn}", run.prefix);
        let begun = Instant::now();
        if begun >= window.to {
            break;
        }
        let latency = match run.call {
            Call::Get => {
                rpc::check(&connection.call(&get).await?, &task)?;
                begun.elapsed()
            }
            Call::Send => {
                let request = rpc::send(&run.endpoint, run.call, &tag);
                rpc::check(&connection.call(&request).await?, &tag)?;
                begun.elapsed()
            }
            Call::Stream => stream(&mut connection, &run, &tag, begun).await?,
        };
        if begun >= window.from && Instant::now() <= window.to {
            tally.record(latency);
        }
    }
    Ok(tally)
}

/// Reads one stream to its end and returns the time to its first event.
async fn stream(connection: &mut Connection, run: &Run, tag: &str, begun: Instant) -> Result<Duration> {
    let mut seen = Seen::default();
    let mut first = Duration::ZERO;
    let request = rpc::send(&run.endpoint, run.call, tag);
    connection
        .stream(&request, |event| {
            if seen.event(event, tag) {
                first = begun.elapsed();
            }
        })
        .await?;
    seen.check()?;
    Ok(first)
}
