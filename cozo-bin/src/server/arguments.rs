//! `cozo server` on the command line.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use tracing::level_filters::LevelFilter;

use crate::args::short_engine;
use crate::database::DatabaseArguments;

/// `cozo server`.
#[derive(Args)]
#[command(mut_arg("engine", short_engine))]
pub struct ServerArguments {
    /// The file or folder of the database, as --path has it
    #[arg(value_name = "PATH", conflicts_with = "path")]
    pub place: Option<PathBuf>,
    #[command(flatten)]
    pub database: DatabaseArguments,
    /// Fill the database, which must be empty, from a backup
    #[arg(long, value_name = "FILE")]
    pub restore: Option<PathBuf>,
    /// The address to listen on
    #[arg(short, long, value_name = "ADDRESS", default_value = "127.0.0.1")]
    pub bind: String,
    /// The port to listen on; 0 for any that is free
    #[arg(short = 'P', long, default_value_t = 9070)]
    pub port: u16,
    #[command(flatten)]
    pub access: AccessArguments,
    /// Let scripts read local files and web addresses
    #[arg(long)]
    pub allow_external_access: bool,
    /// The directory of backups that requests write and read; the current directory if the address is a loopback one,
    /// otherwise none
    #[arg(long, value_name = "DIR")]
    pub files: Option<PathBuf>,
    #[command(flatten)]
    pub limits: LimitArguments,
    /// What is logged to standard error: off, error, warn, info, debug (every request) or trace
    #[arg(long, value_name = "LEVEL", default_value_t = LevelFilter::INFO)]
    pub log: LevelFilter,
    /// How it is logged
    #[arg(long, value_enum, default_value_t = LogFormat::Text)]
    pub log_format: LogFormat,
}

/// How the log is written.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum LogFormat {
    /// A line for people
    Text,
    /// A JSON object a line
    Json,
}

/// Who may use the server.
#[derive(Args)]
pub struct AccessArguments {
    /// A file with the token of requests; by default, unless the address is a loopback one, it is that of the variable
    /// COZO_AUTH_TOKEN, or is kept in PATH.ENGINE.cozo_auth
    #[arg(long, value_name = "FILE")]
    pub token_file: Option<PathBuf>,
    /// A relation of further tokens, with the columns `token` and `mutable`
    #[arg(long, value_name = "NAME")]
    pub token_table: Option<String>,
    /// An origin whose web pages may use the server, e.g. https://example.org; may be repeated, `*` is any
    #[arg(long = "cors-origin", value_name = "ORIGIN")]
    pub cors_origins: Vec<String>,
    /// A name by which a server on a loopback address may be asked for, besides localhost; may be repeated
    #[arg(long = "allow-host", value_name = "NAME")]
    pub allowed_hosts: Vec<String>,
    /// The certificates of the server in PEM format, its own first: connections are encrypted
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    pub tls_cert: Option<PathBuf>,
    /// The private key of the server in PEM format
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    pub tls_key: Option<PathBuf>,
}

/// How much one client may take.
#[derive(Args)]
pub struct LimitArguments {
    /// The largest body of a request, uncompressed
    #[arg(long, value_name = "MB", default_value_t = 256)]
    pub max_body_mb: usize,
    /// The memory that a request may take for its body and what is made of it; by default 1024, or what a query may take if
    /// that is less. All requests together take up to four times as much
    #[arg(long, value_name = "MB")]
    pub request_memory_mb: Option<usize>,
    /// The seconds that a script may take; by default only its own :timeout counts
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub timeout: Option<Duration>,
    /// The seconds until a connection has the headers of its next request, or between two pieces of a body
    #[arg(long, value_name = "SECONDS", value_parser = seconds, default_value = "60")]
    pub client_timeout: Duration,
    /// The seconds after which an idle transaction is aborted
    #[arg(long, value_name = "SECONDS", value_parser = seconds, default_value = "300")]
    pub transaction_timeout: Duration,
    /// How many requests may work on the database at a time; others wait
    #[arg(long, value_name = "NUMBER", default_value_t = 64, value_parser = clap::builder::RangedU64ValueParser::<usize>::new().range(1..=10_000))]
    pub max_running: usize,
    /// The seconds that requests have to end when the server is stopped; then their scripts are stopped
    #[arg(long, value_name = "SECONDS", value_parser = seconds, default_value = "30")]
    pub shutdown_timeout: Duration,
}

/// A positive number of seconds, perhaps with a fraction.
fn seconds(text: &str) -> Result<Duration, String> {
    let number = text.parse::<f64>().map_err(|error| error.to_string())?;
    let positive = (number > 0.0 && number <= 1e9).then_some(number).ok_or("expected a positive number of seconds")?;
    Duration::try_from_secs_f64(positive).map_err(|error| error.to_string())
}
