//! The ledger's part: what has news, what is due, and one turn of one webhook.

use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use futures::stream::FuturesUnordered;
use reqwest::Url;
use tokio::time::Instant;
use tracing::{Instrument, Span};
use weft_chassis::trace;
use weft_core::task::{is_terminal, state_of};
use weft_proto::a2a::StreamResponse;
use weft_proto::json;

use super::call::{Call, Outcome};
use super::line::{Key, Next, Turn};
use super::retry;
use crate::TaskId;
use crate::ledger::Ledger;
use crate::record::{Push, Secrets};
use crate::store::{Broken, Store, Webhook};

/// Records read for one turn.
const RECORDS_AT_ONCE: usize = 16;
/// A turn that lasted this long lets others have one.
const TURN: Duration = Duration::from_secs(1);
/// Tasks whose webhooks are read at once.
const LOOKS_AT_ONCE: usize = 64;
/// Webhooks read in one step after a restart.
const STEP: usize = 256;
/// How long a call may go on when the mesh stops; one that is cut is made again.
const GRACE: Duration = Duration::from_secs(2);
/// Longest reason that is kept, in characters.
const ERROR_CHARS_MAX: usize = 300;

/// What became of one attempt.
enum Attempt {
    Made(Outcome),
    /// The webhook is changed, or the mesh stops.
    Stopped,
}

/// Where places are counted: scheme, host and port.
fn host(push: &Push) -> Arc<str> {
    Url::parse(&push.url).map_or_else(|_| "".into(), |url| url.origin().ascii_serialization().into())
}

impl<S: Store> Ledger<S> {
    /// Puts into line what a former process left undelivered.
    pub(crate) async fn take_up_pushes(&self) {
        let mut after = None;
        loop {
            match self.store.undelivered(after, STEP).await {
                Ok((found, more)) => {
                    found.into_iter().for_each(|webhook| self.put_in_line(&webhook));
                    match more {
                        Some(next) => after = Some(next),
                        None => return,
                    }
                }
                Err(broken) => return tracing::warn!(target: "weft::tasks", error = %broken, "webhooks stay"),
            }
        }
    }

    /// Puts into line what is committed, for ever.
    pub(crate) async fn watch_pushes(&self) {
        let mut looks = FuturesUnordered::new();
        loop {
            tokio::select! {
                Some(()) = looks.next(), if !looks.is_empty() => {}
                task = self.outbox.next_news(), if looks.len() < LOOKS_AT_ONCE => looks.push(self.look(task)),
            }
        }
    }

    async fn look(&self, task: TaskId) {
        match self.store.webhooks(task).await {
            Ok(webhooks) => webhooks.iter().for_each(|webhook| self.put_in_line(webhook)),
            Err(broken) => tracing::warn!(target: "weft::tasks", %task, error = %broken, "webhooks stay"),
        }
    }

    fn put_in_line(&self, webhook: &Webhook) {
        let Webhook { task, push, delivery, last } = webhook;
        if delivery.is_over() || delivery.delivered >= *last {
            return;
        }
        let wait = delivery.next_try_ms.saturating_sub(self.env.unix_ms());
        let wait = Duration::from_millis(u64::try_from(wait).unwrap_or(0));
        // A clock that was set back must not keep it waiting for longer than any wait may be.
        let wait = wait.min(Duration::from_millis(u64::from(self.settings.push_retry_ms_max)));
        let key = Key { task: *task, id: push.id.as_str().into() };
        self.outbox.line.put(&key, &host(push), Instant::now() + wait);
        self.count_pending();
    }

    fn count_pending(&self) {
        self.meter.pushes_pending.set(i64::try_from(self.outbox.line.len()).unwrap_or(i64::MAX));
    }

    /// Gives webhooks their turns, for ever.
    pub(crate) async fn deliver(&self) {
        loop {
            let turn = self.outbox.line.next().await;
            let ledger = self.clone();
            self.env.spawn(async move {
                let next = ledger.turn(&turn).await.unwrap_or_else(|broken| {
                    tracing::warn!(target: "weft::tasks", task = %turn.key.task, error = %broken, "a webhook stays");
                    Next::Rest
                });
                turn.end(next);
                ledger.count_pending();
            });
        }
    }

    async fn turn(&self, turn: &Turn) -> Result<Next, Broken> {
        let Key { task, id } = &turn.key;
        let Some(mut webhook) = self.store.webhook(*task, id).await? else { return Ok(Next::Rest) };
        if webhook.delivery.is_over() || webhook.delivery.delivered >= webhook.last {
            return Ok(Next::Rest);
        }
        let secrets = match self.outbox.secrets(*task, &webhook.push).await {
            Ok(secrets) => secrets,
            Err(fault) => return self.failed(webhook, Outcome::Failed(fault.message, None)).await,
        };
        let began = Instant::now();
        let records = self.store.records(*task, webhook.delivery.delivered + 1, RECORDS_AT_ONCE).await?;
        for record in records {
            if let Some(turn) = &record.turn {
                webhook.delivery.traceparent.clone_from(&turn.traceparent);
                webhook.delivery.tracestate.clone_from(&turn.tracestate);
            }
            for (seq, event) in record.published() {
                if seq <= webhook.delivery.delivered {
                    continue;
                }
                match self.attempt(turn, &webhook, &secrets, seq, &event).await {
                    Attempt::Stopped => return Ok(Next::Rest),
                    Attempt::Made(Outcome::Delivered) => {}
                    Attempt::Made(outcome) => return self.failed(webhook, outcome).await,
                }
                if !self.delivered(&mut webhook, seq, &event).await? || self.env.stop().is_cancelled() {
                    return Ok(Next::Rest);
                }
                if began.elapsed() > TURN {
                    return Ok(Next::Again);
                }
            }
        }
        Ok(if webhook.delivery.delivered < webhook.last { Next::Again } else { Next::Rest })
    }

    /// Notes a delivery; false when the webhook is gone.
    async fn delivered(
        &self,
        webhook: &mut Webhook,
        seq: u64,
        event: &StreamResponse,
    ) -> Result<bool, Broken> {
        let delivery = &mut webhook.delivery;
        (delivery.delivered, delivery.attempts) = (seq, 0);
        (delivery.failing_since_ms, delivery.next_try_ms) = (0, 0);
        delivery.error.clear();
        delivery.done = state_of(event).is_some_and(is_terminal);
        self.store.note(webhook).await
    }

    /// Notes a failed attempt; says when the next one is due.
    async fn failed(&self, mut webhook: Webhook, outcome: Outcome) -> Result<Next, Broken> {
        let now_ms = self.env.unix_ms();
        let delivery = &mut webhook.delivery;
        delivery.attempts = delivery.attempts.saturating_add(1);
        if delivery.attempts == 1 {
            delivery.failing_since_ms = now_ms;
        }
        let (why, next) = match outcome {
            Outcome::Failed(why, asked) => {
                let mut chance = [0; 4];
                self.env.fill(&mut chance);
                let chance = u32::from_be_bytes(chance);
                (why, retry::next(&self.settings, delivery.attempts, asked, chance))
            }
            _ => ("it answered HTTP status 410: it wants no further event".to_owned(), retry::Next::GiveUp),
        };
        delivery.error = why.chars().take(ERROR_CHARS_MAX).collect();
        let next = match next {
            retry::Next::After(wait) => {
                delivery.next_try_ms =
                    now_ms.saturating_add(i64::try_from(wait.as_millis()).unwrap_or(i64::MAX));
                Next::At(Instant::now() + wait)
            }
            retry::Next::GiveUp => {
                (delivery.given_up, delivery.next_try_ms) = (true, 0);
                Next::Rest
            }
        };
        let (task, attempts) = (webhook.task, delivery.attempts);
        let (error, host) = (delivery.error.clone(), host(&webhook.push));
        if !self.store.note(&webhook).await? {
            return Ok(Next::Rest);
        }
        if webhook.delivery.given_up {
            self.meter.pushes_given_up.inc();
            tracing::warn!(target: "weft::tasks", %task, webhook = %webhook.push.id, %host, attempts, error, "gave up a webhook");
        } else {
            tracing::info!(target: "weft::tasks", %task, webhook = %webhook.push.id, %host, attempts, error, "a webhook failed and is tried again");
        }
        Ok(next)
    }

    async fn attempt(
        &self,
        turn: &Turn,
        webhook: &Webhook,
        secrets: &Secrets,
        seq: u64,
        event: &StreamResponse,
    ) -> Attempt {
        let delivery = &webhook.delivery;
        let span = span_of(webhook, seq);
        let (parent, state) = trace::texts(&span);
        let trace = if parent.is_empty() {
            (delivery.traceparent.as_str(), delivery.tracestate.as_str())
        } else {
            (parent.as_str(), state.as_str())
        };
        let body = match json::encode(event) {
            Ok(body) => body,
            Err(fault) => {
                let why = format!("the event cannot be written as JSON: {fault}");
                return Attempt::Made(Outcome::Failed(why, None));
            }
        };
        let call = Call { push: &webhook.push, secrets, trace, body };
        let calling = self.outbox.caller.call(call, self.env.unix_ms()).instrument(span);
        let stopped = async {
            self.env.stop().cancelled().await;
            tokio::time::sleep(GRACE).await;
        };
        tokio::select! {
            biased;
            () = turn.stop.cancelled() => Attempt::Stopped,
            outcome = calling => {
                self.meter.pushes.get_or_create(&[("outcome", outcome.name())]).inc();
                Attempt::Made(outcome)
            }
            () = stopped => Attempt::Stopped,
        }
    }
}

/// One call, in the trace of the message that caused its event; a call never begins a trace.
fn span_of(webhook: &Webhook, seq: u64) -> Span {
    let delivery = &webhook.delivery;
    if delivery.traceparent.is_empty() {
        return Span::none();
    }
    let span = tracing::info_span!(
        target: "weft::tasks",
        "push",
        otel.kind = "client",
        weft.task.id = %webhook.task,
        weft.webhook = webhook.push.id,
        weft.event = seq,
    );
    if !span.is_disabled() {
        trace::adopt_texts(&span, &delivery.traceparent, &delivery.tracestate);
    }
    span
}
