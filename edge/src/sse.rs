//! `text/event-stream` answers: frames as they come, a comment when nothing comes, nothing in between that could hold
//! them back.

use std::time::Duration;

use axum::body::Body;
use bytes::Bytes;
use futures::{Stream, StreamExt, stream};
use http::header::{CACHE_CONTROL, CONTENT_TYPE};
use http::{HeaderName, HeaderValue, Response};

/// Asks proxies (nginx first) not to gather the answer before they pass it on.
const X_ACCEL_BUFFERING: HeaderName = HeaderName::from_static("x-accel-buffering");
/// Ignored by every reader; keeps the connection from looking dead.
const COMMENT: Bytes = Bytes::from_static(b": keep-alive\n\n");

/// An answer made of frames, each a whole event. It ends when `frames` ends; dropping the answer drops `frames`.
pub(crate) fn answer(
    frames: impl Stream<Item = Bytes> + Send + 'static,
    keep_alive: Duration,
) -> Response<Body> {
    let kept_alive = stream::unfold(Box::pin(frames), move |mut frames| async move {
        match tokio::time::timeout(keep_alive, frames.next()).await {
            Ok(frame) => frame.map(|frame| (frame, frames)),
            Err(_) => Some((COMMENT, frames)),
        }
    });
    let mut answer = Response::new(Body::from_stream(kept_alive.map(Ok::<_, std::convert::Infallible>)));
    let headers = answer.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache, no-transform"));
    headers.insert(X_ACCEL_BUFFERING, HeaderValue::from_static("no"));
    answer
}

/// The beginning of a frame: `id: 7`, then `data: `. JSON has no line breaks of its own, so one line holds it.
pub(crate) fn begin(seq: Option<u64>, event: Option<&str>) -> Vec<u8> {
    let mut frame = Vec::with_capacity(512);
    if let Some(seq) = seq {
        frame.extend_from_slice(format!("id: {seq}\n").as_bytes());
    }
    if let Some(event) = event {
        frame.extend_from_slice(format!("event: {event}\n").as_bytes());
    }
    frame.extend_from_slice(b"data: ");
    frame
}

/// The end of a frame.
pub(crate) fn end(mut frame: Vec<u8>) -> Bytes {
    frame.extend_from_slice(b"\n\n");
    frame.into()
}

#[cfg(test)]
mod tests {
    use http_body_util::BodyExt;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_silent_stream_is_kept_alive_and_a_finished_one_ends() {
        let slow = stream::once(async {
            tokio::time::sleep(Duration::from_secs(40)).await;
            end(begin(Some(7), None))
        });
        let body = answer(slow, Duration::from_secs(15)).into_body().collect().await.unwrap().to_bytes();
        assert_eq!(body, ": keep-alive\n\n: keep-alive\n\nid: 7\ndata: \n\n");
    }
}
