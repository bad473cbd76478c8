//! Tagged values of any type. Their order as bytes is the total order, and no encoding is a prefix of another one.
//!
//! ```text
//! tag      after it
//! 1        null
//! 2 3      false, true
//! 4        numbers: 8 bytes of the greatest float that is not above the number, then 0 for the Int equal to that float,
//!          1 for the float itself, or 2 and the Int's distance in 2 bytes
//! 5 6 8 13 text, bytes, patterns, the text of JSON; escaped, and a 0 at the end
//! 7        UUIDs: 16 bytes
//! 9 10     lists, sets: the tagged elements, and a 0 at the end
//! 11 12    vectors of 32 and of 64 bits: the length in 8 bytes, then the elements
//! 14       validities: 9 bytes
//! 15       the value after every other value
//! ```

use super::ordered::{
    VALIDITY_BYTES, encode_validity, float_bytes, float_of, narrow_float_bytes, narrow_float_of, read_number,
    read_validity, skip_number, uuid_bytes, uuid_of, write_escaped, write_number,
};
use super::reader::{Damage, END, Read, Reader, text};
use crate::budget::MAX_DEPTH;
use crate::storage::error::StorageError;
use crate::storage::key::Key;
use crate::value::{Column, DataValue, JsonData, Num, RegexWrapper, Vector, VectorRef};

mod tag {
    pub const NULL: u8 = 1;
    pub const FALSE: u8 = 2;
    pub const TRUE: u8 = 3;
    pub const NUMBER: u8 = 4;
    pub const STR: u8 = 5;
    pub const BYTES: u8 = 6;
    pub const UUID: u8 = 7;
    pub const REGEX: u8 = 8;
    pub const LIST: u8 = 9;
    pub const SET: u8 = 10;
    pub const NARROW_VECTOR: u8 = 11;
    pub const WIDE_VECTOR: u8 = 12;
    pub const JSON: u8 = 13;
    pub const VALIDITY: u8 = 14;
    pub const BOT: u8 = 15;
}

/// Appends the tagged encoding of a value. Fails only for a value nested more than [`MAX_DEPTH`] levels deep.
pub fn encode_any(value: &DataValue, out: &mut Vec<u8>) -> Result<(), StorageError> {
    write(Key::of(value), out, 0)
}

/// Decodes the value at the beginning of the bytes, and appends it to a column.
pub(in crate::storage) fn decode_into(bytes: &[u8], column: &mut Column) -> Result<(), StorageError> {
    Ok(read_into(&mut Reader::new(bytes), column)?)
}

/// Decodes the value at the beginning of the bytes. Returns it with its length.
pub fn decode_any(bytes: &[u8]) -> Result<(DataValue, usize), StorageError> {
    let mut reader = Reader::new(bytes);
    let value = read(&mut reader, 0)?;
    Ok((value, bytes.len() - reader.rest.len()))
}

/// [`encode_any`] for a borrowed value.
pub(in crate::storage) fn write_any(cell: Key, out: &mut Vec<u8>) -> Result<(), StorageError> {
    write(cell, out, 0)
}

fn write(cell: Key, out: &mut Vec<u8>, depth: usize) -> Result<(), StorageError> {
    match cell {
        Key::Null => out.push(tag::NULL),
        Key::Bool(value) => out.push(if value { tag::TRUE } else { tag::FALSE }),
        Key::Int(value) => tagged_number(Num::Int(value), out),
        Key::Float(value) => tagged_number(Num::Float(value), out),
        Key::Str(value) => tagged_text(tag::STR, value.as_bytes(), out),
        Key::Vec(vector) => write_vector(vector, out),
        Key::Other(value) => return write_other(value, out, depth),
    }
    Ok(())
}

fn write_other(value: &DataValue, out: &mut Vec<u8>, depth: usize) -> Result<(), StorageError> {
    match value {
        DataValue::Bytes(value) => tagged_text(tag::BYTES, value, out),
        DataValue::Uuid(value) => {
            out.push(tag::UUID);
            out.extend_from_slice(&uuid_bytes(*value));
        }
        DataValue::Regex(value) => tagged_text(tag::REGEX, value.0.as_str().as_bytes(), out),
        DataValue::List(items) => return write_items(tag::LIST, items.iter(), out, depth),
        DataValue::Set(items) => return write_items(tag::SET, items.iter(), out, depth),
        DataValue::Vec(vector) => match vector.elements() {
            Some(elements) => write_vector(elements, out),
            None => return write_other(&DataValue::Vec(vector.compact()), out, depth),
        },
        DataValue::Json(value) => {
            check_depth(&value.0, 0)?;
            tagged_text(tag::JSON, value.text().as_bytes(), out);
        }
        DataValue::Validity(value) => {
            out.push(tag::VALIDITY);
            out.extend_from_slice(&encode_validity(*value));
        }
        DataValue::Bot => out.push(tag::BOT),
        simple => return write(Key::of(simple), out, depth),
    }
    Ok(())
}

fn tagged_number(number: Num, out: &mut Vec<u8>) {
    out.push(tag::NUMBER);
    write_number(number, out);
}

fn tagged_text(tag: u8, bytes: &[u8], out: &mut Vec<u8>) {
    out.push(tag);
    write_escaped(bytes, out);
}

fn write_items<'a>(
    tag: u8,
    items: impl Iterator<Item = &'a DataValue>,
    out: &mut Vec<u8>,
    depth: usize,
) -> Result<(), StorageError> {
    if depth == MAX_DEPTH {
        return Err(too_deep());
    }
    out.push(tag);
    for item in items {
        write(Key::of(item), out, depth + 1)?;
    }
    out.push(END);
    Ok(())
}

fn too_deep() -> StorageError {
    StorageError::Unstorable(format!("it is nested more than {MAX_DEPTH} levels deep"))
}

fn check_depth(value: &serde_json::Value, depth: usize) -> Result<(), StorageError> {
    let mut inner: Box<dyn Iterator<Item = &serde_json::Value>> = match value {
        serde_json::Value::Array(items) => Box::new(items.iter()),
        serde_json::Value::Object(fields) => Box::new(fields.values()),
        _ => return Ok(()),
    };
    if depth == MAX_DEPTH {
        return Err(too_deep());
    }
    inner.try_for_each(|value| check_depth(value, depth + 1))
}

fn write_vector(vector: VectorRef<'_>, out: &mut Vec<u8>) {
    out.push(if matches!(vector, VectorRef::F32(_)) { tag::NARROW_VECTOR } else { tag::WIDE_VECTOR });
    out.extend_from_slice(&(vector.dim() as u64).to_be_bytes());
    out.reserve(vector.bytes());
    match vector {
        VectorRef::F32(elements) => elements.iter().for_each(|x| out.extend_from_slice(&narrow_float_bytes(*x))),
        VectorRef::F64(elements) => elements.iter().for_each(|x| out.extend_from_slice(&float_bytes(*x))),
    }
}

/// Appends the next value to a column.
pub(super) fn read_into(reader: &mut Reader, column: &mut Column) -> Read<()> {
    match reader.peek()? {
        tag::STR => {
            reader.byte()?;
            column.push_str(text(&reader.escaped()?)?);
        }
        tag::NARROW_VECTOR => {
            reader.byte()?;
            let (bytes, _) = elements::<4>(reader)?.as_chunks();
            column.push_vector(bytes.iter().copied().map(narrow_float_of));
        }
        tag::WIDE_VECTOR => {
            reader.byte()?;
            let (bytes, _) = elements::<8>(reader)?.as_chunks();
            column.push_vector(bytes.iter().copied().map(float_of));
        }
        _ => column.push_owned(read(reader, 0)?),
    }
    Ok(())
}

fn read(reader: &mut Reader, depth: usize) -> Read<DataValue> {
    Ok(match reader.byte()? {
        tag::NULL => DataValue::Null,
        tag::FALSE => false.into(),
        tag::TRUE => true.into(),
        tag::NUMBER => DataValue::Num(read_number(reader)?),
        tag::STR => text(&reader.escaped()?)?.into(),
        tag::BYTES => DataValue::Bytes(reader.escaped()?.into_owned()),
        tag::UUID => DataValue::Uuid(uuid_of(reader.array()?)),
        tag::REGEX => read_regex(reader)?,
        tag::LIST => DataValue::List(read_items(reader, depth)?),
        tag::SET => DataValue::Set(read_items(reader, depth)?.into_iter().collect()),
        tag::NARROW_VECTOR => {
            let (bytes, _) = elements::<4>(reader)?.as_chunks();
            DataValue::Vec(Vector::F32(bytes.iter().copied().map(narrow_float_of).collect()))
        }
        tag::WIDE_VECTOR => {
            let (bytes, _) = elements::<8>(reader)?.as_chunks();
            DataValue::Vec(Vector::F64(bytes.iter().copied().map(float_of).collect()))
        }
        tag::JSON => {
            let value = serde_json::from_slice(&reader.escaped()?).map_err(|_| Damage("JSON is not valid"))?;
            DataValue::Json(JsonData(value))
        }
        tag::VALIDITY => DataValue::Validity(read_validity(reader)?),
        tag::BOT => DataValue::Bot,
        _ => return Err(UNKNOWN_TAG),
    })
}

const UNKNOWN_TAG: Damage = Damage("a value has an unknown type");

fn read_regex(reader: &mut Reader) -> Read<DataValue> {
    let pattern = regex::Regex::new(text(&reader.escaped()?)?).map_err(|_| Damage("a pattern is not valid"))?;
    Ok(DataValue::Regex(RegexWrapper(pattern)))
}

fn read_items(reader: &mut Reader, depth: usize) -> Read<Vec<DataValue>> {
    let mut items = vec![];
    while !at_end(reader, depth)? {
        items.push(read(reader, depth + 1)?);
    }
    Ok(items)
}

/// Whether a list has no more elements. Reads its end, if so.
fn at_end(reader: &mut Reader, depth: usize) -> Read<bool> {
    if depth == MAX_DEPTH {
        return Err(Damage("a value is nested too deep"));
    }
    let end = reader.peek()? == END;
    reader.take(usize::from(end))?;
    Ok(end)
}

/// The bytes of the elements of a vector, each `WIDTH` wide.
fn elements<'a, const WIDTH: usize>(reader: &mut Reader<'a>) -> Read<&'a [u8]> {
    let len = u64::from_be_bytes(reader.array()?).checked_mul(WIDTH as u64);
    let len = len.and_then(|len| usize::try_from(len).ok()).ok_or(Damage("a vector is too long"))?;
    reader.take(len)
}

/// Skips a value.
pub(super) fn skip_any(reader: &mut Reader) -> Read<()> {
    skip(reader, 0)
}

fn skip(reader: &mut Reader, depth: usize) -> Read<()> {
    match reader.byte()? {
        tag::NULL | tag::FALSE | tag::TRUE | tag::BOT => Ok(()),
        tag::NUMBER => skip_number(reader),
        tag::STR | tag::BYTES | tag::REGEX | tag::JSON => reader.raw_escaped().map(drop),
        tag::UUID => reader.take(16).map(drop),
        tag::NARROW_VECTOR => elements::<4>(reader).map(drop),
        tag::WIDE_VECTOR => elements::<8>(reader).map(drop),
        tag::VALIDITY => reader.take(VALIDITY_BYTES).map(drop),
        tag::LIST | tag::SET => {
            while !at_end(reader, depth)? {
                skip(reader, depth + 1)?;
            }
            Ok(())
        }
        _ => Err(UNKNOWN_TAG),
    }
}
