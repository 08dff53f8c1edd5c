//! One keep-alive HTTP/1.1 connection with a reader that does no more than a load driver needs.
//!
//! The driver shares its cores with the server it measures, so a general client would be measured along with it.

use anyhow::{Context, Result, bail};
use bytes::{Buf, Bytes, BytesMut};
use memchr::{memchr, memmem};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// A longer head or body means that something else than the expected server answered.
const BODY_BYTES_MAX: usize = 4 << 20;

/// Where to send requests: a plain-text loopback address and a path.
#[derive(Clone, Debug)]
pub(crate) struct Endpoint {
    /// `host:port`, dialled and sent as `Host`.
    pub(crate) authority: String,
    /// The path with its leading slash.
    pub(crate) path: String,
}

impl std::str::FromStr for Endpoint {
    type Err = anyhow::Error;

    fn from_str(url: &str) -> Result<Self> {
        let rest = url.strip_prefix("http://").context("url must begin with http://")?;
        let (authority, path) = match rest.find('/') {
            Some(slash) => rest.split_at(slash),
            None => (rest, "/"),
        };
        Ok(Self { authority: authority.to_owned(), path: path.to_owned() })
    }
}

impl Endpoint {
    /// The bytes of a POST of `body`, asking for `accept`.
    pub(crate) fn post(&self, accept: &str, body: &str) -> String {
        format!(
            "POST {} HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\nAccept: {accept}\r\nA2A-Version: 1.0\r\nContent-Length: {}\r\n\r\n{body}",
            self.path,
            self.authority,
            body.len()
        )
    }
}

/// A connection that carries one request at a time.
pub(crate) struct Connection {
    stream: TcpStream,
    buffer: BytesMut,
}

/// How the end of a body is found.
enum Framing {
    Length(usize),
    Chunked,
}

// === impl Connection ===

impl Connection {
    /// Dials the endpoint.
    pub(crate) async fn open(endpoint: &Endpoint) -> Result<Self> {
        let stream = TcpStream::connect(&endpoint.authority)
            .await
            .with_context(|| format!("cannot connect to {}", endpoint.authority))?;
        stream.set_nodelay(true)?;
        Ok(Self { stream, buffer: BytesMut::with_capacity(16 << 10) })
    }

    /// Sends one request and returns the whole body of its answer.
    pub(crate) async fn call(&mut self, request: &str) -> Result<Bytes> {
        self.stream.write_all(request.as_bytes()).await?;
        match self.head().await? {
            Framing::Length(length) => self.take(length).await,
            Framing::Chunked => {
                let mut body = BytesMut::new();
                while let Some(chunk) = self.chunk().await? {
                    body.extend_from_slice(&chunk);
                    if body.len() > BODY_BYTES_MAX {
                        bail!("the answer is longer than {BODY_BYTES_MAX} bytes");
                    }
                }
                Ok(body.freeze())
            }
        }
    }

    /// Sends one request and hands every server-sent event of its answer to `on_event`, until the body ends.
    pub(crate) async fn stream(&mut self, request: &str, mut on_event: impl FnMut(&[u8])) -> Result<()> {
        self.stream.write_all(request.as_bytes()).await?;
        let Framing::Chunked = self.head().await? else { bail!("a stream must be chunked") };
        let mut pending = BytesMut::new();
        while let Some(chunk) = self.chunk().await? {
            pending.extend_from_slice(&chunk);
            while let Some((event, end)) = first_event(&pending) {
                if memmem::find(&pending[..event], b"data:").is_some() {
                    on_event(&pending[..event]);
                }
                pending.advance(end);
            }
            if pending.len() > BODY_BYTES_MAX {
                bail!("an event is longer than {BODY_BYTES_MAX} bytes");
            }
        }
        Ok(())
    }

    async fn head(&mut self) -> Result<Framing> {
        let end = loop {
            if let Some(end) = memmem::find(&self.buffer, b"\r\n\r\n") {
                break end;
            }
            self.fill().await?;
        };
        let head = self.buffer.split_to(end + 4);
        let head = std::str::from_utf8(&head).context("the head of the answer is not text")?;
        let mut lines = head.split("\r\n");
        let status = lines.next().unwrap_or_default();
        if !status.starts_with("HTTP/1.1 200") {
            bail!("the answer is not 200: {status}");
        }
        for (name, value) in lines.filter_map(|line| line.split_once(':')) {
            if name.eq_ignore_ascii_case("content-length") {
                return Ok(Framing::Length(value.trim().parse().context("content-length")?));
            }
            if name.eq_ignore_ascii_case("transfer-encoding") && value.trim().eq_ignore_ascii_case("chunked")
            {
                return Ok(Framing::Chunked);
            }
        }
        bail!("the answer has neither content-length nor chunks")
    }

    /// The next chunk of a chunked body; none at its end.
    async fn chunk(&mut self) -> Result<Option<Bytes>> {
        let line = loop {
            if let Some(end) = memchr(b'\n', &self.buffer) {
                break self.buffer.split_to(end + 1);
            }
            self.fill().await?;
        };
        let size = std::str::from_utf8(&line)?.trim();
        let size = usize::from_str_radix(size, 16).with_context(|| format!("chunk size {size:?}"))?;
        let mut chunk = self.take(size + 2).await?;
        chunk.truncate(size);
        Ok((size > 0).then_some(chunk))
    }

    async fn take(&mut self, length: usize) -> Result<Bytes> {
        if length > BODY_BYTES_MAX {
            bail!("the answer is longer than {BODY_BYTES_MAX} bytes");
        }
        while self.buffer.len() < length {
            self.fill().await?;
        }
        Ok(self.buffer.split_to(length).freeze())
    }

    async fn fill(&mut self) -> Result<()> {
        self.buffer.reserve(8 << 10);
        if self.stream.read_buf(&mut self.buffer).await? == 0 {
            bail!("the server closed the connection");
        }
        Ok(())
    }
}

/// Where the first event ends, and where what follows it begins.
fn first_event(bytes: &[u8]) -> Option<(usize, usize)> {
    let plain = memmem::find(bytes, b"\n\n").map(|at| (at, at + 2));
    let carriage = memmem::find(bytes, b"\r\n\r\n").map(|at| (at, at + 4));
    match (plain, carriage) {
        (Some(plain), Some(carriage)) => Some(plain.min(carriage)),
        (plain, carriage) => plain.or(carriage),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_ends_at_a_blank_line_of_either_kind() {
        assert_eq!(first_event(b"data: 1\n\ndata: 2\n\n"), Some((7, 9)));
        assert_eq!(first_event(b"data: 1\r\n\r\nrest\n\n"), Some((7, 11)));
        assert_eq!(first_event(b"data: 1\n"), None);
    }

    #[test]
    fn a_url_is_split_into_what_is_dialled_and_what_is_asked() -> Result<()> {
        let endpoint: Endpoint = "http://127.0.0.1:8420/a2a".parse()?;
        assert_eq!((endpoint.authority.as_str(), endpoint.path.as_str()), ("127.0.0.1:8420", "/a2a"));
        assert!("https://127.0.0.1/a2a".parse::<Endpoint>().is_err());
        Ok(())
    }
}
