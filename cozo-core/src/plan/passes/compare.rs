//! Joins of relations that are connected by comparisons of expressions, alone or together with keys.
//!
//! ```text
//! *i{s, t}, *p{u}, s <= u, u < t                    each interval with the points within it
//! *q{sym, at: s}, *t{sym, at: u}, u <= s            among the rows of the same key
//! ```
//!
//! The filters stay, as they do with [equalities](super::equal): the join leaves out pairs for which a filter gives false, but no
//! pair for which one fails. Two expressions over the joined rows are compared at most; the filters do the rest.
//!
//! A look-up by leading key columns becomes such a join only if it is estimated to find many rows. A look-up of few rows costs less
//! than ordering the relation.

use std::collections::BTreeSet;

use super::connections::{Side, Sides, Test, tests_after};
use crate::expr::Expr;
use crate::plan::{BoundOfRows, ComparePlan, ComparedRows, JoinPlan, Method, OperatorKind, Source};
use crate::program::StoredRead;

/// A look-up that finds so many rows is worth a comparison among them. Unit: rows.
const MIN_MATCHES: f64 = 32.0;

/// How many rows of a stored relation match values of some columns, as far as sizes are known.
pub(super) type Matches<'m> = dyn Fn(&StoredRead, &[usize]) -> Option<f64> + 'm;

/// Turns scans and look-ups into joins by comparisons, where comparisons connect them with the operators before. `own` has the
/// positions of those that read a table which grows while the rule runs.
pub(super) fn join_by_comparisons(operators: &mut [OperatorKind], own: &[usize], matches: &Matches<'_>) {
    let mut known: BTreeSet<usize> = BTreeSet::new();
    let mut is_single_row = true;
    for at in 0..operators.len() {
        if let (OperatorKind::Join(join), false) = (&operators[at], is_single_row)
            && let Some(by_key) = way(join, own.contains(&at), matches)
            && let Some(compare) = Comparisons::of(join, &known, &operators[at + 1..]).plan(by_key, join.method)
            && let OperatorKind::Join(join) = &mut operators[at]
        {
            join.method = Method::Compare;
            join.compare = Some(Box::new(compare));
        }
        is_single_row &= operators[at].gives_a_row_for_each();
        known.extend(operators[at].signature().fills);
    }
}

/// Whether the rows of a join are searched by its keys, too; `None` if they had better not be ordered.
fn way(join: &JoinPlan, is_own: bool, matches: &Matches<'_>) -> Option<bool> {
    match (&join.source, join.method) {
        (_, Method::Equal | Method::Compare) => None,
        (_, Method::Scan | Method::Range) => Some(false),
        // The index of a growing table is extended in each round, and an order would be made again.
        (_, Method::Hash) => (!is_own).then_some(true),
        (Source::Table(_), Method::Prefix) => None,
        (Source::Stored(_), Method::Prefix) if join.keys.iter().all(|(_, value)| value.is_given()) => Some(false),
        (Source::Stored(read), Method::Prefix) => {
            let columns: Vec<usize> = join.keys.iter().map(|(column, _)| *column).collect();
            (columns.len() < read.identifying_columns() && matches(read, &columns)? >= MIN_MATCHES).then_some(true)
        }
    }
}

/// How an expression over the joined rows compares with one over the input.
#[derive(Clone, Copy)]
struct BoundKind {
    /// Whether the joined row has the greater value, or else the smaller one.
    is_lower_bound: bool,
    inclusive: bool,
}

impl BoundKind {
    /// The comparisons by which rows are found, with the joined row on the left.
    fn of(function: &str) -> Option<Self> {
        let kind = |is_lower_bound, inclusive| Some(BoundKind { is_lower_bound, inclusive });
        match function {
            "lt" => kind(false, false),
            "le" => kind(false, true),
            "gt" => kind(true, false),
            "ge" => kind(true, true),
            _ => None,
        }
    }

    /// The comparison with its sides exchanged.
    fn turned(self) -> Self {
        BoundKind { is_lower_bound: !self.is_lower_bound, ..self }
    }
}

/// What the tests after a join say about its rows.
#[derive(Default)]
struct Comparisons {
    /// The compared expressions over the joined rows, each once.
    by: Vec<ComparedRows>,
    /// Tests of the joined rows alone.
    tests: Vec<Expr>,
    /// Whether there are other tests of the joined rows.
    has_others: bool,
}

impl Comparisons {
    fn of(join: &JoinPlan, known: &BTreeSet<usize>, after: &[OperatorKind]) -> Self {
        let sides = Sides::of(join, known);
        let found_tests = tests_after(after);
        let mut found = Comparisons { has_others: !found_tests.are_all, ..Comparisons::default() };
        for test in found_tests.tests {
            match test {
                Test::Holds(expr) if expr.is_deterministic() => found.test(expr, &sides),
                Test::Holds(_) | Test::Same(..) => found.has_others = true,
            }
        }
        found
    }

    fn test(&mut self, expr: Expr, sides: &Sides<'_>) {
        match (sides.side(&expr), expr) {
            (Side::Rows, expr) => self.tests.push(expr),
            (Side::Both, Expr::Call { function, args, .. }) => {
                let (kind, sides_of) = (BoundKind::of(function.name), args.iter().map(|arg| sides.side(arg)));
                let sides_of: Vec<Side> = sides_of.collect();
                match (kind, <[Expr; 2]>::try_from(args), &sides_of[..]) {
                    (Some(kind), Ok([of_rows, of_input]), [Side::Rows, Side::Input]) => {
                        self.comparison(of_rows, kind, of_input);
                    }
                    (Some(kind), Ok([of_input, of_rows]), [Side::Input, Side::Rows]) => {
                        self.comparison(of_rows, kind.turned(), of_input);
                    }
                    _ => self.has_others = true,
                }
            }
            (Side::Both, _) => self.has_others = true,
            (Side::Input | Side::Nothing, _) => {}
        }
    }

    /// Adds a comparison. A second bound on the same side of an expression is left to its filter.
    fn comparison(&mut self, of_rows: Expr, kind: BoundKind, of_input: Expr) {
        let text = of_rows.to_string();
        let at = self.by.iter().position(|by| by.of_rows.to_string() == text).unwrap_or_else(|| {
            self.by.push(ComparedRows { of_rows, lower: None, upper: None });
            self.by.len() - 1
        });
        let by = &mut self.by[at];
        let bound = if kind.is_lower_bound { &mut by.lower } else { &mut by.upper };
        match bound {
            None => *bound = Some(BoundOfRows { of_input, inclusive: kind.inclusive }),
            Some(_) => self.has_others = true,
        }
    }

    /// How the join finds its rows, if a comparison connects them with the input.
    fn plan(mut self, by_key: bool, instead_of: Method) -> Option<ComparePlan> {
        // An expression with two bounds selects the fewest rows.
        self.by.sort_by_key(|by| by.lower.is_none() || by.upper.is_none());
        let [first, others @ ..] = &mut self.by[..] else { return None };
        // Bounds on different sides, such as those of an interval, select fewer rows than those on the same side.
        let is_interval = |second: &ComparedRows| second.lower.is_some() != first.lower.is_some();
        others.sort_by_key(|second| !is_interval(second));
        self.has_others |= self.by.len() > 2;
        self.by.truncate(2);
        if let Some(ComparedRows { lower: Some(_), upper, .. }) = self.by.get_mut(1) {
            self.has_others |= upper.take().is_some();
        }
        let decides = !self.has_others;
        Some(ComparePlan { by: self.by, by_key, instead_of, tests: self.tests, decides, one: None })
    }
}
