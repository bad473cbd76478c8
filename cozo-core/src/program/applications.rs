//! Which rules apply which: those that the entry needs, and whether each application fits its rule.

use std::collections::BTreeMap;

use rustc_hash::FxHashSet;

use super::{Apply, Atom, Definition, ENTRY, Formula, HeadColumn, Predicate, ProgramError, Target};
use crate::parse::ast;
use crate::value::SmallStr;

/// The names of the predicates that the entry reaches, also of undefined ones.
pub fn reachable(rules: &BTreeMap<SmallStr, Vec<&ast::Rule>>) -> FxHashSet<SmallStr> {
    let mut reached = FxHashSet::default();
    let mut waiting = vec![SmallStr::from(ENTRY)];
    while let Some(name) = waiting.pop() {
        if !reached.insert(name.clone()) {
            continue;
        }
        for rule in rules.get(&name).into_iter().flatten() {
            match &rule.body {
                ast::RuleBody::Inline(formula) => applied(formula, &mut waiting, &reached),
                ast::RuleBody::Fixed(call) => {
                    for input in &call.inputs {
                        if let ast::FixedInput::Rule { name, .. } = input
                            && !reached.contains(&name.name)
                        {
                            waiting.push(name.name.clone());
                        }
                    }
                }
                ast::RuleBody::Constant(_) => {}
            }
        }
    }
    reached
}

pub fn applied(formula: &ast::Formula, waiting: &mut Vec<SmallStr>, reached: &FxHashSet<SmallStr>) {
    match formula {
        ast::Formula::And(parts) | ast::Formula::Or(parts) => {
            parts.iter().for_each(|part| applied(part, waiting, reached));
        }
        ast::Formula::Not(inner, _) => applied(inner, waiting, reached),
        ast::Formula::Atom(ast::Atom::Rule(apply)) if !reached.contains(&apply.name.name) => {
            waiting.push(apply.name.name.clone());
        }
        ast::Formula::Atom(_) => {}
    }
}

/// Checks that every applied predicate is defined, with as many columns as arguments.
pub fn check_applications(predicates: &BTreeMap<SmallStr, Predicate<Formula>>) -> Result<(), ProgramError> {
    let check = |apply: &Apply| {
        let Target::Predicate(name) = &apply.target else { return Ok(()) };
        let span = apply.span;
        let predicate =
            predicates.get(name).ok_or_else(|| ProgramError::RuleNotFound { name: name.to_string(), span })?;
        let expected = predicate.columns.len();
        if expected == apply.args.len() {
            return Ok(());
        }
        Err(ProgramError::ApplicationArity { name: name.to_string(), expected, found: apply.args.len(), span })
    };
    for predicate in predicates.values() {
        match &predicate.definition {
            Definition::Rules(rules) => {
                for atom in rules.iter().flat_map(|rule| rule.body.atoms()) {
                    if let Atom::Apply(apply) = atom {
                        check(apply)?;
                    }
                }
            }
            Definition::Fixed(apply) => super::fixed::check_inputs(apply, predicates)?,
            Definition::Constant(_) => {}
        }
    }
    Ok(())
}

pub fn same_aggregations(a: &[HeadColumn], b: &[HeadColumn]) -> bool {
    let same = |x: &HeadColumn, y: &HeadColumn| match (&x.aggregation, &y.aggregation) {
        (None, None) => true,
        (Some(x), Some(y)) => {
            x.aggregation.name == y.aggregation.name
                && x.args.len() == y.args.len()
                && x.args.iter().zip(&y.args).all(|(x, y)| x.to_string() == y.to_string())
        }
        _ => false,
    };
    a.len() == b.len() && a.iter().zip(b).all(|(x, y)| same(x, y))
}
