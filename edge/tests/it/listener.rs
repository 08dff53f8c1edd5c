//! The listener itself, over real sockets: both protocols, patience, the way it stops.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::watch;
use weft_chassis::Env;
use weft_edge::Settings;

use crate::store::Script;
use crate::world::{declared, rpc, upstreams};

/// Far beyond anything a test needs; a hang fails instead of waiting for ever.
pub(crate) const GENEROUS: Duration = Duration::from_secs(30);

pub(crate) struct Live {
    pub(crate) env: Env,
    pub(crate) at: SocketAddr,
    /// Where gRPC has a listener of its own.
    pub(crate) grpc: Option<SocketAddr>,
    script: Arc<Script>,
    _catalog: watch::Sender<weft_proto::weft::Snapshot>,
}

pub(crate) async fn live(change: impl FnOnce(&mut Settings)) -> Live {
    let mut settings = Settings { http: "127.0.0.1:0".into(), drain_ms: 0, ..Settings::default() };
    change(&mut settings);
    let (env, script) = (Env::system(), Arc::new(Script::default()));
    let (catalog, snapshots) = watch::channel(declared());
    let bound = weft_edge::bind(settings, &upstreams(&script, snapshots), &env).await.unwrap();
    let (at, grpc) = (bound.address(), bound.grpc_address());
    bound.serve();
    Live { env, at, grpc, script, _catalog: catalog }
}

impl Live {
    /// Sends text, reads until the connection closes.
    pub(crate) async fn say(&self, text: &str) -> String {
        let mut stream = TcpStream::connect(self.at).await.unwrap();
        stream.write_all(text.as_bytes()).await.unwrap();
        let mut answer = Vec::new();
        // A connection that is reset says no more either.
        let _ = tokio::time::timeout(GENEROUS, stream.read_to_end(&mut answer)).await.expect("it ends");
        String::from_utf8(answer).unwrap()
    }

    pub(crate) fn call(&self, body: &str) -> String {
        let (at, n) = (self.at, body.len());
        format!("POST /a2a HTTP/1.1\r\nhost: {at}\r\ncontent-length: {n}\r\nconnection: close\r\n\r\n{body}")
    }
}

#[tokio::test]
async fn a_call_over_a_socket_is_answered_with_its_length() {
    let live = live(|_| {}).await;
    let answer = live.say(&live.call(&rpc("ListTasks", &json!({})))).await;
    assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
    assert!(answer.contains("content-length: ") && !answer.contains("transfer-encoding"), "{answer}");
    assert!(answer.contains(r#""totalSize":0"#), "{answer}");
    assert!(live.env.drain(GENEROUS).await);
}

#[tokio::test]
async fn the_card_names_the_port_that_was_taken() {
    let live = live(|_| {}).await;
    let at = live.at;
    let answer = live.say(&format!("GET /.well-known/agent-card.json HTTP/1.0\r\nhost: {at}\r\n\r\n")).await;
    assert!(answer.contains(&format!("http://{at}/a2a")), "{answer}");
}

#[tokio::test]
async fn a_caller_who_sends_too_much_before_it_reads_still_reads_why() {
    let live = live(|settings| settings.body_bytes_max = 1_048_576).await;
    let answer = live.say(&live.call(&"x".repeat(3 * 1_048_576))).await;
    assert!(answer.starts_with("HTTP/1.1 413 "), "{answer}");
    assert!(answer.contains("edge.body_bytes_max"), "{answer}");
}

#[tokio::test]
async fn http_2_is_spoken_without_tls() {
    let live = live(|_| {}).await;
    let mut stream = TcpStream::connect(live.at).await.unwrap();
    // The preface and an empty SETTINGS frame (RFC 9113 §3.4); the answer begins with SETTINGS, frame type 4.
    stream.write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0").await.unwrap();
    let mut head = [0u8; 9];
    tokio::time::timeout(GENEROUS, stream.read_exact(&mut head)).await.unwrap().unwrap();
    assert_eq!(head[3], 4);
}

#[tokio::test]
async fn headers_that_never_end_are_given_up() {
    let live = live(|settings| settings.header_read_ms = 50).await;
    // Not even whether it is HTTP/2 is clear after the first two.
    for beginning in ["", "PRI * HTTP/2.0", "POST /a2a HTTP/1.1\r\nhost: localhost\r\nx-slow: "] {
        let answer = live.say(beginning).await;
        assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 408"), "{answer}");
    }
}

#[tokio::test]
async fn a_stop_ends_an_open_stream_with_its_advice_and_then_the_listener() {
    let live = live(|_| {}).await;
    let open = live.call(&rpc("SubscribeToTask", &json!({"id": "t1"})));
    let reading = live.say(&open);
    let stopping = async {
        while crate::store::lock(&live.script.subscribed).is_empty() {
            tokio::task::yield_now().await;
        }
        live.env.drain(GENEROUS).await
    };
    let (answer, clean) = tokio::join!(reading, stopping);
    assert!(clean, "every connection ended");
    assert!(answer.contains("text/event-stream") && answer.contains("-32056"), "{answer}");
    assert!(TcpStream::connect(live.at).await.is_err(), "nobody listens any more");
}

#[tokio::test]
async fn an_address_that_others_can_reach_needs_the_operators_word() {
    let (_, snapshots) = watch::channel(declared());
    let settings = Settings { http: "0.0.0.0:0".into(), ..Settings::default() };
    let refused = weft_edge::bind(settings, &upstreams(&Arc::default(), snapshots), &Env::system()).await;
    let Err(text) = refused else { panic!("it must not start") };
    assert!(text.contains("edge.http") && text.contains("edge.tokenless_beyond_loopback"), "{text}");
}

#[tokio::test]
async fn a_refusal_before_the_body_says_that_the_connection_ends_with_it() {
    let live = live(|_| {}).await;
    let body = rpc("ListTasks", &json!({}));
    for (path, header, status) in [
        ("/rest/message:send", "a2a-version: 99.0", "400"),
        ("/rest/nothing", "a2a-version: 1.0", "404"),
        ("/a2a", "content-type: text/plain", "200"),
        ("/a2a", "origin: https://evil.example", "403"),
    ] {
        let mut stream = TcpStream::connect(live.at).await.unwrap();
        let (at, n) = (live.at, body.len());
        let head = format!("POST {path} HTTP/1.1\r\nhost: {at}\r\ncontent-length: {n}\r\n{header}\r\n\r\n");
        stream.write_all(head.as_bytes()).await.unwrap();
        let mut answer = vec![0; 4_096];
        let read = tokio::time::timeout(GENEROUS, stream.read(&mut answer)).await.unwrap().unwrap();
        let answer = String::from_utf8_lossy(&answer[..read]).to_lowercase();
        assert!(answer.starts_with(&format!("http/1.1 {status} ")), "{path}: {answer}");
        assert!(answer.contains("\r\nconnection: close\r\n"), "{path}: {answer}");
    }
    let kept = live.call(&body).replace("connection: close\r\n", "");
    let mut stream = TcpStream::connect(live.at).await.unwrap();
    for _ in 0..2 {
        stream.write_all(kept.as_bytes()).await.unwrap();
        let mut answer = vec![0; 4_096];
        let read = tokio::time::timeout(GENEROUS, stream.read(&mut answer)).await.unwrap().unwrap();
        let answer = String::from_utf8_lossy(&answer[..read]).to_lowercase();
        assert!(answer.starts_with("http/1.1 200 ") && !answer.contains("connection: close"), "{answer}");
    }
}
