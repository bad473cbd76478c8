//! A block: rows as the bytes of encoded columns.
//!
//! ```text
//! column    form   1 byte: the kind, and HAS_NULLS
//!           nulls  if HAS_NULLS: 1 bit for each row
//!           values
//!
//! kind      values
//! NULLS     none
//! BOOLS     1 byte each
//! INTS      the least value (8 bytes), a width (1 byte), and what each value exceeds the least by, in so many bytes
//! FLOATS    8 bytes each
//! TEXTS     the lengths as INTS, then the length of the compressed bytes and these (LZ4)
//! TAGGED    each value as the storage codec writes values of any type
//! ```
//!
//! Integers of a column mostly lie close together, so that two or three bytes hold what takes eight in memory.

use super::error::SpillError;
use crate::storage::codec::{decode_any, encode_any};
use crate::value::{Batch, Column, Primitive, StrColumn};

const NULLS: u8 = 0;
const BOOLS: u8 = 1;
const INTS: u8 = 2;
const FLOATS: u8 = 3;
const TEXTS: u8 = 4;
const TAGGED: u8 = 5;
const HAS_NULLS: u8 = 0x80;

/// The bytes that a block must have after its end, so that the last integers can be read like all others.
pub const PADDING: usize = 8;

/// Appends the columns of a batch.
pub fn encode(batch: &Batch, out: &mut Vec<u8>) -> Result<(), SpillError> {
    batch.columns.iter().try_for_each(|column| encode_column(column, out))
}

fn encode_column(column: &Column, out: &mut Vec<u8>) -> Result<(), SpillError> {
    match column {
        Column::Null(_) => out.push(NULLS),
        Column::Bool(Primitive { values, nulls }) => {
            put_form(BOOLS, nulls.as_deref(), out);
            out.extend(values.iter().map(|value| u8::from(*value)));
        }
        Column::Int(Primitive { values, nulls }) => {
            put_form(INTS, nulls.as_deref(), out);
            put_ints(values, out);
        }
        Column::Float(Primitive { values, nulls }) => {
            put_form(FLOATS, nulls.as_deref(), out);
            values.iter().for_each(|value| out.extend_from_slice(&value.to_le_bytes()));
        }
        Column::Str(texts) => {
            put_form(TEXTS, texts.nulls.as_deref(), out);
            let mut bytes = Vec::with_capacity(texts.byte_len());
            let put = |row| {
                let text = texts.bytes_at(row);
                bytes.extend_from_slice(text);
                text.len() as i64
            };
            let lengths: Vec<i64> = (0..texts.len()).map(put).collect();
            put_ints(&lengths, out);
            let packed = lz4_flex::compress_prepend_size(&bytes);
            out.extend_from_slice(&(packed.len() as u64).to_le_bytes());
            out.extend_from_slice(&packed);
        }
        Column::Vec(_) | Column::Any(_) => {
            out.push(TAGGED);
            for value in column.iter() {
                encode_any(&value, out).map_err(|error| SpillError::Damaged(error.to_string()))?;
            }
        }
    }
    Ok(())
}

fn put_form(kind: u8, nulls: Option<&[bool]>, out: &mut Vec<u8>) {
    let Some(nulls) = nulls else { return out.push(kind) };
    out.push(kind | HAS_NULLS);
    out.extend(nulls.chunks(8).map(|some| some.iter().rev().fold(0, |bits, null| bits << 1 | u8::from(*null))));
}

fn put_ints(values: &[i64], out: &mut Vec<u8>) {
    let least = values.iter().copied().min().unwrap_or(0);
    let greatest = values.iter().copied().max().unwrap_or(0);
    let range = greatest.wrapping_sub(least) as u64;
    let width = (u64::BITS - range.leading_zeros()).div_ceil(8) as usize;
    out.extend_from_slice(&least.to_le_bytes());
    out.push(width as u8);
    // Eight bytes are written for each value, and the next value overwrites those beyond the width.
    let start = out.len();
    out.resize(start + values.len() * width + PADDING, 0);
    let mut at = start;
    for value in values {
        out[at..at + 8].copy_from_slice(&(value.wrapping_sub(least) as u64).to_le_bytes());
        at += width;
    }
    out.truncate(at);
}

/// Reads `rows` rows of `width` columns. The bytes have [`PADDING`] after their end.
pub fn decode(bytes: &[u8], rows: usize, width: usize) -> Result<Batch, SpillError> {
    let mut rest = Rest { bytes, rows };
    let columns = (0..width).map(|_| rest.column()).collect::<Result<_, _>>()?;
    if rest.bytes.len() != PADDING {
        return Err(short());
    }
    Ok(Batch::new(columns, rows))
}

/// The bytes of a block that are not read yet.
struct Rest<'b> {
    bytes: &'b [u8],
    rows: usize,
}

impl<'b> Rest<'b> {
    fn take(&mut self, len: usize) -> Result<&'b [u8], SpillError> {
        let (taken, rest) = self.bytes.split_at_checked(len).ok_or_else(short)?;
        self.bytes = rest;
        Ok(taken)
    }

    fn eight(&mut self) -> Result<[u8; 8], SpillError> {
        let (taken, rest) = self.bytes.split_first_chunk().ok_or_else(short)?;
        self.bytes = rest;
        Ok(*taken)
    }

    fn column(&mut self) -> Result<Column, SpillError> {
        let form = self.take(1)?[0];
        let nulls = if form & HAS_NULLS == 0 { None } else { Some(self.nulls()?) };
        Ok(match form & !HAS_NULLS {
            NULLS => Column::Null(self.rows),
            BOOLS => {
                let values = self.take(self.rows)?.iter().map(|byte| *byte != 0).collect();
                Column::Bool(Primitive { values, nulls })
            }
            INTS => Column::Int(Primitive { values: self.ints()?, nulls }),
            FLOATS => {
                let (values, _) = self.take(self.rows * 8)?.as_chunks();
                Column::Float(Primitive {
                    values: values.iter().map(|bytes| f64::from_le_bytes(*bytes)).collect(),
                    nulls,
                })
            }
            TEXTS => Column::Str(self.texts(nulls)?),
            TAGGED => {
                let mut column = Column::default();
                for _ in 0..self.rows {
                    let within = self.bytes.len().saturating_sub(PADDING);
                    let decoded = decode_any(&self.bytes[..within]);
                    let (value, len) = decoded.map_err(|error| SpillError::Damaged(error.to_string()))?;
                    self.take(len)?;
                    column.push_owned(value);
                }
                column
            }
            other => return Err(SpillError::Damaged(format!("a column has the unknown form {other}"))),
        })
    }

    fn nulls(&mut self) -> Result<Vec<bool>, SpillError> {
        let bits = self.take(self.rows.div_ceil(8))?;
        Ok((0..self.rows).map(|row| bits[row / 8] >> (row % 8) & 1 == 1).collect())
    }

    fn ints(&mut self) -> Result<Vec<i64>, SpillError> {
        let least = i64::from_le_bytes(self.eight()?);
        let width = usize::from(self.take(1)?[0]);
        if width > 8 || self.bytes.len() < self.rows * width + PADDING {
            return Err(short());
        }
        let mask = if width == 8 { u64::MAX } else { (1 << (8 * width)) - 1 };
        let value = |row: usize| {
            let (eight, _) = self.bytes[row * width..].split_first_chunk().expect("there is padding");
            least.wrapping_add((u64::from_le_bytes(*eight) & mask) as i64)
        };
        let values = (0..self.rows).map(value).collect();
        self.take(self.rows * width)?;
        Ok(values)
    }

    fn texts(&mut self, nulls: Option<Vec<bool>>) -> Result<StrColumn, SpillError> {
        let lengths = self.ints()?;
        let packed = usize::try_from(u64::from_le_bytes(self.eight()?)).map_err(|_| short())?;
        let unpacked = lz4_flex::decompress_size_prepended(self.take(packed)?);
        let text = unpacked.map_err(|error| SpillError::Damaged(error.to_string()))?;
        let text = String::from_utf8(text).map_err(|_| SpillError::Damaged("a text is not UTF-8".to_string()))?;
        let (mut texts, mut start) = (StrColumn::with_capacity(self.rows, text.len()), 0);
        for length in lengths {
            let end = start + length as usize;
            texts.push(text.get(start..end).ok_or_else(short)?);
            start = end;
        }
        texts.nulls = nulls;
        Ok(texts)
    }
}

fn short() -> SpillError {
    SpillError::Damaged("a block ends too early".to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::DataValue;

    fn round_trip(values: &[DataValue]) -> Result<Vec<DataValue>, SpillError> {
        let column: Column = values.iter().cloned().collect();
        let mut bytes = vec![];
        encode(&Batch::new(vec![column], values.len()), &mut bytes)?;
        bytes.resize(bytes.len() + PADDING, 0);
        Ok(decode(&bytes, values.len(), 1)?.columns[0].iter().collect())
    }

    #[test]
    fn every_kind_of_column_comes_back() {
        let ints = |values: &[i64]| values.iter().map(|value| DataValue::from(*value)).collect::<Vec<_>>();
        let vector = |values: Vec<f32>| DataValue::Vec(crate::value::Vector::F32(values.into()));
        let samples: Vec<Vec<DataValue>> = vec![
            vec![],
            vec![DataValue::Null; 3],
            vec![true.into(), DataValue::Null, false.into()],
            ints(&[7; 9]),
            ints(&[-1, 0, 255, 256, 1 << 20]),
            ints(&[i64::MIN, i64::MAX, 0, -1]),
            (0..20).map(|i| if i % 3 == 0 { DataValue::Null } else { DataValue::from(i) }).collect(),
            vec![1.5.into(), (-0.0).into(), f64::NAN.into(), DataValue::Null],
            vec!["".into(), "é".into(), DataValue::Null, "a long text, a long text, a long text".into()],
            vec![vector(vec![1.0, 2.0]), DataValue::Null, vector(vec![-0.0, 3.0])],
            vec![1.into(), 1.0.into(), "x".into(), vec![1, 2].into(), DataValue::Bot, DataValue::Null],
        ];
        for values in samples {
            assert_eq!(round_trip(&values).expect("it is not damaged"), values);
        }
    }

    #[test]
    fn a_block_that_was_cut_is_an_error() {
        let column: Column = (0..100).map(|i| DataValue::from(format!("text {i}"))).collect();
        let mut bytes = vec![];
        encode(&Batch::new(vec![column, Column::ints((0..100).collect())], 100), &mut bytes).expect("it fits");
        for len in 0..bytes.len() {
            let mut cut = bytes[..len].to_vec();
            cut.resize(len + PADDING, 0);
            assert!(matches!(decode(&cut, 100, 2), Err(SpillError::Damaged(_))), "cut to {len} bytes");
        }
    }
}
