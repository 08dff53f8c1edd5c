//! Calls that are answered by a stream: each event in a full response object, a fault in the middle as the last one.

use std::sync::Arc;

use axum::body::Body;
use bytes::Bytes;
use futures::{Stream, stream};
use http::Response;
use tracing::Span;
use weft_core::Fault;
use weft_proto::a2a::stream_response::Payload;
use weft_proto::a2a::{SendMessageRequest, StreamResponse, SubscribeToTaskRequest};
use weft_proto::weft::TaskEvent;

use super::envelope::Id;
use super::error::Refusal;
use super::{begin_result, note_task, record};
use crate::a2a::{self, Events};
use crate::caller::Caller;
use crate::edge::Edge;
use crate::limits::Permit;
use crate::metrics::OpenStream;
use crate::{json, sse};

/// SendStreamingMessage. Until the first event is there, a fault is an ordinary answer.
pub(super) async fn send(
    edge: &Arc<Edge>,
    caller: &Caller,
    id: Id<'_>,
    request: SendMessageRequest,
) -> Result<Response<Body>, Refusal> {
    let permit = edge.limits().stream()?;
    let (events, history_length) = a2a::stream(edge, caller, request).await?;
    Ok(answer(edge, id, permit, events, history_length))
}

/// SubscribeToTask, likewise.
pub(super) async fn subscribe(
    edge: &Arc<Edge>,
    caller: &Caller,
    id: Id<'_>,
    request: SubscribeToTaskRequest,
) -> Result<Response<Body>, Refusal> {
    let permit = edge.limits().stream()?;
    note_task(&request.id);
    let events = a2a::subscribe(edge, caller, request).await?;
    Ok(answer(edge, id, permit, events, None))
}

fn answer(
    edge: &Arc<Edge>,
    id: Id<'_>,
    permit: Permit,
    events: Events,
    history_length: Option<i32>,
) -> Response<Body> {
    let reader = Reader {
        id: id.as_str().into(),
        events,
        history_length,
        edge: Arc::clone(edge),
        span: Span::current(),
        over: false,
        _permit: permit,
        _open: edge.counters().stream_opened(),
    };
    sse::answer(frames(reader), edge.keep_alive())
}

/// One reader of one stream; dropped with the connection.
struct Reader {
    id: Box<str>,
    events: Events,
    history_length: Option<i32>,
    edge: Arc<Edge>,
    span: Span,
    over: bool,
    _permit: Permit,
    _open: OpenStream,
}

fn frames(reader: Reader) -> impl Stream<Item = Bytes> + Send {
    stream::unfold(reader, |mut reader| async move {
        if reader.over {
            return None;
        }
        let frame = match reader.next().await? {
            Ok(frame) => frame,
            Err(refusal) => {
                reader.over = true;
                record(&reader.span, &refusal);
                let mut frame = sse::begin(None, None);
                frame.extend_from_slice(&refusal.envelope(reader.id()));
                sse::end(frame)
            }
        };
        Some((frame, reader))
    })
}

// === impl Reader ===

impl Reader {
    fn id(&self) -> Id<'_> {
        Id::of(&self.id)
    }

    async fn next(&mut self) -> Option<Result<Bytes, Refusal>> {
        let stop = self.edge.env().stop().clone();
        let event = tokio::select! {
            biased;
            event = self.events.next() => event?,
            () = stop.cancelled() => Err(stopping()),
        };
        Some(event.and_then(|event| self.frame(event)).map_err(Refusal::from))
    }

    fn frame(&self, event: TaskEvent) -> Result<Bytes, Fault> {
        let mut body = event.body.unwrap_or_default();
        if let StreamResponse { payload: Some(Payload::Task(task)) } = &mut body {
            self.span.record("weft.task.id", task.id.as_str());
            a2a::keep_history(task, self.history_length);
        }
        let mut frame = sse::begin(Some(event.seq), None);
        begin_result(self.id(), &mut frame);
        json::encode(&body, &mut frame)?;
        frame.push(b'}');
        Ok(sse::end(frame))
    }
}

/// The mesh stops: its readers come back to the next one.
fn stopping() -> Fault {
    let text = "the mesh is stopping, the work goes on: come back with SubscribeToTask";
    Fault { retry_after_ms: Some(1_000), ..Fault::unavailable(text) }
}
