//! Disjunctive normal form: every body becomes a conjunction, and a rule with several disjuncts becomes several rules.
//!
//! A negation says that its formula holds for no binding of its *own* variables: those that nothing beside it binds. Which these
//! are depends on the conjunction in which the negation stands. The positive part of a body is therefore brought into normal form
//! first ([`disjuncts`]), and then each negation in turn ([`Pass::absent`]):
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
//! If an aggregation counts solutions, a negation must not give the same solution twice, so its parts are not negated one by one.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;

use super::stratify::components;
use crate::budget::{self, Stop};
use crate::diag::SourceSpan;
use crate::expr::{Expr, functions, not};
use crate::program::{
    Apply, Arg, Atom, Definition, ENTRY, Formula, HeadColumn, Predicate, Program, ProgramError, Rule, Target, Variable,
};
use crate::value::SmallStr;

/// The most conjunctions that one body may expand into.
const MAX_DISJUNCTS: usize = 4096;

/// Brings all bodies into disjunctive normal form.
pub fn normalise(program: Program<Formula>) -> Result<Program, ProgramError> {
    let mut pass = Pass {
        groups: BTreeMap::new(),
        repetitions: 0,
        component_of: components_of(&program)?,
        owner: "".into(),
        counts: false,
    };
    let mut predicates = BTreeMap::new();
    for (name, predicate) in program.predicates {
        pass.owner = name.clone();
        pass.counts = pass.counts_solutions(&predicate);
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
    /// The predicates of negated groups.
    groups: BTreeMap<SmallStr, Predicate>,
    /// The number of variables made up for repeated ones.
    repetitions: usize,
    /// The number of the component of each predicate that the entry needs. Predicates of one component depend on each other.
    component_of: FxHashMap<SmallStr, usize>,
    /// The predicate whose rules are brought into normal form.
    owner: SmallStr,
    /// Whether it matters how often, or in which order, a body of the rule holds.
    counts: bool,
}

/// A part of a conjunction.
#[derive(Clone)]
enum Literal {
    /// An atom that holds.
    Holds(Atom),
    /// An atom or a conjunction that does not hold.
    Absent(Formula),
}

impl Pass {
    fn rule(&mut self, rule: Rule<Formula>) -> Result<Vec<Rule>, ProgramError> {
        let mut rules = vec![];
        for conjunction in disjuncts(rule.body, false, rule.span)? {
            for body in self.without_groups(conjunction, rule.span)? {
                rules.push(Rule { head: rule.head.clone(), body, span: rule.span });
            }
            check_count(rules.len(), rule.span)?;
        }
        Ok(rules)
    }

    /// The conjunctions of atoms that a conjunction becomes.
    fn without_groups(&mut self, conjunction: Vec<Literal>, span: SourceSpan) -> Result<Vec<Vec<Atom>>, ProgramError> {
        let bound = bound_in(&conjunction);
        let mut all: Vec<Vec<Atom>> = vec![vec![]];
        for literal in &conjunction {
            let alternatives = match literal {
                Literal::Holds(atom) => vec![vec![atom.clone()]],
                Literal::Absent(formula) => self.absent(formula, &conjunction, &bound, span)?,
            };
            all = product(all, alternatives, span)?;
        }
        Ok(all)
    }

    /// The conjunctions of atoms of which one holds where a formula has no binding.
    fn absent(
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

    /// Whether it matters how often, or in which order, a body of a predicate holds. It does not for a recursive predicate: its
    /// aggregations take equal values once, and its groups could not wait for it.
    fn counts_solutions(&self, predicate: &Predicate<Formula>) -> bool {
        let Definition::Rules(rules) = &predicate.definition else { return false };
        let recurs = || applied_predicates(rules).any(|name| self.is_with_the_owner(name));
        predicate.is_aggregated() && !(predicate.is_meet() && recurs())
    }

    /// Whether a relation that the owner applies depends on the owner.
    fn needs_the_owner(&self, target: &Target) -> bool {
        matches!(target, Target::Predicate(name) if self.is_with_the_owner(name))
    }

    /// Whether a predicate and the owner depend on each other.
    fn is_with_the_owner(&self, name: &SmallStr) -> bool {
        let component = |name: &SmallStr| self.component_of.get(name);
        component(name).is_some() && component(name) == component(&self.owner)
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

/// The predicates that rules apply.
fn applied_predicates(rules: &[Rule<Formula>]) -> impl Iterator<Item = &SmallStr> {
    rules.iter().flat_map(|rule| rule.body.atoms()).filter_map(|atom| match atom {
        Atom::Apply(Apply { target: Target::Predicate(name), .. }) => Some(name),
        _ => None,
    })
}

/// The components of the predicates. Empty without a negation, since only negations need them.
fn components_of(program: &Program<Formula>) -> Result<FxHashMap<SmallStr, usize>, Stop> {
    fn negates(formula: &Formula) -> bool {
        match formula {
            Formula::And(parts) | Formula::Or(parts) => parts.iter().any(negates),
            Formula::Not(..) => true,
            Formula::Atom(_) => false,
        }
    }
    let has_negation = |predicate: &Predicate<Formula>| match &predicate.definition {
        Definition::Rules(rules) => rules.iter().any(|rule| negates(&rule.body)),
        _ => false,
    };
    let names: Vec<&SmallStr> = program.predicates.keys().collect();
    let Some(entry) =
        names.iter().position(|name| *name == ENTRY).filter(|_| program.predicates.values().any(has_negation))
    else {
        return Ok(FxHashMap::default());
    };
    let numbers: FxHashMap<&SmallStr, usize> = names.iter().enumerate().map(|(number, name)| (*name, number)).collect();
    let mut edges: Vec<Vec<usize>> = vec![];
    for predicate in program.predicates.values() {
        budget::step(1)?;
        let mut applied = vec![];
        match &predicate.definition {
            Definition::Rules(rules) => applied.extend(applied_predicates(rules)),
            Definition::Fixed(apply) => applied.extend(apply.predicates()),
            Definition::Constant(_) => {}
        }
        edges.push(applied.into_iter().filter_map(|name| numbers.get(name).copied()).collect());
    }
    let components = components(names.len(), entry, |node, next| edges[node].get(next).copied());
    let members =
        components.iter().enumerate().flat_map(|(number, members)| members.iter().map(move |member| (*member, number)));
    Ok(members.map(|(member, number)| (names[member].clone(), number)).collect())
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

fn holding(literal: &Literal) -> Option<&Atom> {
    match literal {
        Literal::Holds(atom) => Some(atom),
        Literal::Absent(_) => None,
    }
}

/// The variables that a conjunction binds.
fn bound_in(conjunction: &[Literal]) -> BTreeSet<SmallStr> {
    conjunction.iter().filter_map(holding).flat_map(Atom::bindings).cloned().collect()
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

/// The prefix of the names of negated groups.
const GROUP: &str = "#not";

/// Whether a predicate was made of a negated group.
pub fn is_group(predicate: &str) -> bool {
    predicate.starts_with(GROUP)
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

/// A formula whose variables are all bound, as one expression; `None` if it applies a relation. As for filters in sequence, the
/// parts of a conjunction after one that is false are not evaluated.
fn test(formula: &Formula) -> Option<Expr> {
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
fn condition(atom: &Atom) -> Option<Expr> {
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
fn disjuncts(formula: Formula, negated: bool, span: SourceSpan) -> Result<Vec<Vec<Literal>>, ProgramError> {
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
fn product<T: Clone>(mut all: Vec<Vec<T>>, more: Vec<Vec<T>>, span: SourceSpan) -> Result<Vec<Vec<T>>, ProgramError> {
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

fn check_count(conjunctions: usize, span: SourceSpan) -> Result<(), ProgramError> {
    match conjunctions > MAX_DISJUNCTS {
        true => Err(ProgramError::TooManyDisjuncts { limit: MAX_DISJUNCTS, span }),
        false => Ok(()),
    }
}
