//! GetTask: the task as it is now.

use weft_core::{Fault, message};
use weft_proto::a2a::{GetTaskRequest, Task};
use weft_proto::weft::GetRequest;

use super::Scope;
use crate::upstreams::bounded;

/// Answers one of the caller's own tasks; anybody else's is as unknown as one that never was.
pub(super) async fn get(scope: &Scope<'_>, request: GetTaskRequest) -> Result<Task, Fault> {
    message::required_id("id", &request.id)?;
    message::history_length("historyLength", request.history_length)?;
    let asked = GetRequest {
        owner: scope.owner.clone(),
        task_id: request.id,
        history_length: request.history_length,
    };
    bounded(scope.edge.upstream_time(), scope.edge.tasks().get(asked)).await
}
