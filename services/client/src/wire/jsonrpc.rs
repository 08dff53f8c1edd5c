//! JSON-RPC 2.0 over HTTP: one POST a call, an envelope in each answer and around each event.

use std::sync::atomic::Ordering;

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use weft_proto::a2a::StreamResponse;
use weft_proto::json;

use super::{Opened, Wire, stream};
use crate::call::Answer;
use crate::error::Why;
use crate::fault::{self, About, METHOD_NOT_FOUND, RpcError};
use crate::http::{Outgoing, Response, may_be_json, media_type, read};
use crate::legacy::{Legacy, lacking};
use crate::operation::{Answered, Operation};

#[derive(Serialize)]
struct Envelope<'a> {
    jsonrpc: &'static str,
    id: u32,
    method: &'a str,
    params: &'a RawValue,
}

#[derive(Deserialize)]
struct Reply {
    result: Option<Box<RawValue>>,
    error: Option<RpcError>,
}

impl Wire {
    pub(super) async fn jsonrpc_unary<O: Operation>(
        &self,
        request: &O::Request,
        headers: HeaderMap,
    ) -> Result<Answer<O::Answer>, Why> {
        let response = self.ask::<O>(request, headers, false).await?;
        let (status, headers) = (response.status(), response.headers().clone());
        let body = read(response, "the answer", self.shared.limits.answer_bytes_max).await?;
        let read = if self.is_old() { old::<O> } else { new::<O> };
        Ok(Answer::new(answer(status, &headers, &body, O::ABOUT, read)?, &headers))
    }

    pub(super) async fn jsonrpc_stream<O: Operation<Answer = StreamResponse>>(
        &self,
        request: &O::Request,
        headers: HeaderMap,
    ) -> Result<Opened, Why> {
        let response = self.ask::<O>(request, headers, true).await?;
        let event = if self.is_old() { event::<O, true> } else { event::<O, false> };
        stream::open(response, &self.shared.limits, O::ABOUT, event).await
    }

    /// Calls by the name of version 1.0 and, if the agent does not know it, by the older one. A refusal of the name is
    /// the whole answer, so that nothing can have been done.
    async fn ask<O: Operation>(
        &self,
        request: &O::Request,
        headers: HeaderMap,
        streamed: bool,
    ) -> Result<Response, Why> {
        let unusable =
            |error: &dyn std::fmt::Display| Why::Unusable(format!("cannot write the request: {error}"));
        let params = if self.is_old() {
            old_params::<O>(request)?
        } else {
            json::encode_string(request).map_err(|error| unusable(&error))?
        };
        let params = RawValue::from_string(params).map_err(|error| unusable(&error))?;
        let slashed = self.is_old() || self.slashed.load(Ordering::Relaxed);
        let first = self.post(if slashed { O::SLASH } else { O::NAME }, &params, &headers, streamed).await?;
        if slashed || streams(&first) {
            return Ok(first);
        }
        let (status, answered) = (first.status(), first.headers().clone());
        let body = read(first, "the answer", self.shared.limits.answer_bytes_max).await?;
        if is_unknown_method(&body) {
            let second = self.post(O::SLASH, &params, &headers, streamed).await?;
            self.slashed.store(true, Ordering::Relaxed);
            return Ok(second);
        }
        let mut whole = http::Response::new(body);
        *whole.status_mut() = status;
        *whole.headers_mut() = answered;
        Ok(whole.into())
    }

    async fn post(
        &self,
        method: &str,
        params: &RawValue,
        headers: &HeaderMap,
        streamed: bool,
    ) -> Result<Response, Why> {
        let envelope = Envelope { jsonrpc: "2.0", id: 1, method, params };
        let body = serde_json::to_vec(&envelope)
            .map_err(|error| Why::Unusable(format!("cannot write the request: {error}")))?;
        let mut headers = headers.clone();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        let accept = if streamed { "text/event-stream, application/json" } else { "application/json" };
        headers.insert(header::ACCEPT, HeaderValue::from_static(accept));
        let url = self.interface.url.clone();
        self.shared
            .http
            .exchange(Outgoing { method: Method::POST, url, headers, body: Bytes::from(body) })
            .await
    }
}

fn streams(response: &Response) -> bool {
    media_type(response.headers()) == "text/event-stream"
}

fn is_unknown_method(body: &[u8]) -> bool {
    #[derive(Deserialize)]
    struct Code {
        code: i64,
    }
    #[derive(Deserialize)]
    struct Refused {
        error: Code,
    }
    serde_json::from_slice::<Refused>(body).is_ok_and(|refused| refused.error.code == METHOD_NOT_FOUND)
}

/// What an envelope holds.
fn answer<A: Answered>(
    status: StatusCode,
    headers: &HeaderMap,
    body: &[u8],
    about: About,
    read: fn(&str) -> Result<A, String>,
) -> Result<A, Why> {
    let kind = media_type(headers);
    // The official Go server of v0.3 calls its answers text/plain.
    let readable = may_be_json(&kind) || kind == "text/plain";
    let reply = if readable { serde_json::from_slice::<Reply>(body).ok() } else { None };
    match reply {
        Some(Reply { error: Some(error), .. }) => Err(fault::of_rpc(&error, headers)),
        Some(Reply { result: Some(result), .. }) if status.is_success() => {
            read(result.get()).map_err(|error| Why::Malformed(format!("result: {error}")))
        }
        _ if !status.is_success() => Err(fault::of_http(status, headers, body, about)),
        // `null` as a result is read as none.
        Some(Reply { .. }) => {
            A::read(b"null").map_err(|_| Why::Malformed("it holds neither result nor error".to_owned()))
        }
        None => Err(Why::Malformed(stream::not("JSON-RPC", &kind, body))),
    }
}

/// What an event holds, of version 0.3 or of 1.0.
fn event<O: Operation<Answer = StreamResponse>, const OLD: bool>(
    data: &[u8],
    about: About,
) -> Result<StreamResponse, Why> {
    answer(StatusCode::OK, &HeaderMap::new(), data, about, if OLD { old::<O> } else { new::<O> })
}

fn new<O: Operation>(json: &str) -> Result<O::Answer, String> {
    O::Answer::read(json.as_bytes()).map_err(|error| error.to_string())
}

fn old<O: Operation>(json: &str) -> Result<O::Answer, String> {
    O::Old::read(json).map_err(|fault| fault.message)
}

fn old_params<O: Operation>(request: &O::Request) -> Result<String, Why> {
    let call = O::Old::call(request.clone()).ok_or_else(|| lacking(O::NAME))?;
    let mut params = Vec::new();
    call.params(&mut params).map_err(|fault| Why::Unusable(fault.message))?;
    String::from_utf8(params).map_err(|error| Why::Unusable(format!("cannot write the request: {error}")))
}
