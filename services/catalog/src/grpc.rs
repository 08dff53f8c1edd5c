//! The service itself: Watch and Report over the book.

use std::pin::Pin;
use std::sync::Arc;

use futures::{Stream, StreamExt};
use tokio::sync::Semaphore;
use tokio_stream::wrappers::WatchStream;
use tonic::{Request, Response, Status};
use weft_chassis::Env;
use weft_chassis::status::status;
use weft_core::Fault;
use weft_proto::weft::catalog_server::Catalog;
use weft_proto::weft::{ReportRequest, ReportResponse, Snapshot, WatchRequest};

use crate::book::Book;

/// When a reader that found no room should try again, in milliseconds.
const RETRY_MS: u32 = 1_000;

pub(crate) struct Grpc {
    pub(crate) book: Arc<Book>,
    pub(crate) env: Env,
    pub(crate) watchers: Arc<Semaphore>,
}

#[tonic::async_trait]
impl Catalog for Grpc {
    type WatchStream = Pin<Box<dyn Stream<Item = Result<Snapshot, Status>> + Send>>;

    async fn watch(&self, _: Request<WatchRequest>) -> Result<Response<Self::WatchStream>, Status> {
        let room = self.watchers.clone().try_acquire_owned();
        let room = room
            .map_err(|_| status(Fault::exhausted("the catalog has as many readers as it takes", RETRY_MS)))?;
        let stop = self.env.stop().clone();
        // A slow reader misses what was overtaken, never the latest: that is all a snapshot is for.
        let snapshots = WatchStream::new(self.book.snapshots())
            .take_until(async move { stop.cancelled().await })
            .map(move |snapshot| {
                let _held = &room;
                Ok(Snapshot::clone(&snapshot))
            });
        Ok(Response::new(Box::pin(snapshots)))
    }

    async fn report(&self, request: Request<ReportRequest>) -> Result<Response<ReportResponse>, Status> {
        let differences = self.book.report(request.into_inner()).map_err(status)?;
        Ok(Response::new(ReportResponse { differences }))
    }
}
