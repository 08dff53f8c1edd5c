//! `GET /files/{task}/{digest}`: the bytes of a file that was too large to be written into an answer, with the rights
//! of the task's owner. `/agents/{tenant}/files/…` for the tasks of an agent of its own.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Path, State};
use bytes::Bytes;
use http::header::{
    ACCEPT_RANGES, CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_RANGE, CONTENT_SECURITY_POLICY, CONTENT_TYPE,
    ETAG, IF_NONE_MATCH, IF_RANGE, RANGE, X_CONTENT_TYPE_OPTIONS,
};
use http::{Extensions, HeaderMap, HeaderValue, Response, StatusCode};
use weft_core::{Fault, Kind, content};
use weft_proto::a2a::part::Content;
use weft_proto::a2a::{Part, StreamResponse, Task};
use weft_proto::weft::GetRequest;

use crate::a2a::Operation;
use crate::caller::Caller;
use crate::edge::Edge;
use crate::upstreams::bounded;
use crate::{card, plain};

/// Puts links in the place of what is too large for an answer.
pub(crate) struct Outline<'a> {
    pub(crate) edge: &'a Edge,
    pub(crate) tenant: &'a str,
}

// === impl Outline ===

impl Outline<'_> {
    pub(crate) fn task(&self, task: &mut Task) {
        content::outline_task(task, self.bytes_max(), &|task, digest| self.link(task, digest));
    }

    pub(crate) fn event(&self, event: &mut StreamResponse) {
        content::outline_event(event, self.bytes_max(), &|task, digest| self.link(task, digest));
    }

    fn bytes_max(&self) -> usize {
        usize::try_from(self.edge.settings().inline_bytes_max).unwrap_or(usize::MAX)
    }

    fn link(&self, task: &str, digest: &str) -> String {
        let base = self.edge.public_base();
        match self.tenant {
            "" => format!("{base}/files/{task}/{digest}"),
            tenant => format!("{base}/agents/{tenant}/files/{task}/{digest}"),
        }
    }
}

/// A file of a task of the mesh.
pub(crate) async fn serve(
    State(edge): State<Arc<Edge>>,
    Path((task, digest)): Path<(String, String)>,
    extensions: Extensions,
    headers: HeaderMap,
) -> Response<Body> {
    answer(&edge, "", task, &digest, (&headers, &extensions)).await
}

/// A file of a task of an agent.
pub(crate) async fn serve_agent(
    State(edge): State<Arc<Edge>>,
    Path((tenant, task, digest)): Path<(String, String, String)>,
    extensions: Extensions,
    headers: HeaderMap,
) -> Response<Body> {
    answer(&edge, &tenant, task, &digest, (&headers, &extensions)).await
}

async fn answer(
    edge: &Edge,
    tenant: &str,
    task: String,
    digest: &str,
    asked: (&HeaderMap, &Extensions),
) -> Response<Body> {
    match read(edge, tenant, task, digest, asked).await {
        Ok(part) => download(part, digest, asked.0),
        Err(fault) => plain::fault(&fault),
    }
}

async fn read(
    edge: &Edge,
    tenant: &str,
    task_id: String,
    digest: &str,
    (headers, extensions): (&HeaderMap, &Extensions),
) -> Result<Part, Fault> {
    // Who may read the task may read its files.
    let caller = Caller::of(edge.env(), headers, extensions, Operation::GetTask)
        .inspect_err(|fault| edge.audit().refused(extensions, "files", fault))?;
    let owner = caller.owner.in_tenant(tenant).as_str().to_owned();
    let asked = GetRequest { owner, task_id, history_length: None };
    let task = bounded(edge.upstream_time(), edge.tasks().get(asked)).await?;
    let gone = || Fault::new(Kind::NotFound, "the task holds no such file");
    content::find(task, digest).ok_or_else(gone)
}

fn download(part: Part, digest: &str, headers: &HeaderMap) -> Response<Body> {
    let Some(Content::Raw(bytes)) = part.content else {
        return plain::text(StatusCode::NOT_FOUND, "the part holds no bytes");
    };
    let bytes = Bytes::from(bytes);
    let etag = HeaderValue::try_from(format!("\"{digest}\"")).ok();
    let is_known = |name| {
        let mut values = headers.get_all(name).iter();
        let named = |list: &HeaderValue, etag| list.to_str().is_ok_and(|list| card::names(list, etag));
        etag.as_ref().is_some_and(|etag| values.any(|list| named(list, etag)))
    };
    let (status, body, range) = if is_known(IF_NONE_MATCH) {
        (StatusCode::NOT_MODIFIED, Bytes::new(), None)
    } else if headers.contains_key(IF_RANGE) && !is_known(IF_RANGE) {
        (StatusCode::OK, bytes, None)
    } else {
        cut(bytes, headers.get(RANGE))
    };
    let mut answer = Response::new(Body::from(body));
    *answer.status_mut() = status;
    let out = answer.headers_mut();
    let kind = HeaderValue::try_from(part.media_type).ok().filter(|kind| !kind.is_empty());
    out.insert(CONTENT_TYPE, kind.unwrap_or_else(|| HeaderValue::from_static("application/octet-stream")));
    out.insert(CONTENT_DISPOSITION, disposition(&part.filename));
    out.insert(ACCEPT_RANGES, HeaderValue::from_static("bytes"));
    out.insert(CACHE_CONTROL, HeaderValue::from_static("private, max-age=86400, immutable"));
    // What an agent wrote is never a page of ours.
    out.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    out.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static("default-src 'none'; sandbox"));
    out.extend(etag.map(|etag| (ETAG, etag)));
    out.extend(range.and_then(|range| HeaderValue::try_from(range).ok()).map(|range| (CONTENT_RANGE, range)));
    answer
}

/// The range that is asked for (RFC 9110 §14.2). One range is served; of several, and of what is no range, the whole.
fn cut(bytes: Bytes, asked: Option<&HeaderValue>) -> (StatusCode, Bytes, Option<String>) {
    let whole = bytes.len() as u64;
    let Some(parsed) = asked
        .and_then(|value| value.to_str().ok())
        .filter(|text| text.starts_with("bytes="))
        .and_then(|text| http_range_header::parse_range_header(text).ok())
    else {
        return (StatusCode::OK, bytes, None);
    };
    match parsed.validate(whole).as_deref() {
        Ok([range]) => {
            let (first, last) = (*range.start(), *range.end());
            let slice = usize::try_from(first).ok().zip(usize::try_from(last).ok());
            let slice = slice.map(|(first, last)| bytes.slice(first..=last)).unwrap_or_default();
            (StatusCode::PARTIAL_CONTENT, slice, Some(format!("bytes {first}-{last}/{whole}")))
        }
        Ok(_) => (StatusCode::OK, bytes, None),
        Err(_) => (StatusCode::RANGE_NOT_SATISFIABLE, Bytes::new(), Some(format!("bytes */{whole}"))),
    }
}

/// Always a download, under the file's own name where it has one (RFC 6266).
fn disposition(filename: &str) -> HeaderValue {
    const PLAIN: percent_encoding::AsciiSet =
        percent_encoding::NON_ALPHANUMERIC.remove(b'.').remove(b'-').remove(b'_');
    let plain = HeaderValue::from_static("attachment");
    if filename.is_empty() {
        return plain;
    }
    let name = percent_encoding::utf8_percent_encode(filename, &PLAIN);
    HeaderValue::try_from(format!("attachment; filename*=UTF-8''{name}")).unwrap_or(plain)
}
