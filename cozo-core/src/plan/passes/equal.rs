//! Joins of relations that are connected by no column, only by an equality of expressions.
//!
//! ```text
//! *a{k, s}, *b{j, t}, lowercase(s) == t     each row of b with the rows of a for which the filter may hold
//! *a{x}, *b{y}, y in [x, x + 1]             the same, for each element of the list
//! ```
//!
//! The filters stay, as they do with [ranges](super::ranges). The join leaves out pairs for which a filter gives false, but no
//! pair for which one fails. So it may compare more coarsely than `==`, which takes an Int and a Float for equal.

use std::collections::BTreeSet;

use super::connections::{Side, Sides, Test, tests_after};
use crate::expr::Expr;
use crate::plan::{EqualPlan, JoinPlan, Method, OperatorKind};

/// Turns scans into joins by equal expressions, where equalities connect a scan with the operators before it.
pub(super) fn join_by_equalities(operators: &mut [OperatorKind]) {
    let mut known: BTreeSet<usize> = BTreeSet::new();
    let mut is_single_row = true;
    for at in 0..operators.len() {
        if let (OperatorKind::Join(join), false) = (&operators[at], is_single_row)
            && matches!(join.method, Method::Scan | Method::Range)
            && let Some(equal) = Equalities::of(join, &known, &operators[at + 1..]).plan()
            && let OperatorKind::Join(join) = &mut operators[at]
        {
            join.method = Method::Equal;
            join.equal = Some(Box::new(equal));
        }
        is_single_row &= operators[at].gives_a_row_for_each();
        known.extend(operators[at].signature().fills);
    }
}

/// What the tests after a join say about its rows.
#[derive(Default)]
struct Equalities {
    /// Pairs of equal expressions, over the input and over the joined rows.
    pairs: Vec<(Expr, Expr)>,
    /// A list over the input, and an expression over the joined rows that is one of its elements.
    elements: Option<(Expr, Expr)>,
    /// Tests of the joined rows alone.
    tests: Vec<Expr>,
}

impl Equalities {
    fn of(join: &JoinPlan, known: &BTreeSet<usize>, after: &[OperatorKind]) -> Self {
        let sides = Sides::of(join, known);
        let mut found = Equalities::default();
        for test in tests_after(after).tests {
            match test {
                Test::Same(left, right) => found.equality(left, right, &sides),
                Test::Holds(expr) => found.test(expr, &sides),
            }
        }
        found
    }

    fn test(&mut self, expr: Expr, sides: &Sides<'_>) {
        if !expr.is_deterministic() {
            return;
        }
        match (sides.side(&expr), expr) {
            (Side::Rows, expr) => self.tests.push(expr),
            (Side::Both, Expr::Call { function, args, .. }) => {
                let Ok([left, right]) = <[Expr; 2]>::try_from(args) else { return };
                match function.name {
                    "eq" => self.equality(left, right, sides),
                    "is_in" if sides.side(&left) == Side::Rows && sides.side(&right) == Side::Input => {
                        self.elements.get_or_insert((right, left));
                    }
                    _ => {}
                }
            }
            _ => {}
        }
    }

    fn equality(&mut self, left: Expr, right: Expr, sides: &Sides<'_>) {
        if !left.is_deterministic() || !right.is_deterministic() {
            return;
        }
        match (sides.side(&left), sides.side(&right)) {
            (Side::Input, Side::Rows) => self.pairs.push((left, right)),
            (Side::Rows, Side::Input) => self.pairs.push((right, left)),
            _ => {}
        }
    }

    /// How the join finds its rows, if an equality connects them with the input.
    fn plan(self) -> Option<EqualPlan> {
        let each = self.pairs.is_empty();
        let pairs = if each { vec![self.elements?] } else { self.pairs };
        Some(EqualPlan { pairs, each, tests: self.tests })
    }
}
