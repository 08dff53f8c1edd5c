//! A message sent, or its task taken up again.

use std::sync::Arc;

use futures::StreamExt;
use tokio::sync::oneshot;
use tracing::Instrument;
use weft_client::{Agent as Reached, Event, Follow};
use weft_proto::a2a::stream_response::Payload;
use weft_proto::a2a::{SendMessageRequest, StreamResponse};

use super::connect::keeps_keys;
use super::lost::Fate;
use super::memory::{Kept, Recalled};
use super::trouble::{failure, is_passing};
use super::{Remote, Trouble, Turn, message_id};
use crate::failure::Failure;

/// The events of a turn from here on.
pub(crate) struct Opened {
    /// One that was read already.
    pub(super) first: Option<Event>,
    pub(super) events: Follow,
}

/// What comes of an opening; nothing when the mesh stops.
pub(crate) type Opening = oneshot::Receiver<Result<Opened, Trouble>>;

impl Remote {
    /// Sends the message of a turn, or takes its task up again. Goes on when the receiver is gone, until it is written
    /// down which task the message became.
    pub(crate) fn open(self: &Arc<Self>, turn: &Turn) -> Opening {
        let (told, opening) = oneshot::channel();
        let (remote, turn, stop) = (self.clone(), turn.clone(), self.env.stop().clone());
        let span = tracing::info_span!(
            target: "weft::node",
            "agent",
            otel.name = "ask a remote agent",
            otel.kind = "client",
            weft.task.id = turn.task_id,
            weft.remote.task.id = tracing::field::Empty,
        );
        let work = async move {
            tokio::select! {
                opened = remote.opened(&turn) => {
                    // Whoever asked may have left meanwhile; then the stream is dropped, and the task stays known.
                    let _ = told.send(opened);
                }
                () = stop.cancelled() => {}
            }
        };
        self.env.spawn(work.instrument(span));
        opening
    }

    async fn opened(&self, turn: &Turn) -> Result<Opened, Trouble> {
        let _gate = self.gates.enter(&turn.key).await;
        let Recalled { this, before } = self.memory.recall(&turn.key, &turn.task_id).await?;
        if let Some(kept) = this.as_ref().or(before.as_ref()) {
            self.check_place(kept)?;
        }
        let agent = self.connect(this.is_some()).await?;
        self.check_skill(&agent, turn)?;
        let kept = match this {
            Some(kept) if kept.taken => return Ok(self.take_up(&agent, turn, &kept.remote_task)),
            Some(kept) if keeps_keys(&agent) => kept,
            Some(kept) => match self.fate(&agent, &kept).await? {
                Fate::Taken { task_id, context_id } => {
                    self.memory.taken(&turn.key, &task_id, &context_id).await?;
                    return Ok(self.take_up(&agent, turn, &task_id));
                }
                Fate::NotTaken => kept,
                Fate::Unknown => return Err(lost(turn).into()),
            },
            None => {
                let kept = Kept {
                    key: turn.key.clone(),
                    agent: self.spec.url.clone(),
                    taken: false,
                    remote_task: before.as_ref().map_or_else(String::new, |kept| kept.remote_task.clone()),
                    remote_context: before.map_or_else(String::new, |kept| kept.remote_context),
                };
                self.memory.begin(kept.clone(), &turn.task_id).await?;
                kept
            }
        };
        self.send(&agent, turn, &kept).await
    }

    /// Another agent than the one that has the task is not asked in its place.
    fn check_place(&self, kept: &Kept) -> Result<(), Failure> {
        if kept.agent == self.spec.url {
            return Ok(());
        }
        let text = format!(
            "its task {} lies at the agent that stood behind this node before: put agent.url back, or send a new \
             message",
            kept.remote_task
        );
        Err(Failure::Agent { code: "AGENT_CHANGED", text })
    }

    fn take_up(&self, agent: &Reached, turn: &Turn, task_id: &str) -> Opened {
        tracing::Span::current().record("weft.remote.task.id", task_id);
        Opened { first: None, events: agent.follow(task_id, &turn.call(self.spec.timeout)) }
    }

    async fn send(&self, agent: &Reached, turn: &Turn, kept: &Kept) -> Result<Opened, Trouble> {
        let request = SendMessageRequest {
            message: Some(turn.message(&kept.remote_task, &kept.remote_context)),
            ..SendMessageRequest::default()
        };
        // An agent that does not stream may answer only when its work is done.
        let within = if agent.streams() { self.spec.timeout } else { turn.within };
        let mut events = match agent.stream(request, &turn.call(within)).await {
            Ok(events) => events,
            Err(error) => return Err(self.not_sent(turn, &error).await),
        };
        let first = match events.next().await {
            Some(Ok(first)) => first,
            Some(Err(error)) => {
                if let Some(task) = error.trail.task_id.as_ref().filter(|_| is_passing(&error)) {
                    self.memory.taken(&turn.key, task, "").await?;
                }
                return Err(self.not_sent(turn, &error).await);
            }
            None => return Err(Trouble::Failed(lost(turn))),
        };
        if let Some((task_id, context_id)) = named(&first.body) {
            tracing::Span::current().record("weft.remote.task.id", task_id);
            self.memory.taken(&turn.key, task_id, context_id).await?;
        }
        Ok(Opened { first: Some(first), events })
    }

    /// Remembers the message as about to be sent as long as the agent may have it.
    async fn not_sent(&self, turn: &Turn, error: &weft_client::Error) -> Trouble {
        let begun = error.may_have_run();
        if !begun && let Err(failure) = self.memory.withdraw(&turn.key).await {
            return Trouble::Failed(failure);
        }
        if is_passing(error) { Trouble::of(error, begun) } else { Trouble::Failed(failure(error)) }
    }
}

/// The agent's own task and context that an event names.
fn named(event: &StreamResponse) -> Option<(&str, &str)> {
    let (task, context) = match event.payload.as_ref()? {
        Payload::Task(task) => (&task.id, &task.context_id),
        Payload::StatusUpdate(update) => (&update.task_id, &update.context_id),
        Payload::ArtifactUpdate(update) => (&update.task_id, &update.context_id),
        // A message is the whole answer: there is no task.
        Payload::Message(_) => return None,
    };
    (!task.is_empty()).then_some((task, context))
}

/// The agent may have the message, cannot be asked, and would do it twice.
fn lost(turn: &Turn) -> Failure {
    let text = format!(
        "the answer to message {} was lost, and the agent does not say whether it took it: look there, and send again \
         to have it done anew",
        message_id(&turn.key)
    );
    Failure::Agent { code: "ANSWER_LOST", text }
}
