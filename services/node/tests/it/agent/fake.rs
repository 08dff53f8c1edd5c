//! An A2A agent over JSON-RPC that does not stream and keeps no keys.

use std::sync::{Arc, Mutex};

use axum::body::Body;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use bytes::Bytes;
use serde_json::{Value, json};
use tokio::sync::watch;

/// A running agent, until the test ends.
pub(super) struct Fake {
    pub(super) url: String,
    shared: Arc<Shared>,
}

struct Shared {
    state: Mutex<Behaviour>,
    /// Method and parameters of every call.
    calls: watch::Sender<Vec<(String, Value)>>,
}

struct Behaviour {
    state: &'static str,
    losses: u32,
    lists: bool,
    address: String,
}

impl Fake {
    /// Its tasks are under way until it is told otherwise.
    pub(super) async fn start() -> Fake {
        let (listener, address) = weft_chassis::serve::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{address}");
        let behaviour =
            Behaviour { state: "TASK_STATE_WORKING", losses: 0, lists: true, address: url.clone() };
        let shared = Arc::new(Shared { state: Mutex::new(behaviour), calls: watch::channel(Vec::new()).0 });
        let routes = Router::new()
            .route("/.well-known/agent-card.json", get(card))
            .route("/rpc", post(call))
            .with_state(shared.clone());
        weft_chassis::Env::system().spawn(async move { axum::serve(listener, routes).await.unwrap() });
        Fake { url, shared }
    }

    /// From now on every task is done.
    pub(super) fn finish(&self) {
        self.shared.state.lock().unwrap().state = "TASK_STATE_COMPLETED";
    }

    /// From now on every task waits for its caller.
    pub(super) fn ask_back(&self) {
        self.shared.state.lock().unwrap().state = "TASK_STATE_INPUT_REQUIRED";
    }

    /// The answers to the next messages break off.
    pub(super) fn lose_answers(&self, count: u32) {
        self.shared.state.lock().unwrap().losses = count;
    }

    /// It has no list of tasks.
    pub(super) fn list_nothing(&self) {
        self.shared.state.lock().unwrap().lists = false;
    }

    /// Its card names this host.
    pub(super) fn point_to(&self, host: &str) {
        self.shared.state.lock().unwrap().address = self.url.replace("127.0.0.1", host);
    }

    /// Ids of the messages that came, each time they came.
    pub(super) fn sent(&self) -> Vec<String> {
        let sent = self.calls("SendMessage");
        sent.iter().map(|params| params["message"]["messageId"].as_str().unwrap().to_owned()).collect()
    }

    /// Parameters of the calls of a method.
    pub(super) fn calls(&self, method: &str) -> Vec<Value> {
        let calls = self.shared.calls.borrow();
        calls.iter().filter(|(name, _)| name == method).map(|(_, params)| params.clone()).collect()
    }

    pub(super) fn count(&self, method: &str) -> usize {
        self.calls(method).len()
    }

    /// Parameters of the first call of a method, when it has come.
    pub(super) async fn until(&self, method: &str) -> Value {
        let mut calls = self.shared.calls.subscribe();
        let came = calls.wait_for(|calls| calls.iter().any(|(name, _)| name == method)).await.unwrap();
        came.iter().find(|(name, _)| name == method).unwrap().1.clone()
    }
}

async fn card(State(shared): State<Arc<Shared>>) -> Json<Value> {
    let url = format!("{}/rpc", shared.state.lock().unwrap().address);
    Json(json!({
        "name": "Fake", "description": "does what it is sent", "version": "1",
        "supportedInterfaces": [{ "url": url, "protocolBinding": "JSONRPC", "protocolVersion": "1.0" }],
        "capabilities": {}, "defaultInputModes": ["text/plain"], "defaultOutputModes": ["text/plain"],
        "skills": [],
    }))
}

async fn call(State(shared): State<Arc<Shared>>, body: Bytes) -> Response {
    let call: Value = serde_json::from_slice(&body).unwrap();
    let method = call["method"].as_str().unwrap().to_owned();
    shared.calls.send_modify(|calls| calls.push((method.clone(), call["params"].clone())));
    let mut state = shared.state.lock().unwrap();
    if method == "SendMessage" && state.losses > 0 {
        state.losses -= 1;
        // The head comes, the body breaks off: the agent has the message, its caller no answer.
        let broken = futures::stream::iter([Err::<Bytes, _>(std::io::Error::other("lost"))]);
        return Body::from_stream(broken).into_response();
    }
    let task = task(&shared, state.state);
    let result = match method.as_str() {
        "SendMessage" => json!({ "task": task }),
        "ListTasks" if state.lists => {
            json!({ "tasks": [task], "nextPageToken": "", "pageSize": 1, "totalSize": 1 })
        }
        "ListTasks" => {
            let error = json!({ "code": -32_004, "message": "there is no list" });
            return Json(json!({ "jsonrpc": "2.0", "id": call["id"], "error": error })).into_response();
        }
        _ => task,
    };
    Json(json!({ "jsonrpc": "2.0", "id": call["id"], "result": result })).into_response()
}

/// Its only task, which shows every message that came.
fn task(shared: &Shared, state: &str) -> Value {
    let calls = shared.calls.borrow();
    let sent = calls.iter().filter(|(method, _)| method == "SendMessage");
    let history: Vec<&Value> = sent.map(|(_, params)| &params["message"]).collect();
    let word = if state == "TASK_STATE_WORKING" { "under way" } else { "done at last" };
    let said = json!({ "messageId": word, "role": "ROLE_AGENT", "parts": [{ "text": word }] });
    json!({ "id": "far-1", "contextId": "far-c", "status": { "state": state, "message": said },
            "history": history })
}
