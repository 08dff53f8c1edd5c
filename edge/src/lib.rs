//! The outside: HTTP, JSON-RPC, SSE, cards and the console. It keeps nothing: what it is told it passes to the task
//! store, and what it shows it reads from the store and from the watched catalog.
//!
//! | module | holds |
//! |---|---|
//! | [`settings`](Settings) | what can be set |
//! | [`router`], [`start`] | path to handler; the listener |
//! | `tls` | certificates of the listeners and of clients |
//! | `guard`, `cors`, `limits`, `body`, `unread` | what may come in, and how much |
//! | `access` | who calls, and what they may do |
//! | `audit` | who was not let do what, for the record |
//! | `caller` | the service parameters of a call |
//! | `early` | refusals before a binding has read the call |
//! | `a2a` | the operations, free of any binding |
//! | `jsonrpc`, `rest`, `grpc` | the three bindings over them |
//! | `sse`, `json`, `details`, `observe` | what the bindings share: events, ProtoJSON, fault details, spans |
//! | `catalog`, `card` | the watched snapshot and the public card |
//! | `files` | content too large for an answer |
//! | `api`, `console` | the operator's page and what it needs |
//! | `keys` | the public keys of the mesh |
//! | `health`, `metrics` | for whoever keeps the process running |

mod a2a;
mod access;
mod api;
mod audit;
mod body;
mod caller;
mod card;
mod catalog;
mod console;
mod cors;
mod details;
mod early;
mod edge;
mod files;
mod grpc;
mod guard;
mod health;
mod json;
mod jsonrpc;
mod keys;
mod limits;
mod metrics;
mod observe;
mod plain;
mod rest;
mod router;
mod serve;
mod settings;
mod sse;
mod tls;
mod unread;
mod upstreams;
mod v03;

pub use edge::Refused;
pub use router::router;
pub use serve::{Bound, bind};
pub use settings::Settings;
pub use upstreams::Upstreams;
