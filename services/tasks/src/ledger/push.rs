//! The webhooks of a task: set and deleted. `read` shows them and how they go.

mod read;

use weft_core::task::is_terminal;
use weft_core::{Fault, Kind, Owner, webhook};
use weft_proto::a2a::TaskPushNotificationConfig;
use weft_proto::weft::{DeletePushConfigRequest, DeletePushConfigResponse, SetPushConfigRequest};

use super::{Decision, Ledger, broken};
use crate::TaskId;
use crate::push::line::{Hold, Key};
use crate::record::{Delivery, Head, Push, Secrets, Turn};
use crate::slot::Slot;
use crate::store::{PushChange, Store};

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
