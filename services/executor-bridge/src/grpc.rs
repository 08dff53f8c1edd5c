//! The gRPC face: calls outside of any task, probes, status, drain.

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use futures::Stream;
use tonic::{Request, Response, Status};
use weft_chassis::status::status;
use weft_core::{Fault, Kind};
use weft_proto::weft::executor_bridge_server::ExecutorBridge;
use weft_proto::weft::{
    BridgeInvokeRequest, DrainRequest, DrainResponse, InvokeEvent, InvokeRequest, ProbeRequest,
    ProbeResponse, Run, StatusRequest, StatusResponse, invoke_event,
};
use weft_proto::wkt::Timestamp;

use crate::Bridge;
use crate::append::Held;
use crate::directory::Place;
use crate::door::{Answer, Call, Event};
use crate::failure::Failure;
use crate::probe;

/// The service over one bridge.
pub(crate) struct Grpc(pub(crate) Arc<Bridge>);

type Events = Pin<Box<dyn Stream<Item = Result<InvokeEvent, Status>> + Send>>;

#[tonic::async_trait]
impl ExecutorBridge for Grpc {
    type InvokeStream = Events;

    async fn invoke(&self, request: Request<BridgeInvokeRequest>) -> Result<Response<Events>, Status> {
        let asked = request.into_inner();
        let place = self.place(&asked.node)?;
        if asked.tool.is_empty() {
            return Err(status(Fault::invalid("tool", "is missing: name one of the node's tools")));
        }
        let own = self.0.door.limits.call;
        let within = match asked.timeout_ms {
            0 => own,
            ms => own.min(Duration::from_millis(u64::from(ms))),
        };
        let call = InvokeRequest {
            tool: asked.tool,
            arguments: asked.arguments,
            attempt: 1,
            idempotency_key: self.0.env.id(),
            ..InvokeRequest::default()
        };
        let fault = |failure: Failure| status(failure.fault(&place.node, &call.tool));
        let answer = self.0.door.call(Call { place: &place, request: &call, within }).await.map_err(fault)?;
        Ok(Response::new(Box::pin(events(answer, place.node.clone(), call.tool))))
    }

    async fn probe(&self, request: Request<ProbeRequest>) -> Result<Response<ProbeResponse>, Status> {
        let place = self.place(&request.into_inner().node)?;
        Ok(Response::new(probe::probe(self.0.clone(), place).await))
    }

    async fn status(&self, _: Request<StatusRequest>) -> Result<Response<StatusResponse>, Status> {
        let (capabilities, catalog_revision) = match &*self.0.directory.borrow() {
            Some(directory) => (directory.capabilities.clone(), directory.revision),
            None => (Vec::new(), 0),
        };
        Ok(Response::new(StatusResponse {
            capabilities,
            running: self.0.appender.each(shown),
            slots: self.0.settings.slots,
            draining: self.0.stop_claiming.is_cancelled(),
            catalog_revision,
        }))
    }

    async fn drain(&self, request: Request<DrainRequest>) -> Result<Response<DrainResponse>, Status> {
        let within = Duration::from_millis(u64::from(request.into_inner().within_ms));
        let left = self.0.drain(within).await;
        Ok(Response::new(DrainResponse { left_running: u32::try_from(left).unwrap_or(u32::MAX) }))
    }
}

impl Grpc {
    fn place(&self, node: &str) -> Result<Arc<Place>, Status> {
        let directory = self.0.directory.borrow();
        let Some(directory) = directory.as_ref() else {
            return Err(status(Fault::unavailable("the catalog has not answered yet: try again")));
        };
        directory.place(node).ok_or_else(|| {
            let known: Vec<_> = directory.places().iter().map(|place| place.node.clone()).collect();
            let message = format!("the catalog knows no such node; its nodes are {}", known.join(", "));
            status(Fault::new(Kind::NotFound, message))
        })
    }
}

fn events(
    answer: Answer,
    node: String,
    tool: String,
) -> impl Stream<Item = Result<InvokeEvent, Status>> + Send {
    futures::stream::unfold(Some(answer), move |answer| {
        let (node, tool) = (node.clone(), tool.clone());
        async move {
            let mut answer = answer?;
            let (event, rest) = match answer.next().await {
                Ok(Event::Step(step)) => (invoke_event::Event::Progress(step), Some(answer)),
                Ok(Event::End(result)) => (invoke_event::Event::Result(result), None),
                Err(failure) => return Some((Err(status(failure.fault(&node, &tool))), None)),
            };
            Some((Ok(InvokeEvent { event: Some(event) }), rest))
        }
    })
}

fn shown(held: &Held) -> Run {
    Run {
        task_id: held.turn.task_id.clone(),
        node: held.turn.node.clone(),
        tool: held.turn.tool.clone(),
        attempt: held.attempt,
        started: Some(Timestamp {
            seconds: held.started_unix_ms.div_euclid(1_000),
            nanos: i32::try_from(held.started_unix_ms.rem_euclid(1_000)).unwrap_or(0) * 1_000_000,
        }),
    }
}
