//! HTTP+JSON: a path and a method a call, the message itself in each answer and event.

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use weft_proto::a2a::StreamResponse;

use super::{Opened, Wire, stream};
use crate::call::Answer;
use crate::error::Why;
use crate::fault::{self, About};
use crate::http::{Outgoing, Response, Url, may_be_json, media_type, read};
use crate::legacy::{Files, Legacy};
use crate::operation::{Answered, Operation, Rest};

const UNARY: HeaderValue = HeaderValue::from_static("application/a2a+json, application/json");
const STREAM: HeaderValue =
    HeaderValue::from_static("text/event-stream, application/a2a+json, application/json");
/// What every agent takes; version 1.0 would rather have `application/a2a+json`, which not all of them do.
const BODY: HeaderValue = HeaderValue::from_static("application/json");

impl Wire {
    pub(super) async fn rest_unary<O: Operation>(
        &self,
        request: &O::Request,
        headers: HeaderMap,
    ) -> Result<Answer<O::Answer>, Why> {
        let response = self.rest_exchange(self.rest_request::<O>(request)?, headers, UNARY).await?;
        let (status, headers) = (response.status(), response.headers().clone());
        let body = read(response, "the answer", self.shared.limits.answer_bytes_max).await?;
        if !status.is_success() {
            return Err(fault::of_http(status, &headers, &body, O::ABOUT));
        }
        let kind = media_type(&headers);
        if !may_be_json(&kind) {
            return Err(Why::Malformed(stream::not("JSON", &kind, &body)));
        }
        let answer = if self.is_old() { old::<O>(&body, self.files) } else { new::<O>(&body) };
        let answer = answer.map_err(Why::Malformed)?;
        Ok(Answer::new(answer, &headers))
    }

    pub(super) async fn rest_stream<O: Operation<Answer = StreamResponse>>(
        &self,
        request: &O::Request,
        headers: HeaderMap,
    ) -> Result<Opened, Why> {
        let mut rest = self.rest_request::<O>(request)?;
        let mut response = self.rest_exchange(rest.clone(), headers.clone(), STREAM).await?;
        // Agents disagree on the method of `:subscribe`; a task that is unknown says so in its body.
        let is_subscription = rest.url.path().ends_with(":subscribe");
        if is_subscription && is_wrong_method(&response) {
            rest.method = Method::GET;
            rest.body = Bytes::new();
            response = self.rest_exchange(rest, headers, STREAM).await?;
        }
        let old = self.is_old().then_some(self.files);
        let event = move |data: &[u8], about| event::<O>(data, about, old);
        stream::open(response, &self.shared.limits, O::ABOUT, event).await
    }

    fn rest_request<O: Operation>(&self, request: &O::Request) -> Result<Outgoing, Why> {
        let rest = if self.is_old() {
            O::Old::http(request.clone(), self.files)?
        } else {
            O::rest(request).map_err(|error| Why::Unusable(format!("cannot write the request: {error}")))?
        };
        let url = self.rest_url(&rest)?;
        let body = Bytes::from(rest.body.unwrap_or_default());
        Ok(Outgoing { method: rest.method, url, headers: HeaderMap::new(), body })
    }

    fn rest_url(&self, rest: &Rest) -> Result<Url, Why> {
        let mut url = self.interface.url.clone();
        let tenant = Some(self.interface.tenant.as_str()).filter(|tenant| !tenant.is_empty());
        let segments = tenant.into_iter().chain(rest.path.iter().map(String::as_str));
        for segment in segments.clone() {
            // A URL would take these for steps within the path, and an empty id for a list.
            if matches!(segment, "" | "." | "..") {
                return Err(Why::Unusable(format!("`{segment}` cannot stand in a path")));
            }
        }
        url.path_segments_mut()
            .map_err(|()| Why::Unusable(format!("{} has no path", self.interface.url)))?
            .pop_if_empty()
            .extend(segments);
        if !rest.query.is_empty() {
            url.query_pairs_mut().extend_pairs(&rest.query);
        }
        Ok(url)
    }

    async fn rest_exchange(
        &self,
        mut outgoing: Outgoing,
        headers: HeaderMap,
        accept: HeaderValue,
    ) -> Result<Response, Why> {
        outgoing.headers = headers;
        outgoing.headers.insert(header::ACCEPT, accept);
        if !outgoing.body.is_empty() {
            outgoing.headers.insert(header::CONTENT_TYPE, BODY);
        }
        self.shared.http.exchange(outgoing).await
    }
}

fn is_wrong_method(response: &Response) -> bool {
    response.status() == StatusCode::METHOD_NOT_ALLOWED || response.status() == StatusCode::NOT_IMPLEMENTED
}

/// The data of an event; with `old`, of version 0.3.
fn event<O: Operation<Answer = StreamResponse>>(
    data: &[u8],
    about: About,
    old: Option<Files>,
) -> Result<StreamResponse, Why> {
    if let Some(refused) = fault::on_stream(data, about) {
        return Err(refused);
    }
    match old {
        Some(files) => self::old::<O>(data, files),
        None => new::<O>(data),
    }
    .map_err(Why::Malformed)
}

fn new<O: Operation>(json: &[u8]) -> Result<O::Answer, String> {
    O::Answer::read(json).map_err(|error| error.to_string())
}

fn old<O: Operation>(json: &[u8], files: Files) -> Result<O::Answer, String> {
    O::Old::read_http(json, files).map_err(|fault| fault.message)
}
