//! `cozo server`: a database over HTTP.
//!
//! A connection is accepted by [`listen`] (TLS) and served by a thread of [`connections`]. Its requests come to [`routes`], whose layers give it an id and a line of the log
//! ([`observe`]), refuse pages of other sites ([`guard`]) and whoever has no token ([`auth`]). Each route is a function in the file of
//! its kind: [`query`], [`transfer`], [`changes`], [`rules`], [`transactions`], [`page`], [`about`]. What takes time runs on the threads
//! of [`work`], which stops a script when its client goes away. Rows become text in [`json_body`], as the client takes them.
//!
//! Short scripts, which are most requests, pass by the layers and do the same in fewer steps ([`direct`]).
//! A query that only reads and ended at once before runs where its connection is served, for a millisecond at most ([`habits`]).
//!
//! **The threads that serve connections never work on the database for longer than that.**

mod about;
mod activity;
mod arguments;
mod auth;
mod changes;
mod connections;
mod direct;
mod error;
mod events;
mod files;
mod guard;
mod habits;
mod json_body;
mod listen;
mod observe;
mod page;
mod query;
mod request;
mod routes;
mod rules;
mod scripts;
mod state;
mod transactions;
mod transfer;
mod values;
mod vocabulary;
mod work;

use std::io::{self, IsTerminal, stderr};
use std::net::SocketAddr;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use cozo::DbInstance;
use tokio::sync::watch;
use tokio::task::spawn_blocking;

pub use arguments::ServerArguments;

use arguments::{AccessArguments, LogFormat};
use auth::{TOKEN_VARIABLE, Tokens};
use connections::{Protocol, Threads};
use direct::Direct;
use files::Files;
use guard::Guard;
use habits::Habits;
use observe::Metrics;
use state::{App, Server};
use transactions::Transactions;
use work::Workers;

use crate::error::CliError;
use crate::output;

/// Threads for work that has no slot.
const SPARE_THREADS: usize = 16;

/// Opens the database and serves it until the process is told to end.
pub fn run(arguments: &ServerArguments) -> miette::Result<ExitCode> {
    start_log(arguments);
    let db = arguments.engine.open()?;
    if let Some(file) = &arguments.restore {
        db.restore_backup(file)?;
    }
    db.set_external_access(arguments.allow_external_access);
    let listener = listen::bind(&arguments.bind, arguments.port)?;
    let address = listener.local_addr().map_err(CliError::Stream)?;
    let access = &arguments.access;
    let tls = match (&access.tls_cert, &access.tls_key) {
        (Some(certificates), Some(key)) => Some(listen::tls(certificates, key)?),
        _ => None,
    };
    let tokens = tokens(arguments, address, &db)?;
    if tokens.are_needed() && tls.is_none() && !address.ip().is_loopback() {
        tracing::warn!("tokens and data travel unencrypted: use --tls-cert and --tls-key, or a proxy that encrypts");
    }
    let limits = &arguments.limits;
    // It accepts connections, and has the threads that work on the database.
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .max_blocking_threads(limits.max_running + SPARE_THREADS)
        .build()
        .map_err(CliError::Stream)?;
    let (end, ending) = watch::channel(false);
    let metrics = Metrics::new().map_err(|error| miette::miette!(code = "server::metrics", "{error}"))?;
    let app = Arc::new(Server {
        workers: Workers::new(runtime.handle().clone(), limits.max_running, limits.timeout),
        guard: guard(access, address),
        tokens,
        files: files(arguments.files.as_deref(), address)?,
        max_body_bytes: limits.max_body_mb << 20,
        client_timeout: limits.client_timeout,
        transactions: Transactions::new(limits.transaction_timeout, metrics.transactions.clone()),
        habits: Habits::default(),
        rule_requests: Default::default(),
        metrics,
        ending,
        db,
    });
    let protocol = Protocol { tls, client_timeout: limits.client_timeout, patience: limits.shutdown_timeout };
    runtime.block_on(serve(app.clone(), listener, protocol, end)).map_err(CliError::Stream)?;
    app.transactions.abort_all();
    // What still runs now has had its time. The runtime waits for its threads, and so for commits.
    app.db.interrupt_all();
    drop(runtime);
    tracing::info!("ended");
    Ok(ExitCode::SUCCESS)
}

/// Serves connections until a signal comes; then lets the requests that are there end.
async fn serve(
    app: App,
    listener: std::net::TcpListener,
    protocol: Protocol,
    end: watch::Sender<bool>,
) -> io::Result<()> {
    let signals = signals()?;
    let scheme = if protocol.tls.is_some() { "https" } else { "http" };
    tracing::info!(address = %format!("{scheme}://{}", listener.local_addr()?), "listening");
    let watcher = app.clone();
    tokio::spawn(async move { watcher.transactions.watch_idle().await });
    let threads = Threads::start(&Direct::new(app), &protocol)?;
    listen::accept(listener, |stream| threads.serve(stream), signals).await?;
    tracing::info!("ending: no new connections; waiting for requests");
    // Streams of events would never end by themselves.
    end.send_replace(true);
    spawn_blocking(|| threads.end()).await.map_err(io::Error::other)
}

/// Returns when the process is asked to end: by SIGTERM, or by Ctrl-C.
fn signals() -> io::Result<impl Future<Output = ()>> {
    #[cfg(unix)]
    let mut terminate = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate())?;
    Ok(async move {
        #[cfg(unix)]
        tokio::select! {
            _ = terminate.recv() => (),
            _ = tokio::signal::ctrl_c() => (),
        }
        #[cfg(not(unix))]
        let _ = tokio::signal::ctrl_c().await;
    })
}

fn start_log(arguments: &ServerArguments) {
    let log = tracing_subscriber::fmt().with_writer(stderr).with_max_level(arguments.log).with_target(false);
    // Complaints about a log that nobody reads would be panics.
    let log = log.log_internal_errors(false);
    match arguments.log_format {
        LogFormat::Text => log.with_ansi(output::wants_color(stderr().is_terminal())).init(),
        LogFormat::Json => log.json().flatten_event(true).init(),
    }
}

/// The tokens that requests need: none on loopback addresses, unless some were asked for.
fn tokens(arguments: &ServerArguments, address: SocketAddr, db: &DbInstance) -> miette::Result<Tokens> {
    let access = &arguments.access;
    let from_variable = std::env::var(TOKEN_VARIABLE).ok().filter(|token| !token.is_empty());
    let token = match (&access.token_file, from_variable) {
        (Some(file), _) => Some(auth::read_token(file)?),
        (None, Some(token)) => Some(token),
        (None, None) if address.ip().is_loopback() => None,
        (None, None) => {
            let file = arguments.engine.token_file();
            let token = auth::read_or_make_token(&file)?;
            tracing::warn!(file = %file.display(), "requests need the token in this file, as header x-cozo-auth");
            Some(token)
        }
    };
    if let Some(table) = &access.token_table
        && let Err(report) = auth::check_table(db, table)
    {
        tracing::warn!(table, error = %report, "the relation of tokens cannot be read yet");
    }
    Ok(Tokens::new(token, access.token_table.clone()))
}

fn guard(access: &AccessArguments, address: SocketAddr) -> Guard {
    Guard {
        on_loopback: address.ip().is_loopback(),
        allowed_hosts: access.allowed_hosts.clone(),
        cors_origins: access.cors_origins.clone(),
    }
}

/// Where requests may read and write files. Programs for CozoDB on the same machine expect that they may.
fn files(directory: Option<&Path>, address: SocketAddr) -> Result<Files, CliError> {
    let directory = directory.or_else(|| address.ip().is_loopback().then_some(Path::new(".")));
    directory
        .map_or_else(|| Ok(Files::none()), |directory| Files::within(directory).map_err(CliError::reading(directory)))
}
