//! An A2A client: finds an agent by its card, speaks every binding to it, and loses no answer.
//!
//! ```no_run
//! # async fn ask(request: weft_proto::a2a::SendMessageRequest) -> Result<(), weft_client::Error> {
//! use weft_client::{Call, Client, Options};
//!
//! let client = Client::new(Options::default())?;
//! let agent = client.agent("https://agent.example", &[]).await?;
//! let call = Call { idempotency_key: Some("order-7".to_owned()), ..Call::default() };
//! let outcome = agent.wait(request, &call, std::time::Duration::from_secs(60)).await?;
//! # let _ = outcome; Ok(()) }
//! ```
//!
//! | module | holds |
//! |---|---|
//! | `client` | [`Client`]: connections, limits, credentials; from an address to an [`Agent`] |
//! | `card` | [`Card`]: fetched with bounds, cached by its ETag, kept with the fields nobody knows |
//! | `trust` | [`Signature`]: whether a card is what its agent signed |
//! | `binding` | which of a card's interfaces is spoken |
//! | `agent` | [`Agent`]: the operations, typed |
//! | `follow` | [`Follow`]: one event stream over cuts, resumption and polling |
//! | `wait` | a message sent and followed until its task has ended or asks |
//! | `operation` | what an operation is called on each binding |
//! | `legacy` | the same to an agent of version 0.3 |
//! | `wire` | JSON-RPC, HTTP+JSON and gRPC |
//! | `fault` | an agent's refusal, read back into the mesh's list of faults |
//! | `sse` | `text/event-stream`, read with bounds |
//! | `credentials` | what proves who calls, and to which origins it may go |
//!
//! The official Rust client is not built on: its types are not the ones this mesh speaks, it bounds neither cards nor
//! events, drops the details of gRPC errors and links a second TLS provider.
//!
//! What it never does: send credentials to an origin they are not meant for, follow a redirect to another origin, end
//! a stream as if all were well while the task goes on, or send a message twice without an idempotency key.

mod agent;
mod binding;
mod call;
mod card;
mod client;
mod credentials;
mod error;
mod fault;
mod follow;
mod http;
mod legacy;
mod limits;
mod operation;
pub mod sse;
mod trust;
mod wait;
mod wire;

pub use agent::Agent;
pub use binding::{Binding, Interface, Version};
pub use call::{Answer, Call};
pub use card::Card;
pub use client::{Client, Options};
pub use credentials::{Credentials, Origins};
pub use error::{Error, Refusal, Trail, Why};
pub use follow::{Event, Follow};
pub use limits::Limits;
pub use trust::Signature;
pub use wait::{Outcome, is_settled};
