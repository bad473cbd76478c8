//! Tokens: who asks, and whether they may write.

use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use axum::extract::{FromRequestParts, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, Uri, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use cozo::{DataValue, DbInstance, ScriptMutability};
use rand::RngExt;
use rand::distr::Alphanumeric;
use subtle::ConstantTimeEq;

use super::error::{Failure, ServerError};
use super::running::{Peer, Sender};
use super::scripts;
use super::state::App;
use crate::error::CliError;

/// The variable with the token.
pub const TOKEN_VARIABLE: &str = "COZO_AUTH_TOKEN";

/// The length of a token that is made.
const TOKEN_LENGTH: usize = 64;

/// What whoever asks may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// All that the server does.
    Full,
    /// Nothing that writes.
    ReadOnly,
}

/// What tokens are good for.
#[derive(Default)]
pub struct Tokens {
    /// The token with full access.
    token: Option<String>,
    /// The relation of further tokens.
    table: Option<String>,
}

impl Tokens {
    /// A token, and a relation of others; neither means that none is needed.
    pub fn new(token: Option<String>, table: Option<String>) -> Self {
        Tokens { token, table }
    }

    /// Whether requests need a token.
    pub fn are_needed(&self) -> bool {
        self.token.is_some() || self.table.is_some()
    }

    /// What the headers and the address of a request say.
    fn judge(&self, headers: &HeaderMap, uri: &Uri) -> Verdict {
        if !self.are_needed() {
            return Verdict::Allowed;
        }
        let bearer = bearer(headers);
        let header = headers.get("x-cozo-auth").map(|value| value.as_bytes());
        let query = query_token(uri);
        let given = [header, bearer.map(str::as_bytes), query.as_deref().map(str::as_bytes)];
        let is_given = |token: &String| given.into_iter().flatten().any(|given| token.as_bytes().ct_eq(given).into());
        match (&self.table, bearer) {
            _ if self.token.as_ref().is_some_and(is_given) => Verdict::Allowed,
            (Some(table), Some(bearer)) => Verdict::AskTable { table: table.clone(), token: bearer.to_string() },
            _ => Verdict::Refused,
        }
    }
}

/// What is known of a request before the database is asked.
enum Verdict {
    Allowed,
    /// The relation of tokens has to say.
    AskTable {
        table: String,
        token: String,
    },
    Refused,
}

/// The token of `Authorization: Bearer`.
fn bearer(headers: &HeaderMap) -> Option<&str> {
    let (scheme, token) = headers.get(header::AUTHORIZATION)?.to_str().ok()?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then_some(token.trim())
}

/// The token of `?auth=`.
fn query_token(uri: &Uri) -> Option<String> {
    #[derive(serde::Deserialize)]
    struct Auth {
        auth: String,
    }
    uri.query()?;
    axum::extract::Query::<Auth>::try_from_uri(uri).ok().map(|auth| auth.0.auth)
}

/// Lets requests pass that need no token or have a good one, and notes what they may do.
pub async fn require_token(State(app): State<App>, mut request: Request, next: Next) -> Response {
    let access = match app.tokens.judge(request.headers(), request.uri()) {
        Verdict::Allowed => Ok(Access::Full),
        Verdict::AskTable { table, token } => ask_table(&app, table, token).await,
        Verdict::Refused => Err(ServerError::Unauthorized.into()),
    };
    match access {
        Ok(access) => {
            request.extensions_mut().insert(access);
            next.run(request).await
        }
        Err(failure) => failure.into_response(),
    }
}

async fn ask_table(app: &App, table: String, token: String) -> Result<Access, Failure> {
    let (db, script) = (app.db.clone(), table_script(&table));
    // A look-up is short, and whoever stops scripts must not wait for them.
    match app.workers.beside(move || Ok(look_up(&db, &script, token))).await? {
        Ok(Some(access)) => Ok(access),
        Ok(None) => Err(ServerError::Unauthorized.into()),
        Err(report) => {
            tracing::warn!(table, error = %report, "the relation of tokens cannot be read");
            Err(ServerError::Unauthorized.into())
        }
    }
}

fn table_script(table: &str) -> String {
    format!("?[mutable] := *{table}{{token: $token, mutable}}")
}

/// What the relation of tokens says about one.
fn look_up(db: &DbInstance, script: &str, token: String) -> miette::Result<Option<Access>> {
    let parameters = [("token".to_string(), DataValue::from(token))].into();
    let found = db.run_script(script, parameters, ScriptMutability::Immutable)?;
    let access = |row: &Vec<DataValue>| if row == &[DataValue::Bool(true)] { Access::Full } else { Access::ReadOnly };
    Ok(found.rows.first().map(access))
}

/// Fails if the relation of tokens cannot be read as one.
pub fn check_table(db: &DbInstance, table: &str) -> miette::Result<()> {
    look_up(db, &table_script(table), String::new()).map(|_| ())
}

/// Whoever sent the request.
#[derive(Clone)]
pub struct Client {
    access: Access,
    sender: Sender,
    /// References are counted with the connection: all threads count those to the server.
    app: Arc<App>,
}

impl FromRequestParts<App> for Client {
    type Rejection = ServerError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, ServerError> {
        // A route that forgot to ask for tokens is closed.
        let access = parts.extensions.get::<Access>().copied().ok_or(ServerError::Unauthorized)?;
        let sender = Sender::new(parts.extensions.get::<Peer>().copied(), &parts.headers);
        Ok(Client { access, sender, app: Arc::new(app.clone()) })
    }
}

impl Client {
    /// Whoever sent a request with these headers from there, if they alone say that it may do everything.
    pub fn known(app: &Arc<App>, peer: Option<Peer>, headers: &HeaderMap, uri: &Uri) -> Option<Self> {
        let is_allowed = matches!(app.tokens.judge(headers, uri), Verdict::Allowed);
        is_allowed.then(|| Client { access: Access::Full, sender: Sender::new(peer, headers), app: app.clone() })
    }

    /// Whose the request is.
    pub fn sender(&self) -> &Sender {
        &self.sender
    }

    /// Whether the client may write.
    pub fn may_write(&self) -> bool {
        self.access == Access::Full
    }

    /// Fails unless the client may write.
    pub fn must_write(&self) -> Result<(), ServerError> {
        if self.may_write() { Ok(()) } else { Err(ServerError::ReadOnly) }
    }

    /// Fails if a client that may not write mentions the relation of tokens, where it would find some that may. Relations
    /// are only ever named as they are, so a script that does not have the name does not use the relation.
    pub fn may_mention(&self, text: &str) -> Result<(), ServerError> {
        match &self.app.tokens.table {
            Some(table) if !self.may_write() && text.contains(table.as_str()) => {
                Err(ServerError::TokenTable(table.clone()))
            }
            _ => Ok(()),
        }
    }

    /// Fails if a script is not for this client, whatever it would do.
    pub fn may_run(&self, script: &str) -> Result<(), ServerError> {
        self.may_mention(script)?;
        if !self.may_write() && scripts::kills(script) { Err(ServerError::Kill) } else { Ok(()) }
    }

    /// Whether the client's scripts may write.
    pub fn mutability(&self, immutable: bool) -> ScriptMutability {
        if immutable || !self.may_write() { ScriptMutability::Immutable } else { ScriptMutability::Mutable }
    }

    /// What is to be said of a script that failed.
    pub fn failure(&self, report: miette::Report, script: &str) -> Failure {
        let failure = Failure::of_report(report, Some(script));
        match failure.has_code("query::read_only") && !self.may_write() {
            true => ServerError::ReadOnly.into(),
            false => failure,
        }
    }

    /// The server.
    pub fn app(&self) -> &App {
        &self.app
    }
}

/// The token in a file that must be there.
pub fn read_token(path: &Path) -> Result<String, CliError> {
    let text = std::fs::read_to_string(path).map_err(CliError::reading(path))?;
    match text.trim() {
        "" => Err(CliError::EmptyToken(path.display().to_string())),
        token => Ok(token.to_string()),
    }
}

/// The token in a file, which is made with a new one if it is not there.
pub fn read_or_make_token(path: &PathBuf) -> Result<String, CliError> {
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    match options.open(path) {
        Ok(mut file) => {
            let token: String = rand::rng().sample_iter(Alphanumeric).take(TOKEN_LENGTH).map(char::from).collect();
            file.write_all(token.as_bytes()).map_err(CliError::writing(path))?;
            Ok(token)
        }
        Err(error) if error.kind() == ErrorKind::AlreadyExists => read_token(path),
        Err(error) => Err(CliError::writing(path)(error)),
    }
}
