//! What requests bring: bodies, and numbers in paths.

use std::error::Error;

use axum::extract::{FromRequest, FromRequestParts, Path, Request};
use axum::http::request::Parts;
use bytes::Bytes;
use http_body_util::{BodyExt, LengthLimitError, Limited};
use serde::de::DeserializeOwned;
use tower_http::timeout::TimeoutError;

use super::error::ServerError;
use super::state::App;

/// Reading the JSON of so many bytes keeps a thread that serves connections for some 50 µs.
pub const SHORT_BYTES: usize = 16 * 1024;

/// The whole body of a request, within the limit of the server.
pub struct Payload(Bytes);

impl FromRequest<App> for Payload {
    type Rejection = ServerError;

    async fn from_request(request: Request, app: &App) -> Result<Self, ServerError> {
        Payload::read(request.into_body(), app.max_body_bytes).await
    }
}

impl Payload {
    /// A body of at most so many bytes.
    pub async fn read<B>(body: B, limit: usize) -> Result<Self, ServerError>
    where
        B: http_body::Body<Data = Bytes, Error: Into<Box<dyn Error + Send + Sync>>>,
    {
        let failed = |error: Box<dyn Error + Send + Sync>| match () {
            () if has_cause::<LengthLimitError>(&*error) => ServerError::TooLarge(limit),
            () if has_cause::<TimeoutError>(&*error) => ServerError::SlowClient,
            () => ServerError::BadRequest(format!("the body cannot be read: {error}")),
        };
        Limited::new(body, limit).collect().await.map(|body| Payload(body.to_bytes())).map_err(failed)
    }

    /// Whether reading the body takes next to no time.
    pub fn is_short(&self) -> bool {
        self.0.len() <= SHORT_BYTES
    }

    /// The body as the JSON of a type. Bodies that are not short take their time: to be called where work is done.
    pub fn parse<T: DeserializeOwned>(&self) -> Result<T, ServerError> {
        serde_json::from_slice(&self.0).map_err(|error| ServerError::BadRequest(error.to_string()))
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
