//! GetTask: the task as it is now.

use weft_core::{Fault, message};
use weft_proto::a2a::{GetTaskRequest, Task};
use weft_proto::weft::GetRequest;

use crate::caller::Caller;
use crate::edge::Edge;
use crate::upstreams::bounded;

/// Answers one of the caller's own tasks; anybody else's is as unknown as one that never was.
pub(crate) async fn get(edge: &Edge, caller: &Caller, request: GetTaskRequest) -> Result<Task, Fault> {
    message::no_tenant(&request.tenant)?;
    message::required_id("id", &request.id)?;
    message::history_length("historyLength", request.history_length)?;
    let asked = GetRequest {
        owner: caller.owner.as_str().to_owned(),
        task_id: request.id,
        history_length: request.history_length,
    };
    bounded(edge.upstream_time(), edge.tasks().get(asked)).await
}
