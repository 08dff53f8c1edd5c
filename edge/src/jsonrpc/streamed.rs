//! An answer that is a stream: each event in a full response object, a fault in the middle as the last one.

use axum::body::Body;
use bytes::Bytes;
use futures::stream;
use http::Response;
use weft_core::Fault;
use weft_proto::weft::TaskEvent;

use super::begin_result;
use super::dialect::Dialect;
use super::envelope::Id;
use crate::a2a::Stream;
use crate::sse;

/// Sends a stream to one reader, for whom every event has the id of its call.
pub(super) fn answer(id: Id<'_>, dialect: Dialect, stream: Box<Stream>) -> Response<Body> {
    let keep_alive = stream.edge().keep_alive();
    let id: Box<str> = id.as_str().into();
    let frames = stream::unfold((stream, id), move |(mut stream, id)| async move {
        let event = stream.next().await?;
        let frame = event.and_then(|event| framed(Id::of(&id), dialect, event)).unwrap_or_else(|fault| {
            let mut frame = sse::begin(None, None);
            frame.extend_from_slice(&dialect.refusal(fault).envelope(Id::of(&id)));
            sse::end(frame)
        });
        Some((frame, (stream, id)))
    });
    sse::answer(frames, keep_alive)
}

fn framed(id: Id<'_>, dialect: Dialect, event: TaskEvent) -> Result<Bytes, Fault> {
    let mut frame = sse::begin(Some(event.seq), None);
    begin_result(id, &mut frame);
    dialect.write_event(&event.body.unwrap_or_default(), &mut frame)?;
    frame.push(b'}');
    Ok(sse::end(frame))
}
