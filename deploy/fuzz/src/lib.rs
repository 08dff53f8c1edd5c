//! An edge that answers in this process, over stand-ins for the services behind it.

mod services;

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::LazyLock;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use http::{Request, StatusCode};
use http_body_util::BodyExt;
use serde_json::Value;
use tokio::runtime::{Builder, Runtime};
use tower::ServiceExt;
use weft_chassis::Env;
use weft_edge::{Settings, Upstreams};

/// Longest time one request may take; a fuzzer's own bound is above it.
const WITHIN: Duration = Duration::from_secs(5);

static EDGE: LazyLock<Edge> = LazyLock::new(Edge::new);

struct Edge {
    runtime: Runtime,
    router: Router,
    // The edge watches the catalog as long as this lives.
    _env: Env,
}

/// A whole answer.
#[derive(Debug)]
pub struct Answer {
    pub status: StatusCode,
    pub media_type: String,
    pub text: String,
}

/// Sends one request and reads its answer to the end. Its `Host` is the edge's own.
pub fn send(mut request: Request<Body>) -> Answer {
    let host = http::HeaderValue::from_static("127.0.0.1:8420");
    request.headers_mut().insert(http::header::HOST, host);
    let answered = EDGE.runtime.block_on(async {
        tokio::time::timeout(WITHIN, async {
            let Ok(answer) = EDGE.router.clone().oneshot(request).await;
            let (head, body) = answer.into_parts();
            let bytes = body.collect().await.expect("an answer ends well").to_bytes();
            let media_type = head.headers.get(http::header::CONTENT_TYPE);
            Answer {
                status: head.status,
                media_type: media_type.and_then(|v| v.to_str().ok()).unwrap_or_default().to_owned(),
                text: String::from_utf8(bytes.to_vec()).expect("an answer is text"),
            }
        })
        .await
    });
    answered.expect("an answer comes in time")
}

impl Answer {
    /// True for an event stream.
    pub fn is_stream(&self) -> bool {
        self.media_type.starts_with("text/event-stream")
    }

    /// What the answer holds: one document, or one an event. Nothing, when it has no body.
    pub fn documents(&self) -> Vec<Value> {
        let parse = |text: &str| -> Value {
            serde_json::from_str(text).unwrap_or_else(|error| panic!("{error} in an answer: {self:?}"))
        };
        if self.is_stream() {
            return self.text.lines().filter_map(|line| line.strip_prefix("data: ")).map(parse).collect();
        }
        if self.text.is_empty() { Vec::new() } else { vec![parse(&self.text)] }
    }
}

impl Edge {
    fn new() -> Edge {
        let runtime = Builder::new_current_thread().enable_all().build().expect("a runtime can be made");
        let env = Env::system();
        let router = runtime.block_on(async {
            let upstreams = Upstreams {
                tasks: services::tasks(),
                catalog: services::catalog(),
                signer: services::nothing(),
            };
            let address = SocketAddr::from((Ipv4Addr::LOCALHOST, 8420));
            let settings =
                Settings { rate_per_second: 10_000_000, rate_burst: 10_000_000, ..Settings::default() };
            let router = weft_edge::router(settings, address, &upstreams, &env);
            let router = router.unwrap_or_else(|refused| panic!("{refused}"));
            // The first snapshot of the catalog comes to a task of its own.
            tokio::time::sleep(Duration::from_millis(200)).await;
            router
        });
        Edge { runtime, router, _env: env }
    }
}
