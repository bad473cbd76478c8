//! What is seen of each request from outside: its id, a line of the log, and the metrics.

use std::cell::Cell;
use std::fmt::Write as _;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use axum::body::Body;
use axum::extract::{MatchedPath, State};
use axum::http::{HeaderName, HeaderValue, Method, Request, header};
use axum::middleware::Next;
use axum::response::Response;
use prometheus::{
    Encoder, Histogram, HistogramOpts, HistogramVec, IntCounter, IntCounterVec, IntGauge, Opts, Registry, TextEncoder,
    core::Collector,
};

use super::routes::TEXT_QUERY;
use super::state::App;

/// The header with the id of a request.
static REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// Ids of clients that are longer are replaced.
const MAX_ID_LENGTH: usize = 128;

/// Requests that end within these many seconds are counted together.
const BUCKETS: &[f64] = &[0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0];

/// The numbers at `/metrics`.
pub struct Metrics {
    registry: Registry,
    requests: IntCounterVec,
    seconds: HistogramVec,
    /// Those of most requests: to find them takes longer than to count.
    text_queries: (IntCounter, Histogram),
    /// The queries that ran where their connection is served.
    pub direct_queries: IntCounter,
    /// The transactions that are open.
    pub transactions: IntGauge,
    /// The streams of events that are open.
    pub streams: IntGauge,
    ids: RequestIds,
}

impl Metrics {
    /// All zero.
    pub fn new() -> prometheus::Result<Self> {
        let requests = Opts::new("cozo_http_requests_total", "Responses by route, method and status.");
        let seconds = HistogramOpts::new("cozo_http_request_seconds", "Seconds until the headers of the response.");
        let requests = IntCounterVec::new(requests, &["route", "method", "status"])?;
        let seconds = HistogramVec::new(seconds.buckets(BUCKETS.to_vec()), &["route"])?;
        let text_queries =
            (requests.with_label_values(&[TEXT_QUERY, "POST", "200"]), seconds.with_label_values(&[TEXT_QUERY]));
        let metrics = Metrics {
            registry: Registry::new(),
            requests,
            seconds,
            text_queries,
            direct_queries: IntCounter::new(
                "cozo_direct_queries_total",
                "Short queries that ran on the threads that serve connections.",
            )?,
            transactions: IntGauge::new("cozo_open_transactions", "Transactions that clients hold open.")?,
            streams: IntGauge::new("cozo_event_streams", "Streams of changes and of requests to custom rules.")?,
            ids: RequestIds::new(),
        };
        let collectors: [Box<dyn Collector>; 5] = [
            Box::new(metrics.requests.clone()),
            Box::new(metrics.seconds.clone()),
            Box::new(metrics.direct_queries.clone()),
            Box::new(metrics.transactions.clone()),
            Box::new(metrics.streams.clone()),
        ];
        collectors.into_iter().try_for_each(|collector| metrics.registry.register(collector))?;
        Ok(metrics)
    }

    fn count(&self, route: &str, method: &str, status: &str, took: Duration) {
        let seconds = took.as_secs_f64();
        if (route, method, status) == (TEXT_QUERY, "POST", "200") {
            self.text_queries.0.inc();
            self.text_queries.1.observe(seconds);
        } else {
            self.requests.with_label_values(&[route, method, status]).inc();
            self.seconds.with_label_values(&[route]).observe(seconds);
        }
    }

    /// The numbers as Prometheus reads them.
    pub fn text(&self) -> prometheus::Result<Vec<u8>> {
        let mut text = vec![];
        TextEncoder::new().encode(&self.registry.gather(), &mut text)?;
        Ok(text)
    }
}

/// Ids that no other request has: a number, after one that the process got by chance.
struct RequestIds {
    process: String,
}

/// A number of 64 bits has no more.
const MAX_DIGITS: usize = 20;

/// A thread takes so many numbers at once: to count them all in one place would cost each a wait for other processors.
const NUMBERS_AT_ONCE: u64 = 1024;

/// A number that no other call gives.
fn unique_number() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    thread_local!(static OWN: Cell<Range<u64>> = const { Cell::new(0..0) });
    OWN.with(|own| {
        let mut numbers = own.take();
        if numbers.is_empty() {
            let first = NEXT.fetch_add(NUMBERS_AT_ONCE, Ordering::Relaxed);
            numbers = first..first + NUMBERS_AT_ONCE;
        }
        let number = numbers.start;
        own.set(number + 1..numbers.end);
        number
    })
}

impl RequestIds {
    fn new() -> Self {
        RequestIds { process: format!("{:016x}-", rand::random::<u64>()) }
    }

    /// The id that the client gave, if it is a usable one, or a new one.
    fn of(&self, given: Option<&HeaderValue>) -> HeaderValue {
        let usable = |id: &&HeaderValue| !id.is_empty() && id.len() <= MAX_ID_LENGTH && id.to_str().is_ok();
        given.filter(usable).cloned().unwrap_or_else(|| {
            let mut text = String::with_capacity(self.process.len() + MAX_DIGITS);
            text.push_str(&self.process);
            // Memory takes all text, of which every character may stand in a header.
            let _ = write!(text, "{}", unique_number());
            HeaderValue::try_from(text).unwrap_or(HeaderValue::from_static("none"))
        })
    }
}

/// A request on its way.
pub struct Observed {
    started: Instant,
    id: HeaderValue,
    method: Method,
    has_body: bool,
    /// Without the query string, which may have a token; only where it may be logged.
    path: Option<String>,
}

impl Observed {
    /// Notes a request when it comes.
    pub fn begin<B: http_body::Body>(app: &App, request: &Request<B>) -> Self {
        Observed {
            started: Instant::now(),
            id: app.metrics.ids.of(request.headers().get(&REQUEST_ID)),
            method: request.method().clone(),
            has_body: !request.body().is_end_stream(),
            path: tracing::enabled!(tracing::Level::WARN).then(|| request.uri().path().to_string()),
        }
    }

    /// Measures the request when its response is there, and logs it: refusals as warnings, failures as errors, the others where
    /// details are wanted. The response gets the id.
    pub fn end(self, app: &App, route: &str, mut response: Response) -> Response {
        let Observed { started, id, method, has_body, path } = self;
        let (status, took) = (response.status(), started.elapsed());
        let known = if method.as_str().len() <= 7 { method.as_str() } else { "other" };
        app.metrics.count(route, known, status.as_str(), took);
        let (shown_id, path) = (id.to_str().unwrap_or_default(), path.unwrap_or_default());
        let (status_code, ms) = (status.as_u16(), took.as_secs_f64() * 1e3);
        match status_code {
            500.. => tracing::error!(id = shown_id, %method, path, status = status_code, ms, "request failed"),
            401 | 403 => tracing::warn!(id = shown_id, %method, path, status = status_code, ms, "request refused"),
            _ => tracing::debug!(id = shown_id, %method, path, status = status_code, ms, "request"),
        }
        let headers = response.headers_mut();
        headers.insert(&REQUEST_ID, id);
        if has_body && status_code > 400 {
            // Whoever refuses a request does not read its body, and the connection is of no further use: the client is to know.
            headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
        }
        response
    }
}

/// [Observes](Observed) requests on their way to the routes.
pub async fn observe(State(app): State<App>, request: Request<Body>, next: Next) -> Response {
    let observed = Observed::begin(&app, &request);
    let route = request.extensions().get::<MatchedPath>().cloned();
    let response = next.run(request).await;
    observed.end(&app, route.as_ref().map_or("other", MatchedPath::as_str), response)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_kept_or_new() {
        let ids = RequestIds::new();
        let given = HeaderValue::from_static("abc");
        assert_eq!(ids.of(Some(&given)), given);
        let long = HeaderValue::from_str(&"a".repeat(129)).expect("a header");
        let made = [ids.of(None), ids.of(Some(&long)), ids.of(Some(&HeaderValue::from_static("")))];
        assert!(made[0] != made[1] && made[1] != made[2] && made.iter().all(|id| id.len() < 40));
    }
}
