//! `cozo server`: a database over HTTP.
//!
//! A connection is accepted by [`listen`] (TLS) and served by a thread of [`connections`]. Its requests come to [`routes`], whose layers give it an id and a line of the log
//! ([`observe`]), refuse pages of other sites ([`guard`]) and whoever has no token ([`auth`]). Each route is a function in the file of
//! its kind: [`query`], [`transfer`], [`changes`], [`rules`], [`transactions`], [`running`], [`page`], [`about`]. What takes time runs on the threads
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
mod half_closed;
mod json_body;
mod listen;
mod log;
mod memory;
mod observe;
mod page;
mod query;
mod request;
mod routes;
mod rules;
mod running;
mod scripts;
mod state;
mod transactions;
mod transfer;
mod values;
mod vocabulary;
mod work;

use std::io;
use std::net::SocketAddr;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use cozo::storage::Options;
use cozo::{DbInstance, NamedRows};
use tokio::runtime::Runtime;
use tokio::sync::watch;
use tokio::task::spawn_blocking;
use tokio_rustls::TlsAcceptor;

pub use arguments::ServerArguments;

use arguments::{AccessArguments, LimitArguments};
use auth::{TOKEN_VARIABLE, Tokens};
use connections::{Protocol, Threads};
use direct::Direct;
use files::Files;
use guard::Guard;
use habits::Habits;
use log::Log;
use memory::RequestMemory;
use observe::Metrics;
use state::{App, Server};
use transactions::Transactions;
use work::Workers;

use crate::database::Database;
use crate::error::CliError;
use crate::{signals, threads};

/// Threads for work that has no slot.
const SPARE_THREADS: usize = 16;

/// Threads that wait for work stay: one that is needed later might not be had.
const IDLE_THREADS: Duration = Duration::from_secs(1 << 30);

/// The memory that a request may take by default, where a query may take as much.
const REQUEST_MEMORY_MB: usize = 1024;

/// How long what cannot be stopped, such as a commit, may go on at the end.
const LAST_PATIENCE: Duration = Duration::from_secs(60);

/// More rows of a relation that a script debugs are counted, but not logged.
const MAX_DEBUGGED_ROWS: usize = 100;

/// Opens the database and serves it until the process is told to end.
pub fn run(arguments: &ServerArguments) -> miette::Result<ExitCode> {
    let log = Log::start(arguments);
    let served = open_and_serve(arguments);
    if let Ok(End { unused: false }) = served {
        tracing::error!("a thread still works on the database: what was committed is there, and nothing else");
        log.flush();
        // To end as usual would take away from the thread what it uses.
        signals::end_at_once();
    }
    log.flush();
    served.map(|_| ExitCode::SUCCESS)
}

/// How the server has ended.
struct End {
    /// Whether the database is closed.
    unused: bool,
}

fn open_and_serve(arguments: &ServerArguments) -> miette::Result<End> {
    let database = arguments.database.find_at(arguments.place.as_deref())?;
    let description = database.describe();
    let db = database.open()?;
    tracing::info!("{description}");
    if let Some(file) = &arguments.restore {
        db.restore_backup(file)?;
    }
    db.set_external_access(arguments.allow_external_access);
    db.on_debug(log_debug);
    let listener = listen::bind(&arguments.bind, arguments.port)?;
    let address = listener.local_addr().map_err(CliError::Stream)?;
    let tls = tls(&arguments.access)?;
    let tokens = tokens(arguments, &database, address, &db)?;
    if tokens.are_needed() && tls.is_none() && !address.ip().is_loopback() {
        tracing::warn!("tokens and data travel unencrypted: use --tls-cert and --tls-key, or a proxy that encrypts");
    }
    let limits = &arguments.limits;
    let runtime = runtime(limits)?;
    let (end, ending) = watch::channel(false);
    let metrics = Metrics::new().map_err(|error| miette::miette!(code = "server::metrics", "{error}"))?;
    let app = Arc::new(Server {
        workers: Workers::new(runtime.handle().clone(), limits.max_running, limits.timeout),
        guard: guard(&arguments.access, address),
        tokens,
        files: files(arguments.files.as_deref(), address)?,
        max_body_bytes: limits.max_body_mb << 20,
        memory: memory(limits, &database.options()?),
        client_timeout: limits.client_timeout,
        transactions: Transactions::new(limits.transaction_timeout, metrics.transactions.clone()),
        habits: Habits::default(),
        rule_requests: Default::default(),
        running: Default::default(),
        metrics,
        ending,
        db: db.clone(),
    });
    let protocol = Protocol { tls, client_timeout: limits.client_timeout, patience: limits.shutdown_timeout };
    let scheme = if protocol.tls.is_some() { "https" } else { "http" };
    let threads = Threads::start(&Direct::new(app.clone()), &protocol).map_err(CliError::NoThreads)?;
    let url = format!("{scheme}://{address}");
    runtime.block_on(serve(app.clone(), listener, &url, threads, end)).map_err(CliError::Stream)?;
    Ok(close(app, runtime, db))
}

/// Has whatever uses the database end, and closes it.
fn close(app: App, runtime: Runtime, db: DbInstance) -> End {
    app.transactions.abort_all();
    // What still runs now has had its time.
    db.interrupt_all();
    drop(app);
    runtime.shutdown_timeout(LAST_PATIENCE);
    let unused = db.interrupt_until_unused(LAST_PATIENCE);
    if unused {
        drop(db);
        tracing::info!("ended");
    } else {
        // Whoever still uses it is not to find it closed.
        std::mem::forget(db);
    }
    End { unused }
}

/// What accepts connections, and has the threads that work on the database: at least one, for later there may be none to be had.
fn runtime(limits: &LimitArguments) -> Result<Runtime, CliError> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .max_blocking_threads(limits.max_running + SPARE_THREADS)
        .thread_keep_alive(IDLE_THREADS)
        .build()
        .map_err(CliError::Stream)?;
    threads::try_one()?;
    // Nothing goes wrong in there.
    let _ = runtime.block_on(runtime.spawn_blocking(thread::yield_now));
    Ok(runtime)
}

fn memory(limits: &LimitArguments, options: &Options) -> RequestMemory {
    let of_query = options.query_memory_bytes();
    let by_default = (REQUEST_MEMORY_MB << 20).min(of_query);
    let each = limits.request_memory_mb.map_or(by_default, |megabytes| megabytes.saturating_mul(1 << 20));
    // By default a query may take half of the machine's memory.
    RequestMemory::new(each, Options::default().query_memory_bytes())
}

fn tls(access: &AccessArguments) -> miette::Result<Option<TlsAcceptor>> {
    match (&access.tls_cert, &access.tls_key) {
        (Some(certificates), Some(key)) => listen::tls(certificates, key).map(Some),
        _ => Ok(None),
    }
}

/// Logs a relation that a script debugs.
fn log_debug(relation: &str, mut rows: NamedRows) {
    let count = rows.rows.len();
    rows.rows.truncate(MAX_DEBUGGED_ROWS);
    tracing::info!(relation, count, rows = %rows.into_json(), "debug");
}

/// Serves connections until a signal comes; then lets the requests that are there end.
async fn serve(
    app: App,
    listener: std::net::TcpListener,
    url: &str,
    threads: Threads,
    end: watch::Sender<bool>,
) -> io::Result<()> {
    // Before it is said that the server listens: a signal that comes at once ends it as any other does.
    let signal = signals()?;
    tracing::info!(address = url, "listening");
    tokio::spawn(async move { app.transactions.watch_idle().await });
    listen::accept(listener, |stream| threads.serve(stream), signal).await?;
    tracing::info!("ending: no new connections; waiting for requests");
    // Streams of events would never end by themselves.
    end.send_replace(true);
    let hurry = threads.hurry();
    let impatient = signals()?;
    tokio::spawn(async move {
        impatient.await;
        hurry.send_replace(true);
    });
    spawn_blocking(|| threads.end()).await.map_err(io::Error::other)
}

/// Returns when the process is asked to end: by SIGTERM, by SIGHUP, or by Ctrl-C.
#[cfg(unix)]
fn signals() -> io::Result<impl Future<Output = ()>> {
    use tokio::signal::unix::{SignalKind, signal};
    let handled = signals::to_handle().into_iter().map(SignalKind::from_raw);
    let mut signals = handled.map(signal).collect::<io::Result<Vec<_>>>()?;
    Ok(std::future::poll_fn(move |context| {
        let came = signals.iter_mut().any(|signal| signal.poll_recv(context).is_ready());
        if came { std::task::Poll::Ready(()) } else { std::task::Poll::Pending }
    }))
}

/// Returns on Ctrl-C.
#[cfg(not(unix))]
fn signals() -> io::Result<impl Future<Output = ()>> {
    Ok(async { drop(tokio::signal::ctrl_c().await) })
}

/// The tokens that requests need: none on loopback addresses, unless some were asked for.
fn tokens(
    arguments: &ServerArguments,
    database: &Database,
    address: SocketAddr,
    db: &DbInstance,
) -> miette::Result<Tokens> {
    let access = &arguments.access;
    let from_variable = std::env::var(TOKEN_VARIABLE).ok().filter(|token| !token.is_empty());
    let token = match (&access.token_file, from_variable) {
        (Some(file), _) => Some(auth::read_token(file)?),
        (None, Some(token)) => Some(token),
        (None, None) if address.ip().is_loopback() => None,
        (None, None) => {
            let file = database.token_file();
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
