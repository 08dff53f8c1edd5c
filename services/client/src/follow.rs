//! [`Follow`]: one event stream over cuts, resumption and polling.

mod fold;

use std::collections::VecDeque;
use std::pin::Pin;
use std::task::{Context, Poll};

use futures::stream::BoxStream;
use futures::{Stream, StreamExt, stream};
use weft_core::Kind;
use weft_proto::a2a::{
    GetTaskRequest, SendMessageResponse, StreamResponse, SubscribeToTaskRequest, Task, send_message_response,
    stream_response::Payload,
};

use self::fold::Fold;
use crate::agent::{Agent, named};
use crate::call::Call;
use crate::error::{Error, Trail, Why};
use crate::operation::SubscribeToTask;
use crate::wire::Opened;

/// One event, with the number that the agent gave it.
#[derive(Debug, Clone)]
pub struct Event {
    /// The `id` of the event on a `text/event-stream`.
    pub id: Option<String>,
    /// The event.
    pub body: StreamResponse,
}

/// The events of one task, or the one message that an agent answered instead.
///
/// It ends without an error only when the task has ended, or asks, or a message was the answer. A stream that was cut
/// is taken up again; where an agent cannot do that, the task is read again and again instead. A Task among the events
/// says all there is anew: after a cut it takes the place of everything before it.
pub struct Follow {
    events: BoxStream<'static, Result<Event, Error>>,
}

/// How following begins.
pub(crate) enum Start {
    /// With a stream that is open.
    Stream(Opened),
    /// With an answer that has come already.
    Answered(Box<SendMessageResponse>),
    /// By asking for a stream.
    Resume,
    /// By reading the task.
    Poll,
}

/// Where the next event comes from.
enum Source {
    Open(BoxStream<'static, Result<Event, Why>>),
    Resume,
    Poll,
    End,
}

struct Work {
    agent: Agent,
    call: Call,
    fold: Fold,
    source: Source,
    /// Events that came already.
    ready: VecDeque<Event>,
    /// Attempts in a row that brought no news.
    attempts: u32,
    /// Polls in a row that showed the task unchanged.
    unchanged: u32,
    last_polled: Option<Task>,
    /// The stream goes on only until the task has ended or asks: the agent that would end it there was cut off.
    until_settled: bool,
}

impl Follow {
    pub(crate) fn new(agent: Agent, call: Call, start: Start, task_id: Option<String>) -> Follow {
        let mut work = Work {
            agent,
            call,
            fold: Fold::new(task_id),
            source: Source::End,
            ready: VecDeque::new(),
            attempts: 0,
            unchanged: 0,
            last_polled: None,
            until_settled: true,
        };
        work.begin(start);
        let events = stream::unfold(Some(work), |work| async move {
            let mut work = work?;
            match work.next().await {
                Ok(event) => event.map(|event| (Ok(event), Some(work))),
                Err(why) => Some((Err(Error { why, trail: Box::new(work.trail()) }), None)),
            }
        });
        Follow { events: events.boxed() }
    }
}

impl Stream for Follow {
    type Item = Result<Event, Error>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.events.poll_next_unpin(cx)
    }
}

impl Work {
    fn begin(&mut self, start: Start) {
        self.source = match start {
            Start::Stream(opened) => {
                self.until_settled = false;
                self.open(opened)
            }
            Start::Answered(response) => self.answered(*response),
            Start::Resume => Source::Resume,
            Start::Poll => Source::Poll,
        };
    }

    fn open(&mut self, opened: Opened) -> Source {
        self.call.access_token = opened.access_token.or(self.call.access_token.take());
        Source::Open(opened.events)
    }

    fn answered(&mut self, response: SendMessageResponse) -> Source {
        if let Some(id) = named(&response) {
            self.fold.name_task(&id);
        }
        match response.payload {
            Some(send_message_response::Payload::Message(message)) => {
                self.show(Payload::Message(message));
                Source::End
            }
            Some(send_message_response::Payload::Task(task)) => {
                self.last_polled = Some(task.clone());
                self.show(Payload::Task(task));
                Source::Poll
            }
            None => Source::Poll,
        }
    }

    fn show(&mut self, payload: Payload) {
        self.ready.push_back(Event { id: None, body: StreamResponse { payload: Some(payload) } });
    }

    async fn next(&mut self) -> Result<Option<Event>, Why> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                if self.fold.admit(&event)? {
                    return Ok(Some(event));
                }
                continue;
            }
            if self.until_settled && self.fold.is_settled() {
                return Ok(None);
            }
            match &mut self.source {
                Source::End => return Ok(None),
                Source::Open(events) => match events.next().await {
                    Some(Ok(event)) => {
                        self.attempts = 0;
                        self.ready.push_back(event);
                    }
                    Some(Err(why)) if !why.is_transient() => return Err(why),
                    cut => self.cut(cut.and_then(Result::err))?,
                },
                Source::Resume => self.resume().await?,
                Source::Poll => self.poll().await?,
            }
        }
    }

    /// The stream ended, by itself or by an accident.
    fn cut(&mut self, why: Option<Why>) -> Result<(), Why> {
        if self.fold.is_settled() {
            self.source = Source::End;
            return Ok(());
        }
        if self.fold.task_id().is_none() {
            let reason = why.map_or_else(|| "it was empty".to_owned(), |why| why.to_string());
            return Err(Why::Unfinished(format!("no task was named: {reason}")));
        }
        tracing::debug!(why = why.map(|why| why.to_string()), "the stream was cut: taking it up again");
        self.until_settled = true;
        self.source = Source::Resume;
        Ok(())
    }

    async fn resume(&mut self) -> Result<(), Why> {
        self.pause_before_attempt().await;
        let id = self.fold.task_id().unwrap_or_default().to_owned();
        let request = SubscribeToTaskRequest { id, ..SubscribeToTaskRequest::default() };
        let after = self.fold.last_id().map(str::to_owned);
        match self.agent.open::<SubscribeToTask>(request, &self.call, after.as_deref()).await {
            Ok(opened) => {
                self.fold.resumed();
                self.source = self.open(opened);
                self.attempts += 1;
                Ok(())
            }
            // A task that has ended cannot be subscribed to, and some agents cannot be asked at all.
            Err(error) if cannot_stream(&error.why) => {
                self.source = Source::Poll;
                self.attempts = 0;
                Ok(())
            }
            Err(error) => self.failed(error.why),
        }
    }

    async fn poll(&mut self) -> Result<(), Why> {
        let pause = self.agent.limits().pause_before(self.attempts.max(self.unchanged));
        if self.last_polled.is_some() || self.attempts > 0 {
            tokio::time::sleep(pause).await;
        }
        let id = self.fold.task_id().unwrap_or_default().to_owned();
        let request = GetTaskRequest { id, ..GetTaskRequest::default() };
        match self.agent.get_task(request, &self.call).await {
            Ok(answer) => {
                self.attempts = 0;
                let task = answer.body;
                if self.last_polled.as_ref() == Some(&task) {
                    self.unchanged = self.unchanged.saturating_add(1);
                } else {
                    self.unchanged = 0;
                    self.show(Payload::Task(task.clone()));
                    self.last_polled = Some(task);
                }
                Ok(())
            }
            Err(error) => self.failed(error.why),
        }
    }

    async fn pause_before_attempt(&mut self) {
        if let Some(n) = self.attempts.checked_sub(1) {
            tokio::time::sleep(self.agent.limits().pause_before(n)).await;
        }
    }

    /// An attempt failed: another one follows, unless it cannot help or there were enough.
    fn failed(&mut self, why: Why) -> Result<(), Why> {
        if !why.is_transient() {
            return Err(why);
        }
        self.attempts += 1;
        if self.attempts < self.agent.limits().attempts_max {
            return Ok(());
        }
        Err(Why::Unfinished(format!("{} attempts failed, the last with: {why}", self.attempts)))
    }

    fn trail(&self) -> Trail {
        Trail { task_id: self.fold.task_id().map(str::to_owned), ..self.call.trail() }
    }
}

/// True when the agent does not stream this task, which it may still show.
fn cannot_stream(why: &Why) -> bool {
    match why {
        Why::Refused(refusal) => {
            matches!(
                refusal.fault.kind,
                Kind::UnsupportedOperation | Kind::TaskNotFound | Kind::NotFound | Kind::Invalid
            )
        }
        Why::Malformed(_) => true,
        _ => false,
    }
}
