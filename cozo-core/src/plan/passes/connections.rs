//! What the tests after a join say about its rows: shared by the passes that turn scans into joins.
//!
//! [`tests_after`] goes through the operators that see each pair of an input row and a joined row, and writes computed slots out.
//! [`Sides`] tells which of the two rows an expression depends on.

use std::collections::{BTreeMap, BTreeSet};

use crate::expr::Expr;
use crate::plan::operator::Signature;
use crate::plan::{JoinPlan, OperatorKind};

/// What an expression depends on.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Nothing,
    Input,
    Rows,
    Both,
}

/// The slots of the two sides of a join.
pub(super) struct Sides<'k> {
    /// The slots that are filled before the join.
    known: &'k BTreeSet<usize>,
    /// The slots that the join fills.
    rows: BTreeSet<usize>,
}

impl<'k> Sides<'k> {
    pub(super) fn of(join: &JoinPlan, known: &'k BTreeSet<usize>) -> Self {
        Sides { known, rows: join.outputs.iter().map(|(_, slot)| *slot).collect() }
    }

    /// The side of an expression.
    pub(super) fn side(&self, expr: &Expr) -> Side {
        let (mut input, mut of_rows) = (false, false);
        expr.walk(&mut |part| {
            if let Expr::Slot(slot, _) = part {
                of_rows |= self.rows.contains(slot);
                input |= self.known.contains(slot);
            }
        });
        match (input, of_rows) {
            (false, false) => Side::Nothing,
            (true, false) => Side::Input,
            (false, true) => Side::Rows,
            (true, true) => Side::Both,
        }
    }
}

/// A test of pairs of an input row and a joined row.
pub(super) enum Test {
    /// The expression must be true.
    Holds(Expr),
    /// The two must be the same value.
    Same(Expr, Expr),
}

/// The tests after a join, up to the next operator that adds rows.
pub(super) struct Tests {
    /// The tests, over the slots that are filled before the join or by it.
    pub(super) tests: Vec<Test>,
    /// Whether nothing but the tests comes after the join.
    pub(super) are_all: bool,
}

/// The tests of the operators after a join.
pub(super) fn tests_after(after: &[OperatorKind]) -> Tests {
    let mut computed: BTreeMap<usize, Expr> = BTreeMap::new();
    let mut found = Tests { tests: vec![], are_all: true };
    for operator in after {
        let inlined = |expr: &Expr| {
            expr.map_leaves(&mut |leaf| match leaf {
                Expr::Slot(slot, _) => computed.get(slot).unwrap_or(leaf).clone(),
                other => other.clone(),
            })
        };
        match operator {
            OperatorKind::Unify(slot, expr) => {
                let value = inlined(expr);
                computed.insert(*slot, value);
                found.are_all = false;
            }
            OperatorKind::Same(slot, expr) => {
                let slot = inlined(&Expr::Slot(*slot, expr.span()));
                found.tests.push(Test::Same(slot, inlined(expr)));
            }
            OperatorKind::Filter(expr) => found.tests.push(Test::Holds(inlined(expr))),
            other => {
                found.are_all = false;
                // The tests after it may be of other rows than those of the join.
                let Signature { fills, multiplies, .. } = other.signature();
                if multiplies || !fills.is_empty() {
                    break;
                }
            }
        }
    }
    found
}
