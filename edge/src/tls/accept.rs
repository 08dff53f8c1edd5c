//! One handshake.

use std::io;
use std::sync::Arc;

use tokio::net::TcpStream;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;
use tokio_util::sync::CancellationToken;

use super::Tls;
use crate::edge::PeerCertificate;

/// What the other end speaks.
pub(crate) enum Accepted {
    Tls(Box<Secured>),
    /// HTTP without TLS.
    Plain(TcpStream),
}

/// A connection after its handshake.
pub(crate) struct Secured {
    pub(crate) stream: TlsStream<TcpStream>,
    pub(crate) protocol: Protocol,
    /// What the client has shown and proved to own, with what ends it.
    pub(crate) client: Option<(PeerCertificate, CancellationToken)>,
}

/// What both ends agreed on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Protocol {
    /// Also when the client did not ask (RFC 9113 §3.2): HTTP/2 is asked for.
    Http1,
    Http2,
}

// === impl Tls ===

impl Tls {
    /// # Errors
    /// When the handshake fails, or takes longer than `edge.header_read_ms`.
    pub(crate) async fn accept(&self, stream: TcpStream) -> io::Result<Accepted> {
        let handshake = async {
            // A method begins with a letter, a handshake (RFC 8446 §5.1) with 22.
            let mut first = [0_u8; 1];
            if stream.peek(&mut first).await? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            if first[0].is_ascii_uppercase() {
                return Ok(Accepted::Plain(stream));
            }
            let current = self.current.borrow().clone();
            let stream = TlsAcceptor::from(current.config).accept(stream).await?;
            let (_, session) = stream.get_ref();
            let protocol = match session.alpn_protocol() {
                Some(b"h2") => Protocol::Http2,
                _ => Protocol::Http1,
            };
            let leaf = session.peer_certificates().and_then(<[_]>::first);
            let client = leaf.map(|leaf| (PeerCertificate(Arc::from(leaf.as_ref())), current.clients));
            Ok(Accepted::Tls(Box::new(Secured { stream, protocol, client })))
        };
        tokio::time::timeout(self.handshake, handshake).await?
    }
}
