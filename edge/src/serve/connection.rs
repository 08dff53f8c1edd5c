//! One connection, from its first byte to its last.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use http::header::{CONNECTION, STRICT_TRANSPORT_SECURITY};
use http::{HeaderValue, Request, Response, StatusCode};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_util::sync::CancellationToken;
use tower::Service;

use super::patience::Patient;
use crate::edge::{PeerAddr, PeerCertificate};
use crate::plain;
use crate::tls::{Accepted, Protocol, Tls, hsts};

/// Calls that one HTTP/2 connection may hold at once.
const STREAMS_PER_CONNECTION_MAX: u32 = 256;

/// What the connections of one listener share.
#[derive(Clone)]
pub(super) struct Connections {
    http: auto::Builder<TokioExecutor>,
    service: Router,
    tls: Option<Tls>,
    /// Put on every answer under TLS.
    hsts: Option<HeaderValue>,
    /// How long the headers, and before them the protocol, may take to be known.
    header_read: Duration,
    closing: CancellationToken,
}

/// Who is on the other end, and how the answers go there.
#[derive(Clone)]
struct Far {
    peer: PeerAddr,
    certificate: Option<PeerCertificate>,
    hsts: Option<HeaderValue>,
}

// === impl Connections ===

impl Connections {
    pub(super) fn new(
        service: Router,
        tls: Option<Tls>,
        hsts_max_age_s: u32,
        header_read: Duration,
        closing: CancellationToken,
    ) -> Connections {
        let mut http = auto::Builder::new(TokioExecutor::new());
        http.http1().timer(TokioTimer::new()).header_read_timeout(header_read);
        http.http2()
            .timer(TokioTimer::new())
            .max_concurrent_streams(STREAMS_PER_CONNECTION_MAX)
            .keep_alive_interval(Duration::from_secs(20))
            .keep_alive_timeout(Duration::from_secs(10));
        Connections { http, service, tls, hsts: hsts::header(hsts_max_age_s), header_read, closing }
    }

    /// Serves it until it ends.
    pub(super) async fn serve(self, stream: TcpStream, peer: SocketAddr) {
        // Without it a small answer may wait 40 ms for an acknowledgement; failing costs only that.
        let _ = stream.set_nodelay(true);
        let peer = PeerAddr(peer);
        let Some(tls) = &self.tls else {
            let far = Far { peer, certificate: None, hsts: None };
            let stream = Patient::new(stream, self.header_read);
            return self.speak(&self.http, stream, far, self.closing.clone()).await;
        };
        let accepted = tokio::select! {
            accepted = tls.accept(stream) => accepted,
            () = self.closing.cancelled() => return,
        };
        let secured = match accepted {
            Ok(Accepted::Tls(secured)) => *secured,
            Ok(Accepted::Plain(stream)) => return self.send_to_https(stream).await,
            Err(error) => return tracing::debug!(%error, "a handshake failed"),
        };
        let http = match secured.protocol {
            Protocol::Http2 => self.http.clone().http2_only(),
            Protocol::Http1 => self.http.clone().http1_only(),
        };
        let (certificate, holds) = secured.client.unzip();
        let far = Far { peer, certificate, hsts: self.hsts.clone() };
        let ends = self.closing.child_token();
        let speaking = self.speak(&http, secured.stream, far, ends.clone());
        tokio::pin!(speaking);
        let expired = async {
            match holds {
                Some(holds) => holds.cancelled_owned().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            () = &mut speaking => return,
            () = expired => ends.cancel(),
        }
        speaking.await;
    }

    /// Answers until the connection ends, or until `ends` and what runs has finished.
    async fn speak<S>(
        &self,
        http: &auto::Builder<TokioExecutor>,
        stream: S,
        far: Far,
        ends: CancellationToken,
    ) where
        S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    {
        let inner = self.service.clone();
        let service =
            service_fn(move |request: Request<Incoming>| answer(inner.clone(), far.clone(), request));
        let serving = http.serve_connection(TokioIo::new(stream), service);
        tokio::pin!(serving);
        let ended = tokio::select! {
            ended = serving.as_mut() => ended,
            () = ends.cancelled() => {
                serving.as_mut().graceful_shutdown();
                serving.await
            }
        };
        if let Err(error) = ended {
            tracing::debug!(error, "a connection broke");
        }
    }

    /// Says to plain HTTP what is spoken here.
    async fn send_to_https(&self, stream: TcpStream) {
        let service = service_fn(|_: Request<Incoming>| async {
            let mut answer =
                plain::text(StatusCode::BAD_REQUEST, "this port speaks https: call it with https:// instead");
            answer.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
            Ok::<_, Infallible>(answer)
        });
        let http = self.http.clone().http1_only();
        let serving = http.serve_connection(TokioIo::new(stream), service);
        tokio::select! {
            ended = serving => if let Err(error) = ended {
                tracing::debug!(error, "a connection without TLS broke");
            },
            () = self.closing.cancelled() => {}
        }
    }
}

async fn answer(
    mut service: Router,
    far: Far,
    mut request: Request<Incoming>,
) -> Result<Response<Body>, Infallible> {
    let hsts = far.hsts.filter(|_| hsts::applies(&request));
    request.extensions_mut().insert(far.peer);
    if let Some(certificate) = far.certificate {
        request.extensions_mut().insert(certificate);
    }
    let mut answer = Service::call(&mut service, request).await?;
    if let Some(hsts) = hsts {
        answer.headers_mut().insert(STRICT_TRANSPORT_SECURITY, hsts);
    }
    Ok(answer)
}
