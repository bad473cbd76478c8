//! The slots that each operator carries over.
//!
//! A slot is a column of the batches that pass through a rule. An operator carries over the slots that are filled before it and
//! read after it; it drops all others. The pass goes from the last operator to the first, with the set of slots that are read
//! from there on.

use std::collections::BTreeSet;

use crate::plan::{MatchOrder, OperatorKind, OperatorPlan};

/// Says for every operator which slots it carries over: those that are filled before it and read after it. An output that no operator reads
/// is dropped.
pub fn with_kept_slots(kinds: Vec<OperatorKind>, head: &[usize]) -> Vec<OperatorPlan> {
    let mut needed: BTreeSet<usize> = head.iter().copied().collect();
    let mut operators: Vec<OperatorPlan> = vec![];
    for mut kind in kinds.into_iter().rev() {
        let (used, filled) = {
            let signature = kind.signature();
            (signature.reads(), signature.fills)
        };
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
        if let OperatorKind::Search(search) = &mut kind {
            search.outputs.retain(|(_, slot)| needed.contains(slot) || used.contains(slot));
        }
        if let OperatorKind::AsOf(read) = &mut kind {
            read.outputs.retain(|(_, slot)| needed.contains(slot));
        }
        filled.iter().for_each(|slot| {
            needed.remove(slot);
        });
        let keep = needed.iter().copied().chain(ordered_by).collect();
        needed.extend(used.into_iter().filter(|slot| !filled.contains(slot)));
        operators.push(OperatorPlan { number: 0, kind, keep, estimate: None });
    }
    operators.reverse();
    operators
}
