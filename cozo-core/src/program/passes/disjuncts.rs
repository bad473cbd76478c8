//! Formulas as disjunctions of conjunctions, and as conditions.
//!
//! `a, (b or not c)` has the disjuncts `a, b` and `a, not c`. A formula without applications is one expression, so it is a condition
//! and not divided.

use crate::budget;
use crate::diag::SourceSpan;
use crate::expr::{Expr, functions, not};
use crate::program::{Apply, Atom, Formula, ProgramError, Variable};

/// The most conjunctions that one body may expand into.
const MAX_DISJUNCTS: usize = 4096;

/// A part of a conjunction.
#[derive(Clone)]
pub enum Literal {
    /// An atom that holds.
    Holds(Atom),
    /// An atom or a conjunction that does not hold.
    Absent(Formula),
}

pub fn negate(atom: Atom) -> Atom {
    match atom {
        Atom::Apply(apply) => Atom::Apply(Apply { negated: !apply.negated, ..apply }),
        other => Atom::Filter(not(condition(&other).expect("it applies no relation"))),
    }
}

/// A formula whose variables are all bound, as one expression; `None` if it applies a relation. As for filters in sequence, the
/// parts of a conjunction after one that is false are not evaluated.
pub fn test(formula: &Formula) -> Option<Expr> {
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
pub fn condition(atom: &Atom) -> Option<Expr> {
    let (name, variable, expr) = match atom {
        Atom::Filter(expr) => return Some(expr.clone()),
        Atom::Unify(variable, expr) => ("eq", variable, expr),
        Atom::Unnest(variable, expr) => ("is_in", variable, expr),
        Atom::Same(..) => unreachable!("bodies are normalised before they are ordered"),
        Atom::Apply(_) => return None,
    };
    Some(call(name, vec![use_of(variable.clone()), expr.clone()]))
}

/// A variable as an expression.
pub fn use_of(variable: Variable) -> Expr {
    Expr::Variable(variable.name, variable.span)
}

/// A call of a function that the language itself needs.
pub fn call(name: &str, args: Vec<Expr>) -> Expr {
    let function = functions::find(name).expect("the functions of operators are registered");
    let span = args.iter().map(Expr::span).reduce(SourceSpan::merge).unwrap_or_default();
    Expr::Call { function, args, span }
}

/// The conjunctions whose disjunction equals a formula, or its negation. A negated atom or conjunction stays whole, since its
/// parts may share own variables.
pub fn disjuncts(formula: Formula, negated: bool, span: SourceSpan) -> Result<Vec<Vec<Literal>>, ProgramError> {
    match formula {
        Formula::Not(inner) => disjuncts(*inner, !negated, span),
        Formula::Atom(atom) if negated => Ok(vec![vec![Literal::Absent(Formula::Atom(atom))]]),
        Formula::Atom(atom) => Ok(vec![vec![Literal::Holds(atom)]]),
        Formula::And(mut parts) if parts.len() == 1 => match parts.pop() {
            Some(only) => disjuncts(only, negated, span),
            None => Ok(vec![vec![]]),
        },
        group @ Formula::And(_) if negated => Ok(vec![vec![Literal::Absent(group)]]),
        Formula::Or(parts) if !negated => {
            let mut all = vec![];
            for part in parts {
                all.extend(disjuncts(part, negated, span)?);
                check_count(all.len(), span)?;
            }
            Ok(all)
        }
        Formula::And(parts) | Formula::Or(parts) => {
            let mut all: Vec<Vec<Literal>> = vec![vec![]];
            for part in parts {
                all = product(all, disjuncts(part, negated, span)?, span)?;
            }
            Ok(all)
        }
    }
}

/// Each conjunction of one disjunction with each conjunction of the other.
pub fn product<T: Clone>(
    mut all: Vec<Vec<T>>,
    more: Vec<Vec<T>>,
    span: SourceSpan,
) -> Result<Vec<Vec<T>>, ProgramError> {
    if let [only] = more.as_slice() {
        budget::make_room(all.len() * only.len() * size_of::<T>())?;
        all.iter_mut().for_each(|parts| parts.extend_from_slice(only));
        return Ok(all);
    }
    check_count(all.len() * more.len(), span)?;
    let parts = |conjunctions: &[Vec<T>]| conjunctions.iter().map(Vec::len).sum::<usize>();
    budget::make_room((all.len() * parts(&more) + more.len() * parts(&all)) * size_of::<T>())?;
    Ok(all.iter().flat_map(|a| more.iter().map(|b| [a.as_slice(), b].concat())).collect())
}

pub fn check_count(conjunctions: usize, span: SourceSpan) -> Result<(), ProgramError> {
    match conjunctions > MAX_DISJUNCTS {
        true => Err(ProgramError::TooManyDisjuncts { limit: MAX_DISJUNCTS, span }),
        false => Ok(()),
    }
}
