//! The way of most requests: a short script in the body of `POST /text-query`.
//!
//! The layers of [`routes`](super::routes) copy and allocate more than it takes to find a row. What they do for such a request is done
//! here step by step, by the same functions; all other requests go to them.

use std::convert::Infallible;
use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::Poll;

use axum::Router;
use axum::body::Body;
use axum::http::{HeaderValue, Method, Request, header};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use http_body::Body as _;
use hyper::service::Service;
use tokio::time::timeout;
use tower::{Layer, Service as _, ServiceExt, service_fn};

use super::auth::Client;
use super::error::ServerError;
use super::observe::Observed;
use super::query;
use super::request::{Payload, SHORT_BYTES};
use super::routes::{self, MIN_COMPRESSED_BYTES, TEXT_QUERY};
use super::running::Peer;
use super::state::App;

/// Answers all requests of a thread, directly or by their routes. What it holds is counted with the thread.
#[derive(Clone)]
pub struct Direct {
    app: Arc<App>,
    routes: Arc<Router>,
    /// Whom a connection serves.
    peer: Option<Peer>,
}

impl Direct {
    /// The whole server.
    pub fn new(app: App) -> Self {
        Direct { routes: Arc::new(routes::router(app.clone())), app: Arc::new(app), peer: None }
    }

    /// The server for another thread.
    pub fn for_thread(&self) -> Self {
        Direct { routes: Arc::new(Router::clone(&self.routes)), app: Arc::new(App::clone(&self.app)), peer: None }
    }

    /// The server for a connection from there, if that is known.
    pub fn for_peer(&self, peer: Option<Peer>) -> Self {
        Direct { peer, ..self.clone() }
    }

    /// Stops all scripts that run.
    pub fn stop_scripts(&self) {
        self.app.db.interrupt_all();
    }

    /// Whether a request is a short script, from somebody who needs no more than a look at the headers.
    fn client<B>(&self, request: &Request<B>) -> Option<Client> {
        if request.method() != Method::POST || request.uri().path() != TEXT_QUERY {
            return None;
        }
        let headers = request.headers();
        let length = headers.get(header::CONTENT_LENGTH)?.to_str().ok()?.parse::<usize>().ok()?;
        let is_short = length <= SHORT_BYTES.min(self.app.max_body_bytes);
        let is_plain = !headers.contains_key(header::CONTENT_ENCODING) && !headers.contains_key(header::ORIGIN);
        let passes = is_short && is_plain && self.app.guard.check(headers, request.uri()).is_ok();
        if passes { Client::known(&self.app, self.peer, headers, request.uri()) } else { None }
    }
}

impl<B> Service<Request<B>> for Direct
where
    B: http_body::Body<Data = Bytes, Error: std::error::Error + Send + Sync> + Send + 'static,
{
    type Response = Response;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response, Infallible>> + Send>>;

    fn call(&self, mut request: Request<B>) -> Self::Future {
        match self.client(&request) {
            Some(client) => Box::pin(async { Ok(answer(client, request).await) }),
            None => {
                if let Some(peer) = self.peer {
                    request.extensions_mut().insert(peer);
                }
                Box::pin(Router::clone(&self.routes).call(request))
            }
        }
    }
}

async fn answer<B>(client: Client, request: Request<B>) -> Response
where
    B: http_body::Body<Data = Bytes, Error: std::error::Error + Send + Sync> + Send + 'static,
{
    let own = client.clone();
    let app = own.app();
    let observed = Observed::begin(app, &request);
    let (mut head, body) = request.into_parts();
    let mut read = pin!(Payload::read(body, app));
    // What is there at once needs no timer.
    let read = match poll_fn(|context| Poll::Ready(read.as_mut().poll(context))).await {
        Poll::Ready(read) => read,
        Poll::Pending => timeout(app.client_timeout, read).await.unwrap_or(Err(ServerError::SlowClient)),
    };
    let response = match read {
        Ok(payload) => query::text_query(client, payload).await.into_response(),
        Err(error) => error.into_response(),
    };
    let response = match head.headers.remove(header::ACCEPT_ENCODING) {
        Some(accepted) if !is_small(&response) => compressed(response, accepted).await,
        _ => response,
    };
    observed.end(app, TEXT_QUERY, response)
}

fn is_small(response: &Response) -> bool {
    response.body().size_hint().upper().is_some_and(|bytes| bytes < MIN_COMPRESSED_BYTES)
}

/// The response as the layer of the routes makes it.
async fn compressed(response: Response, accepted: HeaderValue) -> Response {
    let mut request = Request::new(());
    request.headers_mut().insert(header::ACCEPT_ENCODING, accepted);
    let mut response = Some(response);
    let give = service_fn(|_: Request<()>| std::future::ready(response.take().ok_or(())));
    match routes::compression().layer(give).oneshot(request).await {
        Ok(compressed) => compressed.map(Body::new),
        Err(()) => unreachable!("it is asked for once"),
    }
}
