//! Reading a request's body: bounded in size and in time.

use std::time::Duration;

use axum::body::Body;
use bytes::{Bytes, BytesMut};
use http::{HeaderValue, StatusCode};
use http_body_util::BodyExt;
use weft_core::{Fault, Kind};

/// Reads all of it.
///
/// # Errors
/// `TooLarge` over `bytes_max` (told from the announced length when there is one), `Deadline` when it takes longer than
/// `within`, `Cancelled` when the connection breaks.
pub(crate) async fn read(mut body: Body, bytes_max: usize, within: Duration) -> Result<Bytes, Fault> {
    let announced = http_body::Body::size_hint(&body).lower();
    let read = if usize::try_from(announced).map_or(true, |n| n > bytes_max) {
        Err(too_large(bytes_max))
    } else {
        tokio::time::timeout(within, collect(&mut body, bytes_max)).await.unwrap_or_else(|_| {
            Err(Fault::new(Kind::Deadline, "the body took too long to arrive (edge.body_read_ms)"))
        })
    };
    if read.as_ref().is_err_and(|fault| fault.kind == Kind::TooLarge) {
        // Whether all of it came does not matter: the answer goes out either way.
        let _ = tokio::time::timeout(within, discard(&mut body, bytes_max.saturating_mul(4))).await;
    }
    read
}

/// Takes in, and drops, what a caller still sends: many read no answer before they have sent everything, and would
/// only see the connection break. Bounded: who sends far too much sees just that.
async fn discard(body: &mut Body, bytes_max: usize) {
    let mut left = bytes_max;
    while let Some(Ok(frame)) = body.frame().await {
        left = left.saturating_sub(frame.data_ref().map_or(0, Bytes::len));
        if left == 0 {
            return;
        }
    }
}

/// Whether a `Content-Type` says JSON, or nothing.
pub(crate) fn is_json(given: Option<&HeaderValue>) -> bool {
    let Some(given) = given else { return true };
    let essence = given.to_str().unwrap_or_default().split(';').next().unwrap_or_default().trim();
    essence.eq_ignore_ascii_case("application/json") || essence.eq_ignore_ascii_case("application/a2a+json")
}

/// The HTTP status of a body that could not be read.
pub(crate) fn status(fault: &Fault) -> StatusCode {
    match fault.kind {
        Kind::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
        Kind::Deadline => StatusCode::REQUEST_TIMEOUT,
        _ => StatusCode::BAD_REQUEST,
    }
}

async fn collect(body: &mut Body, bytes_max: usize) -> Result<Bytes, Fault> {
    let mut first = Bytes::new();
    let mut all = BytesMut::new();
    while let Some(frame) = body.frame().await {
        let frame =
            frame.map_err(|_| Fault::new(Kind::Cancelled, "the connection broke while the body was read"))?;
        let Ok(data) = frame.into_data() else { continue };
        if first.len() + all.len() + data.len() > bytes_max {
            return Err(too_large(bytes_max));
        }
        // Nearly every body is one frame, which is taken as it is.
        if first.is_empty() && all.is_empty() {
            first = data;
        } else {
            all.extend_from_slice(&std::mem::take(&mut first));
            all.extend_from_slice(&data);
        }
    }
    Ok(if all.is_empty() { first } else { all.freeze() })
}

fn too_large(bytes_max: usize) -> Fault {
    Fault::new(Kind::TooLarge, format!("the body is larger than {bytes_max} bytes (edge.body_bytes_max)"))
}
