//! [`Agent`]: the operations, typed.

use std::sync::Arc;

use weft_proto::a2a::{
    AgentCard, CancelTaskRequest, DeleteTaskPushNotificationConfigRequest, GetExtendedAgentCardRequest,
    GetTaskPushNotificationConfigRequest, GetTaskRequest, ListTaskPushNotificationConfigsRequest,
    ListTaskPushNotificationConfigsResponse, ListTasksRequest, ListTasksResponse, SendMessageRequest,
    SendMessageResponse, StreamResponse, SubscribeToTaskRequest, Task, TaskPushNotificationConfig,
};

use crate::binding::Interface;
use crate::call::{Answer, Call};
use crate::card::Card;
use crate::error::{Error, Why};
use crate::follow::{Follow, Start};
use crate::limits::Limits;
use crate::operation::{
    Answered, CancelTask, CreatePushConfig, DeletePushConfig, GetExtendedCard, GetPushConfig, GetTask,
    ListPushConfigs, ListTasks, Operation, SendMessage, SendStreamingMessage, SubscribeToTask,
};
use crate::wire::{Opened, Wire};

/// One agent, over one of its interfaces. A clone is the same agent.
///
/// Every operation sends the interface's tenant, the version, the extensions and the idempotency key of its [`Call`],
/// and the client's credentials where they may go. Nothing is sent twice.
#[derive(Clone)]
pub struct Agent {
    card: Arc<Card>,
    wire: Arc<Wire>,
}

macro_rules! unary {
    ($($(#[$doc:meta])* $name:ident: $operation:ty, $request:ty => $answer:ty;)*) => { $(
        $(#[$doc])*
        ///
        /// # Errors
        /// See [`Why`]; with what identifies the work.
        pub async fn $name(&self, request: $request, call: &Call) -> Result<Answer<$answer>, Error> {
            self.unary::<$operation>(request, call).await
        }
    )* };
}

impl Agent {
    pub(crate) fn new(card: Arc<Card>, wire: Wire) -> Agent {
        Agent { card, wire: Arc::new(wire) }
    }

    /// The agent's card.
    #[must_use]
    pub fn card(&self) -> &Arc<Card> {
        &self.card
    }

    /// The interface that is spoken.
    #[must_use]
    pub fn interface(&self) -> &Interface {
        self.wire.interface()
    }

    /// True when the card says that the agent streams.
    #[must_use]
    pub fn streams(&self) -> bool {
        self.card.card.capabilities.as_ref().is_some_and(|can| can.streaming())
    }

    unary! {
        /// Sends a message; the answer is there when the agent has answered, or at once when the request says so.
        send: SendMessage, SendMessageRequest => SendMessageResponse;
        /// One task.
        get_task: GetTask, GetTaskRequest => Task;
        /// The caller's tasks, a page at a time.
        list_tasks: ListTasks, ListTasksRequest => ListTasksResponse;
        /// Asks for a task to be stopped.
        cancel_task: CancelTask, CancelTaskRequest => Task;
        /// Registers a webhook for a task.
        create_push_config: CreatePushConfig, TaskPushNotificationConfig => TaskPushNotificationConfig;
        /// One webhook of a task.
        get_push_config: GetPushConfig, GetTaskPushNotificationConfigRequest => TaskPushNotificationConfig;
        /// The webhooks of a task, a page at a time.
        list_push_configs: ListPushConfigs,
            ListTaskPushNotificationConfigsRequest => ListTaskPushNotificationConfigsResponse;
        /// Removes a webhook.
        delete_push_config: DeletePushConfig, DeleteTaskPushNotificationConfigRequest => ();
        /// The card with what only known callers may see.
        extended_card: GetExtendedCard, GetExtendedAgentCardRequest => AgentCard;
    }

    /// Sends a message and follows what comes of it, over cuts of the connection, until the task has ended or asks.
    /// With an agent that does not stream, the task is polled.
    ///
    /// # Errors
    /// When the agent refuses, or cannot be reached; later ones come out of the stream.
    pub async fn stream(&self, request: SendMessageRequest, call: &Call) -> Result<Follow, Error> {
        if !self.streams() {
            return self.send_and_follow(request, call).await;
        }
        let opened = self.open::<SendStreamingMessage>(request.clone(), call, None).await?;
        let task_id = SendStreamingMessage::task_id(&request).map(str::to_owned);
        Ok(Follow::new(self.clone(), call.clone(), Start::Stream(opened), task_id))
    }

    /// Follows a task that exists: as it is now, then its events, until the agent ends the stream.
    ///
    /// # Errors
    /// When the agent refuses, or cannot be reached; later ones come out of the stream.
    pub async fn subscribe(&self, task_id: &str, call: &Call) -> Result<Follow, Error> {
        let request = SubscribeToTaskRequest { id: task_id.to_owned(), ..SubscribeToTaskRequest::default() };
        let opened = self.open::<SubscribeToTask>(request, call, None).await?;
        Ok(Follow::new(self.clone(), call.clone(), Start::Stream(opened), Some(task_id.to_owned())))
    }

    /// Follows a task that exists until it has ended or asks: by its stream where there is one, else by polling.
    #[must_use]
    pub fn follow(&self, task_id: &str, call: &Call) -> Follow {
        let start = if self.streams() { Start::Resume } else { Start::Poll };
        Follow::new(self.clone(), call.clone(), start, Some(task_id.to_owned()))
    }

    async fn send_and_follow(&self, mut request: SendMessageRequest, call: &Call) -> Result<Follow, Error> {
        request.configuration.get_or_insert_default().return_immediately = true;
        let answer = self.send(request, call).await?;
        let mut call = call.clone();
        call.access_token = answer.access_token.or(call.access_token);
        let start = Start::Answered(Box::new(answer.body));
        Ok(Follow::new(self.clone(), call, start, None))
    }

    async fn unary<O: Operation>(
        &self,
        request: O::Request,
        call: &Call,
    ) -> Result<Answer<O::Answer>, Error> {
        let asked = O::task_id(&request).map(str::to_owned);
        self.check(call)?;
        match self.wire.unary::<O>(request, call).await {
            Ok(answer) => Ok(answer),
            Err(why) => Err(failed(why, call, asked)),
        }
    }

    pub(crate) async fn open<O: Operation<Answer = StreamResponse>>(
        &self,
        request: O::Request,
        call: &Call,
        after: Option<&str>,
    ) -> Result<Opened, Error> {
        let asked = O::task_id(&request).map(str::to_owned);
        self.check(call)?;
        self.wire.stream::<O>(request, call, after).await.map_err(|why| failed(why, call, asked))
    }

    /// A token for a task is as secret as any credential.
    fn check(&self, call: &Call) -> Result<(), Error> {
        self.wire.check(call, &self.card.url).map_err(|why| failed(why, call, None))
    }

    pub(crate) fn limits(&self) -> &Limits {
        &self.wire.shared().limits
    }
}

fn failed(why: Why, call: &Call, task_id: Option<String>) -> Error {
    let mut trail = call.trail();
    trail.task_id = task_id;
    Error { why, trail: Box::new(trail) }
}

/// The task that an answer names.
pub(crate) fn named<A: Answered>(answer: &A) -> Option<String> {
    answer.task_id().map(str::to_owned)
}
