//! An answer that should be `text/event-stream`, turned into events.

use futures::stream;
use weft_proto::a2a::StreamResponse;

use super::Opened;
use crate::call::access_token;
use crate::error::Why;
use crate::fault::{self, About};
use crate::follow::Event;
use crate::http::{Response, media_type, read, why};
use crate::limits::Limits;
use crate::sse::Reader;

/// Takes an answer for a stream, of which `event` reads the data of one event. One that is none is the error it holds, or
/// no answer to this call.
pub(super) async fn open<R>(
    response: Response,
    limits: &Limits,
    about: About,
    event: R,
) -> Result<Opened, Why>
where
    R: Fn(&[u8], About) -> Result<StreamResponse, Why> + Send + 'static,
{
    let kind = media_type(response.headers());
    let status = response.status();
    if status.is_success() && kind == "text/event-stream" {
        let access_token = access_token(response.headers());
        let source = Source { response, reader: Reader::new(limits.event_bytes_max), about, event };
        let silence = limits.silence;
        let events = stream::unfold(Some(source), move |source| async move {
            let mut source = source?;
            let next = match tokio::time::timeout(silence, source.next()).await {
                Ok(next) => next?,
                Err(_) => Err(Why::Broken(format!("nothing came for {} s", silence.as_secs()))),
            };
            // After an error there is nothing more to read.
            let rest = next.is_ok().then_some(source);
            Some((next, rest))
        });
        return Ok(Opened { events: Box::pin(events), access_token });
    }
    let headers = response.headers().clone();
    let body = read(response, "the answer", limits.answer_bytes_max).await?;
    if !status.is_success() {
        return Err(fault::of_http(status, &headers, &body, about));
    }
    // A refusal before the stream begins.
    match event(&body, about) {
        Err(refused @ Why::Refused(_)) => Err(refused),
        _ => Err(Why::Malformed(not("a stream", &kind, &body))),
    }
}

struct Source<R> {
    response: Response,
    reader: Reader,
    about: About,
    event: R,
}

impl<R: Fn(&[u8], About) -> Result<StreamResponse, Why>> Source<R> {
    /// The next event; `None` when the agent ended the stream.
    async fn next(&mut self) -> Option<Result<Event, Why>> {
        loop {
            match self.reader.next_frame() {
                Ok(Some(frame)) => {
                    let body = (self.event)(&frame.data, self.about);
                    return Some(body.map(|body| Event { id: frame.id, body }));
                }
                Ok(None) => {}
                Err(error) => {
                    return Some(Err(Why::TooLarge { what: "an event", bytes_max: error.bytes_max }));
                }
            }
            match self.response.chunk().await {
                Ok(Some(chunk)) => self.reader.feed(&chunk),
                Ok(None) => return None,
                Err(error) => return Some(Err(why(&error))),
            }
        }
    }
}

/// Says that an answer is not what it should be, and what it looks like instead.
pub(super) fn not(wanted: &str, media_type: &str, body: &[u8]) -> String {
    let start: String = String::from_utf8_lossy(body).chars().filter(|c| !c.is_control()).take(120).collect();
    let kind = if media_type.is_empty() { "without a content type" } else { media_type };
    format!("it is not {wanted} but {kind}: {start}")
}
