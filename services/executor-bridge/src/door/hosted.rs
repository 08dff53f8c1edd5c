//! A node in this process: the same request, without a socket.

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt, Full};
use tonic::body::Body;
use tower::{Service, ServiceExt};
use weft_chassis::Peer;
use weft_chassis::peer::BoxError;

use crate::failure::Failure;

pub(super) async fn send(mut peer: Peer, request: Request<Bytes>) -> Result<Response<Body>, Failure> {
    let request = request.map(|bytes| Body::new(Full::new(bytes)));
    let gone = |error: BoxError| Failure::Unreachable(error.to_string());
    let ready = peer.ready().await.map_err(gone)?;
    ready.call(request).await.map_err(gone)
}

/// The next piece of an answer; `None` at its end.
pub(super) async fn chunk(body: &mut Body) -> Result<Option<Bytes>, String> {
    loop {
        match body.frame().await {
            None => return Ok(None),
            Some(Err(status)) => return Err(status.message().to_owned()),
            // Trailers hold nothing for us.
            Some(Ok(frame)) => {
                if let Ok(data) = frame.into_data() {
                    return Ok(Some(data));
                }
            }
        }
    }
}
