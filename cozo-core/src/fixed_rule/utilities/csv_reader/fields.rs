//! The columns of a CSV file, and the conversion of text to their values.

use crate::value::{Batch, Column, DataValue, parse_uuid};

/// The layout of a record.
pub struct Layout {
    /// The columns, in the order of the fields.
    pub fields: Vec<Field>,
    /// The byte between fields.
    pub delimiter: u8,
}

/// A column to read.
pub struct Field {
    pub kind: FieldKind,
    pub nullable: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FieldKind {
    Text,
    Int,
    Float,
    Uuid,
}

/// A part of the records.
pub struct Piece {
    pub rows: Batch,
    /// The number of its lines.
    pub lines: u64,
}

/// A field that does not fit its column.
pub struct Misfit {
    /// The record's number within its piece, from 0.
    pub row: usize,
    /// The number of lines of the piece before the record.
    pub lines_before: u64,
    pub field: usize,
    pub reason: String,
}

/// Appends a field to its column. The error says why it does not fit.
pub fn push(column: &mut Column, field: &Field, text: Option<&str>) -> Result<(), String> {
    let value = match (field.kind, text) {
        (FieldKind::Text, Some(text)) => {
            column.push_str(text);
            return Ok(());
        }
        (kind, Some(text)) => convert(kind, text),
        (_, None) => None,
    };
    match (value, text) {
        (Some(value), _) => column.push_owned(value),
        (None, _) if field.nullable => column.push_owned(DataValue::Null),
        (None, Some(text)) => return Err(format!("{text:?} is not of the type {:?}", field.kind)),
        (None, None) => return Err("the field is missing".to_string()),
    }
    Ok(())
}

fn convert(kind: FieldKind, text: &str) -> Option<DataValue> {
    match kind {
        FieldKind::Text => Some(text.into()),
        // A float with a whole value is accepted as an integer.
        FieldKind::Int => match text.parse::<i64>() {
            Ok(int) => Some(int.into()),
            Err(_) => text.parse::<f64>().ok().and_then(|float| DataValue::from(float).get_int()).map(DataValue::from),
        },
        FieldKind::Float => text.parse::<f64>().ok().map(DataValue::from),
        FieldKind::Uuid => parse_uuid(text).ok().map(DataValue::Uuid),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_converts_as_its_type_says() {
        let table: [(FieldKind, &str, Option<DataValue>); 9] = [
            (FieldKind::Int, "7", Some(7.into())),
            (FieldKind::Int, "7.0", Some(7.into())),
            (FieldKind::Int, "9007199254740993", Some(9_007_199_254_740_993_i64.into())),
            (FieldKind::Int, "7.5", None),
            (FieldKind::Int, "", None),
            (FieldKind::Float, "1e3", Some(1000.0.into())),
            (FieldKind::Float, "much", None),
            (FieldKind::Uuid, "not one", None),
            (FieldKind::Text, "", Some("".into())),
        ];
        for (kind, text, expected) in table {
            assert_eq!(convert(kind, text), expected, "{text:?} as {kind:?}");
        }
    }
}
