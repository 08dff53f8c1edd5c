//! Plays a rule on the clock.

use std::time::Duration;

use futures::Stream;
use tokio::time::Instant;
use weft_proto::weft::{InvokeEvent, invoke_event};

use super::play::{Play, Said};
use crate::failure::Failure;

/// Events of a play as they come, at most for `within`. The stream ends with a result, or without one when the
/// scenario has the node break. Dropping it ends the play.
pub(crate) fn play(play: Play, within: Duration) -> impl Stream<Item = InvokeEvent> + Send {
    let deadline = Instant::now() + within;
    futures::stream::unfold(Some(play), move |play| async move {
        let mut play = play?;
        loop {
            let beat = play.next()?;
            let due = Instant::now() + Duration::from_millis(beat.delay_ms);
            if due > deadline {
                tokio::time::sleep_until(deadline).await;
                return Some((event(invoke_event::Event::Result(Failure::Timeout.result())), None));
            }
            if beat.delay_ms > 0 {
                tokio::time::sleep_until(due).await;
            }
            match beat.said {
                Said::Nothing => {}
                Said::Step(step) => return Some((event(invoke_event::Event::Progress(step)), Some(play))),
                Said::End(result) => return Some((event(invoke_event::Event::Result(result)), None)),
                Said::Drop => return None,
            }
        }
    })
}

fn event(event: invoke_event::Event) -> InvokeEvent {
    InvokeEvent { event: Some(event) }
}
