//! Arguments of functions by type, with one wording for all refusals.
//!
//! Each helper takes the function's name, its arguments and the number of the argument. A refusal reads `chunks: argument 2 must
//! be an integer, found "a" (String)`.

use std::borrow::Cow;
use std::fmt::Write;

use crate::expr::FunctionError;
use crate::value::{DataValue, Num, Vector, copy_all};

/// The result of a function.
pub(super) type Outcome = Result<DataValue, FunctionError>;

/// The most elements that a function will make in one list.
pub(super) const MAX_LIST_LENGTH: usize = 100_000_000;

/// The most bytes of a text that a function makes by repetition.
const MAX_TEXT_BYTES: usize = 1 << 30;

/// How much of an offending value an error quotes, in bytes.
const QUOTED_BYTES: usize = 80;

/// An error of the function.
pub(super) fn fail<T>(function: &str, reason: impl std::fmt::Display) -> Result<T, FunctionError> {
    Err(FunctionError::new(format!("{function}: {reason}")))
}

/// The error for an argument of the wrong type or value.
pub(super) fn unexpected(function: &str, args: &[DataValue], i: usize, expected: &str) -> FunctionError {
    let found = quote(&args[i]);
    if let [left, right] = args
        && let Some(action) = refused_operation(function, left, right)
    {
        return FunctionError::new(format!("{action}: {} is not {expected}", shown(&args[i])));
    }
    FunctionError::new(match args.len() {
        1 => format!("{function}: expected {expected}, found {found}"),
        _ => format!("{function}: argument {} must be {expected}, found {found}", i + 1),
    })
}

/// What an operator was to do, as people say it: `cannot add 1 and null`.
fn refused_operation(function: &str, left: &DataValue, right: &DataValue) -> Option<String> {
    let (left, right) = (shown(left), shown(right));
    Some(match function {
        "add" => format!("cannot add {left} and {right}"),
        "sub" => format!("cannot subtract {right} from {left}"),
        "mul" => format!("cannot multiply {left} by {right}"),
        "div" => format!("cannot divide {left} by {right}"),
        "mod" => format!("cannot divide {left} by {right} for a remainder"),
        "pow" => format!("cannot raise {left} to the power {right}"),
        "concat" => format!("cannot join {left} and {right}"),
        _ => return None,
    })
}

fn shown(value: &DataValue) -> String {
    shorten(value, QUOTED_BYTES, "...")
}

/// The error for integers that leave 64 bits.
pub(super) fn overflow(function: &str) -> FunctionError {
    FunctionError::new(format!("{function}: integer overflow"))
}

/// Refuses a text of more than [`MAX_TEXT_BYTES`].
pub(super) fn check_text(function: &str, bytes: Option<usize>) -> Result<usize, FunctionError> {
    match bytes {
        Some(bytes) if bytes <= MAX_TEXT_BYTES => Ok(bytes),
        _ => fail(function, format!("the text would be too long: at most {MAX_TEXT_BYTES} bytes are allowed")),
    }
}

/// Refuses a list of more than [`MAX_LIST_LENGTH`] elements.
pub(super) fn check_length(function: &str, length: u128) -> Result<usize, FunctionError> {
    match usize::try_from(length) {
        Ok(length) if length <= MAX_LIST_LENGTH => Ok(length),
        _ => fail(function, format!("the list would be too long: {length} elements, at most {MAX_LIST_LENGTH}")),
    }
}

/// The value, cut short if it is long, and its type.
pub fn quote(value: &DataValue) -> String {
    format!("{} ({})", shorten(value, QUOTED_BYTES, "..."), value.type_name())
}

/// The value as text; if it is longer than so many bytes, cut and followed by `dots`.
pub fn shorten(value: &DataValue, bytes: usize, dots: &str) -> String {
    let mut quoted = Limited { text: String::new(), bytes };
    let complete = quoted.value(value).is_ok();
    if !complete {
        quoted.text.push_str(dots);
    }
    quoted.text
}

/// Takes text up to a limit and fails beyond it, so that a huge value is not printed in full only to be cut.
struct Limited {
    text: String,
    bytes: usize,
}

impl Write for Limited {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        let room = self.bytes.saturating_sub(self.text.len());
        let cut = floor_char_boundary(text, room);
        self.text.push_str(&text[..cut]);
        if cut < text.len() { Err(std::fmt::Error) } else { Ok(()) }
    }
}

impl Limited {
    /// Writes a value as it prints. The parts that print through one text of their own are cut before.
    fn value(&mut self, value: &DataValue) -> std::fmt::Result {
        match value {
            DataValue::Str(text) if text.len() > self.bytes => {
                let cut = floor_char_boundary(text, self.bytes);
                write!(self, "{}", DataValue::from(&text[..cut]))?;
                Err(std::fmt::Error)
            }
            DataValue::Bytes(bytes) if bytes.len() > self.bytes => {
                write!(self, "{}", DataValue::from(bytes[..self.bytes].to_vec()))?;
                Err(std::fmt::Error)
            }
            DataValue::List(items) => self.list(items),
            DataValue::Json(json) if json.0.is_object() => self.json(&json.0),
            DataValue::Json(json) => {
                self.write_str("json(")?;
                self.json(&json.0)?;
                self.write_str(")")
            }
            other => write!(self, "{other}"),
        }
    }

    fn list(&mut self, items: &[DataValue]) -> std::fmt::Result {
        self.write_str("[")?;
        for (i, item) in items.iter().enumerate() {
            self.write_str(if i > 0 { ", " } else { "" })?;
            self.value(item)?;
        }
        self.write_str("]")
    }

    /// Writes JSON, whose own writer stops where this one does.
    fn json(&mut self, json: &serde_json::Value) -> std::fmt::Result {
        struct Bytes<'a>(&'a mut Limited);
        impl std::io::Write for Bytes<'_> {
            fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
                let text = String::from_utf8_lossy(bytes);
                self.0.write_str(&text).map_err(std::io::Error::other)?;
                Ok(bytes.len())
            }

            fn flush(&mut self) -> std::io::Result<()> {
                Ok(())
            }
        }
        serde_json::to_writer(Bytes(self), json).map_err(|_| std::fmt::Error)
    }
}

/// The end of the last character that fits into so many bytes.
fn floor_char_boundary(text: &str, bytes: usize) -> usize {
    if bytes >= text.len() {
        return text.len();
    }
    (0..=bytes).rev().find(|i| text.is_char_boundary(*i)).unwrap_or(0)
}

macro_rules! typed_arguments {
    ($($(#[$doc:meta])* $name:ident: $type:ty, $expected:literal, $pattern:pat => $result:expr;)*) => {$(
        $(#[$doc])*
        #[allow(clippy::needless_lifetimes)] // only the types that borrow need it
        pub(super) fn $name<'a>(function: &str, args: &'a [DataValue], i: usize) -> Result<$type, FunctionError> {
            match &args[i] {
                $pattern => Ok($result),
                _ => Err(unexpected(function, args, i, $expected)),
            }
        }
    )*};
}

typed_arguments! {
    /// A Bool.
    boolean: bool, "a Bool", DataValue::Bool(value) => *value;
    /// Bytes.
    bytes: &'a [u8], "Bytes", DataValue::Bytes(value) => value;
    /// A number, as a float.
    float: f64, "a number", DataValue::Num(value) => value.get_float();
    /// An Int or a Float.
    number: Num, "a number", DataValue::Num(value) => *value;
    /// A String.
    string: &'a str, "a String", DataValue::Str(text) => text;
    /// A Vector.
    vector: &'a Vector, "a vector", DataValue::Vec(vector) => vector;
}

/// The elements of a List or a Json array.
pub(super) fn list<'a>(function: &str, args: &'a [DataValue], i: usize) -> Result<Cow<'a, [DataValue]>, FunctionError> {
    args[i].elements()?.ok_or_else(|| unexpected(function, args, i, "a List or a Json array"))
}

/// As [`list`], as elements of its own.
pub(super) fn owned_list(function: &str, args: &[DataValue], i: usize) -> Result<Vec<DataValue>, FunctionError> {
    match list(function, args, i)? {
        Cow::Borrowed(items) => Ok(copy_all(items)?),
        Cow::Owned(items) => Ok(items),
    }
}

/// A number of things: an integer from 0.
pub(super) fn count(function: &str, args: &[DataValue], i: usize) -> Result<usize, FunctionError> {
    usize::try_from(int(function, args, i)?).map_err(|_| unexpected(function, args, i, "an integer from 0"))
}

/// An integer, also one written as a Float such as `2.0`.
pub(super) fn int(function: &str, args: &[DataValue], i: usize) -> Result<i64, FunctionError> {
    args[i].get_int().ok_or_else(|| unexpected(function, args, i, "an integer"))
}

/// A length: an integer from 1.
pub(super) fn positive(function: &str, args: &[DataValue], i: usize) -> Result<usize, FunctionError> {
    let value = int(function, args, i)?;
    match usize::try_from(value) {
        Ok(value) if value > 0 => Ok(value),
        _ => Err(unexpected(function, args, i, "a positive integer")),
    }
}
