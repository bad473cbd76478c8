//! Key columns: typed encodings whose order as bytes is the order of the values.

use super::any::{read_into, skip_any, write_any};
use super::kind::{Base, NULL, PRESENT, TypeKind};
use super::ordered::{
    VALIDITY_BYTES, encode_validity, float_bytes, float_of, int_bytes, int_of, read_validity, uuid_bytes, uuid_of,
    write_escaped,
};
use super::reader::{Damage, Read, Reader, text};
use crate::storage::error::StorageError;
use crate::storage::key::Key;
use crate::value::{Column, DataValue};

impl TypeKind {
    /// Appends the key encoding of a row of a column. Returns whether the value is of this kind.
    #[inline]
    pub fn write_key_of(self, column: &Column, row: usize, out: &mut Vec<u8>) -> Result<bool, StorageError> {
        match (self.base, column) {
            (Base::Int, Column::Int(ints)) if !self.nullable && ints.nulls.is_none() => {
                out.extend_from_slice(&int_bytes(ints.values[row]));
                Ok(true)
            }
            (Base::Str, Column::Str(texts)) if !texts.is_null(row) => {
                self.write_present(out);
                write_escaped(texts.bytes_at(row), out);
                Ok(true)
            }
            _ => self.write_key(Key::at(column, row), out),
        }
    }

    /// [`TypeKind::write_key_of`] for a single value. Nothing is appended for a value of another kind.
    pub fn write_key(self, cell: Key, out: &mut Vec<u8>) -> Result<bool, StorageError> {
        match (self.base, cell) {
            (Base::Any, cell) => write_any(cell, out)?,
            (_, Key::Null) if self.nullable => out.push(NULL),
            (Base::Bool, Key::Bool(value)) => self.write_fixed(&[u8::from(value)], out),
            (Base::Int, Key::Int(value)) => self.write_fixed(&int_bytes(value), out),
            (Base::Float, Key::Float(value)) => self.write_fixed(&float_bytes(value), out),
            (Base::Str, Key::Str(value)) => {
                self.write_present(out);
                write_escaped(value.as_bytes(), out);
            }
            (Base::Bytes, Key::Other(DataValue::Bytes(value))) => {
                self.write_present(out);
                write_escaped(value, out);
            }
            (Base::Uuid, Key::Other(DataValue::Uuid(value))) => self.write_fixed(&uuid_bytes(*value), out),
            (Base::Validity, Key::Other(DataValue::Validity(value))) => {
                self.write_fixed(&encode_validity(*value), out);
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Appends the byte before a value that is not null, if the column is nullable.
    #[inline]
    pub fn write_present(self, out: &mut Vec<u8>) {
        if self.nullable {
            out.push(PRESENT);
        }
    }

    pub fn write_fixed(self, bytes: &[u8], out: &mut Vec<u8>) {
        self.write_present(out);
        out.extend_from_slice(bytes);
    }

    /// Reads whether there is a value or a null.
    #[inline]
    pub fn read_present(self, reader: &mut Reader) -> Read<bool> {
        if !self.nullable {
            return Ok(true);
        }
        match reader.byte()? {
            NULL => Ok(false),
            PRESENT => Ok(true),
            _ => Err(Damage("a value is neither null nor present")),
        }
    }

    /// Appends the next value of a key to a column.
    #[inline]
    pub fn read_key(self, reader: &mut Reader, column: &mut Column) -> Read<()> {
        if !self.read_present(reader)? {
            column.push(&DataValue::Null);
            return Ok(());
        }
        match self.base {
            Base::Int => push_int(column, int_of(reader.array()?)),
            Base::Float => push_float(column, float_of(reader.array()?)),
            Base::Bool => column.push(&reader.flag()?.into()),
            Base::Str => column.push_str(text(&reader.escaped()?)?),
            Base::Bytes => column.push_owned(DataValue::Bytes(reader.escaped()?.into_owned())),
            Base::Uuid => column.push_owned(DataValue::Uuid(uuid_of(reader.array()?))),
            Base::Validity => column.push_owned(DataValue::Validity(read_validity(reader)?)),
            Base::Any => read_into(reader, column)?,
        }
        Ok(())
    }

    /// Skips the next value of a key.
    pub fn skip_key(self, reader: &mut Reader) -> Read<()> {
        if !self.read_present(reader)? {
            return Ok(());
        }
        match self.base {
            Base::Str | Base::Bytes => reader.raw_escaped().map(drop),
            Base::Any => skip_any(reader),
            base => reader.take(base.fixed_bytes()).map(drop),
        }
    }
}

impl Base {
    /// The size of a key of this type, if all have the same; otherwise 0.
    pub fn fixed_bytes(self) -> usize {
        match self {
            Base::Bool => 1,
            Base::Int | Base::Float => 8,
            Base::Uuid => 16,
            Base::Validity => VALIDITY_BYTES,
            Base::Str | Base::Bytes | Base::Any => 0,
        }
    }
}

/// Appends an integer. It is fastest for a column of integers.
#[inline]
pub(super) fn push_int(column: &mut Column, value: i64) {
    match column {
        Column::Int(ints) => ints.push(value),
        _ => column.push(&value.into()),
    }
}

/// Appends a float. It is fastest for a column of floats.
#[inline]
pub(super) fn push_float(column: &mut Column, value: f64) {
    match column {
        Column::Float(floats) => floats.push(value),
        _ => column.push(&value.into()),
    }
}
