//! Handing work to workers, taking it back when a lease runs out, and taking it up again after a restart.

use std::time::Duration;

use futures::StreamExt;
use weft_core::Fault;
use weft_core::task::{self, Change};
use weft_proto::a2a::stream_response::Payload;
use weft_proto::weft::WorkItem;
use weft_proto::wkt::{self, Struct, Value};

use super::{Decision, Ledger, broken};
use crate::TaskId;
use crate::queue::Over;
use crate::record::Head;
use crate::slot::{Slot, Snapshot};
use crate::store::Store;

/// Why a turn that ran too long failed, for programs.
const TASK_TIMEOUT: &str = "task_timeout";
/// Tasks taken up at once after a restart.
const RECOVERED_AT_ONCE: usize = 64;

impl<S: Store> Ledger<S> {
    /// What a worker needs to run the task it was given; `None` when it is not to run any more.
    pub(crate) async fn item(&self, task: TaskId, lease: u64) -> Result<Option<WorkItem>, Fault> {
        let Some(slot) = self.slot(task).await? else { return Ok(None) };
        let Some(Snapshot { head, turn, .. }) = slot.now() else { return Ok(None) };
        if !head.is_running() {
            return Ok(None);
        }
        let left = self.store.session(&head.owner, &head.context, &head.capability);
        let session = left.await.map_err(broken)?.unwrap_or_default();
        Ok(Some(WorkItem {
            task_id: task.to_string(),
            context_id: head.context.clone(),
            owner: head.owner.clone(),
            lease,
            // Heard of as often as this asks for, a worker is in time for both phases.
            lease_ms: self.settings.lease_ms.min(self.settings.prepare_ms),
            attempt: head.attempt,
            idempotency_key: format!("{task}:{}", head.turn),
            route: turn.route.clone(),
            message: turn.message.clone(),
            traceparent: turn.traceparent.clone(),
            tracestate: turn.tracestate.clone(),
            accepted_output_modes: turn.accepted_output_modes.clone(),
            session,
        }))
    }

    /// Takes up what a former process left running. A run that was heard of counts as an attempt.
    pub(crate) async fn recover(&self) -> Result<(), Fault> {
        for base in self.store.forgetting() {
            self.finish_forgetting(&base).await?;
        }
        let left = self.store.running();
        let count = left.len();
        let mut taken_up = futures::stream::iter(left)
            .map(|head| async move {
                if head.started {
                    // How long that took is not known, and does not count.
                    return self.try_again(head.id(), "the process that ran it ended").await;
                }
                self.queue.put(head.id(), Duration::from_millis(head.ran_ms));
                Ok(())
            })
            .buffered(RECOVERED_AT_ONCE);
        while let Some(outcome) = taken_up.next().await {
            outcome?;
        }
        if count > 0 {
            tracing::info!(target: "weft::tasks", tasks = count, "took up unfinished tasks");
        }
        Ok(())
    }

    /// Takes tasks back from workers that are not heard of or take too long, for ever.
    pub(crate) async fn watch_leases(&self) {
        loop {
            let (task, lease) = self.queue.over().await;
            let ledger = self.clone();
            self.env.spawn(async move { ledger.end_run(task, lease).await });
        }
    }

    /// Does at once what [`Ledger::watch_leases`] would do now, and waits for what it is doing. Called before somebody is
    /// refused for want of room.
    pub(super) async fn reap(&self) {
        let over = self.queue.all_over();
        futures::future::join_all(over.iter().map(|(task, lease)| self.end_run(*task, *lease))).await;
        drop(self.ends_runs.write().await);
    }

    async fn end_run(&self, task: TaskId, lease: u64) {
        let slot = match self.slot(task).await {
            Ok(Some(slot)) => slot,
            // It was removed.
            Ok(None) => return self.queue.end(task, lease),
            // The store cannot be read any more, and the process ends.
            Err(_) => return,
        };
        // A write of the worker that is on its way renews the lease first.
        let _writer = slot.writer.lock().await;
        let _ends = self.ends_runs.read().await;
        let ended = match self.queue.revoke_over(task, lease) {
            None => return,
            Some(Over::Lost(ran)) => {
                self.meter.expired.inc();
                self.try_again_on(&slot, ran, "its worker was not heard of in time").await
            }
            Some(Over::TooLong) => {
                self.meter.timed_out.inc();
                self.time_out(&slot).await
            }
        };
        if let Err(fault) = ended {
            tracing::warn!(target: "weft::tasks", task = %task, error = %fault, "cannot take the task back");
        }
    }

    async fn try_again(&self, task: TaskId, why: &str) -> Result<(), Fault> {
        let Some(slot) = self.slot(task).await? else { return Ok(()) };
        let _writer = slot.writer.lock().await;
        let ran = slot.now().map_or(0, |now| now.head.ran_ms);
        self.try_again_on(&slot, Duration::from_millis(ran), why).await
    }

    /// Another attempt at a turn that ran this long, or the end when there were enough; the caller holds the writer.
    async fn try_again_on(&self, slot: &Slot, ran: Duration, why: &str) -> Result<(), Fault> {
        let most = self.settings.attempts_max;
        let mut again = false;
        self.change(slot, |now| {
            if !now.head.is_running() {
                return Ok(None);
            }
            let mut head = Head::clone(&now.head);
            again = head.attempt < most;
            if again {
                (head.attempt, head.started) = (head.attempt + 1, false);
                head.ran_ms = u64::try_from(ran.as_millis()).unwrap_or(u64::MAX);
                return Ok(Some(Decision::head_only(head)));
            }
            let reason = format!("gave up after {most} attempts (tasks.attempts_max): {why}");
            let change = task::fail(&now.task, self.env.id(), &reason, self.env.now());
            Ok(change.map(|change| Decision { change, ..Decision::head_only(head) }))
        })
        .await?;
        if again {
            self.queue.put(slot.id(), ran);
        }
        Ok(())
    }

    /// Ends a turn that ran too long; the caller holds the writer.
    async fn time_out(&self, slot: &Slot) -> Result<(), Fault> {
        let most = self.settings.run_ms_max;
        self.change(slot, |now| {
            if !now.head.is_running() {
                return Ok(None);
            }
            let reason = format!(
                "{TASK_TIMEOUT}: it ran for {most} ms, the longest it may (tasks.run_ms_max); ask for less or raise the bound"
            );
            let mut change = task::fail(&now.task, self.env.id(), &reason, self.env.now());
            change.iter_mut().for_each(|change| coded(change, TASK_TIMEOUT));
            let head = Head::clone(&now.head);
            Ok(change.map(|change| Decision { change, ..Decision::head_only(head) }))
        })
        .await
        .map(drop)
    }
}

/// Gives the last message of a change a code for programs, as those of runs have.
fn coded(change: &mut Change, code: &str) {
    let Some(Payload::StatusUpdate(update)) = change.events.last_mut().and_then(|e| e.payload.as_mut())
    else {
        return;
    };
    if let Some(message) = update.status.as_mut().and_then(|status| status.message.as_mut()) {
        let text = |text: &str| Value { kind: Some(wkt::Kind::String(text.to_owned())) };
        let own = Struct { fields: [("code".to_owned(), text(code))].into() };
        let own = Value { kind: Some(wkt::Kind::Struct(own)) };
        message.metadata = Some(Struct { fields: [("weft".to_owned(), own)].into() });
    }
}
