//! Negations within a conjunction: atoms in their place.
//!
//! A negation says that its formula holds for no binding of its *own* variables: those that nothing beside it binds.
//! [`Pass::absent`] finds the case:
//!
//! ```text
//! r[x] := n[x], not (a[x], b[x])         no own variable: each part is negated by itself
//!                                        r[x] := n[x], not a[x]      r[x] := n[x], not b[x]
//!
//! r[v] := n[v], not (e[v, w], w > 10)    w is its own: the group becomes a rule that is applied negatively
//!                                        #not1[v] := e[v, w], w > 10          r[v] := n[v], not #not1[v]
//!
//! r[p] := a[p, j], not (n[j, s], not h[p, s])      the group does not bind p: it begins with an atom that does
//!                                        #not1[j, p] := a[p, j], n[j, s], not h[p, s]
//!                                        r[p] := a[p, j], not #not1[j, p]
//! ```
//!
//! A test whose variables are all bound is negated as an expression (`condition`).

use std::collections::BTreeSet;

use super::condition::{call, condition, test, use_of};
use super::normalise::{Literal, Pass, check_count, disjuncts, holding, product};
use crate::diag::SourceSpan;
use crate::expr::{Expr, not};
use crate::program::{
    Apply, Arg, Atom, Definition, Formula, HeadColumn, Predicate, ProgramError, Rule, Target, Variable,
};
use crate::value::SmallStr;

/// The prefix of the names of negated groups.
const GROUP: &str = "#not";

/// Whether a predicate was made of a negated group.
pub fn is_group(predicate: &str) -> bool {
    predicate.starts_with(GROUP)
}

impl Pass {
    /// The conjunctions of atoms of which one holds where a formula has no binding.
    pub(super) fn absent(
        &mut self,
        formula: &Formula,
        beside: &[Literal],
        bound: &BTreeSet<SmallStr>,
        span: SourceSpan,
    ) -> Result<Vec<Vec<Atom>>, ProgramError> {
        let variables = variables_of(formula);
        match formula {
            Formula::Atom(atom) if variables.is_subset(bound) => Ok(vec![vec![negate(atom.clone())]]),
            Formula::And(parts) if variables.is_subset(bound) => match test(formula) {
                Some(test) => Ok(vec![vec![Atom::Filter(not(test))]]),
                None if self.counts || has_application_of_anything(formula) => {
                    Ok(vec![vec![self.group(formula.clone(), beside, bound, span)?]])
                }
                None => self.one_of_them_absent(parts, beside, bound, span),
            },
            Formula::Atom(atom @ Atom::Apply(_)) => match self.with_repetitions_as_tests(atom, bound) {
                Some(parts) => Ok(vec![vec![self.group(Formula::And(parts), beside, bound, span)?]]),
                // An own variable stands for any value.
                None => Ok(vec![vec![negate(atom.clone())]]),
            },
            Formula::Atom(atom) => {
                check_negated(atom, bound)?;
                Ok(vec![vec![negate(atom.clone())]])
            }
            group => Ok(vec![vec![self.group(group.clone(), beside, bound, span)?]]),
        }
    }

    /// The conjunctions of which at least one holds where one of the parts does not. All variables are bound.
    fn one_of_them_absent(
        &mut self,
        parts: &[Formula],
        beside: &[Literal],
        bound: &BTreeSet<SmallStr>,
        span: SourceSpan,
    ) -> Result<Vec<Vec<Atom>>, ProgramError> {
        let mut all = vec![];
        for part in parts {
            for conjunction in disjuncts(part.clone(), true, span)? {
                let mut found: Vec<Vec<Atom>> = vec![vec![]];
                for literal in conjunction {
                    let alternatives = match literal {
                        Literal::Holds(atom) => vec![vec![atom]],
                        Literal::Absent(formula) => self.absent(&formula, beside, bound, span)?,
                    };
                    found = product(found, alternatives, span)?;
                }
                all.extend(found);
                check_count(all.len(), span)?;
            }
        }
        Ok(all)
    }

    /// The parts of an application that has an own variable twice: an application that has each variable once, and a test for
    /// each further occurrence. `None` if no own variable occurs twice. The tests make a repeated variable mean the same `==` as
    /// without negation.
    fn with_repetitions_as_tests(&mut self, atom: &Atom, bound: &BTreeSet<SmallStr>) -> Option<Vec<Formula>> {
        let Atom::Apply(apply) = atom else { return None };
        let mut apply = apply.clone();
        let mut seen = BTreeSet::new();
        let mut tests = vec![];
        for arg in &mut apply.args {
            let Arg::Variable(variable) = arg else { continue };
            if bound.contains(&variable.name) || seen.insert(variable.name.clone()) {
                continue;
            }
            self.repetitions += 1;
            let other = Variable { name: SmallStr::from(format!("#same{}", self.repetitions)), span: variable.span };
            let test = call("eq", vec![use_of(variable.clone()), use_of(other.clone())]);
            tests.push(Formula::Atom(Atom::Filter(test)));
            *arg = Arg::Variable(other);
        }
        if tests.is_empty() {
            return None;
        }
        tests.insert(0, Formula::Atom(Atom::Apply(apply)));
        Some(tests)
    }

    /// Makes a predicate of a group; returns its negated application. Its columns are the variables that are bound beside the
    /// group.
    fn group(
        &mut self,
        group: Formula,
        beside: &[Literal],
        bound: &BTreeSet<SmallStr>,
        span: SourceSpan,
    ) -> Result<Atom, ProgramError> {
        let shared: BTreeSet<SmallStr> = variables_of(&group).intersection(bound).cloned().collect();
        let mut by_group = BTreeSet::new();
        bound_by_applications(&group, &mut by_group);
        let missing: BTreeSet<SmallStr> = shared.difference(&by_group).cloned().collect();
        let recurs = |apply: &Apply| self.needs_the_owner(&apply.target);
        let binders = binders(beside, missing, &shared, recurs);
        let guards = guards(beside, &binders);
        let mut body: Vec<Formula> = binders.into_iter().chain(guards).map(Formula::Atom).collect();
        body.push(group);
        let mut head: Vec<Variable> = shared.into_iter().map(|name| Variable { name, span }).collect();
        let mut args: Vec<Arg> = head.iter().cloned().map(Arg::Variable).collect();
        if head.is_empty() {
            // A rule has at least one column.
            let (any, value) = (Variable { name: SmallStr::from("#any"), span }, Expr::Constant(true.into(), span));
            body.insert(0, Formula::Atom(Atom::Unify(any.clone(), value.clone())));
            (head, args) = (vec![any], vec![Arg::Expr(value)]);
        }
        let columns =
            head.iter().map(|variable| HeadColumn { name: variable.name.clone(), aggregation: None }).collect();
        let counts = std::mem::take(&mut self.counts);
        let rules = self.rule(Rule { head, body: Formula::And(body), span })?;
        self.counts = counts;
        let name = SmallStr::from(format!("{GROUP}{}", self.groups.len() + 1));
        self.groups.insert(name.clone(), Predicate { columns, definition: Definition::Rules(rules), span });
        Ok(Atom::Apply(Apply { target: Target::Predicate(name), args, negated: true, span }))
    }
}

/// Atoms of a conjunction that bind the `missing` variables, to at least the values that the conjunction gives them. Of the
/// applications that bind a variable, the one with the most shared variables is taken, since it gives the fewest bindings. An
/// application that recursion runs through is the last choice, since a negation cannot wait for it.
fn binders(
    conjunction: &[Literal],
    mut missing: BTreeSet<SmallStr>,
    shared: &BTreeSet<SmallStr>,
    recurs: impl Fn(&Apply) -> bool,
) -> Vec<Atom> {
    let atoms: Vec<&Atom> = conjunction.iter().filter_map(holding).collect();
    let mut taken: BTreeSet<usize> = BTreeSet::new();
    let mut done: BTreeSet<SmallStr> = BTreeSet::new();
    while let Some(name) = missing.pop_first() {
        if !done.insert(name.clone()) {
            continue;
        }
        let applied = |atom: &Atom| match atom {
            Atom::Apply(apply) if apply.bindings().any(|binding| *binding == name) => {
                Some((!recurs(apply), apply.bindings().filter(|binding| shared.contains(*binding)).count()))
            }
            _ => None,
        };
        let best = (0..atoms.len()).rev().filter_map(|at| Some((applied(atoms[at])?, at))).max();
        let binds = |atom: &Atom| match atom {
            Atom::Unify(variable, _) | Atom::Unnest(variable, _) => variable.name == name,
            Atom::Search(search) => search.bindings().any(|binding| *binding == name),
            Atom::AsOf(read) => read.bindings().any(|binding| *binding == name),
            _ => false,
        };
        let positions: Vec<usize> = match best {
            Some((_, at)) => vec![at],
            // The first of them binds the variable, the others test it.
            None => (0..atoms.len()).filter(|at| binds(atoms[*at])).collect(),
        };
        for at in positions {
            taken.insert(at);
            match atoms[at] {
                Atom::Apply(apply) => {
                    done.extend(apply.bindings().cloned());
                    let in_expressions = apply.args.iter().filter(|arg| matches!(arg, Arg::Expr(_)));
                    missing.extend(in_expressions.flat_map(Arg::variables).cloned());
                }
                Atom::Unify(_, expr) | Atom::Unnest(_, expr) => missing.extend(expr.variables().into_iter().cloned()),
                Atom::Search(search) => missing.extend(search.inputs().cloned()),
                Atom::AsOf(read) => missing.extend(read.inputs().cloned()),
                Atom::Filter(_) | Atom::Same(..) => {}
            }
        }
    }
    taken.into_iter().map(|at| atoms[at].clone()).collect()
}

/// The filters of a conjunction that test only variables that `binders` bind. As in the original body, a group is then evaluated
/// only for bindings that pass them: for others it might fail.
fn guards(conjunction: &[Literal], binders: &[Atom]) -> Vec<Atom> {
    let bound: BTreeSet<&SmallStr> = binders.iter().flat_map(Atom::bindings).collect();
    let tests = |atom: &&Atom| match atom {
        Atom::Filter(expr) => {
            let variables = expr.variables();
            !variables.is_empty() && variables.into_iter().all(|name| bound.contains(name))
        }
        _ => false,
    };
    conjunction.iter().filter_map(holding).filter(tests).cloned().collect()
}

/// The variables that the applications of a formula bind wherever it holds. A unification with a bound variable is a test by
/// `==`, which other values may pass, so it does not count.
fn bound_by_applications(formula: &Formula, bound: &mut BTreeSet<SmallStr>) {
    match formula {
        Formula::And(parts) => parts.iter().for_each(|part| bound_by_applications(part, bound)),
        Formula::Or(parts) => {
            let mut each = parts.iter().map(|part| {
                let mut here = BTreeSet::new();
                bound_by_applications(part, &mut here);
                here
            });
            let first = each.next().unwrap_or_default();
            bound.extend(each.fold(first, |common, here| &common & &here));
        }
        Formula::Atom(Atom::Apply(apply)) if !apply.negated => bound.extend(apply.bindings().cloned()),
        Formula::Not(..) | Formula::Atom(_) => {}
    }
}

/// Whether some application in a formula has only wildcards: negated by itself it would be refused.
fn has_application_of_anything(formula: &Formula) -> bool {
    let is_of_anything = |atom: &Atom| match atom {
        Atom::Apply(apply) => apply.args.iter().all(|arg| matches!(arg, Arg::Wildcard)),
        _ => false,
    };
    formula.atoms().into_iter().any(is_of_anything)
}

fn variables_of(formula: &Formula) -> BTreeSet<SmallStr> {
    formula.atoms().into_iter().flat_map(Atom::variables).cloned().collect()
}

/// Refuses the negation of a unification whose variable is not bound: it would become a test of that variable.
fn check_negated(atom: &Atom, bound: &BTreeSet<SmallStr>) -> Result<(), ProgramError> {
    match atom {
        Atom::Unify(variable, expr) | Atom::Unnest(variable, expr) if !bound.contains(&variable.name) => {
            Err(ProgramError::UnsafeNegation { span: variable.span.merge(expr.span()) })
        }
        _ => Ok(()),
    }
}

fn negate(atom: Atom) -> Atom {
    match atom {
        Atom::Apply(apply) => Atom::Apply(Apply { negated: !apply.negated, ..apply }),
        other => Atom::Filter(not(condition(&other).expect("it applies no relation"))),
    }
}
