//! What the store counts.

use std::sync::atomic::AtomicI64;

use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use weft_chassis::Metrics;

/// The store's metrics; registered once a mesh.
#[derive(Debug, Clone)]
pub struct Meter {
    /// Commits on disk.
    pub commits: Counter,
    /// Commits a disk sync.
    pub group: Histogram,
    /// Seconds from the first write of a group to its sync.
    pub seconds: Histogram,
    /// Tasks that wait for a worker.
    pub queued: Gauge<i64, AtomicI64>,
    /// Tasks under a lease.
    pub leased: Gauge<i64, AtomicI64>,
    /// Leases that ran out.
    pub expired: Counter,
    /// Tasks that a worker was given and did not begin on in time.
    pub given_back: Counter,
    /// Turns that ran longer than they may.
    pub timed_out: Counter,
    /// Tasks that ended, by state.
    pub ended: Family<[(&'static str, &'static str); 1], Counter>,
    /// Tasks held.
    pub stored: Gauge<i64, AtomicI64>,
    /// Tasks removed: too old, to make room, or with their owner.
    pub removed: Counter,
    /// Calls to webhooks, by outcome.
    pub pushes: Family<[(&'static str, &'static str); 1], Counter>,
    /// Webhooks given up.
    pub pushes_given_up: Counter,
    /// Webhooks with events to deliver.
    pub pushes_pending: Gauge<i64, AtomicI64>,
}

impl Meter {
    /// Registers all of them.
    #[must_use]
    pub fn new(metrics: &Metrics) -> Meter {
        let meter = Meter {
            commits: Counter::default(),
            group: Histogram::new(exponential_buckets(1.0, 2.0, 10)),
            seconds: Histogram::new(exponential_buckets(0.000_25, 2.0, 14)),
            queued: Gauge::default(),
            leased: Gauge::default(),
            expired: Counter::default(),
            given_back: Counter::default(),
            timed_out: Counter::default(),
            ended: Family::default(),
            stored: Gauge::default(),
            removed: Counter::default(),
            pushes: Family::default(),
            pushes_given_up: Counter::default(),
            pushes_pending: Gauge::default(),
        };
        metrics.register(|to| {
            to.register("weft_tasks_commits", "commits on disk", meter.commits.clone());
            to.register("weft_tasks_group_size", "commits that shared one disk sync", meter.group.clone());
            to.register("weft_tasks_commit_seconds", "from first write to sync", meter.seconds.clone());
            to.register("weft_tasks_queued", "tasks that wait for a worker", meter.queued.clone());
            to.register("weft_tasks_leased", "tasks under a lease", meter.leased.clone());
            to.register("weft_tasks_leases_expired", "leases that ran out", meter.expired.clone());
            let given_back = meter.given_back.clone();
            to.register("weft_tasks_given_back", "tasks that a worker did not begin on in time", given_back);
            to.register("weft_tasks_timed_out", "turns that ran too long", meter.timed_out.clone());
            to.register("weft_tasks_ended", "tasks that ended, by state", meter.ended.clone());
            to.register("weft_tasks_stored", "tasks held", meter.stored.clone());
            to.register("weft_tasks_removed", "tasks removed", meter.removed.clone());
            to.register("weft_tasks_pushes", "calls to webhooks, by outcome", meter.pushes.clone());
            let given_up = meter.pushes_given_up.clone();
            to.register("weft_tasks_pushes_given_up", "webhooks given up", given_up);
            let pending = meter.pushes_pending.clone();
            to.register("weft_tasks_pushes_pending", "webhooks with events to deliver", pending);
        });
        meter
    }
}
