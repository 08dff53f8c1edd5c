//! One call: the agent's events as they come, over the times it is away, until its task has ended or asks.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use futures::{Stream, StreamExt};
use tokio::time::{Instant, timeout, timeout_at};
use weft_client::{Event, Follow};
use weft_proto::weft::{InvokeEvent, InvokeResult, Progress, invoke_event};

use super::open::{Opened, Opening};
use super::told::Told;
use super::trouble::{failure, is_passing};
use super::{Remote, Trouble, Turn, pause};
use crate::failure::Failure;

/// How long a call waits to see whether the agent is there, before it begins to answer.
const FIRST: Duration = Duration::from_secs(8);

/// See the module.
pub(crate) struct Pursuit {
    remote: Arc<Remote>,
    turn: Turn,
    told: Told,
    source: Source,
    ready: VecDeque<Progress>,
    deadline: Instant,
    /// Tries in a row that found the agent away.
    tries: u32,
}

/// Where the next event comes from.
enum Source {
    /// What came of the opening is here already.
    Opened(Box<Result<Opened, Trouble>>),
    Opening(Opening),
    Open(Follow),
    /// The agent is away; it is tried again at this time.
    Away(Instant),
}

/// Why there is no further step.
enum Stopped {
    /// The tool has failed.
    Failed(Failure),
    /// The node stops: its task is taken up again elsewhere, or later.
    Node,
}

impl Pursuit {
    /// Begins: gives up at once when the agent is away and has not heard of the message.
    ///
    /// # Errors
    /// Why the agent cannot be reached.
    pub(crate) async fn begin(remote: Arc<Remote>, turn: Turn) -> Result<Pursuit, String> {
        let mut opening = remote.open(&turn);
        let (told, deadline) = (Told::new(&turn), Instant::now() + turn.within);
        let source = match timeout(FIRST.min(turn.within), &mut opening).await {
            Err(_) => Source::Opening(opening),
            Ok(Ok(Err(Trouble::Away { reason, begun: false }))) => return Err(reason),
            Ok(Ok(opened)) => Source::Opened(Box::new(opened)),
            Ok(Err(_)) => return Err("the node stops".to_owned()),
        };
        Ok(Pursuit { remote, turn, told, source, ready: VecDeque::new(), deadline, tries: 0 })
    }

    /// Steps, then the result. Without a result the node stops.
    pub(crate) fn events(self) -> impl Stream<Item = InvokeEvent> + Send {
        futures::stream::unfold(Some(self), |pursuit| async move {
            let mut pursuit = pursuit?;
            let result = match pursuit.next().await {
                Ok(Some(step)) => {
                    let event = invoke_event::Event::Progress(step);
                    return Some((InvokeEvent { event: Some(event) }, Some(pursuit)));
                }
                Ok(None) => InvokeResult { ok: true, ..InvokeResult::default() },
                Err(Stopped::Failed(failure)) => failure.result(),
                Err(Stopped::Node) => return None,
            };
            Some((InvokeEvent { event: Some(invoke_event::Event::Result(result)) }, None))
        })
    }

    async fn next(&mut self) -> Result<Option<Progress>, Stopped> {
        loop {
            if let Some(step) = self.ready.pop_front() {
                return Ok(Some(step));
            }
            if self.told.is_over() {
                return Ok(None);
            }
            let Ok(advanced) = timeout_at(self.deadline, self.advance()).await else {
                return Err(self.give_up(Failure::Timeout));
            };
            advanced?;
        }
    }

    async fn advance(&mut self) -> Result<(), Stopped> {
        match &mut self.source {
            Source::Opened(_) => {
                if let Source::Opened(opened) =
                    std::mem::replace(&mut self.source, Source::Away(self.deadline))
                {
                    self.opened(*opened)?;
                }
                Ok(())
            }
            Source::Opening(opening) => {
                let opened = opening.await.map_err(|_| Stopped::Node)?;
                self.opened(opened)
            }
            Source::Open(events) => match events.next().await {
                Some(Ok(event)) => self.take(event),
                Some(Err(error)) if !is_passing(&error) => Err(Stopped::Failed(failure(&error))),
                Some(Err(_)) => {
                    self.away("its stream was cut");
                    Ok(())
                }
                // A stream that ends well has told an end of its task.
                None => {
                    self.away("its stream ended before its task did");
                    Ok(())
                }
            },
            Source::Away(until) => {
                tokio::time::sleep_until(*until).await;
                self.source = Source::Opening(self.remote.open(&self.turn));
                Ok(())
            }
        }
    }

    fn opened(&mut self, opened: Result<Opened, Trouble>) -> Result<(), Stopped> {
        match opened {
            Ok(Opened { first, events }) => {
                self.source = Source::Open(events);
                first.map_or(Ok(()), |first| self.take(first))
            }
            Err(Trouble::Away { reason, .. }) => {
                self.away(&reason);
                Ok(())
            }
            Err(Trouble::Failed(failure)) => Err(Stopped::Failed(failure)),
        }
    }

    fn take(&mut self, event: Event) -> Result<(), Stopped> {
        self.tries = 0;
        self.ready.extend(self.told.take(event.body));
        if self.told.bytes() > self.turn.bytes_max {
            return Err(self.give_up(Failure::TooLarge(self.turn.bytes_max)));
        }
        Ok(())
    }

    /// Said once, however often it is tried.
    fn away(&mut self, reason: &str) {
        if self.tries == 0 {
            self.ready.push_back(self.told.away(reason));
        }
        self.source = Source::Away(Instant::now() + pause(self.tries));
        self.tries += 1;
    }

    /// Nobody waits for the agent's task any more.
    fn give_up(&self, failure: Failure) -> Stopped {
        let (remote, key) = (self.remote.clone(), self.turn.key.clone());
        self.remote.env.spawn(async move {
            // A failure was said.
            let _ = remote.cancel(&key).await;
        });
        Stopped::Failed(failure)
    }
}
