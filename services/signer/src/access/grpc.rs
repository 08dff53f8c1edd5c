//! The service: Authenticate, Watch and Credential.

use std::pin::Pin;

use futures::{Stream, StreamExt as _};
use tokio_stream::wrappers::WatchStream;
use tonic::{Request, Response, Status};
use weft_chassis::status::status;
use weft_core::{Fault, Kind};
use weft_proto::weft as pb;
use weft_proto::weft::access_server;
use weft_proto::weft::audit_event::Outcome;

use super::Access;
use super::authenticate::authenticate;
use super::refusal::Failed;

/// When a reader that found no room should try again, in milliseconds.
const RETRY_MS: u32 = 1_000;

#[tonic::async_trait]
impl access_server::Access for Access {
    async fn authenticate(
        &self,
        request: Request<pb::AuthenticateRequest>,
    ) -> Result<Response<pb::AuthenticateResponse>, Status> {
        let request = request.into_inner();
        let present = self.follower.present();
        let answer = authenticate(&present, &self.seals, &request, self.env.now().seconds).await;
        answer.map(Response::new).map_err(|failed| {
            self.note(&failed, &request);
            status(failed.fault())
        })
    }

    type WatchStream = Pin<Box<dyn Stream<Item = Result<pb::AccessPolicy, Status>> + Send>>;

    async fn watch(&self, _: Request<pb::WatchAccessRequest>) -> Result<Response<Self::WatchStream>, Status> {
        let room = self.watchers.clone().try_acquire_owned();
        let room = room
            .map_err(|_| status(Fault::exhausted("the signer has as many readers as it takes", RETRY_MS)))?;
        let stop = self.env.stop().clone();
        // A slow reader misses what was overtaken, never the latest.
        let policies = WatchStream::new(self.follower.subscribe())
            .take_until(async move { stop.cancelled().await })
            .map(move |present| {
                let _held = &room;
                Ok(present.policy.clone())
            });
        Ok(Response::new(Box::pin(policies)))
    }

    async fn credential(
        &self,
        request: Request<pb::CredentialRequest>,
    ) -> Result<Response<pb::CredentialResponse>, Status> {
        let name = request.into_inner().secret;
        let (secrets, asked) = (self.secrets.clone(), name.clone());
        let found = tokio::task::spawn_blocking(move || secrets.get(&asked)).await;
        let found = found.map_err(|_| status(Fault::internal("the secret store cannot be read")))?;
        match found {
            Ok(Some(value)) => Ok(Response::new(pb::CredentialResponse { value: value.to_vec() })),
            Ok(None) => Err(status(Fault::new(
                Kind::NotFound,
                format!("there is no secret {name}: `weft secrets set {name}`"),
            ))),
            Err(crate::SecretFault::Name) => {
                Err(status(Fault::invalid("secret", crate::SecretFault::Name.to_string())))
            }
            Err(fault) => {
                tracing::error!(target: "weft::access", %fault, "a secret cannot be read");
                Err(status(Fault::unavailable("a secret cannot be read now; the signer's log says why")))
            }
        }
    }
}

impl Access {
    /// Writes down why somebody was not let in.
    fn note(&self, failed: &Failed, request: &pb::AuthenticateRequest) {
        let (code, outcome) = match failed {
            Failed::Refused(refusal) => (refusal.code(), Outcome::Denied),
            Failed::Unavailable(..) => ("UNAVAILABLE", Outcome::Failed),
            Failed::Invalid(_) => ("INVALID", Outcome::Failed),
        };
        self.metrics.not_let_in(code);
        let event = pb::AuditEvent {
            action: "authenticate".to_owned(),
            outcome: outcome.into(),
            reason: code.to_owned(),
            peer: request.peer.clone(),
            ..pb::AuditEvent::default()
        };
        // Whoever tries again and again is counted, in the log as in the record.
        if self.audit.failed(event) {
            tracing::warn!(target: "weft::access", code, peer = request.peer, "a call's credentials were not accepted");
        }
    }
}
