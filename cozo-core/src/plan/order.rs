//! The order of joins: the written order, unless another is clearly cheaper by the sizes of the relations.
//!
//! [`Estimates::order`] compares orders of one body by their [`Costs`]. For up to [`MAX_EXHAUSTIVE`] atoms that give rows, it finds the
//! cheapest order by dynamic programming over sets of atoms (Selinger et al. 1979). For more atoms, it takes the cheapest next atom each
//! time.
//!
//! ```text
//! set of atoms      best order so far      Step: cost, rows, bound variables
//! {e1}              e1                     150, 1000, {a, b}
//! {e2}              e2                     2, 10, {b, c}
//! {e1, e2}          e2 e1                  15, 30, {a, b, c}      from {e2}, cheaper than e1 e2
//! ```
//!
//! Only atoms that give rows are moved. Filters, tests and negations then stand as early as they can.
//!
//! A variant of a recursive rule begins with the delta, unless that is clearly dearer than the written order.

use std::collections::BTreeSet;

use super::cost::{Costs, Step, gives_rows, is_application, leading};
use super::estimates::Estimates;
use crate::budget::{self, Stop};
use crate::program::{Atom, Program, ProgramError, Rule, order_body};

/// The most atoms whose orders are all compared.
const MAX_EXHAUSTIVE: usize = 9;

/// The most atoms that are reordered at all.
const MAX_REORDERED: usize = 64;

/// How many times cheaper another order must be than the written one. Estimates are rough, and authors often know better.
const CLEARLY_CHEAPER: f64 = 3.0;

const BEGINS_WITH_DELTA: &str = "reordered: begins with the rows of the last round";

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
    /// What it costs, if orders were compared. Unit: look-ups of a key.
    pub cost: f64,
    /// How many rows there are after each atom that gives rows and the tests that follow it, if orders were compared.
    pub rows: Vec<f64>,
}

impl Ordered {
    /// The body as it is.
    pub fn as_written(rule: &Rule) -> Self {
        let origins = (0..rule.body.len()).filter(|at| is_application(&rule.body[*at])).collect();
        Ordered { body: rule.body.clone(), origins, reason: None, had_choice: false, cost: 0.0, rows: vec![] }
    }
}

/// Whether any rule could run in another order. Most scripts are short and need no estimates.
pub fn has_choice(program: &Program) -> bool {
    let rules = program.predicates.keys().flat_map(|name| program.rules(name));
    rules.into_iter().any(|rule| rule.body.iter().filter(|atom| gives_rows(atom)).count() > 1)
}

impl Estimates<'_> {
    /// The body in the order in which it runs. The atom at the position `delta` reads only the delta of a round. The order of a body that
    /// is not `written` by an author says nothing.
    pub fn order(&self, rule: &Rule, delta: Option<usize>, written: bool) -> Result<Ordered, Stop> {
        let costs = Costs::new(self, &rule.body, delta);
        if costs.givers.len() < 2 || costs.givers.len() > MAX_REORDERED {
            return Ok(Ordered::as_written(rule));
        }
        let ((before, rows), best) = (costs.as_written(), costs.best(delta)?);
        // A round had better begin with the delta, which may be small.
        let begins_with_delta = delta.is_none_or(|delta| costs.givers[0] == delta);
        let enough = match begins_with_delta {
            true if written => CLEARLY_CHEAPER,
            true => 1.0,
            false => 1.0 / CLEARLY_CHEAPER,
        };
        let Some((order, after)) = best.filter(|(_, after)| before.cost > after.cost * enough) else {
            return Ok(Ordered { had_choice: true, cost: before.cost, rows, ..Ordered::as_written(rule) });
        };
        let reason = match delta {
            None => format!("reordered: cost {} instead of {}", rounded(after.cost), rounded(before.cost)),
            Some(_) => BEGINS_WITH_DELTA.to_string(),
        };
        let (_, rows) = costs.along(order.iter().copied());
        Ok(Ordered { had_choice: true, cost: after.cost, rows, ..costs.reordered(rule, &order, reason)? })
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

/// A number with two significant digits.
fn rounded(number: f64) -> String {
    if number < 1000.0 { format!("{:.0}", number) } else { format!("{number:.1e}") }
}

impl Costs<'_> {
    /// The body with the atoms that give rows in this order, and each other atom as early as it may stand.
    fn in_order(&self, order: &[usize]) -> Vec<Atom> {
        let mut given = BTreeSet::new();
        let mut body = vec![];
        let mut waiting = self.others.clone();
        for next in std::iter::once(None).chain(order.iter().map(Some)) {
            if let Some(giver) = next {
                given.insert(*giver);
                body.push(self.body[self.givers[*giver]].clone());
            }
            let leading = leading(&given);
            waiting.retain(|&at| {
                let waits = self.waits(at, leading);
                if !waits {
                    body.push(self.body[at].clone());
                }
                waits
            });
        }
        body
    }

    /// The body of a rule with the atoms that give rows in this order; the written order if this one is not safe.
    fn reordered(&self, rule: &Rule, order: &[usize], reason: String) -> Result<Ordered, Stop> {
        match order_body(&rule.head, self.in_order(order)) {
            Ok(body) => {
                let positions = order.iter().map(|giver| self.givers[*giver]);
                let origins = positions.filter(|at| is_application(&rule.body[*at])).collect();
                Ok(Ordered { body, origins, reason: Some(reason), had_choice: false, cost: 0.0, rows: vec![] })
            }
            Err(ProgramError::Stopped(stop)) => Err(stop),
            // Every order of a safe body should be safe. If one is not, the written order is.
            Err(_) => Ok(Ordered::as_written(rule)),
        }
    }

    /// The cheapest order; if `first` is an atom, of the orders that begin with it.
    fn best(&self, first: Option<usize>) -> Result<Option<(Vec<usize>, Step)>, Stop> {
        let first = first.and_then(|first| self.givers.iter().position(|giver| *giver == first));
        let start = match first {
            None => (vec![], self.start()),
            Some(first) => match self.then(&self.start(), first) {
                Some(step) => (vec![first], step),
                None => return Ok(None),
            },
        };
        if self.givers.len() <= MAX_EXHAUSTIVE { self.best_of_all(start) } else { self.cheapest_next(start) }
    }

    /// Finds the cheapest order of each set of atoms, from small sets to large ones.
    fn best_of_all(&self, start: (Vec<usize>, Step)) -> Result<Option<(Vec<usize>, Step)>, Stop> {
        let count = self.givers.len();
        let mut best: Vec<Option<(Vec<usize>, Step)>> = vec![None; 1 << count];
        let first = start.0.iter().fold(0, |set, giver| set | 1 << giver);
        best[first] = Some(start);
        for set in first..1usize << count {
            let Some((order, step)) = best[set].take() else { continue };
            if set == (1 << count) - 1 {
                return Ok(Some((order, step)));
            }
            budget::step(count * self.body.len())?;
            for giver in (0..count).filter(|giver| set & (1 << giver) == 0) {
                let Some(next) = self.then(&step, giver) else { continue };
                let known = &mut best[set | (1 << giver)];
                if known.as_ref().is_none_or(|(_, known)| next.cost < known.cost) {
                    *known = Some(([order.as_slice(), &[giver]].concat(), next));
                }
            }
        }
        Ok(None)
    }

    /// An order that is found by taking the cheapest next atom each time, and nothing else.
    pub(super) fn found_quickly(&self) -> Result<Option<Step>, Stop> {
        Ok(self.cheapest_next((vec![], self.start()))?.map(|(_, step)| step))
    }

    fn cheapest_next(&self, (mut order, mut step): (Vec<usize>, Step)) -> Result<Option<(Vec<usize>, Step)>, Stop> {
        while order.len() < self.givers.len() {
            budget::step(self.givers.len() * self.body.len())?;
            let rest = (0..self.givers.len()).filter(|giver| !order.contains(giver));
            let steps = rest.filter_map(|giver| Some((giver, self.then(&step, giver)?)));
            let cheapest = steps.min_by(|(_, a), (_, b)| (a.cost + a.rows).total_cmp(&(b.cost + b.rows)));
            let Some((giver, next)) = cheapest else { return Ok(None) };
            order.push(giver);
            step = next;
        }
        Ok(Some((order, step)))
    }
}
