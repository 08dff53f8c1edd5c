//! A worker's progress: committed under its lease, or refused with a reason.

use std::borrow::Cow;

use tracing::{Instrument, Span};
use weft_chassis::trace;
use weft_core::Fault;
use weft_core::task::{self, is_terminal};
use weft_proto::weft::append_answer::Refusal;
use weft_proto::weft::progress::Step;
use weft_proto::weft::{AppendAnswer, AppendRequest, Progress};

use super::{Decision, Ledger, settles};
use crate::TaskId;
use crate::record::{Head, Turn};
use crate::slot::{Slot, Snapshot};
use crate::store::Store;

/// Bytes by which the end of a run may go over a task's bound: an end must always be writable.
const END_BYTES: u64 = 64 * 1024;
/// Longest session, in bytes.
const SESSION_BYTES_MAX: usize = 4 * 1024;

impl<S: Store> Ledger<S> {
    /// Commits the steps of one request, all or none; an empty one renews the lease. A request that was committed
    /// before is answered again.
    pub(crate) async fn append(&self, request: AppendRequest) -> AppendAnswer {
        let number = request.number;
        let ledger = self.clone();
        let outcome = self.whole(Box::pin(async move { Ok(ledger.append_now(request).await) })).await;
        match outcome.unwrap_or_else(|fault| Err((Refusal::Unavailable, fault.message))) {
            Ok(()) => AppendAnswer { number, accepted: true, ..AppendAnswer::default() },
            Err((refusal, message)) => {
                AppendAnswer { number, accepted: false, refusal: refusal.into(), message }
            }
        }
    }

    async fn append_now(&self, request: AppendRequest) -> Result<(), (Refusal, String)> {
        let unavailable = |fault: Fault| (Refusal::Unavailable, fault.message);
        let unknown = || (Refusal::StaleLease, "there is no such task under a lease".to_owned());
        check_session(&request).map_err(|fault| (Refusal::Invalid, fault.message))?;
        let id = TaskId::parse(&request.task_id).ok_or_else(unknown)?;
        let slot = self.slot(id).await.map_err(unavailable)?.ok_or_else(unknown)?;
        let _writer = slot.writer.lock().await;
        let Snapshot { head, turn, .. } = slot.now().ok_or_else(unknown)?;
        if head.lease == request.lease && head.number >= request.number && !request.progress.is_empty() {
            return Ok(());
        }
        if !self.queue.renew(id, request.lease) {
            return Err(if is_terminal(head.state()) {
                (Refusal::Terminal, format!("the task is {}", task::name(head.state())))
            } else {
                (Refusal::StaleLease, "another worker holds the task, or the lease ran out".to_owned())
            });
        }
        if request.progress.is_empty() {
            return Ok(());
        }
        let ended = self.commit_steps(&slot, &request).instrument(span_of(&turn, &request)).await?;
        if ended {
            self.queue.end(id, request.lease);
        } else {
            self.queue.renew(id, request.lease);
        }
        Ok(())
    }

    /// True when the run has ended.
    async fn commit_steps(&self, slot: &Slot, request: &AppendRequest) -> Result<bool, (Refusal, String)> {
        let mut invalid = false;
        let mut ended = false;
        let steps = steps(slot, &request.progress);
        let done = self.change(slot, |now| {
            let decided = self.decide(now, request, &steps);
            invalid = decided.is_err();
            let decision = decided?;
            ended = decision.change.events.last().is_some_and(settles);
            Ok(Some(decision))
        });
        let done = done.await;
        if done.is_err() {
            slot.answer_not();
        }
        match done {
            Ok(_) => Ok(ended),
            Err(fault) if invalid => Err((Refusal::Invalid, fault.message)),
            Err(fault) => Err((Refusal::Unavailable, fault.message)),
        }
    }

    fn decide(&self, now: &Snapshot, request: &AppendRequest, steps: &[Progress]) -> Result<Decision, Fault> {
        let change = task::progress(&now.task, steps, self.bounds(), self.env.now())?;
        let added: usize = change.events.iter().map(prost::Message::encoded_len).sum();
        let only_ends = change.events.len() == 1 && change.events.first().is_some_and(settles);
        let bytes_max = self.settings.task_bytes_max + if only_ends { END_BYTES } else { 0 };
        if now.head.bytes + added as u64 > bytes_max {
            let text = format!("the task would have more than {bytes_max} bytes (tasks.task_bytes_max)");
            return Err(Fault::invalid("progress", text));
        }
        let mut head = Head::clone(&now.head);
        (head.started, head.lease, head.number) = (true, request.lease, request.number);
        let session = Some(request.session.clone()).filter(|session| !session.is_empty());
        Ok(Decision { change, session, ..Decision::head_only(head) })
    }
}

fn check_session(request: &AppendRequest) -> Result<(), Fault> {
    let AppendRequest { session, progress, .. } = request;
    if session.len() > SESSION_BYTES_MAX {
        let text = format!("has {} bytes, it may have {SESSION_BYTES_MAX}", session.len());
        return Err(Fault::invalid("session", text));
    }
    if !session.is_empty() && progress.is_empty() {
        return Err(Fault::invalid("session", "must come with progress, with which it is committed"));
    }
    Ok(())
}

/// The steps as they are taken: a message answers instead of the task only while nobody was told of the task and the
/// run has said nothing else. Steps that say something are such that everybody may be told of.
fn steps<'a>(slot: &Slot, given: &'a [Progress]) -> Cow<'a, [Progress]> {
    let is_message = |step: &Progress| matches!(step.step, Some(Step::Message(_)));
    let mut saying = given.iter().filter(|step| !task::is_silent(step));
    let alone = saying.next().is_some_and(is_message) && saying.next().is_none();
    if alone && slot.answer_instead() {
        return Cow::Borrowed(given);
    }
    if given.iter().any(|step| !task::is_silent(step)) {
        slot.tell();
    }
    if given.iter().any(is_message) {
        return given.iter().cloned().map(task::within).collect();
    }
    Cow::Borrowed(given)
}

/// One commit of steps, in the trace of the message that they answer: the worker's stream belongs to no message.
fn span_of(turn: &Turn, request: &AppendRequest) -> Span {
    let span = tracing::info_span!(
        target: "weft::tasks",
        "append",
        weft.task.id = request.task_id,
        weft.steps = request.progress.len(),
    );
    if !span.is_disabled() {
        trace::adopt_texts(&span, &turn.traceparent, &turn.tracestate);
    }
    span
}
