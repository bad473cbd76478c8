//! What a sequence of atoms costs, by estimated work. The unit is a look-up of one key.
//!
//! [`Costs`] divides a body into *givers*, the atoms that give rows, and all others. A [`Step`] is a sequence of givers: its cost,
//! the number of its rows, and the variables that it binds. [`Costs::then`] appends a giver. The other atoms join the sequence as soon
//! as they can (`settle`).
//!
//! An atom that may fail, or that may give each row another value, stays behind all givers that stood before it: so it sees no row that
//! it does not see in the written order.

use std::collections::BTreeSet;

use super::estimates::{Estimates, GROWTH};
use super::indices;
use super::statistics::Size;
use crate::expr::Expr;
use crate::program::{Apply, Arg, Atom, Target};
use crate::schema::{BaseType, ColumnType};
use crate::value::{DataValue, SmallStr};

/// The cost of a row: found by a key, found by a hash, entered into a hash table, read in a scan, passed on.
const LOOK_UP: f64 = 1.0;
const PROBE: f64 = 0.4;
const HASH: f64 = 0.5;
const READ: f64 = 0.05;
const HAND_ON: f64 = 0.1;

/// The cost of a search in an index: about that of some hundred look-ups.
const SEARCH: f64 = 100.0;

/// The cost of a row that is entered into its group.
pub(super) const GROUP: f64 = 1.0;

/// The work of a look-up of a row, or of a function without a kernel for columns. Unit: rows that are read in a scan.
pub(super) const ROW_AT_A_TIME: u64 = 8;

/// The work of a search in an index. Unit: rows that are read in a scan.
pub(super) const SEARCH_WORK: u64 = 2048;

/// So many bytes of a vector take as much work as a row without one. Unit: bytes.
pub(super) const BYTES_PER_ROW_READ: u64 = 64;

/// A guess: how many elements a list has, and how many rows a search finds.
pub(super) const LIST_LENGTH: f64 = 5.0;

/// A guess: the part of the rows that passes a filter.
const PASSING: f64 = 0.3;

/// A sequence of atoms: its cost and its result.
#[derive(Clone, Debug)]
pub(super) struct Step {
    /// The cost, in look-ups of a key.
    pub(super) cost: f64,
    /// The number of rows.
    pub(super) rows: f64,
    /// The variables that are bound.
    bound: BTreeSet<SmallStr>,
    /// The other atoms (by position in the body) that are included.
    settled: BTreeSet<usize>,
    /// The atoms that give rows and are included, by number.
    given: BTreeSet<usize>,
}

/// The atoms of one body.
pub(super) struct Costs<'e> {
    /// The atoms.
    pub(super) body: &'e [Atom],
    /// The positions of the atoms that give rows.
    pub(super) givers: Vec<usize>,
    /// The positions of the other atoms.
    pub(super) others: Vec<usize>,
    /// The size of each giver's relation.
    sizes: Vec<Size>,
    /// The pairs of expressions that a test equates, or of which one is an element of the other.
    equalities: Vec<[&'e Expr; 2]>,
    /// Whether an atom must stay behind the atoms that give rows and stood before it.
    keeps_its_place: Vec<bool>,
}

/// Whether an atom gives the rows of a relation.
pub(super) fn is_application(atom: &Atom) -> bool {
    matches!(atom, Atom::Apply(apply) if !apply.negated)
}

/// Whether an atom gives rows. Only such atoms are moved.
pub(super) fn gives_rows(atom: &Atom) -> bool {
    is_application(atom) || matches!(atom, Atom::Unnest(..) | Atom::Search(_) | Atom::AsOf(_))
}

/// Whether each atom may fail, or may give each row another value.
pub(super) fn may_fail(body: &[Atom]) -> Vec<bool> {
    let numbers = numbers(body);
    let is_safe = |expr: &Expr| never_fails(expr, &numbers);
    let may_fail = |atom: &Atom| match atom {
        Atom::Unify(_, expr) => !expr.is_leaf(),
        Atom::Filter(expr) | Atom::Same(_, expr) => !is_safe(expr),
        Atom::Apply(apply) => {
            apply.negated && apply.args.iter().any(|arg| matches!(arg, Arg::Expr(expr) if !is_safe(expr)))
        }
        Atom::Unnest(..) | Atom::Search(_) => false,
        Atom::AsOf(_) => true,
    };
    body.iter().map(may_fail).collect()
}

/// The length of the run of numbers from 0 on that has no gap.
pub(super) fn leading(given: &BTreeSet<usize>) -> usize {
    given.iter().enumerate().take_while(|(expected, number)| expected == *number).count()
}

/// The variables that are numbers, whichever application binds them.
fn numbers(body: &[Atom]) -> BTreeSet<&SmallStr> {
    let (mut numbers, mut others) = (BTreeSet::new(), BTreeSet::new());
    for atom in body {
        let Atom::Apply(apply) = atom else { continue };
        let columns = match &apply.target {
            Target::Stored(read) => read.schema.columns().map(|column| Some(&column.column_type)).collect(),
            Target::Predicate(_) => vec![None; apply.args.len()],
        };
        for (arg, column_type) in apply.args.iter().zip(columns) {
            let Arg::Variable(variable) = arg else { continue };
            let is_number =
                |found: &ColumnType| !found.nullable && matches!(found.base, BaseType::Int | BaseType::Float);
            match column_type {
                Some(found) if is_number(found) => numbers.insert(&variable.name),
                _ => others.insert(&variable.name),
            };
        }
    }
    &numbers - &others
}

/// Whether a test gives true or false for every row: an equality, or a comparison of numbers. Parameters are assumed to be numbers.
fn never_fails(expr: &Expr, numbers: &BTreeSet<&SmallStr>) -> bool {
    let is_number = |expr: &Expr| match expr {
        Expr::Variable(name, _) => numbers.contains(name),
        Expr::Constant(value, _) => matches!(value, DataValue::Num(_)),
        Expr::Parameter(..) => true,
        _ => false,
    };
    match expr {
        Expr::Call { function, args, .. } => match function.name {
            "eq" | "neq" => args.iter().all(Expr::is_leaf),
            "gt" | "ge" | "lt" | "le" => args.iter().all(is_number),
            _ => false,
        },
        leaf => matches!(leaf, Expr::Constant(DataValue::Bool(_), _)),
    }
}

/// The expressions that a test equates, or of which one is an element of the other.
fn equality(atom: &Atom) -> Option<[&Expr; 2]> {
    match atom {
        Atom::Filter(Expr::Call { function, args, .. }) if matches!(function.name, "eq" | "is_in") => match &args[..] {
            [a, b] => Some([a, b]),
            _ => None,
        },
        _ => None,
    }
}

fn is_comparison(expr: &Expr) -> bool {
    matches!(expr, Expr::Call { function, .. } if matches!(function.name, "lt" | "le" | "gt" | "ge"))
}

impl<'e> Costs<'e> {
    /// The atoms of a body. The atom at the position `delta` reads only the delta of a round.
    pub(super) fn new(estimates: &Estimates<'_>, body: &'e [Atom], delta: Option<usize>) -> Self {
        let (givers, others): (Vec<usize>, Vec<usize>) = (0..body.len()).partition(|at| gives_rows(&body[*at]));
        let size = |at: &usize| match &body[*at] {
            Atom::Apply(apply) => {
                let size = estimates.size(&apply.target);
                match delta {
                    Some(delta) if delta == *at => Size::guessed((size.rows / GROWTH).max(1.0), apply.args.len()),
                    _ => size,
                }
            }
            _ => Size::guessed(LIST_LENGTH, 1),
        };
        let sizes = givers.iter().map(size).collect();
        let equalities = others.iter().filter_map(|at| equality(&body[*at])).collect();
        Costs { body, givers, others, sizes, equalities, keeps_its_place: may_fail(body) }
    }

    /// The sequence without givers.
    pub(super) fn start(&self) -> Step {
        let mut step =
            Step { cost: 0.0, rows: 1.0, bound: BTreeSet::new(), settled: BTreeSet::new(), given: BTreeSet::new() };
        self.settle(&mut step);
        step
    }

    /// Whether an atom must wait for an atom that gives rows and stood before it. The first `leading` of those are included, and the next
    /// is not.
    pub(super) fn waits(&self, at: usize, leading: usize) -> bool {
        self.keeps_its_place[at] && self.givers.partition_point(|giver| *giver < at) > leading
    }

    /// The body with the atoms that give rows in this order, and each other atom as early as it may stand.
    /// Includes the filters, unifications and negations whose variables are bound.
    fn settle(&self, step: &mut Step) {
        let leading = leading(&step.given);
        loop {
            let before = step.settled.len();
            for at in self.others.iter().copied() {
                if step.settled.contains(&at) || self.waits(at, leading) {
                    continue;
                }
                let all_bound = |names: Vec<&SmallStr>| names.into_iter().all(|name| step.bound.contains(name));
                match &self.body[at] {
                    Atom::Unify(variable, expr) if all_bound(expr.variables()) => {
                        step.bound.insert(variable.name.clone());
                    }
                    atom @ (Atom::Filter(_) | Atom::Same(..)) if all_bound(atom.variables()) => step.rows *= PASSING,
                    atom @ Atom::Apply(_) if all_bound(atom.variables()) => {
                        step.cost += step.rows * LOOK_UP;
                        step.rows *= PASSING;
                    }
                    _ => continue,
                }
                step.settled.insert(at);
            }
            if step.settled.len() == before {
                return;
            }
        }
    }

    /// The sequence with one more atom that gives rows; `None` if the atom cannot stand here.
    pub(super) fn then(&self, step: &Step, giver: usize) -> Option<Step> {
        let mut next = step.clone();
        self.advance(&mut next, giver).then_some(next)
    }

    /// Includes one more atom that gives rows; returns whether it can stand here.
    fn advance(&self, step: &mut Step, giver: usize) -> bool {
        match &self.body[self.givers[giver]] {
            Atom::Apply(apply) => {
                if self.would_test_a_list(step, giver, apply) {
                    return false;
                }
                let (cost, rows) = self.join(step, apply, &self.sizes[giver]);
                step.cost += cost;
                step.rows = rows;
                step.bound.extend(apply.bindings().cloned());
            }
            Atom::Unnest(variable, expr) => {
                if !expr.variables().into_iter().all(|name| step.bound.contains(name)) {
                    return false;
                }
                step.rows *= if step.bound.insert(variable.name.clone()) { LIST_LENGTH } else { PASSING };
                step.cost += step.rows * HAND_ON;
            }
            Atom::Search(search) => {
                if !search.inputs().all(|name| step.bound.contains(name)) {
                    return false;
                }
                step.cost += step.rows * SEARCH;
                step.rows *= LIST_LENGTH;
                step.bound.extend(search.bindings().cloned());
            }
            Atom::AsOf(read) => {
                if !read.inputs().all(|name| step.bound.contains(name)) {
                    return false;
                }
                step.cost += step.rows * (LOOK_UP + HAND_ON);
                step.bound.extend(read.bindings().cloned());
            }
            _ => return false,
        }
        step.given.insert(giver);
        self.settle(step);
        true
    }

    /// The cost of a join with a relation, and the number of its rows.
    fn join(&self, step: &Step, apply: &Apply, size: &Size) -> (f64, f64) {
        let is_bound = |arg: &Arg| match arg {
            Arg::Wildcard => false,
            Arg::Variable(variable) => step.bound.contains(&variable.name),
            Arg::Expr(expr) => expr.variables().into_iter().all(|name| step.bound.contains(name)),
        };
        let bound: Vec<usize> = (0..apply.args.len()).filter(|column| is_bound(&apply.args[*column])).collect();
        if let (true, Some(matches)) = (bound.is_empty(), self.equal_rows(step, apply, size)) {
            let rows = step.rows * matches;
            return (size.rows * HASH + step.rows * PROBE + rows * HAND_ON, rows);
        }
        if let (true, Some(passing)) = (bound.is_empty(), self.compared_part(step, apply)) {
            let rows = step.rows * size.rows;
            return (size.rows * HASH + step.rows * PROBE + rows * passing * HAND_ON, rows);
        }
        let matches = size.matches(&bound);
        let rows = step.rows * matches;
        let leading = bound.iter().enumerate().take_while(|(i, column)| i == *column && **column < size.keys).count();
        let by_index = match &apply.target {
            Target::Stored(read) => indices::choose(read, apply, &bound).map(|index| {
                let found = size.matches(&index.columns[..indices::bound_run(index, &bound)]);
                let each = if indices::covers(index, apply) { HAND_ON } else { HAND_ON + LOOK_UP };
                step.rows * (LOOK_UP + found * each)
            }),
            Target::Predicate(_) => None,
        };
        let cost = by_index.unwrap_or_else(|| match &apply.target {
            _ if bound.is_empty() => size.rows * READ + rows * HAND_ON,
            Target::Stored(_) if leading > 0 => step.rows * (LOOK_UP + size.matches(&bound[..leading]) * HAND_ON),
            // For a single input row, a relation is scanned instead.
            Target::Stored(_) if step.rows <= 1.0 => size.rows * READ + rows * HAND_ON,
            _ => size.rows * HASH + step.rows * PROBE + rows * HAND_ON,
        });
        (cost, rows)
    }

    /// Whether an application would bind the variable of a list that stands before it. The list would become a test, and give a row once
    /// for an element that it has twice.
    fn would_test_a_list(&self, step: &Step, giver: usize, apply: &Apply) -> bool {
        let before = (0..giver).filter(|other| !step.given.contains(other));
        before.into_iter().any(|other| match &self.body[self.givers[other]] {
            Atom::Unnest(variable, _) => {
                !step.bound.contains(&variable.name) && apply.bindings().any(|name| *name == variable.name)
            }
            _ => false,
        })
    }

    /// How many rows of a relation match a row of the sequence, by an equality that connects the two.
    fn equal_rows(&self, step: &Step, apply: &Apply, size: &Size) -> Option<f64> {
        let are_among = |expr: &Expr, among: &dyn Fn(&SmallStr) -> bool| {
            let names = expr.variables();
            !names.is_empty() && names.into_iter().all(among)
        };
        self.equalities.iter().flat_map(|[a, b]| [(a, b), (b, a)]).find_map(|(known, of_rows)| {
            let connects = are_among(known, &|name| step.bound.contains(name))
                && are_among(of_rows, &|name| apply.column_of(name).is_some());
            connects.then(|| match of_rows {
                Expr::Variable(name, _) => size.matches(&[apply.column_of(name).unwrap_or_default()]),
                _ => size.rows.sqrt(),
            })
        })
    }

    /// The part of all pairs of a row of the sequence and one of a relation that passes the filters, if a comparison connects the two.
    fn compared_part(&self, step: &Step, apply: &Apply) -> Option<f64> {
        let of_rows: BTreeSet<&SmallStr> = apply.bindings().collect();
        let (mut part, mut connects) = (1.0, false);
        for at in self.others.iter().filter(|at| !step.settled.contains(at)) {
            let Atom::Filter(expr) = &self.body[*at] else { continue };
            let names = expr.variables();
            if names.iter().all(|name| of_rows.contains(name) || step.bound.contains(*name)) {
                part *= PASSING;
                let sides = names.iter().filter(|name| of_rows.contains(*name)).count();
                connects |= is_comparison(expr) && (1..names.len()).contains(&sides);
            }
        }
        connects.then_some(part)
    }

    /// The sequence of givers in an order in which each can stand, and the number of rows after each.
    pub(super) fn along(&self, order: impl Iterator<Item = usize>) -> (Step, Vec<f64>) {
        let mut step = self.start();
        let rows = order.map(|giver| {
            let _ = self.advance(&mut step, giver);
            step.rows
        });
        let rows = rows.collect();
        (step, rows)
    }

    /// The sequence of all givers in the written order, in which each can stand where it is.
    pub(super) fn as_written(&self) -> (Step, Vec<f64>) {
        self.along(0..self.givers.len())
    }
}
