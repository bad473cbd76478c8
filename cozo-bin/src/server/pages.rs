//! What the server says about itself: its page, its health, its numbers, and the description of its routes.

use axum::extract::State;
use axum::http::{HeaderName, header};
use axum::response::{IntoResponse, Response};

use super::error::{Failure, ServerError};
use super::state::App;

/// The page: a script goes in, a table comes out. It loads nothing from elsewhere.
const PAGE: &str = include_str!("page.html");

/// The description of all routes.
pub const OPENAPI: &str = include_str!("openapi.json");

/// What the page may do: run its own script and style, and talk to this server.
const PAGE_POLICY: &str = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; \
    connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// `GET /`.
pub async fn page() -> Response {
    let headers = [
        (header::CONTENT_TYPE, "text/html; charset=utf-8"),
        (header::CONTENT_SECURITY_POLICY, PAGE_POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (HeaderName::from_static("referrer-policy"), "no-referrer"),
    ];
    (headers, PAGE).into_response()
}

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
