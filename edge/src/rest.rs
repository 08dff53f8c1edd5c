//! `/rest`: the HTTP+JSON binding of A2A v1.0 §11 over the shared operations in [`crate::a2a`].
//!
//! A path is `[{tenant}/]` and a pattern of the standard; `v1/` and a pattern of v0.3 for its peers. Bodies that a
//! client leaves out stand for `{}`. What the path says about tenant and ids, a body may repeat but not contradict.

mod answer;
mod dialect;
mod query;
mod route;

use std::sync::Arc;
use std::time::Instant;

use axum::body::Body;
use axum::extract::{Request, State};
use bytes::Bytes;
use futures::stream;
use http::header::{CONTENT_ENCODING, CONTENT_TYPE};
use http::request::Parts;
use http::{HeaderMap, Method, Response, StatusCode};
use weft_core::{Fault, Kind};
use weft_proto::weft::TaskEvent;

use crate::a2a::{self, Reply, Stream};
use crate::caller::{self, Caller, Version};
use crate::edge::Edge;
use crate::observe::{self, Binding, Refused};
use crate::{body, sse};
use answer::Refusal;
use dialect::Dialect;
use route::{Missing, Route};

/// Where the binding lies.
pub(crate) const BASE: &str = "/rest";

/// Serves one request.
pub(crate) async fn serve(State(edge): State<Arc<Edge>>, request: Request) -> Response<Body> {
    let began = Instant::now();
    let (parts, body) = request.into_parts();
    let path = parts.uri.path().strip_prefix(BASE).unwrap_or_default();
    let path = path.strip_prefix('/').unwrap_or(path);
    let answered = match route::find(&parts.method, path) {
        Ok(route) => call(&edge, &parts, &route, body, began).await,
        Err(missing) => {
            let refusal = not_here(missing);
            edge.counters().called("unknown", refusal.reason(), began.elapsed());
            Err(refusal)
        }
    };
    let mut answer = answered.unwrap_or_else(|refusal| refusal.answer(&parts.headers));
    if parts.method == Method::HEAD {
        *answer.body_mut() = Body::empty();
    }
    answer
}

/// A refusal before the body is read. `path` is what follows [`BASE`].
pub(crate) fn refused_early(
    method: &Method,
    path: &str,
    headers: &HeaderMap,
    fault: Fault,
) -> Response<Body> {
    let refusal = Refusal::from(fault);
    let refusal = match route::find(method, path.strip_prefix('/').unwrap_or(path)) {
        Ok(Route { legacy: true, .. }) => Dialect::of(Version::V03, headers).refusal(refusal),
        _ => refusal,
    };
    let mut answer = refusal.answer(headers);
    if method == Method::HEAD {
        *answer.body_mut() = Body::empty();
    }
    answer
}

async fn call(
    edge: &Arc<Edge>,
    parts: &Parts,
    route: &Route,
    body: Body,
    began: Instant,
) -> Result<Response<Body>, Refusal> {
    // Held until the answer is there; a stream then holds a permit of its own.
    let _permit = edge.limits().call()?;
    let spoken = if route.legacy { Version::V03 } else { Version::V1 };
    let dialect = Dialect::of(spoken, &parts.headers);
    let work =
        async { run(edge, parts, route, dialect, body).await.map_err(|refusal| dialect.refusal(refusal)) };
    observe::call(edge, Binding::Http, route.operation, (&parts.headers, &parts.extensions), began, work)
        .await
}

async fn run(
    edge: &Arc<Edge>,
    parts: &Parts,
    route: &Route,
    dialect: Dialect,
    body: Body,
) -> Result<Response<Body>, Refusal> {
    check_version(edge, parts, route)?;
    let caller = Caller::of(edge.env(), &parts.headers, &parts.extensions, route.operation)?;
    let body = if parts.method == Method::POST {
        check_content(&parts.headers)?;
        let read = body::read(body, edge.body_bytes_max(), edge.body_read_time()).await;
        read.map_err(|fault| Refusal::under(body::status(&fault), fault))?
    } else {
        Bytes::new()
    };
    let query = query::Query::read(parts.uri.query().unwrap_or_default())?;
    let call = dialect.read(route, query, &body)?.at(&route.tenant)?;
    observe::note_task(call.task_id());
    let (reply, activated) = a2a::handle(edge, &caller, call).await?;
    observe::note_task(reply.task_id());
    let mut answer = match reply {
        Reply::Stream(stream) => streamed(dialect, stream),
        reply => {
            let mut out = Vec::with_capacity(1_024);
            dialect.write(reply, &mut out)?;
            answer::json(StatusCode::OK, &parts.headers, out)
        }
    };
    answer.headers_mut().extend(activated.headers(&parts.headers));
    Ok(answer)
}

/// The path decides about the version, and what the caller says must not contradict it.
fn check_version(edge: &Edge, parts: &Parts, route: &Route) -> Result<(), Fault> {
    let spoken = edge.spoken();
    let said = Version::said(&parts.headers, parts.uri.query(), spoken)?;
    let here = if route.legacy { Version::V03 } else { Version::V1 };
    if !spoken.contains(&here) || said.is_some_and(|said| said != here) {
        let asked = said.unwrap_or(here);
        return Err(caller::not_spoken_here(asked, here, spoken));
    }
    Ok(())
}

fn not_here(missing: Missing) -> Refusal {
    match missing {
        Missing::Path => {
            let text = "no A2A operation lies under this path: see A2A v1.0 §11.3 for the patterns";
            Fault::new(Kind::NotFound, text).into()
        }
        Missing::Method(allow) => {
            let text = format!("this path takes {allow}");
            Refusal::method(allow, Fault::new(Kind::Invalid, text))
        }
    }
}

/// JSON or nothing said about it; as it is, not compressed.
fn check_content(headers: &HeaderMap) -> Result<(), Refusal> {
    let refused = |text| {
        Refusal::under(StatusCode::UNSUPPORTED_MEDIA_TYPE, Fault::new(Kind::ContentTypeNotSupported, text))
    };
    if headers.get_all(CONTENT_ENCODING).iter().any(|v| !v.as_bytes().eq_ignore_ascii_case(b"identity")) {
        return Err(refused("the body must not be compressed: send it without Content-Encoding"));
    }
    if body::is_json(headers.get(CONTENT_TYPE)) {
        Ok(())
    } else {
        Err(refused("the body must be application/a2a+json or application/json"))
    }
}

/// Sends a stream to one reader; a fault in the middle is the last event.
fn streamed(dialect: Dialect, stream: Box<Stream>) -> Response<Body> {
    let keep_alive = stream.edge().keep_alive();
    let frames = stream::unfold(stream, move |mut stream| async move {
        let event = stream.next().await?;
        let frame = event.and_then(|event| framed(dialect, event)).unwrap_or_else(|fault| {
            let mut frame = sse::begin(None, None);
            frame.extend_from_slice(&dialect.refusal(fault.into()).body());
            sse::end(frame)
        });
        Some((frame, stream))
    });
    sse::answer(frames, keep_alive)
}

fn framed(dialect: Dialect, event: TaskEvent) -> Result<Bytes, Fault> {
    let mut frame = sse::begin(Some(event.seq), None);
    dialect.write_event(event.body.unwrap_or_default(), &mut frame)?;
    Ok(sse::end(frame))
}
