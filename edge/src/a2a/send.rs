//! SendMessage and SendStreamingMessage: admit, choose where it goes, write it down, follow it.

use std::time::Duration;

use weft_core::route::{Choice, Index};
use weft_core::{Fault, message, tenant};
use weft_proto::a2a::{
    SendMessageRequest, SendMessageResponse, TaskStatus, send_message_response, stream_response,
};
use weft_proto::weft::submit_request::Start;
use weft_proto::weft::{Allowance, Capability, Follow, Quota, SubmitRequest, TaskEvent};

use super::events::{Close, Events, cut};
use super::{Operation, Scope, Stream, push};
use crate::upstreams::bounded;

/// Answers when the task is terminal or waits for its caller, at once when the caller wants that, and with the task as
/// it is when the longest wait is over.
pub(super) async fn send(
    scope: &Scope<'_>,
    request: SendMessageRequest,
) -> Result<SendMessageResponse, Fault> {
    let configuration = request.configuration.as_ref();
    let at_once = configuration.is_some_and(|c| c.return_immediately);
    let history_length = configuration.and_then(|c| c.history_length);
    let follow = if at_once { Follow::None } else { Follow::Result };
    let mut events = submit(scope, request, follow).await?;
    let event = events.next().await.unwrap_or_else(|| Err(cut()))?;
    answer(event, history_length)
}

/// Opens the stream of a message's task: the task first, then each event.
pub(super) async fn stream(scope: &Scope<'_>, request: SendMessageRequest) -> Result<Stream, Fault> {
    if !scope.edge.settings().streaming {
        return Err(Operation::not_streamed());
    }
    let permit = scope.edge.limits().stream(&scope.caller.who)?;
    let history_length = request.configuration.as_ref().and_then(|c| c.history_length);
    let events = submit(scope, request, Follow::Events).await?;
    Ok(Stream::new(scope, permit, events, history_length))
}

async fn submit(scope: &Scope<'_>, request: SendMessageRequest, follow: Follow) -> Result<Events, Fault> {
    let (edge, caller) = (scope.edge, scope.caller);
    message::admit(&request)?;
    let configuration = request.configuration.as_ref();
    if configuration.is_some_and(|c| c.task_push_notification_config.is_some()) {
        push::offered(scope)?;
    }
    let index = &scope.agent()?.index;
    let mut hold = false;
    let start = match index.choose(&request)? {
        Choice::Run(route) if caller.who.may_use(&route.capability) => {
            // A stream begins with a task or is one message: which, only the run can tell.
            hold = follow == Follow::Events && index.is_direct(&route);
            Start::Route(route)
        }
        // A task that has its way goes on with it, whatever its words are like.
        Choice::Run(route) if route.explicit || !is_follow_up(&request) => {
            return Err(caller.who.kept_from(&route.capability));
        }
        Choice::Run(_) | Choice::Ask => Start::Parked(menu(scope, index)),
    };
    let waits = hold || follow == Follow::Result;
    let wait_ms = if waits { edge.settings().send_wait_ms } else { 0 };
    let asked = SubmitRequest {
        owner: scope.owner.clone(),
        request: Some(request),
        start: Some(start),
        idempotency_key: caller.idempotency_key.clone(),
        replay_by_message_id: caller.replay_by_message_id,
        follow: follow.into(),
        wait_ms,
        hold,
        quota: quota(&caller.who.allowance),
    };
    let within = edge.upstream_time() + Duration::from_millis(u64::from(wait_ms));
    let stream = bounded(within, edge.tasks().submit(asked)).await?;
    Events::opened(stream, Close::Settled, within).await
}

fn is_follow_up(request: &SendMessageRequest) -> bool {
    request.message.as_ref().is_some_and(|message| !message.task_id.is_empty())
}

/// What can be asked by this caller.
fn menu(scope: &Scope<'_>, index: &Index) -> TaskStatus {
    let (id, who) = (scope.edge.env().id(), &scope.caller.who);
    if who.may_use_all() {
        return index.menu(id);
    }
    let may_use = |capability: &&Capability| match scope.tenant {
        "" => who.may_use(&capability.id),
        node => who.may_use(&tenant::route_id(node, &capability.id)),
    };
    Index::new(index.capabilities().iter().filter(may_use).cloned().collect()).menu(id)
}

/// What the caller may keep; nothing where the settings of the store hold.
fn quota(allowance: &Allowance) -> Option<Quota> {
    let quota = Quota {
        tasks_max: allowance.tasks_max,
        bytes_max: allowance.bytes_max,
        context_turns_max: allowance.context_turns_max,
        keep_hours: 0,
    };
    Some(quota).filter(|quota| *quota != Quota::default())
}

fn answer(event: TaskEvent, history_length: Option<i32>) -> Result<SendMessageResponse, Fault> {
    let payload = match event.body.and_then(|body| body.payload) {
        Some(stream_response::Payload::Task(mut task)) => {
            super::keep_history(&mut task, history_length);
            send_message_response::Payload::Task(task)
        }
        Some(stream_response::Payload::Message(message)) => send_message_response::Payload::Message(message),
        _ => return Err(Fault::internal("the task store answered with neither task nor message")),
    };
    Ok(SendMessageResponse { payload: Some(payload) })
}
