//! The columns that `Window` computes. Each function runs over the positions of the layout, partition after partition.

use std::cmp::Ordering;
use std::ops::Range;

use super::layout::Layout;
use super::options::{Computed, WindowFunction};
use crate::expr::functions::quote;
use crate::fixed_rule::{Call, FixedRuleError};
use crate::value::{Column, DataValue, Num};

/// A column by position. `of` has the values of the rows that the function is of.
pub(super) fn compute(
    call: &Call<'_>,
    computed: &Computed,
    of: Option<Column>,
    layout: &Layout,
) -> Result<Column, FixedRuleError> {
    // All results but those that the rows themselves have are numbers.
    call.poison.make_room(layout.order.len() * size_of::<i64>())?;
    let offset = computed.offset;
    match (computed.function, of) {
        (WindowFunction::Lag, Some(of)) => {
            picked(computed, of, layout, |_, partition, at| at.checked_sub(offset).filter(|at| *at >= partition.start))
        }
        (WindowFunction::Lead, Some(of)) => {
            picked(computed, of, layout, |_, partition, at| at.checked_add(offset).filter(|at| *at < partition.end))
        }
        (WindowFunction::First, Some(of)) => picked(computed, of, layout, |_, partition, _| Some(partition.start)),
        (WindowFunction::Last, Some(of)) => picked(computed, of, layout, |_, partition, _| Some(partition.end - 1)),
        (WindowFunction::RunningMin, Some(of)) => running_extreme(computed, of, layout, Ordering::Less),
        (WindowFunction::RunningMax, Some(of)) => running_extreme(computed, of, layout, Ordering::Greater),
        (WindowFunction::RunningCount, Some(of)) => Ok(counts(&of, layout)),
        (WindowFunction::RunningSum | WindowFunction::RunningMean, Some(of)) => totals(call, computed, &of, layout),
        (function, _) => Ok(ranks(function, layout)),
    }
}

/// A number for each position by the places of rows alone.
fn ranks(function: WindowFunction, layout: &Layout) -> Column {
    let (mut first, mut dense) = (0, 0);
    let of_position = |(partition, at): (&Range<usize>, usize)| {
        if at == partition.start {
            dense = 0;
        }
        if layout.differs[at] {
            (first, dense) = (at, dense + 1);
        }
        (partition.len(), at - partition.start + 1, first - partition.start + 1, dense)
    };
    let positions = layout.partitions.iter().flat_map(|partition| partition.clone().map(move |at| (partition, at)));
    let places = positions.map(of_position);
    match function {
        WindowFunction::Rank => Column::ints(places.map(|(_, _, rank, _)| rank as i64).collect()),
        WindowFunction::DenseRank => Column::ints(places.map(|(_, _, _, dense)| dense).collect()),
        WindowFunction::PercentRank => {
            let share = |(rows, _, rank, _): (usize, _, usize, _)| (rank - 1) as f64 / (rows - 1).max(1) as f64;
            Column::floats(places.map(share).collect())
        }
        _ => Column::ints(places.map(|(_, number, _, _)| number as i64).collect()),
    }
}

/// For each position the value of the row at another one, or the default.
fn picked(
    computed: &Computed,
    mut of: Column,
    layout: &Layout,
    mut pick: impl FnMut(&Column, &Range<usize>, usize) -> Option<usize>,
) -> Result<Column, FixedRuleError> {
    let none = of.len() as u32;
    let mut rows = Vec::with_capacity(layout.order.len());
    for partition in &layout.partitions {
        rows.extend(
            partition.clone().map(|at| pick(&of, partition, at).map_or(none, |position| layout.order[position])),
        );
    }
    of.push(&computed.default);
    Ok(of.copy_rows(&rows)?)
}

/// For each position the best value so far, the first of equals; nulls do not count.
fn running_extreme(
    computed: &Computed,
    of: Column,
    layout: &Layout,
    replaces: Ordering,
) -> Result<Column, FixedRuleError> {
    let mut best: Option<usize> = None;
    picked(computed, of, layout, |of, partition, at| {
        if at == partition.start {
            best = None;
        }
        let row_at = |position: usize| layout.order[position] as usize;
        let wins = |best: usize| of.compare_at(row_at(at), of, row_at(best)) == replaces;
        if !of.is_null(row_at(at)) && best.is_none_or(wins) {
            best = Some(at);
        }
        best
    })
}

/// For each position how many values so far are not null.
fn counts(of: &Column, layout: &Layout) -> Column {
    let mut counts = Vec::with_capacity(layout.order.len());
    for partition in &layout.partitions {
        let mut count = 0;
        counts.extend(layout.order[partition.clone()].iter().map(|row| {
            count += i64::from(!of.is_null(*row as usize));
            count
        }));
    }
    Column::ints(counts)
}

/// For each position the sum or the mean so far.
fn totals(call: &Call<'_>, computed: &Computed, of: &Column, layout: &Layout) -> Result<Column, FixedRuleError> {
    let refused = |expected: &'static str, found: String| FixedRuleError::ExpressionWrong {
        rule: call.options.rule.to_string(),
        option: format!("compute: {}", computed.name),
        expected,
        found,
        span: computed.of.as_ref().map_or(call.options.span, |of| of.span()),
    };
    let (mut totals, mut pace) = (Column::default(), call.poison.pace());
    for partition in &layout.partitions {
        let mut total = Total::default();
        for row in &layout.order[partition.clone()] {
            pace.step()?;
            match of.get(*row as usize) {
                DataValue::Num(number) => total.add(number),
                other => return Err(refused("a number", quote(&other))),
            }
            let value = if computed.function == WindowFunction::RunningMean { Some(total.mean()) } else { total.sum() };
            let value =
                value.ok_or_else(|| refused("integers whose sum has at most 64 bits", "a larger sum".to_string()))?;
            totals.push_owned(value);
        }
    }
    Ok(totals)
}

/// The sum of some numbers.
#[derive(Default)]
struct Total {
    count: u64,
    /// The exact sum, as long as all are integers.
    ints: i128,
    floats: f64,
    has_floats: bool,
}

impl Total {
    fn add(&mut self, number: Num) {
        self.count += 1;
        self.floats += number.get_float();
        match number {
            Num::Int(int) => self.ints += i128::from(int),
            Num::Float(_) => self.has_floats = true,
        }
    }

    /// An Int of Ints, else a Float; none if the Int has more than 64 bits.
    fn sum(&self) -> Option<DataValue> {
        match self.has_floats {
            true => Some(self.floats.into()),
            false => i64::try_from(self.ints).ok().map(DataValue::from),
        }
    }

    fn mean(&self) -> DataValue {
        (self.floats / self.count as f64).into()
    }
}
