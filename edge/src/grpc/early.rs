//! What the gRPC library says before a handler is asked, in the words of the fault table.

use axum::body::Body;
use http::header::CONTENT_TYPE;
use http::{HeaderMap, Response};
use tonic::{Code, Status};
use weft_chassis::status::status;
use weft_core::{Fault, Kind};

use crate::plain;

/// Puts a refusal of the library (a message over the limit, or one that cannot be read) into our own words.
pub(super) async fn mend(answer: Response<Body>, bytes_max: usize) -> Response<Body> {
    let Some(said) = Status::from_header_map(answer.headers()) else { return answer };
    let fault = match said.code() {
        Code::OutOfRange => {
            let text = format!("the message is larger than {bytes_max} bytes (edge.body_bytes_max)");
            Fault::new(Kind::TooLarge, text)
        }
        Code::Internal if said.details().is_empty() && said.message().contains("decode") => {
            Fault::new(Kind::Invalid, "the message is not the protobuf of this method")
        }
        _ => return answer,
    };
    status(fault).into_http()
}

/// A fault as its caller sees it, with the same advice that the headers of the other bindings give.
pub(super) fn advised(fault: Fault) -> Status {
    let advice: HeaderMap = plain::advice(&fault).collect();
    let mut refused = status(fault);
    refused.metadata_mut().as_mut().extend(advice);
    refused
}

/// A refusal to a gRPC caller; nothing to any other.
pub(crate) fn refused(headers: &HeaderMap, fault: &Fault) -> Option<Response<Body>> {
    speaks(headers).then(|| advised(fault.clone()).into_http())
}

/// Whether a request speaks gRPC.
pub(crate) fn speaks(headers: &HeaderMap) -> bool {
    headers.get(CONTENT_TYPE).is_some_and(|kind| kind.as_bytes().starts_with(b"application/grpc"))
}

/// The answer to a gRPC call of a service that is not there; nothing for any other request.
pub(crate) fn unknown(headers: &HeaderMap) -> Option<Response<Body>> {
    speaks(headers).then(|| Status::unimplemented("no such gRPC service: see reflection").into_http())
}
