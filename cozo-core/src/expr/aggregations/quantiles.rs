//! `median` and `quantile`: where a share of the numbers of a group is less.
//!
//! The numbers of a group are kept as floats. The two around the wanted place are found without sorting all of them.

use super::grouped::{Kind, for_each_value, grouped, only_group};
use super::{Accumulator, Aggregation, unexpected};
use crate::expr::FunctionError;
use crate::value::{Column, DataValue, Primitive};

pub(super) static MEDIAN: Aggregation = Aggregation {
    name: "median",
    parameters: &["x"],
    doc: "The median of numbers, a Float; if their number is even, the mean of the two in the middle. NaN counts as the \
          greatest. Nulls are an error; no rows give NaN.",
    examples: &[
        ("?[median(x)] := x in [9, 1, 2]", "2.0"),
        ("?[median(x)] := x in [1, 2, 3, 10]", "2.5"),
        ("?[median(x)] := x in [1, null]", ""),
    ],
    order_matters: false,
    start: |_| Ok(quantiles("median", 0.5)),
    meet: None,
};

pub(super) static QUANTILE: Aggregation = Aggregation {
    name: "quantile",
    parameters: &["x", "q"],
    doc: "The number below which a share `q` of the numbers lies, from 0 (the smallest) to 1 (the largest), a Float. Between two \
          numbers it is interpolated linearly. NaN counts as the greatest. Nulls are an error; no rows give NaN.",
    examples: &[
        ("?[quantile(x, 0.9)] := x in [0, 10, 20]", "18.0"),
        ("?[quantile(x, 0)] := x in [3, 1, 2]", "1.0"),
        ("?[quantile(x, 90)] := x in [1]", ""),
    ],
    order_matters: false,
    start: |args| match args.first() {
        None => Err(FunctionError::new("quantile: needs a share from 0 to 1, as in quantile(x, 0.9)".to_string())),
        Some(share) => match share.get_float() {
            Some(q) if (0.0..=1.0).contains(&q) => Ok(quantiles("quantile", q)),
            _ => Err(unexpected("quantile", "a share from 0 to 1", share)),
        },
    },
    meet: None,
};

fn quantiles(name: &'static str, share: f64) -> Box<dyn Accumulator> {
    grouped(Quantiles { name, share, kept_bytes: 0 })
}

struct Quantiles {
    /// The aggregation's name, for errors.
    name: &'static str,
    /// The share of the numbers that is less.
    share: f64,
    /// How many bytes all groups keep.
    kept_bytes: usize,
}

impl Quantiles {
    fn keep(&mut self, state: &mut Vec<f64>, numbers: impl IntoIterator<Item = f64>) {
        let room = state.capacity();
        state.extend(numbers);
        self.kept_bytes += (state.capacity() - room) * size_of::<f64>();
    }

    fn not_a_number(&self, value: &DataValue) -> FunctionError {
        unexpected(self.name, "a number", value)
    }

    /// Keeps the numbers of a typed column that must not hold nulls.
    fn keep_column<T: Copy>(
        &mut self,
        states: &mut [Vec<f64>],
        groups: &[u32],
        column: &Primitive<T>,
        to_float: impl Fn(T) -> f64,
    ) -> Result<(), FunctionError> {
        if column.nulls.as_ref().is_some_and(|nulls| nulls.contains(&true)) {
            return Err(self.not_a_number(&DataValue::Null));
        }
        let numbers = column.values.iter().map(|value| to_float(*value));
        match only_group(groups) {
            Some(group) => self.keep(&mut states[group], numbers),
            None => groups.iter().zip(numbers).for_each(|(group, number)| {
                self.keep(&mut states[*group as usize], [number]);
            }),
        }
        Ok(())
    }
}

impl Kind for Quantiles {
    type State = Vec<f64>;

    fn initial(&self) -> Vec<f64> {
        vec![]
    }

    fn update(&mut self, states: &mut [Vec<f64>], groups: &[u32], values: &Column) -> Result<(), FunctionError> {
        match values {
            Column::Int(column) => self.keep_column(states, groups, column, |value| value as f64),
            Column::Float(column) => self.keep_column(states, groups, column, |value| value),
            _ => for_each_value(values, |row, value| {
                let number = value.get_float().ok_or_else(|| self.not_a_number(value))?;
                self.keep(&mut states[groups[row] as usize], [number]);
                Ok(())
            }),
        }
    }

    fn absorb(&mut self, state: &mut Vec<f64>, later: Vec<f64>) -> Result<(), FunctionError> {
        self.keep(state, later);
        Ok(())
    }

    fn memory_bytes(&self) -> usize {
        self.kept_bytes
    }

    fn finish(&self, states: Vec<Vec<f64>>) -> Result<Column, FunctionError> {
        Ok(Column::floats(states.into_iter().map(|numbers| quantile(numbers, self.share)).collect()))
    }

    fn fork(&self) -> Self {
        Quantiles { kept_bytes: 0, ..*self }
    }
}

/// The quantile of some numbers: the number at `share` of the way from the first to the last in their order.
fn quantile(mut numbers: Vec<f64>, share: f64) -> f64 {
    let Some(last) = numbers.len().checked_sub(1) else { return f64::NAN };
    // NaN of either sign is the greatest.
    numbers.iter_mut().filter(|number| number.is_nan()).for_each(|number| *number = f64::NAN);
    let place = share * last as f64;
    let (_, low, greater) = numbers.select_nth_unstable_by(place as usize, f64::total_cmp);
    let (low, fraction) = (*low, place.fract());
    let high = greater.iter().copied().min_by(f64::total_cmp).unwrap_or(low);
    if fraction == 0.0 || low == high {
        return low;
    }
    // The difference of two large numbers may be infinite, though no number between them is.
    let between = low + (high - low) * fraction;
    if between.is_finite() { between } else { low * (1.0 - fraction) + high * fraction }
}
