//! The values of nodes by number, and the number of a value.

use std::cmp::Ordering;
use std::sync::Arc;

use rayon::prelude::*;

use super::VALUES_PER_CHECK;
use crate::fixed_rule::Poison;
use crate::value::{Column, DataValue};

/// A number that stands for no node.
pub const NO_NODE: u32 = u32::MAX;

/// The nodes of a graph, numbered from 0. Nodes with edges come first and then those without, each in ascending order of their values.
#[derive(Clone, Debug, Default)]
pub struct Nodes {
    /// The value of each node.
    values: Arc<Column>,
    /// The number of nodes with edges.
    with_edges: usize,
    /// The first value, if the nodes with edges are consecutive integers.
    first: Option<i64>,
}

impl Nodes {
    /// The nodes with these values, which are distinct and ascending.
    pub(super) fn ascending(values: Column) -> Self {
        let with_edges = values.len();
        let first = match values.as_dense_ints() {
            Some([first, .., last]) if last.abs_diff(*first) == with_edges as u64 - 1 => Some(*first),
            _ => None,
        };
        Nodes { values: values.into(), with_edges, first }
    }

    /// The number of nodes.
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The value of each node.
    pub fn values(&self) -> &Column {
        &self.values
    }

    /// Converts the nodes to their values.
    pub fn into_values(self) -> Column {
        Arc::unwrap_or_clone(self.values)
    }

    /// Whether all nodes have edges.
    pub(super) fn all_have_edges(&self) -> bool {
        self.with_edges == self.len()
    }

    /// The value of one node.
    pub fn value(&self, node: u32) -> DataValue {
        self.values.get(node as usize)
    }

    /// Some nodes as a list. Its memory is charged.
    pub fn list(&self, nodes: &[u32], poison: &Poison) -> miette::Result<DataValue> {
        let list = DataValue::List(nodes.iter().map(|node| self.value(*node)).collect());
        // One list is never larger than the graph, so it may be charged afterwards.
        poison.make_room(list.memory_bytes())?;
        Ok(list)
    }

    /// The number of the node with the value of a row, if there is one.
    pub fn find(&self, column: &Column, row: usize) -> Option<u32> {
        if let (Some(first), Some(ints)) = (self.first, column.as_dense_ints())
            && let Ok(distance) = usize::try_from(ints[row].wrapping_sub(first))
            && distance < self.with_edges
        {
            return Some(distance as u32);
        }
        self.search(|node| self.values.compare_at(node, column, row))
    }

    /// The number of the node with this value, if there is one.
    pub fn find_value(&self, value: &DataValue) -> Option<u32> {
        self.search(|node| self.values.compare_value(node, value))
    }

    fn search(&self, compare: impl Fn(usize) -> Ordering) -> Option<u32> {
        let within = |mut low: usize, mut high: usize| {
            while low < high {
                let middle = low + (high - low) / 2;
                match compare(middle) {
                    Ordering::Less => low = middle + 1,
                    Ordering::Greater => high = middle,
                    Ordering::Equal => return Some(middle as u32),
                }
            }
            None
        };
        within(0, self.with_edges).or_else(|| within(self.with_edges, self.len()))
    }

    /// The numbers of the nodes with the values of a column, or [`NO_NODE`].
    pub fn find_all(&self, column: &Column, poison: &Poison) -> miette::Result<Vec<u32>> {
        let mut numbers = vec![NO_NODE; column.len()];
        numbers.par_chunks_mut(VALUES_PER_CHECK).enumerate().try_for_each(|(i, numbers)| {
            poison.check()?;
            for (row, number) in numbers.iter_mut().enumerate() {
                *number = self.find(column, i * VALUES_PER_CHECK + row).unwrap_or(NO_NODE);
            }
            Ok::<_, miette::Report>(())
        })?;
        Ok(numbers)
    }

    /// Adds the nodes of a column that have no edges. It is called at most once. Returns `false` if there are more nodes than numbers.
    pub fn add_without_edges(&mut self, column: &Column, poison: &Poison) -> miette::Result<bool> {
        let found = self.find_all(column, poison)?;
        let mut new: Vec<u32> = (0..column.len() as u32).filter(|row| found[*row as usize] == NO_NODE).collect();
        new.par_sort_unstable_by(|a, b| column.compare_at(*a as usize, column, *b as usize));
        new.dedup_by(|a, b| column.equals_at(*a as usize, column, *b as usize));
        Arc::make_mut(&mut self.values).append_take(column, &new);
        Ok(self.len() < NO_NODE as usize)
    }
}
