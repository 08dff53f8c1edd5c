//! The answer to a call, read event by event within its bounds.

use std::time::Duration;

use bytes::Bytes;
use tokio::time::Instant;
use weft_proto::json;
use weft_proto::weft::{InvokeEvent, InvokeResult, Progress, invoke_event};

use super::frames::{Frames, TooLarge};
use super::reply::{Reply, garbled, too_large};
use super::{Hop, Limits};
use crate::failure::Failure;
use crate::outcome::is_empty;

/// How long to wait for the end of a body whose last event was read, so that its connection can be used again.
const REST: Duration = Duration::from_secs(1);
/// Most bytes that are read for the same reason.
const REST_BYTES_MAX: usize = 64 * 1024;

/// One thing a node says.
#[derive(Debug)]
pub(crate) enum Event {
    Step(Progress),
    /// The last one.
    End(InvokeResult),
}

/// See the module. Dropped before its end, the call is cancelled.
pub(crate) struct Answer {
    reply: Reply,
    hop: Hop,
    /// `None`: the whole body is one result.
    frames: Option<Frames>,
    whole: Vec<u8>,
    deadline: Instant,
    silence: Duration,
    bytes: usize,
    bytes_max: usize,
    stepped: bool,
}

impl Answer {
    pub(super) fn new(reply: Reply, hop: Hop, deadline: Instant, limits: &Limits) -> Answer {
        let frames = reply.is_events().then(|| Frames::new(limits.event_bytes));
        Answer {
            reply,
            hop,
            frames,
            whole: Vec::new(),
            deadline,
            silence: limits.silence,
            bytes: 0,
            bytes_max: limits.answer_bytes,
            stepped: false,
        }
    }

    /// The next event. After an end or a failure there is none.
    pub(crate) async fn next(&mut self) -> Result<Event, Failure> {
        let event = self.read().await;
        match &event {
            Ok(Event::Step(_)) => self.stepped = true,
            Ok(Event::End(result)) => self.ended(result),
            Err(failure) => {
                self.hop.span.record("weft.response.bytes", self.bytes);
                self.hop.fail(failure);
            }
        }
        event
    }

    /// Reads what is left, so that the connection can be used again.
    pub(crate) async fn finish(mut self) {
        let rest = async {
            let mut bytes = 0;
            while let Ok(Some(chunk)) = self.reply.chunk().await {
                bytes += chunk.len();
                if bytes > REST_BYTES_MAX {
                    return;
                }
            }
        };
        // When it does not end in time the connection is closed instead.
        let _ = tokio::time::timeout(REST, rest).await;
    }

    async fn read(&mut self) -> Result<Event, Failure> {
        loop {
            if let Some(frames) = &mut self.frames {
                let data = frames.next().map_err(|TooLarge { bytes_max }| too_large(bytes_max))?;
                if let Some(data) = data {
                    return event(&data);
                }
            }
            match (self.chunk().await?, &mut self.frames) {
                (Some(chunk), Some(frames)) => frames.feed(&chunk),
                (Some(chunk), None) => self.whole.extend_from_slice(&chunk),
                (None, Some(_)) => return Err(Failure::Broken("it ended without a result".to_owned())),
                (None, None) => return json::decode(&self.whole).map(Event::End).map_err(garbled),
            }
        }
    }

    async fn chunk(&mut self) -> Result<Option<Bytes>, Failure> {
        let silent = Instant::now() + self.silence;
        let next = tokio::time::timeout_at(silent.min(self.deadline), self.reply.chunk()).await;
        let Ok(chunk) = next else {
            let over = if silent < self.deadline { "it fell silent" } else { "the whole call took too long" };
            return Err(Failure::Timeout(over.to_owned()));
        };
        let chunk = chunk?;
        self.bytes += chunk.as_ref().map_or(0, Bytes::len);
        if self.bytes > self.bytes_max {
            return Err(too_large(self.bytes_max));
        }
        Ok(chunk)
    }

    fn ended(&mut self, result: &InvokeResult) {
        self.hop.span.record("weft.response.bytes", self.bytes);
        match result {
            InvokeResult { ok: false, .. } => self.hop.fail(&Failure::of_result(result)),
            result if is_empty(result, self.stepped) => self.hop.end("empty"),
            _ => self.hop.end("ok"),
        }
    }
}

fn event(data: &[u8]) -> Result<Event, Failure> {
    match json::decode::<InvokeEvent>(data).map_err(garbled)?.event {
        Some(invoke_event::Event::Progress(step)) if step.step.is_some() => Ok(Event::Step(step)),
        Some(invoke_event::Event::Result(result)) => Ok(Event::End(result)),
        _ => Err(Failure::Garbage("an event that holds neither a step nor a result".to_owned())),
    }
}
