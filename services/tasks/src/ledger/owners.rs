//! What belongs to an owner beyond single tasks: conversations with peers, and all of it, shown or removed.

use std::collections::VecDeque;
use std::sync::Arc;

use futures::{Stream, StreamExt};
use weft_core::task::{self, is_terminal};
use weft_core::{Fault, Owner};
use weft_proto::weft::{
    Conversation, ConversationRequest, ConversationResponse, ConversationsRequest, ConversationsResponse,
    ExportedTask, ForgetOwnerResponse, OwnerRequest,
};
use weft_proto::wkt::Timestamp;

use super::{Decision, Ledger, TRIES, broken};
use crate::TaskId;
use crate::push::line::Key;
use crate::record::{self, Head, space};
use crate::store::{Full, Limits, Refused, Store};

/// Longest id of a peer, in bytes.
const PEER_BYTES_MAX: usize = 256;
/// Tasks looked at in one step.
const STEP: usize = 128;
/// Tasks removed at once.
const REMOVED_AT_ONCE: usize = 32;

/// Tasks of an owner on their way out.
pub(crate) struct Exporting<S> {
    ledger: Ledger<S>,
    owner: Owner,
    after: Option<TaskId>,
    ready: VecDeque<Arc<Head>>,
}

impl<S: Store> Ledger<S> {
    /// The present conversation with a peer, begun when there is none or another one is asked for.
    pub(crate) async fn conversation(
        &self,
        request: ConversationRequest,
    ) -> Result<ConversationResponse, Fault> {
        let owner = Owner::parse(request.owner)?;
        if !(1..=PEER_BYTES_MAX).contains(&request.peer.len()) {
            return Err(Fault::invalid("peer", format!("must have 1 to {PEER_BYTES_MAX} bytes")));
        }
        if self.env.stop().is_cancelled() {
            return Err(super::stopping());
        }
        let refused = |refused| self.refused(refused, Limits::default());
        for _ in 0..TRIES {
            let present = self.store.conversation(owner.as_str(), &request.peer).await.map_err(broken)?;
            let first = present.is_none();
            if let Some(present) = present.filter(|_| !request.renew) {
                return Ok(ConversationResponse { conversation: Some(shown(present)) });
            }
            if first {
                let known = self.store.conversations(owner.as_str()).await.map_err(broken)?;
                if known.len() >= self.settings.conversations_max as usize {
                    return Err(refused(Refused::Full(Full::Conversations)));
                }
            }
            let begun = record::Conversation {
                owner: owner.as_str().to_owned(),
                peer: request.peer.clone(),
                context: self.env.id(),
                begun_ms: self.env.unix_ms(),
            };
            // Of two that begin the first one at once, one is told of the other's.
            match self.store.converse(begun.clone(), first && !request.renew).await {
                Ok(()) => return Ok(ConversationResponse { conversation: Some(shown(begun)) }),
                Err(Refused::Conflict) => {}
                Err(other) => return Err(refused(other)),
            }
        }
        Err(refused(Refused::Conflict))
    }

    /// The present conversations of an owner.
    pub(crate) async fn conversations(
        &self,
        request: ConversationsRequest,
    ) -> Result<ConversationsResponse, Fault> {
        let owner = Owner::parse(request.owner)?;
        let known = self.store.conversations(owner.as_str()).await.map_err(broken)?;
        Ok(ConversationsResponse { conversations: known.into_iter().map(shown).collect() })
    }

    /// Every task of an owner, in every tenant.
    pub(crate) fn export(&self, request: OwnerRequest) -> Result<Exporting<S>, Fault> {
        let owner = whole_owner(request)?;
        Ok(Exporting { ledger: self.clone(), owner, after: None, ready: VecDeque::new() })
    }

    /// Cancels and removes everything of an owner, in every tenant. What began runs to its end, if need be after a
    /// restart.
    pub(crate) async fn forget_owner(&self, request: OwnerRequest) -> Result<ForgetOwnerResponse, Fault> {
        let owner = whole_owner(request)?;
        let ledger = self.clone();
        self.whole(Box::pin(async move {
            let _alone = ledger.forgets.lock().await;
            let marked = ledger.store.forget(owner.as_str()).await;
            marked.map_err(|refused| ledger.refused(refused, Limits::default()))?;
            ledger.finish_forgetting(owner.as_str()).await
        }))
        .await
    }

    /// Removes everything of an owner of whom nothing new is taken any more.
    pub(super) async fn finish_forgetting(&self, base: &str) -> Result<ForgetOwnerResponse, Fault> {
        let mut tasks = 0;
        loop {
            let heads = self.store.of_base(base, None, STEP).await.map_err(broken)?;
            if heads.is_empty() {
                break;
            }
            let mut erased = futures::stream::iter(heads)
                .map(|head| self.erase(head.id()))
                .buffer_unordered(REMOVED_AT_ONCE);
            while let Some(gone) = erased.next().await {
                tasks += u64::from(gone?);
            }
        }
        let forgotten = self.store.forgotten(base).await;
        let conversations = forgotten.map_err(|refused| self.refused(refused, Limits::default()))?;
        Ok(ForgetOwnerResponse { tasks, conversations })
    }

    /// Cancels a task that has not ended, and removes it; false when somebody else did.
    async fn erase(&self, task: TaskId) -> Result<bool, Fault> {
        for _ in 0..TRIES {
            let Some(slot) = self.slot(task).await? else { return Ok(false) };
            let _writer = slot.writer.lock().await;
            let canceled = self.change(&slot, |now| {
                if is_terminal(now.head.state()) {
                    return Ok(None);
                }
                let change = task::cancel(&now.task, None, self.env.now())?;
                let head = Head::clone(&now.head);
                Ok(change.map(|change| Decision { change, ..Decision::head_only(head) }))
            });
            if canceled.await? {
                self.queue.stop(task);
            }
            let Some(now) = slot.now() else { return Ok(false) };
            let mut holds = Vec::new();
            if now.head.pushes > 0 {
                for webhook in self.store.webhooks(task).await.map_err(broken)? {
                    let key = Key { task, id: webhook.push.id.as_str().into() };
                    holds.push(self.outbox.line.hold(&key).await);
                }
            }
            let removed = self.store.remove(Head::clone(&now.head)).await.map_err(broken)?;
            drop(holds);
            if removed {
                self.went(&[task]);
                return Ok(true);
            }
            // Whatever was faster is read again.
            self.forget(task);
        }
        Err(Fault::unavailable("a task of the owner changed again and again meanwhile; try again"))
    }
}

impl<S: Store> Exporting<S> {
    /// One task a time, oldest first.
    pub(crate) fn stream(self) -> impl Stream<Item = Result<ExportedTask, Fault>> + Send {
        futures::stream::unfold(Some(self), |exporting| async move {
            let mut exporting = exporting?;
            match exporting.next().await {
                Ok(Some(task)) => Some((Ok(task), Some(exporting))),
                Ok(None) => None,
                Err(fault) => Some((Err(fault), None)),
            }
        })
    }

    async fn next(&mut self) -> Result<Option<ExportedTask>, Fault> {
        loop {
            if self.ready.is_empty() {
                let (owner, after) = (self.owner.as_str(), self.after);
                self.ready = self.ledger.store.of_base(owner, after, STEP).await.map_err(broken)?.into();
            }
            let Some(head) = self.ready.pop_front() else { return Ok(None) };
            self.after = Some(head.id());
            if let Some(stored) = self.ledger.store.load(head.id()).await.map_err(broken)? {
                let tenant = space(&head.owner).0.to_owned();
                return Ok(Some(ExportedTask { tenant, task: Some(stored.task) }));
            }
        }
    }
}

/// An owner as such, not in the space of one agent.
fn whole_owner(request: OwnerRequest) -> Result<Owner, Fault> {
    let owner = Owner::parse(request.owner)?;
    if owner.as_str().contains('/') {
        return Err(Fault::invalid("owner", "must be without a tenant: what follows the slash"));
    }
    Ok(owner)
}

fn shown(conversation: record::Conversation) -> Conversation {
    let record::Conversation { peer, context, begun_ms, .. } = conversation;
    let nanos = i32::try_from(begun_ms.rem_euclid(1_000)).unwrap_or(0) * 1_000_000;
    let begun = Timestamp { seconds: begun_ms.div_euclid(1_000), nanos };
    Conversation { peer, context_id: context, begun: Some(begun) }
}
