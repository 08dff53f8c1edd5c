//! What every service has in common.
//!
//! | module | holds |
//! |---|---|
//! | [`mod@env`] | clock, ids, task tracker and shutdown of one mesh; nothing is global |
//! | [`mod@outbound`] | how other machines are called: authorities, proxy, and what is said when it fails |
//! | [`peer`] | another service, reached in process or over the network: the caller cannot tell |
//! | [`serve`] | one role on a port: limits, keep-alive, health, drain |
//! | [`mod@settings`] | settings declared once, for file, environment, flag and help |
//! | [`status`] | [`weft_core::Fault`] ⇄ gRPC status, the crossing at every boundary |
//! | [`telemetry`] | logs, and spans to a collector and to the journal; installed in `main` only |
//! | [`tls`] | TLS for clients of the outside |
//! | [`trace`] | W3C trace context over gRPC, HTTP and in process |
//! | [`metrics`] | the registry a mesh's services count into |

pub mod env;
pub mod metrics;
pub mod outbound;
pub mod peer;
pub mod serve;
pub mod settings;
pub mod status;
pub mod telemetry;
pub mod tls;
pub mod trace;

pub use env::Env;
pub use metrics::Metrics;
pub use outbound::Outbound;
pub use peer::Peer;
