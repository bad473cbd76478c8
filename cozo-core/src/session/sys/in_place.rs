//! Changing a definition together with rows, while others read and write the relation.
//!
//! ```text
//! attempt      read a snapshot, make the new rows, commit      writers go on; a write meanwhile makes the commit a conflict
//! after some   lead the pipeline, then the same                writers wait, readers do not
//! ```

use crate::session::run::ScriptContext;
use crate::txn::{Transaction, TxnError};

/// How often a change is tried while writers go on.
const ATTEMPTS: usize = 3;

/// Runs a change. By itself it runs in transactions of its own; beside other statements in the transaction of the script.
pub fn in_place(
    txn: &mut Transaction,
    context: &ScriptContext<'_>,
    change: impl Fn(&mut Transaction) -> miette::Result<()>,
) -> miette::Result<()> {
    if !context.is_alone {
        return change(txn);
    }
    let pipeline = &context.core.pipeline;
    for _ in 0..ATTEMPTS {
        context.interrupt.check()?;
        let mut txn = Transaction::begin_held(pipeline, true);
        change(&mut txn)?;
        match txn.commit() {
            Err(TxnError::Conflict | TxnError::SchemaConflict(_)) => {}
            outcome => return Ok(outcome?),
        }
    }
    let mut alone = pipeline.alone();
    let mut txn = Transaction::begin_held(pipeline, true);
    change(&mut txn)?;
    Ok(txn.commit_alone(&mut alone)?)
}
