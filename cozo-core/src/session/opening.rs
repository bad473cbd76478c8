//! The pipeline of a database that is opened: alone, or as a replica of a shared log.

use cozo_shared_log::LogError;

use crate::replica::{self, ReplicaError, is_mark};
use crate::storage::{Options, Storage};
use crate::txn::{Pipeline, TxnError};

/// How often an opening begins again while others truncate the log.
const ATTEMPTS: usize = 8;

/// Opens a database. A replica that is left behind while it is opened begins again, with a checkpoint.
pub fn open_again<T>(open: impl Fn() -> miette::Result<T>) -> miette::Result<T> {
    let left_behind = |error: &miette::Report| match (error.downcast_ref(), error.downcast_ref()) {
        (Some(TxnError::Replica(error)), _) | (_, Some(error)) => {
            matches!(error, ReplicaError::LeftBehind { .. } | ReplicaError::Log(LogError::Truncated { .. }))
        }
        _ => false,
    };
    for _ in 1..ATTEMPTS {
        match open() {
            Err(error) if left_behind(&error) => {}
            outcome => return outcome,
        }
    }
    open()
}

/// The pipeline over an engine.
pub fn open_pipeline(storage: Box<dyn Storage>, options: &Options) -> miette::Result<Pipeline> {
    match &options.shared {
        Some(address) => open_replica(storage, address, options),
        None if !options.read_only && storage.opened()?.definitions.iter().any(is_mark) => {
            Err(ReplicaError::NeedsLog.into())
        }
        None => Ok(Pipeline::new(storage)?),
    }
}

/// The pipeline over an engine that becomes, or is, a replica of the log at an address.
fn open_replica(storage: Box<dyn Storage>, address: &str, options: &Options) -> miette::Result<Pipeline> {
    if options.read_only {
        let help = "open it without \"read_only\": true, and run scripts that may not write";
        return Err(ReplicaError::Unsupported("be opened for reading only", help).into());
    }
    let timeout = options.shared_timeout();
    let log = cozo_shared_log::open(address, &cozo_shared_log::Options { timeout, must_exist: false })
        .map_err(ReplicaError::from)?;
    let (replica, definitions) = replica::start(&*storage, log, timeout)?;
    let pipeline = Pipeline::of_replica(storage, replica, definitions)?;
    pipeline.catch_up()?;
    Ok(pipeline)
}
