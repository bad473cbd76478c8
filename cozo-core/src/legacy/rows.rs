//! The rows of a relation, as batches.

use super::LegacyFile;
use super::fit::{Fit, fit, fits_exactly, fits_index};
use super::key::decode_key;
use super::malformed::{Malformed, hex};
use super::report::{RefusedRow, RowsRead};
use super::source::{ID_BYTES, IdRange};
use super::value::decode_values;
use crate::schema::RelationSchema;
use crate::storage::{BatchCursor, StorageError};
use crate::value::{Batch, Column, DataValue};

/// How many of the rows that do not fit are described.
const DESCRIBED_ROWS: usize = 20;

/// The rows of one relation in the order of the file, a batch at a time.
pub struct Rows<'a> {
    file: &'a LegacyFile,
    relation: &'a RelationSchema,
    /// The relations and the index relations that have the same id.
    rivals: Vec<Rival<'a>>,
    last_key: Option<Vec<u8>>,
    done: bool,
    read: RowsRead,
}

/// Another relation with rows in the same range.
struct Rival<'a> {
    schema: &'a RelationSchema,
    is_index: bool,
}

/// Whose row a row is.
enum Owner {
    This(Fit),
    Other,
}

impl<'a> Rows<'a> {
    pub(super) fn new(file: &'a LegacyFile, relation: &'a RelationSchema) -> Self {
        let relations = file.relations.iter().map(|other| Rival { schema: &other.schema, is_index: false });
        let indices = file.index_relations.iter().map(|schema| Rival { schema, is_index: true });
        let rivals = relations.chain(indices);
        let rivals = rivals.filter(|rival| rival.schema.id == relation.id && rival.schema.name != relation.name);
        Rows { file, relation, rivals: rivals.collect(), last_key: None, done: false, read: RowsRead::default() }
    }

    /// What was read so far; complete once there are no more batches.
    pub fn read(&self) -> &RowsRead {
        &self.read
    }

    /// Takes in a row; gives whether it was put into the columns.
    fn take(
        &mut self,
        key: &[u8],
        value: Result<&[u8], Malformed>,
        columns: &mut [Column],
    ) -> Result<bool, StorageError> {
        let decoded = value.and_then(|value| decode_row(key, value));
        let (mut row, keys) = decoded.map_err(|error| error.at(&self.relation.name, key))?;
        let fit = match self.owner(&mut row, keys) {
            Owner::This(fit) => fit,
            Owner::Other => {
                self.read.of_others += 1;
                return Ok(false);
            }
        };
        if let Fit::Not(reason) = fit {
            self.refuse(key, reason);
            return Ok(false);
        }
        self.read.rows += 1;
        self.read.converted += u64::from(fit == Fit::Converted);
        columns.iter_mut().zip(row).for_each(|(column, value)| column.push_owned(value));
        Ok(true)
    }

    fn refuse(&mut self, key: &[u8], reason: String) {
        self.read.refused += 1;
        if self.read.examples.len() < DESCRIBED_ROWS {
            self.read.examples.push(RefusedRow { key: hex(key), reason });
        }
    }

    fn owner(&self, row: &mut [DataValue], keys: usize) -> Owner {
        let now = self.file.now_micros;
        if self.rivals.is_empty() {
            return Owner::This(fit(row, keys, self.relation, now));
        }
        let is_claimed = |rival: &&Rival<'_>| {
            let claims = if rival.is_index { fits_index } else { fits_exactly };
            claims(row, keys, rival.schema, now)
        };
        let claimed_by = self.rivals.iter().find(is_claimed).map(|rival| &rival.schema.name);
        match (fits_exactly(row, keys, self.relation, now), claimed_by) {
            (true, None) => Owner::This(Fit::Exact),
            (false, Some(_)) => Owner::Other,
            (true, Some(other)) => {
                Owner::This(Fit::Not(format!("it may as well be a row of '{other}', which has the same id")))
            }
            (false, None) => Owner::This(Fit::Not("it fits none of the relations that have this id".to_string())),
        }
    }
}

impl BatchCursor for Rows<'_> {
    fn next_batch(&mut self, max_rows: usize) -> Result<Option<Batch>, StorageError> {
        let mut columns = vec![Column::default(); self.relation.arity()];
        let mut len = 0;
        let max_rows = max_rows.max(1);
        // A page of which nothing fits makes no batch.
        while len == 0 && !self.done {
            let after = self.last_key.take();
            let range = (self.relation.name.as_str(), IdRange { id: self.relation.id.0 });
            let found = self.file.source.page(range, after.as_deref(), max_rows, |key, value| {
                len += usize::from(self.take(key, value, &mut columns)?);
                self.last_key = Some(key.to_vec());
                Ok(())
            });
            // After an error there is nothing more.
            self.done = found.as_ref().map_or(true, |found| *found < max_rows);
            found?;
        }
        Ok((len > 0).then(|| Batch::new(columns, len)))
    }
}

/// The values of a row, and how many of them are keys.
fn decode_row(key: &[u8], value: &[u8]) -> Result<(Vec<DataValue>, usize), Malformed> {
    let mut row = decode_key(key)?;
    let keys = row.len();
    if !value.is_empty() {
        let values = value.get(ID_BYTES..).ok_or_else(|| Malformed::new("the value ends too early"))?;
        row.extend(decode_values(values)?);
    }
    Ok((row, keys))
}
