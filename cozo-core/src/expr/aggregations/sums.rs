//! `sum`, `product`, `mean`, `variance` and `std_dev`: numbers in, one Float out.
//!
//! Numbers are added as floats in row order, or in any order that gives the same sum. The variance keeps mean and squared
//! deviations instead of sums of squares (B. P. Welford, "Note on a method for calculating corrected sums of squares and
//! products", Technometrics 1962), and merges parts by the pairwise formula of Chan, Golub and LeVeque (1979).

use super::grouped::{Kind, for_each_value, grouped, only_group};
use super::{Aggregation, unexpected};
use crate::expr::FunctionError;
use crate::value::{Column, DataValue, Primitive};

pub(super) static SUM: Aggregation = Aggregation {
    name: "sum",
    parameters: &["x"],
    doc: "The sum of numbers, always a Float; `int_sum` is exact. Nulls are an error; no rows give 0.0.",
    examples: &[
        ("?[sum(x)] := x in [2, 2, 5]", "9.0"),
        ("?[sum(x)] := x in []", "0.0"),
        ("?[sum(x)] := x in [null]", ""),
    ],
    order_matters: false,
    start: |_| Ok(grouped(Numeric { name: "sum", empty: Sum(0.0), result: |sum| sum.0 })),
    meet: None,
};

pub(super) static PRODUCT: Aggregation = Aggregation {
    name: "product",
    parameters: &["x"],
    doc: "The product of numbers, always a Float. Nulls are an error; no rows give 1.0.",
    examples: &[
        ("?[product(x)] := x in [2, 2, 5]", "20.0"),
        ("?[product(x)] := x in []", "1.0"),
        ("?[product(x)] := x in [null]", ""),
    ],
    order_matters: false,
    start: |_| Ok(grouped(Numeric { name: "product", empty: Product(1.0), result: |product| product.0 })),
    meet: None,
};

pub(super) static MEAN: Aggregation = Aggregation {
    name: "mean",
    parameters: &["x"],
    doc: "The arithmetic mean of numbers, a Float. Nulls are an error; no rows give NaN.",
    examples: &[("?[mean(x)] := x in [1, 2, 6]", "3.0"), ("?[mean(x)] := x in [1, null]", "")],
    order_matters: false,
    start: |_| Ok(grouped(Numeric { name: "mean", empty: Mean { sum: 0.0, count: 0 }, result: Mean::mean })),
    meet: None,
};

pub(super) static VARIANCE: Aggregation = Aggregation {
    name: "variance",
    parameters: &["x"],
    doc: "The sample variance of numbers (divided by n - 1), a Float. Nulls are an error; fewer than two rows give NaN.",
    examples: &[("?[variance(x)] := x in [1, 2, 3]", "1.0"), ("?[variance(x)] := x in [1, null]", "")],
    order_matters: false,
    start: |_| Ok(grouped(Numeric { name: "variance", empty: Moments::EMPTY, result: Moments::variance })),
    meet: None,
};

pub(super) static STD_DEV: Aggregation = Aggregation {
    name: "std_dev",
    parameters: &["x"],
    doc: "The sample standard deviation of numbers, the square root of `variance`. Nulls are an error; \
          fewer than two rows give NaN.",
    examples: &[("?[std_dev(x)] := x in [1, 2, 3]", "1.0"), ("?[std_dev(x)] := x in [1, null]", "")],
    order_matters: false,
    start: |_| {
        Ok(grouped(Numeric { name: "std_dev", empty: Moments::EMPTY, result: |moments| moments.variance().sqrt() }))
    },
    meet: None,
};

/// A summary of numbers that takes one at a time.
trait Summary: Copy + Send + 'static {
    /// Takes a further number.
    fn add(&mut self, number: f64);

    /// Takes integers by their exact sum, if the result is the same as for one after the other; returns whether it is.
    fn add_all(&mut self, _sum: f64, _count: u64) -> bool {
        false
    }

    /// Merges the summary of later numbers.
    fn absorb(&mut self, later: Self);
}

/// The kind whose states are summaries.
#[derive(Clone, Copy)]
struct Numeric<S> {
    /// The aggregation's name, for errors.
    name: &'static str,
    /// The summary of no numbers.
    empty: S,
    /// The result of a summary.
    result: fn(S) -> f64,
}

impl<S: Summary> Kind for Numeric<S> {
    type State = S;

    fn initial(&self) -> S {
        self.empty
    }

    fn update(&mut self, states: &mut [S], groups: &[u32], values: &Column) -> Result<(), FunctionError> {
        match values {
            Column::Int(column) if add_ints(states, groups, column) => Ok(()),
            Column::Int(column) => self.add_column(states, groups, column, |value| value as f64),
            Column::Float(column) => self.add_column(states, groups, column, |value| value),
            _ => for_each_value(values, |row, value| {
                let number = value.get_float().ok_or_else(|| self.not_a_number(value))?;
                states[groups[row] as usize].add(number);
                Ok(())
            }),
        }
    }

    fn absorb(&mut self, state: &mut S, later: S) -> Result<(), FunctionError> {
        state.absorb(later);
        Ok(())
    }

    fn finish(&self, states: Vec<S>) -> Result<Column, FunctionError> {
        Ok(Column::floats(states.into_iter().map(self.result).collect()))
    }

    fn fork(&self) -> Self {
        *self
    }
}

impl<S: Summary> Numeric<S> {
    fn not_a_number(&self, value: &DataValue) -> FunctionError {
        unexpected(self.name, "a number", value)
    }

    /// Adds a typed column that must not hold nulls.
    fn add_column<T: Copy>(
        &self,
        states: &mut [S],
        groups: &[u32],
        column: &Primitive<T>,
        to_float: impl Fn(T) -> f64,
    ) -> Result<(), FunctionError> {
        if column.nulls.as_ref().is_some_and(|nulls| nulls.contains(&true)) {
            return Err(self.not_a_number(&DataValue::Null));
        }
        if let Some(group) = only_group(groups) {
            let mut state = states[group];
            column.values.iter().for_each(|value| state.add(to_float(*value)));
            states[group] = state;
            return Ok(());
        }
        for (group, value) in groups.iter().zip(&column.values) {
            states[*group as usize].add(to_float(*value));
        }
        Ok(())
    }
}

/// Floats represent all integers up to this magnitude, so sums below it do not depend on the order.
const EXACT: f64 = (1_u64 << f64::MANTISSA_DIGITS) as f64;

/// The sum of integers, if every order of adding them stays within half of what a float represents exactly.
fn exact_sum(values: &[i64]) -> Option<f64> {
    const SMALL: u64 = 1 << 38;
    const FEW: usize = 1 << 13;
    let (sum, bits) = values
        .iter()
        .fold((0_i64, 0), |(sum, bits), value| (sum.wrapping_add(*value), bits | (*value as u64).wrapping_add(SMALL)));
    (bits < 2 * SMALL && values.len() <= FEW).then_some(sum as f64)
}

/// Adds integers that all belong to one group, all at once if that is the same.
fn add_ints<S: Summary>(states: &mut [S], groups: &[u32], column: &Primitive<i64>) -> bool {
    if column.nulls.is_some() {
        return false;
    }
    match (only_group(groups), exact_sum(&column.values)) {
        (Some(group), Some(sum)) => states[group].add_all(sum, column.values.len() as u64),
        _ => false,
    }
}

/// [`Summary::add_all`] of a sum.
fn add_exactly(total: &mut f64, sum: f64) -> bool {
    let exact = total.abs() <= EXACT / 2.0 && total.fract() == 0.0;
    if exact {
        *total += sum;
    }
    exact
}

#[derive(Clone, Copy)]
struct Sum(f64);

impl Summary for Sum {
    #[inline]
    fn add(&mut self, number: f64) {
        self.0 += number;
    }

    fn add_all(&mut self, sum: f64, _count: u64) -> bool {
        add_exactly(&mut self.0, sum)
    }

    fn absorb(&mut self, later: Self) {
        self.0 += later.0;
    }
}

#[derive(Clone, Copy)]
struct Product(f64);

impl Summary for Product {
    #[inline]
    fn add(&mut self, number: f64) {
        self.0 *= number;
    }

    fn absorb(&mut self, later: Self) {
        self.0 *= later.0;
    }
}

#[derive(Clone, Copy)]
struct Mean {
    sum: f64,
    count: u64,
}

impl Summary for Mean {
    #[inline]
    fn add(&mut self, number: f64) {
        self.sum += number;
        self.count += 1;
    }

    fn add_all(&mut self, sum: f64, count: u64) -> bool {
        let taken = add_exactly(&mut self.sum, sum);
        self.count += if taken { count } else { 0 };
        taken
    }

    fn absorb(&mut self, later: Self) {
        self.sum += later.sum;
        self.count += later.count;
    }
}

impl Mean {
    fn mean(self) -> f64 {
        if self.count == 0 { f64::NAN } else { self.sum / self.count as f64 }
    }
}

/// Mean, and the sum of squared deviations from it.
#[derive(Clone, Copy)]
struct Moments {
    count: u64,
    mean: f64,
    squares: f64,
}

impl Summary for Moments {
    #[inline]
    fn add(&mut self, number: f64) {
        self.count += 1;
        let deviation = number - self.mean;
        self.mean += deviation / self.count as f64;
        self.squares += deviation * (number - self.mean);
    }

    fn absorb(&mut self, later: Self) {
        if self.count == 0 || later.count == 0 {
            *self = if self.count == 0 { later } else { *self };
            return;
        }
        let count = self.count + later.count;
        let (here, there, all) = (self.count as f64, later.count as f64, count as f64);
        let deviation = later.mean - self.mean;
        self.mean += deviation * (there / all);
        self.squares += later.squares + deviation * deviation * (here * there / all);
        self.count = count;
    }
}

impl Moments {
    const EMPTY: Self = Moments { count: 0, mean: 0.0, squares: 0.0 };

    fn variance(self) -> f64 {
        if self.count < 2 { f64::NAN } else { self.squares / (self.count - 1) as f64 }
    }
}
