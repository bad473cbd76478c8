//! Constants are computed while a query is compiled, if they are small.
//!
//! Folding saves work for each row, and lets the planner see constants. An expression that would be large, or take long, is left
//! for the run, within the memory and the time of the query: a rule that is never used then costs nothing.
//!
//! Conditions get one form, so that the planner sees a comparison however it is written: `!(a != b)`, `a == b || false` and `if(a
//! == b, true, false)` are `a == b`.

use super::functions::{self, Function};
use super::{Expr, FunctionError};
use crate::budget::Budget;
use crate::diag::SourceSpan;
use crate::value::{DataValue, check_depth};

/// The most bytes of all folded constants of a query, and of the intermediate values of one of them.
const MAX_FOLDED_BYTES: usize = 2 << 20;

/// Folds the constants of one query.
#[derive(Debug, Default)]
pub struct Folding {
    /// Made for the first constant.
    budget: Option<Budget>,
}

impl Folding {
    /// Replaces closed parts by their values. A part that fails is left to fail when it is evaluated.
    pub fn fold(&mut self, expr: Expr) -> Expr {
        match expr {
            Expr::Call { function, args, span } => {
                let args: Vec<Expr> = args.into_iter().map(|arg| self.fold(arg)).collect();
                let is_constant = function.deterministic && args.iter().all(|arg| arg.as_constant().is_some());
                if is_constant { self.fold_call(function, args, span) } else { condition(function, args, span) }
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
        // A literal list takes no more memory than its elements.
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

/// A call in the form that conditions have.
fn condition(function: &'static Function, mut args: Vec<Expr>, span: SourceSpan) -> Expr {
    let neutral = match function.name {
        "and" => true,
        "or" => false,
        "negate" => return not(args.swap_remove(0)),
        _ => return Expr::Call { function, args, span },
    };
    // A value other than a Boolean is an error, and stays one.
    if args.iter().all(is_boolean) {
        args.retain(|arg| arg.as_constant() != Some(&neutral.into()));
    }
    match <[Expr; 1]>::try_from(args) {
        Ok([arg]) if is_boolean(&arg) => arg,
        Ok([arg]) => Expr::Call { function, args: vec![arg], span },
        Err(args) => Expr::Call { function, args, span },
    }
}

/// The negation of a condition, by an opposite function if there is one.
pub fn not(expr: Expr) -> Expr {
    let span = expr.span();
    let (function, args) = match expr {
        Expr::Call { function, args, .. } if function.name == "eq" => (named("neq"), args),
        Expr::Call { function, args, .. } if function.name == "neq" => (named("eq"), args),
        Expr::Call { function, mut args, .. } if function.name == "negate" && args.iter().all(is_boolean) => {
            return args.swap_remove(0);
        }
        other => (named("negate"), vec![other]),
    };
    Expr::Call { function, args, span }
}

fn named(name: &str) -> &'static Function {
    functions::find(name).expect("the functions of operators are registered")
}

/// Whether every value of an expression is a Boolean.
fn is_boolean(expr: &Expr) -> bool {
    match expr {
        Expr::Constant(value, _) => matches!(value, DataValue::Bool(_)),
        Expr::Call { function, .. } => {
            matches!(function.name, "eq" | "neq" | "lt" | "le" | "gt" | "ge" | "is_in" | "and" | "or" | "negate")
        }
        _ => false,
    }
}

/// The value of the branch that is sure to be taken, if there is one.
fn choose(mut branches: Vec<(Expr, Expr)>, span: SourceSpan) -> Expr {
    let taken = branches.iter().position(|(condition, _)| condition.as_constant() != Some(&false.into()));
    let is_sure = taken.is_none_or(|taken| branches[taken].0.as_constant() == Some(&true.into()));
    // A branch that is never taken may still name an unbound variable, which must be reported.
    let count = |(condition, value): &(Expr, Expr)| condition.variables().len() + value.variables().len();
    let chosen = taken.map_or(0, |taken| branches[taken].1.variables().len());
    if let [(condition, value), (otherwise, other)] = &branches[..]
        && [value, otherwise, other].map(Expr::as_constant)
            == [Some(&true.into()), Some(&true.into()), Some(&false.into())]
        && is_boolean(condition)
    {
        return condition.clone();
    }
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
    fn conditions_have_one_form() {
        let variable = |name: &str| Expr::Variable(name.into(), SourceSpan::default());
        let pair = || vec![variable("a"), variable("b")];
        let (eq, neq) = (call("eq", pair()), call("neq", pair()));
        let negate = |arg: &Expr| call("negate", vec![arg.clone()]);
        let choice = |condition: &Expr, yes: Expr, no: Expr| Expr::Conditional {
            branches: vec![(condition.clone(), yes), (constant(true), no)],
            span: SourceSpan::default(),
        };
        let less = call("lt", pair());
        for (expr, expected) in [
            (negate(&neq), &eq),
            (negate(&eq), &neq),
            (negate(&negate(&less)), &less),
            (call("or", vec![eq.clone(), constant(false)]), &eq),
            (call("and", vec![constant(true), eq.clone(), constant(true)]), &eq),
            (call("and", vec![call("or", vec![eq.clone()]), negate(&negate(&constant(true)))]), &eq),
            (choice(&less, constant(true), constant(false)), &less),
        ] {
            assert_eq!(Folding::default().fold(expr.clone()).to_string(), expected.to_string(), "{expr}");
        }
        // These fail where the variable is no Boolean.
        for expr in [
            call("or", vec![variable("a"), constant(false)]),
            negate(&negate(&variable("a"))),
            choice(&variable("a"), constant(true), constant(false)),
            choice(&less, constant(1), constant(false)),
            call("or", vec![less.clone(), constant(true)]),
        ] {
            assert_eq!(Folding::default().fold(expr.clone()).to_string(), expr.to_string());
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
