//! What happens on a connection: how far its request is, and whether its client is silent, that is, whether no request has come for a while
//! and none is being answered.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::body::Body;
use axum::http::header::CONNECTION;
use axum::http::{HeaderValue, Request, Response, Version};
use bytes::Bytes;
use http_body::{Body as _, Frame, SizeHint};
use hyper::body::Incoming;
use hyper::service::Service;
use tokio::time::sleep;

use super::direct::Direct;

/// A body of so many bytes comes with its request: where no one asks for it, it is read and dropped.
const SHORT_BODY: u64 = 4096;

/// How often within the time that a client has it is looked whether a request came.
const LOOKS: u32 = 4;

/// What happens on a connection.
#[derive(Default)]
pub struct Activity {
    /// How many requests have begun and how many responses have ended. It is odd while one is being answered.
    events: AtomicU64,
    /// A [`Stage`].
    stage: AtomicU8,
}

/// How far the request of a connection is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Stage {
    /// There is none.
    Idle,
    /// Its body has not come whole.
    Receiving,
    /// It has come whole, and the response has not begun.
    Waiting,
    /// The same for HTTP/1.0.
    WaitingOld,
    /// The response is on its way.
    Answering,
    /// The response is a stream of events, which ends when either side ends it.
    Streaming,
}

const STAGES: [Stage; 6] =
    [Stage::Idle, Stage::Receiving, Stage::Waiting, Stage::WaitingOld, Stage::Answering, Stage::Streaming];

/// Marks a response as a stream of events, among its extensions.
#[derive(Clone, Copy)]
pub struct IsStream;

impl Activity {
    /// Returns when nothing has happened for so long, or up to a fourth longer.
    pub async fn has_ceased(&self, limit: Duration) {
        let (mut seen, mut looks) = (0, 0);
        while looks < LOOKS {
            sleep(limit / LOOKS).await;
            let events = self.events.load(Ordering::Relaxed);
            let is_silent = events == seen && events.is_multiple_of(2);
            looks = if is_silent { looks + 1 } else { 0 };
            seen = events;
        }
    }

    /// How far the request is.
    pub fn stage(&self) -> Stage {
        STAGES[usize::from(self.stage.load(Ordering::Relaxed))]
    }

    fn note(&self) {
        self.events.fetch_add(1, Ordering::Relaxed);
    }

    fn enter(&self, stage: Stage) {
        self.stage.store(stage as u8, Ordering::Relaxed);
    }
}

/// A request that is being answered.
struct Answer(Arc<Activity>);

impl Drop for Answer {
    fn drop(&mut self) {
        self.0.enter(Stage::Idle);
        self.0.note();
    }
}

/// The body of a request, whose end is noted.
pub struct Received {
    body: Incoming,
    activity: Arc<Activity>,
    /// What follows.
    then: Stage,
}

impl Received {
    fn new(body: Incoming, activity: Arc<Activity>, then: Stage) -> Self {
        let received = Received { body, activity, then };
        received.activity.enter(Stage::Receiving);
        received.note_end();
        received
    }

    fn note_end(&self) {
        if self.body.is_end_stream() {
            self.activity.enter(self.then);
        }
    }
}

impl http_body::Body for Received {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let frame = ready!(Pin::new(&mut self.body).poll_frame(context));
        match frame {
            None => self.activity.enter(self.then),
            Some(_) => self.note_end(),
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// A service that notes each request, and the end of each response.
pub struct Watched {
    service: Direct,
    activity: Arc<Activity>,
}

impl Watched {
    /// What the service does is noted there.
    pub fn new(service: Direct, activity: Arc<Activity>) -> Self {
        Watched { service, activity }
    }
}

impl Service<Request<Incoming>> for Watched {
    type Response = Response<WatchedBody>;
    type Error = Infallible;
    type Future = WatchedResponse<<Direct as Service<Request<Received>>>::Future>;

    fn call(&self, request: Request<Incoming>) -> Self::Future {
        self.activity.note();
        let answer = Some(Answer(self.activity.clone()));
        let then = if request.version() < Version::HTTP_11 { Stage::WaitingOld } else { Stage::Waiting };
        let is_long = request.body().size_hint().exact().is_none_or(|bytes| bytes > SHORT_BODY);
        let request = request.map(|body| Received::new(body, self.activity.clone(), then));
        WatchedResponse { response: self.service.call(request), answer, is_long }
    }
}

/// The response to a noted request.
pub struct WatchedResponse<F> {
    response: F,
    answer: Option<Answer>,
    /// Whether the body of the request is long, or may be.
    is_long: bool,
}

impl<F: Future<Output = Result<Response<Body>, Infallible>> + Unpin> Future for WatchedResponse<F> {
    type Output = Result<Response<WatchedBody>, Infallible>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let mut response = ready!(Pin::new(&mut self.response).poll(context));
        let answer = self.answer.take();
        if let (Ok(response), Some(Answer(activity))) = (&mut response, &answer) {
            if self.is_long && activity.stage() == Stage::Receiving {
                // The connection will be closed rather than the rest of the body read: the client is told, so that it sends the
                // next request on another.
                response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
            }
            let is_stream = response.extensions().get::<IsStream>().is_some();
            activity.enter(if is_stream { Stage::Streaming } else { Stage::Answering });
        }
        Poll::Ready(response.map(|response| response.map(|body| WatchedBody { body, _answer: answer })))
    }
}

/// A body with whose end the response has ended.
pub struct WatchedBody {
    body: Body,
    _answer: Option<Answer>,
}

impl http_body::Body for WatchedBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;

    #[test]
    fn a_connection_is_silent_only_when_nothing_happens() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("there is a runtime");
        let limit = Duration::from_millis(200);
        let activity = Arc::<Activity>::default();
        let waited = |activity: &Activity| {
            let begin = Instant::now();
            runtime.block_on(async {
                let waits = activity.has_ceased(limit);
                tokio::time::timeout(10 * limit, waits).await.ok().map(|()| begin.elapsed())
            })
        };
        assert!(waited(&activity).is_some_and(|time| time >= limit), "nothing comes");
        activity.note();
        let answer = Answer(activity.clone());
        assert!(waited(&activity).is_none(), "a long answer is none of the client's silence");
        drop(answer);
        assert!(waited(&activity).is_some_and(|time| time >= limit), "nothing more comes");
    }
}
