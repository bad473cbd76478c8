//! The catalog: definitions of relations, their numbers of rows, the version of the format and the mark of the commit log.

use std::collections::BTreeMap;

use super::engine::{KvCursor, KvEngine, KvSnapshot};
use super::keys::{ByteRange, Keys, RELATION_BYTES};
use crate::schema::{RelationId, SchemaRef};
use crate::storage::error::StorageError;
use crate::storage::log_mark::LogMark;

/// The version of the format that is written.
pub const FORMAT_VERSION: u64 = 1;

/// The prefix of all keys of the catalog. No relation has the number 0.
const CATALOG: [u8; RELATION_BYTES] = [0; RELATION_BYTES];

/// The key of the format's version.
pub(super) fn format_key() -> Vec<u8> {
    key(b'f', &[])
}

/// The key of a definition.
pub(super) fn definition_key(name: &str) -> Vec<u8> {
    key(b'd', name.as_bytes())
}

/// The key of a number of rows.
pub(super) fn count_key(relation: RelationId) -> Vec<u8> {
    key(b'n', &relation.0.to_be_bytes())
}

/// The key of the mark of the commit log.
pub(super) fn log_mark_key() -> Vec<u8> {
    key(b'l', &[])
}

fn key(kind: u8, rest: &[u8]) -> Vec<u8> {
    [&CATALOG[..], &[kind], rest].concat()
}

/// The stored form of a definition.
pub(super) fn definition_bytes(schema: &SchemaRef) -> Result<Vec<u8>, StorageError> {
    serde_json::to_vec(&**schema).map_err(|error| StorageError::Unstorable(error.to_string()))
}

/// Whether the database has the version of its format. Only an empty one has none. Fails for a store that another program wrote.
pub(super) fn has_format<E: KvEngine>(engine: &E, snapshot: &E::Snapshot) -> Result<bool, StorageError> {
    match get(snapshot, &format_key(), number)? {
        Some(version) if version > FORMAT_VERSION => {
            Err(StorageError::NewerFormat { path: engine.path(), found: version, known: FORMAT_VERSION })
        }
        Some(_) => Ok(true),
        None if has_keys(snapshot)? => Err(StorageError::NotADatabase {
            path: engine.path(),
            found: format!("a store of the engine {} that another program wrote", engine.traits().name),
            help: "choose another path; nothing was changed".to_string(),
        }),
        None => Ok(false),
    }
}

/// The mark of the commit log.
pub(super) fn log_mark(snapshot: &impl KvSnapshot) -> Result<Option<LogMark>, StorageError> {
    get(snapshot, &log_mark_key(), |value| LogMark::of_text(&String::from_utf8_lossy(value)))
}

/// The value of a key, decoded by `read`.
fn get<T>(
    snapshot: &impl KvSnapshot,
    key: &[u8],
    read: impl Fn(&[u8]) -> Result<T, StorageError>,
) -> Result<Option<T>, StorageError> {
    let mut keys = Keys::default();
    keys.push_with(|out| {
        out.extend_from_slice(key);
        Ok(true)
    })?;
    let mut found = None;
    snapshot.get_all(&keys, &mut |_, value| {
        found = Some(read(value)?);
        Ok(())
    })?;
    Ok(found)
}

fn has_keys(snapshot: &impl KvSnapshot) -> Result<bool, StorageError> {
    let all = ByteRange::all();
    let mut cursor = snapshot.cursor(&all);
    cursor.seek(&[]);
    Ok(cursor.entry()?.is_some())
}

fn number(bytes: &[u8]) -> Result<u64, StorageError> {
    let number = std::str::from_utf8(bytes).ok().and_then(|text| text.parse().ok());
    number.ok_or_else(|| StorageError::Damaged("a number of the catalog is none".to_string()))
}

/// All definitions, by name.
pub(super) fn definitions(snapshot: &impl KvSnapshot) -> Result<Vec<SchemaRef>, StorageError> {
    let mut definitions = vec![];
    for_each(snapshot, b'd', |name, value| {
        let schema: SchemaRef = serde_json::from_slice(value).map_err(|error| {
            let name = String::from_utf8_lossy(name);
            StorageError::Damaged(format!("the definition of relation '{name}': {error}"))
        })?;
        definitions.push(schema);
        Ok(())
    })?;
    Ok(definitions)
}

/// The relations that have rows and no definition. Filling a database leaves them if it is interrupted.
pub(super) fn strays(
    snapshot: &impl KvSnapshot,
    is_known: impl Fn(RelationId) -> bool,
) -> Result<Vec<RelationId>, StorageError> {
    let mut strays = vec![];
    let all = ByteRange::all();
    let mut cursor = snapshot.cursor(&all);
    let mut next = 1u64;
    loop {
        cursor.seek(&next.to_be_bytes());
        let Some((key, _)) = cursor.entry()? else { return Ok(strays) };
        let Some(relation) = key.first_chunk().map(|id| u64::from_be_bytes(*id)) else { return Ok(strays) };
        if !is_known(RelationId(relation)) {
            strays.push(RelationId(relation));
        }
        let Some(after) = relation.checked_add(1) else { return Ok(strays) };
        next = after;
    }
}

/// The saved numbers of rows.
pub(super) fn counts(snapshot: &impl KvSnapshot) -> Result<BTreeMap<RelationId, u64>, StorageError> {
    let mut counts = BTreeMap::new();
    for_each(snapshot, b'n', |relation, value| {
        let relation = relation.try_into().map(u64::from_be_bytes);
        let relation = relation.map_err(|_| StorageError::Damaged("a number of rows of no relation".to_string()))?;
        counts.insert(RelationId(relation), number(value)?);
        Ok(())
    })?;
    Ok(counts)
}

/// Calls `entry` with the rest of each key of a kind, and its value.
fn for_each(
    snapshot: &impl KvSnapshot,
    kind: u8,
    mut entry: impl FnMut(&[u8], &[u8]) -> Result<(), StorageError>,
) -> Result<(), StorageError> {
    let range = ByteRange::of_prefix(&key(kind, &[]));
    let mut cursor = snapshot.cursor(&range);
    cursor.seek(&range.lower);
    while let Some((key, value)) = cursor.entry()? {
        entry(&key[range.lower.len()..], value)?;
        cursor.next();
    }
    Ok(())
}
