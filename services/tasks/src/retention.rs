//! Ended tasks do not stay for ever: by age and by number, oldest first, a little at a time.

use std::time::Duration;

use crate::TaskId;
use crate::ledger::Ledger;
use crate::record::Head;
use crate::store::{Broken, Keep, Store};

/// Tasks removed in one step.
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
        let keep =
            Keep { hours: self.settings.keep_hours, anonymous_hours: self.settings.anonymous_keep_hours };
        loop {
            let over = self.store.over(keep, self.env.unix_ms(), STEP).await?;
            let mut gone = 0;
            for head in over {
                gone += usize::from(self.remove(head).await?);
            }
            // Where less went there is no more, or somebody writes to it and the next round finds it again.
            if gone < STEP {
                break;
            }
            tokio::time::sleep(PAUSE).await;
        }
        while self.store.tasks() > self.settings.keep_tasks {
            let mut gone = 0;
            while gone < STEP && self.store.tasks() > self.settings.keep_tasks {
                let Some(head) = self.store.oldest().await? else { return Ok(()) };
                if !self.remove(head).await? {
                    break;
                }
                gone += 1;
            }
            tokio::time::sleep(PAUSE).await;
        }
        Ok(())
    }

    async fn remove(&self, head: Head) -> Result<bool, Broken> {
        let task = head.id();
        let removed = self.store.remove(head).await?;
        if removed {
            self.went(&[task]);
        }
        Ok(removed)
    }

    /// Lets go of tasks that were removed.
    pub(crate) fn went(&self, tasks: &[TaskId]) {
        self.meter.removed.inc_by(tasks.len() as u64);
        tasks.iter().for_each(|task| self.forget(*task));
    }
}
