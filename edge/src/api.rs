//! `/api`: what the console needs beside A2A itself.

pub(crate) mod session;

use std::sync::Arc;

use axum::Extension;
use axum::body::Body;
use axum::extract::State;
use bytes::Bytes;
use futures::{Stream, stream};
use http::{Response, StatusCode};
use tonic::Streaming;
use weft_core::Fault;
use weft_proto::weft::{FeedEvent, FeedRequest};

use crate::access::{Admitted, Policies, Who};
use crate::edge::Edge;
use crate::limits::StreamPermit;
use crate::metrics::OpenStream;
use crate::upstreams::bounded;
use crate::{json, plain, sse};

/// `GET /api/catalog`: the snapshot that the edge goes by, as ProtoJSON of `weft.v1.Snapshot`.
pub(crate) async fn catalog(State(edge): State<Arc<Edge>>) -> Response<Body> {
    let written = edge.catalog().view().and_then(|view| {
        let mut out = Vec::with_capacity(8_192);
        json::encode(&view.snapshot, &mut out).map(|()| out)
    });
    match written {
        Ok(body) => plain::json(StatusCode::OK, body),
        Err(fault) => plain::fault(&fault),
    }
}

/// `GET /api/tasks/feed`: every status change of the caller's tasks from now on, as `event: task` with ProtoJSON of
/// `weft.v1.FeedEvent`.
pub(crate) async fn feed(
    State(edge): State<Arc<Edge>>,
    Extension(Admitted(who)): Extension<Admitted>,
) -> Response<Body> {
    match open_feed(&edge, &who).await {
        Ok(feed) => sse::answer(frames(feed), edge.keep_alive()),
        Err(fault) => plain::fault(&fault),
    }
}

struct Feed {
    events: Streaming<FeedEvent>,
    edge: Arc<Edge>,
    policies: Policies,
    /// Of the policy it was opened under.
    version: Option<u64>,
    _permit: StreamPermit,
    _open: OpenStream,
}

async fn open_feed(edge: &Arc<Edge>, who: &Who) -> Result<Feed, Fault> {
    let owner = who.owner.as_ref().ok_or_else(|| Fault::internal("nobody in particular has no feed"))?;
    let permit = edge.limits().stream(who)?;
    let policies = edge.access().policies();
    let version = policies.borrow().as_ref().map(|policy| policy.version);
    let asked = FeedRequest { owner: owner.as_str().to_owned() };
    let events = bounded(edge.upstream_time(), edge.tasks().feed(asked)).await?;
    let (edge, _open) = (Arc::clone(edge), edge.counters().stream_opened());
    Ok(Feed { events, edge, policies, version, _permit: permit, _open })
}

/// Ends when the store goes, the mesh stops, or who may call has changed: a page opens its feed again by itself, if it
/// may, and lists afresh.
fn frames(feed: Feed) -> impl Stream<Item = Bytes> + Send {
    stream::unfold(feed, |mut feed| async move {
        let (stop, version) = (feed.edge.env().stop().clone(), feed.version);
        let event = tokio::select! {
            event = feed.events.message() => event.ok().flatten()?,
            () = stop.cancelled() => return None,
            Ok(_) = feed.policies.wait_for(|now| now.as_ref().map(|now| now.version) != version) => return None,
        };
        let mut frame = sse::begin(None, Some("task"));
        json::encode(&event, &mut frame).ok()?;
        Some((sse::end(frame), feed))
    })
}
