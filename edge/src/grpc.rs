//! The gRPC binding of A2A v1.0 §10 over the shared operations in [`crate::a2a`], with reflection and health.
//!
//! Service parameters are metadata under the names of the HTTP headers. A fault is a status with `google.rpc` details
//! in `grpc-status-details-bin`. `grpc-timeout` bounds the call, never the work.

mod deadline;
mod early;
mod legacy;
mod run;
mod service;
mod take;

use std::sync::Arc;

use axum::{Router, middleware};
use prost::Message;
use prost_types::FileDescriptorSet;
use tonic::service::Routes;
use weft_proto::a2a::a2a_service_server::A2aServiceServer;
use weft_proto::a2a_v03::a2a_service_server::A2aServiceServer as LegacyServer;

use crate::caller::Version;
use crate::edge::{Edge, Refused};
use service::Service;

pub(crate) use early::{refused, speaks, unknown};

/// Every gRPC service of the edge, by path.
///
/// # Errors
/// When the schema cannot be offered by reflection.
pub(crate) fn routes(edge: &Arc<Edge>) -> Result<Router, Refused> {
    let bytes_max = edge.body_bytes_max();
    let service = A2aServiceServer::new(Service::new(Arc::clone(edge)))
        .max_decoding_message_size(bytes_max)
        .max_encoding_message_size(usize::MAX);
    let legacy = LegacyServer::new(legacy::Service::new(Arc::clone(edge)))
        .max_decoding_message_size(bytes_max)
        .max_encoding_message_size(usize::MAX);
    let (health, watched) = tonic_health::server::health_reporter();
    let stopping = edge.env().stop().clone();
    let v03 = edge.spoken().contains(&Version::V03);
    edge.env().spawn(async move {
        health.set_serving::<A2aServiceServer<Service>>().await;
        if v03 {
            health.set_serving::<LegacyServer<legacy::Service>>().await;
        }
        stopping.cancelled().await;
        health.set_not_serving::<A2aServiceServer<Service>>().await;
        health.set_not_serving::<LegacyServer<legacy::Service>>().await;
        health.set_service_status("", tonic_health::ServingStatus::NotServing).await;
    });
    let unreadable = |error| Refused(format!("the schema cannot be offered by gRPC reflection: {error}"));
    let reflection = described(v03)?.build_v1().map_err(unreadable)?;
    let older = described(v03)?.build_v1alpha().map_err(unreadable)?;
    let routes = Routes::new(service)
        .add_service(legacy)
        .add_service(watched)
        .add_service(reflection)
        .add_service(older);
    let mended = middleware::map_response(move |answer| early::mend(answer, bytes_max));
    Ok(routes.into_axum_router().reset_fallback().layer(mended))
}

/// What reflection shows: the packages that are served here, never the mesh's own. Never inlined: in one function with
/// its builders side by side, the compiler (1.95, optimised) lets the second begin with what the first has left of
/// itself, memory that is freed by then.
#[inline(never)]
fn described(v03: bool) -> Result<tonic_reflection::server::Builder<'static>, Refused> {
    let mut schema = FileDescriptorSet::decode(weft_proto::FILE_DESCRIPTOR_SET)
        .map_err(|error| Refused(format!("the schema cannot be read: {error}")))?;
    schema.file.retain(|file| match file.package() {
        "weft.v1" => false,
        "a2a.v1" => v03,
        _ => true,
    });
    Ok(tonic_reflection::server::Builder::configure().register_file_descriptor_set(schema))
}
