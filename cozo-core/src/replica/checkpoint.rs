//! Checkpoints: the contents of a replica after an entry, as a blob of the log: a backup, and its checksum as the last four bytes.

use std::io::{Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use cozo_shared_log::{LogError, SharedLog};

use super::error::ReplicaError;
use super::state::Mark;
use crate::schema::{SchemaRef, with_indices};
use crate::storage::sqlite::FileWriter;
use crate::storage::{
    BatchCursor, ChangeKind, ChangeSet, ChangedRows, KeyRange, RowChanges, RowSource, Snapshot, Storage, StorageError,
    copy, open_file_to_read,
};
use crate::value::Batch;

fn checkpoint_prefix(identity: &str) -> String {
    format!("checkpoints/{identity}/")
}

fn checkpoint_name(identity: &str, number: u64) -> String {
    // The numbers have leading zeros, so that their order as text is the same.
    format!("{}{number:020}", checkpoint_prefix(identity))
}

/// The numbers of the checkpoints, ascending.
pub fn checkpoints(log: &dyn SharedLog, identity: &str, timeout: Duration) -> Result<Vec<u64>, LogError> {
    let prefix = checkpoint_prefix(identity);
    let names = log.list_blobs(&prefix, timeout)?;
    Ok(names.iter().filter_map(|name| name.strip_prefix(&prefix)?.parse().ok()).collect())
}

/// The number of the newest checkpoint.
pub fn last_checkpoint(log: &dyn SharedLog, identity: &str, timeout: Duration) -> Result<Option<u64>, LogError> {
    Ok(checkpoints(log, identity, timeout)?.into_iter().max())
}

/// Stores a file as the checkpoint of an entry.
pub fn put_checkpoint(
    log: &dyn SharedLog,
    identity: &str,
    number: u64,
    file: &Path,
    timeout: Duration,
) -> Result<(), ReplicaError> {
    let content = std::fs::File::open(file).map_err(ReplicaError::file)?;
    let sum = checksum_of_file(file)?.to_le_bytes();
    let mut content = content.chain(&sum[..]);
    Ok(log.put_blob(&checkpoint_name(identity, number), &mut content, timeout)?)
}

/// Removes the checkpoints before one, without which no entries follow them.
pub fn remove_checkpoints(
    log: &dyn SharedLog,
    identity: &str,
    before: u64,
    timeout: Duration,
) -> Result<(), ReplicaError> {
    let old = checkpoints(log, identity, timeout)?.into_iter().filter(|number| *number < before);
    for number in old {
        log.remove_blob(&checkpoint_name(identity, number), timeout)?;
    }
    Ok(())
}

/// Writes relations into a file of the sqlite engine, the form of backups.
pub fn write_file(path: &Path, definitions: &[SchemaRef], snapshot: &dyn Snapshot) -> Result<(), ReplicaError> {
    let mut writer = FileWriter::create(path)?;
    for schema in definitions {
        writer.relation(schema)?;
        for table in with_indices(schema) {
            copy(snapshot, table, |batch| writer.append(table.id, &batch))?;
        }
    }
    Ok(writer.finish()?)
}

/// Replaces the contents of a database by those of a checkpoint. Returns the definitions.
pub fn take_checkpoint(
    storage: &dyn Storage,
    log: &dyn SharedLog,
    mark: &Mark,
    timeout: Duration,
) -> Result<Vec<SchemaRef>, ReplicaError> {
    let name = checkpoint_name(&mark.identity, mark.applied);
    let missing = || ReplicaError::NoCheckpoint { applied: 0, first: mark.applied };
    let mut blob = log.get_blob(&name, timeout)?.ok_or_else(missing)?;
    let mut file = tempfile::NamedTempFile::new().map_err(ReplicaError::file)?;
    std::io::copy(&mut blob, &mut file).and_then(|_| file.flush()).map_err(ReplicaError::file)?;
    if !has_its_checksum(&mut file)? {
        return Err(ReplicaError::DamagedCheckpoint { number: mark.applied });
    }
    let from = open_file_to_read(file.path())?;
    let own = storage.opened()?.definitions;
    let dropped = ChangeSet {
        dropped: own.iter().flat_map(with_indices).map(|table| table.id).collect(),
        definitions: own.iter().map(|schema| (schema.name.clone(), None)).collect(),
        ..ChangeSet::default()
    };
    let definitions = from.opened()?.definitions;
    let snapshot = from.snapshot();
    let rows = definitions.iter().flat_map(with_indices).map(|table| {
        let copied = Copied { snapshot: snapshot.clone(), table: table.clone() };
        RowChanges::new(table.id, ChangeKind::Put, ChangedRows::Source(Arc::new(copied)))
    });
    let mut created = ChangeSet {
        created: definitions.iter().flat_map(with_indices).cloned().collect(),
        definitions: definitions.iter().map(|schema| (schema.name.clone(), Some(schema.clone()))).collect(),
        ..ChangeSet::of_rows(rows.collect())
    };
    let marked = mark.created();
    created.created.extend(marked.created);
    created.definitions.extend(marked.definitions);
    created.rows.extend(marked.rows);
    storage.commit(&mut [dropped, created])?;
    Ok(definitions)
}

/// The size of the checksum at the end of a checkpoint.
const CHECKSUM_BYTES: u64 = 4;

fn checksum_of_file(path: &Path) -> Result<u32, ReplicaError> {
    let mut file = std::fs::File::open(path).map_err(ReplicaError::file)?;
    let (mut hasher, mut buffer) = (crc32fast::Hasher::new(), vec![0; 1 << 16]);
    loop {
        match file.read(&mut buffer).map_err(ReplicaError::file)? {
            0 => return Ok(hasher.finalize()),
            read => hasher.update(&buffer[..read]),
        }
    }
}

/// Takes the checksum off the end of a file. Whether it is that of the rest.
fn has_its_checksum(file: &mut tempfile::NamedTempFile) -> Result<bool, ReplicaError> {
    let length = file.as_file().metadata().map_err(ReplicaError::file)?.len();
    let Some(content) = length.checked_sub(CHECKSUM_BYTES) else { return Ok(false) };
    let mut sum = [0; CHECKSUM_BYTES as usize];
    let mut cut = || -> std::io::Result<()> {
        file.seek(SeekFrom::Start(content))?;
        file.read_exact(&mut sum)?;
        file.as_file().set_len(content)
    };
    cut().map_err(ReplicaError::file)?;
    Ok(checksum_of_file(file.path())? == u32::from_le_bytes(sum))
}

/// The rows of a relation in a checkpoint.
struct Copied {
    snapshot: Arc<dyn Snapshot>,
    table: SchemaRef,
}

impl std::fmt::Debug for Copied {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Copied").field("table", &self.table.name).finish_non_exhaustive()
    }
}

impl RowSource for Copied {
    fn row_count(&self) -> usize {
        self.snapshot.row_count(self.table.id) as usize
    }

    fn read(&self) -> Box<dyn BatchCursor + '_> {
        let columns: Vec<usize> = (0..self.table.arity()).collect();
        match self.snapshot.scan(self.table.id, &KeyRange::all(), &columns, None) {
            Ok(cursor) => cursor,
            Err(error) => Box::new(Failed(Some(error))),
        }
    }
}

/// A cursor that cannot begin.
struct Failed(Option<StorageError>);

impl BatchCursor for Failed {
    fn next_batch(&mut self, _: usize) -> Result<Option<Batch>, StorageError> {
        self.0.take().map_or(Ok(None), Err)
    }
}
