//! Numbers: Int and Float are one type with one order.

use std::cmp::Ordering;

/// An integer or a float. `Eq` and `Ord` are by identity: `1` and `1.0` differ, and the Int comes first.
#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
pub enum Num {
    /// A 64-bit integer.
    Int(i64),
    /// A 64-bit float.
    Float(f64),
}

/// 2 to the 63rd: the first float beyond every `i64`.
const TWO_TO_63: f64 = 9_223_372_036_854_775_808.0;

impl Num {
    /// The integer, also of a float that holds one exactly.
    pub fn get_int(self) -> Option<i64> {
        match self {
            Num::Int(value) => Some(value),
            Num::Float(value) if value.fract() == 0.0 && (-TWO_TO_63..TWO_TO_63).contains(&value) => Some(value as i64),
            Num::Float(_) => None,
        }
    }

    /// The number as a float.
    pub fn get_float(self) -> f64 {
        match self {
            Num::Int(value) => value as f64,
            Num::Float(value) => value,
        }
    }

    /// The `==` of CozoScript: an Int and a Float are compared as floats, otherwise identity.
    pub fn loosely_equals(self, other: Num) -> bool {
        match (self, other) {
            (Num::Int(a), Num::Float(b)) | (Num::Float(b), Num::Int(a)) => a as f64 == b,
            _ => self == other,
        }
    }

    /// The order of `<` and `>`: the total order, except that a numerically equal Int and Float tie.
    pub fn loosely_compare(self, other: Num) -> Ordering {
        match (self, other) {
            (Num::Int(a), Num::Float(b)) if a as f64 == b => Ordering::Equal,
            (Num::Float(a), Num::Int(b)) if a == b as f64 => Ordering::Equal,
            _ => self.cmp(&other),
        }
    }
}

/// Compares an integer with a float exactly. If they are equal, the Int comes first, except that `-0.0` comes before `0`.
fn compare_int_float(int: i64, float: f64) -> Ordering {
    if float.is_nan() {
        return if float.is_sign_negative() { Ordering::Greater } else { Ordering::Less };
    }
    if float >= TWO_TO_63 {
        return Ordering::Less;
    }
    if float < -TWO_TO_63 {
        return Ordering::Greater;
    }
    let whole = float.trunc();
    match int.cmp(&(whole as i64)) {
        Ordering::Equal if float > whole => Ordering::Less,
        Ordering::Equal if float < whole => Ordering::Greater,
        Ordering::Equal if float == 0.0 && float.is_sign_negative() => Ordering::Greater,
        Ordering::Equal => Ordering::Less,
        unequal => unequal,
    }
}

impl PartialEq for Num {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Num {}

impl PartialOrd for Num {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Num {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Num::Int(a), Num::Int(b)) => a.cmp(b),
            (Num::Float(a), Num::Float(b)) => a.total_cmp(b),
            (Num::Int(a), Num::Float(b)) => compare_int_float(*a, *b),
            (Num::Float(a), Num::Int(b)) => compare_int_float(*b, *a).reverse(),
        }
    }
}
