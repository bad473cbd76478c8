//! Expressions and values as JSON, and back.
//!
//! ```text
//! {"slot": 2}                                                    the value in a slot
//! {"constant": {"type": "Int", "value": 1, "encoded": "..."}}    a value; the base64 of its bytes says exactly which
//! {"call": "add", "arguments": [..., ...]}                       a function of the language
//! {"cases": [{"if": ..., "then": ...}]}                          the first case that holds, or null
//! {"variable": "x"}                                              a column of an input, in an option of a fixed rule
//! ```

use serde_json::{Value, json};

use super::encoding::{decoded_value, encoded_value};
use super::error::PortableError;
use crate::diag::SourceSpan;
use crate::expr::{Expr, functions};
use crate::value::{DataValue, SmallStr, decode_base64, encode_base64};

/// A value with its type. Values that JSON cannot say exactly have their bytes.
pub fn value_json(value: &DataValue) -> miette::Result<Value> {
    let encoded = encode_base64(&encoded_value(value)?);
    Ok(json!({"type": value.type_name(), "value": Value::from(value.clone()), "encoded": encoded}))
}

/// The value of [`value_json`].
pub fn value_of(json: &Value) -> Result<DataValue, PortableError> {
    let wrong = || PortableError::expected("a value", json);
    let bytes = decode_base64(json["encoded"].as_str().ok_or_else(wrong)?).map_err(|_| wrong())?;
    decoded_value(&bytes).map_err(|_| wrong())
}

/// An expression, whose parameters are replaced by their values.
pub fn expr_json(expr: &Expr, parameters: &[&DataValue]) -> miette::Result<Value> {
    written(&expr.with_parameters(parameters))
}

fn written(expr: &Expr) -> miette::Result<Value> {
    Ok(match expr {
        Expr::Constant(value, _) => json!({"constant": value_json(value)?}),
        Expr::Parameter(..) => unreachable!("parameters were replaced by their values"),
        Expr::Variable(name, _) => json!({"variable": name.as_str()}),
        Expr::Slot(slot, _) => json!({"slot": slot}),
        Expr::Call { function, args, .. } => {
            let arguments = args.iter().map(written).collect::<miette::Result<Vec<_>>>()?;
            match function.deterministic {
                true => json!({"call": function.name, "arguments": arguments}),
                false => json!({"call": function.name, "arguments": arguments, "varies": true}),
            }
        }
        Expr::Conditional { branches, .. } => {
            let case = |(condition, value): &(Expr, Expr)| -> miette::Result<Value> {
                Ok(json!({"if": written(condition)?, "then": written(value)?}))
            };
            json!({"cases": branches.iter().map(case).collect::<miette::Result<Vec<_>>>()?})
        }
    })
}

/// The expression of [`expr_json`].
pub fn expr_of(json: &Value) -> Result<Expr, PortableError> {
    let span = SourceSpan::default();
    let wrong = |what: &str| PortableError::expected(what, json);
    let fields = json.as_object().ok_or_else(|| wrong("an expression"))?;
    if let Some(value) = fields.get("constant") {
        return Ok(Expr::Constant(value_of(value)?, span));
    }
    if let Some(slot) = fields.get("slot") {
        return Ok(Expr::Slot(slot_of(slot)?, span));
    }
    if let Some(name) = fields.get("variable").and_then(Value::as_str) {
        return Ok(Expr::Variable(SmallStr::from(name), span));
    }
    if let Some(name) = fields.get("call").and_then(Value::as_str) {
        let function = functions::find(name).ok_or_else(|| wrong("a function of the language"))?;
        let args = list(&json["arguments"])?.iter().map(expr_of).collect::<Result<Vec<_>, _>>()?;
        if !function.arity.accepts(args.len()) {
            return Err(wrong("as many arguments as the function takes"));
        }
        return Ok(Expr::Call { function, args, span });
    }
    let cases = fields.get("cases").ok_or_else(|| wrong("an expression"))?;
    let case = |case: &Value| Ok((expr_of(&case["if"])?, expr_of(&case["then"])?));
    let branches = list(cases)?.iter().map(case).collect::<Result<_, PortableError>>()?;
    Ok(Expr::Conditional { branches, span })
}

/// The number of a slot.
pub fn slot_of(json: &Value) -> Result<usize, PortableError> {
    const MAX_SLOTS: u64 = 1 << 20;
    let slot = json.as_u64().filter(|slot| *slot < MAX_SLOTS);
    Ok(slot.ok_or_else(|| PortableError::expected("the number of a slot", json))? as usize)
}

/// The elements of a list.
pub fn list(json: &Value) -> Result<&[Value], PortableError> {
    Ok(json.as_array().ok_or_else(|| PortableError::expected("a list", json))?)
}
