//! `bit_and`, `bit_or` and `bit_xor`: bitwise operations over Bytes of equal lengths.

use super::folded::folded;
use super::{Aggregation, Meet, unexpected};
use crate::expr::FunctionError;
use crate::value::DataValue;

pub(super) static BIT_AND: Aggregation = Aggregation {
    name: "bit_and",
    parameters: &["bytes"],
    doc: "The bitwise conjunction of Bytes, all of one length. Nulls are an error; no rows give empty Bytes.",
    examples: &[
        ("?[bit_and(b)] := x in ['Dw==', 'PA=='], b = decode_base64(x)", "decode_base64('DA==')"),
        ("?[bit_and(b)] := b in [15]", ""),
    ],
    order_matters: false,
    start: |_| Ok(folded(&AND_FOLD, no_bytes)),
    meet: Some(AND_FOLD),
};

pub(super) static BIT_OR: Aggregation = Aggregation {
    name: "bit_or",
    parameters: &["bytes"],
    doc: "The bitwise disjunction of Bytes, all of one length. Nulls are an error; no rows give empty Bytes.",
    examples: &[
        ("?[bit_or(b)] := x in ['Dw==', 'PA=='], b = decode_base64(x)", "decode_base64('Pw==')"),
        ("?[bit_or(b)] := b in [null]", ""),
    ],
    order_matters: false,
    start: |_| Ok(folded(&OR_FOLD, no_bytes)),
    meet: Some(OR_FOLD),
};

pub(super) static BIT_XOR: Aggregation = Aggregation {
    name: "bit_xor",
    parameters: &["bytes"],
    doc: "The bitwise exclusive disjunction of Bytes, all of one length. Nulls are an error; no rows give empty Bytes.",
    examples: &[
        ("?[bit_xor(b)] := x in ['Dw==', 'PA=='], b = decode_base64(x)", "decode_base64('Mw==')"),
        ("?[bit_xor(b)] := b in [null]", ""),
    ],
    order_matters: false,
    start: |_| Ok(folded(&XOR_FOLD, no_bytes)),
    meet: None,
};

const AND_FOLD: Meet = Meet {
    start: |value| check("bit_and", value),
    improve: |current, new| combine("bit_and", current, new, |a, b| a & b),
    int_improves: None,
};

const OR_FOLD: Meet = Meet {
    start: |value| check("bit_or", value),
    improve: |current, new| combine("bit_or", current, new, |a, b| a | b),
    int_improves: None,
};

/// Not a meet (it is not idempotent), but folded alike.
const XOR_FOLD: Meet = Meet {
    start: |value| check("bit_xor", value),
    improve: |current, new| combine("bit_xor", current, new, |a, b| a ^ b),
    int_improves: None,
};

fn no_bytes() -> DataValue {
    DataValue::Bytes(vec![])
}

fn check(name: &str, value: DataValue) -> Result<DataValue, FunctionError> {
    match value {
        DataValue::Bytes(_) => Ok(value),
        other => Err(unexpected(name, "Bytes", &other)),
    }
}

fn combine(
    name: &str,
    current: &mut DataValue,
    new: &DataValue,
    operation: fn(u8, u8) -> u8,
) -> Result<bool, FunctionError> {
    let (current, new) = match (current, new) {
        (DataValue::Bytes(current), DataValue::Bytes(new)) => (current, new),
        (DataValue::Bytes(_), other) => return Err(unexpected(name, "Bytes", other)),
        (other, _) => return Err(unexpected(name, "Bytes", other)),
    };
    if current.len() != new.len() {
        let (here, there) = (current.len(), new.len());
        return Err(FunctionError::new(format!("{name}: Bytes must have equal lengths, found {here} and {there}")));
    }
    let mut changed = false;
    for (byte, other) in current.iter_mut().zip(new) {
        let combined = operation(*byte, *other);
        changed |= combined != *byte;
        *byte = combined;
    }
    Ok(changed)
}
