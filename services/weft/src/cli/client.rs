//! The command line's own A2A client: JSON-RPC and SSE against one edge.

use std::time::Duration;

use eventsource_stream::Eventsource;
use futures::{Stream, StreamExt};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use weft_proto::json;

use super::Failure;

/// Longest wait for an answer that is not a stream.
const ANSWER_WITHIN: Duration = Duration::from_secs(15 * 60);
const CONNECT_WITHIN: Duration = Duration::from_secs(5);

/// A client of one edge.
pub(super) struct Client {
    http: reqwest::Client,
    base: String,
}

#[derive(Serialize)]
struct Call<'a> {
    jsonrpc: &'static str,
    id: u32,
    method: &'a str,
    params: &'a RawValue,
}

#[derive(Deserialize)]
struct Answer {
    result: Option<Box<RawValue>>,
    error: Option<RpcError>,
}

#[derive(Deserialize)]
struct RpcError {
    code: i32,
    message: String,
}

impl Client {
    /// A client of the edge at `base`, for example `http://127.0.0.1:8420`.
    pub(super) fn new(base: &str) -> Result<Client, Failure> {
        let http = reqwest::Client::builder()
            .connect_timeout(CONNECT_WITHIN)
            .redirect(reqwest::redirect::Policy::none())
            .user_agent(concat!("weft/", env!("CARGO_PKG_VERSION")))
            .build()
            .map_err(|e| Failure::Unreachable(format!("cannot make an HTTP client: {e}")))?;
        Ok(Client { http, base: base.trim_end_matches('/').to_owned() })
    }

    /// A document by GET, as text.
    pub(super) async fn get(&self, path: &str) -> Result<String, Failure> {
        let request = self.http.get(format!("{}{path}", self.base)).timeout(ANSWER_WITHIN);
        let response = request.send().await.map_err(|e| self.unreachable(&e))?;
        let status = response.status();
        let text = response.text().await.map_err(|e| self.unreachable(&e))?;
        if status.is_success() {
            Ok(text)
        } else {
            Err(Failure::Refused(format!("{path} answered {status}: {text}")))
        }
    }

    /// One call, one answer.
    pub(super) async fn call<P: Serialize, R: DeserializeOwned>(
        &self,
        method: &str,
        params: &P,
        idempotency_key: Option<&str>,
    ) -> Result<R, Failure> {
        let request = self.request(method, params, idempotency_key)?.timeout(ANSWER_WITHIN);
        let response = request.send().await.map_err(|e| self.unreachable(&e))?;
        let body = response.bytes().await.map_err(|e| self.unreachable(&e))?;
        result_of(&body)
    }

    /// One call, a stream of answers.
    pub(super) async fn stream<P: Serialize, R: DeserializeOwned>(
        &self,
        method: &str,
        params: &P,
        idempotency_key: Option<&str>,
    ) -> Result<impl Stream<Item = Result<R, Failure>> + use<P, R>, Failure> {
        let request = self.request(method, params, idempotency_key)?.header("accept", "text/event-stream");
        let response = request.send().await.map_err(|e| self.unreachable(&e))?;
        let kind = response.headers().get("content-type").and_then(|v| v.to_str().ok()).unwrap_or_default();
        if !kind.starts_with("text/event-stream") {
            let body = response.bytes().await.map_err(|e| self.unreachable(&e))?;
            result_of::<serde_json::Value>(&body)?;
            return Err(Failure::Refused(format!("{method} answered no stream")));
        }
        Ok(response.bytes_stream().eventsource().map(|event| match event {
            Ok(event) => result_of(event.data.as_bytes()),
            Err(e) => Err(Failure::Unreachable(format!("the stream broke: {e}"))),
        }))
    }

    fn request<P: Serialize>(
        &self,
        method: &str,
        params: &P,
        idempotency_key: Option<&str>,
    ) -> Result<reqwest::RequestBuilder, Failure> {
        let params = serde_json::value::to_raw_value(params)
            .map_err(|e| Failure::Usage(format!("cannot encode the request: {e}")))?;
        let call = Call { jsonrpc: "2.0", id: 1, method, params: &params };
        let mut request =
            self.http.post(format!("{}/a2a", self.base)).header("a2a-version", "1.0").json(&call);
        if let Some(key) = idempotency_key {
            request = request.header("idempotency-key", key);
        }
        Ok(request)
    }

    fn unreachable(&self, error: &reqwest::Error) -> Failure {
        let mut text = error.to_string();
        let mut source = std::error::Error::source(error);
        while let Some(cause) = source {
            text = cause.to_string();
            source = cause.source();
        }
        Failure::Unreachable(format!("cannot reach {}: {text}; is the mesh up? (`weft up`)", self.base))
    }
}

fn result_of<R: DeserializeOwned>(body: &[u8]) -> Result<R, Failure> {
    let answer: Answer = serde_json::from_slice(body).map_err(|_| {
        let start: String = String::from_utf8_lossy(body).chars().take(200).collect();
        Failure::Refused(format!("the answer is not JSON-RPC: {start}"))
    })?;
    match answer {
        Answer { error: Some(error), .. } => {
            Err(Failure::Refused(format!("{} ({})", error.message, error.code)))
        }
        Answer { result: Some(result), .. } => json::decode(result.get().as_bytes())
            .map_err(|e| Failure::Refused(format!("the answer does not fit the protocol: {e}"))),
        Answer { .. } => Err(Failure::Refused("the answer holds neither result nor error".to_owned())),
    }
}
