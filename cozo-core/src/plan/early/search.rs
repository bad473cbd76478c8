//! Which parts a predicate gets: the cheapest of the rewritings that a greedy search finds.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;

use super::exclusion::without_tests;
use super::part::Weighted;
use super::{Repeats, needed, repeats, sums_are_of_numbers, weighted_predicate};
use crate::budget::{self, Stop};
use crate::plan::estimates::Estimates;
use crate::program::{Apply, Atom, Definition, HeadColumn, Predicate, Rule, Target};
use crate::value::SmallStr;

/// How many times cheaper a rewriting must be. It reads relations as a whole that the rule may only look into.
const MIN_GAIN: f64 = 1.5;

/// A rule that costs less stays as it is. Unit: look-ups of a key.
const MIN_COST: f64 = 1000.0;

/// A part: its name and its definition.
type Part = (SmallStr, Predicate);

/// A rewriting of one rule.
#[derive(Clone)]
struct State {
    rule: Weighted,
    /// The parts in the order in which they are evaluated.
    parts: Vec<Part>,
    /// What the parts cost.
    parts_cost: f64,
    /// What the parts and the rule cost.
    cost: f64,
}

/// The predicate with parts, and the parts; `None` if it is cheaper as it is.
pub(super) fn rewrite(
    name: &SmallStr,
    predicate: &Predicate,
    estimates: &mut Estimates<'_>,
) -> Result<Option<(Predicate, Vec<Part>)>, Stop> {
    let Definition::Rules(rules) = &predicate.definition else { return Ok(None) };
    let is_grouped = predicate.columns.iter().any(|column| column.aggregation.is_none());
    let costs: Vec<f64> = rules.iter().map(|rule| estimates.cost(&rule.body, is_grouped)).collect::<Result<_, _>>()?;
    let before: f64 = costs.iter().sum();
    if before < MIN_COST {
        return Ok(None);
    }
    let mut search = PartSearch { name, predicate, is_grouped, estimates, next: 1 };
    let (mut after, mut parts, mut rewritten) = (0.0, vec![], vec![]);
    for (rule, cost) in rules.iter().zip(costs) {
        let found = search.of_rule(rule, cost)?;
        after += found.iter().map(|state| state.cost).sum::<f64>();
        for state in found {
            parts.extend(state.parts);
            rewritten.push(state.rule);
        }
    }
    let has_changed = !parts.is_empty() || rewritten.len() > rules.len();
    if !has_changed || after * MIN_GAIN > before {
        return Ok(None);
    }
    let parts = share(name, parts, &mut rewritten);
    for (part, definition) in &parts {
        estimates.enter_part(part, definition)?;
    }
    Ok(weighted_predicate(predicate, rewritten).map(|predicate| (predicate, parts)))
}

/// The search for the parts of one predicate.
struct PartSearch<'s, 'e> {
    name: &'s SmallStr,
    predicate: &'s Predicate,
    /// Whether the predicate has groups.
    is_grouped: bool,
    estimates: &'s mut Estimates<'e>,
    /// The number of the next part.
    next: usize,
}

impl PartSearch<'_, '_> {
    /// The rules that replace a rule of a cost: itself with parts, or several with and without a test.
    fn of_rule(&mut self, rule: &Rule, cost: f64) -> Result<Vec<State>, Stop> {
        let whole = self.reduced(Weighted::of(rule), cost)?;
        let Some(split) = without_tests(self.predicate, rule) else { return Ok(vec![whole]) };
        let mut states = vec![];
        for rule in split {
            let cost = self.estimates.cost(&rule.rule.body, self.is_grouped)?;
            states.push(self.reduced(rule, cost)?);
        }
        let cost: f64 = states.iter().map(|state| state.cost).sum();
        Ok(if cost * MIN_GAIN < whole.cost { states } else { vec![whole] })
    }

    /// The rule with the parts that make it cheapest. A step that gains nothing may make the next one possible, so all steps are taken, and
    /// the best state on the way is the result.
    fn reduced(&mut self, rule: Weighted, cost: f64) -> Result<State, Stop> {
        let mut state = State { rule, parts: vec![], parts_cost: 0.0, cost };
        let mut best = state.clone();
        while let Some(next) = self.step(&state)? {
            state = next;
            if state.cost < best.cost {
                best = state.clone();
            }
        }
        Ok(best)
    }

    /// Of the states with one more part, the cheapest of those in which the part shares the fewest variables: rows are grouped by these.
    fn step(&mut self, state: &State) -> Result<Option<State>, Stop> {
        let needed = needed(self.predicate, &state.rule.rule);
        let mut variables: Vec<SmallStr> = vec![];
        for name in state.rule.rule.body.iter().flat_map(Atom::variables) {
            if !needed.contains(name) && !state.rule.weights.contains(name) && !variables.contains(name) {
                variables.push(name.clone());
            }
        }
        let mut best: Option<(usize, State)> = None;
        for variable in &variables {
            budget::step(state.rule.rule.body.len() * state.rule.rule.body.len())?;
            if let Some(next) = self.eliminated(state, variable, &needed)?
                && best.as_ref().is_none_or(|(shared, best)| (next.0, next.1.cost) < (*shared, best.cost))
            {
                best = Some(next);
            }
        }
        Ok(best.map(|(_, best)| best))
    }

    /// The state in which a variable is in a part, and how many variables the part shares.
    fn eliminated(
        &mut self,
        state: &State,
        variable: &SmallStr,
        needed: &BTreeSet<SmallStr>,
    ) -> Result<Option<(usize, State)>, Stop> {
        let Some(group) = state.rule.group_of(variable, needed) else { return Ok(None) };
        let used = |column: &HeadColumn| column.aggregation.as_ref().and_then(|used| repeats(used.aggregation));
        let counts = self.predicate.columns.iter().filter_map(used).any(|repeats| repeats != Repeats::Ignores);
        let name = SmallStr::from(format!("{} part {}", self.name, self.next));
        let Some((rule, part)) = state.rule.with_part(&group, counts, &name, self.estimates)? else { return Ok(None) };
        if !rule.weights.is_empty() && !sums_are_of_numbers(self.predicate, &rule.rule) {
            return Ok(None);
        }
        self.next += 1;
        let parts_cost = state.parts_cost + self.estimates.enter_part(&name, &part)?;
        let cost = parts_cost + self.estimates.cost(&rule.rule.body, self.is_grouped)?;
        let mut parts = state.parts.clone();
        parts.push((name, part));
        Ok(Some((group.shared.len(), State { rule, parts, parts_cost, cost })))
    }
}

/// Names the parts anew, in their order, and lets equal ones be one: a pattern often has the same branch at several places.
fn share(owner: &SmallStr, parts: Vec<Part>, rules: &mut [Weighted]) -> Vec<Part> {
    let mut known: FxHashMap<String, SmallStr> = FxHashMap::default();
    let mut names: FxHashMap<SmallStr, SmallStr> = FxHashMap::default();
    let mut shared: Vec<Part> = vec![];
    for (name, mut part) in parts {
        if let Definition::Rules(rules) = &mut part.definition {
            rules.iter_mut().for_each(|rule| point_at(rule, &names));
        }
        let new = known.entry(canonical(&part)).or_insert_with(|| {
            let new = SmallStr::from(format!("{owner} part {}", shared.len() + 1));
            shared.push((new.clone(), part));
            new
        });
        names.insert(name, new.clone());
    }
    rules.iter_mut().for_each(|rule| point_at(&mut rule.rule, &names));
    shared
}

/// Lets a rule apply other predicates.
fn point_at(rule: &mut Rule, names: &FxHashMap<SmallStr, SmallStr>) {
    for atom in &mut rule.body {
        if let Atom::Apply(Apply { target: Target::Predicate(name), .. }) = atom
            && let Some(new) = names.get(name)
        {
            *name = new.clone();
        }
    }
}

/// The text of a part whose variables have numbers for names. Equal texts are of equal parts.
fn canonical(part: &Predicate) -> String {
    let Definition::Rules(rules) = &part.definition else { return String::new() };
    let mut numbers: BTreeMap<SmallStr, usize> = BTreeMap::new();
    let mut text = String::new();
    for rule in rules {
        let mut rule = rule.clone();
        rule.rename(&mut |name| {
            let next = numbers.len();
            *name = SmallStr::from(format!("v{}", *numbers.entry(name.clone()).or_insert(next)));
        });
        text += &rule.to_string();
    }
    let aggregation = |column: &HeadColumn| column.aggregation.as_ref().map_or("", |used| used.aggregation.name);
    part.columns.iter().for_each(|column| text = format!("{text} {}", aggregation(column)));
    text
}
