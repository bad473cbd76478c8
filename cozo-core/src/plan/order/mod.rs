//! The order of joins: the written order, unless another is clearly cheaper by the sizes of the relations.
//!
//! [`Estimates`] guesses the size of each relation, component by component. [`Costs`] compares orders of one body by estimated work. Its
//! unit is a look-up of one key. For up to [`MAX_EXHAUSTIVE`] atoms that give rows, it finds the cheapest order by dynamic programming over
//! sets of atoms (Selinger et al. 1979). For more atoms, it takes the cheapest next atom each time.
//!
//! ```text
//! set of atoms      best order so far      Step: cost, rows, bound variables
//! {e1}              e1                     150, 1000, {a, b}
//! {e2}              e2                     2, 10, {b, c}
//! {e1, e2}          e2 e1                  15, 30, {a, b, c}      from {e2}, cheaper than e1 e2
//! ```
//!
//! Only atoms that give rows are moved. Filters, tests and negations then stand as early as they can. An atom that may fail, or that may
//! give each row another value, stays behind all atoms that give rows and stood before it: so it sees no row that it does not see in the
//! written order.
//!
//! A variant of a recursive rule begins with the delta, unless that is clearly dearer than the written order.

mod costs;

use rustc_hash::FxHashMap;

use super::statistics::{Size, Statistics};
use crate::budget::{self, Stop};
use crate::program::{Atom, ConstantRows, Definition, HeadColumn, Predicate, Program, Rule, Target};
use crate::value::SmallStr;
use costs::Costs;

/// The most atoms whose orders are all compared.
const MAX_EXHAUSTIVE: usize = 9;

/// The most atoms that are reordered at all.
const MAX_REORDERED: usize = 64;

/// How many times cheaper another order must be than the written one. Estimates are rough, and authors often know better.
const CLEARLY_CHEAPER: f64 = 3.0;

/// The cost of a row: found by a key, found by a hash, entered into a hash table, read in a scan, passed on.
const LOOK_UP: f64 = 1.0;
const PROBE: f64 = 0.4;
const HASH: f64 = 0.5;
const READ: f64 = 0.05;
const HAND_ON: f64 = 0.1;

/// A guess: how many rows a recursive rule gives for each row that it begins with.
const GROWTH: f64 = 16.0;

/// A guess: how many elements a list has.
const LIST_LENGTH: f64 = 5.0;

/// A guess: how many rows a fixed rule gives.
const FIXED_RULE_ROWS: f64 = 1000.0;

/// A guess: the part of the rows that passes a filter.
const PASSING: f64 = 0.3;

/// The sizes of all relations of a program.
pub struct Estimates<'a> {
    statistics: &'a dyn Statistics,
    derived: FxHashMap<SmallStr, Size>,
}

/// An ordered body.
pub struct Ordered {
    /// The atoms.
    pub body: Vec<Atom>,
    /// For each application that gives rows, in the order of the body, its position in the written body.
    pub origins: Vec<usize>,
    /// Why it is not in the written order, if it is not.
    pub reason: Option<String>,
    /// Whether another order was possible, so that other sizes might give another order.
    pub had_choice: bool,
}

impl Ordered {
    /// The body as it is.
    pub fn as_written(rule: &Rule) -> Self {
        let origins = (0..rule.body.len()).filter(|at| is_application(&rule.body[*at])).collect();
        Ordered { body: rule.body.clone(), origins, reason: None, had_choice: false }
    }
}

/// Whether an atom gives the rows of a relation.
fn is_application(atom: &Atom) -> bool {
    matches!(atom, Atom::Apply(apply) if !apply.negated)
}

/// Whether an atom gives rows. Only such atoms are moved.
fn gives_rows(atom: &Atom) -> bool {
    is_application(atom) || matches!(atom, Atom::Unnest(..))
}

/// Whether any rule could run in another order. Most scripts are short and need no estimates.
pub fn has_choice(program: &Program) -> bool {
    let rules = program.predicates.keys().flat_map(|name| program.rules(name));
    rules.into_iter().any(|rule| rule.body.iter().filter(|atom| gives_rows(atom)).count() > 1)
}

impl<'a> Estimates<'a> {
    /// Estimates without derived relations.
    pub fn new(statistics: &'a dyn Statistics) -> Self {
        Estimates { statistics, derived: FxHashMap::default() }
    }

    /// Estimates the predicates of one component. Components that it reads must have been entered.
    pub fn enter_component(&mut self, program: &Program, names: &[SmallStr], recursive: bool) -> Result<(), Stop> {
        // A recursive predicate has the rows of its base rules at first, and then grows.
        for name in names {
            let predicate = &program.predicates[name];
            self.derived.insert(name.clone(), Size::guessed(1.0, predicate.columns.len()));
        }
        for name in names {
            let size = self.predicate(&program.predicates[name], if recursive { GROWTH } else { 1.0 })?;
            self.derived.insert(name.clone(), size);
        }
        Ok(())
    }

    fn predicate(&self, predicate: &Predicate, growth: f64) -> Result<Size, Stop> {
        let arity = predicate.columns.len();
        Ok(match &predicate.definition {
            Definition::Rules(rules) => {
                let mut rows = 0.0;
                for rule in rules {
                    budget::step(rule.body.len())?;
                    rows += self.rows_after(&rule.body);
                }
                rows *= growth;
                let grouped = |column: &HeadColumn| column.aggregation.is_none();
                match predicate.columns.iter().filter(|column| grouped(column)).count() {
                    0 => Size::guessed(1.0, arity),
                    keys if keys < arity => Size { keys, ..Size::guessed(rows.powf(0.8).max(1.0), arity) },
                    _ => Size::guessed(rows.max(1.0), arity),
                }
            }
            Definition::Constant(ConstantRows::Rows(rows)) => Size::guessed(rows.len() as f64, arity),
            Definition::Constant(ConstantRows::Columns(rows)) => Size::guessed(rows.len as f64, arity),
            Definition::Constant(_) => Size::guessed(LIST_LENGTH, arity),
            Definition::Fixed(_) => Size::guessed(FIXED_RULE_ROWS, arity),
        })
    }

    /// The size of a relation.
    pub fn size(&self, target: &Target) -> Size {
        match target {
            Target::Predicate(name) => {
                self.derived.get(name).cloned().unwrap_or_else(|| Size::guessed(LIST_LENGTH, MAX_COLUMNS))
            }
            Target::Stored(read) => Size::of(read, self.statistics),
        }
    }

    /// The number of rows that the first atoms of a body give.
    pub fn rows_after(&self, body: &[Atom]) -> f64 {
        let costs = Costs::new(self, body, None);
        costs.as_written().rows
    }

    /// The body in the order in which it runs. The atom at the position `delta` reads only the delta of a round.
    pub fn order(&self, rule: &Rule, delta: Option<usize>) -> Result<Ordered, Stop> {
        let as_written = |had_choice| Ok(Ordered { had_choice, ..Ordered::as_written(rule) });
        let costs = Costs::new(self, &rule.body, delta);
        if costs.givers.len() < 2 || costs.givers.len() > MAX_REORDERED {
            return as_written(false);
        }
        let (before, best) = (costs.as_written(), costs.best(delta)?);
        // A round had better begin with the delta, which may be small.
        let begins_with_delta = delta.is_none_or(|delta| costs.givers[0] == delta);
        let enough = if begins_with_delta { CLEARLY_CHEAPER } else { 1.0 / CLEARLY_CHEAPER };
        let Some((order, after)) = best.filter(|(_, after)| before.cost > after.cost * enough) else {
            return as_written(true);
        };
        let reason = match delta {
            None => format!("reordered: cost {} instead of {}", rounded(after.cost), rounded(before.cost)),
            Some(_) => BEGINS_WITH_DELTA.to_string(),
        };
        Ok(Ordered { had_choice: true, ..costs.reordered(rule, &order, reason)? })
    }

    /// The body with the atom at the position `delta` first, and the others in the written order, whatever they cost.
    pub fn begun_with(&self, rule: &Rule, delta: usize) -> Result<Ordered, Stop> {
        let costs = Costs::new(self, &rule.body, Some(delta));
        let Some(first) = costs.givers.iter().position(|giver| *giver == delta).filter(|first| *first > 0) else {
            return Ok(Ordered::as_written(rule));
        };
        let others = (0..costs.givers.len()).filter(|giver| *giver != first);
        let order: Vec<usize> = std::iter::once(first).chain(others).collect();
        costs.reordered(rule, &order, BEGINS_WITH_DELTA.to_string())
    }
}

const BEGINS_WITH_DELTA: &str = "reordered: begins with the rows of the last round";

/// More columns than any guess needs.
const MAX_COLUMNS: usize = 64;

/// A number with two significant digits.
fn rounded(number: f64) -> String {
    if number < 1000.0 { format!("{:.0}", number) } else { format!("{number:.1e}") }
}
