//! Disjunctive normal form: every body becomes a conjunction, a rule with several disjuncts several rules.
//!
//! Negation is pushed to the atoms. A negated group with variables of its own, as in `not (e[v, w], w > 10)`, asks for
//! the absence of a solution of the group: it becomes a rule of its own, applied negatively.
//!
//! ```text
//! r[x] := n[x], not (a[x], b[x])         r[x] := n[x], not a[x]      r[x] := n[x], not b[x]
//! r[v] := n[v], not (e[v, w], w > 10)    #not1[v] := e[v, w], w > 10   r[v] := n[v], not #not1[v]
//! ```

use std::collections::{BTreeMap, BTreeSet};

use crate::budget;
use crate::diag::SourceSpan;
use crate::expr::{Expr, functions};
use crate::program::{
    Apply, Arg, Atom, Definition, Formula, HeadColumn, Predicate, Program, ProgramError, Rule, Target, Variable,
};
use crate::value::SmallStr;

/// The most conjunctions that one body may expand into.
const MAX_DISJUNCTS: usize = 4096;

/// Brings all bodies into disjunctive normal form.
pub fn normalise(program: Program<Formula>) -> Result<Program, ProgramError> {
    let mut pass = Pass { groups: BTreeMap::new(), repetitions: 0 };
    let mut predicates = BTreeMap::new();
    for (name, predicate) in program.predicates {
        let definition = match predicate.definition {
            Definition::Constant(rows) => Definition::Constant(rows),
            Definition::Fixed(apply) => Definition::Fixed(apply),
            Definition::Rules(rules) => {
                let mut flat = vec![];
                for rule in rules {
                    flat.extend(pass.rule(rule)?);
                }
                Definition::Rules(flat)
            }
        };
        predicates.insert(name, Predicate { columns: predicate.columns, definition, span: predicate.span });
    }
    predicates.append(&mut pass.groups);
    Ok(Program { predicates, components: vec![] })
}

struct Pass {
    /// The rules made of negated groups.
    groups: BTreeMap<SmallStr, Predicate>,
    /// The number of variables made up for repeated ones.
    repetitions: usize,
}

/// How often each variable occurs.
type Occurrences = BTreeMap<SmallStr, usize>;

/// The variables of a rule.
struct Scope {
    occurrences: Occurrences,
    /// Those that an atom could bind.
    bound: BTreeSet<SmallStr>,
}

impl Pass {
    fn rule(&mut self, rule: Rule<Formula>) -> Result<Vec<Rule>, ProgramError> {
        let mut occurrences = Occurrences::new();
        count_variables(&rule.body, &mut occurrences);
        for variable in &rule.head {
            *occurrences.entry(variable.name.clone()).or_default() += 1;
        }
        let mut bound = BTreeSet::new();
        possibly_bound(&rule.body, false, &mut bound);
        let pushed = self.push_negation(rule.body, false, &Scope { occurrences, bound }, rule.span)?;
        let disjuncts = disjuncts(pushed, rule.span)?;
        let with_body = |body| Rule { head: rule.head.clone(), body, span: rule.span };
        Ok(disjuncts.into_iter().map(with_body).collect())
    }

    /// Moves negation inward until only atoms carry it.
    fn push_negation(
        &mut self,
        formula: Formula,
        negated: bool,
        scope: &Scope,
        span: SourceSpan,
    ) -> Result<Formula, ProgramError> {
        Ok(match formula {
            Formula::Not(inner, _) => self.push_negation(*inner, !negated, scope, span)?,
            Formula::And(parts) if negated => match self.negated_group(&parts, scope, span)? {
                Some(atom) => Formula::Atom(atom),
                None => Formula::Or(self.push_all(parts, true, scope, span)?),
            },
            Formula::Or(parts) if negated => Formula::And(self.push_all(parts, true, scope, span)?),
            Formula::And(parts) => Formula::And(self.push_all(parts, false, scope, span)?),
            Formula::Or(parts) => Formula::Or(self.push_all(parts, false, scope, span)?),
            Formula::Atom(atom) if negated => match self.with_repetitions_as_tests(&atom, scope) {
                Some(parts) => {
                    let group = self.negated_group(&parts, scope, span)?;
                    Formula::Atom(group.unwrap_or_else(|| negate(atom)))
                }
                None => {
                    check_negated(&atom, scope)?;
                    Formula::Atom(negate(atom))
                }
            },
            Formula::Atom(atom) => Formula::Atom(atom),
        })
    }

    /// An application that has a variable of its own twice as an application with each once and a test for each further
    /// occurrence; none if it has none twice. Negated, it must mean the same `==` as when it is not.
    fn with_repetitions_as_tests(&mut self, atom: &Atom, scope: &Scope) -> Option<Vec<Formula>> {
        let Atom::Apply(apply) = atom else { return None };
        let mut apply = apply.clone();
        let mut seen = BTreeSet::new();
        let mut tests = vec![];
        for arg in &mut apply.args {
            let Arg::Variable(variable) = arg else { continue };
            if scope.bound.contains(&variable.name) || seen.insert(variable.name.clone()) {
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

    fn push_all(
        &mut self,
        parts: Vec<Formula>,
        negated: bool,
        scope: &Scope,
        span: SourceSpan,
    ) -> Result<Vec<Formula>, ProgramError> {
        parts.into_iter().map(|part| self.push_negation(part, negated, scope, span)).collect()
    }

    /// A negated application of a rule made of the group, if the group has variables of its own and can stand alone.
    fn negated_group(
        &mut self,
        parts: &[Formula],
        scope: &Scope,
        span: SourceSpan,
    ) -> Result<Option<Atom>, ProgramError> {
        let group = Formula::And(parts.to_vec());
        let mut inside = Occurrences::new();
        count_variables(&group, &mut inside);
        let (local, shared): (Vec<_>, Vec<_>) =
            inside.iter().partition(|(name, count)| scope.occurrences.get(*name).is_none_or(|all| all == *count));
        let mut bound = BTreeSet::new();
        bound_variables(&group, &mut bound);
        let shared: Vec<SmallStr> = shared.into_iter().map(|(name, _)| name.clone()).collect();
        if local.is_empty() || shared.is_empty() || !shared.iter().all(|name| bound.contains(name)) {
            return Ok(None);
        }
        let head: Vec<Variable> = shared.iter().map(|name| Variable { name: name.clone(), span }).collect();
        let rules = self.rule(Rule { head: head.clone(), body: group, span })?;
        let columns = shared.iter().map(|name| HeadColumn { name: name.clone(), aggregation: None }).collect();
        let name = SmallStr::from(format!("#not{}", self.groups.len() + 1));
        self.groups.insert(name.clone(), Predicate { columns, definition: Definition::Rules(rules), span });
        let args = head.into_iter().map(Arg::Variable).collect();
        Ok(Some(Atom::Apply(Apply { target: Target::Predicate(name), args, negated: true, span })))
    }
}

/// Refuses the negation of a unification whose variable nothing binds: it would become a test of that variable.
fn check_negated(atom: &Atom, scope: &Scope) -> Result<(), ProgramError> {
    match atom {
        Atom::Unify(variable, expr) | Atom::UnifyEach(variable, expr) if !scope.bound.contains(&variable.name) => {
            Err(ProgramError::UnsafeNegation { span: variable.span.merge(expr.span()) })
        }
        _ => Ok(()),
    }
}

fn negate(atom: Atom) -> Atom {
    match atom {
        Atom::Apply(apply) => Atom::Apply(Apply { negated: !apply.negated, ..apply }),
        Atom::Filter(expr) => Atom::Filter(not(expr)),
        Atom::Unify(variable, expr) => Atom::Filter(call("neq", vec![use_of(variable), expr])),
        Atom::UnifyEach(variable, expr) => Atom::Filter(not(call("is_in", vec![use_of(variable), expr]))),
        Atom::Same(..) => unreachable!("bodies are normalised before they are ordered"),
    }
}

fn not(expr: Expr) -> Expr {
    call("negate", vec![expr])
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

fn count_variables(formula: &Formula, occurrences: &mut Occurrences) {
    match formula {
        Formula::And(parts) | Formula::Or(parts) => parts.iter().for_each(|part| count_variables(part, occurrences)),
        Formula::Not(inner, _) => count_variables(inner, occurrences),
        Formula::Atom(atom) => {
            for name in atom.variables() {
                *occurrences.entry(name.clone()).or_default() += 1;
            }
        }
    }
}

/// The variables that some atom without negation has a place for.
fn possibly_bound(formula: &Formula, negated: bool, bound: &mut BTreeSet<SmallStr>) {
    match formula {
        Formula::And(parts) | Formula::Or(parts) => parts.iter().for_each(|part| possibly_bound(part, negated, bound)),
        Formula::Not(inner, _) => possibly_bound(inner, !negated, bound),
        Formula::Atom(_) if negated => {}
        Formula::Atom(_) => bound_variables(formula, bound),
    }
}

/// The variables that a formula binds where it holds.
fn bound_variables(formula: &Formula, bound: &mut BTreeSet<SmallStr>) {
    match formula {
        Formula::And(parts) => parts.iter().for_each(|part| bound_variables(part, bound)),
        Formula::Or(parts) => {
            let mut each = parts.iter().map(|part| {
                let mut here = BTreeSet::new();
                bound_variables(part, &mut here);
                here
            });
            let first = each.next().unwrap_or_default();
            bound.extend(each.fold(first, |common, here| &common & &here));
        }
        Formula::Not(..) => {}
        Formula::Atom(Atom::Apply(apply)) if !apply.negated => {
            bound.extend(apply.bindings().cloned());
        }
        Formula::Atom(Atom::Unify(variable, _) | Atom::UnifyEach(variable, _)) => {
            bound.insert(variable.name.clone());
        }
        Formula::Atom(_) => {}
    }
}

/// The conjunctions whose disjunction the formula is.
fn disjuncts(formula: Formula, span: SourceSpan) -> Result<Vec<Vec<Atom>>, ProgramError> {
    let check = |found: Vec<Vec<Atom>>| {
        let error = ProgramError::TooManyDisjuncts { limit: MAX_DISJUNCTS, span };
        if found.len() > MAX_DISJUNCTS { Err(error) } else { Ok(found) }
    };
    match formula {
        Formula::Atom(atom) => Ok(vec![vec![atom]]),
        Formula::Or(parts) => {
            let mut all = vec![];
            for part in parts {
                all.extend(disjuncts(part, span)?);
                all = check(all)?;
            }
            Ok(all)
        }
        Formula::And(parts) => {
            let mut all: Vec<Vec<Atom>> = vec![vec![]];
            for part in parts {
                let more = disjuncts(part, span)?;
                if let [only] = more.as_slice() {
                    budget::make_room(all.len() * only.len() * size_of::<Atom>())?;
                    all.iter_mut().for_each(|atoms| atoms.extend_from_slice(only));
                    continue;
                }
                if all.len() * more.len() > MAX_DISJUNCTS {
                    return Err(ProgramError::TooManyDisjuncts { limit: MAX_DISJUNCTS, span });
                }
                let atoms = |conjunctions: &[Vec<Atom>]| conjunctions.iter().map(Vec::len).sum::<usize>();
                budget::make_room((all.len() * atoms(&more) + more.len() * atoms(&all)) * size_of::<Atom>())?;
                all = all.iter().flat_map(|a| more.iter().map(|b| [a.as_slice(), b].concat())).collect();
            }
            check(all)
        }
        Formula::Not(..) => unreachable!("negation was pushed to the atoms"),
    }
}
