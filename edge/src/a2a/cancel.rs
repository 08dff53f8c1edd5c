//! CancelTask: asks for the end of a task's work.

use weft_core::{Fault, message};
use weft_proto::a2a::{CancelTaskRequest, Task};
use weft_proto::weft::CancelRequest;

use super::Scope;
use crate::upstreams::bounded;

/// Answers the canceled task.
pub(super) async fn cancel(scope: &Scope<'_>, request: CancelTaskRequest) -> Result<Task, Fault> {
    message::required_id("id", &request.id)?;
    let asked = CancelRequest { owner: scope.owner.clone(), task_id: request.id, metadata: request.metadata };
    bounded(scope.edge.upstream_time(), scope.edge.tasks().cancel(asked)).await
}
