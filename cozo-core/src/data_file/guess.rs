//! The narrowest type of a column from its values.

use serde_json::Value;

use crate::value::{DataValue, loses_digits};

/// The type of a column, as far as its values were seen.
#[derive(Clone, Copy, Default, Debug)]
pub struct TypeGuess {
    nulls: bool,
    kind: Option<GuessedKind>,
}

/// A type of values.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum GuessedKind {
    /// Integers.
    Int,
    /// Integers, some of which would lose digits as floats.
    LargeInt,
    /// Floats and perhaps integers.
    Float,
    /// `true` and `false`.
    Bool,
    /// Text.
    String,
    /// Lists, objects, and values of several types.
    Json,
}

impl TypeGuess {
    /// Notes a missing value.
    pub fn add_null(&mut self) {
        self.nulls = true;
    }

    /// Notes a field of CSV. An empty one is missing.
    pub fn add_text(&mut self, text: &str) {
        if text.is_empty() {
            self.nulls = true;
        } else if self.kind != Some(GuessedKind::String) {
            self.join(GuessedKind::of_text(text.trim()), GuessedKind::String);
        }
    }

    /// Notes a value of JSON.
    pub fn add_json(&mut self, value: &Value) {
        match GuessedKind::of_json(value) {
            None => self.nulls = true,
            Some(found) => self.join(found, GuessedKind::Json),
        }
    }

    fn join(&mut self, found: GuessedKind, mixed: GuessedKind) {
        self.kind = Some(self.kind.map_or(found, |kind| kind.union(found, mixed)));
    }

    /// The type of the values that are not missing. `None` if there are none.
    pub fn kind(&self) -> Option<GuessedKind> {
        self.kind
    }

    /// The type as in a declaration of columns, such as `Int?`.
    pub fn column_type(&self) -> String {
        let name = match self.kind {
            Some(GuessedKind::Int | GuessedKind::LargeInt) => "Int",
            Some(GuessedKind::Float) => "Float",
            Some(GuessedKind::Bool) => "Bool",
            Some(GuessedKind::String) => "String",
            Some(GuessedKind::Json) | None => "Any",
        };
        format!("{name}{}", if self.nulls { "?" } else { "" })
    }

    /// The value of a field of CSV that was noted.
    pub fn value_of_text(&self, text: &str) -> DataValue {
        let trimmed = text.trim();
        let value = match self.kind {
            _ if text.is_empty() => Some(DataValue::Null),
            Some(GuessedKind::Int | GuessedKind::LargeInt) => trimmed.parse::<i64>().ok().map(DataValue::from),
            Some(GuessedKind::Float) => trimmed.parse::<f64>().ok().map(DataValue::from),
            Some(GuessedKind::Bool) => trimmed.parse::<bool>().ok().map(DataValue::from),
            _ => None,
        };
        value.unwrap_or_else(|| DataValue::from(text))
    }

    /// A value of JSON that was noted, as a value of the column.
    pub fn value_of_json(&self, value: DataValue) -> DataValue {
        match (self.kind, value.get_int()) {
            (Some(GuessedKind::Float), Some(int)) => DataValue::from(int as f64),
            _ => value,
        }
    }
}

impl GuessedKind {
    fn of_text(text: &str) -> Self {
        // Leading zeros and plus signs are for codes and telephone numbers, which must stay as they are.
        let digits = text.trim_start_matches('-');
        let plain = digits.starts_with(|first: char| first.is_ascii_digit())
            && !(digits.len() > 1 && digits.starts_with('0') && !digits.starts_with("0."));
        let int = || text.parse::<i64>().ok();
        let float = || text.parse::<f64>().ok().filter(|value| value.is_finite() && !loses_digits(text));
        match text {
            "true" | "false" => GuessedKind::Bool,
            _ if !plain => GuessedKind::String,
            _ => int()
                .map(GuessedKind::of_int)
                .or_else(|| float().map(|_| GuessedKind::Float))
                .unwrap_or(GuessedKind::String),
        }
    }

    fn of_json(value: &Value) -> Option<Self> {
        Some(match value {
            Value::Null => return None,
            Value::Number(number) => number.as_i64().map_or(GuessedKind::Float, GuessedKind::of_int),
            Value::Bool(_) => GuessedKind::Bool,
            Value::String(_) => GuessedKind::String,
            Value::Array(_) | Value::Object(_) => GuessedKind::Json,
        })
    }

    fn of_int(value: i64) -> Self {
        if is_exact_float(value) { GuessedKind::Int } else { GuessedKind::LargeInt }
    }

    /// The narrowest type of both, `mixed` if they have nothing in common.
    fn union(self, other: GuessedKind, mixed: GuessedKind) -> GuessedKind {
        match (self, other) {
            _ if self == other => self,
            (GuessedKind::Int, GuessedKind::LargeInt) | (GuessedKind::LargeInt, GuessedKind::Int) => {
                GuessedKind::LargeInt
            }
            (GuessedKind::Int, GuessedKind::Float) | (GuessedKind::Float, GuessedKind::Int) => GuessedKind::Float,
            _ => mixed,
        }
    }
}

/// Whether an integer is the same as a float.
pub fn is_exact_float(value: i64) -> bool {
    value as f64 as i128 == i128::from(value)
}

/// The reason to refuse an integer of JSON that no number holds.
pub fn beyond_numbers(integer: &str) -> String {
    format!("{integer} is beyond Int, and Float would not keep its digits: write it as a string")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn type_of(cells: &[&str]) -> String {
        let mut guess = TypeGuess::default();
        cells.iter().for_each(|cell| guess.add_text(cell));
        guess.column_type()
    }

    #[test]
    fn types_of_text() {
        assert_eq!(type_of(&["1", "-2"]), "Int");
        assert_eq!(type_of(&["1", "", "2.5"]), "Float?");
        assert_eq!(type_of(&["true", "false"]), "Bool");
        assert_eq!(type_of(&["true", "1"]), "String");
        assert_eq!(type_of(&["007"]), "String");
        assert_eq!(type_of(&["1,5"]), "String");
        assert_eq!(type_of(&["nan", "inf"]), "String");
        assert_eq!(type_of(&["100000000000000000000"]), "Float");
        assert_eq!(type_of(&["99999999999999999999"]), "String");
        assert_eq!(type_of(&["9007199254740993", "1"]), "Int");
        assert_eq!(type_of(&["9007199254740993", "0.5"]), "String");
        assert_eq!(type_of(&["0.5", "1", "9007199254740993"]), "String");
        assert_eq!(type_of(&["9007199254740992", "0.5"]), "Float");
        assert_eq!(type_of(&[""]), "Any?");
    }

    #[test]
    fn types_of_json() {
        let type_of = |texts: &[&str]| {
            let mut guess = TypeGuess::default();
            texts.iter().for_each(|text| guess.add_json(&serde_json::from_str(text).expect("it is JSON")));
            guess.column_type()
        };
        assert_eq!(type_of(&["1", "\"a\""]), "Any");
        assert_eq!(type_of(&["1", "2.5", "null"]), "Float?");
        assert_eq!(type_of(&["9007199254740993", "0.5"]), "Any");
        assert_eq!(type_of(&["9223372036854775808"]), "Float");
    }
}
