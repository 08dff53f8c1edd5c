//! Reading: one task, a page of tasks, the feed of an owner.

use std::sync::Arc;

use futures::StreamExt;
use tokio::sync::broadcast;
use weft_core::list::{Query, history_length};
use weft_core::task::show;
use weft_core::{Fault, Owner};
use weft_proto::a2a::{ListTasksResponse, Task};
use weft_proto::weft::{FeedEvent, GetRequest, ListRequest};

use super::{Ledger, broken};
use crate::record::Head;
use crate::store::Store;
use crate::token;

/// Tasks of a page read from disk at once.
const READ_AT_ONCE: usize = 8;

impl<S: Store> Ledger<S> {
    /// The task as it is.
    pub(crate) async fn get(&self, request: GetRequest) -> Result<Task, Fault> {
        let owner = Owner::parse(request.owner)?;
        let history = history_length("historyLength", request.history_length)?;
        let (_, now) = self.slot_of(&owner, &request.task_id).await?;
        Ok(show(&now.task, history, true))
    }

    /// A page of an owner's tasks.
    pub(crate) async fn list(&self, request: ListRequest) -> Result<ListTasksResponse, Fault> {
        let owner = Owner::parse(request.owner)?;
        let request = request.request.unwrap_or_default();
        let mut query = Query::check(owner, &request)?;
        let secret = self.store.secret();
        if !request.page_token.is_empty() {
            query.after = Some(token::open(&secret, &query, &request.page_token)?);
        }
        let page = self.store.list(&query).await.map_err(broken)?;
        let fitting = self.fitting(&page.heads);
        let more = if fitting < page.heads.len() {
            page.heads.get(fitting - 1).map(|head| head.cursor())
        } else {
            page.more
        };
        let query = Arc::new(query);
        let shown = futures::stream::iter(page.heads.into_iter().take(fitting))
            .map(|head| self.shown(head, query.clone()))
            .buffered(READ_AT_ONCE);
        let tasks: Vec<Result<Option<Task>, Fault>> = shown.collect().await;
        Ok(ListTasksResponse {
            tasks: tasks.into_iter().filter_map(Result::transpose).collect::<Result<_, _>>()?,
            next_page_token: more.map(|cursor| token::seal(&secret, &query, cursor)).unwrap_or_default(),
            page_size: i32::try_from(query.page).unwrap_or(i32::MAX),
            total_size: i32::try_from(page.total).unwrap_or(i32::MAX),
        })
    }

    /// How many of these fit into one answer; at least one.
    fn fitting(&self, heads: &[Arc<Head>]) -> usize {
        let mut bytes = 0;
        let fits = heads.iter().take_while(|head| {
            bytes += head.bytes;
            bytes <= self.settings.list_bytes_max
        });
        fits.count().max(usize::from(!heads.is_empty()))
    }

    /// A task of a page; `None` when it is gone meanwhile. What is not in memory is read and not kept.
    async fn shown(&self, head: Arc<Head>, query: Arc<Query>) -> Result<Option<Task>, Fault> {
        let id = head.id();
        let known = self.cache.known(id);
        if known.as_ref().is_some_and(|slot| !slot.tell()) {
            return Ok(None);
        }
        if let Some(now) = known.and_then(|slot| slot.now()) {
            // It may have moved on since the index was read.
            let fits = query.state.is_none_or(|state| state == now.head.state());
            return Ok(fits.then(|| show(&now.task, query.history, query.artifacts)));
        }
        let stored = self.store.load(id).await.map_err(broken)?;
        Ok(stored.map(|stored| show(&stored.task, query.history, query.artifacts)))
    }

    /// Every status change of an owner's tasks from now on.
    pub(crate) fn feed(&self, owner: &str) -> Result<broadcast::Receiver<FeedEvent>, Fault> {
        let owner = Owner::parse(owner)?;
        self.feeds.read(owner.as_str(), self.settings.feeds_max)
    }
}
