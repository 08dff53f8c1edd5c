//! Spans in over OTLP/gRPC, kept in a bounded store in memory, questions answered. It calls nobody and is the only
//! service that makes no spans of its own.
//!
//! | module | holds |
//! |---|---|
//! | [`settings`] | every bound of the store |
//! | `store` | the kept traces: the oldest goes first when a bound is reached |
//! | `trim` | what of a span is kept: identity, times, status and attributes, each bounded |
//! | `show` | a kept trace as the console reads it |

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use opentelemetry_proto::tonic::collector::trace::v1::trace_service_server::{
    TraceService, TraceServiceServer,
};
use opentelemetry_proto::tonic::collector::trace::v1::{
    ExportTracePartialSuccess, ExportTraceServiceRequest, ExportTraceServiceResponse,
};
use tonic::service::Routes;
use tonic::{Request, Response, Status};
use weft_chassis::Env;
use weft_chassis::status::status;
use weft_core::{Fault, Kind};
use weft_proto::weft::journal_server::{Journal, JournalServer};
use weft_proto::weft::{GetTraceRequest, Trace};

mod metrics;
pub mod settings;
mod show;
mod store;
mod trim;

pub use settings::Settings;

use metrics::Meter;
use store::{Store, TraceId};

/// Largest batch of spans that is taken, in bytes.
const EXPORT_BYTES_MAX: usize = 16 * 1024 * 1024;

/// The journal: `opentelemetry.proto.collector.trace.v1.TraceService` and `weft.v1.Journal`.
#[must_use]
pub fn routes(settings: &Settings, env: &Env) -> Routes {
    let grpc = Grpc {
        store: Arc::new(Mutex::new(Store::new(settings))),
        meter: Meter::new(env.metrics()),
        env: env.clone(),
    };
    let traces = TraceServiceServer::new(grpc.clone()).max_decoding_message_size(EXPORT_BYTES_MAX);
    Routes::new(traces).add_service(JournalServer::new(grpc))
}

#[derive(Clone)]
struct Grpc {
    store: Arc<Mutex<Store>>,
    meter: Meter,
    env: Env,
}

impl Grpc {
    fn store(&self) -> MutexGuard<'_, Store> {
        self.store.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[tonic::async_trait]
impl TraceService for Grpc {
    async fn export(
        &self,
        request: Request<ExportTraceServiceRequest>,
    ) -> Result<Response<ExportTraceServiceResponse>, Status> {
        let (mut kept, mut rejected) = (0, 0);
        // Trimmed before the store is locked.
        let spans: Vec<_> = request
            .into_inner()
            .resource_spans
            .into_iter()
            .flat_map(trim::spans)
            .inspect(|span| {
                if span.is_none() {
                    rejected += 1
                }
            })
            .flatten()
            .collect();
        let figures = {
            let mut store = self.store();
            store.forget_old(self.env.unix_ms());
            for span in spans {
                if store.add(span, self.env.unix_ms()) { kept += 1 } else { rejected += 1 }
            }
            store.figures()
        };
        self.meter.took(kept, rejected, figures);
        let partial_success = (rejected > 0).then(|| ExportTracePartialSuccess {
            rejected_spans: i64::try_from(rejected).unwrap_or(i64::MAX),
            error_message: "spans without valid ids, or of a trace with more spans than are kept".to_owned(),
        });
        Ok(Response::new(ExportTraceServiceResponse { partial_success }))
    }
}

#[tonic::async_trait]
impl Journal for Grpc {
    async fn get_trace(&self, request: Request<GetTraceRequest>) -> Result<Response<Trace>, Status> {
        let text = request.into_inner().trace_id;
        let id = TraceId::parse(&text).ok_or_else(|| {
            status(Fault::invalid("traceId", "must be 32 lower-case hex digits, not all of them zero"))
        })?;
        let spans = {
            let mut store = self.store();
            store.forget_old(self.env.unix_ms());
            store.get(id).map(<[_]>::to_vec)
        };
        let spans = spans.ok_or_else(|| {
            let message = "no span of this trace is kept: it is too old, was dropped, or never came";
            status(Fault::new(Kind::NotFound, message))
        })?;
        Ok(Response::new(show::trace(text, &spans)))
    }
}

#[cfg(test)]
mod tests;
