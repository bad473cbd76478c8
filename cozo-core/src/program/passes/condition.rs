//! Formulas and atoms as expressions.

use crate::diag::SourceSpan;
use crate::expr::{Expr, functions, not};
use crate::program::{Atom, Formula, Variable};

/// A formula whose variables are all bound, as one expression; `None` if it applies a relation. As for filters in sequence, the
/// parts of a conjunction after one that is false are not evaluated.
pub(super) fn test(formula: &Formula) -> Option<Expr> {
    let all = |parts: &[Formula]| parts.iter().map(test).collect::<Option<Vec<Expr>>>();
    let truth = |holds: bool, span: SourceSpan| Expr::Constant(holds.into(), span);
    let first_of = |parts: Vec<Expr>, decides: bool| {
        let span = parts.iter().map(Expr::span).reduce(SourceSpan::merge).unwrap_or_default();
        let branch = |part: Expr| (if decides { part } else { not(part) }, truth(decides, span));
        let otherwise = (truth(true, span), truth(!decides, span));
        Expr::Conditional { branches: parts.into_iter().map(branch).chain([otherwise]).collect(), span }
    };
    match formula {
        Formula::And(parts) => all(parts).map(|parts| first_of(parts, false)),
        Formula::Or(parts) => all(parts).map(|parts| first_of(parts, true)),
        Formula::Not(inner) => test(inner).map(not),
        Formula::Atom(atom) => condition(atom),
    }
}

/// An atom whose variables are all bound, as one expression; `None` if it applies a relation.
pub(super) fn condition(atom: &Atom) -> Option<Expr> {
    let (name, variable, expr) = match atom {
        Atom::Filter(expr) => return Some(expr.clone()),
        Atom::Unify(variable, expr) => ("eq", variable, expr),
        Atom::Unnest(variable, expr) => ("is_in", variable, expr),
        Atom::Same(..) => unreachable!("nothing negates a search, nor a body that is ordered"),
        Atom::Apply(_) | Atom::Search(_) | Atom::AsOf(_) => return None,
    };
    Some(call(name, vec![use_of(variable.clone()), expr.clone()]))
}

/// A variable as an expression.
pub(super) fn use_of(variable: Variable) -> Expr {
    Expr::Variable(variable.name, variable.span)
}

/// A call of a function that the language itself needs.
pub(super) fn call(name: &str, args: Vec<Expr>) -> Expr {
    let function = functions::find(name).expect("the functions of operators are registered");
    let span = args.iter().map(Expr::span).reduce(SourceSpan::merge).unwrap_or_default();
    Expr::Call { function, args, span }
}
