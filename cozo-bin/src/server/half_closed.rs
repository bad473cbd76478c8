//! Clients that close their half of the connection once they have sent their request, and those that have gone.
//!
//! Both look alike: there is nothing more to read. A client that has only closed its half waits for its answer, so its script
//! must go on; that of a client that has gone must stop. What tells them apart is a piece of the answer, which the system of a
//! client that has gone refuses. HTTP/1.1 has one that may be sent as often as one likes before the response, and that clients
//! ignore: an interim response ([`PROBE`]).
//!
//! | the request | at the end of what there is to read |
//! |---|---|
//! | has not come whole | the connection ends after a while: what has come may just not have been taken |
//! | waits for its response | probes are sent after a while, again and again; when one is refused, the connection ends |
//! | is of HTTP/1.0, which has no interim responses | the connection ends after a while |
//! | is being answered | the response goes on; that it is refused is noticed anyway |
//! | is answered by a stream of events | the connection ends |

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Sleep, sleep};

use super::activity::{Activity, Stage};

/// Says nothing, to whoever is there to hear it.
const PROBE: &[u8] = b"HTTP/1.1 102 Processing\r\n\r\n";

/// Most answers come sooner, and nothing is sent before them.
const FIRST_WAIT: Duration = Duration::from_millis(200);

/// Each wait is twice as long as the one before, up to this.
const LONGEST_WAIT: Duration = Duration::from_secs(10);

/// A connection whose end of reading is not the end of an answer.
pub struct HalfClosed<S> {
    stream: S,
    activity: Arc<Activity>,
    /// Whether a piece of a response is written and the rest is not.
    mid_response: bool,
    /// What is left of a probe: nothing else may be written before.
    probe: &'static [u8],
    /// Since there is nothing more to read.
    waiting: Option<Waiting>,
}

/// The wait for the next probe.
struct Waiting {
    timer: Pin<Box<Sleep>>,
    wait: Duration,
}

impl Default for Waiting {
    fn default() -> Self {
        Waiting { timer: Box::pin(sleep(FIRST_WAIT)), wait: FIRST_WAIT }
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> HalfClosed<S> {
    /// A connection on which the activity happens.
    pub fn new(stream: S, activity: Arc<Activity>) -> Self {
        HalfClosed { stream, activity, mid_response: false, probe: &[], waiting: None }
    }

    /// There is nothing more to read: whether that ends the connection. An error ends it, too.
    fn poll_end(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        loop {
            match self.activity.stage() {
                Stage::Idle | Stage::Streaming => return Poll::Ready(Ok(())),
                Stage::Answering => return Poll::Pending,
                Stage::Receiving | Stage::Waiting | Stage::WaitingOld => {}
            }
            ready!(self.waiting.get_or_insert_default().poll(context));
            match self.activity.stage() {
                Stage::Receiving | Stage::WaitingOld => return Poll::Ready(Ok(())),
                Stage::Waiting if self.probe.is_empty() && !self.mid_response => self.probe = PROBE,
                _ => {}
            }
            // Whether it is written is no matter, as long as it is not refused.
            if let Poll::Ready(Err(error)) = self.poll_probe(context) {
                return Poll::Ready(Err(error));
            }
        }
    }

    /// Writes what is left of a probe.
    fn poll_probe(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.probe.is_empty() {
            return Poll::Ready(Ok(()));
        }
        while !self.probe.is_empty() {
            let written = ready!(Pin::new(&mut self.stream).poll_write(context, self.probe))?;
            if written == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            self.probe = &self.probe[written..];
        }
        Pin::new(&mut self.stream).poll_flush(context)
    }
}

impl Waiting {
    /// Ready when the wait is over; the next one has begun then.
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<()> {
        ready!(self.timer.as_mut().poll(context));
        self.wait = (2 * self.wait).min(LONGEST_WAIT);
        self.timer = Box::pin(sleep(self.wait));
        Poll::Ready(())
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncRead for HalfClosed<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.stream).poll_read(context, buffer))?;
        match buffer.filled().len() > before || buffer.remaining() == 0 {
            true => Poll::Ready(Ok(())),
            false => self.poll_end(context),
        }
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for HalfClosed<S> {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        ready!(self.poll_probe(context))?;
        self.mid_response = true;
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        pieces: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        ready!(self.poll_probe(context))?;
        self.mid_response = true;
        Pin::new(&mut self.stream).poll_write_vectored(context, pieces)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    /// Called when all that there was to write is written.
    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(Pin::new(&mut self.stream).poll_flush(context))?;
        self.mid_response = false;
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
