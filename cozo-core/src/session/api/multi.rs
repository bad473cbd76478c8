//! Transactions that the host holds open over several queries.
//!
//! A [`MultiTransaction`] is a handle with two channels. The transaction itself is served by a thread of its own ([`serve`]):
//! each [`TransactionPayload`] gets one outcome. A failed query is rolled back to a savepoint, and the transaction goes on.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use crossbeam_channel::{Receiver, Sender, bounded};

use crate::budget::{Interrupt, within};
use crate::diag::{locate, show_in};
use crate::fork::Process;
use crate::session::core::Core;
use crate::session::error::SessionError;
use crate::session::results::NamedRows;
use crate::session::run::{QueryContext, run_query};
use crate::session::running::{Entry, Running};
use crate::session::script::{CompiledScript, first_line};
use crate::threads;
use crate::txn::Transaction;
use crate::value::DataValue;

/// A transaction held open. It runs on a thread of its own. Dropping it stops its query, and undoes everything.
pub struct MultiTransaction {
    /// The channel of requests.
    pub sender: Sender<TransactionPayload>,
    /// The channel of outcomes, one for each payload.
    pub receiver: Receiver<miette::Result<NamedRows>>,
    interrupt: Interrupt,
    /// The process that has its thread.
    process: Process,
    /// The error if it could not begin.
    refused: Option<SessionError>,
}

/// A request to a [`MultiTransaction`].
pub enum TransactionPayload {
    /// Commit the writes, and end.
    Commit,
    /// Undo everything, and end.
    Abort,
    /// Run a query with parameters.
    Query((String, BTreeMap<String, DataValue>)),
}

impl MultiTransaction {
    /// Begins a transaction on a thread of its own. It sees the database as it is now. If it cannot begin, every request fails.
    pub(super) fn begin(core: Arc<Core>, running: &Arc<Running>, write: bool) -> Self {
        let (sender, payloads) = bounded(1);
        let (outcomes, receiver) = bounded(1);
        let process = core.process;
        let unstarted = |refused: SessionError| {
            let (sender, receiver) = (bounded(1).0, bounded(1).1);
            MultiTransaction { sender, receiver, interrupt: Interrupt::default(), process, refused: Some(refused) }
        };
        if let Err(forked) = process.check() {
            return unstarted(forked.into());
        }
        let txn = Transaction::begin_held(&core.pipeline, write);
        let entry = Running::enter(running.clone(), Some(&Interrupt::default()), txn.began_micros());
        let interrupt = entry.interrupt().clone();
        match threads::start("cozo-transaction", move || serve(core, txn, &entry, &payloads, &outcomes)) {
            Ok(_) => MultiTransaction { sender, receiver, interrupt, process, refused: None },
            Err(error) => unstarted(SessionError::NoThread(error.to_string())),
        }
    }

    /// Fails if the system had no thread for the transaction. Then every other request fails too.
    pub fn begun(&self) -> miette::Result<()> {
        self.refused.clone().map_or(Ok(()), |refused| Err(refused.into()))
    }

    /// Runs a single query. A failed query leaves no trace, and the transaction goes on.
    pub fn run_script(&self, payload: &str, params: BTreeMap<String, DataValue>) -> miette::Result<NamedRows> {
        let run = self.ask(TransactionPayload::Query((payload.to_string(), params)));
        run.map_err(|report| locate(report, first_line(payload), "not run"))
    }

    /// Commits the writes. An error means that nothing was written. The transaction ends either way.
    pub fn commit(&self) -> miette::Result<()> {
        self.ask(TransactionPayload::Commit).map(|_| ())
    }

    /// Undoes everything, and ends the transaction.
    pub fn abort(&self) -> miette::Result<()> {
        self.ask(TransactionPayload::Abort).map(|_| ())
    }

    /// The interrupt of the running query. A stopped query fails, and the transaction goes on.
    pub fn interrupt(&self) -> Interrupt {
        self.interrupt.clone()
    }

    fn ask(&self, payload: TransactionPayload) -> miette::Result<NamedRows> {
        self.process.check()?;
        self.begun()?;
        self.sender.send(payload).map_err(|_| SessionError::TransactionEnded)?;
        self.receiver.recv().map_err(|_| SessionError::TransactionEnded)?
    }
}

impl Drop for MultiTransaction {
    fn drop(&mut self) {
        if self.process.is_current() {
            self.interrupt.close();
        } else {
            // The locks of the channels may be held by threads that do not exist in this process.
            std::mem::forget((self.sender.clone(), self.receiver.clone()));
        }
    }
}

/// Serves payloads until the transaction ends or the channel closes. The transaction and the database are released before the last
/// outcome is sent, so that its receiver can open the database's files again.
pub(super) fn serve(
    core: Arc<Core>,
    mut txn: Transaction,
    entry: &Entry<Arc<Running>>,
    payloads: &Receiver<TransactionPayload>,
    outcomes: &Sender<miette::Result<NamedRows>>,
) {
    // A closed channel of outcomes does not end the loop: the next payload says how the transaction ends.
    while let Ok(payload) = payloads.recv() {
        match payload {
            TransactionPayload::Query((source, parameters)) => {
                let savepoint = txn.savepoint();
                let interrupt = entry.interrupt();
                let outcome = query(&source, &parameters, &mut txn, interrupt, &core);
                if !core.process.is_current() {
                    // A fixed rule has forked. This is the only thread in this process, and no other thread waits for it.
                    std::mem::forget((txn, core));
                    return;
                }
                if outcome.is_err() {
                    txn.roll_back_to(savepoint);
                }
                interrupt.rearm();
                let _ = outcomes.send(outcome.map_err(|report| show_in(report, &source)));
            }
            TransactionPayload::Commit => {
                let outcome = core.commit(&mut txn).map(|()| NamedRows::default()).map_err(miette::Report::from);
                drop((txn, core));
                let _ = outcomes.send(outcome);
                return;
            }
            TransactionPayload::Abort => {
                drop((txn, core));
                let _ = outcomes.send(Ok(NamedRows::default()));
                return;
            }
        }
    }
}

fn query(
    source: &str,
    parameters: &BTreeMap<String, DataValue>,
    txn: &mut Transaction,
    interrupt: &Interrupt,
    core: &Core,
) -> miette::Result<NamedRows> {
    let limit = core.query_memory_bytes;
    within(txn.held_bytes(limit), limit)?;
    let began = Instant::now();
    let script = core.prepared(source, interrupt)?;
    match &script.script {
        CompiledScript::Query(query) => {
            let context = QueryContext::new(parameters, interrupt, core, Some((began, script.bytes)));
            run_query(query, txn, &context)
        }
        _ => Err(locate(SessionError::ExpectSingleton.into(), first_line(source), "not a single query")),
    }
}
