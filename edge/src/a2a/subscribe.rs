//! SubscribeToTask: a snapshot of the task, then what follows, until it is terminal.

use weft_core::{Fault, message};
use weft_proto::a2a::SubscribeToTaskRequest;
use weft_proto::weft::SubscribeRequest;

use super::events::{Close, Events};
use crate::caller::Caller;
use crate::edge::Edge;
use crate::upstreams::bounded;

/// Opens the stream. A caller that says which event it saw last gets the ones after it instead of a snapshot.
pub(crate) async fn subscribe(
    edge: &Edge,
    caller: &Caller,
    request: SubscribeToTaskRequest,
) -> Result<Events, Fault> {
    message::no_tenant(&request.tenant)?;
    message::required_id("id", &request.id)?;
    let asked = SubscribeRequest {
        owner: caller.owner.as_str().to_owned(),
        task_id: request.id,
        after: caller.last_event,
    };
    let within = edge.upstream_time();
    let stream = bounded(within, edge.tasks().subscribe(asked)).await?;
    // A returning reader may have seen everything there is: its next event may be long in coming.
    if caller.last_event.is_some() {
        return Ok(Events::resumed(stream, Close::Terminal));
    }
    Events::opened(stream, Close::Terminal, within).await
}
