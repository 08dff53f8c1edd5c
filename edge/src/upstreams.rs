//! The services behind the edge, and how a call to one is bounded.

use std::time::Duration;

use tonic::{Response, Status};
use weft_chassis::{Peer, peer, status};
use weft_core::{Fault, Kind};
use weft_proto::weft::access_client::AccessClient;
use weft_proto::weft::audit_client::AuditClient;
use weft_proto::weft::catalog_client::CatalogClient;
use weft_proto::weft::tasks_client::TasksClient;

/// Who stands behind the edge: in this process or elsewhere, the edge cannot tell.
#[derive(Clone)]
pub struct Upstreams {
    /// The task store.
    pub tasks: Peer,
    /// The catalog.
    pub catalog: Peer,
    /// The signer: its public keys, who calls, and the record of who was not let in.
    pub signer: Peer,
}

impl Upstreams {
    pub(crate) fn tasks_client(&self) -> TasksClient<Peer> {
        TasksClient::new(self.tasks.clone())
            .max_decoding_message_size(peer::MESSAGE_BYTES_MAX)
            .max_encoding_message_size(peer::MESSAGE_BYTES_MAX)
    }

    pub(crate) fn access_client(&self) -> AccessClient<Peer> {
        AccessClient::new(self.signer.clone())
    }

    pub(crate) fn audit_client(&self) -> AuditClient<Peer> {
        AuditClient::new(self.signer.clone())
    }

    pub(crate) fn catalog_client(&self) -> CatalogClient<Peer> {
        CatalogClient::new(self.catalog.clone()).max_decoding_message_size(peer::MESSAGE_BYTES_MAX)
    }
}

/// Waits for an answer no longer than `within`. What a service says is passed on; that it cannot be reached becomes
/// `Unavailable` with the advice to try again.
pub(crate) async fn bounded<T>(
    within: Duration,
    call: impl Future<Output = Result<Response<T>, Status>>,
) -> Result<T, Fault> {
    match tokio::time::timeout(within, call).await {
        Ok(Ok(answer)) => Ok(answer.into_inner()),
        Ok(Err(refused)) => Err(passed_on(&refused)),
        Err(_) => Err(Fault::new(Kind::Deadline, "the mesh did not answer in time: try again")),
    }
}

/// The fault behind a status. Texts of the transport (addresses, sockets) stay inside.
pub(crate) fn passed_on(refused: &Status) -> Fault {
    let fault = status::fault(refused);
    if fault.kind == Kind::Unavailable && refused.details().is_empty() {
        tracing::warn!(error = refused.message(), "a service of the mesh cannot be reached");
        return unavailable();
    }
    fault
}

/// A service of the mesh cannot be reached now.
pub(crate) fn unavailable() -> Fault {
    Fault { retry_after_ms: Some(1_000), ..Fault::unavailable("the mesh is not ready: try again") }
}
