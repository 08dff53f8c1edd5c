//! A refusal before a binding has read the call, in the words of the binding that the path belongs to.

use axum::body::Body;
use http::{HeaderMap, Method, Response, StatusCode, Uri};
use weft_core::Fault;

use crate::{grpc, jsonrpc, plain, rest};

pub(crate) fn refusal(method: &Method, uri: &Uri, headers: &HeaderMap, fault: Fault) -> Response<Body> {
    if let Some(answer) = grpc::refused(headers, &fault) {
        return answer;
    }
    let path = uri.path();
    if path.trim_end_matches('/').ends_with("/a2a") {
        return jsonrpc::refused_early(status(&fault), fault);
    }
    match path.strip_prefix(rest::BASE) {
        Some(below) => rest::refused_early(method, below, headers, fault),
        None => plain::fault(&fault),
    }
}

/// The HTTP status of a fault.
pub(crate) fn status(fault: &Fault) -> StatusCode {
    StatusCode::from_u16(fault.kind.row().http).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
}
