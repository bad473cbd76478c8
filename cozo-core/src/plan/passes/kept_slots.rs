//! The slots that each operator carries over.
//!
//! A slot is a column of the batches that pass through a rule. An operator carries over the slots that are filled before it and
//! read after it; it drops all others. The pass goes from the last operator to the first, with the set of slots that are read
//! from there on.

use std::collections::BTreeSet;

use crate::expr::Expr;
use crate::plan::{MatchOrder, OperatorKind, OperatorPlan};

/// Says for every operator which slots it carries over: those that are filled before it and read after it. An output that no operator reads
/// is dropped.
pub fn with_kept_slots(kinds: Vec<OperatorKind>, head: &[usize]) -> Vec<OperatorPlan> {
    let mut needed: BTreeSet<usize> = head.iter().copied().collect();
    let mut operators: Vec<OperatorPlan> = vec![];
    for mut kind in kinds.into_iter().rev() {
        let (used, filled) = used_and_filled(&kind);
        let mut ordered_by = None;
        if let OperatorKind::Join(join) = &mut kind {
            let by = match &join.order {
                MatchOrder::Keys { row, by } => {
                    ordered_by = Some(*row);
                    by.as_slice()
                }
                MatchOrder::Any | MatchOrder::Input => &[],
            };
            join.outputs.retain(|(_, slot)| needed.contains(slot) || by.contains(slot));
        }
        filled.iter().for_each(|slot| {
            needed.remove(slot);
        });
        let keep = needed.iter().copied().chain(ordered_by).collect();
        needed.extend(used.into_iter().filter(|slot| !filled.contains(slot)));
        operators.push(OperatorPlan { number: 0, kind, keep });
    }
    operators.reverse();
    operators
}

/// The slots that an operator reads, and the slots that it fills.
pub fn used_and_filled(kind: &OperatorKind) -> (BTreeSet<usize>, Vec<usize>) {
    let mut used = BTreeSet::new();
    let mut read = |expr: &Expr| {
        expr.walk(&mut |part| {
            if let Expr::Slot(slot, _) = part {
                used.insert(*slot);
            }
        });
    };
    let filled = match kind {
        OperatorKind::Join(join) => {
            join.keys.iter().for_each(|(_, expr)| read(expr));
            join.equal.iter().flat_map(|equal| &equal.pairs).for_each(|(of_input, _)| read(of_input));
            join.outputs.iter().map(|(_, slot)| *slot).collect()
        }
        OperatorKind::SemiJoin(exists) => {
            exists.keys.iter().for_each(|(_, expr)| read(expr));
            vec![]
        }
        OperatorKind::Filter(expr) => {
            read(expr);
            vec![]
        }
        OperatorKind::Same(slot, expr) => {
            read(expr);
            used.insert(*slot);
            vec![]
        }
        OperatorKind::Unify(slot, expr) => {
            read(expr);
            vec![*slot]
        }
        OperatorKind::Unnest(slot, expr) => {
            read(expr);
            slot.iter().copied().collect()
        }
        OperatorKind::Intersect(intersect) => {
            intersect.inputs.iter().for_each(|input| read(&input.key.1));
            vec![intersect.slot]
        }
        OperatorKind::Distinct => vec![],
    };
    (used, filled)
}
