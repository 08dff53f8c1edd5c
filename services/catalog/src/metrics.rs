//! What the catalog counts.

use std::sync::atomic::AtomicU64;

use prometheus_client::metrics::gauge::Gauge;
use weft_chassis::Env;
use weft_proto::weft::Snapshot;
use weft_proto::weft::health::State;

/// Gauges; each always has its present value.
#[derive(Debug, Clone, Default)]
pub(crate) struct Metrics {
    nodes: Gauge,
    up: Gauge,
    revision: Gauge<u64, AtomicU64>,
    refused: Gauge,
}

impl Metrics {
    pub(crate) fn new(env: &Env) -> Metrics {
        let metrics = Metrics::default();
        env.metrics().register(|registry| {
            registry.register("weft_catalog_nodes", "Declared nodes", metrics.nodes.clone());
            registry.register(
                "weft_catalog_nodes_up",
                "Declared nodes that answer as declared",
                metrics.up.clone(),
            );
            registry.register(
                "weft_catalog_revision",
                "Revision of the declarations",
                metrics.revision.clone(),
            );
            let help =
                "1 while the folder holds manifests that were refused and the fleet is older than them";
            registry.register("weft_catalog_manifests_refused", help, metrics.refused.clone());
        });
        metrics
    }

    pub(crate) fn refused(&self, refused: bool) {
        self.refused.set(i64::from(refused));
    }

    pub(crate) fn nodes(&self, snapshot: &Snapshot) {
        let count = |n: usize| i64::try_from(n).unwrap_or(i64::MAX);
        let up = |health: &Option<weft_proto::weft::Health>| {
            health.as_ref().is_some_and(|h| h.state() == State::Up)
        };
        self.nodes.set(count(snapshot.nodes.len()));
        self.up.set(count(snapshot.nodes.iter().filter(|node| up(&node.health)).count()));
        self.revision.set(snapshot.revision);
    }
}
