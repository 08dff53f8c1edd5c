//! Another service, reached in process or over the network. A generated client works on either; the caller cannot
//! tell, and nothing works here that would not work apart: every call is a protobuf message either way.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use http::{HeaderMap, Request, Response};
use tonic::Status;
use tonic::body::Body;
use tonic::service::Routes;
use tonic::transport::{Endpoint, Uri};
use tower::util::BoxCloneSyncService;
use tower::{Service, ServiceExt};
use tracing::Instrument;

use crate::trace;

/// What a transport may fail with. A type of its own, not a bare trait object: futures that hold a client of a
/// `Box<dyn Error>` service cannot be proved `Send` by today's compiler.
#[derive(Debug)]
pub struct BoxError(Box<dyn std::error::Error + Send + Sync>);

/// One service of the mesh, for a generated client: `TasksClient::new(peer)`. Cheap to clone.
pub type Peer = BoxCloneSyncService<Request<Body>, Response<Body>, BoxError>;

/// Largest message between two services, in bytes. A task with its whole history and artifacts must fit.
pub const MESSAGE_BYTES_MAX: usize = 64 * 1024 * 1024;

/// How often a silent connection is pinged, and how long a ping may go unanswered. Without pings a channel never
/// recovers from a partition.
const KEEP_ALIVE: (Duration, Duration) = (Duration::from_secs(10), Duration::from_secs(5));

impl std::fmt::Display for BoxError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

impl std::error::Error for BoxError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        // tonic looks along this chain for the status of a broken connection.
        Some(&*self.0)
    }
}

/// A service in this process.
#[must_use]
pub fn local(routes: Routes) -> Peer {
    let served = ServiceExt::<Request<Body>>::map_err(traced(routes), |never: Infallible| match never {});
    BoxCloneSyncService::new(Outgoing(Deadline(served)))
}

/// A service at `http://host:port`; connects when first used and again after every break.
///
/// # Errors
/// When the address is not an absolute `http` URI.
pub fn remote(address: &str) -> Result<Peer, String> {
    let uri: Uri = address.parse().map_err(|e| format!("{address}: {e}"))?;
    if uri.scheme_str() != Some("http") || uri.authority().is_none() {
        return Err(format!("{address}: expected http://host:port"));
    }
    let channel = Endpoint::from(uri)
        .connect_timeout(Duration::from_secs(5))
        .tcp_nodelay(true)
        .http2_keep_alive_interval(KEEP_ALIVE.0)
        .keep_alive_timeout(KEEP_ALIVE.1)
        .keep_alive_while_idle(true)
        .connect_lazy();
    Ok(BoxCloneSyncService::new(Outgoing(ServiceExt::<Request<Body>>::map_err(channel, |error| {
        BoxError(error.into())
    }))))
}

/// Serves each call that belongs to a trace in a span that continues it; used by [`local`] and by [`crate::serve`]. A
/// call between services never begins a trace: probes, watches and reads that nobody traces leave no spans.
pub fn traced<S>(inner: S) -> Incoming<S> {
    Incoming(inner)
}

/// Writes the current trace context into each call.
#[derive(Clone)]
struct Outgoing<S>(S);

impl<S> Service<Request<Body>> for Outgoing<S>
where
    S: Service<Request<Body>>,
{
    type Response = S::Response;
    type Error = S::Error;
    type Future = S::Future;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.0.poll_ready(cx)
    }

    fn call(&mut self, mut request: Request<Body>) -> S::Future {
        trace::inject(request.headers_mut());
        self.0.call(request)
    }
}

/// See [`traced`].
#[derive(Clone)]
pub struct Incoming<S>(S);

impl<S, B> Service<Request<B>> for Incoming<S>
where
    S: Service<Request<B>>,
    S::Future: Send + 'static,
{
    type Response = S::Response;
    type Error = S::Error;
    type Future = tracing::instrument::Instrumented<S::Future>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.0.poll_ready(cx)
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let span = if request.headers().contains_key(trace::HEADERS[0]) {
            let span = rpc_span(request.uri().path());
            trace::adopt(&span, request.headers());
            span
        } else {
            tracing::Span::none()
        };
        self.0.call(request).instrument(span)
    }
}

/// `/weft.v1.Tasks/Submit` → a server span named `weft.v1.Tasks/Submit` (OpenTelemetry RPC conventions).
fn rpc_span(path: &str) -> tracing::Span {
    let name = path.trim_start_matches('/');
    // Taking spans makes none: else every batch would cause the next.
    if name.starts_with("opentelemetry.proto.") {
        return tracing::Span::none();
    }
    let (service, method) = name.split_once('/').unwrap_or((name, ""));
    tracing::info_span!(
        target: "weft::rpc",
        "rpc",
        otel.name = name,
        otel.kind = "server",
        rpc.system.name = "grpc",
        rpc.service = service,
        rpc.method = method,
    )
}

/// In process there is no transport that enforces `grpc-timeout`, so the seam does.
#[derive(Clone)]
struct Deadline<S>(S);

impl<S> Service<Request<Body>> for Deadline<S>
where
    S: Service<Request<Body>, Response = Response<Body>, Error = BoxError>,
    S::Future: Send + 'static,
{
    type Response = Response<Body>;
    type Error = BoxError;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Body>, BoxError>> + Send>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.0.poll_ready(cx)
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let within = timeout_of(request.headers());
        let call = self.0.call(request);
        Box::pin(async move {
            let Some(within) = within else { return call.await };
            match tokio::time::timeout(within, call).await {
                Ok(answer) => answer,
                Err(_) => Ok(Status::deadline_exceeded("the caller's time was over").into_http()),
            }
        })
    }
}

/// `grpc-timeout` as the gRPC wire format has it: at most eight digits and a unit.
fn timeout_of(headers: &HeaderMap) -> Option<Duration> {
    let text = headers.get("grpc-timeout")?.to_str().ok()?;
    let (digits, unit) = text.split_at_checked(text.len().checked_sub(1)?)?;
    if digits.is_empty() || digits.len() > 8 || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let n: u64 = digits.parse().ok()?;
    Some(match unit {
        "H" => Duration::from_secs(n * 3_600),
        "M" => Duration::from_secs(n * 60),
        "S" => Duration::from_secs(n),
        "m" => Duration::from_millis(n),
        "u" => Duration::from_micros(n),
        "n" => Duration::from_nanos(n),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn timeout(text: &str) -> Option<Duration> {
        let mut headers = HeaderMap::new();
        headers.insert("grpc-timeout", text.parse().unwrap());
        timeout_of(&headers)
    }

    #[test]
    fn a_grpc_timeout_is_read_as_the_wire_format_says() {
        assert_eq!(timeout("250m"), Some(Duration::from_millis(250)));
        assert_eq!(timeout("2H"), Some(Duration::from_secs(7_200)));
        for bad in ["", "m", "5", "123456789m", "-1S", "1x"] {
            assert_eq!(timeout(bad), None, "{bad:?}");
        }
    }

    #[test]
    fn an_address_that_is_no_http_uri_is_refused_with_the_expected_form() {
        for bad in ["", "tasks:7400", "https://tasks:7400", "/x"] {
            let error = remote(bad).err().unwrap();
            assert!(error.contains("http://host:port") || error.contains(':'), "{error}");
        }
    }
}
