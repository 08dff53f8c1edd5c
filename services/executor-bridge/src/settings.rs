//! What an operator can set; every bound of the bridge stands here.

weft_chassis::settings! {
    /// How the executor-bridge claims work and calls nodes.
    pub struct Settings in "bridge" {
        /// name of this worker, for the console and logs
        pub worker: String = "bridge".into();
        /// how many tasks are run at once
        pub slots: u32 = 64, 1..=4_096;
        /// how long the steps of a run are gathered before they are written down, in milliseconds
        pub linger_ms: u64 = 5, 0..=1_000;
        /// how many steps of one run may wait to be written down before its node is held back
        pub steps_waiting_max: u32 = 256, 1..=100_000;
        /// how many bytes of steps of one run may wait to be written down before its node is held back
        pub steps_waiting_bytes_max: u64 = 4_194_304, 1_024..=33_554_432;
        /// how many steps one run may have
        pub steps_max: u32 = 100_000, 1..=10_000_000;
        /// how long a connection to a node may take, in milliseconds
        pub connect_ms: u64 = 3_000, 50..=60_000;
        /// how long a node may be silent within a call, in milliseconds
        pub silence_ms: u64 = 60_000, 100..=3_600_000;
        /// how long one call to a node may take in all, in milliseconds
        pub call_ms: u64 = 600_000, 100..=86_400_000;
        /// how long a node that cannot be reached is tried again before the task fails, in milliseconds
        pub unreachable_ms: u64 = 60_000, 0..=3_600_000;
        /// largest answer of a node, in bytes
        pub answer_bytes_max: u64 = 16_777_216, 1_024..=50_331_648;
        /// largest single event within an answer, in bytes
        pub event_bytes_max: u64 = 4_194_304, 1_024..=33_554_432;
        /// how often each node is asked how it is, in milliseconds
        pub probe_interval_ms: u64 = 15_000, 100..=3_600_000;
        /// how long running work may go on when the bridge stops, in milliseconds
        pub drain_ms: u64 = 10_000, 0..=600_000;
    }
}
