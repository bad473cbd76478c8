//! Joins input rows with the rows of a relation by comparisons of expressions over both.
//!
//! ```text
//! *interval{s, t}, *point{u}, s <= u, u < t                  the points from s to t
//! *quote{sym, at: s}, *trade{sym, at: u}, u <= s, s < u + 10     among the trades of the same symbol
//! ```
//!
//! A [`RangeJoin`] reads the relation once into [`OrderedRows`], and searches these for each input row. As long as few rows
//! come, it takes the ordinary way ([`FewRows`]): it joins them with all rows, or looks their keys up. The filters that follow
//! compare exactly, and fail where a comparison fails. The join may therefore give too many rows, but never too few.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use super::equal::{Kept, values_or_failures};
use super::probe::emit_matches;
use super::{Emit, Operator, Shape, empty_slots, frame, key_columns, stopped};
use crate::budget::{Charge, Stop};
use crate::exec::access::all_rows::AllRows;
use crate::exec::error::ExecError;
use crate::exec::index::ordered_rows::{INCOMPARABLE, NO_CLASS, OrderedRows, Sought, Unordered, class_at};
use crate::exec::index::scale::{Class, Limit, Scale, WantedSide};
use crate::exec::rowset::table::BYTES_AROUND_ROW;
use crate::exec::run::{Run, Worker};
use crate::exec::sink::{CONTINUE, Flow};
use crate::exec::thresholds::{
    INDEX_SHARE_OF_MEMORY, PAIRS_PER_ORDERED_ROW, READ_THROUGH_MAX_ROWS, ROWS_PER_LOOKUP_OF_QUERY, SORT_MIN_ROWS,
};
use crate::expr::Frame;
use crate::plan::{BoundOfRows, ComparePlan, JoinPlan, MatchOrder};
use crate::value::{Batch, Column, DataValue};

/// Joins by comparisons.
pub struct RangeJoin<'a> {
    pub plan: &'a JoinPlan,
    pub compare: &'a ComparePlan,
    pub shape: Shape<'a>,
    /// The rows of the relation.
    pub all: AllRows<'a>,
    /// The way for few input rows, if there is another.
    pub few: Option<FewRows<'a>>,
    pub kept: Kept,
    pub run: &'a Run<'a>,
    pub state: State,
}

/// The other way, which is better for few input rows.
pub enum FewRows<'a> {
    /// Joins each with all rows of the relation.
    Product(Box<dyn Operator + 'a>),
    /// Looks up the rows of each key.
    LookUps(Box<dyn Operator + 'a>),
}

/// Ordered rows, and the charge for their memory.
struct ChargedRows {
    ordered: OrderedRows,
    _charge: Charge,
}

/// What a join has done so far.
#[derive(Default)]
pub struct State {
    rows: OnceLock<Arc<ChargedRows>>,
    /// The number of input rows that were joined with all rows.
    taken: AtomicUsize,
}

/// The work of look-ups over all threads and rounds, in pairs of rows.
#[derive(Default)]
struct LookedUp(AtomicU64);

impl RangeJoin<'_> {
    fn rows(&self, worker: &Worker<'_>) -> Result<&OrderedRows, ExecError> {
        if let Some(rows) = self.state.rows.get() {
            return Ok(&rows.ordered);
        }
        let rows = match self.kept.is_complete {
            true => self.run.notes.build_once(self.shape.number, || self.read(worker))?,
            false => Arc::new(self.read(worker)?),
        };
        Ok(&self.state.rows.get_or_init(|| rows).ordered)
    }

    /// Reads and orders the relation.
    fn read(&self, worker: &Worker<'_>) -> Result<ChargedRows, ExecError> {
        let keys = if self.compare.by_key { self.plan.keys.len() } else { 0 };
        let of_keys = self.plan.keys.iter().take(keys).map(|(column, _)| *column);
        let columns: Vec<usize> = of_keys.chain(self.plan.outputs.iter().map(|(column, _)| *column)).collect();
        let mut read = Unordered {
            keys: Batch::empty(keys),
            outputs: Batch::empty(self.plan.outputs.len()),
            compared: vec![Column::default(); self.compare.by.len()],
            is_irregular: vec![],
        };
        let (mut bytes, mut charge) = (0, self.run.budget.charge_for_now());
        self.all.read(&columns, self.run, |block| {
            let before = read.outputs.len;
            self.take(block, keys, worker, &mut read)?;
            let added = read.outputs.memory_bytes() + read.keys.memory_bytes();
            charge.add(added.saturating_sub(bytes) + (read.outputs.len - before) * BYTES_AROUND_ROW)?;
            bytes = added;
            Ok(())
        })?;
        let second = self
            .compare
            .by
            .get(1)
            .map(|second| if second.lower.is_some() { WantedSide::Above } else { WantedSide::Below });
        let ordered = OrderedRows::new(read, second);
        charge.add(ordered.memory_bytes().saturating_sub(bytes))?;
        Ok(ChargedRows { ordered, _charge: charge })
    }

    /// Adds the rows of a block for which no test gives false. A row for which a test or an expression fails is irregular.
    fn take(&self, mut block: Batch, keys: usize, worker: &Worker<'_>, read: &mut Unordered) -> Result<(), ExecError> {
        let outputs = block.columns.split_off(keys);
        let mut rows = Batch { columns: empty_slots(self.shape.slots), len: block.len };
        for ((_, slot), column) in self.plan.outputs.iter().zip(outputs) {
            rows.columns[*slot] = column;
        }
        let frame = frame(&rows, worker);
        let mut is_irregular = vec![false; rows.len];
        let mut wanted: Vec<u32> = (0..rows.len as u32).collect();
        for test in &self.compare.tests {
            let (holds, _) = values_or_failures(test, frame)?;
            wanted.retain(|row| {
                let held = holds.get(*row as usize);
                is_irregular[*row as usize] |= held != DataValue::Bool(true);
                held != DataValue::Bool(false)
            });
        }
        for (by, all) in self.compare.by.iter().zip(&mut read.compared) {
            let (values, failing) = values_or_failures(&by.of_rows, frame)?;
            failing.into_iter().for_each(|row| is_irregular[row as usize] = true);
            all.append_take(&values, &wanted);
        }
        read.is_irregular.extend(wanted.iter().map(|row| is_irregular[*row as usize]));
        let outputs = self.plan.outputs.iter().map(|(_, slot)| std::mem::take(&mut rows.columns[*slot]));
        read.outputs.append_all(Batch::new(outputs.collect(), rows.len).take(&wanted));
        read.keys.append_all(block.take(&wanted));
        Ok(())
    }

    /// Joins a batch by searching the ordered rows.
    fn search(&self, input: &Batch, worker: &mut Worker<'_>, emit: &mut Emit<'_>) -> Flow {
        let ordered = self.rows(worker)?;
        let keys = if self.compare.by_key { key_columns(&self.plan.keys, input, worker)? } else { vec![] };
        let keys: Vec<&Column> = keys.iter().map(AsRef::as_ref).collect();
        let groups = ordered.groups_of(&keys, input.len);
        let sought = self.sought(ordered, frame(input, worker))?;
        let matches = |row: usize, matches: &mut Vec<u32>| {
            let Some(group) = groups[row] else { return };
            let first = matches.len();
            ordered.find(group, &sought[row], self.compare.one, matches);
            // Of equal numbers `max` takes the first.
            if self.plan.order != MatchOrder::Any || self.compare.one.is_some() {
                ordered.sort(&mut matches[first..]);
            }
        };
        emit_matches(&self.plan.outputs, &self.shape, &ordered.outputs, |nth, _| nth, matches, input, worker, emit)
    }

    /// What each input row looks up.
    fn sought(&self, ordered: &OrderedRows, frame: Frame<'_>) -> Result<Vec<Sought>, Stop> {
        let nothing = || Sought { classes: [NO_CLASS; 2], lower: None, upper: None, second: None };
        let mut sought: Vec<Sought> = std::iter::repeat_with(nothing).take(frame.len).collect();
        let (first, second) = ordered.scales();
        let [by_first, ..] = &self.compare.by[..] else { unreachable!("a join by comparisons has one") };
        let sides = [(&by_first.lower, WantedSide::Above), (&by_first.upper, WantedSide::Below)];
        for (nth, (bound, side)) in sides.iter().filter_map(|(bound, side)| Some((bound.as_ref()?, *side))).enumerate()
        {
            limits(bound, side, first, frame, |row, class, limit| {
                let sought = &mut sought[row];
                let is_other = nth > 0 && sought.classes[0] != class;
                sought.classes[0] = if is_other { Class::Other } else { class };
                *(if side == WantedSide::Above { &mut sought.lower } else { &mut sought.upper }) = Some(limit);
            })?;
        }
        if let (Some(by), Some(scale)) = (self.compare.by.get(1), second) {
            let side = if by.lower.is_some() { WantedSide::Above } else { WantedSide::Below };
            for bound in by.lower.iter().chain(&by.upper) {
                limits(bound, side, scale, frame, |row, class, limit| {
                    sought[row].classes[1] = class;
                    sought[row].second = Some(limit);
                })?;
            }
        }
        let incomparable = sought.iter_mut().filter(|sought| sought.classes.contains(&Class::Other));
        incomparable.for_each(|sought| sought.classes = INCOMPARABLE);
        Ok(sought)
    }

    /// Whether look-ups have cost as much as ordering the relation, and the ordered rows fit a share of the query's free memory.
    fn look_ups_have_paid(&self, so_far: &LookedUp) -> bool {
        let rows = self.all.most_rows();
        let of_row = (self.plan.outputs.len() + self.plan.keys.len()) * size_of::<i64>() + BYTES_AROUND_ROW;
        so_far.0.load(Ordering::Relaxed) >= rows.saturating_mul(PAIRS_PER_ORDERED_ROW)
            && (rows as usize).saturating_mul(of_row) <= self.run.budget.spare_bytes() / INDEX_SHARE_OF_MEMORY
    }

    /// Looks up keys until the look-ups have paid, and searches the ordered rows for the rest of the batch.
    fn look_up(&self, input: Batch, look_ups: &dyn Operator, worker: &mut Worker<'_>, emit: &mut Emit<'_>) -> Flow {
        let so_far = self.run.notes.build_once(self.shape.number, || Ok(LookedUp::default()))?;
        let mut start = 0;
        while start < input.len {
            if self.look_ups_have_paid(&so_far) {
                return self.search(&part(&input, start..input.len), worker, emit);
            }
            let end = (start + SORT_MIN_ROWS).min(input.len);
            let mut pairs = (end - start) as u64 * ROWS_PER_LOOKUP_OF_QUERY;
            let flow = look_ups.push(part(&input, start..end), worker, &mut |output, worker| {
                pairs += output.len as u64;
                emit(output, worker)
            })?;
            so_far.0.fetch_add(pairs, Ordering::Relaxed);
            if stopped(&flow) {
                return Ok(flow);
            }
            start = end;
        }
        CONTINUE
    }
}

impl Operator for RangeJoin<'_> {
    fn push(&self, input: Batch, worker: &mut Worker<'_>, emit: &mut Emit<'_>) -> Flow {
        let serves_again = self.kept.is_complete && self.kept.is_recursive;
        match &self.few {
            Some(FewRows::Product(product)) if !serves_again => {
                let taken = self.state.taken.fetch_add(input.len, Ordering::Relaxed) + input.len;
                if taken <= READ_THROUGH_MAX_ROWS {
                    return product.push(input, worker, emit);
                }
                self.search(&input, worker, emit)
            }
            Some(FewRows::LookUps(look_ups)) if self.state.rows.get().is_none() => {
                self.look_up(input, look_ups.as_ref(), worker, emit)
            }
            _ => self.search(&input, worker, emit),
        }
    }
}

/// Gives the class and the limit of each input row for a bound; where an expression fails, [`Class::Other`].
fn limits(
    bound: &BoundOfRows,
    side: WantedSide,
    scale: &Scale,
    frame: Frame<'_>,
    mut give: impl FnMut(usize, Class, Limit),
) -> Result<(), Stop> {
    let (values, failing) = values_or_failures(&bound.of_input, frame)?;
    let mut failing = failing.into_iter().peekable();
    for row in 0..frame.len {
        let fails = failing.next_if(|failing| *failing as usize == row).is_some();
        let class = if fails { Class::Other } else { class_at(&values, row) };
        give(row, class, scale.limit(&values.get(row), side, bound.inclusive));
    }
    Ok(())
}

/// Some rows of a batch.
fn part(batch: &Batch, rows: std::ops::Range<usize>) -> Batch {
    let of = |column: &Column| if column.len() == batch.len { column.slice(rows.clone()) } else { Column::default() };
    Batch { columns: batch.columns.iter().map(of).collect(), len: rows.len() }
}
