//! What can be set about the edge.

weft_chassis::settings! {
    /// Where the edge listens, under which name it is known outside, and how much it takes in.
    pub struct Settings in "edge" {
        /// address of the HTTP listener; port 0 takes a free one
        pub http: String = "127.0.0.1:8420".into();
        /// base URL under which callers reach this mesh, with any path prefix; empty: the address it listens on
        pub public_url: String = String::new();
        /// path prefix under which everything but gRPC and health is served, for example /mesh; empty: the root
        pub base_path: String = String::new();
        /// address of a listener of its own for gRPC, which the HTTP listener serves too; empty: none
        pub grpc: String = String::new();
        /// PEM file of the listeners' certificate, with those above it; empty: plain HTTP
        pub tls_cert: String = String::new();
        /// PEM file of the key that belongs to it, not encrypted
        pub tls_key: String = String::new();
        /// how often both files are looked at, so that a renewed certificate needs no restart, in milliseconds
        pub tls_poll_ms: u32 = 5_000, 50..=3_600_000;
        /// how long browsers hold callers to TLS (Strict-Transport-Security), in seconds; 0: not at all
        pub hsts_max_age_s: u32 = 31_536_000, 0..=63_072_000;
        /// serve streams and say so on the card
        pub streaming: bool = true;
        /// serve push notifications and say so on the card
        pub push_notifications: bool = true;
        /// who may read the extended card: off (nobody: there is none), authenticated (principals) or open (every caller)
        pub extended_card: String = "off".into();
        /// serve A2A v0.3 beside v1.0, on every binding, and name it on the card
        pub legacy_v03: bool = true;
        /// with v0.3: write the top-level fields its clients look for into the card too, which a closed v1.0 schema refuses
        pub legacy_card: bool = true;
        /// sign the cards; only done with edge.public_url, for nobody vouches for a guessed address
        pub sign_cards: bool = true;
        /// further host names that requests may come in under, without port
        pub allowed_hosts: Vec<String> = Vec::new();
        /// origins of web pages that may call, for example https://app.example.com
        pub allowed_origins: Vec<String> = Vec::new();
        /// serve callers without credentials on an address that other machines can reach, as long as nobody has any
        pub tokenless_beyond_loopback: bool = false;
        /// answer /metrics to other machines too
        pub metrics_beyond_loopback: bool = false;
        /// largest request body, in bytes
        pub body_bytes_max: u32 = 4_194_304, 1_024..=33_554_432;
        /// largest file that is written into an answer, in bytes; of a larger one the answer holds a link
        pub inline_bytes_max: u32 = 1_048_576, 0..=33_554_432;
        /// how long a request body may take to arrive, in milliseconds
        pub body_read_ms: u32 = 15_000, 10..=600_000;
        /// how long the headers of a request may take to arrive, in milliseconds
        pub header_read_ms: u32 = 10_000, 10..=600_000;
        /// calls per second one caller may make on average
        pub rate_per_second: u32 = 50_000, 1..=10_000_000;
        /// calls one caller may make at once after a pause
        pub rate_burst: u32 = 50_000, 1..=10_000_000;
        /// messages one principal may send a minute, unless the access file says otherwise; 0: no bound but the rate
        pub messages_per_minute: u32 = 0, 0..=10_000_000;
        /// open connections
        pub connections_max: u32 = 4_096, 1..=1_000_000;
        /// calls under way at once, blocking ones included
        pub calls_max: u32 = 4_096, 1..=1_000_000;
        /// open event streams
        pub streams_max: u32 = 2_048, 1..=1_000_000;
        /// open event streams of one caller
        pub owner_streams_max: u32 = 1_024, 1..=1_000_000;
        /// how long a blocking SendMessage waits before it answers with the task as it is, in milliseconds
        pub send_wait_ms: u32 = 120_000, 1..=3_600_000;
        /// how long another service of the mesh may take to answer, in milliseconds
        pub upstream_ms: u32 = 10_000, 10..=600_000;
        /// a silent event stream gets a comment this often, in milliseconds
        pub keep_alive_ms: u32 = 15_000, 10..=600_000;
        /// how long a client may keep the agent card, in seconds
        pub card_max_age_s: u32 = 60, 0..=86_400;
        /// how long the listener still answers after a stop, in milliseconds
        pub drain_ms: u32 = 1_000, 0..=600_000;
    }
}

impl Settings {
    /// The scheme under which the listeners are called.
    #[must_use]
    pub fn scheme(&self) -> &'static str {
        if self.tls_cert.is_empty() { "http" } else { "https" }
    }
}
