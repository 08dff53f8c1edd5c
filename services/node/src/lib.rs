//! A host for declared nodes: one manifest makes an app a fleet member.
//!
//! | module | holds |
//! |---|---|
//! | `host` | one node: its manifest as it is now, swapped whole on reload |
//! | `http` | its routes: invoke and cancel (sealed), about, health |
//! | `source` | where rows come from: files, SQLite, HTTP, Prometheus text, the network state |
//! | `rows`, `arguments` | what leaves the node: whitelisted fields within limits |
//! | `scenario` | a mock agent that plays rules |
//! | `agent` | a remote A2A agent that calls are forwarded to |
//! | `serve` | the host on a port, or in this process |
//!
//! Tools only read, but for what a remote agent does. Nothing here starts a process, and no field leaves that its
//! manifest does not list.

mod agent;
mod arguments;
mod failure;
mod host;
mod http;
mod number;
mod read;
mod rows;
mod scenario;
mod serve;
mod settings;
mod source;
mod wire;

pub use host::Host;
pub use read::manifest;
pub use serve::serve;
pub use settings::Settings;
pub use source::Place;
