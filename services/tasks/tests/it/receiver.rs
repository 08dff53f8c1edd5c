//! A webhook's receiver: a real HTTP server on 127.0.0.1 that answers as it is told and remembers what came.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::extract::State;
use axum::http::{HeaderMap, Request, StatusCode};
use axum::response::{IntoResponse, Response};
use tokio::net::TcpListener;
use tokio::sync::{Semaphore, watch};

/// One call.
#[derive(Debug, Clone)]
pub(crate) struct Got {
    pub(crate) path: String,
    pub(crate) method: String,
    pub(crate) headers: HeaderMap,
    pub(crate) body: serde_json::Value,
}

impl Got {
    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }

    /// The one member of the body.
    pub(crate) fn member(&self) -> &str {
        let object = self.body.as_object().unwrap();
        assert_eq!(object.len(), 1, "{object:?}");
        object.keys().next().unwrap()
    }

    /// Member and state, or the artifact's id.
    pub(crate) fn told(&self) -> String {
        let body = &self.body[self.member()];
        let what = match self.member() {
            "artifactUpdate" => &body["artifact"]["artifactId"],
            "message" => &body["messageId"],
            _ => &body["status"]["state"],
        };
        format!("{} {}", self.member(), what.as_str().unwrap().trim_start_matches("TASK_STATE_"))
    }
}

/// How a call is answered.
#[derive(Debug, Clone)]
pub(crate) enum Reply {
    Status(u16),
    /// With this header.
    Header(u16, &'static str, String),
    /// Not before [`Receiver::release`], then 200.
    Hold,
}

#[derive(Clone)]
pub(crate) struct Receiver {
    pub(crate) port: u16,
    inner: Arc<Inner>,
}

struct Inner {
    replies: Mutex<VecDeque<Reply>>,
    otherwise: Mutex<Reply>,
    got: watch::Sender<Vec<Got>>,
    released: Semaphore,
}

impl Receiver {
    /// Answers 200.
    pub(crate) async fn start() -> Receiver {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let inner = Inner {
            replies: Mutex::default(),
            otherwise: Mutex::new(Reply::Status(200)),
            got: watch::Sender::new(Vec::new()),
            released: Semaphore::new(0),
        };
        let receiver = Receiver { port: listener.local_addr().unwrap().port(), inner: Arc::new(inner) };
        let router = Router::new().fallback(take).with_state(receiver.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        receiver
    }

    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}/hook", self.port)
    }

    /// The next answers.
    pub(crate) fn reply(&self, replies: impl IntoIterator<Item = Reply>) {
        self.inner.replies.lock().unwrap().extend(replies);
    }

    /// Every answer that is not told.
    pub(crate) fn always(&self, reply: Reply) {
        *self.inner.otherwise.lock().unwrap() = reply;
    }

    /// Lets go of all held answers, of later ones too.
    pub(crate) fn release(&self) {
        self.inner.released.add_permits(Semaphore::MAX_PERMITS / 2);
    }

    /// What has come, when it is this much.
    pub(crate) async fn got(&self, calls: usize) -> Vec<Got> {
        let mut got = self.inner.got.subscribe();
        let got = got.wait_for(|got| got.len() >= calls);
        let came = tokio::time::timeout(std::time::Duration::from_secs(60), got).await;
        came.unwrap_or_else(|_| panic!("{:?} after a minute", self.so_far())).unwrap().clone()
    }

    pub(crate) fn so_far(&self) -> Vec<String> {
        self.inner.got.borrow().iter().map(Got::told).collect()
    }
}

async fn take(State(receiver): State<Receiver>, request: Request<axum::body::Body>) -> Response {
    let (parts, body) = request.into_parts();
    // As receivers do that read no chunked body.
    let length = parts.headers.get("content-length").and_then(|value| value.to_str().ok()?.parse().ok());
    let body = axum::body::to_bytes(body, length.unwrap_or(0)).await.unwrap_or_default();
    let got = Got {
        path: parts.uri.path().to_owned(),
        method: parts.method.to_string(),
        headers: parts.headers,
        body: serde_json::from_slice(&body).unwrap_or_default(),
    };
    let reply = receiver.inner.replies.lock().unwrap().pop_front();
    let reply = reply.unwrap_or_else(|| receiver.inner.otherwise.lock().unwrap().clone());
    receiver.inner.got.send_modify(|all| all.push(got));
    match reply {
        Reply::Status(status) => StatusCode::from_u16(status).unwrap().into_response(),
        Reply::Header(status, name, value) => {
            (StatusCode::from_u16(status).unwrap(), [(name, value)]).into_response()
        }
        Reply::Hold => {
            let _released = receiver.inner.released.acquire().await.unwrap();
            StatusCode::OK.into_response()
        }
    }
}
