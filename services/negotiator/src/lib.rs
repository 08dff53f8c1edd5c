//! Judges proposals against declared constraints. It calls nobody and keeps nothing: the same question has the same
//! answer, whoever asks and whenever.
//!
//! | module | holds |
//! |---|---|
//! | `judge` | constraints in order, the first that refuses, its code and its reason: pure |
//! | `expression` | one CEL expression over `proposal` and `facts` |
//! | `reason` | `{name}` in a reason's text, filled in |

use tonic::service::Routes;
use tonic::{Request, Response, Status};
use weft_chassis::Env;
use weft_chassis::status::status;
use weft_proto::weft::negotiator_server::{Negotiator, NegotiatorServer};
use weft_proto::weft::{JudgeRequest, JudgeResponse};

mod expression;
mod judge;
mod reason;

/// The negotiator. It needs nothing of its environment yet; the signature is the one of every service.
#[must_use]
pub fn routes(_env: &Env) -> Routes {
    Routes::new(NegotiatorServer::new(Grpc))
}

struct Grpc;

#[tonic::async_trait]
impl Negotiator for Grpc {
    async fn judge(&self, request: Request<JudgeRequest>) -> Result<Response<JudgeResponse>, Status> {
        judge::judge(&request.into_inner()).map(Response::new).map_err(status)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use weft_proto::weft::negotiator_client::NegotiatorClient;

    #[tokio::test]
    async fn a_malformed_constraint_is_refused_over_the_wire_naming_the_field() {
        let peer = weft_chassis::peer::local(routes(&Env::system()));
        let request = JudgeRequest { constraints: vec![Default::default()], ..JudgeRequest::default() };
        let refused = NegotiatorClient::new(peer).judge(request).await.unwrap_err();
        let fault = weft_chassis::status::fault(&refused);
        assert_eq!(fault.kind, weft_core::Kind::Invalid);
        assert_eq!(fault.violations[0].field, "constraints[0].code");
    }
}
