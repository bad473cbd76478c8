//! Aggregations that compare values for sameness (identity): `count_unique`, `unique`, `group_count`, `mode`, `union` and
//! `intersection`.

use std::any::Any;
use std::borrow::Cow;

use super::distinct::Distinct;
use super::folded::folded;
use super::grouped::for_each_value;
use super::{Accumulator, Aggregation, Meet, unexpected};
use crate::budget::{Stop, make_room, step};
use crate::expr::FunctionError;
use crate::value::sort::sort_values;
use crate::value::{Column, DataValue, allocated, check_depth, copy_all};

pub(super) static COUNT_UNIQUE: Aggregation = Aggregation {
    name: "count_unique",
    parameters: &["x"],
    doc: "The number of distinct values, an Int; null is a value, and 1 and 1.0 are two. No rows give 0.",
    examples: &[("?[count_unique(x)] := x in [1, 1, 1.0, null]", "3"), ("?[count_unique(x)] := x in []", "0")],
    order_matters: false,
    start: |_| Ok(sets(Form::CountUnique)),
    meet: None,
};

pub(super) static UNIQUE: Aggregation = Aggregation {
    name: "unique",
    parameters: &["x"],
    doc: "The sorted list of distinct values, null included. No rows give [].",
    examples: &[("?[unique(x)] := x in [3, 1, 3, null]", "[null, 1, 3]"), ("?[unique(x)] := x in []", "[]")],
    order_matters: false,
    start: |_| Ok(sets(Form::Unique)),
    meet: None,
};

pub(super) static GROUP_COUNT: Aggregation = Aggregation {
    name: "group_count",
    parameters: &["x"],
    doc: "A list of `[value, count]` for each distinct value, sorted by value; null is a value. No rows give [].",
    examples: &[
        ("?[group_count(x)] := x in ['b', 'a', 'b']", "[['a', 1], ['b', 2]]"),
        ("?[group_count(x)] := x in []", "[]"),
    ],
    order_matters: false,
    start: |_| Ok(sets(Form::GroupCount)),
    meet: None,
};

pub(super) static MODE: Aggregation = Aggregation {
    name: "mode",
    parameters: &["x"],
    doc: "The most frequent value; of equally frequent values the smallest in the order of values. Nulls are ignored; if \
          there is nothing else, the result is null.",
    examples: &[
        ("?[mode(x)] := x in ['b', 'a', 'b', null, null, null]", "'b'"),
        ("?[mode(x)] := x in [3, 2]", "2"),
        ("?[mode(x)] := x in []", "null"),
    ],
    order_matters: false,
    start: |_| Ok(sets(Form::Mode)),
    meet: None,
};

pub(super) static UNION: Aggregation = Aggregation {
    name: "union",
    parameters: &["list"],
    doc: "The sorted list of the distinct elements of all lists. Nulls are an error; no rows give [].",
    examples: &[("?[union(l)] := l in [[3, 1], [2, 1]]", "[1, 2, 3]"), ("?[union(l)] := l in [null]", "")],
    order_matters: false,
    start: |_| Ok(sets(Form::Union)),
    meet: Some(Meet {
        start: |value| Ok(DataValue::List(sorted_elements("union", &value)?)),
        improve: unite,
        int_improves: None,
    }),
};

pub(super) static INTERSECTION: Aggregation = Aggregation {
    name: "intersection",
    parameters: &["list"],
    doc: "The sorted list of the distinct elements that all lists have in common. Nulls are ignored; if there are only \
          nulls, the result is null; no rows give [].",
    examples: &[
        ("?[intersection(l)] := l in [[3, 1, 2], [2, 3], null]", "[2, 3]"),
        ("?[intersection(l)] := l in [1]", ""),
    ],
    order_matters: false,
    start: |_| Ok(folded(&INTERSECTION_MEET, || DataValue::List(vec![]))),
    meet: Some(INTERSECTION_MEET),
};

const INTERSECTION_MEET: Meet = Meet {
    start: |value| match value {
        DataValue::Null => Ok(DataValue::Null),
        list => Ok(DataValue::List(sorted_elements("intersection", &list)?)),
    },
    improve: intersect,
    int_improves: None,
};

/// The elements of a List or a Json array.
fn elements<'a>(name: &str, value: &'a DataValue) -> Result<Cow<'a, [DataValue]>, FunctionError> {
    value.elements()?.ok_or_else(|| unexpected(name, "a List", value))
}

fn sorted_elements(name: &str, value: &DataValue) -> Result<Vec<DataValue>, FunctionError> {
    let mut items = sort_values(copy_all(&elements(name, value)?)?)?;
    items.dedup();
    Ok(items)
}

/// Adds the elements of a list to a sorted list; returns whether any was new.
fn unite(current: &mut DataValue, new: &DataValue) -> Result<bool, FunctionError> {
    let DataValue::List(present) = current else { return Err(unexpected("union", "a List", current)) };
    let is_missing = |item: &&DataValue| present.binary_search(item).is_err();
    let mut missing = vec![];
    for item in elements("union", new)?.iter().filter(is_missing) {
        step(1)?;
        missing.push(item.copy()?);
    }
    let grows = !missing.is_empty();
    if grows {
        present.extend(missing);
        present.sort(); // two runs, one of them long and sorted: the stable sort merges these
        present.dedup();
    }
    Ok(grows)
}

/// Drops the elements of a sorted list that another list does not hold; returns whether any was dropped.
fn intersect(current: &mut DataValue, new: &DataValue) -> Result<bool, FunctionError> {
    if new.is_null() {
        return Ok(false);
    }
    let kept = sorted_elements("intersection", new)?;
    match current {
        DataValue::List(common) => {
            let before = common.len();
            common.retain(|item| kept.binary_search(item).is_ok());
            Ok(common.len() < before)
        }
        nothing_yet => {
            *nothing_yet = DataValue::List(kept);
            Ok(true)
        }
    }
}

/// The form of the result.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    /// Their number.
    CountUnique,
    /// Their list.
    Unique,
    /// A list of them with the number of rows of each.
    GroupCount,
    /// The most frequent of them.
    Mode,
    /// Their list, where the values are the elements of the rows' lists.
    Union,
}

struct Sets {
    form: Form,
    groups: usize,
    seen: Distinct,
    /// How often each pair of `seen` occurred; only for [`Form::GroupCount`] and [`Form::Mode`].
    occurrences: Vec<i64>,
}

fn sets(form: Form) -> Box<dyn Accumulator> {
    Box::new(Sets { form, groups: 0, seen: Distinct::default(), occurrences: vec![] })
}

impl Sets {
    fn insert_rows(&mut self, groups: &[u32], values: &Column) {
        for (row, group) in groups.iter().enumerate() {
            self.seen.insert_row(*group, values, row);
        }
    }

    fn count_rows(&mut self, groups: &[u32], values: &Column) {
        for (row, group) in groups.iter().enumerate() {
            self.count_row(*group, values, row, 1);
        }
    }

    fn count_row(&mut self, group: u32, values: &Column, row: usize, times: i64) {
        match self.seen.insert_row(group, values, row) {
            (_, true) => self.occurrences.push(times),
            (pair, false) => self.occurrences[pair] += times,
        }
    }

    fn insert_elements(&mut self, groups: &[u32], lists: &Column) -> Result<(), FunctionError> {
        for_each_value(lists, |row, list| {
            for item in elements("union", list)?.iter() {
                self.seen.insert_value(groups[row], item);
            }
            Ok(())
        })
    }

    fn counts(&self) -> Column {
        let mut counts = vec![0; self.groups];
        for group in self.seen.groups() {
            counts[*group as usize] += 1;
        }
        Column::ints(counts)
    }

    fn modes(&self) -> Result<Column, Stop> {
        let values = self.seen.values();
        let mut best: Vec<Option<usize>> = vec![None; self.groups];
        for (pair, group) in self.seen.groups().iter().enumerate().filter(|(pair, _)| !values.is_null(*pair)) {
            step(1)?;
            let best = &mut best[*group as usize];
            let wins = best.is_none_or(|best| {
                let by_count = self.occurrences[pair].cmp(&self.occurrences[best]);
                by_count.then_with(|| values.compare_at(best, values, pair)).is_gt()
            });
            if wins {
                *best = Some(pair);
            }
        }
        let value = |pair: Option<usize>| pair.map_or(Ok(DataValue::Null), |pair| values.copy_at(pair));
        best.into_iter().map(value).collect()
    }
}

impl Accumulator for Sets {
    fn memory_bytes(&self) -> usize {
        self.seen.memory_bytes() + self.occurrences.len() * size_of::<i64>()
    }

    fn resize(&mut self, groups: usize) {
        self.groups = self.groups.max(groups);
    }

    fn update(&mut self, groups: &[u32], values: &Column) -> Result<(), FunctionError> {
        match self.form {
            Form::CountUnique | Form::Unique => self.insert_rows(groups, values),
            Form::GroupCount | Form::Mode => self.count_rows(groups, values),
            Form::Union => self.insert_elements(groups, values)?,
        }
        Ok(())
    }

    fn fork(&self) -> Option<Box<dyn Accumulator>> {
        Some(sets(self.form))
    }

    fn merge(&mut self, groups: &[u32], other: Box<dyn Accumulator>) -> Result<(), FunctionError> {
        let other: Box<Sets> = other.into_any().downcast().expect("only forks of this accumulator are merged");
        for (pair, group) in other.seen.groups().iter().enumerate() {
            let group = groups[*group as usize];
            match other.form {
                Form::GroupCount | Form::Mode => {
                    self.count_row(group, other.seen.values(), pair, other.occurrences[pair])
                }
                _ => {
                    self.seen.insert_row(group, other.seen.values(), pair);
                }
            }
        }
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<Column, FunctionError> {
        let value = |pair| self.seen.values().copy_at(pair);
        let counted = |pair: usize| {
            make_room(allocated(2 * size_of::<DataValue>()))?;
            Ok(DataValue::List(vec![value(pair)?, self.occurrences[pair].into()]))
        };
        // The elements are in a list, and those of `group_count` in a second one.
        let levels = if self.form == Form::GroupCount { 2 } else { 1 };
        let nests = !matches!(self.form, Form::CountUnique | Form::Mode);
        if let (Column::Any(values), true) = (self.seen.values(), nests) {
            values.iter().try_for_each(|value| check_depth(value, levels))?;
        }
        Ok(match self.form {
            Form::CountUnique => self.counts(),
            Form::Mode => self.modes()?,
            Form::Unique | Form::Union => self.seen.sorted_lists(self.groups, value)?,
            Form::GroupCount => self.seen.sorted_lists(self.groups, counted)?,
        })
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}
