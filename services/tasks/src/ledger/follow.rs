//! Following one task: a snapshot, then each later event once and in order, from memory or, for a slow reader, from
//! the store.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use futures::Stream;
use weft_core::task::{is_settled, is_terminal, show, state_of};
use weft_core::{Fault, Kind, Owner};
use weft_proto::a2a::stream_response::Payload;
use weft_proto::a2a::{StreamResponse, TaskState};
use weft_proto::weft::{Follow, SubscribeRequest, TaskEvent};

use super::Ledger;
use super::submit::{Sent, Submitted};
use crate::slot::{Reader, Recent, Slot, Snapshot};
use crate::store::Store;

/// Records read from the store at once by a reader that lags.
const RECORDS_AT_ONCE: usize = 16;

/// A reader's stream.
pub(crate) struct Following<S> {
    ledger: Ledger<S>,
    reader: Reader,
    /// Ready to be read.
    ready: VecDeque<(u64, Arc<StreamResponse>)>,
    next: u64,
    /// When to end.
    until: fn(TaskState) -> bool,
    /// Nothing was said yet, and is not before the run has; then the task with this much history.
    held: Option<Option<usize>>,
    ended: bool,
}

impl<S: Store> Ledger<S> {
    /// Follows a task of an owner until it is terminal.
    pub(crate) async fn subscribe(&self, request: SubscribeRequest) -> Result<Following<S>, Fault> {
        let owner = Owner::parse(request.owner)?;
        let (slot, _) = self.slot_of(&owner, &request.task_id).await?;
        let (now, mut following) = self.follow(&slot, is_terminal)?;
        let over = is_terminal(now.head.state());
        match request.after {
            Some(after) if after > now.head.seq => {
                return Err(Fault::invalid("after", format!("is beyond the last event, {}", now.head.seq)));
            }
            Some(after) if !over || after < now.head.seq => following.next = after + 1,
            None if !over => following.begin(&now, None),
            _ => {
                let text = format!(
                    "the task is {} and has no further events; get it instead",
                    weft_core::task::name(now.head.state())
                );
                return Err(Fault::new(Kind::UnsupportedOperation, text).with("taskId", request.task_id));
            }
        }
        Ok(following)
    }

    /// What a submit asked to hear.
    pub(crate) fn answer(&self, sent: &Sent, submitted: &Submitted) -> Result<Answer<S>, Fault> {
        let gone = || Fault::internal("the task is gone");
        let hold = sent.hold && sent.follow != Follow::None;
        let waits = sent.follow == Follow::Result || hold;
        // Where a message answers already, the way of those who wait leads to it.
        if !waits && submitted.slot.tell() {
            if sent.follow == Follow::None {
                let now = submitted.slot.now().ok_or_else(gone)?;
                return Ok(Answer::Once(Box::new(snapshot(&now, sent.history))));
            }
            let (now, mut following) = self.follow(&submitted.slot, is_settled)?;
            following.begin(&now, sent.history);
            return Ok(Answer::Events(Box::new(following)));
        }
        let (_, mut following) = self.follow(&submitted.slot, is_settled)?;
        if sent.follow != Follow::Result {
            following.held = Some(sent.history);
            return Ok(Answer::Events(Box::new(following)));
        }
        let bound = self.settings.wait_ms_max;
        let wait_ms = if sent.wait_ms == 0 { bound } else { sent.wait_ms.min(bound) };
        let (turn, history) = (submitted.turn, sent.history);
        Ok(Answer::Result {
            following: Box::new(following),
            turn,
            wait: Duration::from_millis(u64::from(wait_ms)),
            history,
        })
    }

    fn follow(
        &self,
        slot: &Arc<Slot>,
        until: fn(TaskState) -> bool,
    ) -> Result<(Snapshot, Following<S>), Fault> {
        let most = self.settings.readers_max;
        let (now, reader) = slot.follow(most as usize).ok_or_else(|| {
            let text =
                format!("{most} readers follow this task, the most that may (tasks.readers_max); try later");
            Fault::exhausted(text, 5_000)
        })?;
        let next = now.head.seq + 1;
        let ledger = self.clone();
        let ready = VecDeque::new();
        Ok((now, Following { ledger, reader, ready, next, until, held: None, ended: false }))
    }
}

/// What a submit's stream will say.
pub(crate) enum Answer<S> {
    /// The task as it was right after the commit.
    Once(Box<TaskEvent>),
    /// The task when its turn is over.
    Result { following: Box<Following<S>>, turn: u32, wait: Duration, history: Option<usize> },
    /// The task and its events.
    Events(Box<Following<S>>),
}

/// The task as it is; the message that answers instead, when one does.
fn snapshot(now: &Snapshot, history: Option<usize>) -> TaskEvent {
    let message = now.task.history.last().filter(|_| now.head.hidden);
    let payload = match message {
        Some(message) => Payload::Message(message.clone()),
        None => Payload::Task(show(&now.task, history, true)),
    };
    TaskEvent { seq: now.head.seq, body: Some(StreamResponse { payload: Some(payload) }) }
}

/// True when the run has said nothing yet.
fn is_silent(now: &Snapshot) -> bool {
    let said = now.task.status.as_ref().is_some_and(|status| status.message.is_some());
    !is_settled(now.head.state()) && !said && now.task.artifacts.is_empty()
}

impl<S: Store> Following<S> {
    fn begin(&mut self, now: &Snapshot, history: Option<usize>) {
        let event = snapshot(now, history);
        if let Some(body) = event.body {
            self.ready.push_back((event.seq, Arc::new(body)));
        }
        self.next = event.seq + 1;
        self.ended = (self.until)(now.head.state());
    }

    /// The task when the turn is settled or a later one has begun; as it is when the wait is over.
    pub(crate) async fn result(
        mut self,
        turn: u32,
        wait: Duration,
        history: Option<usize>,
    ) -> Result<TaskEvent, Fault> {
        let ledger = self.ledger.clone();
        let slot = self.reader.slot().clone();
        tokio::select! {
            biased;
            () = self.reader.until(|mark| is_settled(mark.state) || mark.turn > turn) => {}
            () = tokio::time::sleep(wait) => {
                if !slot.tell() {
                    // A message is on its way to the disk.
                    self.settled().await?;
                }
            }
            () = ledger.env.stop().cancelled() => return Err(super::stopping()),
            () = ledger.broken().cancelled() => return Err(super::stopping()),
        }
        slot.now().map(|now| snapshot(&now, history)).ok_or_else(|| Fault::internal("the task is gone"))
    }

    async fn settled(&mut self) -> Result<(), Fault> {
        let ledger = self.ledger.clone();
        tokio::select! {
            biased;
            () = self.reader.until(|mark| is_settled(mark.state)) => Ok(()),
            () = ledger.env.stop().cancelled() => Err(super::stopping()),
            () = ledger.broken().cancelled() => Err(super::stopping()),
        }
    }

    /// Waits until the run has said something; then the task is told of, or the message.
    async fn release(&mut self, history: Option<usize>) -> Result<(), Fault> {
        loop {
            let slot = self.reader.slot().clone();
            let now = slot.now().ok_or_else(|| Fault::internal("the task is gone"))?;
            if now.head.hidden || (!is_silent(&now) && slot.tell()) {
                self.begin(&now, history);
                self.held = None;
                return Ok(());
            }
            drop(now);
            self.moved().await?;
        }
    }

    async fn moved(&mut self) -> Result<(), Fault> {
        let ledger = self.ledger.clone();
        tokio::select! {
            biased;
            () = self.reader.moved() => Ok(()),
            () = ledger.env.stop().cancelled() => Err(super::stopping()),
            () = ledger.broken().cancelled() => Err(super::stopping()),
        }
    }

    /// The next event; `None` when the stream has told the end.
    pub(crate) async fn next_event(&mut self) -> Option<Result<TaskEvent, Fault>> {
        loop {
            if let Some((seq, body)) = self.ready.pop_front() {
                let is_task = matches!(body.payload, Some(Payload::Task(_)));
                let end = !is_task && state_of(&body).is_some_and(self.until);
                self.ended |= end;
                if end {
                    self.ready.clear();
                }
                return Some(Ok(TaskEvent { seq, body: Some(Arc::unwrap_or_clone(body)) }));
            }
            if self.ended {
                return None;
            }
            let ready = match self.held {
                Some(history) => self.release(history).await,
                None => self.more().await,
            };
            if let Err(fault) = ready {
                self.ended = true;
                return Some(Err(fault));
            }
        }
    }

    /// Makes further events ready; waits when there are none.
    async fn more(&mut self) -> Result<(), Fault> {
        let found = match self.reader.slot().recent(self.next) {
            Recent::Here(events) => events,
            Recent::Stored => self.stored().await?,
        };
        if let Some((last, _)) = found.last() {
            self.next = last + 1;
            self.ready.extend(found);
            return Ok(());
        }
        self.moved().await
    }

    async fn stored(&self) -> Result<Vec<(u64, Arc<StreamResponse>)>, Fault> {
        let records = self.ledger.store.records(self.reader.slot().id(), self.next, RECORDS_AT_ONCE);
        let records = records.await.map_err(super::broken)?;
        let events = records.iter().flat_map(|record| record.published());
        let events: Vec<_> =
            events.filter(|(seq, _)| *seq >= self.next).map(|(seq, event)| (seq, Arc::new(event))).collect();
        match events.first() {
            Some((first, _)) if *first == self.next => Ok(events),
            _ => Err(Fault::unavailable("the task was removed while it was followed")),
        }
    }

    /// As a stream.
    pub(crate) fn stream(self) -> impl Stream<Item = Result<TaskEvent, Fault>> + Send {
        futures::stream::unfold(self, |mut following| async move {
            following.next_event().await.map(|event| (event, following))
        })
    }
}
