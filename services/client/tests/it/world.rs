//! An agent that answers what a test tells it to, and remembers what it was asked.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::body::Body;
use axum::extract::Request;
use axum::http::{HeaderMap, Response, StatusCode};
use futures::{StreamExt, stream};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::task::JoinSet;
use weft_client::{Agent, Binding, Client, Limits, Options};
use weft_proto::a2a::{Message, Part, Role, SendMessageRequest, part::Content};

/// What an agent was asked.
#[derive(Debug, Clone)]
pub(crate) struct Seen {
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Value,
}

/// An agent. It ends when it is dropped.
pub(crate) struct Fake {
    pub(crate) address: SocketAddr,
    seen: Arc<Mutex<Vec<Seen>>>,
    _serving: JoinSet<()>,
}

impl Fake {
    /// An agent that answers `answer(request, n)` to its n-th request that is not for its card, and its card with the
    /// given bindings otherwise.
    pub(crate) async fn start<F>(bindings: &[(&str, &str)], answer: F) -> Fake
    where
        F: Fn(&Seen, usize) -> Response<Body> + Send + Sync + 'static,
    {
        let bindings: Vec<_> = bindings.iter().map(|(b, v)| ((*b).to_owned(), (*v).to_owned())).collect();
        Fake::raw(move |seen, n, address| {
            if seen.path == "/.well-known/agent-card.json" {
                return json_answer(200, &card(address, &bindings));
            }
            answer(seen, n)
        })
        .await
    }

    /// An agent that answers everything itself. The number counts what is not under `/.well-known/`.
    pub(crate) async fn raw<F>(answer: F) -> Fake
    where
        F: Fn(&Seen, usize, SocketAddr) -> Response<Body> + Send + Sync + 'static,
    {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let seen: Arc<Mutex<Vec<Seen>>> = Arc::default();
        let (known, answer) = (seen.clone(), Arc::new(answer));
        let app = axum::Router::new().fallback(move |request: Request| {
            let (known, answer) = (known.clone(), answer.clone());
            async move {
                let (parts, body) = request.into_parts();
                let body = axum::body::to_bytes(body, 1 << 20).await.unwrap();
                let asked = Seen {
                    method: parts.method.to_string(),
                    path: parts.uri.to_string(),
                    headers: parts.headers,
                    body: serde_json::from_slice(&body).unwrap_or(Value::Null),
                };
                let n = {
                    let mut known = known.lock().unwrap();
                    let n = known.iter().filter(|seen| !seen.path.starts_with("/.well-known/")).count();
                    known.push(asked.clone());
                    n
                };
                answer(&asked, n, address)
            }
        });
        let mut serving = JoinSet::new();
        serving.spawn(async move { axum::serve(listener, app).await.unwrap() });
        Fake { address, seen, _serving: serving }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// What it was asked, but for its card.
    pub(crate) fn calls(&self) -> Vec<Seen> {
        let seen = self.seen.lock().unwrap();
        seen.iter().filter(|seen| !seen.path.starts_with("/.well-known/")).cloned().collect()
    }

    /// What it was asked, the card too.
    pub(crate) fn all(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }

    pub(crate) async fn agent(&self) -> Agent {
        client(Options::default()).agent(&self.url(), &[]).await.unwrap()
    }

    pub(crate) async fn agent_over(&self, binding: Binding) -> Agent {
        client(Options::default()).agent(&self.url(), &[binding]).await.unwrap()
    }
}

/// A client that does not wait long.
pub(crate) fn client(options: Options) -> Client {
    Client::new(Options { limits: quick(), ..options }).unwrap()
}

/// Limits for tests: no pauses to speak of, small bounds.
pub(crate) fn quick() -> Limits {
    Limits {
        pause: Duration::from_millis(1),
        pause_max: Duration::from_millis(5),
        attempts_max: 3,
        card_bytes_max: 10_000,
        answer_bytes_max: 20_000,
        event_bytes_max: 5_000,
        ..Limits::default()
    }
}

pub(crate) fn card(address: SocketAddr, bindings: &[(String, String)]) -> Value {
    let interfaces: Vec<_> = bindings
        .iter()
        .map(|(binding, version)| {
            json!({ "protocolBinding": binding, "protocolVersion": version,
                    "url": format!("http://{address}/{}", binding.to_lowercase().replace('+', "-")) })
        })
        .collect();
    json!({
        "name": "fake", "description": "d", "version": "1", "supportedInterfaces": interfaces,
        "capabilities": { "streaming": true }, "skills": [],
        "defaultInputModes": ["text/plain"], "defaultOutputModes": ["text/plain"],
    })
}

pub(crate) fn message(text: &str) -> SendMessageRequest {
    let part = Part { content: Some(Content::Text(text.to_owned())), ..Part::default() };
    SendMessageRequest {
        message: Some(Message {
            message_id: "m-1".to_owned(),
            role: Role::User as i32,
            parts: vec![part],
            ..Message::default()
        }),
        ..SendMessageRequest::default()
    }
}

pub(crate) fn answer(status: u16, media_type: &str, body: impl Into<Body>) -> Response<Body> {
    Response::builder()
        .status(StatusCode::from_u16(status).unwrap())
        .header("content-type", media_type)
        .body(body.into())
        .unwrap()
}

pub(crate) fn json_answer(status: u16, body: &Value) -> Response<Body> {
    answer(status, "application/json", body.to_string())
}

/// A JSON-RPC answer.
pub(crate) fn result(body: &Value) -> Response<Body> {
    json_answer(200, &json!({ "jsonrpc": "2.0", "id": 1, "result": body }))
}

/// A JSON-RPC error.
pub(crate) fn refusal(code: i64, message: &str) -> Response<Body> {
    json_answer(200, &json!({ "jsonrpc": "2.0", "id": 1, "error": { "code": code, "message": message } }))
}

/// How a stream ends.
#[derive(Clone, Copy)]
pub(crate) enum End {
    /// As streams do.
    Clean,
    /// The connection breaks.
    Cut,
    /// Never.
    Open,
}

/// A stream of these chunks.
pub(crate) fn sse(chunks: Vec<String>, end: End) -> Response<Body> {
    let chunks = stream::iter(chunks.into_iter().map(Ok));
    let body = match end {
        End::Clean => Body::from_stream(chunks),
        End::Cut => {
            // Let what came before leave first: an error takes the connection down at once.
            let broken = stream::once(async {
                tokio::time::sleep(Duration::from_millis(50)).await;
                Err(std::io::Error::other("cut"))
            });
            Body::from_stream(chunks.chain(broken))
        }
        End::Open => Body::from_stream(chunks.chain(stream::pending::<Result<String, std::io::Error>>())),
    };
    answer(200, "text/event-stream; charset=utf-8", body)
}

/// An event of a JSON-RPC stream.
pub(crate) fn event(id: &str, body: &Value) -> String {
    let id = if id.is_empty() { String::new() } else { format!("id: {id}\n") };
    format!("{id}data: {}\n\n", json!({ "jsonrpc": "2.0", "id": 1, "result": body }))
}

pub(crate) fn task(state: &str) -> Value {
    json!({ "id": "t1", "contextId": "c1", "status": { "state": format!("TASK_STATE_{state}") } })
}

pub(crate) fn status(state: &str) -> Value {
    json!({ "statusUpdate": { "taskId": "t1", "contextId": "c1", "status": { "state": format!("TASK_STATE_{state}") } } })
}

pub(crate) fn chunk(text: &str) -> Value {
    json!({ "artifactUpdate": { "taskId": "t1", "contextId": "c1", "append": true,
            "artifact": { "artifactId": "a", "parts": [{ "text": text }] } } })
}
