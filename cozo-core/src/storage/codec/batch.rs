//! Batches as bytes, for data that is written once and read as a whole.
//!
//! ```text
//! varint   the number of rows
//! varint   the number of columns
//! columns  0 and the integers of all rows, 8 bytes each, little-endian; or 1 and the tagged values of all rows
//! ```

use super::any::{read_into, write_any};
use super::reader::{Damage, Read, Reader};
use super::value::write_varint;
use crate::storage::error::StorageError;
use crate::storage::key::Key;
use crate::value::{Batch, Column};

const INTS: u8 = 0;
const TAGGED: u8 = 1;

/// Appends the encoding of a batch. It fails for the same values as [`encode_any`](super::encode_any).
pub fn encode_batch(batch: &Batch, out: &mut Vec<u8>) -> Result<(), StorageError> {
    write_varint(batch.len as u64, out);
    write_varint(batch.columns.len() as u64, out);
    for column in &batch.columns {
        match column.as_dense_ints() {
            Some(ints) => {
                out.push(INTS);
                out.reserve(size_of_val(ints));
                ints.iter().for_each(|int| out.extend_from_slice(&int.to_le_bytes()));
            }
            None => {
                out.push(TAGGED);
                (0..batch.len).try_for_each(|row| write_any(Key::at(column, row), out))?;
            }
        }
    }
    Ok(())
}

/// Decodes the batch at the beginning of the bytes. Returns it with its length.
pub fn decode_batch(bytes: &[u8]) -> Result<(Batch, usize), StorageError> {
    let mut reader = Reader::new(bytes);
    let batch = read_batch(&mut reader)?;
    Ok((batch, bytes.len() - reader.rest.len()))
}

fn read_batch(reader: &mut Reader) -> Read<Batch> {
    let (rows, width) = (reader.varint()?, reader.varint()?);
    let rows = usize::try_from(rows).map_err(|_| TOO_LONG)?;
    let columns = (0..width).map(|_| read_column(reader, rows)).collect::<Read<Vec<Column>>>()?;
    Ok(Batch::new(columns, rows))
}

const TOO_LONG: Damage = Damage("a batch is too long");

fn read_column(reader: &mut Reader, rows: usize) -> Read<Column> {
    match reader.byte()? {
        INTS => {
            let (ints, _) = reader.take(rows.checked_mul(8).ok_or(TOO_LONG)?)?.as_chunks();
            Ok(Column::ints(ints.iter().copied().map(i64::from_le_bytes).collect()))
        }
        TAGGED => {
            let mut column = Column::default();
            (0..rows).try_for_each(|_| read_into(reader, &mut column))?;
            Ok(column)
        }
        _ => Err(Damage("a column has an unknown form")),
    }
}
