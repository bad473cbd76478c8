//! `/transact`: transactions that a client holds open over several requests.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::extract::Query;
use axum::extract::rejection::QueryRejection;
use axum::response::Response;
use cozo::MultiTransaction;
use parking_lot::Mutex;
use prometheus::IntGauge;
use serde_json::json;

use super::auth::Client;
use super::error::{Failure, ServerError};
use super::json_body::JsonText;
use super::request::{Decoded, Number, Payload};
use super::running::Listed;
use crate::decode::ScriptRequest;

/// Each transaction has a thread.
const MAX_TRANSACTIONS: usize = 1000;

/// The open transactions by number.
pub struct Transactions {
    open: Mutex<Numbered>,
    /// How long one may be idle.
    idle_limit: Duration,
    /// How many are open.
    count: IntGauge,
}

#[derive(Default)]
struct Numbered {
    next: u64,
    by_number: HashMap<u64, Arc<Open>>,
}

/// A transaction with what the server knows about it.
struct Open {
    transaction: MultiTransaction,
    write: bool,
    /// Held by the request that uses the transaction; others wait.
    turn: Arc<tokio::sync::Mutex<()>>,
    last_used: Mutex<Instant>,
}

impl Transactions {
    /// None; each may be idle for so long, and is counted.
    pub fn new(idle_limit: Duration, count: IntGauge) -> Self {
        Transactions { open: Mutex::default(), idle_limit, count }
    }

    fn add(&self, transaction: MultiTransaction, write: bool) -> Result<u64, ServerError> {
        let mut open = self.open.lock();
        if open.by_number.len() >= MAX_TRANSACTIONS {
            return Err(ServerError::TooMany("open transactions"));
        }
        open.next += 1;
        let number = open.next;
        let last_used = Mutex::new(Instant::now());
        open.by_number.insert(number, Arc::new(Open { transaction, write, turn: Arc::default(), last_used }));
        self.count.set(open.by_number.len() as i64);
        Ok(number)
    }

    fn find(&self, number: u64, client: &Client) -> Result<Arc<Open>, ServerError> {
        let open = self.open.lock().by_number.get(&number).cloned().ok_or(ServerError::NoTransaction(number))?;
        if open.write && !client.may_write() { Err(ServerError::ReadOnly) } else { Ok(open) }
    }

    /// Forgets a transaction that ends.
    fn remove(&self, number: u64) -> Result<(), ServerError> {
        let mut open = self.open.lock();
        let removed = open.by_number.remove(&number);
        self.count.set(open.by_number.len() as i64);
        removed.map(drop).ok_or(ServerError::NoTransaction(number))
    }

    /// Aborts the transactions that have been idle for too long.
    fn abort_idle(&self) {
        let mut open = self.open.lock();
        open.by_number.retain(|number, open| {
            // A request that has found the transaction holds it, and may be about to use it.
            let idle = Arc::strong_count(open) == 1 && open.last_used.lock().elapsed() >= self.idle_limit;
            if idle {
                tracing::warn!(number, "an idle transaction was aborted");
            }
            !idle
        });
        self.count.set(open.by_number.len() as i64);
    }

    /// Aborts idle transactions for as long as it is polled.
    pub async fn watch_idle(&self) {
        let mut ticks =
            tokio::time::interval((self.idle_limit / 4).clamp(Duration::from_millis(10), Duration::from_secs(10)));
        loop {
            ticks.tick().await;
            self.abort_idle();
        }
    }

    /// Aborts all transactions.
    pub fn abort_all(&self) {
        self.open.lock().by_number.clear();
    }
}

/// `?write=true`
#[derive(serde::Deserialize)]
pub struct Begin {
    #[serde(default)]
    write: bool,
}

/// `POST /transact`: begins a transaction. A body is of no use, but is read so that the connection can be used again.
pub async fn begin(
    client: Client,
    begin: Result<Query<Begin>, QueryRejection>,
    _: Payload,
) -> Result<Response, Failure> {
    let Query(Begin { write }) = begin.map_err(|rejected| ServerError::BadRequest(rejected.body_text()))?;
    if write {
        client.must_write()?;
    }
    let app = client.app().clone();
    let work = move || {
        let app = client.app();
        let transaction = app.db.multi_transaction(write);
        if let Err(report) = transaction.begun() {
            tracing::warn!(error = %report, "a transaction cannot begin");
            return Err(ServerError::TooMany("threads").into());
        }
        let id = app.transactions.add(transaction, write)?;
        Ok(JsonText::of_json(&json!({"ok": true, "id": id})).into_response())
    };
    app.workers.finish(work).await
}

/// `POST /transact/{id}`: runs a query in a transaction.
pub async fn run(client: Client, Number(number): Number, payload: Payload) -> Result<Response, Failure> {
    let app = client.app().clone();
    let open = app.transactions.find(number, &client)?;
    let turn = open.turn.clone().lock_owned().await;
    let interrupt = open.transaction.interrupt();
    let switch = interrupt.clone();
    let listed = Listed::new(&client, &interrupt);
    let work = move || {
        let _turn = turn;
        let Decoded { value, held: _held } = payload.script(None, &switch)?;
        let ScriptRequest { script, params, .. } = value;
        listed.show(&script);
        client.may_run(&script)?;
        let run = open.transaction.run_script(&script, params);
        *open.last_used.lock() = Instant::now();
        let rows = run.map_err(|report| client.failure(report, &script))?;
        Ok(JsonText::of_rows(rows).into_response())
    };
    app.workers.run(interrupt, work).await
}

/// `{"abort": bool}`
#[derive(serde::Deserialize)]
struct End {
    abort: bool,
}

/// `PUT /transact/{id}`: commits or aborts a transaction.
pub async fn end(client: Client, Number(number): Number, payload: Payload) -> Result<Response, Failure> {
    let End { abort } = payload.parse()?;
    let app = client.app().clone();
    let open = app.transactions.find(number, &client)?;
    app.transactions.remove(number)?;
    if abort {
        open.transaction.interrupt().kill();
    }
    let turn = open.turn.clone().lock_owned().await;
    let work = move || {
        let _turn = turn;
        match abort {
            true => open.transaction.abort()?,
            false => open.transaction.commit()?,
        }
        Ok(JsonText::ok().into_response())
    };
    app.workers.finish(work).await
}
