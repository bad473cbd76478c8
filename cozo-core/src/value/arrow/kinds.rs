//! The kinds of a column's values over several batches, and the Arrow types that follow.

use std::sync::Arc;

use arrow_array::{RecordBatch, RecordBatchOptions};
use arrow_schema::{ArrowError, Field, Schema, SchemaRef};

use super::to_arrow;
use crate::value::{Batch, Column, DataValue, Num, Vector, VectorColumn};

/// Integers up to this have an equal float.
const MAX_EXACT_INT: u64 = 1 << 53;

/// The conversion of a column with integers and floats.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Numbers {
    /// All become floats, if no integer loses digits.
    Widened,
    /// Each retains its type, as JSON.
    Kept,
}

/// The Arrow types of the columns of some batches.
#[derive(Clone, Debug)]
pub struct ArrowTypes {
    columns: Vec<Seen>,
    numbers: Numbers,
}

impl ArrowTypes {
    /// The types of `width` columns without values yet.
    pub fn new(width: usize, numbers: Numbers) -> Self {
        ArrowTypes { columns: vec![Seen::default(); width], numbers }
    }

    /// Adds the values of a batch.
    pub fn add(&mut self, rows: &Batch) {
        self.columns.iter_mut().zip(&rows.columns).for_each(|(seen, column)| seen.add(column, self.numbers));
    }

    /// Gives a column without values the Arrow type of a column type, such as `Int`. Types that Arrow lacks are ignored.
    pub fn declare(&mut self, column: usize, column_type: &str) {
        let Some(seen) = self.columns.get_mut(column).filter(|seen| seen.kind.is_none()) else { return };
        seen.kind = match column_type.trim_end_matches('?') {
            "Bool" => Some(Kind::Bool),
            "Int" => Some(Kind::Int),
            "Float" => Some(Kind::Float),
            "String" => Some(Kind::Str),
            "Bytes" => Some(Kind::Bytes),
            "Uuid" => Some(Kind::Uuid),
            "Json" => Some(Kind::Document),
            "Validity" => Some(Kind::Validity),
            other => vector_kind(other),
        };
    }

    /// [`ArrowTypes::declare`] for the columns whose types are known.
    pub fn declare_known(&mut self, types: &[Option<String>]) {
        let known = types.iter().enumerate().filter_map(|(column, known)| Some((column, known.as_deref()?)));
        known.for_each(|(column, column_type)| self.declare(column, column_type));
    }

    /// The positions of columns with values of several types that do not all survive JSON. Bytes and UUIDs come back as strings, and
    /// vectors as lists.
    pub fn lossy(&self) -> impl Iterator<Item = usize> + '_ {
        let lossy = |seen: &Seen| seen.kind == Some(Kind::Json) && !seen.survives_json;
        self.columns.iter().enumerate().filter(move |(_, seen)| lossy(seen)).map(|(position, _)| position)
    }

    /// The schema of all batches.
    pub fn schema(&self, headers: &[String]) -> Result<SchemaRef, ArrowError> {
        Ok(self.batch(headers, Batch::empty(self.columns.len()))?.schema())
    }

    /// Converts a batch whose values were added to Arrow. It is an error if an array would have more than two gigabytes of JSON, or a
    /// vector more elements than an `i32` can count.
    pub fn batch(&self, headers: &[String], rows: Batch) -> Result<RecordBatch, ArrowError> {
        let (mut fields, mut arrays) = (vec![], vec![]);
        for ((header, column), seen) in headers.iter().zip(rows.columns).zip(&self.columns) {
            let array = to_arrow::array(column, seen.kind)?;
            let field = Field::new(header, array.data_type().clone(), true);
            fields.push(field.with_metadata(to_arrow::metadata(seen.kind)));
            arrays.push(array);
        }
        let options = RecordBatchOptions::new().with_row_count(Some(rows.len));
        RecordBatch::try_new_with_options(Arc::new(Schema::new(fields)), arrays, &options)
    }
}

/// The kind of a type of vectors, such as `<F32;3>`.
fn vector_kind(column_type: &str) -> Option<Kind> {
    let (element, len) = column_type.strip_prefix('<')?.strip_suffix('>')?.split_once(';')?;
    let wide = match element.trim() {
        "F32" => false,
        "F64" => true,
        _ => return None,
    };
    Some(Kind::Vector { wide, len: len.trim().parse().ok()? })
}

/// The values of a column seen so far.
#[derive(Clone, Copy, Debug)]
struct Seen {
    /// `None` if there were only nulls.
    kind: Option<Kind>,
    survives_json: bool,
}

impl Default for Seen {
    fn default() -> Self {
        Seen { kind: None, survives_json: true }
    }
}

impl Seen {
    fn add(&mut self, column: &Column, numbers: Numbers) {
        match column {
            Column::Null(_) => {}
            Column::Bool(_) => self.join(Kind::Bool, numbers),
            Column::Int(ints) => {
                let exact = ints.values.iter().all(|value| value.unsigned_abs() <= MAX_EXACT_INT);
                self.join(if exact { Kind::Int } else { Kind::LargeInt }, numbers);
            }
            Column::Float(floats) => {
                self.join(Kind::Float, numbers);
                self.survives_json &= floats.values.iter().all(|value| value.is_finite());
            }
            Column::Str(_) => self.join(Kind::Str, numbers),
            Column::Vec(vectors) => {
                let wide = matches!(vectors, VectorColumn::F64(_));
                self.join(Kind::Vector { wide, len: vectors.dim() }, numbers);
                self.survives_json = false;
            }
            Column::Any(values) => values.iter().filter(|value| !value.is_null()).for_each(|value| {
                self.join(Kind::of(value), numbers);
                self.survives_json &= survives_json(value);
            }),
        }
    }

    fn join(&mut self, kind: Kind, numbers: Numbers) {
        self.kind = Some(self.kind.map_or(kind, |before| before.join(kind, numbers)));
    }
}

/// The kind of a column's values, without nulls.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Kind {
    Bool,
    /// Integers that all have equal floats.
    Int,
    /// Integers, some of which would lose digits as floats.
    LargeInt,
    /// Floats, or floats and integers with equal floats.
    Float,
    Str,
    Bytes,
    Uuid,
    Validity,
    /// Vectors of one width and length.
    Vector {
        wide: bool,
        len: usize,
    },
    /// Only values of the type Json.
    Document,
    /// Lists, and values of several types.
    Json,
}

impl Kind {
    fn of(value: &DataValue) -> Kind {
        match value {
            DataValue::Bool(_) => Kind::Bool,
            DataValue::Num(Num::Int(value)) if value.unsigned_abs() <= MAX_EXACT_INT => Kind::Int,
            DataValue::Num(Num::Int(_)) => Kind::LargeInt,
            DataValue::Num(Num::Float(_)) => Kind::Float,
            DataValue::Str(_) => Kind::Str,
            DataValue::Bytes(_) => Kind::Bytes,
            DataValue::Uuid(_) => Kind::Uuid,
            DataValue::Validity(_) => Kind::Validity,
            DataValue::Vec(vector) if !vector.is_empty() => {
                Kind::Vector { wide: matches!(vector, Vector::F64(_)), len: vector.len() }
            }
            DataValue::Json(_) => Kind::Document,
            _ => Kind::Json,
        }
    }

    fn join(self, other: Kind, numbers: Numbers) -> Kind {
        match (self, other) {
            (a, b) if a == b => a,
            (Kind::Int, Kind::LargeInt) | (Kind::LargeInt, Kind::Int) => Kind::LargeInt,
            (Kind::Int, Kind::Float) | (Kind::Float, Kind::Int) if numbers == Numbers::Widened => Kind::Float,
            _ => Kind::Json,
        }
    }
}

/// Whether a value is the same after a conversion to JSON and back.
fn survives_json(value: &DataValue) -> bool {
    match value {
        DataValue::Null | DataValue::Bool(_) | DataValue::Num(Num::Int(_)) | DataValue::Str(_) => true,
        DataValue::Num(Num::Float(value)) => value.is_finite(),
        DataValue::List(items) => items.iter().all(survives_json),
        DataValue::Json(value) => value.0.is_object(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::arrow::columns;
    use crate::value::{JsonData, UuidWrapper, Validity};
    use serde_json::json;

    /// The values of two batches with one column each after a round trip, and whether the column is reported as lossy.
    fn round_trip(first: &[DataValue], second: &[DataValue]) -> (Vec<DataValue>, bool) {
        let batches = [first, second].map(|values| Batch::new(vec![values.iter().cloned().collect()], values.len()));
        let mut types = ArrowTypes::new(1, Numbers::Kept);
        batches.iter().for_each(|batch| types.add(batch));
        let headers = ["a".to_string()];
        let schema = types.schema(&headers).expect("it has a schema");
        let back = batches.into_iter().flat_map(|batch| {
            let arrow = types.batch(&headers, batch).expect("it becomes Arrow");
            assert_eq!(arrow.schema(), schema);
            columns(&arrow).expect("it comes back").columns.remove(0).iter().collect::<Vec<_>>()
        });
        (back.collect(), types.lossy().next().is_some())
    }

    #[test]
    fn values_survive_over_batches() {
        let vector = |items: Vec<f32>| DataValue::Vec(Vector::F32(items.into()));
        let validity = |micros, asserts| DataValue::Validity(Validity::from((micros, asserts)));
        let document = |value| DataValue::Json(JsonData(value));
        let wide = |items: Vec<f64>| DataValue::Vec(Vector::F64(items.into()));
        let table: [[DataValue; 3]; 17] = [
            [1.into(), i64::MAX.into(), DataValue::Null],
            [1.into(), 2.into(), 2.5.into()],
            [i64::MIN.into(), DataValue::Null, 1.0.into()],
            [true.into(), DataValue::Null, false.into()],
            ["a".into(), "".into(), DataValue::Null],
            ["a".into(), DataValue::Null, 1.into()],
            [DataValue::Bytes(vec![0, 255]), DataValue::Bytes(vec![]), DataValue::Null],
            [DataValue::Uuid(UuidWrapper(uuid::Uuid::from_u128(7))), DataValue::Null, DataValue::Null],
            [vector(vec![1.0, 2.0]), DataValue::Null, vector(vec![3.0, f32::NAN])],
            [DataValue::Null, DataValue::Null, vector(vec![1.0, 2.0])],
            [vector(vec![1.0, 2.0]), vector(vec![3.0, 4.0]), DataValue::Null],
            [wide(vec![1.0]), wide(vec![0.1]), wide(vec![f64::INFINITY])],
            [DataValue::Null, wide(vec![1.0, 0.5]), DataValue::Null],
            [validity(5, true), validity(-6, false), DataValue::Null],
            [document(json!([1, "a"])), document(json!(null)), document(json!({"k": 1.0}))],
            [DataValue::from(vec![1, 2]), DataValue::List(vec![]), document(json!({"k": [1, {}]}))],
            [f64::NAN.into(), f64::NEG_INFINITY.into(), (-0.0).into()],
        ];
        for [a, b, c] in table {
            let (back, lossy) = round_trip(&[a.clone(), b.clone()], &[c.clone(), DataValue::Null]);
            assert_eq!(back, [a, b, c, DataValue::Null]);
            assert!(!lossy, "{back:?}");
        }
    }

    #[test]
    fn what_is_lost_is_known() {
        for (a, b) in [
            (DataValue::Bytes(vec![1]), DataValue::from(1)),
            (DataValue::from(f64::NAN), DataValue::from(1)),
            (DataValue::Json(JsonData(json!([1]))), DataValue::from(vec![1])),
            (DataValue::Uuid(UuidWrapper(uuid::Uuid::from_u128(7))), DataValue::from(1)),
        ] {
            assert!(round_trip(std::slice::from_ref(&a), std::slice::from_ref(&b)).1, "{a} {b}");
        }
    }

    #[test]
    fn empty_columns_have_declared_types() {
        let mut types = ArrowTypes::new(2, Numbers::Kept);
        types.declare(0, "Int?");
        types.declare(1, "Any");
        let schema = types.schema(&["a".to_string(), "b".to_string()]).expect("it has a schema");
        assert_eq!(schema.field(0).data_type(), &arrow_schema::DataType::Int64);
        assert_eq!(schema.field(1).data_type(), &arrow_schema::DataType::Null);
    }
}
