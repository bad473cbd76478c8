//! The encoding of rows as bytes, for engines of ordered bytes.
//!
//! A row is two byte strings. Its *key* has the key columns. The order of keys as bytes is the total order of the rows. A key
//! begins with the bytes of some leading columns only if it has those columns. Its *value* has the other columns, in a short
//! encoding. Every value comes back identical: `1` and `1.0`, `0.0` and `-0.0`, the bits of a NaN.
//!
//! | column type | in a key | in a value |
//! |---|---|---|
//! | `Bool` | 1 byte | 1 byte |
//! | `Int` | 8 bytes, big-endian, sign flipped | varint of the zigzag |
//! | `Float` | 8 bytes in the order of `f64::total_cmp` | 8 bytes |
//! | `Uuid` | 16 bytes, time first | as in a key |
//! | `Validity` | 8 bytes of the inverted time, 1 for a retraction | as in a key |
//! | `String`, `Bytes` | escaped: 0 is 1 1, 1 is 1 2, and 0 is the end | varint of the length, then the bytes |
//! | nullable types of these | a byte before: 0 for null, without a value, or 1 | as in a key |
//! | all others | tagged, see [`encode_any`] | as in a key |
//!
//! ```text
//! {a: Int, b: String => c: Int?}     [1, "x", null]
//! key    80 00 00 00 00 00 00 01  78 00
//! value  00
//! ```
//!
//! A tagged value has its type, and can be decoded alone. An engine with typed columns uses [`encode_any`] and [`decode_any`] for
//! a column whose own type would change the order or the value. Invalid bytes give
//! [`StorageError::Damaged`](super::StorageError::Damaged), never a panic.
//!
//! ```
//! use cozo::DataValue;
//! use cozo::storage::codec::{decode_any, encode_any};
//! let (mut low, mut high) = (vec![], vec![]);
//! encode_any(&DataValue::from(1), &mut low)?;
//! encode_any(&DataValue::from(1.5), &mut high)?;
//! assert!(low < high);
//! assert_eq!(decode_any(&high)?, (DataValue::from(1.5), high.len()));
//! # Ok::<(), cozo::storage::StorageError>(())
//! ```

mod any;
mod batch;
mod bounds;
mod key;
mod kind;
mod ordered;
mod reader;
mod rows;
#[cfg(test)]
mod tests;
mod value;

pub use crate::budget::MAX_DEPTH;
pub use any::{decode_any, encode_any};
pub(in crate::storage) use any::{decode_into, write_any};
pub use batch::{decode_batch, encode_batch};
pub use bounds::increment;
pub use ordered::{VALIDITY_BYTES, encode_validity};
pub use rows::{RowCodec, RowReader};
