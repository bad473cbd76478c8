//! Options that are expressions over the columns of inputs: sort keys, conditions, heuristics, weights.

use super::{FixedRuleError, Poison};
use crate::expr::{Expr, Frame};
use crate::parse::ast::Symbol;
use crate::value::{Batch, Column, DataValue};

/// The number of rows evaluated between two checks of the poison.
const ROWS_PER_CHECK: usize = 16 * 1024;

/// Replaces the variables of an expression by slots. `bindings` has the names of the inputs' columns; see
/// [`Input::bound_columns`](super::Input::bound_columns).
pub fn bind(expr: &Expr, bindings: &[(&Symbol, usize)]) -> Result<Expr, FixedRuleError> {
    let mut unbound: Option<FixedRuleError> = None;
    let bound = expr.map_leaves(&mut |leaf| match leaf {
        Expr::Variable(name, span) => match bindings.iter().find(|(binding, _)| binding.name == *name) {
            Some((_, slot)) => Expr::Slot(*slot, *span),
            None => {
                unbound.get_or_insert_with(|| {
                    let known: Vec<&str> = bindings.iter().map(|(binding, _)| binding.as_str()).collect();
                    FixedRuleError::BadBinding { name: name.to_string(), known: known.join(", "), span: *span }
                });
                leaf.clone()
            }
        },
        other => other.clone(),
    });
    unbound.map_or(Ok(bound), Err)
}

/// The elements of an expression that is a list.
pub fn list_items(expr: &Expr) -> Option<Vec<Expr>> {
    match expr {
        Expr::Call { function, args, .. } if function.name == "list" => Some(args.clone()),
        Expr::Constant(DataValue::List(items), span) => {
            Some(items.iter().map(|item| Expr::Constant(item.clone(), *span)).collect())
        }
        _ => None,
    }
}

/// The value of a bound expression for each row of a batch.
pub fn evaluate(expr: &Expr, rows: &Batch, poison: &Poison) -> Result<Column, FixedRuleError> {
    if rows.len <= ROWS_PER_CHECK {
        let frame = Frame { columns: &rows.columns, len: rows.len, parameters: &[] };
        return Ok(expr.eval(frame)?.into_column(rows.len)?);
    }
    let mut all = Column::default();
    for start in (0..rows.len).step_by(ROWS_PER_CHECK) {
        poison.check()?;
        let part = evaluate(expr, &rows.slice(start..(start + ROWS_PER_CHECK).min(rows.len)), poison)?;
        all.append_range(&part, 0..part.len());
    }
    Ok(all)
}
