//! Patience with a connection that has not said yet which protocol it speaks: the library waits for the preface of
//! HTTP/2 (RFC 9113 §3.4) for ever, and such a connection would keep its place.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Sleep, sleep};

const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// A stream whose reads fail when the protocol is not clear in time.
pub(super) struct Patient<S> {
    stream: S,
    /// Until it is clear.
    open: Option<Open>,
}

struct Open {
    deadline: Pin<Box<Sleep>>,
    /// Bytes of the preface that have come.
    matched: usize,
}

// === impl Patient ===

impl<S> Patient<S> {
    pub(super) fn new(stream: S, within: Duration) -> Patient<S> {
        Patient { stream, open: Some(Open { deadline: Box::pin(sleep(within)), matched: 0 }) }
    }
}

impl Open {
    /// True when the protocol is clear: the preface is whole, or this is none.
    fn is_clear(&mut self, came: &[u8]) -> bool {
        let rest = &PREFACE[self.matched..];
        self.matched += came.len().min(rest.len());
        !came.iter().zip(rest).all(|(a, b)| a == b) || self.matched == PREFACE.len()
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Patient<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        to: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let Patient { stream, open } = &mut *self;
        let before = to.filled().len();
        let read = Pin::new(stream).poll_read(cx, to);
        let Some(waiting) = open else { return read };
        if read.is_ready() {
            if waiting.is_clear(&to.filled()[before..]) {
                *open = None;
            }
            return read;
        }
        ready!(waiting.deadline.as_mut().poll(cx));
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Patient<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(cx, parts)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};

    use super::*;

    const WITHIN: Duration = Duration::from_secs(10);

    /// Whether a connection that begins so may still say something a minute later.
    async fn waits_after(beginning: &[u8]) -> bool {
        let (mut near, far) = duplex(1_024);
        let mut patient = Patient::new(far, WITHIN);
        // One byte at a time, as a slow network brings it.
        for byte in beginning {
            near.write_u8(*byte).await.unwrap();
            assert_eq!(patient.read_u8().await.unwrap(), *byte);
        }
        let later = async {
            tokio::time::sleep(Duration::from_secs(60)).await;
            near.write_u8(7).await
        };
        let (read, _) = tokio::join!(patient.read_u8(), later);
        read.is_ok()
    }

    #[tokio::test(start_paused = true)]
    async fn only_what_may_yet_become_either_protocol_is_given_up() {
        for unclear in [&b""[..], b"P", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r"] {
            assert!(!waits_after(unclear).await, "{unclear:?}");
        }
        for clear in [&b"G"[..], b"PO", b"PRI * HTTP/1", PREFACE, b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0"] {
            assert!(waits_after(clear).await, "{clear:?}");
        }
    }
}
