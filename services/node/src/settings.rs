//! Bounds of a node's host.

weft_chassis::settings! {
    /// Bounds of a node's host.
    pub struct Settings in "node" {
        /// largest body of a call to a node, in bytes
        pub body_bytes_max: u64 = 16_777_216, 1_024..=268_435_456;
        /// calls one node answers at once; one more hears 503 with Retry-After
        pub calls_max: u64 = 1_024, 1..=65_536;
        /// sources one node reads at once on threads of their own; further calls wait within their timeout
        pub reads_max: u64 = 8, 1..=256;
        /// seals one node remembers at once, so that each is good once
        pub nonces_max: u64 = 2_097_152, 1_024..=67_108_864;
        /// hops a call may have made on its way, the last one included
        pub depth_max: u64 = 8, 1..=64;
        /// turns with a remote agent that one node remembers, so that a restart goes on with them; the oldest is forgotten first
        pub agent_turns_max: u64 = 100_000, 100..=10_000_000;
        /// silence after which a stream says that it is alive, in milliseconds
        pub keep_alive_ms: u64 = 10_000, 100..=600_000;
    }
}
