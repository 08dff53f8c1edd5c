//! SendMessage and SendStreamingMessage: admit, choose where it goes, write it down, follow it.

use std::time::Duration;

use weft_core::{Fault, message, route::Choice};
use weft_proto::a2a::{
    SendMessageRequest, SendMessageResponse, Task, send_message_response, stream_response,
};
use weft_proto::weft::submit_request::Start;
use weft_proto::weft::{Follow, SubmitRequest, TaskEvent};

use super::events::{Close, Events};
use crate::caller::Caller;
use crate::edge::Edge;
use crate::upstreams::bounded;

/// Answers when the task is terminal or waits for its caller, at once when the caller wants that, and with the task as
/// it is when the longest wait is over.
pub(crate) async fn send(
    edge: &Edge,
    caller: &Caller,
    request: SendMessageRequest,
) -> Result<SendMessageResponse, Fault> {
    let configuration = request.configuration.as_ref();
    let at_once = configuration.is_some_and(|c| c.return_immediately);
    let history_length = configuration.and_then(|c| c.history_length);
    let follow = if at_once { Follow::None } else { Follow::Result };
    let mut events = submit(edge, caller, request, follow).await?;
    let event = events.next().await.unwrap_or_else(|| Err(super::events::cut()))?;
    answer(event, history_length)
}

/// Opens the stream of a message's task: the task first, then each event.
pub(crate) async fn stream(
    edge: &Edge,
    caller: &Caller,
    request: SendMessageRequest,
) -> Result<(Events, Option<i32>), Fault> {
    let history_length = request.configuration.as_ref().and_then(|c| c.history_length);
    Ok((submit(edge, caller, request, Follow::Events).await?, history_length))
}

async fn submit(
    edge: &Edge,
    caller: &Caller,
    request: SendMessageRequest,
    follow: Follow,
) -> Result<Events, Fault> {
    message::admit(&request)?;
    let view = edge.catalog().view()?;
    let start = match view.index.choose(&request)? {
        Choice::Run(route) => Start::Route(route),
        Choice::Ask => Start::Parked(view.index.menu(edge.env().id())),
    };
    drop(view);
    let wait_ms = if follow == Follow::Result { edge.settings().send_wait_ms } else { 0 };
    let asked = SubmitRequest {
        owner: caller.owner.as_str().to_owned(),
        request: Some(request),
        start: Some(start),
        idempotency_key: caller.idempotency_key.clone(),
        replay_by_message_id: caller.replay_by_message_id,
        follow: follow.into(),
        wait_ms,
    };
    let within = edge.upstream_time() + Duration::from_millis(u64::from(wait_ms));
    let stream = bounded(within, edge.tasks().submit(asked)).await?;
    Events::opened(stream, Close::Settled, within).await
}

fn answer(event: TaskEvent, history_length: Option<i32>) -> Result<SendMessageResponse, Fault> {
    let payload = match event.body.and_then(|body| body.payload) {
        Some(stream_response::Payload::Task(mut task)) => {
            keep_history(&mut task, history_length);
            send_message_response::Payload::Task(task)
        }
        Some(stream_response::Payload::Message(message)) => send_message_response::Payload::Message(message),
        _ => return Err(Fault::internal("the task store answered with neither task nor message")),
    };
    Ok(SendMessageResponse { payload: Some(payload) })
}

/// At most this many most recent messages of the history; unset: all (A2A v1.0 §3.2.4).
pub(crate) fn keep_history(task: &mut Task, length: Option<i32>) {
    let Some(keep) = length.and_then(|n| usize::try_from(n).ok()) else { return };
    let surplus = task.history.len().saturating_sub(keep);
    task.history.drain(..surplus);
}
