//! Tests, assignments and lists of an exported plan, on batches of rows.

use std::collections::BTreeMap;

use serde_json::Value;

use super::encoding::{Encoding, decode_all};
use super::error::PortableError;
use super::expression::{expr_of, list, slot_of};
use crate::clock::now_micros;
use crate::expr::functions::quote;
use crate::expr::{Condition, EvalError, Expr, Frame};
use crate::parse::{ast, parse_column_type};
use crate::program::{ProgramError, Resolver, resolve_column_type};
use crate::schema::{ColumnType, coerce};
use crate::value::{Batch, Column, DataValue};

/// An operator that needs no relation.
enum RowOperator {
    Filter(Expr),
    Same(usize, Expr),
    Assign(usize, Expr),
    Unnest(Option<usize>, Expr),
    /// Fits a slot to the type of a column.
    Coerce(usize, ColumnType),
}

/// A column that goes out.
struct Outgoing {
    slot: usize,
    encoding: Encoding,
    /// For [`Encoding::Native`]: the type of the column, for a batch without values.
    declared: Option<String>,
}

/// Operators of a rule that run on each row by itself: `filter`, `same`, `assign` and `unnest`; and `coerce`, which fits a slot to a type
/// of the language. Their order, their functions and their
/// errors are those of a local run.
///
/// ```
/// # fn main() -> cozo::Result<()> {
/// use cozo::PortableRows;
/// use cozo::value::{Batch, Column};
/// let rows = PortableRows::parse(r#"{
///     "inputs": [{"slot": 0, "encoding": "Int"}],
///     "operators": [{"op": "assign", "slot": 1, "value": {"call": "negate", "arguments": [{"call": "is_int", "arguments": [{"slot": 0}]}]}}],
///     "outputs": [{"slot": 1, "encoding": "Bool"}]
/// }"#)?;
/// let batch = rows.run(Batch::new(vec![Column::ints(vec![1, 2])], 2))?;
/// assert_eq!(batch.row(0), vec![cozo::DataValue::from(false)]);
/// # Ok(())
/// # }
/// ```
pub struct PortableRows {
    inputs: Vec<(usize, Encoding)>,
    operators: Vec<RowOperator>,
    outputs: Vec<Outgoing>,
    slots: usize,
}

impl PortableRows {
    /// The operators of a JSON text: `inputs` and `outputs` with their slots and encodings, and `operators` as a plan has them.
    pub fn parse(text: &str) -> miette::Result<Self> {
        let json: Value = serde_json::from_str(text).map_err(|error| PortableError::Malformed(error.to_string()))?;
        Ok(Self::of(&json)?)
    }

    fn of(json: &Value) -> Result<Self, PortableError> {
        let input = |input: &Value| Ok((slot_of(&input["slot"])?, Encoding::parse(&input["encoding"])?));
        let inputs = list(&json["inputs"])?.iter().map(input).collect::<Result<Vec<_>, PortableError>>()?;
        let operators = list(&json["operators"])?.iter().map(operator).collect::<Result<Vec<_>, _>>()?;
        let output = |output: &Value| {
            let encoding = Encoding::parse(&output["encoding"])?;
            let declared = output["type"].as_str().map(str::to_string).or_else(|| encoding.declared());
            Ok(Outgoing { slot: slot_of(&output["slot"])?, encoding, declared })
        };
        let outputs = list(&json["outputs"])?.iter().map(output).collect::<Result<Vec<_>, PortableError>>()?;
        let mut slots = 0;
        let mut filled = |slot: usize| slots = slots.max(slot + 1);
        inputs.iter().for_each(|(slot, _)| filled(*slot));
        outputs.iter().for_each(|output| filled(output.slot));
        for operator in &operators {
            let (slot, expr) = operator.parts();
            slot.into_iter().for_each(&mut filled);
            if let Some(expr) = expr {
                expr.walk(&mut |part| {
                    if let Expr::Slot(slot, _) = part {
                        filled(*slot);
                    }
                });
            }
        }
        Ok(PortableRows { inputs, operators, outputs, slots })
    }

    /// The types that the columns of the output have if there are no rows.
    pub fn declared(&self) -> Vec<Option<String>> {
        self.outputs.iter().map(|output| output.declared.clone()).collect()
    }

    /// The rows that are left of a batch, whose columns are the inputs in their order.
    pub fn run(&self, batch: Batch) -> miette::Result<Batch> {
        Ok(self.rows(batch)?)
    }

    fn rows(&self, batch: Batch) -> Result<Batch, PortableError> {
        let encodings: Vec<Encoding> = self.inputs.iter().map(|(_, encoding)| *encoding).collect();
        let len = batch.len;
        let mut slots = Batch { columns: vec![Column::default(); self.slots], len };
        for ((slot, _), column) in self.inputs.iter().zip(decode_all(&encodings, batch)?) {
            slots.columns[*slot] = column;
        }
        for operator in &self.operators {
            operator.run(&mut slots)?;
        }
        let mut columns = vec![];
        for (position, output) in self.outputs.iter().enumerate() {
            columns.push(output.encoding.encode(position, slots.columns[output.slot].clone())?);
        }
        Ok(Batch { columns, len: slots.len })
    }
}

fn operator(json: &Value) -> Result<RowOperator, PortableError> {
    let (slot, value) = (|| slot_of(&json["slot"]), || expr_of(&json["value"]));
    Ok(match json["op"].as_str() {
        Some("filter") => RowOperator::Filter(expr_of(&json["test"])?),
        Some("same") => RowOperator::Same(slot()?, value()?),
        Some("assign") => RowOperator::Assign(slot()?, value()?),
        Some("unnest") if json["slot"].is_null() => RowOperator::Unnest(None, value()?),
        Some("unnest") => RowOperator::Unnest(Some(slot()?), value()?),
        Some("coerce") => RowOperator::Coerce(slot()?, column_type(&json["type"])?),
        _ => return Err(PortableError::expected("'filter', 'same', 'assign', 'unnest' or 'coerce'", json)),
    })
}

/// A type as scripts write it.
fn column_type(json: &Value) -> Result<ColumnType, PortableError> {
    let wrong = || PortableError::expected("a type of a column", json);
    let written = parse_column_type(json.as_str().ok_or_else(wrong)?).map_err(|_| wrong())?;
    let parameters = BTreeMap::new();
    let mut length = |expr: &ast::Expr| {
        let value = Resolver::standalone(&parameters).expr(expr)?.eval_closed(&[]);
        value.map_err(|_| ProgramError::ListLength { span: expr.span() })
    };
    resolve_column_type(&written, &mut length).map_err(|_| wrong())
}

impl RowOperator {
    fn parts(&self) -> (Option<usize>, Option<&Expr>) {
        match self {
            RowOperator::Filter(expr) => (None, Some(expr)),
            RowOperator::Same(slot, expr) | RowOperator::Assign(slot, expr) => (Some(*slot), Some(expr)),
            RowOperator::Unnest(slot, expr) => (*slot, Some(expr)),
            RowOperator::Coerce(slot, _) => (Some(*slot), None),
        }
    }

    /// Runs on the rows of a batch whose columns are slots. Slots that nothing has filled are empty.
    fn run(&self, slots: &mut Batch) -> Result<(), PortableError> {
        // Functions without arguments that vary, such as `now`, would be called once for no rows.
        if slots.len == 0 {
            return Ok(());
        }
        let frame = Frame { columns: &slots.columns, len: slots.len, parameters: &[] };
        match self {
            RowOperator::Filter(test) => match test.eval_condition(frame)? {
                Condition::All(true) => {}
                Condition::All(false) => take(slots, &[]),
                Condition::Rows(holds) => take(slots, &numbers(&holds)),
            },
            RowOperator::Same(slot, expr) => {
                let wanted = expr.eval(frame)?.into_column(slots.len).map_err(EvalError::from)?;
                let found = &slots.columns[*slot];
                let holds: Vec<bool> = (0..slots.len).map(|row| found.equals_at(row, &wanted, row)).collect();
                take(slots, &numbers(&holds));
            }
            RowOperator::Assign(slot, expr) => {
                let column = expr.eval(frame)?.into_column(slots.len).map_err(EvalError::from)?;
                slots.columns[*slot] = column;
            }
            RowOperator::Coerce(slot, wanted) => {
                let mut fitted = Column::default();
                for value in slots.columns[*slot].iter() {
                    fitted.push_owned(coerce(value, wanted, now_micros())?);
                }
                slots.columns[*slot] = fitted;
            }
            RowOperator::Unnest(slot, expr) => {
                let lists = expr.eval(frame)?.into_column(slots.len).map_err(EvalError::from)?;
                let (mut rows, mut elements) = (vec![], Column::default());
                for row in 0..slots.len {
                    for element in elements_of(&lists.get(row), expr)? {
                        rows.push(row as u32);
                        elements.push_owned(element);
                    }
                }
                take(slots, &rows);
                if let Some(slot) = slot {
                    slots.columns[*slot] = elements;
                }
            }
        }
        Ok(())
    }
}

/// The elements of a list.
fn elements_of(value: &DataValue, expr: &Expr) -> Result<Vec<DataValue>, EvalError> {
    let not_list = || EvalError::NotList { found: quote(value), span: expr.span() };
    let is_list = matches!(value.type_name(), "List" | "Json") && !matches!(value, DataValue::Set(_));
    let elements = if is_list { value.elements()? } else { None };
    Ok(elements.ok_or_else(not_list)?.into_owned())
}

/// The numbers of the rows that hold.
fn numbers(holds: &[bool]) -> Vec<u32> {
    holds.iter().enumerate().filter(|(_, holds)| **holds).map(|(row, _)| row as u32).collect()
}

/// Keeps some rows.
fn take(slots: &mut Batch, rows: &[u32]) {
    for column in slots.columns.iter_mut().filter(|column| !column.is_empty()) {
        *column = column.take(rows);
    }
    slots.len = rows.len();
}
