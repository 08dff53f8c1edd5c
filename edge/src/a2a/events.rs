//! The events of one task on their way to one reader.

use std::time::Duration;

use tonic::Streaming;
use weft_core::{Fault, Kind};
use weft_proto::a2a::stream_response::Payload;
use weft_proto::a2a::{StreamResponse, TaskState};
use weft_proto::weft::TaskEvent;

use crate::upstreams::passed_on;

/// At which state a stream ends well.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Close {
    /// When the task is terminal or waits for its caller: the reply to a message (A2A v1.0 §11.7).
    Settled,
    /// When the task is terminal: a subscription outlives a wait for input.
    Terminal,
}

/// A stream of events. Dropping it drops the watch, never the work.
pub(crate) struct Events {
    /// Read already, to know that the stream begins well.
    first: Option<TaskEvent>,
    rest: Streaming<TaskEvent>,
    close: Close,
    ended_well: bool,
    over: bool,
}

impl Events {
    /// Waits for the first event, so that a refusal is known before any of the stream is sent.
    pub(crate) async fn opened(
        mut rest: Streaming<TaskEvent>,
        close: Close,
        within: Duration,
    ) -> Result<Events, Fault> {
        let first = tokio::time::timeout(within, rest.message())
            .await
            .map_err(|_| Fault::new(Kind::Deadline, "the mesh did not answer in time: try again"))?
            .map_err(|refused| passed_on(&refused))?
            .ok_or_else(cut)?;
        Ok(Events { first: Some(first), ..Events::resumed(rest, close) })
    }

    /// A stream whose first event may be long in coming.
    pub(crate) fn resumed(rest: Streaming<TaskEvent>, close: Close) -> Events {
        Events { first: None, rest, close, ended_well: false, over: false }
    }

    /// The next event; `None` after the last one. An end before the task has come to rest is a fault, once.
    pub(crate) async fn next(&mut self) -> Option<Result<TaskEvent, Fault>> {
        if self.over {
            return None;
        }
        let next = match self.first.take() {
            Some(first) => Ok(Some(first)),
            None => self.rest.message().await,
        };
        match next {
            Ok(Some(event)) => {
                self.ended_well = event.body.as_ref().is_some_and(|body| is_last(body, self.close));
                Some(Ok(event))
            }
            Ok(None) => {
                self.over = true;
                if self.ended_well { None } else { Some(Err(cut())) }
            }
            Err(refused) => {
                self.over = true;
                Some(Err(passed_on(&refused)))
            }
        }
    }
}

/// The stream ended before the task came to rest.
pub(crate) fn cut() -> Fault {
    let text = "the stream was cut before the task came to rest: go on with SubscribeToTask";
    Fault { retry_after_ms: Some(1_000), ..Fault::unavailable(text) }
}

fn is_last(body: &StreamResponse, close: Close) -> bool {
    let status = match &body.payload {
        Some(Payload::Task(task)) => task.status.as_ref(),
        Some(Payload::StatusUpdate(update)) => update.status.as_ref(),
        Some(Payload::Message(_)) => return true,
        Some(Payload::ArtifactUpdate(_)) | None => None,
    };
    let Some(state) = status.and_then(|s| TaskState::try_from(s.state).ok()) else { return false };
    match state {
        TaskState::Completed | TaskState::Failed | TaskState::Canceled | TaskState::Rejected => true,
        TaskState::InputRequired | TaskState::AuthRequired => close == Close::Settled,
        TaskState::Unspecified | TaskState::Submitted | TaskState::Working => false,
    }
}
