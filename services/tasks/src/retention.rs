//! Ended tasks do not stay for ever: by age and by number, oldest first, a little at a time.

use std::time::Duration;

use crate::TaskId;
use crate::ledger::Ledger;
use crate::record::Head;
use crate::store::{Broken, Store};

/// Tasks looked at in one step.
const STEP: usize = 128;
/// Between two steps while there is more to do, and between two rounds.
const PAUSE: Duration = Duration::from_millis(50);
const ROUND: Duration = Duration::from_secs(60);

impl<S: Store> Ledger<S> {
    /// Removes what is over its time, for ever.
    pub(crate) async fn retain(&self) {
        loop {
            tokio::time::sleep(ROUND).await;
            if let Err(broken) = self.retain_once().await {
                tracing::warn!(target: "weft::tasks", error = %broken, "retention stopped");
                return;
            }
        }
    }

    /// One round.
    pub(crate) async fn retain_once(&self) -> Result<(), Broken> {
        let keep_ms = i64::from(self.settings.keep_hours) * 3_600_000;
        let cutoff = self.env.unix_ms() - keep_ms;
        // A task made after the cut-off cannot have ended before it.
        self.sweep(cutoff, |head| head.status_ms < cutoff).await?;
        let keep = self.settings.keep_tasks;
        if self.store.tasks() > keep {
            self.sweep(i64::MAX, |_| self.store.tasks() > keep).await?;
        }
        Ok(())
    }

    async fn sweep(&self, before_ms: i64, goes: impl Fn(&Head) -> bool) -> Result<(), Broken> {
        let mut after = None;
        loop {
            let (heads, more) = self.store.ended(after, before_ms, STEP).await?;
            for head in heads {
                if goes(&head) {
                    self.remove(head).await?;
                }
            }
            match more {
                Some(next) => after = Some(next),
                None => return Ok(()),
            }
            tokio::time::sleep(PAUSE).await;
        }
    }

    async fn remove(&self, head: Head) -> Result<(), Broken> {
        let task: TaskId = head.id();
        if self.store.remove(head).await? {
            self.meter.removed.inc();
            self.forget(task);
        }
        Ok(())
    }
}
