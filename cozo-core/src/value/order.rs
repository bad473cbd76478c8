//! The total order of values, and the equality that agrees with it.

use std::cmp::Ordering;

use super::{DataValue, JsonData, RegexWrapper, UuidWrapper};

impl DataValue {
    /// The rank of the value's type in the total order.
    fn type_rank(&self) -> u8 {
        match self {
            DataValue::Null => 0,
            DataValue::Bool(_) => 1,
            DataValue::Num(_) => 2,
            DataValue::Str(_) => 3,
            DataValue::Bytes(_) => 4,
            DataValue::Uuid(_) => 5,
            DataValue::Regex(_) => 6,
            DataValue::List(_) => 7,
            DataValue::Set(_) => 8,
            DataValue::Vec(_) => 9,
            DataValue::Json(_) => 10,
            DataValue::Validity(_) => 11,
            DataValue::Bot => 12,
        }
    }
}

impl Ord for DataValue {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self, other) {
            (DataValue::Num(a), DataValue::Num(b)) => a.cmp(b),
            (DataValue::Str(a), DataValue::Str(b)) => a.as_bytes().cmp(b.as_bytes()),
            (DataValue::Bool(a), DataValue::Bool(b)) => a.cmp(b),
            (DataValue::Bytes(a), DataValue::Bytes(b)) => a.cmp(b),
            (DataValue::Uuid(a), DataValue::Uuid(b)) => a.cmp(b),
            (DataValue::Regex(a), DataValue::Regex(b)) => a.cmp(b),
            (DataValue::List(a), DataValue::List(b)) => a.cmp(b),
            (DataValue::Set(a), DataValue::Set(b)) => a.cmp(b),
            (DataValue::Vec(a), DataValue::Vec(b)) => a.cmp(b),
            (DataValue::Json(a), DataValue::Json(b)) => a.cmp(b),
            (DataValue::Validity(a), DataValue::Validity(b)) => a.cmp(b),
            _ => self.type_rank().cmp(&other.type_rank()),
        }
    }
}

impl PartialOrd for DataValue {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for DataValue {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for DataValue {}

/// Ordered by time-high, time-mid, time-low, and then the last 8 bytes.
impl Ord for UuidWrapper {
    fn cmp(&self, other: &Self) -> Ordering {
        fn key(uuid: &uuid::Uuid) -> (u16, u16, u32, [u8; 8]) {
            let (low, mid, high, rest) = uuid.as_fields();
            (high, mid, low, *rest)
        }
        key(&self.0).cmp(&key(&other.0))
    }
}

impl PartialOrd for UuidWrapper {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for RegexWrapper {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.as_str().cmp(other.0.as_str())
    }
}

impl PartialOrd for RegexWrapper {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for RegexWrapper {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for RegexWrapper {}

/// Ordered by the compact text, with sorted object keys.
impl Ord for JsonData {
    fn cmp(&self, other: &Self) -> Ordering {
        self.text().cmp(&other.text())
    }
}

impl PartialOrd for JsonData {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for JsonData {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for JsonData {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::{Num, Validity, Vector};

    /// One value per line of the specification's order, ascending.
    #[test]
    fn total_order_is_the_documented_one() {
        let ascending: Vec<DataValue> = vec![
            DataValue::Null,
            false.into(),
            true.into(),
            (-f64::NAN).into(),
            f64::NEG_INFINITY.into(),
            i64::MIN.into(),
            (-9.007199254740993e15).into(),
            (-1).into(),
            (-1.0).into(),
            (-0.0).into(),
            0.into(),
            0.0.into(),
            1.into(),
            1.0.into(),
            1.5.into(),
            9007199254740992i64.into(),
            9007199254740992.0.into(),
            9007199254740993i64.into(),
            i64::MAX.into(),
            9.3e18.into(),
            f64::INFINITY.into(),
            f64::NAN.into(),
            "".into(),
            "B".into(),
            "a".into(),
            DataValue::Bytes(vec![]),
            DataValue::Bytes(vec![0]),
            DataValue::Uuid(UuidWrapper(uuid::Uuid::nil())),
            DataValue::List(vec![]),
            vec![1].into(),
            vec![1, 2].into(),
            DataValue::Vec(Vector::F32(vec![9.0, 9.0].into())),
            DataValue::Vec(Vector::F64(vec![1.0].into())),
            DataValue::Json(JsonData(serde_json::json!([1]))),
            DataValue::Validity(Validity::from((30, true))),
            DataValue::Validity(Validity::from((30, false))),
            DataValue::Validity(Validity::from((20, true))),
        ];
        for pair in ascending.windows(2) {
            assert!(pair[0] < pair[1], "{:?} must come before {:?}", pair[0], pair[1]);
        }
    }

    #[test]
    fn loose_equality_is_numeric_only_across_int_and_float() {
        assert!(Num::Int(1).loosely_equals(Num::Float(1.0)));
        assert!(Num::Int(0).loosely_equals(Num::Float(-0.0)));
        assert!(!Num::Float(0.0).loosely_equals(Num::Float(-0.0)));
        assert!(Num::Float(f64::NAN).loosely_equals(Num::Float(f64::NAN)));
        assert!(!DataValue::from(vec![1]).loosely_equals(&DataValue::from(vec![1.0])));
    }
}
