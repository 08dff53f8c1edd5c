//! The service: Record and Read.

use std::pin::Pin;
use std::time::Duration;

use futures::{Stream, StreamExt as _, stream};
use tonic::service::Routes;
use tonic::{Request, Response, Status};
use weft_chassis::status::status;
use weft_core::Fault;
use weft_proto::weft as pb;
use weft_proto::weft::audit_server::{self, AuditServer};

use super::{Audit, Cursor};

/// Most events of one Record.
const EVENTS_MAX: usize = 256;
/// Events read at once.
const PAGE: usize = 256;
/// How often a follower looks for what other processes wrote.
const LOOK: Duration = Duration::from_millis(500);

type Events = Result<Vec<pb::AuditEvent>, Status>;

impl Audit {
    /// The service beside others.
    pub(crate) fn add_to(&self, routes: Routes) -> Routes {
        routes.add_service(AuditServer::new(self.clone()))
    }

    /// The pages after a number, each with something in it; with `follow` it waits for the next one.
    fn pages(&self, cursor: Cursor, follow: bool) -> impl Stream<Item = Events> + Send + use<> {
        let audit = self.clone();
        stream::unfold(Some(cursor), move |cursor| {
            let audit = audit.clone();
            async move { audit.page(cursor?, follow).await }
        })
    }

    async fn page(&self, mut cursor: Cursor, follow: bool) -> Option<(Events, Option<Cursor>)> {
        let mut written = self.written.subscribe();
        loop {
            written.borrow_and_update();
            let read = tokio::task::spawn_blocking(move || {
                let page = cursor.page(PAGE);
                (cursor, page)
            });
            let (back, page) = match read.await {
                Ok((back, Ok(page))) => (back, page),
                Ok((_, Err(fault))) => {
                    return Some((Err(status(Fault::internal(fault.to_string()))), None));
                }
                Err(_) => return Some((Err(status(Fault::internal("reading the record broke off"))), None)),
            };
            if !page.is_empty() {
                return Some((Ok(page), Some(back)));
            }
            if !follow {
                return None;
            }
            cursor = back;
            tokio::select! {
                () = self.env.stop().cancelled() => return None,
                _ = written.changed() => {}
                () = tokio::time::sleep(LOOK) => {}
            }
        }
    }
}

#[tonic::async_trait]
impl audit_server::Audit for Audit {
    async fn record(
        &self,
        request: Request<pb::RecordRequest>,
    ) -> Result<Response<pb::RecordResponse>, Status> {
        let events = request.into_inner().events;
        if events.len() > EVENTS_MAX {
            return Err(status(Fault::invalid("events", format!("must be at most {EVENTS_MAX}"))));
        }
        if let Some(at) = events.iter().position(|event| event.action.is_empty()) {
            return Err(status(Fault::invalid(format!("events[{at}].action"), "is required")));
        }
        if !events.is_empty() {
            Audit::record(self, events).await.map_err(status)?;
        }
        Ok(Response::new(pb::RecordResponse {}))
    }

    type ReadStream = Pin<Box<dyn Stream<Item = Result<pb::AuditEvent, Status>> + Send>>;

    async fn read(&self, request: Request<pb::AuditRequest>) -> Result<Response<Self::ReadStream>, Status> {
        let request = request.into_inner();
        let owner = request.owner;
        let events = self
            .pages(Cursor::new(&self.data, request.after), request.follow)
            .flat_map(|page| {
                stream::iter(match page {
                    Ok(events) => events.into_iter().map(Ok).collect::<Vec<_>>(),
                    Err(status) => vec![Err(status)],
                })
            })
            .filter(move |event| {
                let wanted = event.as_ref().map_or(true, |event| owner.is_empty() || event.owner == owner);
                futures::future::ready(wanted)
            });
        Ok(Response::new(Box::pin(events)))
    }
}
