//! What requests bring: bodies, and numbers in paths.

use std::cell::RefCell;
use std::error::Error;
use std::pin::pin;

use axum::extract::{FromRequest, FromRequestParts, Path, Request};
use axum::http::request::Parts;
use bytes::Bytes;
use cozo::Interrupt;
use http_body_util::BodyExt;
use serde::de::DeserializeOwned;
use tower_http::timeout::TimeoutError;

use super::error::{Failure, ServerError};
use super::memory::Held;
use super::state::App;
use crate::decode::{DecodeError, Meter, ScriptRequest, ScriptSeed, decode};

/// Reading the JSON of so many bytes keeps a thread that serves connections for some 50 µs, and takes little memory.
pub const SHORT_BYTES: usize = 16 * 1024;

/// What a request without values, such as for a backup, has at most.
const SMALL_BYTES: usize = 1 << 20;

/// So much of a body that is refused is taken nevertheless.
const MAX_DRAINED_BYTES: usize = 64 << 20;

/// Room for a body is made in steps of at least so many bytes.
const MIN_ROOM: usize = 64 * 1024;

/// The whole body of a request, within the limits of the server.
pub struct Payload {
    text: Text,
    held: Held,
}

/// The text of a body.
enum Text {
    /// As it came.
    Piece(Bytes),
    /// Put together.
    Whole(Vec<u8>),
}

/// What a body became, with the memory that it takes.
pub struct Decoded<T> {
    /// The value.
    pub value: T,
    /// Counts until it is dropped.
    pub held: Held,
}

impl FromRequest<App> for Payload {
    type Rejection = ServerError;

    async fn from_request(request: Request, app: &App) -> Result<Self, ServerError> {
        Payload::read(request.into_body(), app).await
    }
}

impl Payload {
    /// A body.
    pub async fn read<B>(body: B, app: &App) -> Result<Self, ServerError>
    where
        B: http_body::Body<Data = Bytes, Error: Into<Box<dyn Error + Send + Sync>>>,
    {
        let limits = Limits { body: app.max_body_bytes, request: app.memory.each };
        let expected = body.size_hint().exact().and_then(|bytes| usize::try_from(bytes).ok());
        let mut payload = Payload { text: Text::Piece(Bytes::new()), held: app.memory.held() };
        let mut body = pin!(body);
        while let Some(frame) = body.frame().await {
            let Ok(piece) = frame.map_err(unreadable)?.into_data() else { continue };
            let refused =
                limits.check(payload.bytes().len() + piece.len()).and_then(|()| payload.append(piece, expected));
            if let Err(refusal) = refused {
                drop(payload);
                drain(body).await;
                return Err(refusal);
            }
        }
        payload.shrink();
        Ok(payload)
    }

    /// Gives back the room that the body does not fill. A body that does not say its length gets room in steps, each twice the last.
    fn shrink(&mut self) {
        if let Text::Whole(text) = &mut self.text {
            let before = text.capacity();
            text.shrink_to_fit();
            self.held.shrink(before - text.capacity());
        }
    }

    /// Appends a piece of a body of which so many bytes are expected in all.
    fn append(&mut self, piece: Bytes, expected: Option<usize>) -> Result<(), ServerError> {
        let before = self.bytes().len();
        if before == 0 {
            if piece.len() > SHORT_BYTES && !self.held.grow(piece.len()) {
                return Err(ServerError::Busy);
            }
            self.text = Text::Piece(piece);
            return Ok(());
        }
        let mut text = match std::mem::replace(&mut self.text, Text::Piece(Bytes::new())) {
            Text::Piece(first) => Vec::from(first),
            Text::Whole(text) => text,
        };
        let needed = text.len() + piece.len();
        if needed > text.capacity() {
            let doubled = (2 * text.capacity()).max(MIN_ROOM);
            let room = doubled.min(expected.unwrap_or(usize::MAX)).max(needed);
            if !self.held.grow(room - text.capacity()) || text.try_reserve_exact(room - text.len()).is_err() {
                return Err(ServerError::Busy);
            }
        }
        text.extend_from_slice(&piece);
        self.text = Text::Whole(text);
        Ok(())
    }

    fn bytes(&self) -> &[u8] {
        self.text.bytes()
    }

    /// Whether reading the body takes next to no time.
    pub fn is_short(&self) -> bool {
        self.bytes().len() <= SHORT_BYTES
    }

    /// A short body as a script.
    pub fn short_script(&self) -> Result<ScriptRequest, Failure> {
        let interrupt = Interrupt::default();
        let meter = Meter::new(usize::MAX, &interrupt, &|_| true);
        decode(self.bytes(), ScriptSeed(&meter), &meter).map_err(|error| failure(error, usize::MAX))
    }

    /// The body as a script, which may be known already, unless the interrupt comes first.
    pub fn script(
        self,
        known: Option<ScriptRequest>,
        interrupt: &Interrupt,
    ) -> Result<Decoded<ScriptRequest>, Failure> {
        match known {
            Some(value) => Ok(Decoded { value, held: self.held }),
            None => self.decode(interrupt, |text, meter| decode(text, ScriptSeed(meter), meter)),
        }
    }

    /// The body as what `read` makes of it, unless the interrupt comes first. Bodies that are not short take their time: to be
    /// called where work is done.
    pub fn decode<T>(
        self,
        interrupt: &Interrupt,
        read: impl FnOnce(&[u8], &Meter<'_>) -> Result<T, DecodeError>,
    ) -> Result<Decoded<T>, Failure> {
        let (each, left) = (self.held.each(), self.held.left());
        let Payload { text, held } = self;
        let held = RefCell::new(held);
        let grant = |bytes: usize| held.borrow_mut().grow(bytes);
        let meter = Meter::new(left, interrupt, &grant);
        let value = read(text.bytes(), &meter).map_err(|error| failure(error, each))?;
        Ok(Decoded { value, held: held.into_inner() })
    }

    /// The body as the JSON of a type without values.
    pub fn parse<T: DeserializeOwned>(&self) -> Result<T, ServerError> {
        if self.bytes().len() > SMALL_BYTES {
            return Err(ServerError::TooLarge(SMALL_BYTES));
        }
        serde_json::from_slice(self.bytes()).map_err(|error| ServerError::BadRequest(error.to_string()))
    }
}

/// How many bytes a body may have: as a body, and as a part of a request.
struct Limits {
    body: usize,
    request: usize,
}

impl Limits {
    fn check(&self, bytes: usize) -> Result<(), ServerError> {
        match bytes {
            _ if bytes > self.body => Err(ServerError::TooLarge(self.body)),
            _ if bytes > self.request => Err(ServerError::TooMuch(self.request)),
            _ => Ok(()),
        }
    }
}

/// Takes the rest of a body that is refused, or much of it: a client that still sends does not look at the response.
async fn drain<B: http_body::Body<Data = Bytes>>(mut body: std::pin::Pin<&mut B>) {
    let mut drained = 0;
    while let Some(Ok(frame)) = body.frame().await
        && drained < MAX_DRAINED_BYTES
    {
        drained += frame.data_ref().map_or(0, Bytes::len);
    }
}

fn unreadable(error: impl Into<Box<dyn Error + Send + Sync>>) -> ServerError {
    let error = error.into();
    match has_cause::<TimeoutError>(&*error) {
        true => ServerError::SlowClient,
        false => ServerError::BadRequest(format!("the body cannot be read: {error}")),
    }
}

impl Text {
    fn bytes(&self) -> &[u8] {
        match self {
            Text::Piece(piece) => piece,
            Text::Whole(text) => text,
        }
    }
}

/// What is to be said of a body that could not be read, of a request that may take so many bytes.
fn failure(error: DecodeError, each: usize) -> Failure {
    match error {
        DecodeError::Bad(reason) => ServerError::BadRequest(reason).into(),
        DecodeError::TooMuch => ServerError::TooMuch(each).into(),
        DecodeError::NoMemory => ServerError::Busy.into(),
        DecodeError::Stopped(report) => Failure::of_report(report, None),
        DecodeError::Row(error) => Failure::of_report(error.into(), None),
    }
}

/// The number at the end of a path.
pub struct Number(pub u64);

impl FromRequestParts<App> for Number {
    type Rejection = ServerError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, ServerError> {
        let number = Path::<u64>::from_request_parts(parts, app).await;
        let (method, path) = (&parts.method, parts.uri.path());
        let no_route = |_| ServerError::NoRoute { method: method.to_string(), path: path.to_string() };
        number.map(|Path(number)| Number(number)).map_err(no_route)
    }
}

fn has_cause<E: Error + 'static>(error: &(dyn Error + 'static)) -> bool {
    error.is::<E>() || error.source().is_some_and(has_cause::<E>)
}
