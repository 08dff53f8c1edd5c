//! ListTasks: a page of the caller's tasks.

use weft_core::{Fault, message};
use weft_proto::a2a::{ListTasksRequest, ListTasksResponse};
use weft_proto::weft::ListRequest;

use super::Scope;
use crate::upstreams::bounded;

/// Answers a page. Page size and token are the store's to judge: it knows what it has handed out.
pub(super) async fn list(scope: &Scope<'_>, request: ListTasksRequest) -> Result<ListTasksResponse, Fault> {
    message::history_length("historyLength", request.history_length)?;
    let asked = ListRequest { owner: scope.owner.clone(), request: Some(request) };
    bounded(scope.edge.upstream_time(), scope.edge.tasks().list(asked)).await
}
