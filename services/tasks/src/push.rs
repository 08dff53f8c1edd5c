//! Webhooks: each committed event of a task goes to each of its webhooks, in order, at least once.
//!
//! | module | holds |
//! |---|---|
//! | `line` | which webhook is called next: fair among hosts, each in order, later after a failure |
//! | `guard` | which addresses may be called, judged when a webhook is set and again at each connection |
//! | `call` | one call: what is sent, what the answer means |
//! | `retry` | when it is tried again, when it is given up |
//! | `outbox` | what of this the ledger holds, and which tasks have news |
//! | `courier` | the ledger's part: read what is due, call, note how far it is |
//!
//! Nothing of this is needed to write a task: a webhook that fails, hangs or is gone delays no commit, no reader and no
//! other webhook. How far each one is lies in the store, so that a new process goes on from there.

mod call;
mod courier;
mod guard;
pub(crate) mod line;
mod outbox;
mod retry;

use std::net::IpAddr;
use std::sync::Arc;

use futures::future::BoxFuture;
use weft_chassis::Peer;

pub(crate) use outbox::Outbox;

/// What the store reaches beyond itself.
#[derive(Clone)]
pub struct Outside {
    /// The signer, which encrypts what is secret of a webhook.
    pub signer: Peer,
    /// Who knows the addresses of names.
    pub names: Arc<dyn Names>,
}

impl Outside {
    /// The signer, and the names that this machine knows.
    #[must_use]
    pub fn new(signer: Peer) -> Outside {
        Outside { signer, names: Arc::new(guard::SystemNames) }
    }
}

/// Turns a name into addresses.
pub trait Names: Send + Sync + 'static {
    /// All addresses of a host name.
    ///
    /// # Errors
    /// When it has none, or nobody can be asked.
    fn addresses(&self, host: &str) -> BoxFuture<'static, std::io::Result<Vec<IpAddr>>>;
}
