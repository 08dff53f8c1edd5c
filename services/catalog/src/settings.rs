//! How the catalog reads and judges.

weft_chassis::settings! {
    /// How the catalog reads and judges.
    pub struct Settings in "catalog" {
        /// folder of the fleet's manifests: mesh.toml and one file a node
        pub dir: String = "deploy/fleet".into();
        /// how often the folder is looked at for changes, in milliseconds
        pub poll_ms: u64 = 2_000, 50..=3_600_000;
        /// silence after which a node that was reported counts as unreachable, in milliseconds
        pub stale_ms: u64 = 30_000, 100..=3_600_000;
        /// readers that may watch at once; one more hears RESOURCE_EXHAUSTED
        pub watchers_max: u64 = 1_024, 1..=1_048_576;
    }
}
