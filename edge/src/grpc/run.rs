//! Runs a gRPC call through the shared handler, whatever version it speaks.

use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::stream::{self, BoxStream, StreamExt};
use http::HeaderMap;
use tonic::{Request, Response, Status};
use weft_chassis::status::status;
use weft_core::{Fault, Kind};
use weft_proto::a2a::StreamResponse;

use super::{deadline, early};
use crate::a2a::{self, Call, Operation, Reply, Stream};
use crate::caller::{self, Activated, Caller, Version};
use crate::edge::Edge;
use crate::observe::{self, Binding};

/// A stream of answers.
pub(super) type Answers<T> = BoxStream<'static, Result<T, Status>>;

/// The handler over one edge for callers of one version.
pub(super) struct Runner {
    pub(super) edge: Arc<Edge>,
    /// The version of the package.
    pub(super) version: Version,
    /// Puts a fault into the words of that version.
    pub(super) worded: fn(Fault) -> Fault,
}

// === impl Runner ===

impl Runner {
    /// Runs a call and takes the answer it must have.
    pub(super) async fn call<T, R>(
        &self,
        operation: Operation,
        request: Request<T>,
        call: impl FnOnce(T) -> Result<Call, Fault>,
        take: impl FnOnce(Reply) -> Option<R>,
    ) -> Result<Response<R>, Status> {
        let began = Instant::now();
        let edge = &self.edge;
        let (metadata, extensions, request) = request.into_parts();
        let headers = metadata.into_headers();
        let within = deadline::of(&headers);
        let run = async {
            let _permit = edge.limits().call()?;
            let spoken = edge.spoken();
            let said = Version::said(&headers, None, spoken)?;
            if !spoken.contains(&self.version) || said.is_some_and(|said| said != self.version) {
                return Err(caller::not_spoken_here(said.unwrap_or(self.version), self.version, spoken));
            }
            let caller = Caller::of(edge.env(), &headers, &extensions, operation)?;
            let call = call(request)?;
            call.check()?;
            observe::note_task(call.task_id());
            let (reply, activated) = in_time(within, a2a::handle(edge, &caller, call)).await?;
            observe::note_task(reply.task_id());
            let reply = take(reply).ok_or_else(|| Fault::internal("the operation answered otherwise"))?;
            Ok(answered(reply, &activated, &headers))
        };
        let outcome =
            observe::call(edge, Binding::Grpc, operation, (&headers, &extensions), began, run).await;
        outcome.map_err(|fault| early::advised((self.worded)(fault)))
    }

    /// Runs a call that is answered by a stream.
    pub(super) async fn open<T, R: Send + 'static>(
        &self,
        operation: Operation,
        request: Request<T>,
        call: impl FnOnce(T) -> Result<Call, Fault>,
        event: fn(StreamResponse) -> R,
    ) -> Result<Response<Answers<R>>, Status> {
        let headers: &HeaderMap = request.metadata().as_ref();
        let until = deadline::of(headers).map(|within| tokio::time::Instant::now() + within);
        let stream = |reply| match reply {
            Reply::Stream(stream) => Some(stream),
            _ => None,
        };
        let answer = self.call(operation, request, call, stream).await?;
        Ok(answer.map(|stream| answers(stream, until, event, self.worded)))
    }
}

/// The events of a stream, until it ends or the caller's time is over.
fn answers<R: Send + 'static>(
    stream: Box<Stream>,
    until: Option<tokio::time::Instant>,
    event: fn(StreamResponse) -> R,
    worded: fn(Fault) -> Fault,
) -> Answers<R> {
    stream::unfold(Some(stream), move |stream| async move {
        let mut stream = stream?;
        let next = match until {
            Some(until) => tokio::time::timeout_at(until, stream.next()).await,
            None => Ok(stream.next().await),
        };
        match next {
            Ok(next) => {
                let answer = next?.map(|next| event(next.body.unwrap_or_default()));
                Some((answer.map_err(|fault| status(worded(fault))), Some(stream)))
            }
            Err(_) => Some((Err(status(late())), None)),
        }
    })
    .boxed()
}

async fn in_time<T>(
    within: Option<Duration>,
    work: impl Future<Output = Result<T, Fault>>,
) -> Result<T, Fault> {
    match within {
        Some(within) => tokio::time::timeout(within, work).await.unwrap_or_else(|_| Err(late())),
        None => work.await,
    }
}

fn late() -> Fault {
    Fault::new(
        Kind::Deadline,
        "the caller's grpc-timeout is over; the work goes on: follow it with SubscribeToTask",
    )
}

fn answered<T>(reply: T, activated: &Activated, asked: &HeaderMap) -> Response<T> {
    let mut answer = Response::new(reply);
    answer.metadata_mut().as_mut().extend(activated.headers(asked));
    answer
}
