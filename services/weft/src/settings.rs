//! Every section of the settings, merged. A section is declared by the service that obeys it.

use weft_chassis::settings::{BadSetting, Layers, defaults};

weft_chassis::settings! {
    /// What concerns the whole process.
    pub struct MeshSettings in "mesh" {
        /// directory of everything that is kept
        pub data: String = ".weft".into();
        /// how long a stop may take before what still runs is left to its leases, in milliseconds
        pub drain_ms: u64 = 10_000, 0..=600_000;
        /// how long the start waits for each part of the mesh, in milliseconds
        pub start_ms: u64 = 30_000, 100..=600_000;
    }
}

weft_chassis::settings! {
    /// Where roles listen when they run apart. The edge listens at `edge.http`.
    pub struct Listen in "listen" {
        /// gRPC address of the signer
        pub signer: String = "127.0.0.1:7401".into();
        /// gRPC address of the journal
        pub journal: String = "127.0.0.1:7402".into();
        /// gRPC address of the catalog
        pub catalog: String = "127.0.0.1:7403".into();
        /// gRPC address of the task store
        pub tasks: String = "127.0.0.1:7404".into();
        /// gRPC address of the negotiator
        pub negotiator: String = "127.0.0.1:7405".into();
        /// gRPC address of the executor-bridge
        pub executor_bridge: String = "127.0.0.1:7406".into();
    }
}

weft_chassis::settings! {
    /// Where roles that run apart are reached.
    pub struct Peers in "peers" {
        /// the signer
        pub signer: String = "http://127.0.0.1:7401".into();
        /// the journal
        pub journal: String = "http://127.0.0.1:7402".into();
        /// the catalog
        pub catalog: String = "http://127.0.0.1:7403".into();
        /// the task store
        pub tasks: String = "http://127.0.0.1:7404".into();
        /// the negotiator
        pub negotiator: String = "http://127.0.0.1:7405".into();
        /// the executor-bridge
        pub executor_bridge: String = "http://127.0.0.1:7406".into();
    }
}

/// All of them, typed.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    /// `[mesh]`
    pub mesh: MeshSettings,
    /// `[listen]`
    pub listen: Listen,
    /// `[peers]`
    pub peers: Peers,
    /// `[edge]`
    pub edge: weft_edge::Settings,
    /// `[catalog]`
    pub catalog: weft_catalog::Settings,
    /// `[tasks]`
    pub tasks: weft_tasks::Settings,
    /// `[signer]`
    pub signer: weft_signer::Settings,
    /// `[bridge]`
    pub bridge: weft_executor_bridge::Settings,
    /// `[node]`
    pub node: weft_node::Settings,
    /// `[journal]`
    pub journal: weft_journal::Settings,
    /// `[outbound]`
    pub outbound: weft_chassis::outbound::Settings,
    /// `[telemetry]`
    pub telemetry: weft_chassis::telemetry::Settings,
}

/// Every section with its defaults, ready for files, variables and flags.
#[must_use]
pub fn layers() -> Layers {
    Layers::new(vec![
        (MeshSettings::DOCS, defaults::<MeshSettings>()),
        (weft_edge::Settings::DOCS, defaults::<weft_edge::Settings>()),
        (weft_catalog::Settings::DOCS, defaults::<weft_catalog::Settings>()),
        (weft_tasks::Settings::DOCS, defaults::<weft_tasks::Settings>()),
        (weft_signer::Settings::DOCS, defaults::<weft_signer::Settings>()),
        (weft_executor_bridge::Settings::DOCS, defaults::<weft_executor_bridge::Settings>()),
        (weft_node::Settings::DOCS, defaults::<weft_node::Settings>()),
        (weft_journal::Settings::DOCS, defaults::<weft_journal::Settings>()),
        (weft_chassis::outbound::Settings::DOCS, defaults::<weft_chassis::outbound::Settings>()),
        (weft_chassis::telemetry::Settings::DOCS, defaults::<weft_chassis::telemetry::Settings>()),
        (Listen::DOCS, defaults::<Listen>()),
        (Peers::DOCS, defaults::<Peers>()),
    ])
}

impl Settings {
    /// Reads every section.
    ///
    /// # Errors
    /// Names the key, its value and what it should be.
    pub fn read(layers: &Layers) -> Result<Settings, BadSetting> {
        Ok(Settings {
            mesh: layers.section("mesh")?,
            listen: layers.section("listen")?,
            peers: layers.section("peers")?,
            edge: layers.section("edge")?,
            catalog: layers.section("catalog")?,
            tasks: layers.section("tasks")?,
            signer: layers.section("signer")?,
            bridge: layers.section("bridge")?,
            node: layers.section("node")?,
            journal: layers.section("journal")?,
            outbound: layers.section("outbound")?,
            telemetry: layers.section("telemetry")?,
        })
    }
}
