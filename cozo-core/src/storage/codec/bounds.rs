//! The position of a value among the keys of a column that may have another type.
//!
//! ```text
//! a: Int, b: Int     before [2, "x"]     after every row of a = 2, since numbers come before strings
//!                    before [2.5, 7]     before every row of a = 3
//! ```

use super::kind::{Base, TypeKind};
use super::ordered::{float_bytes, int_bytes};
use crate::storage::error::StorageError;
use crate::storage::key::Key;
use crate::value::{DataValue, Num, UuidWrapper};

/// The position of a value in a column.
enum Place {
    /// The column can have the value. Its encoding was appended.
    Here,
    /// The column cannot have the value. The encoding of the next greater value, or a prefix of it, was appended.
    Before,
    /// Every value of the column is less. Nothing was appended.
    AfterAll,
}

impl TypeKind {
    /// Appends the lower bound of the rows at or above some values. `kinds` are the kinds of their columns.
    pub fn write_bound(kinds: &[TypeKind], bound: &[DataValue], out: &mut Vec<u8>) -> Result<(), StorageError> {
        for (kind, value) in kinds.iter().zip(bound) {
            match kind.write_place(value, out)? {
                Place::Here => {}
                Place::Before => break,
                Place::AfterAll => {
                    increment(out);
                    break;
                }
            }
        }
        Ok(())
    }

    fn write_place(self, value: &DataValue, out: &mut Vec<u8>) -> Result<Place, StorageError> {
        if self.write_key(Key::of(value), out)? {
            return Ok(Place::Here);
        }
        Ok(match (self.base, value) {
            // Null is the least value.
            (_, DataValue::Null) => Place::Before,
            (Base::Int, DataValue::Num(Num::Float(float))) => self.write_next(int_above(*float).map(int_bytes), out),
            (Base::Float, DataValue::Num(Num::Int(int))) => self.write_next(float_above(*int).map(float_bytes), out),
            _ if self.base.sample() < *value => Place::AfterAll,
            // Before all values but null.
            _ => {
                self.write_present(out);
                Place::Before
            }
        })
    }

    fn write_next(self, next: Option<[u8; 8]>, out: &mut Vec<u8>) -> Place {
        match next {
            None => Place::AfterAll,
            Some(next) => {
                self.write_fixed(&next, out);
                Place::Before
            }
        }
    }
}

impl Base {
    /// A value of the type. Each value of another type is before all values of this type or after all of them.
    fn sample(self) -> DataValue {
        match self {
            Base::Bool => false.into(),
            Base::Int => 0.into(),
            Base::Float => 0.0.into(),
            Base::Str => "".into(),
            Base::Bytes => DataValue::Bytes(vec![]),
            Base::Uuid => DataValue::Uuid(UuidWrapper(uuid::Uuid::nil())),
            Base::Validity => DataValue::Validity((0, true).into()),
            Base::Any => DataValue::Null,
        }
    }
}

/// The least Int above a Float in the total order.
fn int_above(float: f64) -> Option<i64> {
    let is_below = |int: i64| Num::Float(float) < Num::Int(int);
    let near = float.floor() as i64;
    [i64::MIN, near, near.saturating_add(1)].into_iter().find(|int| is_below(*int))
}

/// The least Float above an Int in the total order.
fn float_above(int: i64) -> Option<f64> {
    let near = int as f64;
    [near, near.next_up()].into_iter().find(|float| Num::Int(int) < Num::Float(*float))
}

/// Changes a prefix of keys into the least bytes above all keys with that prefix. The result is empty if there are none.
pub fn increment(bytes: &mut Vec<u8>) {
    while let Some(last) = bytes.pop() {
        if last < u8::MAX {
            bytes.push(last + 1);
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_number_of_the_other_type() {
        let big = 1i64 << 53;
        let ints = [
            (1.5, Some(2)),
            (1.0, Some(2)),
            (-1.5, Some(-1)),
            (-0.0, Some(0)),
            (0.0, Some(1)),
            (-0.5, Some(0)),
            (f64::NAN, None),
            (-f64::NAN, Some(i64::MIN)),
            (9.3e18, None),
            (-9.3e18, Some(i64::MIN)),
            (-(2f64.powi(63)), Some(i64::MIN + 1)),
            (2f64.powi(63) - 1024.0, Some(i64::MAX - 1022)),
        ];
        for (float, int) in ints {
            assert_eq!(int_above(float), int, "{float}");
        }
        let floats = [
            (0, 0.0),
            (1, 1.0),
            (-1, -1.0),
            (big, big as f64),
            (big + 1, (big + 2) as f64),
            (-big - 1, -(big as f64)),
            (i64::MAX, 2f64.powi(63)),
            (i64::MIN, -(2f64.powi(63))),
        ];
        for (int, float) in floats {
            assert_eq!(float_above(int), Some(float), "{int}");
        }
    }

    #[test]
    fn incrementing_passes_all_that_begin_so() {
        for (bytes, next) in [(vec![1, 2], vec![1, 3]), (vec![1, 255, 255], vec![2]), (vec![255], vec![])] {
            let mut found = bytes;
            increment(&mut found);
            assert_eq!(found, next);
        }
    }
}
