//! A2A v0.3 in the terms of v1.0, free of I/O: the edge answers older clients with it, the client calls older agents.
//!
//! v0.3 has two forms, and they are not alike:
//!
//! | module | form | spoken on |
//! |---|---|---|
//! | [`json`] | objects told apart by `kind`, states like `input-required`, roles `user` and `agent` | JSON-RPC |
//! | [`wire`] | the messages of package `a2a.v1`, `content` lists, resource names | gRPC; as ProtoJSON on HTTP |
//!
//! [`jsonrpc`] names the methods and reads and writes their parameters, [`rest`] the bodies that are peculiar to HTTP,
//! [`card`] the agent card, [`fault`] the errors, [`files`] a habit of one client.
//!
//! # What v0.3 cannot say
//!
//! - `mediaType` and `filename` of text and data parts are dropped; files keep theirs.
//! - Data that is no object travels as `{"value": …}` beside the metadata `data_part_compat: true`, as the official
//!   SDKs do it, and comes back as it was.
//! - The schema `a2a.v1` has no `referenceTaskIds`; it has one flow for each OAuth scheme, and no device code flow.
//! - Tenants have no place in a request: an agent of its own has an address of its own.
//! - `historyLength` 0 stands for unset there, in v1.0 for no history; it is sent as it is and read as unset.
//!
//! # What was left open and is settled here
//!
//! - *`blocking` unset*: JSON-RPC waits, as the reference servers do. The schema cannot tell unset from `false`: a
//!   request with a configuration means what `blocking` says, one without waits. Requests written here always say it.
//! - *`final`*: set on the status updates that end a task. A stream may also end at a state that waits for the caller.
//! - *A push configuration without an id*: the server names it on `set`; on `get` the task's first one is meant, and
//!   the request here then has an empty id.

mod at;
pub mod card;
mod data;
pub mod fault;
pub mod files;
pub mod json;
pub mod jsonrpc;
mod request;
pub mod rest;
mod state;
pub mod wire;

pub use request::Request;

/// Major and minor, as in `A2A-Version` and in a card's interfaces.
pub const VERSION: &str = "0.3";
