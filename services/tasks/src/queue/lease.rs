//! A worker's hold on a task, and when it is over.

use std::time::Duration;

use tokio::time::Instant;

/// A lease.
pub(super) struct Lease {
    pub(super) token: u64,
    pub(super) worker: u64,
    /// When it runs out unless the worker is heard of.
    pub(super) until: Instant,
    /// True once the worker was heard of.
    pub(super) active: bool,
    pub(super) began: Instant,
    /// How long the earlier runs of the turn took.
    pub(super) ran: Duration,
    /// Its place in the queue, for when nobody begins on it.
    pub(super) ticket: u64,
}

/// Why an active lease is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Over {
    /// The worker was not heard of in time; the runs of the turn took this long.
    Lost(Duration),
    /// The turn ran as long as it may.
    TooLong,
}

impl Lease {
    /// `None` while it lives. A turn may run for `run_max`, however often its worker is heard of.
    pub(super) fn over(&self, now: Instant, run_max: Duration) -> Option<Over> {
        if self.ends(run_max) <= now {
            return Some(Over::TooLong);
        }
        (self.until <= now).then(|| Over::Lost(self.ran + (now - self.began)))
    }

    /// When it may be over.
    pub(super) fn look_at(&self, run_max: Duration) -> Instant {
        if self.active { self.until.min(self.ends(run_max)) } else { self.until }
    }

    fn ends(&self, run_max: Duration) -> Instant {
        self.began + run_max.saturating_sub(self.ran)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: Duration = Duration::from_secs(1);

    fn lease(began: Instant, ran: Duration) -> Lease {
        Lease { token: 1, worker: 1, until: began + 5 * S, active: true, began, ran, ticket: 1 }
    }

    #[test]
    fn a_turn_has_one_time_for_all_its_runs() {
        let began = Instant::now();
        let lease = lease(began, 7 * S);
        assert_eq!(lease.over(began + 2 * S, 10 * S), None);
        assert_eq!(lease.over(began + 3 * S, 10 * S), Some(Over::TooLong));
        assert_eq!(lease.look_at(10 * S), began + 3 * S);
    }

    #[test]
    fn a_lost_run_counts_from_its_claim() {
        let began = Instant::now();
        let lease = lease(began, 7 * S);
        assert_eq!(lease.over(began + 6 * S, 100 * S), Some(Over::Lost(13 * S)));
    }
}
