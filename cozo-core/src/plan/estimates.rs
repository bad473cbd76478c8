//! The sizes of all relations of a program, estimated.
//!
//! [`Estimates`] has the size of each derived relation, component by component. Stored relations have the sizes of a [`Statistics`].
//! The number of rows of a rule is that of its body in the written order ([`Costs`]).

use rustc_hash::FxHashMap;

use super::cost::{Costs, GROUP, LIST_LENGTH};
use super::statistics::{Size, Statistics};
use crate::budget::{self, Stop};
use crate::program::{Atom, ConstantRows, Definition, HeadColumn, Predicate, Program, Rule, Target, Variable};
use crate::value::SmallStr;

/// A guess: how many rows a recursive rule gives for each row that it begins with.
pub(super) const GROWTH: f64 = 16.0;

/// A guess: how many rows a fixed rule gives.
const FIXED_RULE_ROWS: f64 = 1000.0;

/// More columns than any guess needs.
const MAX_COLUMNS: usize = 64;

/// The sizes of all relations of a program.
pub struct Estimates<'a> {
    statistics: &'a dyn Statistics,
    derived: FxHashMap<SmallStr, Size>,
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
                let keys = predicate.columns.iter().take_while(|column| grouped(column)).count();
                if let ([rule], true) = (&rules[..], growth == 1.0 && !predicate.columns[keys..].iter().any(grouped)) {
                    return Ok(self.groups(predicate, rule, rows));
                }
                match predicate.columns.iter().filter(|column| grouped(column)).count() {
                    keys if keys < arity
                        && growth == 1.0
                        && rules.len() == 1
                        && predicate.columns[..keys].iter().all(grouped) =>
                    {
                        self.groups(predicate, &rules[0], rows)
                    }
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

    /// How many leading columns of a relation tell its rows apart.
    pub fn keys(&self, target: &Target, arity: usize) -> usize {
        match target {
            Target::Predicate(name) => self.derived.get(name).map_or(arity, |size| size.keys),
            Target::Stored(read) => read.identifying_columns(),
        }
    }

    /// What it costs to enumerate the rows of a body and to aggregate them, in groups or not. Unit: look-ups of a key.
    pub fn cost(&self, body: &[Atom], is_grouped: bool) -> Result<f64, Stop> {
        let costs = Costs::new(self, body, None);
        let step = costs.found_quickly()?.unwrap_or_else(|| costs.as_written().0);
        Ok(step.cost + if is_grouped { step.rows * GROUP } else { 0.0 })
    }

    /// Estimates a predicate with one rule that is not recursive. Returns what it costs.
    pub fn enter_part(&mut self, name: &SmallStr, part: &Predicate) -> Result<f64, Stop> {
        let size = self.predicate(part, 1.0)?;
        self.derived.insert(name.clone(), size);
        match &part.definition {
            Definition::Rules(rules) => rules.iter().map(|rule| self.cost(&rule.body, true)).sum(),
            _ => Ok(0.0),
        }
    }

    /// The number of different values that a variable has in the rows of a body, at most.
    fn distinct(&self, body: &[Atom], variable: &SmallStr) -> f64 {
        let of_atom = |atom: &Atom| {
            let Atom::Apply(apply) = atom else { return None };
            let column = apply.column_of(variable).filter(|_| !apply.negated)?;
            self.size(&apply.target).distinct.get(column).copied()
        };
        body.iter().filter_map(of_atom).fold(f64::INFINITY, f64::min)
    }

    /// The size of a predicate with one rule, which has a row for each combination of values of its grouping variables.
    fn groups(&self, predicate: &Predicate, rule: &Rule, rows: f64) -> Size {
        let values = |variable: &Variable| self.distinct(&rule.body, &variable.name).min(rows.max(1.0));
        let of_column = |(column, variable): (&HeadColumn, &Variable)| match column.aggregation {
            None => values(variable),
            Some(_) => rows.powf(0.8).max(1.0),
        };
        let distinct: Vec<f64> = predicate.columns.iter().zip(&rule.head).map(of_column).collect();
        let keys = predicate.columns.iter().take_while(|column| column.aggregation.is_none()).count();
        let groups: f64 = distinct[..keys].iter().product();
        Size { rows: groups.min(rows).max(1.0), distinct, keys }
    }

    /// The number of rows that the first atoms of a body give.
    pub fn rows_after(&self, body: &[Atom]) -> f64 {
        let costs = Costs::new(self, body, None);
        costs.as_written().0.rows
    }
}
