//! The routes, and what every request passes through before it comes to one.

use axum::Router;
use axum::extract::{DefaultBodyLimit, Request};
use axum::middleware::{from_fn_with_state, map_response};
use axum::routing::{MethodRouter, delete, get, post, put};
use tower_http::compression::CompressionLayer;
use tower_http::compression::predicate::{NotForContentType, Predicate, SizeAbove};
use tower_http::decompression::RequestDecompressionLayer;
use tower_http::timeout::RequestBodyTimeoutLayer;

use super::error::{ServerError, describe_refusal};
use super::state::App;
use super::{about, auth, changes, guard, observe, page, query, rules, running, transactions, transfer};

/// Where scripts are sent.
pub const TEXT_QUERY: &str = "/text-query";

/// Shorter responses are sent as they are.
pub const MIN_COMPRESSED_BYTES: u64 = 1024;

/// Compresses responses for clients that want it.
pub fn compression() -> CompressionLayer<impl Predicate> {
    CompressionLayer::new().compress_when(SizeAbove::new(MIN_COMPRESSED_BYTES).and(NotForContentType::SSE))
}

/// The routes for everybody.
fn open() -> Vec<(&'static str, MethodRouter<App>)> {
    vec![
        ("/", get(page::page)),
        ("/health", get(about::health)),
        ("/openapi.json", get(about::openapi)),
        ("/page/vocabulary.json", get(page::words)),
        ("/page/{name}", get(page::file)),
    ]
}

/// The routes that need a token, where tokens are needed.
fn protected() -> Vec<(&'static str, MethodRouter<App>)> {
    vec![
        ("/backup", post(transfer::backup)),
        ("/changes/{relation}", get(changes::changes)),
        ("/export/{names}", get(transfer::export)),
        ("/import", put(transfer::import)),
        ("/import-from-backup", post(transfer::import_from_backup)),
        ("/metrics", get(about::metrics)),
        ("/rule-result/{id}", post(rules::answer).merge(delete(rules::cancel))),
        ("/rules/{name}", get(rules::rules)),
        ("/running", get(running::list)),
        ("/running/{id}", delete(running::stop)),
        (TEXT_QUERY, post(query::text_query)),
        ("/transact", post(transactions::begin)),
        ("/transact/{id}", post(transactions::run).merge(put(transactions::end))),
    ]
}

fn router_of(routes: Vec<(&'static str, MethodRouter<App>)>) -> Router<App> {
    routes.into_iter().fold(Router::new(), |router, (path, methods)| router.route(path, methods))
}

/// Answers all requests. A request passes through the layers from the last to the first.
pub fn router(app: App) -> Router {
    let routes = router_of(protected())
        .layer(RequestDecompressionLayer::new())
        .layer(RequestBodyTimeoutLayer::new(app.client_timeout))
        .layer(from_fn_with_state(app.clone(), auth::require_token))
        .merge(router_of(open()))
        .fallback(no_route)
        .method_not_allowed_fallback(method_not_allowed)
        .layer(map_response(describe_refusal))
        .layer(from_fn_with_state(app.clone(), guard::refuse_foreign_pages));
    let routes = match app.guard.cors() {
        Some(cors) => routes.layer(cors),
        None => routes,
    };
    routes
        .layer(compression())
        .layer(from_fn_with_state(app.clone(), observe::observe))
        // The limit is that of `Payload`, which counts what has been uncompressed.
        .layer(DefaultBodyLimit::disable())
        .with_state(app)
}

async fn no_route(request: Request) -> ServerError {
    ServerError::NoRoute { method: request.method().to_string(), path: request.uri().path().to_string() }
}

async fn method_not_allowed(request: Request) -> ServerError {
    ServerError::Method { method: request.method().to_string(), path: request.uri().path().to_string() }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::Value;

    use super::*;

    #[test]
    fn the_description_has_every_route() {
        let described: Value = serde_json::from_str(about::OPENAPI).expect("it is JSON");
        let described: BTreeSet<&str> =
            described["paths"].as_object().expect("there are paths").keys().map(String::as_str).collect();
        let routes: BTreeSet<&str> = open().into_iter().chain(protected()).map(|(path, _)| path).collect();
        assert_eq!(described, routes);
    }
}
