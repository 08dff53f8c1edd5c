//! The operations of A2A v1.0 §3.1, free of any binding: typed call and caller in, typed reply, stream or fault out.
//!
//! Every binding goes through [`handle`], so that all of them behave alike.

mod call;
mod cancel;
mod events;
mod extended;
mod get;
mod list;
mod operation;
mod push;
mod send;
mod stream;
mod subscribe;

use std::sync::Arc;

use weft_core::Fault;
use weft_proto::a2a::Task;

pub(crate) use call::{Call, Reply};
use events::Events;
pub(crate) use operation::Operation;
pub(crate) use stream::Stream;

use crate::caller::{Activated, Caller};
use crate::card::Agent;
use crate::edge::Edge;
use crate::files::Outline;
use crate::upstreams::unavailable;

/// What an operation runs with.
struct Scope<'a> {
    edge: &'a Arc<Edge>,
    caller: &'a Caller,
    /// The agent that is asked; none until the catalog has been seen.
    agent: Option<&'a Agent>,
    /// The agent's name; empty: the mesh.
    tenant: &'a str,
    /// The owner in the agent's own space, as the task store knows it.
    owner: String,
}

// === impl Scope ===

impl Scope<'_> {
    /// The agent that is asked.
    ///
    /// # Errors
    /// `Unavailable` until the catalog has been seen.
    fn agent(&self) -> Result<&Agent, Fault> {
        self.agent.ok_or_else(unavailable)
    }
}

/// Runs one operation. The agent that is asked, and the extensions it requires, are judged first.
///
/// # Errors
/// The fault, the same on every binding.
pub(crate) async fn handle(
    edge: &Arc<Edge>,
    caller: &Caller,
    call: Call,
) -> Result<(Reply, Activated), Fault> {
    let view = edge.catalog().view();
    let agent = match &view {
        Ok(view) => Some(view.agent(call.tenant())?),
        // What is in the task store can be read and stopped without the catalog.
        Err(_) if call.tenant().is_empty() => None,
        Err(fault) => return Err(fault.clone()),
    };
    let extensions = agent.map_or(&[][..], |agent| &agent.extensions);
    caller.activates(extensions)?;
    if let Call::SendMessage(_) | Call::SendStreamingMessage(_) = &call {
        edge.limits().message(&caller.who)?;
    }
    let tenant = call.tenant().to_owned();
    let owner = caller.owner.in_tenant(&tenant).as_str().to_owned();
    let scope = Scope { edge, caller, agent, tenant: &tenant, owner };
    // In boxes: the caller moves what runs here, and each operation is some kilobytes.
    let mut reply = match call {
        Call::SendMessage(request) => Reply::Sent(Box::pin(send::send(&scope, request)).await?),
        Call::SendStreamingMessage(request) => {
            Reply::Stream(Box::new(Box::pin(send::stream(&scope, request)).await?))
        }
        Call::GetTask(request) => Reply::Task(Box::pin(get::get(&scope, request)).await?),
        Call::ListTasks(request) => Reply::Tasks(Box::pin(list::list(&scope, request)).await?),
        Call::CancelTask(request) => Reply::Task(Box::pin(cancel::cancel(&scope, request)).await?),
        Call::SubscribeToTask(request) => {
            Reply::Stream(Box::new(Box::pin(subscribe::subscribe(&scope, request)).await?))
        }
        Call::CreatePushConfig(request) => Reply::PushConfig(Box::pin(push::create(&scope, request)).await?),
        Call::GetPushConfig(request) => Reply::PushConfig(Box::pin(push::get(&scope, request)).await?),
        Call::FirstPushConfig(request) => Reply::PushConfig(Box::pin(push::first(&scope, request)).await?),
        Call::ListPushConfigs(request) => Reply::PushConfigs(Box::pin(push::list(&scope, request)).await?),
        Call::DeletePushConfig(request) => {
            Box::pin(push::delete(&scope, request)).await?;
            Reply::Deleted
        }
        Call::GetExtendedAgentCard(_) => Reply::Card(Box::new(extended::card(&scope)?)),
    };
    reply.outline(&Outline { edge, tenant: &tenant });
    if let Some(token) = caller.issued() {
        reply.tell(token);
    }
    Ok((reply, caller.activated(extensions)))
}

/// At most this many most recent messages of the history; unset: all (A2A v1.0 §3.2.4).
fn keep_history(task: &mut Task, length: Option<i32>) {
    let Some(keep) = length.and_then(|n| usize::try_from(n).ok()) else { return };
    let surplus = task.history.len().saturating_sub(keep);
    task.history.drain(..surplus);
}
