//! Copying the rows of a relation or an index.

use crossbeam_channel::bounded;

use super::error::StorageError;
use super::range::KeyRange;
use super::traits::Snapshot;
use crate::schema::SchemaRef;
use crate::value::Batch;

/// The number of rows read and written at a time.
pub const ROWS_AT_ONCE: usize = 16 * 1024;

/// The number of batches that may wait between reading and writing.
const WAITING_BATCHES: usize = 4;

/// Passes all rows of a relation or an index to `take`, in key order. Another thread reads meanwhile, if it can be started.
pub fn copy<E: From<StorageError> + Send>(
    snapshot: &dyn Snapshot,
    table: &SchemaRef,
    mut take: impl FnMut(Batch) -> Result<(), E>,
) -> Result<(), E> {
    let (sender, batches) = bounded(WAITING_BATCHES);
    // If the receiver has failed, it reports its own error.
    let read_on = move || read(snapshot, table, |batch| sender.send(batch).map_err(|_| None));
    std::thread::scope(|scope| {
        let Ok(reader) = std::thread::Builder::new().spawn_scoped(scope, read_on) else {
            // The system cannot start a thread.
            return read(snapshot, table, take);
        };
        // This loop consumes the channel, so the reader ends if `take` fails.
        batches.into_iter().try_for_each(&mut take)?;
        let outcome = reader.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        outcome.or_else(|error: Option<StorageError>| error.map_or(Ok(()), |error| Err(error.into())))
    })
}

/// Passes all rows to `take` in key order, until it fails.
fn read<E: From<StorageError>>(
    snapshot: &dyn Snapshot,
    table: &SchemaRef,
    mut take: impl FnMut(Batch) -> Result<(), E>,
) -> Result<(), E> {
    let columns: Vec<usize> = (0..table.arity()).collect();
    let mut cursor = snapshot.scan(table.id, &KeyRange::all(), &columns, None)?;
    while let Some(batch) = cursor.next_batch(ROWS_AT_ONCE)? {
        take(batch)?;
    }
    Ok(())
}
