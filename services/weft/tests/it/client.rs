//! An A2A client for tests: JSON-RPC and SSE against one edge, nothing retried, nothing hidden.

use std::time::Duration;

use eventsource_stream::Eventsource;
use futures::StreamExt;
use futures::stream::BoxStream;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use weft_proto::a2a::stream_response::Payload;
use weft_proto::a2a::{
    ListTasksResponse, SendMessageResponse, StreamResponse, Task, TaskState, send_message_response,
};

/// Longest wait for anything that is expected to come.
const WITHIN: Duration = Duration::from_secs(30);

/// A client of one edge. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Client {
    http: reqwest::Client,
    pub(crate) base: String,
}

/// Why a call gave no result.
#[derive(Debug)]
pub(crate) enum Failure {
    /// No answer, or one that broke off.
    Away(String),
    /// The mesh answered with an error.
    Refused { code: i64, reason: String, message: String },
}

/// An event and its number within its task.
pub(crate) type Event = (u64, StreamResponse);

/// Events of one stream.
pub(crate) struct Events(BoxStream<'static, Result<Event, Failure>>);

#[derive(Deserialize)]
struct Answer {
    #[serde(default, deserialize_with = "present")]
    result: Option<Box<RawValue>>,
    error: Option<Value>,
}

/// The parameters of a message to the test fleet's only capability; the text is the message's id too.
pub(crate) fn said(text: &str) -> Value {
    json!({ "message": {
        "messageId": format!("m {text}"), "role": "ROLE_USER", "parts": [{ "text": text }],
        "metadata": { "skillId": "play.rules" },
    }})
}

/// The same, not waited for.
pub(crate) fn said_at_once(text: &str) -> Value {
    let mut params = said(text);
    params["configuration"] = json!({ "returnImmediately": true });
    params
}

/// The next turn of a task.
pub(crate) fn said_to(task: &str, text: &str) -> Value {
    let mut params = said(text);
    params["message"]["taskId"] = task.into();
    params
}

// === impl Client ===

impl Client {
    pub(crate) fn new(base: &str) -> Client {
        // Plain HTTP only, but the client wants to know whom to ask for TLS.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let http = reqwest::Client::builder().no_proxy().build().unwrap();
        Client { http, base: base.to_owned() }
    }

    pub(crate) async fn get(&self, path: &str) -> Result<String, Failure> {
        let answer =
            self.http.get(format!("{}{path}", self.base)).timeout(WITHIN).send().await.map_err(away)?;
        let answer = answer.error_for_status().map_err(away)?;
        answer.text().await.map_err(away)
    }

    pub(crate) async fn call<R: DeserializeOwned>(&self, method: &str, params: &Value) -> Result<R, Failure> {
        self.call_with(method, params, &[]).await
    }

    /// With further headers.
    pub(crate) async fn call_with<R: DeserializeOwned>(
        &self,
        method: &str,
        params: &Value,
        headers: &[(&str, &str)],
    ) -> Result<R, Failure> {
        let answer = self.request(method, params, headers).timeout(WITHIN).send().await.map_err(away)?;
        result_of(&answer.bytes().await.map_err(away)?)
    }

    pub(crate) async fn stream(
        &self,
        method: &str,
        params: &Value,
        headers: &[(&str, &str)],
    ) -> Result<Events, Failure> {
        let request = self.request(method, params, headers).header("accept", "text/event-stream");
        let answer = tokio::time::timeout(WITHIN, request.send())
            .await
            .map_err(|_| Failure::Away(format!("{method}: no answer in time")))?
            .map_err(away)?;
        let kind = answer.headers().get("content-type").and_then(|v| v.to_str().ok()).unwrap_or_default();
        if !kind.starts_with("text/event-stream") {
            let body = answer.bytes().await.map_err(away)?;
            return Err(match result_of::<SendMessageResponse>(&body) {
                Err(failure) => failure,
                Ok(_) => Failure::Away(format!("{method} answered no stream")),
            });
        }
        let events = answer.bytes_stream().eventsource().map(|event| {
            let event = event.map_err(|e| Failure::Away(e.to_string()))?;
            let body = result_of(event.data.as_bytes())?;
            Ok((
                event.id.parse().map_err(|_| Failure::Away(format!("`{}` numbers no event", event.id)))?,
                body,
            ))
        });
        Ok(Events(events.boxed()))
    }

    fn request(&self, method: &str, params: &Value, headers: &[(&str, &str)]) -> reqwest::RequestBuilder {
        let call = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        let request = self.http.post(format!("{}/a2a", self.base)).header("a2a-version", "1.0").json(&call);
        headers.iter().fold(request, |request, (name, value)| request.header(*name, *value))
    }

    /// The task a message became.
    pub(crate) async fn send(&self, params: &Value, headers: &[(&str, &str)]) -> Result<Task, Failure> {
        let sent: SendMessageResponse = self.call_with("SendMessage", params, headers).await?;
        match sent.payload {
            Some(send_message_response::Payload::Task(task)) => Ok(task),
            other => Err(Failure::Away(format!("no task: {other:?}"))),
        }
    }

    pub(crate) async fn task(&self, id: &str) -> Result<Task, Failure> {
        self.call("GetTask", &json!({ "id": id })).await
    }

    pub(crate) async fn cancel(&self, id: &str) -> Result<Task, Failure> {
        self.call("CancelTask", &json!({ "id": id })).await
    }

    pub(crate) async fn list(&self, params: &Value) -> Result<ListTasksResponse, Failure> {
        self.call("ListTasks", params).await
    }

    /// A snapshot of the task, then what follows; with `after`, only what follows that event.
    pub(crate) async fn subscribe(&self, id: &str, after: Option<u64>) -> Result<Events, Failure> {
        let after = after.map(|seq| seq.to_string());
        let headers: Vec<_> = after.iter().map(|seq| ("last-event-id", seq.as_str())).collect();
        self.stream("SubscribeToTask", &json!({ "id": id }), &headers).await
    }

    /// Reads the task until it is as wanted.
    pub(crate) async fn until(&self, id: &str, wanted: impl Fn(&Task) -> bool) -> Task {
        let looked = async {
            loop {
                match self.task(id).await {
                    Ok(task) if wanted(&task) => return task,
                    Ok(_) | Err(Failure::Away(_)) => {}
                    Err(failure) => panic!("task {id}: {failure:?}"),
                }
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        tokio::time::timeout(WITHIN, looked)
            .await
            .unwrap_or_else(|_| panic!("task {id} never became as wanted"))
    }

    /// Reads the task until it is in this state.
    pub(crate) async fn until_state(&self, id: &str, wanted: TaskState) -> Task {
        self.until(id, |task| state(task) == wanted).await
    }
}

// === impl Events ===

impl Events {
    /// The next event; `None` at the end of the stream.
    pub(crate) async fn next(&mut self) -> Option<Result<Event, Failure>> {
        let next = tokio::time::timeout(WITHIN, self.0.next()).await;
        next.unwrap_or_else(|_| Some(Err(Failure::Away("the stream fell silent".to_owned()))))
    }

    /// Everything until the end, which must be a clean one.
    pub(crate) async fn rest(mut self) -> Vec<Event> {
        let mut events = Vec::new();
        while let Some(event) = self.next().await {
            events.push(event.unwrap_or_else(|failure| panic!("after {events:?}: {failure:?}")));
        }
        events
    }
}

// === impl Failure ===

impl Failure {
    /// The JSON-RPC code of a refusal.
    pub(crate) fn code(&self) -> i64 {
        match self {
            Failure::Refused { code, .. } => *code,
            Failure::Away(text) => panic!("no answer: {text}"),
        }
    }
}

pub(crate) fn state(task: &Task) -> TaskState {
    task.status.as_ref().map_or(TaskState::Unspecified, |status| status.state())
}

/// True when nothing happens with the task unless its caller wants it.
pub(crate) fn settled(state: TaskState) -> bool {
    !matches!(state, TaskState::Unspecified | TaskState::Submitted | TaskState::Working)
}

/// The state an event tells, when it tells one.
pub(crate) fn state_of(event: &StreamResponse) -> Option<TaskState> {
    match event.payload.as_ref()? {
        Payload::Task(task) => Some(state(task)),
        Payload::StatusUpdate(update) => update.status.as_ref().map(|status| status.state()),
        _ => None,
    }
}

/// The texts of a task's artifacts, joined.
pub(crate) fn artifacts(task: &Task) -> String {
    let parts = task.artifacts.iter().flat_map(|artifact| &artifact.parts);
    parts.map(text_of).collect()
}

fn text_of(part: &weft_proto::a2a::Part) -> String {
    match &part.content {
        Some(weft_proto::a2a::part::Content::Text(text)) => text.clone(),
        other => format!("{other:?}"),
    }
}

/// Keeps a null, which `Option` alone would take for absent.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Box<RawValue>>, D::Error> {
    Box::deserialize(deserializer).map(Some)
}

fn result_of<R: DeserializeOwned>(body: &[u8]) -> Result<R, Failure> {
    let text = || String::from_utf8_lossy(body).into_owned();
    let answer: Answer =
        serde_json::from_slice(body).map_err(|_| Failure::Away(format!("no JSON-RPC: {}", text())))?;
    if let Some(error) = answer.error {
        return Err(Failure::Refused {
            code: error["code"].as_i64().unwrap_or_default(),
            reason: error["data"][0]["reason"].as_str().unwrap_or_default().to_owned(),
            message: error["message"].as_str().unwrap_or_default().to_owned(),
        });
    }
    let result =
        answer.result.ok_or_else(|| Failure::Away(format!("neither result nor error: {}", text())))?;
    Ok(weft_proto::json::decode(result.get().as_bytes()).unwrap_or_else(|e| panic!("{e}: {}", text())))
}

#[allow(clippy::needless_pass_by_value, reason = "as `map_err` hands it over")]
fn away(error: reqwest::Error) -> Failure {
    let mut text = error.to_string();
    let mut source = std::error::Error::source(&error);
    while let Some(cause) = source {
        text = format!("{text}: {cause}");
        source = cause.source();
    }
    Failure::Away(text)
}
