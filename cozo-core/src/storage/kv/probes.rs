//! The prefixes of a look-up as bytes.

use super::keys::{Keys, relation_prefix};
use crate::schema::RelationId;
use crate::storage::codec::RowCodec;
use crate::storage::cursor::probe_count;
use crate::storage::error::StorageError;
use crate::value::Column;

/// The prefixes of a look-up as bytes.
pub(super) struct Probes<'a> {
    relation: RelationId,
    codec: &'a RowCodec,
    columns: &'a [Column],
}

impl<'a> Probes<'a> {
    pub fn new(relation: RelationId, codec: &'a RowCodec, columns: &'a [Column]) -> Self {
        Probes { relation, codec, columns }
    }

    pub fn len(&self) -> usize {
        probe_count(self.columns)
    }

    /// Appends the prefix of a probe's keys. Returns whether there can be any such key.
    pub fn write(&self, probe: usize, out: &mut Vec<u8>) -> Result<bool, StorageError> {
        out.extend_from_slice(&relation_prefix(self.relation));
        self.codec.write_prefix(self.columns, probe, out)
    }

    /// [`Probes::write`] into a new key of a list.
    pub fn push(&self, probe: usize, keys: &mut Keys) -> Result<bool, StorageError> {
        keys.push_with(|out| self.write(probe, out))
    }
}
