//! Disjunctive normal form: every body becomes a conjunction, and a rule with several disjuncts becomes several rules.
//!
//! Which bindings a negation is about depends on the conjunction in which it stands. The positive part of a body is therefore brought
//! into normal form first ([`disjuncts`]): a list of conjunctions of [`Literal`]s. Then each negation of a conjunction is replaced in
//! turn (`negation`), by atoms or by the negated application of a new predicate.
//!
//! ```text
//! r[x] := a[x], (b[x] or not (c[x], d[x, y]))
//!                                        r[x] := a[x], b[x]          r[x] := a[x], not #not1[x]
//! ```
//!
//! If an aggregation counts solutions, a negation must not give the same solution twice, so its parts are not negated one by one.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;

use super::stratify::components;
use crate::budget::{self, Stop};
use crate::diag::SourceSpan;
use crate::program::{Atom, Definition, ENTRY, Formula, Predicate, Program, ProgramError, Rule, Target};
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

/// The state of the pass.
pub(super) struct Pass {
    /// The predicates of negated groups.
    pub(super) groups: BTreeMap<SmallStr, Predicate>,
    /// The number of variables made up for repeated ones.
    pub(super) repetitions: usize,
    /// The number of the component of each predicate that the entry needs. Predicates of one component depend on each other.
    component_of: FxHashMap<SmallStr, usize>,
    /// The predicate whose rules are brought into normal form.
    owner: SmallStr,
    /// Whether it matters how often, or in which order, a body of the rule holds.
    pub(super) counts: bool,
}

/// A part of a conjunction.
#[derive(Clone)]
pub(super) enum Literal {
    /// An atom that holds.
    Holds(Atom),
    /// An atom or a conjunction that does not hold.
    Absent(Formula),
}

impl Pass {
    /// The rules that a rule becomes.
    pub(super) fn rule(&mut self, rule: Rule<Formula>) -> Result<Vec<Rule>, ProgramError> {
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

    /// Whether it matters how often, or in which order, a body of a predicate holds. It does not for a recursive predicate: its
    /// aggregations take equal values once, and its groups could not wait for it.
    fn counts_solutions(&self, predicate: &Predicate<Formula>) -> bool {
        let Definition::Rules(rules) = &predicate.definition else { return false };
        let recurs = || applied_predicates(rules).any(|name| self.is_with_the_owner(name));
        predicate.is_aggregated() && !(predicate.is_meet() && recurs())
    }

    /// Whether a relation that the owner applies depends on the owner.
    pub(super) fn needs_the_owner(&self, target: &Target) -> bool {
        matches!(target, Target::Predicate(name) if self.is_with_the_owner(name))
    }

    /// Whether a predicate and the owner depend on each other.
    fn is_with_the_owner(&self, name: &SmallStr) -> bool {
        let component = |name: &SmallStr| self.component_of.get(name);
        component(name).is_some() && component(name) == component(&self.owner)
    }
}

/// The predicates that rules apply.
fn applied_predicates(rules: &[Rule<Formula>]) -> impl Iterator<Item = &SmallStr> {
    rules.iter().flat_map(|rule| rule.body.atoms()).filter_map(|atom| match &atom.applied()?.target {
        Target::Predicate(name) => Some(name),
        Target::Stored(_) => None,
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

/// The atom of a literal that holds.
pub(super) fn holding(literal: &Literal) -> Option<&Atom> {
    match literal {
        Literal::Holds(atom) => Some(atom),
        Literal::Absent(_) => None,
    }
}

/// The variables that a conjunction binds.
fn bound_in(conjunction: &[Literal]) -> BTreeSet<SmallStr> {
    conjunction.iter().filter_map(holding).flat_map(Atom::bindings).cloned().collect()
}

/// The conjunctions whose disjunction equals a formula, or its negation. A negated atom or conjunction stays whole, since its
/// parts may share own variables.
pub(super) fn disjuncts(formula: Formula, negated: bool, span: SourceSpan) -> Result<Vec<Vec<Literal>>, ProgramError> {
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
pub(super) fn product<T: Clone>(
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

/// Refuses more conjunctions than a body may expand into.
pub(super) fn check_count(conjunctions: usize, span: SourceSpan) -> Result<(), ProgramError> {
    match conjunctions > MAX_DISJUNCTS {
        true => Err(ProgramError::TooManyDisjuncts { limit: MAX_DISJUNCTS, span }),
        false => Ok(()),
    }
}
