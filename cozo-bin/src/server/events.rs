//! Streams of events (SSE): what a blocking channel of the library gives, as an endless response.

use std::borrow::Cow;
use std::convert::Infallible;
use std::thread;

use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::{Stream, StreamExt};
use prometheus::IntGauge;
use serde_json::Value;
use tokio::sync::{mpsc, watch};
use tokio_stream::wrappers::ReceiverStream;

use super::activity::IsStream;
use super::error::ServerError;
use super::state::Server;

/// Each stream has a thread that waits for its events.
const MAX_STREAMS: i64 = 1000;

/// How many events wait for the connection.
const WAITING_EVENTS: usize = 16;

/// A place among the streams, until it is dropped.
struct Place(IntGauge);

impl Place {
    fn take(server: &Server) -> Result<Self, ServerError> {
        let streams = &server.metrics.streams;
        streams.inc();
        let place = Place(streams.clone());
        if streams.get() <= MAX_STREAMS { Ok(place) } else { Err(ServerError::TooMany("streams of events")) }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.0.dec();
    }
}

/// Something to be done when a stream ends, whoever ends it.
struct AtEnd<F: FnMut()>(F);

impl<F: FnMut()> Drop for AtEnd<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

/// Where the thread of a stream puts its events, as the text of JSON.
pub struct Events(mpsc::Sender<Event>);

impl Events {
    /// Puts an event, once there is room for it; whether somebody still listens.
    pub fn put(&self, json: Vec<u8>) -> bool {
        self.0.blocking_send(event(&json)).is_ok()
    }

    /// Puts an event with an id, which a client names to go on after it.
    pub fn put_with_id(&self, id: &str, json: Vec<u8>) -> bool {
        let event = Event::default().id(id).data(text(&json));
        self.0.blocking_send(event).is_ok()
    }

    /// Puts an id alone, which is no event for a client.
    pub fn put_id(&self, id: &str) -> bool {
        self.0.blocking_send(Event::default().id(id)).is_ok()
    }

    /// Puts the error that ends the stream, as an event of the type `failed`.
    pub fn put_error(&self, error: &Value) {
        // A client that has gone needs none.
        let _ = self.0.blocking_send(event(error.to_string().as_bytes()).event("failed"));
    }
}

/// A response whose events `produce` makes on a thread of its own. `at_end` is called when the client has gone away, when
/// `produce` has returned, or when the server ends; it has to make `produce` return.
pub fn stream(
    server: &Server,
    produce: impl FnOnce(&Events) + Send + 'static,
    at_end: impl FnMut() + Send + 'static,
) -> Result<Response, ServerError> {
    let at_end = AtEnd(at_end);
    let place = Place::take(server)?;
    let (sender, receiver) = mpsc::channel(WAITING_EVENTS);
    let spawned = thread::Builder::new().name("events".to_string()).spawn(move || produce(&Events(sender)));
    spawned.map_err(|_| ServerError::TooMany("threads"))?;
    let events = ReceiverStream::new(receiver).take_until(ends(server.ending.clone()));
    let held = events.map(move |event| {
        let _ = (&at_end, &place);
        Ok(event)
    });
    Ok(respond(held))
}

/// A response of one event.
pub fn single(json: Vec<u8>) -> Response {
    respond(futures_util::stream::iter([Ok(event(&json))]))
}

fn event(json: &[u8]) -> Event {
    Event::default().data(text(json))
}

/// JSON, which is UTF-8 without line breaks, as text.
fn text(json: &[u8]) -> Cow<'_, str> {
    String::from_utf8_lossy(json)
}

fn respond(events: impl Stream<Item = Result<Event, Infallible>> + Send + 'static) -> Response {
    let mut response = Sse::new(events).keep_alive(KeepAlive::default()).into_response();
    response.extensions_mut().insert(IsStream);
    response
}

/// Returns when the server is to end.
async fn ends(mut ending: watch::Receiver<bool>) {
    // An error means that nobody is left who could say so.
    let _ = ending.wait_for(|ending| *ending).await;
}
