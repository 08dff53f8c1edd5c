//! What the deliveries need besides the ledger: the guard, the line, the client, the signer, and what is new.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

use prost::Message as _;
use tokio::sync::Notify;
use weft_chassis::{Outbound, Peer, peer, status};
use weft_core::Fault;
use weft_core::address::Allowed;
use weft_proto::weft::signer_client::SignerClient;
use weft_proto::weft::{UnwrapRequest, WrapRequest};

use super::Outside;
use super::call::Caller;
use super::guard::Guard;
use super::line::Line;
use crate::record::{Push, Secrets};
use crate::{Settings, TaskId};

/// What the deliveries need besides the ledger.
pub(crate) struct Outbox {
    pub(crate) guard: Guard,
    pub(crate) line: Line,
    pub(super) caller: Caller,
    signer: SignerClient<Peer>,
    news: Mutex<HashSet<TaskId>>,
    came: Notify,
}

impl Outbox {
    /// # Errors
    /// When a setting is wrong or the client cannot be made.
    pub(crate) fn new(settings: &Settings, outside: Outside, outbound: &Outbound) -> Result<Outbox, String> {
        let allowed = Allowed::parse(settings.push_allow.iter().map(String::as_str))
            .map_err(|error| format!("`tasks.push_allow`: {error}"))?;
        let guard = Guard::new(allowed, outside.names);
        Ok(Outbox {
            caller: Caller::new(settings, guard.clone(), outbound)?,
            guard,
            line: Line::new(settings.push_calls_max, settings.push_host_calls_max),
            signer: SignerClient::new(outside.signer)
                .max_decoding_message_size(peer::MESSAGE_BYTES_MAX)
                .max_encoding_message_size(peer::MESSAGE_BYTES_MAX),
            news: Mutex::default(),
            came: Notify::new(),
        })
    }

    /// A task with webhooks has further events, or its webhooks changed.
    pub(crate) fn told(&self, task: TaskId) {
        self.news.lock().unwrap_or_else(PoisonError::into_inner).insert(task);
        self.came.notify_one();
    }

    /// A task that was [`Outbox::told`] of; waits for one.
    pub(super) async fn next_news(&self) -> TaskId {
        loop {
            let next = {
                let mut news = self.news.lock().unwrap_or_else(PoisonError::into_inner);
                let next = news.iter().next().copied();
                next.inspect(|task| {
                    news.remove(task);
                })
            };
            match next {
                Some(task) => return task,
                None => self.came.notified().await,
            }
        }
    }

    /// Encrypts what is secret of a webhook; nothing when nothing is.
    ///
    /// # Errors
    /// When the signer cannot be asked.
    pub(crate) async fn wrap(&self, task: &str, id: &str, secrets: &Secrets) -> Result<Vec<u8>, Fault> {
        if *secrets == Secrets::default() {
            return Ok(Vec::new());
        }
        let request = WrapRequest { secret: secrets.encode_to_vec(), context: context(task, id) };
        let wrapped = self.signer.clone().wrap(request).await;
        Ok(wrapped.map_err(|status| status::fault(&status))?.into_inner().wrapped)
    }

    /// Reads what is secret of a webhook.
    ///
    /// # Errors
    /// When the signer cannot be asked or did not encrypt it.
    pub(crate) async fn secrets(&self, task: TaskId, push: &Push) -> Result<Secrets, Fault> {
        if push.wrapped.is_empty() {
            return Ok(Secrets::default());
        }
        let context = context(&task.to_string(), &push.id);
        let request = UnwrapRequest { wrapped: push.wrapped.clone(), context };
        let secret = self.signer.clone().unwrap(request).await;
        let secret = secret.map_err(|status| status::fault(&status))?.into_inner().secret;
        Secrets::decode(secret.as_slice())
            .map_err(|_| Fault::internal("the secrets of a webhook cannot be read; set it again"))
    }
}

/// What the secrets belong to: moved to another webhook, they cannot be read.
fn context(task: &str, id: &str) -> Vec<u8> {
    format!("webhook/{task}/{id}").into_bytes()
}
