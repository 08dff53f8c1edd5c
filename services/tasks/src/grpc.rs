//! The service: messages in, ledger, messages out. No rule lives here.

mod claim;
mod owners;

use std::pin::Pin;

use futures::{Stream, StreamExt, TryStreamExt};
use tokio::sync::broadcast::error::RecvError;
use tonic::{Request, Response, Status, Streaming};
use tracing::Span;
use weft_chassis::status::status;
use weft_chassis::trace;
use weft_core::Fault;
use weft_proto::a2a::{
    ListTaskPushNotificationConfigsResponse, ListTasksResponse, Task, TaskPushNotificationConfig,
};
use weft_proto::weft::tasks_server::Tasks;
use weft_proto::weft::{
    AppendAnswer, AppendRequest, CancelRequest, ClaimEvent, ClaimRequest, DeletePushConfigRequest,
    DeletePushConfigResponse, FeedEvent, FeedRequest, GetPushConfigRequest, GetRequest,
    ListPushConfigsRequest, ListRequest, PushStatusRequest, PushStatusResponse, SetPushConfigRequest,
    StatsRequest, StatsResponse, SubmitRequest, SubscribeRequest, TaskEvent,
};

use crate::ledger::{Answer, Ledger, Sent};
use crate::store::Store;

/// Requests of one append stream that may be on their way to the disk.
const APPENDS_AT_ONCE: usize = 1_024;

type Events<T> = Pin<Box<dyn Stream<Item = Result<T, Status>> + Send>>;

#[tonic::async_trait]
impl<S: Store> Tasks for Ledger<S> {
    type SubmitStream = Events<TaskEvent>;
    type SubscribeStream = Events<TaskEvent>;
    type FeedStream = Events<FeedEvent>;
    type ClaimStream = Events<ClaimEvent>;
    type AppendStream = Events<AppendAnswer>;

    async fn submit(&self, request: Request<SubmitRequest>) -> Result<Response<Events<TaskEvent>>, Status> {
        let trace = trace::texts(&Span::current());
        let sent = Sent::check(request.into_inner(), trace, self.settings.task_bytes_max).map_err(status)?;
        let sent = std::sync::Arc::new(sent);
        let submitted = Ledger::submit(self, &sent).await.map_err(status)?;
        let events: Events<TaskEvent> = match self.answer(&sent, &submitted).map_err(status)? {
            Answer::Once(event) => Box::pin(futures::stream::iter([Ok(*event)])),
            Answer::Events(following) => Box::pin(following.stream().map_err(status)),
            Answer::Result { following, turn, wait, history } => {
                let result = async move { following.result(turn, wait, history).await.map_err(status) };
                Box::pin(futures::stream::once(result))
            }
        };
        Ok(Response::new(events))
    }

    async fn get(&self, request: Request<GetRequest>) -> Result<Response<Task>, Status> {
        Ledger::get(self, request.into_inner()).await.map(Response::new).map_err(status)
    }

    async fn list(&self, request: Request<ListRequest>) -> Result<Response<ListTasksResponse>, Status> {
        Ledger::list(self, request.into_inner()).await.map(Response::new).map_err(status)
    }

    async fn cancel(&self, request: Request<CancelRequest>) -> Result<Response<Task>, Status> {
        Ledger::cancel(self, request.into_inner()).await.map(Response::new).map_err(status)
    }

    async fn subscribe(
        &self,
        request: Request<SubscribeRequest>,
    ) -> Result<Response<Events<TaskEvent>>, Status> {
        let following = Ledger::subscribe(self, request.into_inner()).await.map_err(status)?;
        Ok(Response::new(Box::pin(following.stream().map_err(status))))
    }

    async fn feed(&self, request: Request<FeedRequest>) -> Result<Response<Events<FeedEvent>>, Status> {
        let reader = Ledger::feed(self, &request.into_inner().owner).map_err(status)?;
        let stop = self.env.stop().clone();
        let events = futures::stream::unfold((reader, false), |(mut reader, mut lagged)| async move {
            loop {
                match reader.recv().await {
                    Ok(event) => return Some((Ok(FeedEvent { lagged, ..event }), (reader, false))),
                    Err(RecvError::Lagged(_)) => lagged = true,
                    Err(RecvError::Closed) => return None,
                }
            }
        });
        let stopped = futures::stream::once(async { Err(stopping()) });
        Ok(Response::new(Box::pin(events.take_until(stop.cancelled_owned()).chain(stopped))))
    }

    async fn claim(
        &self,
        request: Request<Streaming<ClaimRequest>>,
    ) -> Result<Response<Events<ClaimEvent>>, Status> {
        let worker = self.queue.join().map_err(status)?;
        Ok(Response::new(claim::serve(self.clone(), worker, request.into_inner())))
    }

    async fn append(
        &self,
        request: Request<Streaming<AppendRequest>>,
    ) -> Result<Response<Events<AppendAnswer>>, Status> {
        let (ledger, stop) = (self.clone(), self.env.stop().clone());
        let answers = request
            .into_inner()
            .take_while(|request| std::future::ready(request.is_ok()))
            .filter_map(|request| std::future::ready(request.ok()))
            .map(move |request| {
                let ledger = ledger.clone();
                async move { Ok(Ledger::append(&ledger, request).await) }
            })
            .buffer_unordered(APPENDS_AT_ONCE)
            .take_until(stop.cancelled_owned());
        Ok(Response::new(Box::pin(answers)))
    }

    async fn set_push_config(
        &self,
        request: Request<SetPushConfigRequest>,
    ) -> Result<Response<TaskPushNotificationConfig>, Status> {
        Ledger::set_push(self, request.into_inner()).await.map(Response::new).map_err(status)
    }

    async fn get_push_config(
        &self,
        request: Request<GetPushConfigRequest>,
    ) -> Result<Response<TaskPushNotificationConfig>, Status> {
        Ledger::get_push(self, request.into_inner()).await.map(Response::new).map_err(status)
    }

    async fn list_push_configs(
        &self,
        request: Request<ListPushConfigsRequest>,
    ) -> Result<Response<ListTaskPushNotificationConfigsResponse>, Status> {
        Ledger::list_pushes(self, request.into_inner()).await.map(Response::new).map_err(status)
    }

    async fn delete_push_config(
        &self,
        request: Request<DeletePushConfigRequest>,
    ) -> Result<Response<DeletePushConfigResponse>, Status> {
        Ledger::delete_push(self, request.into_inner()).await.map(Response::new).map_err(status)
    }

    async fn push_status(
        &self,
        request: Request<PushStatusRequest>,
    ) -> Result<Response<PushStatusResponse>, Status> {
        Ledger::push_status(self, request.into_inner()).await.map(Response::new).map_err(status)
    }

    async fn stats(&self, _: Request<StatsRequest>) -> Result<Response<StatsResponse>, Status> {
        let figures = self.queue.figures();
        Ok(Response::new(StatsResponse {
            tasks: self.store.tasks(),
            queued: figures.queued,
            leased: figures.leased,
            workers: figures.workers,
            store_bytes: self.store.bytes(),
            opened: Some(self.opened()),
            backend: self.store.backend().to_owned(),
            pushes_pending: self.outbox.line.len() as u64,
        }))
    }
}

fn stopping() -> Status {
    status(Fault::unavailable("the task store is stopping"))
}
