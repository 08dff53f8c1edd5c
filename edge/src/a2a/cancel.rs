//! CancelTask: asks for the end of a task's work.

use weft_core::{Fault, message};
use weft_proto::a2a::{CancelTaskRequest, Task};
use weft_proto::weft::CancelRequest;

use crate::caller::Caller;
use crate::edge::Edge;
use crate::upstreams::bounded;

/// Answers the canceled task.
pub(crate) async fn cancel(edge: &Edge, caller: &Caller, request: CancelTaskRequest) -> Result<Task, Fault> {
    message::no_tenant(&request.tenant)?;
    message::required_id("id", &request.id)?;
    let asked = CancelRequest {
        owner: caller.owner.as_str().to_owned(),
        task_id: request.id,
        metadata: request.metadata,
    };
    bounded(edge.upstream_time(), edge.tasks().cancel(asked)).await
}
