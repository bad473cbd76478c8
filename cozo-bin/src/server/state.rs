//! What the routes share.

use std::sync::Arc;
use std::time::Duration;

use cozo::DbInstance;
use tokio::sync::watch;

use super::auth::Tokens;
use super::files::Files;
use super::guard::Guard;
use super::habits::Habits;
use super::memory::RequestMemory;
use super::observe::Metrics;
use super::rules::RuleRequests;
use super::running::Running;
use super::transactions::Transactions;
use super::work::Workers;

/// The server, as its routes see it.
pub type App = Arc<Server>;

/// A database and all that stands before it.
pub struct Server {
    /// The database.
    pub db: DbInstance,
    /// The threads that work on it.
    pub workers: Workers,
    /// Which scripts are short.
    pub habits: Habits,
    /// Which web pages are let in.
    pub guard: Guard,
    /// Who is let in.
    pub tokens: Tokens,
    /// Which files requests may name.
    pub files: Files,
    /// The largest body of a request in bytes.
    pub max_body_bytes: usize,
    /// How much memory requests may take.
    pub memory: RequestMemory,
    /// How long a client may take between two pieces of a request.
    pub client_timeout: Duration,
    /// The transactions that clients hold open.
    pub transactions: Transactions,
    /// The requests of custom rules that wait for answers.
    pub rule_requests: RuleRequests,
    /// The scripts that requests run.
    pub running: Running,
    /// What is measured.
    pub metrics: Metrics,
    /// Turns true when the server is to end.
    pub ending: watch::Receiver<bool>,
}
