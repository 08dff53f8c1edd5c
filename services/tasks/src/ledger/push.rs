//! The webhooks of a task: set, get, list, delete, and how they go.

use reqwest::Url;
use weft_core::list::PAGE_DEFAULT;
use weft_core::task::is_terminal;
use weft_core::{Fault, Kind, Owner, webhook};
use weft_proto::a2a::{
    AuthenticationInfo, ListTaskPushNotificationConfigsResponse, TaskPushNotificationConfig,
};
use weft_proto::weft::push_delivery::State;
use weft_proto::weft::{
    DeletePushConfigRequest, DeletePushConfigResponse, GetPushConfigRequest, ListPushConfigsRequest,
    PushDelivery, PushStatusRequest, PushStatusResponse, SetPushConfigRequest,
};
use weft_proto::wkt::Timestamp;

use super::{Decision, Ledger, broken};
use crate::push::line::{Hold, Key};
use crate::record::{Delivery, Head, Push, Secrets, Turn};
use crate::slot::Slot;
use crate::store::{PushChange, Store, Webhook};
use crate::{TaskId, token};

/// Most webhooks a page.
const PAGE_MAX: usize = 100;
/// Under which the webhook of a message lies in the request.
pub(super) const INLINE: &str = "configuration.taskPushNotificationConfig.";

/// A webhook that is about to be set; nobody calls it or changes the task's webhooks while this lives.
pub(super) struct Setting {
    push: Push,
    /// What the task has of the same id.
    replaced: Option<Delivery>,
    others: usize,
    _hold: Hold,
}

impl<S: Store> Ledger<S> {
    /// Adds a webhook, or replaces the one of the same id.
    pub(crate) async fn set_push(
        &self,
        request: SetPushConfigRequest,
    ) -> Result<TaskPushNotificationConfig, Fault> {
        let owner = Owner::parse(request.owner)?;
        let config = request.config.ok_or_else(|| Fault::invalid("config", "must be set"))?;
        let (slot, now) = self.slot_of(&owner, &config.task_id).await?;
        drop(now);
        webhook::admit(&config, "")?;
        self.outbox.guard.admit(&config.url, "url").await?;
        let push = self.kept(&owner, &slot.id().to_string(), &config).await?;
        let id = push.id.clone();
        let ledger = self.clone();
        self.whole(Box::pin(async move { ledger.set_now(&slot, push).await })).await?;
        Ok(TaskPushNotificationConfig { id, ..config })
    }

    async fn set_now(&self, slot: &Slot, push: Push) -> Result<(), Fault> {
        let _writer = slot.writer.lock().await;
        let setting = self.setting(slot.id(), push).await?;
        self.change(slot, |now| {
            let mut head = Head::clone(&now.head);
            let push = setting.decide(&mut head, &now.turn, self.settings.push_configs_max, now.head.seq)?;
            Ok(Some(Decision { push: Some(push), ..Decision::head_only(head) }))
        })
        .await?;
        drop(setting);
        self.outbox.told(slot.id());
        Ok(())
    }

    /// A checked webhook as it is kept, its secrets wrapped.
    pub(super) async fn kept(
        &self,
        owner: &Owner,
        task: &str,
        config: &TaskPushNotificationConfig,
    ) -> Result<Push, Fault> {
        let id = if config.id.is_empty() { self.env.id() } else { config.id.clone() };
        let (scheme, credentials) = config
            .authentication
            .as_ref()
            .map(|given| (given.scheme.clone(), given.credentials.clone()))
            .unwrap_or_default();
        let secrets = Secrets { token: config.token.clone(), credentials };
        let wrapped = self.outbox.wrap(task, &id, &secrets).await?;
        Ok(Push { id, owner: owner.as_str().to_owned(), url: config.url.clone(), scheme, wrapped })
    }

    /// Readies a webhook to be set; the caller holds the task's writer.
    pub(super) async fn setting(&self, task: TaskId, push: Push) -> Result<Setting, Fault> {
        let hold = self.outbox.line.hold(&Key { task, id: push.id.as_str().into() }).await;
        let mut known = self.store.webhooks(task).await.map_err(broken)?;
        let before = known.len();
        known.retain(|known| known.push.id == push.id);
        let others = before - known.len();
        Ok(Setting { push, replaced: known.pop().map(|known| known.delivery), others, _hold: hold })
    }

    /// One webhook.
    pub(crate) async fn get_push(
        &self,
        request: GetPushConfigRequest,
    ) -> Result<TaskPushNotificationConfig, Fault> {
        let owner = Owner::parse(request.owner)?;
        let request = request.request.unwrap_or_default();
        let (slot, _) = self.slot_of(&owner, &request.task_id).await?;
        let known = self.store.webhook(slot.id(), &request.id).await.map_err(broken)?;
        self.shown_push(known.ok_or_else(|| unknown(&request.id))?).await
    }

    /// A page of a task's webhooks.
    pub(crate) async fn list_pushes(
        &self,
        request: ListPushConfigsRequest,
    ) -> Result<ListTaskPushNotificationConfigsResponse, Fault> {
        let owner = Owner::parse(request.owner)?;
        let request = request.request.unwrap_or_default();
        let (slot, _) = self.slot_of(&owner, &request.task_id).await?;
        let page = page_size(i64::from(request.page_size))?;
        let (webhooks, next_page_token) = self.page_of(slot.id(), &owner, page, &request.page_token).await?;
        let mut configs = Vec::with_capacity(webhooks.len());
        for webhook in webhooks {
            configs.push(self.shown_push(webhook).await?);
        }
        Ok(ListTaskPushNotificationConfigsResponse { configs, next_page_token })
    }

    /// Removes a webhook; nothing is sent to it afterwards.
    pub(crate) async fn delete_push(
        &self,
        request: DeletePushConfigRequest,
    ) -> Result<DeletePushConfigResponse, Fault> {
        let owner = Owner::parse(request.owner)?;
        let request = request.request.unwrap_or_default();
        let (slot, now) = self.slot_of(&owner, &request.task_id).await?;
        drop(now);
        let ledger = self.clone();
        let delete = async move {
            let _writer = slot.writer.lock().await;
            let key = Key { task: slot.id(), id: request.id.as_str().into() };
            let _hold = ledger.outbox.line.hold(&key).await;
            if ledger.store.webhook(slot.id(), &request.id).await.map_err(broken)?.is_none() {
                return Ok(());
            }
            let deleted = ledger.change(&slot, |now| {
                let mut head = Head::clone(&now.head);
                head.pushes = head.pushes.saturating_sub(1);
                let push = Some(PushChange::Delete(request.id.clone()));
                Ok(Some(Decision { push, ..Decision::head_only(head) }))
            });
            deleted.await.map(drop)
        };
        self.whole(Box::pin(delete)).await?;
        Ok(DeletePushConfigResponse {})
    }

    /// How the deliveries go: of a task's webhooks, or of all that fail.
    pub(crate) async fn push_status(&self, request: PushStatusRequest) -> Result<PushStatusResponse, Fault> {
        let owner = Owner::parse(request.owner)?;
        let page = page_size(i64::from(request.page_size))?;
        let (webhooks, next_page_token) = if request.task_id.is_empty() {
            self.failing_page(&owner, page, &request.page_token).await?
        } else {
            let (slot, _) = self.slot_of(&owner, &request.task_id).await?;
            self.page_of(slot.id(), &owner, page, &request.page_token).await?
        };
        let deliveries = webhooks.into_iter().map(told).collect();
        Ok(PushStatusResponse { deliveries, next_page_token })
    }

    async fn page_of(
        &self,
        task: TaskId,
        owner: &Owner,
        page: usize,
        given: &str,
    ) -> Result<(Vec<Webhook>, String), Fault> {
        let scope = format!("task {task} {owner}");
        let secret = self.store.secret();
        let mut webhooks = self.store.webhooks(task).await.map_err(broken)?;
        if !given.is_empty() {
            let after = token::open_place(&secret, &scope, given)?;
            webhooks.retain(|webhook| webhook.push.id.as_bytes() > after.as_slice());
        }
        let more = webhooks.len() > page;
        webhooks.truncate(page);
        let last = webhooks.last().filter(|_| more);
        let next = last.map(|last| token::seal_place(&secret, &scope, last.push.id.as_bytes()));
        Ok((webhooks, next.unwrap_or_default()))
    }

    async fn failing_page(
        &self,
        owner: &Owner,
        page: usize,
        given: &str,
    ) -> Result<(Vec<Webhook>, String), Fault> {
        let scope = format!("failing {owner}");
        let secret = self.store.secret();
        let after = if given.is_empty() {
            None
        } else {
            let place = token::open_place(&secret, &scope, given)?;
            let place = place
                .split_first_chunk()
                .and_then(|(task, id)| Some((TaskId::new(*task), String::from_utf8(id.to_vec()).ok()?)));
            Some(place.ok_or_else(token::bad)?)
        };
        let mut webhooks = self.store.failing(owner.as_str(), after, page + 1).await.map_err(broken)?;
        let more = webhooks.len() > page;
        webhooks.truncate(page);
        let place = |last: &Webhook| [last.task.bytes().as_slice(), last.push.id.as_bytes()].concat();
        let last = webhooks.last().filter(|_| more);
        let next = last.map(|last| token::seal_place(&secret, &scope, &place(last)));
        Ok((webhooks, next.unwrap_or_default()))
    }

    async fn shown_push(&self, webhook: Webhook) -> Result<TaskPushNotificationConfig, Fault> {
        let Webhook { task, push, .. } = webhook;
        let Secrets { token, credentials } = self.outbox.secrets(task, &push).await?;
        let scheme = push.scheme;
        Ok(TaskPushNotificationConfig {
            tenant: String::new(),
            id: push.id,
            task_id: task.to_string(),
            url: push.url,
            token,
            authentication: (!scheme.is_empty()).then_some(AuthenticationInfo { scheme, credentials }),
        })
    }
}

impl Setting {
    /// What is committed; `head` then counts it. Events after `seq` go to a new webhook; a replaced one goes on where it
    /// was.
    pub(super) fn decide(
        &self,
        head: &mut Head,
        turn: &Turn,
        configs_max: u32,
        seq: u64,
    ) -> Result<PushChange, Fault> {
        let mut delivery = match &self.replaced {
            Some(before) => Delivery {
                delivered: before.delivered,
                traceparent: before.traceparent.clone(),
                tracestate: before.tracestate.clone(),
                ..Delivery::default()
            },
            None => {
                if self.others >= configs_max as usize {
                    let text = format!(
                        "the task holds {configs_max} webhooks, the most it may (tasks.push_configs_max); delete one first"
                    );
                    return Err(Fault::new(Kind::TooLarge, text));
                }
                head.pushes += 1;
                Delivery {
                    delivered: seq,
                    traceparent: turn.traceparent.clone(),
                    tracestate: turn.tracestate.clone(),
                    ..Delivery::default()
                }
            }
        };
        delivery.done = is_terminal(head.state()) && delivery.delivered >= head.seq;
        Ok(PushChange::Set(self.push.clone(), delivery))
    }
}

/// What a console shows of a webhook.
fn told(webhook: Webhook) -> PushDelivery {
    let Webhook { task, push, delivery, last } = webhook;
    let state = if delivery.given_up {
        State::GivenUp
    } else if delivery.attempts > 0 {
        State::Retrying
    } else if delivery.delivered < last {
        State::Pending
    } else {
        State::UpToDate
    };
    PushDelivery {
        task_id: task.to_string(),
        config_id: push.id,
        url: without_query(&push.url),
        state: state.into(),
        delivered: delivery.delivered,
        last,
        attempts: delivery.attempts,
        error: delivery.error,
        failing_since: at(delivery.failing_since_ms),
        next_try: at(delivery.next_try_ms),
    }
}

fn without_query(url: &str) -> String {
    let parsed = Url::parse(url).map(|mut url| {
        url.set_query(None);
        url.set_fragment(None);
        url.to_string()
    });
    parsed.unwrap_or_default()
}

/// 0: never.
fn at(unix_ms: i64) -> Option<Timestamp> {
    let nanos = i32::try_from(unix_ms.rem_euclid(1_000)).unwrap_or(0) * 1_000_000;
    (unix_ms != 0).then(|| Timestamp { seconds: unix_ms.div_euclid(1_000), nanos })
}

fn page_size(asked: i64) -> Result<usize, Fault> {
    match usize::try_from(asked) {
        Ok(0) => Ok(PAGE_DEFAULT),
        Ok(size @ 1..=PAGE_MAX) => Ok(size),
        _ => {
            Err(Fault::invalid("pageSize", format!("must be from 1 to {PAGE_MAX}, or 0 for {PAGE_DEFAULT}")))
        }
    }
}

/// As for an unknown task (A2A v1.0.1 §3.1.8).
fn unknown(id: &str) -> Fault {
    let shown: String = id.chars().filter(|c| !c.is_control()).take(80).collect();
    Fault::new(Kind::TaskNotFound, format!("push notification config not found: {shown}"))
}
