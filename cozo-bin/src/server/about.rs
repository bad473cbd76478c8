//! What the server says about itself: its health, its numbers, and the description of its routes.

use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};

use super::error::{Failure, ServerError};
use super::state::App;

/// The description of all routes.
pub const OPENAPI: &str = include_str!("openapi.json");

/// `GET /health`.
pub async fn health() -> Response {
    ([(header::CONTENT_TYPE, "application/json")], r#"{"ok":true}"#).into_response()
}

/// `GET /openapi.json`.
pub async fn openapi() -> Response {
    ([(header::CONTENT_TYPE, "application/json")], OPENAPI).into_response()
}

/// `GET /metrics`.
pub async fn metrics(State(app): State<App>) -> Result<Response, Failure> {
    let text = app.metrics.text().map_err(|error| ServerError::Internal(error.to_string()))?;
    Ok(([(header::CONTENT_TYPE, prometheus::TEXT_FORMAT)], text).into_response())
}
