//! Events folded into a task, and a task cut to what a caller asked to see.

use weft_proto::a2a::stream_response::Payload;
use weft_proto::a2a::{StreamResponse, Task, TaskState};

use crate::artifact;

/// How much one task may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// Messages in history and status together.
    pub messages_max: usize,
    /// Artifacts.
    pub artifacts_max: usize,
}

/// Folds one event of a stream into what was read of it so far. A task replaces everything; a status replaces the
/// status, whose message then belongs to the history; an artifact update is folded by [`artifact::fold`]; a message answers instead of a task and ends it.
pub fn fold(task: &mut Task, event: &StreamResponse) {
    match &event.payload {
        Some(Payload::Task(whole)) => task.clone_from(whole),
        Some(Payload::StatusUpdate(update)) => {
            if let Some(said) = task.status.take().and_then(|status| status.message) {
                task.history.push(said);
            }
            task.status.clone_from(&update.status);
        }
        Some(Payload::ArtifactUpdate(update)) => artifact::fold(&mut task.artifacts, update),
        Some(Payload::Message(message)) => {
            task.history.push(message.clone());
            task.status.get_or_insert_default().state = TaskState::Completed.into();
        }
        None => {}
    }
}

/// The task as a caller asked to see it: at most the last `history` messages (`None`: all), artifacts or none.
pub fn show(task: &Task, history: Option<usize>, artifacts: bool) -> Task {
    let from = history.map_or(0, |most| task.history.len().saturating_sub(most));
    Task {
        id: task.id.clone(),
        context_id: task.context_id.clone(),
        status: task.status.clone(),
        artifacts: if artifacts { task.artifacts.clone() } else { Vec::new() },
        history: task.history[from..].to_vec(),
        metadata: task.metadata.clone(),
    }
}
