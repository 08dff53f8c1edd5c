//! The door against nodes behind sockets and in process.

use std::collections::HashMap;
use std::convert::Infallible;

use axum::response::IntoResponse;
use axum::routing::post;
use futures::StreamExt;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use weft_proto::weft::InvokeResult;

use super::*;
use crate::directory::Directory;
use crate::tests::fakes::{FakeNode, FakeSigner, end, events, ok, result, snapshot, sse};

fn settings() -> Settings {
    Settings { silence_ms: 2_000, connect_ms: 2_000, answer_bytes_max: 100_000, ..Settings::default() }
}

fn door(settings: &Settings, hosted: HashMap<String, Peer>) -> Door {
    let metrics = Metrics::new(&weft_chassis::Metrics::default());
    Door::new(settings, FakeSigner::default().peer(), hosted, &Outbound::default(), metrics).unwrap()
}

fn place(address: &str) -> Arc<Place> {
    Directory::new(snapshot(address)).place("lab").unwrap()
}

/// Serves a router on a port of its own; it ends with the test's runtime.
async fn served(router: axum::Router) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    weft_chassis::Env::system().spawn(async move { axum::serve(listener, router).await.unwrap() });
    format!("http://{address}")
}

/// Answers every connection with these bytes and closes it.
async fn raw(answer: &'static str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    weft_chassis::Env::system().spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut request = [0; 4_096];
            let _ = stream.read(&mut request).await;
            let _ = stream.write_all(answer.as_bytes()).await;
        }
    });
    format!("http://{address}")
}

async fn ask(door: &Door, place: &Arc<Place>) -> Result<InvokeResult, Failure> {
    let request = InvokeRequest { tool: "run".into(), task_id: "t1".into(), ..InvokeRequest::default() };
    let mut answer = door.call(Call { place, request: &request, within: Duration::from_secs(20) }).await?;
    loop {
        if let Event::End(result) = answer.next().await? {
            answer.finish().await;
            return Ok(result);
        }
    }
}

async fn ask_at(address: &str) -> Result<InvokeResult, Failure> {
    ask(&door(&settings(), HashMap::new()), &place(address)).await
}

#[tokio::test]
async fn a_node_behind_a_socket_and_one_in_process_answer_alike() {
    let node = FakeNode::new("lab", |call| {
        assert_eq!(call.headers["content-type"], "application/json");
        assert!(call.headers["signature"].to_str().unwrap().ends_with("/peer/invoke lab"));
        events(vec![(Duration::ZERO, end(ok("done")))])
    });
    let address = served(node.router()).await;
    assert_eq!(ask_at(&address).await, Ok(ok("done")));
    let hosted = door(&settings(), HashMap::from([("lab".to_owned(), node.peer())]));
    assert_eq!(ask(&hosted, &place("")).await, Ok(ok("done")));
    let about = hosted.about(&place("")).await.unwrap();
    assert_eq!(about.node, "lab");
}

#[tokio::test]
async fn a_plain_json_answer_is_one_result() {
    let node = FakeNode::new("lab", |_| {
        let body = json::encode(&ok("whole")).unwrap();
        ([("content-type", "application/json")], body).into_response()
    });
    let address = served(node.router()).await;
    assert_eq!(ask_at(&address).await, Ok(ok("whole")));
}

#[tokio::test]
async fn nobody_there_is_unreachable() {
    let free = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let failure = ask_at(&format!("http://{free}")).await.unwrap_err();
    assert!(matches!(failure, Failure::Unreachable(_)), "{failure:?}");
    assert!(
        !failure.text("lab", "run").contains(&free.port().to_string()),
        "no address in a text for callers"
    );
}

#[tokio::test]
async fn a_redirect_is_refused_and_not_followed() {
    let target = FakeNode::new("lab", |_| panic!("a seal for one target went to another"));
    let elsewhere = format!("{}/peer/invoke", served(target.router()).await);
    let router = axum::Router::new().route(
        "/peer/invoke",
        post(move || {
            let elsewhere = elsewhere.clone();
            async move { axum::response::Redirect::temporary(&elsewhere) }
        }),
    );
    let failure = ask_at(&served(router).await).await.unwrap_err();
    assert_eq!(failure.code(), "REDIRECTED");
}

#[tokio::test]
async fn an_answer_over_the_bound_is_cut_off() {
    let node = FakeNode::new("lab", |_| {
        let endless =
            futures::stream::repeat(()).map(|()| Ok::<_, Infallible>(": no event at all\n".repeat(100)));
        sse(axum::body::Body::from_stream(endless))
    });
    let failure = ask_at(&served(node.router()).await).await.unwrap_err();
    assert_eq!(failure, Failure::Garbage("more than 100000 bytes".into()));
}

#[tokio::test]
async fn a_node_that_falls_silent_is_timed_out_before_and_after_its_first_byte() {
    let silent = FakeNode::new("lab", |_| events(vec![(Duration::from_secs(600), end(ok("late")))]));
    let after = ask_at(&served(silent.router()).await).await.unwrap_err();
    assert_eq!(after, Failure::Timeout("it fell silent".into()));
    let mute = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}", mute.local_addr().unwrap());
    assert_eq!(ask_at(&address).await.unwrap_err(), Failure::Timeout("nothing came at all".into()));
}

#[tokio::test]
async fn a_stream_that_is_cut_or_closed_early_is_broken() {
    let cut =
        raw("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: 1000\r\n\r\ndata: {")
            .await;
    let closed = raw("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: 0\r\n\r\n").await;
    let nothing = raw("").await;
    for address in [cut, closed, nothing] {
        let failure = ask_at(&address).await.unwrap_err();
        assert!(matches!(failure, Failure::Broken(_)), "{failure:?}");
    }
}

#[tokio::test]
async fn connections_are_used_again() {
    let ports = Arc::new(std::sync::Mutex::new(std::collections::BTreeSet::new()));
    let seen = ports.clone();
    let router = axum::Router::new().route(
        "/peer/invoke",
        post(move |axum::extract::ConnectInfo(from): axum::extract::ConnectInfo<std::net::SocketAddr>| {
            seen.lock().unwrap().insert(from.port());
            async { result(ok("done")) }
        }),
    );
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let service = router.into_make_service_with_connect_info::<std::net::SocketAddr>();
    weft_chassis::Env::system().spawn(async move { axum::serve(listener, service).await.unwrap() });
    let (door, place) = (door(&settings(), HashMap::new()), place(&address));
    for _ in 0..20 {
        ask(&door, &place).await.unwrap();
    }
    assert_eq!(ports.lock().unwrap().len(), 1);
}
