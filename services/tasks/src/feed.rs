//! Every status change of an owner's tasks, for whoever watches the owner.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use tokio::sync::broadcast;
use weft_core::Fault;
use weft_proto::a2a::stream_response::Payload;
use weft_proto::a2a::{StreamResponse, TaskState, TaskStatus};
use weft_proto::weft::FeedEvent;

use crate::record::Head;

/// Changes that a reader may lag behind before some are dropped for it.
const LAG_MAX: usize = 256;

/// The feeds that somebody reads.
#[derive(Default)]
pub(crate) struct Feeds {
    owners: Mutex<HashMap<String, broadcast::Sender<FeedEvent>>>,
}

impl Feeds {
    /// Starts reading an owner's changes.
    pub(crate) fn read(&self, owner: &str, feeds_max: u32) -> Result<broadcast::Receiver<FeedEvent>, Fault> {
        let mut owners = self.owners.lock().unwrap_or_else(PoisonError::into_inner);
        // Those nobody reads any more go when somebody comes.
        owners.retain(|_, sender| sender.receiver_count() > 0);
        let sender = owners.entry(owner.to_owned()).or_insert_with(|| broadcast::Sender::new(LAG_MAX));
        if sender.receiver_count() >= feeds_max as usize {
            return Err(Fault::exhausted(
                format!("{feeds_max} feeds of this owner are open, the most there may be (tasks.feeds_max)"),
                5_000,
            ));
        }
        Ok(sender.subscribe())
    }

    /// Tells the owner's readers of the statuses among these events.
    pub(crate) fn publish<'a>(&self, head: &Head, events: impl Iterator<Item = &'a StreamResponse>) {
        let owners = self.owners.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(sender) = owners.get(&head.owner) else { return };
        for event in events {
            let status = match &event.payload {
                Some(Payload::Task(task)) => task.status.clone(),
                Some(Payload::StatusUpdate(update)) => update.status.clone(),
                // Over, for whoever saw it begin; it is in no list.
                Some(Payload::Message(_)) => {
                    Some(TaskStatus { state: TaskState::Completed.into(), ..TaskStatus::default() })
                }
                _ => continue,
            };
            // An error only says that nobody reads.
            let _ = sender.send(FeedEvent {
                task_id: head.id().to_string(),
                context_id: head.context.clone(),
                status,
                capability: head.capability.clone(),
                lagged: false,
            });
        }
    }
}
