//! A message sent and followed until its task has ended or asks.

use std::time::Duration;

use futures::StreamExt;
use tokio::time::{Instant, timeout_at};
use weft_proto::a2a::{
    GetTaskRequest, Message, SendMessageRequest, Task, TaskState, send_message_response::Payload,
    stream_response,
};

use crate::agent::{Agent, named};
use crate::call::{Answer, Call};
use crate::error::{Error, Trail, Why};

/// What came of a message.
#[derive(Debug, Clone)]
pub enum Outcome {
    /// A task, ended or asking.
    Task(Task),
    /// A plain answer.
    Message(Message),
}

/// True for a state in which nothing more happens unless the caller wants it: the four terminal ones, and the two in
/// which the task waits for its caller.
#[must_use]
pub fn is_settled(state: TaskState) -> bool {
    match state {
        TaskState::Completed
        | TaskState::Failed
        | TaskState::Canceled
        | TaskState::Rejected
        | TaskState::InputRequired
        | TaskState::AuthRequired => true,
        TaskState::Unspecified | TaskState::Submitted | TaskState::Working => false,
    }
}

impl Agent {
    /// Sends a message and waits, `within` this long, until its task has ended or asks. With an idempotency key, a send
    /// whose answer was lost is repeated; without one it never is.
    ///
    /// # Errors
    /// [`Why::TimedOut`] when the task is not settled in time; its trail says which task it is. Otherwise as
    /// [`Agent::send`].
    pub async fn wait(
        &self,
        mut request: SendMessageRequest,
        call: &Call,
        within: Duration,
    ) -> Result<Outcome, Error> {
        let until = Instant::now() + within;
        let mut trail = call.trail();
        request.configuration.get_or_insert_default().return_immediately = true;
        let late = |trail: &Trail| Error {
            why: Why::TimedOut(format!("the task was not settled within {} ms", within.as_millis())),
            trail: Box::new(trail.clone()),
        };
        let Ok(sent) = timeout_at(until, self.send_surely(request, call)).await else {
            return Err(late(&trail));
        };
        let sent = sent?;
        let mut call = call.clone();
        call.access_token = sent.access_token.clone().or(call.access_token);
        trail.access_token.clone_from(&call.access_token);
        trail.task_id = named(&sent.body);
        let task = match sent.body.payload {
            Some(Payload::Message(message)) => return Ok(Outcome::Message(message)),
            Some(Payload::Task(task)) => task,
            None => {
                let why = Why::Malformed("the answer holds neither task nor message".to_owned());
                return Err(Error { why, trail: Box::new(trail) });
            }
        };
        let settled = timeout_at(until, self.settled(task, &call)).await;
        settled.unwrap_or_else(|_| Err(late(&trail)))
    }

    /// Waits, `within` this long, until a task that exists has ended or asks.
    ///
    /// # Errors
    /// As [`Agent::wait`].
    pub async fn wait_for(&self, task_id: &str, call: &Call, within: Duration) -> Result<Task, Error> {
        let request = GetTaskRequest { id: task_id.to_owned(), ..GetTaskRequest::default() };
        let work = async {
            let task = self.get_task(request, call).await?.body;
            self.settled(task, call).await
        };
        match tokio::time::timeout(within, work).await {
            Ok(Ok(Outcome::Task(task))) => Ok(task),
            Ok(Ok(Outcome::Message(_))) => {
                let why = Why::Malformed("a message came on the stream of a task".to_owned());
                Err(Error {
                    why,
                    trail: Box::new(Trail { task_id: Some(task_id.to_owned()), ..call.trail() }),
                })
            }
            Ok(Err(error)) => Err(error),
            Err(_) => {
                let why = Why::TimedOut(format!("the task was not settled within {} ms", within.as_millis()));
                Err(Error {
                    why,
                    trail: Box::new(Trail { task_id: Some(task_id.to_owned()), ..call.trail() }),
                })
            }
        }
    }

    /// Sends, again where nothing can come of it twice.
    async fn send_surely(
        &self,
        request: SendMessageRequest,
        call: &Call,
    ) -> Result<Answer<weft_proto::a2a::SendMessageResponse>, Error> {
        let mut attempt = 0;
        loop {
            match self.send(request.clone(), call).await {
                Err(error)
                    if error.why.is_transient()
                        && call.idempotency_key.is_some()
                        && attempt + 1 < self.limits().attempts_max =>
                {
                    let told = error.retry_after_ms().map(|ms| Duration::from_millis(u64::from(ms)));
                    tokio::time::sleep(told.unwrap_or_else(|| self.limits().pause_before(attempt))).await;
                    attempt += 1;
                }
                answered => return answered,
            }
        }
    }

    async fn settled(&self, task: Task, call: &Call) -> Result<Outcome, Error> {
        if task.status.as_ref().is_some_and(|status| is_settled(status.state())) {
            return Ok(Outcome::Task(task));
        }
        let mut events = self.follow(&task.id, call);
        while let Some(event) = events.next().await {
            if let Some(stream_response::Payload::Message(message)) = event?.body.payload {
                return Ok(Outcome::Message(message));
            }
        }
        let request = GetTaskRequest { id: task.id, ..GetTaskRequest::default() };
        Ok(Outcome::Task(self.get_task(request, call).await?.body))
    }
}
