//! Handing work to workers, taking it back when a lease runs out, and taking it up again after a restart.

use futures::StreamExt;
use weft_core::Fault;
use weft_core::task;
use weft_proto::weft::WorkItem;

use super::{Decision, Ledger};
use crate::TaskId;
use crate::record::Head;
use crate::slot::{Slot, Snapshot};
use crate::store::Store;

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
        Ok(Some(WorkItem {
            task_id: task.to_string(),
            context_id: head.context.clone(),
            owner: head.owner.clone(),
            lease,
            lease_ms: self.settings.lease_ms,
            attempt: head.attempt,
            idempotency_key: format!("{task}:{}", head.turn),
            route: turn.route.clone(),
            message: turn.message.clone(),
            traceparent: turn.traceparent.clone(),
            tracestate: turn.tracestate.clone(),
            accepted_output_modes: turn.accepted_output_modes.clone(),
            session: String::new(),
        }))
    }

    /// Takes up what a former process left running. A run that was heard of counts as an attempt.
    pub(crate) async fn recover(&self) -> Result<(), Fault> {
        let left = self.store.running();
        let count = left.len();
        let mut taken_up = futures::stream::iter(left)
            .map(|head| async move {
                if head.started {
                    return self.try_again(head.id(), "the process that ran it ended").await;
                }
                self.queue.put(head.id());
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

    /// Takes tasks back from workers that are not heard of, for ever.
    pub(crate) async fn watch_leases(&self) {
        loop {
            let (task, lease) = self.queue.expired().await;
            let ledger = self.clone();
            self.env.spawn(async move { ledger.expire(task, lease).await });
        }
    }

    async fn expire(&self, task: TaskId, lease: u64) {
        let Ok(Some(slot)) = self.slot(task).await else { return };
        // A write of the worker that is on its way renews the lease first.
        let _writer = slot.writer.lock().await;
        if !self.queue.revoke_expired(task, lease) {
            return;
        }
        self.meter.expired.inc();
        if let Err(fault) = self.try_again_on(&slot, "its worker was not heard of in time").await {
            tracing::warn!(target: "weft::tasks", task = %task, error = %fault, "cannot take the task back");
        }
    }

    async fn try_again(&self, task: TaskId, why: &str) -> Result<(), Fault> {
        let Some(slot) = self.slot(task).await? else { return Ok(()) };
        let _writer = slot.writer.lock().await;
        self.try_again_on(&slot, why).await
    }

    /// Another attempt, or the end when there were enough; the caller holds the writer.
    async fn try_again_on(&self, slot: &Slot, why: &str) -> Result<(), Fault> {
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
                return Ok(Some(Decision::head_only(head)));
            }
            let reason = format!("gave up after {most} attempts (tasks.attempts_max): {why}");
            let change = task::fail(&now.task, self.env.id(), &reason, self.env.now());
            Ok(change.map(|change| Decision { change, ..Decision::head_only(head) }))
        })
        .await?;
        if again {
            self.queue.put(slot.id());
        }
        Ok(())
    }
}
