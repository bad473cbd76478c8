//! Constants are computed while a query is compiled, if they are small.
//!
//! What is folded saves work for each row, and lets the planner see constants. What would be large, or take long, is left to be
//! evaluated when the query runs, within its memory and its time: a rule that is never used then costs nothing.

use super::functions::Function;
use super::{Expr, FunctionError};
use crate::budget::Budget;
use crate::diag::SourceSpan;
use crate::value::{DataValue, check_depth};

/// The most that all folded constants of a query take together, and what is made on the way to one of them.
const MAX_FOLDED_BYTES: usize = 2 << 20;

/// Folds the constants of one query.
#[derive(Debug, Default)]
pub struct Folding {
    /// Made for the first constant.
    budget: Option<Budget>,
}

impl Folding {
    /// Replaces parts that depend on nothing by their values. A part that fails is left to fail when it is evaluated.
    pub fn fold(&mut self, expr: Expr) -> Expr {
        match expr {
            Expr::Call { function, args, span } => {
                let args: Vec<Expr> = args.into_iter().map(|arg| self.fold(arg)).collect();
                let is_constant = function.deterministic && args.iter().all(|arg| arg.as_constant().is_some());
                if is_constant { self.fold_call(function, args, span) } else { Expr::Call { function, args, span } }
            }
            Expr::Conditional { branches, span } => {
                let fold = |(condition, value)| (self.fold(condition), self.fold(value));
                choose(branches.into_iter().map(fold).collect(), span)
            }
            leaf => leaf,
        }
    }

    fn fold_call(&mut self, function: &'static Function, args: Vec<Expr>, span: SourceSpan) -> Expr {
        let spans: Vec<SourceSpan> = args.iter().map(Expr::span).collect();
        let constant = |arg| if let Expr::Constant(value, _) = arg { Some(value) } else { None };
        let values: Vec<DataValue> = args.into_iter().filter_map(constant).collect();
        // A list as it is written takes no more than what it is written of.
        if function.name == "list" && values.iter().all(|value| check_depth(value, 1).is_ok()) {
            return Expr::Constant(DataValue::List(values), span);
        }
        match self.call(function, &values) {
            Ok(value) => Expr::Constant(value, span),
            Err(_) => {
                let args = values.into_iter().zip(spans).map(|(value, span)| Expr::Constant(value, span)).collect();
                Expr::Call { function, args, span }
            }
        }
    }

    fn call(&mut self, function: &Function, values: &[DataValue]) -> Result<DataValue, FunctionError> {
        let budget = self.budget.get_or_insert_with(|| Budget::within_current(MAX_FOLDED_BYTES));
        let entered = budget.enter();
        let value = (function.eval)(values)?;
        drop(entered);
        budget.charge(value.memory_bytes())?;
        Ok(value)
    }
}

/// The value of the branch that is sure to be taken, if there is one.
fn choose(mut branches: Vec<(Expr, Expr)>, span: SourceSpan) -> Expr {
    let taken = branches.iter().position(|(condition, _)| condition.as_constant() != Some(&false.into()));
    let is_sure = taken.is_none_or(|taken| branches[taken].0.as_constant() == Some(&true.into()));
    // A branch that is never taken may still name a variable that nothing binds.
    let count = |(condition, value): &(Expr, Expr)| condition.variables().len() + value.variables().len();
    let chosen = taken.map_or(0, |taken| branches[taken].1.variables().len());
    if !is_sure || branches.iter().map(count).sum::<usize>() != chosen {
        return Expr::Conditional { branches, span };
    }
    taken.map_or(Expr::Constant(DataValue::Null, span), |taken| branches.swap_remove(taken).1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::budget::MAX_DEPTH;
    use crate::expr::functions;

    fn call(name: &str, args: Vec<Expr>) -> Expr {
        Expr::Call { function: functions::find(name).expect("it exists"), args, span: SourceSpan::default() }
    }

    fn constant(value: impl Into<DataValue>) -> Expr {
        Expr::Constant(value.into(), SourceSpan::default())
    }

    fn range(end: i64) -> Expr {
        call("int_range", vec![constant(end)])
    }

    #[test]
    fn small_constants_are_folded_and_large_ones_are_left() {
        let length = |list| call("length", vec![list]);
        for (expr, folded) in [
            (length(range(1000)), true),
            (length(range(1_000_000)), false),
            (call("sorted", vec![call("reverse", vec![range(5_000_000)])]), false),
            (call("add", vec![constant("a"), constant(1)]), false),
            (call("list", vec![constant(1), call("rand_float", vec![])]), false),
        ] {
            let text = expr.to_string();
            assert_eq!(Folding::default().fold(expr).as_constant().is_some(), folded, "{text}");
        }
    }

    #[test]
    fn all_constants_together_are_small() {
        let mut folding = Folding::default();
        let folded = (0..100).filter(|_| folding.fold(range(10_000)).as_constant().is_some()).count();
        assert!((2..10).contains(&folded), "{folded}");
        assert!(folding.fold(constant(1)).as_constant().is_some());
    }

    #[test]
    fn lists_are_folded_as_deep_as_values_may_be() {
        let nested = |levels: usize| (0..levels).fold(constant(1), |inner, _| call("list", vec![inner]));
        assert!(Folding::default().fold(nested(MAX_DEPTH)).as_constant().is_some());
        let deeper = Folding::default().fold(nested(MAX_DEPTH + 1));
        assert!(matches!(deeper.eval_closed(&[]), Err(crate::expr::EvalError::TooDeep { .. })));
    }
}
