//! Filters that compare a key column with a constant, as bounds of the key range that is read.
//!
//! ```text
//! r {a, b => c}
//! *r{a, c}, a >= 2, a < 9             keys from 2 to 9
//! *r{a: 'x', b}, starts_with(b, $p)   keys that begin with 'x' and then a string that begins with $p
//! ```
//!
//! The filters stay. A range may be wider than they ask for, never narrower, since an Int and a Float compare by their number.
//! Rows outside of the range are not read, even if the comparison would refuse their type.

use crate::expr::Expr;
use crate::plan::{BoundPlan, Comparison, JoinPlan, Method, OperatorKind, Source};

/// Narrows the scans of stored relations in a rule by the bounds that its filters set.
pub fn narrow(operators: &mut [OperatorKind]) {
    let tests: Vec<(usize, BoundPlan)> = operators.iter().filter_map(test).collect();
    if tests.is_empty() {
        return;
    }
    for operator in operators {
        let OperatorKind::Join(join) = operator else { continue };
        let Some(slot) = join.slot_after_prefix() else { continue };
        join.bounds = tests.iter().filter(|(tested, _)| *tested == slot).map(|(_, bound)| bound.clone()).collect();
        if !join.bounds.is_empty() {
            join.method = Method::Range;
        }
    }
}

impl JoinPlan {
    /// The slot of the key column that follows a prefix of constants: rows come in its order.
    pub fn slot_after_prefix(&self) -> Option<usize> {
        self.keys.iter().all(|(_, expr)| expr.is_given()).then(|| self.slot_after_keys()).flatten()
    }

    /// The slot of the key column that follows the prefix of a stored relation: rows of one prefix come in its order.
    pub fn slot_after_keys(&self) -> Option<usize> {
        let Source::Stored(read) = &self.source else { return None };
        let next = match self.scan_method() {
            Method::Scan => 0,
            Method::Prefix | Method::Range => self.keys.len(),
            Method::Hash | Method::Equal | Method::Compare => return None,
        };
        let output = self.outputs.iter().find(|(column, _)| *column == next && next < read.identifying_columns());
        output.map(|(_, slot)| *slot)
    }
}

/// The slot that a filter compares with a constant, and how.
fn test(operator: &OperatorKind) -> Option<(usize, BoundPlan)> {
    let OperatorKind::Filter(Expr::Call { function, args, .. }) = operator else { return None };
    let [left, right] = &args[..] else { return None };
    let comparison = match function.name {
        "eq" => Comparison::Equal,
        "ge" | "gt" => Comparison::AtLeast,
        "le" | "lt" => Comparison::AtMost,
        "starts_with" => Comparison::StartsWith,
        _ => return None,
    };
    match (left, right) {
        (Expr::Slot(slot, _), value) if value.is_given() => {
            Some((*slot, BoundPlan { comparison, value: value.clone() }))
        }
        (value, Expr::Slot(slot, _)) if value.is_given() => {
            Some((*slot, BoundPlan { comparison: comparison.turned()?, value: value.clone() }))
        }
        _ => None,
    }
}

impl Comparison {
    /// The comparison with its sides exchanged.
    fn turned(self) -> Option<Comparison> {
        match self {
            Comparison::Equal => Some(Comparison::Equal),
            Comparison::AtLeast => Some(Comparison::AtMost),
            Comparison::AtMost => Some(Comparison::AtLeast),
            Comparison::StartsWith => None,
        }
    }
}
