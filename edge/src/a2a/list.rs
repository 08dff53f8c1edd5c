//! ListTasks: a page of the caller's tasks.

use weft_core::{Fault, message};
use weft_proto::a2a::{ListTasksRequest, ListTasksResponse};
use weft_proto::weft::ListRequest;

use crate::caller::Caller;
use crate::edge::Edge;
use crate::upstreams::bounded;

/// Answers a page. Page size and token are the store's to judge: it knows what it has handed out.
pub(crate) async fn list(
    edge: &Edge,
    caller: &Caller,
    request: ListTasksRequest,
) -> Result<ListTasksResponse, Fault> {
    message::no_tenant(&request.tenant)?;
    message::history_length("historyLength", request.history_length)?;
    let asked = ListRequest { owner: caller.owner.as_str().to_owned(), request: Some(request) };
    bounded(edge.upstream_time(), edge.tasks().list(asked)).await
}
