//! Value columns: short encodings without an order.

use super::any::{read_into, skip_any, write_any};
use super::key::{push_float, push_int};
use super::kind::{Base, TypeKind};
use super::ordered::{read_validity, uuid_of};
use super::reader::{Read, Reader, text};
use crate::storage::error::StorageError;
use crate::storage::key::Key;
use crate::value::{Column, DataValue};

impl TypeKind {
    /// Appends the encoding of a row of a value column. Returns whether the value is of this kind.
    #[inline]
    pub fn write_value_of(self, column: &Column, row: usize, out: &mut Vec<u8>) -> Result<bool, StorageError> {
        match (self.base, column) {
            (Base::Str, Column::Str(texts)) if !texts.is_null(row) => {
                self.write_present(out);
                write_counted(texts.bytes_at(row), out);
                Ok(true)
            }
            _ => self.write_value(Key::at(column, row), out),
        }
    }

    fn write_value(self, cell: Key, out: &mut Vec<u8>) -> Result<bool, StorageError> {
        match (self.base, cell) {
            (Base::Any, cell) => write_any(cell, out)?,
            (Base::Int, Key::Int(value)) => {
                self.write_present(out);
                write_varint(zigzag(value), out);
            }
            (Base::Float, Key::Float(value)) => self.write_fixed(&value.to_le_bytes(), out),
            (Base::Str, Key::Str(value)) => {
                self.write_present(out);
                write_counted(value.as_bytes(), out);
            }
            (Base::Bytes, Key::Other(DataValue::Bytes(value))) => {
                self.write_present(out);
                write_counted(value, out);
            }
            // Nulls, and types whose key encodings are as short as possible.
            (_, cell) => return self.write_key(cell, out),
        }
        Ok(true)
    }

    /// Appends the next value of a row to a column.
    #[inline]
    pub fn read_value(self, reader: &mut Reader, column: &mut Column) -> Read<()> {
        if !self.read_present(reader)? {
            column.push(&DataValue::Null);
            return Ok(());
        }
        match self.base {
            Base::Int => push_int(column, unzigzag(reader.varint()?)),
            Base::Float => push_float(column, f64::from_le_bytes(reader.array()?)),
            Base::Bool => column.push(&reader.flag()?.into()),
            Base::Str => column.push_str(text(reader.counted()?)?),
            Base::Bytes => column.push_owned(DataValue::Bytes(reader.counted()?.to_vec())),
            Base::Uuid => column.push_owned(DataValue::Uuid(uuid_of(reader.array()?))),
            Base::Validity => column.push_owned(DataValue::Validity(read_validity(reader)?)),
            Base::Any => read_into(reader, column)?,
        }
        Ok(())
    }

    /// Skips the next value of a row.
    pub fn skip_value(self, reader: &mut Reader) -> Read<()> {
        if !self.read_present(reader)? {
            return Ok(());
        }
        match self.base {
            Base::Int => reader.varint().map(drop),
            Base::Str | Base::Bytes => reader.counted().map(drop),
            Base::Any => skip_any(reader),
            base => reader.take(base.fixed_bytes()).map(drop),
        }
    }
}

/// Maps small absolute values to small numbers: 0, -1, 1, -2 become 0, 1, 2, 3.
fn zigzag(value: i64) -> u64 {
    (value as u64) << 1 ^ (value >> 63) as u64
}

fn unzigzag(value: u64) -> i64 {
    (value >> 1) as i64 ^ -((value & 1) as i64)
}

pub(super) fn write_varint(mut value: u64, out: &mut Vec<u8>) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

fn write_counted(bytes: &[u8], out: &mut Vec<u8>) {
    write_varint(bytes.len() as u64, out);
    out.extend_from_slice(bytes);
}
