//! SubscribeToTask: a snapshot of the task, then what follows, until it is terminal.

use weft_core::{Fault, message};
use weft_proto::a2a::SubscribeToTaskRequest;
use weft_proto::weft::SubscribeRequest;

use super::events::{Close, Events};
use super::{Operation, Scope, Stream};
use crate::upstreams::bounded;

/// Opens the stream. A caller that says which event it saw last gets the ones after it instead of a snapshot.
pub(super) async fn subscribe(scope: &Scope<'_>, request: SubscribeToTaskRequest) -> Result<Stream, Fault> {
    let edge = scope.edge;
    if !edge.settings().streaming {
        return Err(Operation::not_streamed());
    }
    message::required_id("id", &request.id)?;
    let permit = edge.limits().stream(&scope.caller.who)?;
    let after = scope.caller.last_event;
    let asked = SubscribeRequest { owner: scope.owner.clone(), task_id: request.id, after };
    let within = edge.upstream_time();
    let stream = bounded(within, edge.tasks().subscribe(asked)).await.map_err(named_as_sent)?;
    let events = if after.is_some() {
        // A returning reader may have seen everything there is: its next event may be long in coming.
        Events::resumed(stream, Close::Terminal)
    } else {
        Events::opened(stream, Close::Terminal, within).await?
    };
    Ok(Stream::new(scope, permit, events, None))
}

/// The store calls `after` what the caller sent as a header.
fn named_as_sent(mut fault: Fault) -> Fault {
    for violation in fault.violations.iter_mut().filter(|violation| violation.field == "after") {
        violation.field = "Last-Event-ID".to_owned();
        fault.message = format!("{}: {}", violation.field, violation.description);
    }
    fault
}
