//! Values: the dynamic [`DataValue`] of the API, and the typed [`Column`]s and [`Batch`]es that the engine works on.
//!
//! The module owns the total order of all values, which keys, sorting and comparison share. It owns the hash of a value, which is
//! the same in a typed column and alone, and the conversions to and from JSON.
//!
//! | file | what |
//! |---|---|
//! | `column`, `append`, `batch` | columns typed by their values, appending to them, batches |
//! | `primitive`, `strings` | columns of values of one fixed size, and of strings |
//! | `vector`, `vector_column`, `vector_rows` | vectors, and columns of them |
//! | `scalar` | numbers and Booleans, which fit in registers |
//! | `order`, `number`, `hash` | the total order, numbers, the hash |
//! | `sort` | sorting of rows |
//! | `json`, `parse_json`, `digits`, `depth` | JSON, and its limits |
//! | `copy`, `size`, `text` | copies, sizes and texts within the budget of a script |
//! | `validity`, `time_text` | validities, dates and times as texts |
//! | `arrow` | Arrow arrays as columns, and back |
//!
//! ```
//! use cozo::DataValue;
//! assert!(DataValue::from(1) < DataValue::from(1.0)); // a numeric tie puts the Int first
//! assert_eq!(serde_json::Value::from(DataValue::from(vec![1, 2])), serde_json::json!([1, 2]));
//! ```

mod append;
#[cfg(feature = "arrow")]
pub mod arrow;
mod batch;
mod column;
mod convert;
mod copy;
mod depth;
mod digits;
mod display;
mod hash;
mod json;
mod key_starts;
mod number;
mod order;
mod parse_json;
mod primitive;
mod scalar;
mod size;
pub mod sort;
mod strings;
mod text;
mod time_text;
mod validity;
mod vector;
mod vector_column;
mod vector_rows;

use std::collections::BTreeSet;

pub use batch::{Batch, compare_columns};
pub use column::Column;
pub use convert::{ParseError, decode_base64, encode_base64, parse_uuid};
pub use copy::{copy_all, copy_json, extend_with_copies};
pub use depth::{check_depth, check_json_depth};
pub use digits::{loses_digits, lost_integer};
pub use hash::{combine_hashes, hash_row, hash_value};
pub use json::{
    JsonData, element_of_json, elements_of_json, json_text, json_to_value, json_value_of, json_value_within,
    scalar_of_json,
};
pub use key_starts::KeyStarts;
pub use number::Num;
pub use parse_json::{ParsedJson, parse_json};
pub use primitive::Primitive;
pub use scalar::Scalar;
pub use size::{allocated, field_bytes, json_bytes, object_bytes};
pub use strings::StrColumn;
pub use text::TextBuilder;
pub use time_text::{TIME_FORMS, TimeText, parse_time_micros};
pub use validity::{Validity, ValidityTs};
pub use vector::{Vector, VectorRef};
pub use vector_column::VectorColumn;
pub use vector_rows::{VectorElement, VectorRows};

/// A string of which up to 24 bytes are stored inline.
pub type SmallStr = compact_str::CompactString;

/// One row of values.
pub type Tuple = Vec<DataValue>;

/// A UUID that sorts by time first, so that version 1 ids of similar times are neighbours.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, serde::Serialize, serde::Deserialize)]
pub struct UuidWrapper(pub uuid::Uuid);

/// A compiled regular expression. The evaluator makes it for constant patterns, and it is never stored.
#[derive(Clone, Debug)]
pub struct RegexWrapper(pub regex::Regex);

/// Any value that a row can hold.
///
/// `Eq`, `Ord` and `Hash` are by *identity*: `1` and `1.0` are different values. The `==` of CozoScript, which compares an Int
/// with a Float numerically, is [`DataValue::loosely_equals`].
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub enum DataValue {
    /// The absence of a value. It is an ordinary value that equals itself.
    #[default]
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// An integer or a float.
    Num(Num),
    /// A string.
    Str(SmallStr),
    /// A byte string.
    Bytes(Vec<u8>),
    /// A UUID.
    Uuid(UuidWrapper),
    /// A compiled regular expression; internal.
    #[serde(skip)]
    Regex(RegexWrapper),
    /// A list.
    List(Vec<DataValue>),
    /// A set; internal.
    Set(BTreeSet<DataValue>),
    /// A vector of floats of one width.
    Vec(Vector),
    /// A JSON value.
    Json(JsonData),
    /// A time with an assertion or a retraction.
    Validity(Validity),
    /// Greater than any other value; internal.
    Bot,
}

impl DataValue {
    /// The bytes of a Bytes value.
    pub fn get_bytes(&self) -> Option<&[u8]> {
        match self {
            DataValue::Bytes(bytes) => Some(bytes),
            _ => None,
        }
    }

    /// The elements of a List.
    pub fn get_slice(&self) -> Option<&[DataValue]> {
        match self {
            DataValue::List(items) => Some(items),
            _ => None,
        }
    }

    /// The text of a String.
    pub fn get_str(&self) -> Option<&str> {
        match self {
            DataValue::Str(text) => Some(text),
            _ => None,
        }
    }

    /// The integer, also of a Float that holds one exactly.
    pub fn get_int(&self) -> Option<i64> {
        match self {
            DataValue::Num(number) => number.get_int(),
            _ => None,
        }
    }

    /// The number as a float.
    pub fn get_float(&self) -> Option<f64> {
        match self {
            DataValue::Num(number) => Some(number.get_float()),
            _ => None,
        }
    }

    /// The Boolean.
    pub fn get_bool(&self) -> Option<bool> {
        match self {
            DataValue::Bool(value) => Some(*value),
            _ => None,
        }
    }

    /// Whether there are columns of its type. There are columns of nulls too, but not of empty vectors.
    pub fn has_column_type(&self) -> bool {
        match self {
            DataValue::Null | DataValue::Bool(_) | DataValue::Num(_) | DataValue::Str(_) => true,
            DataValue::Vec(vector) => !vector.is_empty(),
            _ => false,
        }
    }

    /// Whether this is null.
    pub fn is_null(&self) -> bool {
        matches!(self, DataValue::Null)
    }

    /// The name of the value's type in errors and documentation.
    pub fn type_name(&self) -> &'static str {
        match self {
            DataValue::Null => "Null",
            DataValue::Bool(_) => "Bool",
            DataValue::Num(Num::Int(_)) => "Int",
            DataValue::Num(Num::Float(_)) => "Float",
            DataValue::Str(_) => "String",
            DataValue::Bytes(_) => "Bytes",
            DataValue::Uuid(_) => "Uuid",
            DataValue::Regex(_) => "Regex",
            DataValue::List(_) | DataValue::Set(_) => "List",
            DataValue::Vec(_) => "Vector",
            DataValue::Json(_) => "Json",
            DataValue::Validity(_) => "Validity",
            DataValue::Bot => "Bot",
        }
    }

    /// The `==` of CozoScript: an Int and a Float are compared as floats, everything else by identity.
    pub fn loosely_equals(&self, other: &DataValue) -> bool {
        match (self, other) {
            (DataValue::Num(a), DataValue::Num(b)) => a.loosely_equals(*b),
            _ => self == other,
        }
    }
}

impl From<bool> for DataValue {
    fn from(value: bool) -> Self {
        DataValue::Bool(value)
    }
}

impl From<i64> for DataValue {
    fn from(value: i64) -> Self {
        DataValue::Num(Num::Int(value))
    }
}

impl From<i32> for DataValue {
    fn from(value: i32) -> Self {
        DataValue::Num(Num::Int(value.into()))
    }
}

impl From<f64> for DataValue {
    fn from(value: f64) -> Self {
        DataValue::Num(Num::Float(value))
    }
}

impl From<Num> for DataValue {
    fn from(value: Num) -> Self {
        DataValue::Num(value)
    }
}

impl From<&str> for DataValue {
    fn from(value: &str) -> Self {
        DataValue::Str(value.into())
    }
}

impl From<String> for DataValue {
    fn from(value: String) -> Self {
        DataValue::Str(value.into())
    }
}

impl From<SmallStr> for DataValue {
    fn from(value: SmallStr) -> Self {
        DataValue::Str(value)
    }
}

/// Bytes from `Vec<u8>`, and a List from a vector of any other type that converts to a value.
impl<T: IntoList> From<Vec<T>> for DataValue {
    fn from(value: Vec<T>) -> Self {
        T::into_list(value)
    }
}

/// The conversion of a vector of such elements: Bytes for `u8`, a List for the rest.
pub trait IntoList: Sized {
    /// The value with all elements.
    fn into_list(items: Vec<Self>) -> DataValue;
}

impl IntoList for u8 {
    fn into_list(items: Vec<u8>) -> DataValue {
        DataValue::Bytes(items)
    }
}

macro_rules! into_list {
    ($($element:ty),*) => {$(
        impl IntoList for $element {
            fn into_list(items: Vec<Self>) -> DataValue {
                DataValue::List(items.into_iter().map(DataValue::from).collect())
            }
        }
    )*};
}
into_list!(bool, i64, i32, f64, &str, String, SmallStr, DataValue, serde_json::Value);

impl<T: IntoList> IntoList for Vec<T> {
    fn into_list(items: Vec<Self>) -> DataValue {
        DataValue::List(items.into_iter().map(DataValue::from).collect())
    }
}
