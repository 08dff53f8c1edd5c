//! The webhooks of a task as their owner reads them, and how their deliveries go.

use reqwest::Url;
use weft_core::list::PAGE_DEFAULT;
use weft_core::{Fault, Kind, Owner};
use weft_proto::a2a::{
    AuthenticationInfo, ListTaskPushNotificationConfigsResponse, TaskPushNotificationConfig,
};
use weft_proto::weft::push_delivery::State;
use weft_proto::weft::{
    GetPushConfigRequest, ListPushConfigsRequest, PushDelivery, PushStatusRequest, PushStatusResponse,
};
use weft_proto::wkt::Timestamp;

use crate::ledger::{Ledger, broken};
use crate::record::Secrets;
use crate::store::{Store, Webhook};
use crate::{TaskId, token};

/// Most webhooks a page.
const PAGE_MAX: usize = 100;

impl<S: Store> Ledger<S> {
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
