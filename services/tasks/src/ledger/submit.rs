//! A message becomes a task, or the next turn of one, or is known already.

use std::sync::Arc;

use prost::Message as _;
use sha2::{Digest, Sha256};
use tracing::Instrument;
use weft_core::list::history_length;
use weft_core::task::{self, Start};
use weft_core::{Fault, Kind, Owner, webhook};
use weft_proto::a2a::{Message, SendMessageRequest, Task, TaskPushNotificationConfig};
use weft_proto::weft::{Follow, Quota, Route, SubmitRequest, submit_request};

use super::push::INLINE;
use super::{Decision, Ledger, record, used_up};
use crate::TaskId;
use crate::record::{Delivery, Head, Replay, Turn};
use crate::slot::Slot;
use crate::store::{Claimed, Commit, PushChange, Refused, Store, Stored};

/// Longest `Idempotency-Key`, in characters.
const KEY_CHARS_MAX: usize = 256;

/// A checked submit.
pub(crate) struct Sent {
    owner: Owner,
    message: Message,
    start: submit_request::Start,
    replays: Vec<Replay>,
    digest: Vec<u8>,
    modes: Vec<String>,
    traceparent: String,
    tracestate: String,
    pub(crate) follow: Follow,
    /// Say nothing of the task until the run has said something.
    pub(crate) hold: bool,
    pub(crate) wait_ms: u32,
    pub(crate) history: Option<usize>,
    /// A webhook that the task is to have.
    push: Option<TaskPushNotificationConfig>,
    quota: Quota,
}

/// Where a submit ended up.
pub(crate) struct Submitted {
    pub(crate) slot: Arc<Slot>,
    /// The turn the caller waits for.
    pub(crate) turn: u32,
}

impl Sent {
    /// Checks what does not need the store. `trace`: `traceparent` and `tracestate` of the caller's span.
    pub(crate) fn check(
        request: SubmitRequest,
        trace: (String, String),
        bytes_max: u64,
    ) -> Result<Sent, Fault> {
        let follow = request.follow();
        let owner = Owner::parse(request.owner)?;
        let SendMessageRequest { message, configuration, metadata, .. } = request.request.unwrap_or_default();
        let message = message.ok_or_else(|| Fault::invalid("message", "must be set"))?;
        if message.message_id.is_empty() {
            return Err(Fault::invalid("message.messageId", "must be set"));
        }
        let start =
            request.start.ok_or_else(|| Fault::invalid("start", "must be a route or a parked status"))?;
        let mut content = message.encode_to_vec();
        if content.len() as u64 > bytes_max {
            let text = format!(
                "the message has {} bytes, more than a task may ({bytes_max}, tasks.task_bytes_max)",
                content.len()
            );
            return Err(Fault::new(Kind::TooLarge, text));
        }
        content.extend_from_slice(&metadata.unwrap_or_default().encode_to_vec());
        let key = request.idempotency_key;
        if key.chars().count() > KEY_CHARS_MAX {
            return Err(Fault::invalid(
                "Idempotency-Key",
                format!("must have at most {KEY_CHARS_MAX} characters"),
            ));
        }
        let mut replays = Vec::new();
        if !key.is_empty() {
            replays.push(Replay { by_message: false, key });
        }
        if request.replay_by_message_id && message.task_id.is_empty() {
            replays.push(Replay { by_message: true, key: message.message_id.clone() });
        }
        let configuration = configuration.unwrap_or_default();
        if let Some(config) = &configuration.task_push_notification_config {
            webhook::admit(config, INLINE)?;
        }
        Ok(Sent {
            owner,
            digest: Sha256::digest(&content).to_vec(),
            message,
            start,
            replays,
            modes: configuration.accepted_output_modes,
            traceparent: trace.0,
            tracestate: trace.1,
            follow,
            hold: request.hold,
            wait_ms: request.wait_ms,
            history: history_length("configuration.historyLength", configuration.history_length)?,
            push: configuration.task_push_notification_config,
            quota: request.quota.unwrap_or_default(),
        })
    }

    /// True when the caller waits to hear of the task. One with a webhook wants to hear of a task.
    fn may_be_told_later(&self) -> bool {
        self.push.is_none() && (self.follow == Follow::Result || self.hold)
    }

    fn turn(&self, route: Option<Route>) -> Turn {
        Turn {
            message: None,
            route,
            traceparent: self.traceparent.clone(),
            tracestate: self.tracestate.clone(),
            accepted_output_modes: self.modes.clone(),
            digest: self.digest.clone(),
            replays: self.replays.clone(),
        }
    }

    /// How the next turn of a task with this route of its own begins.
    fn start_after(&self, own: Option<&Route>) -> (Start, Option<Route>) {
        let kept = |own: &Route, arguments: Option<_>| {
            let arguments = arguments.or_else(|| own.arguments.clone());
            (Start::Run, Some(Route { capability: own.capability.clone(), arguments, explicit: false }))
        };
        match (&self.start, own) {
            (submit_request::Start::Route(route), Some(own)) if !route.explicit => {
                kept(own, route.arguments.clone())
            }
            (submit_request::Start::Route(route), _) => (Start::Run, Some(route.clone())),
            (submit_request::Start::Parked(_), Some(own)) => kept(own, None),
            (submit_request::Start::Parked(status), None) => (Start::Parked(Box::new(status.clone())), None),
        }
    }
}

impl<S: Store> Ledger<S> {
    /// Writes a message down; answers when it is on disk, or known.
    pub(crate) async fn submit(&self, sent: &Arc<Sent>) -> Result<Submitted, Fault> {
        if self.env.stop().is_cancelled() {
            return Err(super::stopping());
        }
        if let Some(config) = &sent.push {
            self.outbox.guard.admit(&config.url, &format!("{INLINE}url")).await?;
        }
        let (ledger, sent) = (self.clone(), sent.clone());
        if sent.message.task_id.is_empty() {
            self.whole(Box::pin(async move { ledger.create(&sent).await })).await
        } else {
            self.whole(Box::pin(async move { ledger.go_on(&sent).await })).await
        }
    }

    async fn create(&self, sent: &Sent) -> Result<Submitted, Fault> {
        let (start, route) = sent.start_after(None);
        let place = match route {
            None => None,
            Some(_) => match self.queue.reserve() {
                Ok(place) => Some(place),
                // What is known already needs no place.
                Err(full) => return Box::pin(self.known(sent)).await?.ok_or(full),
            },
        };
        let id = self.env.id();
        let task_id = TaskId::parse(&id).ok_or_else(|| Fault::internal("a new id is not a UUID"))?;
        let context = match sent.message.context_id.as_str() {
            "" => self.env.id(),
            given => given.to_owned(),
        };
        let change = task::open(&id, &context, &sent.message, start, self.env.now())?;
        let mut head = Head::new(task_id, sent.owner.as_str(), &context);
        let push = match &sent.push {
            Some(config) => {
                let kept = self.kept(&sent.owner, &id, config).await?;
                head.pushes = 1;
                // From the first event on.
                Some(PushChange::Set(kept, Delivery::default()))
            }
            None => None,
        };
        begin_turn(&mut head, route.as_ref(), &sent.quota);
        head.version = 1;
        let record = record(&mut head, change, Some(sent.turn(route)));
        let head = Arc::new(head);
        let limits = self.limits(sent.owner.as_str(), &sent.quota);
        let record_of = record.clone();
        let commit =
            Commit { base: None, head: head.clone(), record: record_of, push, limits, session: None };
        let span = tracing::info_span!(target: "weft::tasks", "commit", weft.task.id = %id, weft.version = 1);
        // Before it can be seen: whoever sees it then is told of it.
        let slot = self.cache.slot(task_id);
        if sent.may_be_told_later() {
            slot.keep_quiet();
        }
        let written = async {
            match self.store.commit(commit.clone()).await {
                Err(Refused::Full(_)) => {
                    // What is over by now may make room.
                    self.reap().await;
                    self.store.commit(commit).await
                }
                done => done,
            }
        };
        match written.instrument(span).await {
            Ok(gone) => self.went(&gone),
            Err(refused) => {
                self.cache.forget(task_id);
                return match refused {
                    Refused::Taken(claimed) => Box::pin(self.replay(sent, claimed)).await,
                    refused => Err(self.refused(refused, limits)),
                };
            }
        }
        self.announce(&head, record.as_deref());
        let bytes = head.bytes;
        slot.fill(Stored::fold(head, record.into_iter().map(Arc::unwrap_or_clone).collect())).await;
        self.cache.weigh(task_id, bytes);
        if let Some(place) = place {
            place.put(task_id);
        }
        Ok(Submitted { slot, turn: 1 })
    }

    async fn go_on(&self, sent: &Sent) -> Result<Submitted, Fault> {
        let (slot, now) = self.slot_of(&sent.owner, &sent.message.task_id).await?;
        drop(now);
        if let Some(known) = Box::pin(self.known(sent)).await? {
            return Ok(known);
        }
        let kept = match &sent.push {
            Some(config) => Some(self.kept(&sent.owner, &sent.message.task_id, config).await?),
            None => None,
        };
        let _writer = slot.writer.lock().await;
        let setting = match kept {
            Some(push) => Some(self.setting(slot.id(), push).await?),
            None => None,
        };
        let mut place = None;
        let written = self
            .change(&slot, |now| {
                if now.turn.digest == sent.digest {
                    return Ok(None);
                }
                self.fits(sent, &now.task, &now.head)?;
                let (start, route) = sent.start_after(now.turn.route.as_ref());
                let runs = start == Start::Run;
                let change = task::next(&now.task, &sent.message, start, self.env.now())?;
                if runs && place.is_none() {
                    place = Some(self.queue.reserve()?);
                }
                let mut head = Head::clone(&now.head);
                begin_turn(&mut head, route.as_ref(), &sent.quota);
                let turn = sent.turn(route);
                let push = setting
                    .as_ref()
                    .map(|setting| {
                        setting.decide(&mut head, &turn, self.settings.push_configs_max, now.head.seq)
                    })
                    .transpose()?;
                let limits = self.limits(sent.owner.as_str(), &sent.quota);
                Ok(Some(Decision { change, head, turn: Some(turn), push, limits, session: None }))
            })
            .await?;
        drop(setting);
        if slot.now().is_some_and(|now| now.head.pushes > 0) {
            // Also what was left alone meanwhile.
            self.outbox.told(slot.id());
        }
        if let (true, Some(place)) = (written, place) {
            place.put(slot.id());
        }
        let turn = slot.now().map_or(0, |now| now.head.turn);
        drop(_writer);
        Ok(Submitted { slot, turn })
    }

    /// The task that a replay key leads to already.
    async fn known(&self, sent: &Sent) -> Result<Option<Submitted>, Fault> {
        for replay in &sent.replays {
            let claimed = self.store.replayed(sent.owner.as_str(), replay).await.map_err(super::broken)?;
            if let Some(claimed) = claimed {
                return self.replay(sent, claimed).await.map(Some);
            }
        }
        Ok(None)
    }

    async fn replay(&self, sent: &Sent, claimed: Claimed) -> Result<Submitted, Fault> {
        if claimed.digest != sent.digest {
            return Err(used_up());
        }
        // The owner's, since the key is; and nobody is told by that: the answer decides.
        let unknown = || Fault::task_not_found(&claimed.task.to_string());
        let slot = self.slot(claimed.task).await?.ok_or_else(unknown)?;
        let turn = slot.now().ok_or_else(unknown)?.head.turn;
        Ok(Submitted { slot, turn })
    }

    fn fits(&self, sent: &Sent, task: &Task, head: &Head) -> Result<(), Fault> {
        let (most, bytes_max) = (self.settings.messages_max as usize, self.settings.task_bytes_max);
        if task.history.len() + 2 > most {
            let text = format!(
                "the task holds {most} messages, the most it may (tasks.messages_max); start a new task"
            );
            return Err(Fault::new(Kind::TooLarge, text));
        }
        if head.bytes + sent.message.encoded_len() as u64 > bytes_max {
            let text = format!(
                "the task would have more than {bytes_max} bytes (tasks.task_bytes_max); start a new task"
            );
            return Err(Fault::new(Kind::TooLarge, text));
        }
        Ok(())
    }
}

fn begin_turn(head: &mut Head, route: Option<&Route>, quota: &Quota) {
    head.turn += 1;
    head.attempt = 1;
    head.started = false;
    head.ran_ms = 0;
    head.keep_hours = quota.keep_hours;
    head.capability = route.map(|route| route.capability.clone()).unwrap_or_default();
}
