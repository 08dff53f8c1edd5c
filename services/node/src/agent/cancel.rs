//! The remote task canceled with ours: remembered first, then tried until the agent has answered.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;
use tracing::Instrument;
use weft_core::Kind;
use weft_proto::a2a::CancelTaskRequest;

use super::lost::Fate;
use super::memory::Kept;
use super::trouble::is_passing;
use super::{Remote, Trouble, call, pause};
use crate::failure::Failure;

/// How long an agent that is away is asked again.
const WITHIN: Duration = Duration::from_secs(60 * 60);

impl Remote {
    /// Has the remote task of a turn canceled, in the background; also one whose id is not known yet.
    ///
    /// # Errors
    /// When that cannot be written down.
    pub(crate) async fn cancel(self: &Arc<Self>, key: &str) -> Result<(), Failure> {
        // A message that is on its way is written down by whoever sends it; it is marked below.
        self.memory.cancel(key).await?;
        self.carry_out(key.to_owned());
        Ok(())
    }

    /// Takes up what was to be canceled when the node was stopped.
    pub(crate) fn take_up_cancels(self: &Arc<Self>) {
        let remote = self.clone();
        self.env.spawn(async move {
            let left = remote.memory.to_cancel().await.unwrap_or_default();
            for kept in left.into_iter().filter(|kept| kept.agent == remote.spec.url) {
                remote.carry_out(kept.key);
            }
        });
    }

    fn carry_out(self: &Arc<Self>, key: String) {
        let (remote, stop) = (self.clone(), self.env.stop().clone());
        let work = async move {
            let work = async {
                let _gate = remote.gates.enter(&key).await;
                // Without a record the agent has not heard of it; that it cannot be read was said.
                if let Ok(Some(kept)) = remote.memory.cancel(&key).await {
                    remote.insist(&kept).await;
                }
            };
            tokio::select! {
                () = work => {}
                () = stop.cancelled() => {}
            }
        };
        self.env.spawn(work.in_current_span());
    }

    async fn insist(&self, kept: &Kept) {
        let until = Instant::now() + WITHIN;
        for n in 0.. {
            match self.ask_to_cancel(kept).await {
                Ok(()) => break,
                Err(reason) if Instant::now() < until => {
                    tracing::debug!(reason, "a remote task is not canceled yet");
                    tokio::time::sleep(pause(n)).await;
                }
                Err(reason) => {
                    tracing::warn!(reason, task = kept.remote_task, "gave up canceling a remote task");
                    break;
                }
            }
        }
        // A failure was said; the next start tries once more.
        let _ = self.memory.canceled(&kept.key).await;
    }

    /// # Errors
    /// Why it is worth trying again.
    async fn ask_to_cancel(&self, kept: &Kept) -> Result<(), String> {
        use Trouble::{Away, Failed};
        let agent = match self.connect(true).await {
            Ok(agent) => agent,
            Err(Away { reason, .. }) => return Err(reason),
            Err(Failed(failure)) => return given_up(kept, &failure),
        };
        let id = if kept.remote_task.is_empty() {
            match self.fate(&agent, kept).await {
                Ok(Fate::Taken { task_id, .. }) => task_id,
                // Nothing shows that the agent took the message.
                Ok(_) => return Ok(()),
                Err(Away { reason, .. }) => return Err(reason),
                Err(Failed(failure)) => return given_up(kept, &failure),
            }
        } else {
            kept.remote_task.clone()
        };
        let request = CancelTaskRequest { id, ..CancelTaskRequest::default() };
        match agent.cancel_task(request, &call(self.spec.timeout)).await {
            Ok(_) => Ok(()),
            Err(error) if is_passing(&error) => Err(error.to_string()),
            // It has ended already, or is gone.
            Err(error) if matches!(error.kind(), Kind::TaskNotCancelable | Kind::TaskNotFound) => Ok(()),
            Err(error) => given_up(kept, &error),
        }
    }
}

fn given_up(kept: &Kept, why: &dyn std::fmt::Display) -> Result<(), String> {
    tracing::warn!(%why, task = kept.remote_task, "a remote task cannot be canceled");
    Ok(())
}
