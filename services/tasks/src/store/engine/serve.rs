//! The store as the ledger sees it.

use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};

use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;
use weft_core::list::Query;

use super::KvStore;
use crate::TaskId;
use crate::record::{Conversation, Head, Record, Replay};
use crate::store::ask::{Answer, Ask, Request};
use crate::store::kv::Kv;
use crate::store::layout;
use crate::store::{Broken, Claimed, Commit, Keep, Page, Refused, Store, Stored, Used, Webhook, Webhooks};

/// False when what was to change is not there any more.
fn happened(answer: Answer) -> Result<bool, Broken> {
    match answer {
        Ok(_) => Ok(true),
        Err(Refused::Broken(broken)) => Err(broken),
        Err(Refused::Conflict | Refused::Taken(_) | Refused::Full(_) | Refused::Forgetting) => Ok(false),
    }
}

impl<K: Kv> Store for KvStore<K> {
    fn backend(&self) -> &'static str {
        K::NAME
    }

    async fn commit(&self, commit: Commit) -> Result<Vec<TaskId>, Refused> {
        self.write(Ask::commit(commit)).await
    }

    async fn load(&self, task: TaskId) -> Result<Option<Stored>, Broken> {
        self.read(move |shared| shared.load(task)).await
    }

    async fn load_of(&self, owner: &str, task: TaskId) -> Result<Option<Stored>, Broken> {
        let owner = owner.to_owned();
        self.read(move |shared| shared.load_of(&owner, task)).await
    }

    async fn records(&self, task: TaskId, from: u64, most: usize) -> Result<Vec<Record>, Broken> {
        self.read(move |shared| shared.records(task, from, most)).await
    }

    async fn replayed(&self, owner: &str, replay: &Replay) -> Result<Option<Claimed>, Broken> {
        let key = layout::replay(owner, replay);
        self.read(move |shared| shared.kv.get(&key)?.map(|bytes| layout::read_claimed(&bytes)).transpose())
            .await
    }

    async fn list(&self, query: &Query) -> Result<Page, Broken> {
        let query = query.clone();
        self.read(move |shared| shared.list(&query)).await
    }

    fn running(&self) -> Vec<Arc<Head>> {
        self.shared.view.read().unwrap_or_else(PoisonError::into_inner).all()
    }

    async fn over(&self, keep: Keep, now_ms: i64, most: usize) -> Result<Vec<Head>, Broken> {
        self.read(move |shared| shared.over(keep, now_ms, most)).await
    }

    async fn oldest(&self) -> Result<Option<Head>, Broken> {
        self.read(move |shared| shared.oldest_of_all(&|_| true)).await
    }

    async fn webhooks(&self, task: TaskId) -> Result<Vec<Webhook>, Broken> {
        self.read(move |shared| shared.webhooks(task)).await
    }

    async fn webhook(&self, task: TaskId, id: &str) -> Result<Option<Webhook>, Broken> {
        let id = id.to_owned();
        self.read(move |shared| shared.webhook(task, &id)).await
    }

    async fn note(&self, webhook: &Webhook) -> Result<bool, Broken> {
        happened(self.write(Ask::note(webhook)).await)
    }

    async fn failing(
        &self,
        owner: &str,
        after: Option<(TaskId, String)>,
        most: usize,
    ) -> Result<Vec<Webhook>, Broken> {
        let owner = owner.to_owned();
        self.read(move |shared| shared.failing(&owner, after, most)).await
    }

    async fn undelivered(&self, after: Option<(TaskId, String)>, most: usize) -> Result<Webhooks, Broken> {
        self.read(move |shared| shared.undelivered(after, most)).await
    }

    async fn remove(&self, head: Head) -> Result<bool, Broken> {
        let task = head.id();
        let keys = self.read({
            let owner = head.owner.clone();
            move |shared| shared.keys_of(task, &owner)
        });
        let keys = keys.await?;
        happened(self.write(Ask::removal(&head, keys)).await)
    }

    async fn session(&self, owner: &str, context: &str, capability: &str) -> Result<Option<String>, Broken> {
        // Most runs leave none, and are not to wait for the disk.
        if !self.shared.leaves_sessions(capability) {
            return Ok(None);
        }
        let key = layout::owner::session(owner, context, capability);
        self.read(move |shared| shared.session(&key)).await
    }

    async fn conversation(&self, owner: &str, peer: &str) -> Result<Option<Conversation>, Broken> {
        let key = layout::owner::conversation(owner, peer);
        self.read(move |shared| shared.conversation(&key)).await
    }

    async fn conversations(&self, owner: &str) -> Result<Vec<Conversation>, Broken> {
        let prefix = layout::owner::of_owner(layout::owner::CONVERSATIONS, owner);
        self.read(move |shared| shared.conversations(prefix)).await
    }

    async fn converse(&self, conversation: Conversation, first: bool) -> Result<(), Refused> {
        self.write(Ask::conversation(&conversation, first)).await.map(drop)
    }

    async fn used(&self, base: &str) -> Result<Used, Broken> {
        let base = base.to_owned();
        self.read(move |shared| shared.used(&base)).await
    }

    async fn of_base(
        &self,
        base: &str,
        after: Option<TaskId>,
        most: usize,
    ) -> Result<Vec<Arc<Head>>, Broken> {
        let base = base.to_owned();
        self.read(move |shared| shared.of_base(&base, after, most)).await
    }

    async fn forget(&self, base: &str) -> Result<(), Refused> {
        self.write(Ask::forget(base)).await.map(drop)
    }

    async fn forgotten(&self, base: &str) -> Result<u64, Refused> {
        let (keys, conversations) = self
            .read({
                let base = base.to_owned();
                move |shared| shared.left_of(&base)
            })
            .await?;
        self.write(Ask::forgotten(base, keys)).await.map(|_| conversations)
    }

    fn forgetting(&self) -> Vec<String> {
        let forgetting = self.shared.forgetting.read().unwrap_or_else(PoisonError::into_inner);
        forgetting.iter().cloned().collect()
    }

    fn tasks(&self) -> u64 {
        self.shared.total.load(Ordering::Acquire)
    }

    fn bytes(&self) -> u64 {
        self.shared.kv.bytes()
    }

    fn secret(&self) -> [u8; 32] {
        self.shared.secret
    }

    fn epoch(&self) -> u32 {
        self.shared.epoch
    }

    fn broken(&self) -> &CancellationToken {
        &self.shared.broken
    }

    async fn close(&self) {
        let (closed, done) = oneshot::channel();
        if self.requests.send(Request::Close(closed)).await.is_ok() {
            let _ = done.await;
        }
    }
}
