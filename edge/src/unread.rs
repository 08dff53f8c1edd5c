//! A body that was not read to its end.
//!
//! A refusal can be known before the body is. Over HTTP/1 the connection cannot be used again then: what is left of the
//! body would be taken for the next request, so the server closes it. The answer says so (RFC 9112 §9.6), or the client
//! would lose its next call on it.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};

use axum::body::Body;
use axum::extract::Request;
use axum::middleware::Next;
use bytes::Bytes;
use http::header::CONNECTION;
use http::{HeaderValue, Response, Version};
use http_body::{Body as _, Frame, SizeHint};

/// Runs a request and says in its answer when the connection ends with it.
pub(crate) async fn closes(request: Request, next: Next) -> Response<Body> {
    if request.version() > Version::HTTP_11 || request.body().is_end_stream() {
        return next.run(request).await;
    }
    let ended = Arc::new(AtomicBool::new(false));
    let seen = Arc::clone(&ended);
    let mut answer = next.run(request.map(|body| Body::new(Watched { body, ended }))).await;
    if !seen.load(Ordering::Acquire) {
        answer.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    }
    answer
}

/// A body that remembers whether it was read to its end.
struct Watched {
    body: Body,
    ended: Arc<AtomicBool>,
}

impl http_body::Body for Watched {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let polled = Pin::new(&mut self.body).poll_frame(context);
        if matches!(polled, Poll::Ready(None)) || self.body.is_end_stream() {
            self.ended.store(true, Ordering::Release);
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
