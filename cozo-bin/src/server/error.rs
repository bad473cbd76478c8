//! What the server refuses, and how a refusal or an error of the database becomes a response.

use axum::body::to_bytes;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use miette::Report;
use serde_json::Value;

const JSON: &str = "application/json";

/// A request that the server itself refuses.
#[derive(Debug, thiserror::Error, miette::Diagnostic)]
pub enum ServerError {
    /// Nothing is at this path.
    #[error("No route for {method} {path}")]
    #[diagnostic(code(server::no_route), help("the routes are listed at /openapi.json"))]
    NoRoute {
        /// The method.
        method: String,
        /// The path.
        path: String,
    },
    /// The path is there, but not for this method.
    #[error("No route for {method} {path}")]
    #[diagnostic(code(server::method), help("the methods of the route are listed at /openapi.json"))]
    Method {
        /// The method.
        method: String,
        /// The path.
        path: String,
    },
    /// No token, or a wrong one.
    #[error("the request has no valid token")]
    #[diagnostic(
        code(server::unauthorized),
        help(
            "send the token that the server shows when it starts, in the header x-cozo-auth or as Authorization: Bearer"
        )
    )]
    Unauthorized,
    /// The token does not allow this.
    #[error("the token may only read")]
    #[diagnostic(code(server::read_only), help("use a token that may write"))]
    ReadOnly,
    /// Stopping scripts is not reading.
    #[error("the token may only read, and cannot stop scripts")]
    #[diagnostic(
        code(server::kill),
        help("use a token that may write; a script also stops when the client that sent it closes its connection")
    )]
    Kill,
    /// A token that may only read must not see the tokens that may write.
    #[error("the token may not use the relation of the tokens, '{0}'")]
    #[diagnostic(code(server::token_table), help("use a token that may write"))]
    TokenTable(String),
    /// A name in the header `Host` that is not ours: a web page may have had its own name lead here.
    #[error("the server is not '{0}'")]
    #[diagnostic(
        code(server::host),
        help(
            "a server on a loopback address is asked for as localhost; other names are allowed with --allow-host NAME"
        )
    )]
    Host(String),
    /// The header `Host` is missing or invalid: it occurs several times, or is not a name with an optional port.
    #[error("the request does not say which server it is for: {0}")]
    #[diagnostic(code(server::bad_host), help("send one header Host with a name, and perhaps a port: localhost:9070"))]
    BadHost(String),
    /// A web page of another origin.
    #[error("web pages from '{0}' may not use the server")]
    #[diagnostic(code(server::origin), help("start the server with --cors-origin ORIGIN to allow them"))]
    Origin(String),
    /// A body or query that is not what the route expects.
    #[error("bad request: {0}")]
    #[diagnostic(code(server::bad_request), help("the bodies of requests are described at /openapi.json"))]
    BadRequest(String),
    /// A body that is too long.
    #[error("the body of the request has more than {0} bytes")]
    #[diagnostic(code(server::too_large), help("divide it, or start the server with a larger --max-body-mb"))]
    TooLarge(usize),
    /// A body that becomes more than a request may take.
    #[error("the request takes more memory than the {} MB that a request may", .0 >> 20)]
    #[diagnostic(
        code(server::request_memory),
        help("divide it, or start the server with a larger --request-memory-mb")
    )]
    TooMuch(usize),
    /// Other requests take all memory that there is for requests.
    #[error("other requests take the memory that this one needs")]
    #[diagnostic(
        code(server::busy),
        help("try again when some have ended, or start the server with a larger --request-memory-mb")
    )]
    Busy,
    /// A client that has stopped sending.
    #[error("the body of the request did not come in time")]
    #[diagnostic(code(server::slow_client), help("--client-timeout sets the seconds between two pieces of it"))]
    SlowClient,
    /// Files are not to be used.
    #[error("the server reads and writes no files")]
    #[diagnostic(code(server::no_files), help("start it with --files DIR, the directory of backups"))]
    NoFiles,
    /// A file outside of the directory.
    #[error("'{0}' lies outside of the directory of files")]
    #[diagnostic(
        code(server::outside_of_files),
        help("start the server with another --files DIR, or give a path in it: relative paths begin there")
    )]
    OutsideOfFiles(String),
    /// A file whose place cannot be found.
    #[error("cannot find the place of '{path}': {reason}")]
    #[diagnostic(code(server::file), help("check the path below the folder that --files names"))]
    File {
        /// The file.
        path: String,
        /// What the system says.
        reason: String,
    },
    /// No such transaction.
    #[error("no transaction {0} is open")]
    #[diagnostic(
        code(server::no_transaction),
        help("it has ended, or was idle for longer than --transaction-timeout and was aborted")
    )]
    NoTransaction(u64),
    /// No such script.
    #[error("no script {0} runs")]
    #[diagnostic(code(server::no_script), help("it has ended; GET /running lists those that run"))]
    NoScript(u64),
    /// No such request of a custom rule.
    #[error("no request {0} waits for an answer")]
    #[diagnostic(code(server::no_rule_request), help("it was answered, or its query has ended"))]
    NoRuleRequest(u64),
    /// The one who answers for a custom rule has refused.
    #[error("the client that answers for the rule cancelled the request")]
    #[diagnostic(
        code(server::rule_cancelled),
        help("see why that client cancels: the server only passes on what it answers")
    )]
    RuleCancelled,
    /// A limit of the server.
    #[error("there are too many {0} already")]
    #[diagnostic(code(server::too_many), help("try again when some have ended"))]
    TooMany(&'static str),
    /// A script that ran into the time limit of the server.
    #[error("the script did not end in {0} s, the time limit of the server")]
    #[diagnostic(code(server::timeout), help("narrow the query, or start the server with a longer --timeout"))]
    Timeout(f64),
    /// What the libraries below refuse before a route sees it, in their words.
    #[error("{reason}")]
    #[diagnostic(code(server::refused), help("the routes and their requests are described at /openapi.json"))]
    Refused {
        /// The status of the response.
        status: StatusCode,
        /// Why.
        reason: String,
    },
    /// A defect.
    #[error("internal failure: {0}")]
    #[diagnostic(code(server::internal), help("this is a defect of the server, please report it"))]
    Internal(String),
}

impl ServerError {
    /// The status of the response.
    fn status(&self) -> StatusCode {
        match self {
            ServerError::NoRoute { .. }
            | ServerError::NoTransaction(_)
            | ServerError::NoScript(_)
            | ServerError::NoRuleRequest(_) => StatusCode::NOT_FOUND,
            ServerError::Method { .. } => StatusCode::METHOD_NOT_ALLOWED,
            ServerError::Unauthorized => StatusCode::UNAUTHORIZED,
            ServerError::ReadOnly
            | ServerError::Kill
            | ServerError::TokenTable(_)
            | ServerError::Host(_)
            | ServerError::Origin(_)
            | ServerError::NoFiles
            | ServerError::OutsideOfFiles(_) => StatusCode::FORBIDDEN,
            ServerError::BadRequest(_)
            | ServerError::BadHost(_)
            | ServerError::File { .. }
            | ServerError::RuleCancelled => StatusCode::BAD_REQUEST,
            ServerError::TooLarge(_) | ServerError::TooMuch(_) => StatusCode::PAYLOAD_TOO_LARGE,
            ServerError::SlowClient => StatusCode::REQUEST_TIMEOUT,
            ServerError::TooMany(_) | ServerError::Busy => StatusCode::SERVICE_UNAVAILABLE,
            ServerError::Timeout(_) => StatusCode::GATEWAY_TIMEOUT,
            ServerError::Refused { status, .. } => *status,
            ServerError::Internal(_) => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }
}

/// The longest text of a refusal that is passed on.
const MAX_REASON_BYTES: usize = 4096;

/// Describes what the libraries below refuse as the server's own errors: they say it as plain text, or by the status alone.
pub async fn describe_refusal(response: Response) -> Response {
    let status = response.status();
    let is_described = response.headers().get(header::CONTENT_TYPE).is_some_and(|found| found == JSON);
    if !status.is_client_error() || status == StatusCode::UNAUTHORIZED || is_described {
        return response;
    }
    let (mut head, body) = response.into_parts();
    let text = to_bytes(body, MAX_REASON_BYTES).await.unwrap_or_default();
    let reason = match text.is_empty() {
        true => status.canonical_reason().unwrap_or("the request is refused").to_lowercase(),
        false => String::from_utf8_lossy(&text).into_owned(),
    };
    let mut described = ServerError::Refused { status, reason }.into_response();
    [header::CONTENT_TYPE, header::CONTENT_LENGTH].iter().for_each(|name| drop(head.headers.remove(name)));
    described.headers_mut().extend(head.headers);
    described
}

/// What goes back instead of a result.
#[derive(Debug)]
pub struct Failure {
    status: StatusCode,
    /// The error as the API describes it; nothing where the status says all.
    body: Option<Value>,
}

impl Failure {
    /// An error of the database; `script` is the text that it is about, if any.
    pub fn of_report(report: Report, script: Option<&str>) -> Self {
        match report.downcast::<ServerError>() {
            Ok(error) => error.into(),
            Err(report) => {
                let body = cozo::format_error_as_json(report, script);
                Failure { status: StatusCode::BAD_REQUEST, body: Some(body) }
            }
        }
    }

    /// Whether it is an error of the database with this code.
    pub fn has_code(&self, code: &str) -> bool {
        self.body.as_ref().is_some_and(|body| body["code"] == code)
    }
}

impl From<ServerError> for Failure {
    fn from(error: ServerError) -> Self {
        let status = error.status();
        let body = match error {
            ServerError::Unauthorized => None,
            error => Some(cozo::format_error_as_json(Report::new(error), None)),
        };
        Failure { status, body }
    }
}

impl From<Report> for Failure {
    /// An error without a script. Clients show the message alone, so it says the causes, too.
    fn from(report: Report) -> Self {
        let message = format!("{report:#}");
        let mut failure = Failure::of_report(report, None);
        if let Some(body) = &mut failure.body {
            body["message"] = message.into();
        }
        failure
    }
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        match self.body {
            Some(body) => (self.status, [(header::CONTENT_TYPE, JSON)], body.to_string()).into_response(),
            None => self.status.into_response(),
        }
    }
}

impl IntoResponse for ServerError {
    fn into_response(self) -> Response {
        Failure::from(self).into_response()
    }
}
