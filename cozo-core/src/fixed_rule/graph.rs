//! Graphs: edges between numbered nodes, and adjacency in compressed rows.
//!
//! [`Input::edges`] numbers the nodes of a relation of edges in the order of their first occurrence, [`Edges::graph`]
//! makes the adjacency. Algorithms work on numbers, and turn them into values at the end: `nodes.values().take(&found)`.

use hashbrown::HashTable;

use super::{FixedRuleError, Input, Poison};
use crate::value::{Column, DataValue, Primitive, hash_value};

/// The number that no node has.
const NO_NODE: u32 = u32::MAX;

/// A table of integers has at most so many places for each integer.
const SPARSEST: usize = 4;

/// Which weights are allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weights {
    /// Any finite number.
    Finite,
    /// Finite numbers of at least 0.
    NonNegative,
}

/// The nodes of a graph, numbered from 0.
#[derive(Debug, Default)]
pub struct Nodes {
    /// The value of each node.
    values: Column,
    hashes: Vec<u64>,
    numbers: HashTable<u32>,
}

/// Edges between numbered nodes.
#[derive(Debug)]
pub struct Edges {
    /// The nodes.
    pub nodes: Nodes,
    /// Where each edge starts.
    pub from: Vec<u32>,
    /// Where each edge ends.
    pub to: Vec<u32>,
    /// The weight of each edge, if weights were asked for and there are any; else each is 1.
    pub weights: Option<Vec<f64>>,
}

/// The edges of each node: where they lead, with their weights.
#[derive(Clone, Debug)]
pub struct Graph {
    /// The edges of node `n` are those from `starts[n]` to `starts[n + 1]`.
    starts: Vec<usize>,
    targets: Vec<u32>,
    weights: Option<Vec<f64>>,
}

impl Nodes {
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

    /// The number of the node that a row of a column holds, if there is such a node.
    pub fn find(&self, column: &Column, row: usize) -> Option<u32> {
        let hash = column.hash_at(row);
        self.numbers.find(hash, |node| self.values.equals_at(*node as usize, column, row)).copied()
    }

    /// The number of the node with this value, if there is such a node.
    pub fn find_value(&self, value: &DataValue) -> Option<u32> {
        let same = |node: &u32| self.values.compare_value(*node as usize, value).is_eq();
        self.numbers.find(hash_value(value), same).copied()
    }

    /// The number of the node that a row of a column holds, a new one if there is none; nothing if there are as many
    /// nodes as numbers.
    pub fn number(&mut self, column: &Column, row: usize) -> Option<u32> {
        if let Some(node) = self.find(column, row) {
            return Some(node);
        }
        self.add(column, row)
    }

    /// A new node.
    fn add(&mut self, column: &Column, row: usize) -> Option<u32> {
        let node = u32::try_from(self.len()).ok().filter(|node| *node != NO_NODE)?;
        let hash = column.hash_at(row);
        self.values.push_from(column, row);
        self.hashes.push(hash);
        let hashes = &self.hashes;
        self.numbers.insert_unique(hash, node, |node| hashes[*node as usize]);
        Some(node)
    }

    /// The numbers of all rows of a column, new ones where needed.
    pub fn number_all(&mut self, column: &Column, poison: &Poison) -> miette::Result<Option<Vec<u32>>> {
        let mut pace = poison.pace();
        if let Some((least, mut known)) = self.table_of_ints(column)
            && let Some(values) = column.as_dense_ints()
        {
            let mut numbers = Vec::with_capacity(values.len());
            for (row, value) in values.iter().enumerate() {
                pace.step()?;
                let known = &mut known[value.abs_diff(least) as usize];
                if *known == NO_NODE {
                    let Some(node) = self.add(column, row) else { return Ok(None) };
                    *known = node;
                }
                numbers.push(*known);
            }
            return Ok(Some(numbers));
        }
        let mut numbers = Vec::with_capacity(column.len());
        for row in 0..column.len() {
            pace.step()?;
            let Some(number) = self.number(column, row) else { return Ok(None) };
            numbers.push(number);
        }
        Ok(Some(numbers))
    }
}

impl Nodes {
    /// Where the column and the nodes are integers that lie close together: the least of them, and the node of each integer
    /// from there on. Looking a node up there is far quicker than by its hash.
    fn table_of_ints(&self, column: &Column) -> Option<(i64, Vec<u32>)> {
        let values = column.as_dense_ints()?;
        let known = if self.is_empty() { &[] } else { self.values.as_dense_ints()? };
        let all = || values.iter().chain(known).copied();
        let (least, most) = (all().min()?, all().max()?);
        let span = usize::try_from(most.abs_diff(least)).ok()?;
        if span / SPARSEST > values.len() + known.len() {
            return None;
        }
        let mut table = vec![NO_NODE; span + 1];
        for (node, value) in (0..).zip(known) {
            table[value.abs_diff(least) as usize] = node;
        }
        Some((least, table))
    }
}

impl Input<'_> {
    /// The input as edges: its first two columns, and the third as weights if they are wanted.
    pub fn edges(&self, weights: Option<Weights>, poison: &Poison) -> Result<Edges, FixedRuleError> {
        if self.arity < 2 {
            return Err(FixedRuleError::NotAnEdge { found: self.arity, span: self.span });
        }
        let weights = weights.filter(|_| self.arity > 2);
        let columns = self.columns(if weights.is_some() { &[0, 1, 2] } else { &[0, 1] }, poison)?;
        let mut nodes = Nodes::default();
        let mut number = |column: &Column| -> Result<Vec<u32>, FixedRuleError> {
            let too_many = || FixedRuleError::TooManyNodes { limit: u32::MAX.into(), span: self.span };
            nodes.number_all(column, poison)?.ok_or_else(too_many)
        };
        let (from, to) = (number(&columns[0])?, number(&columns[1])?);
        let weights = match weights {
            Some(weights) => Some(self.weights(&columns[2], weights)?),
            None => None,
        };
        Ok(Edges { nodes, from, to, weights })
    }

    fn weights(&self, column: &Column, allowed: Weights) -> Result<Vec<f64>, FixedRuleError> {
        let fits = |weight: f64| weight.is_finite() && (allowed == Weights::Finite || weight >= 0.0);
        let weights: Vec<f64> = match column {
            Column::Float(Primitive { values, nulls: None }) => values.clone(),
            Column::Int(Primitive { values, nulls: None }) => values.iter().map(|int| *int as f64).collect(),
            // What is not a number does not fit, as NaN does not.
            other => other.iter().map(|value| value.get_float().unwrap_or(f64::NAN)).collect(),
        };
        let Some(bad) = weights.iter().position(|weight| !fits(*weight)) else { return Ok(weights) };
        let expected = match allowed {
            Weights::Finite => "a finite number",
            Weights::NonNegative => "a finite number of at least 0",
        };
        Err(FixedRuleError::EdgeWeight { weight: column.get(bad).to_string(), expected, span: self.span })
    }
}

impl Edges {
    /// The number of edges.
    pub fn len(&self) -> usize {
        self.from.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.from.is_empty()
    }

    /// The adjacency: of each node the edges that start there, in the order of the edges; if `undirected`, every edge
    /// counts in both directions.
    pub fn graph(&self, undirected: bool) -> Graph {
        let nodes = self.nodes.len();
        let mut starts = vec![0; nodes + 1];
        let backwards: &[u32] = if undirected { &self.to } else { &[] };
        self.from.iter().chain(backwards).for_each(|node| starts[*node as usize + 1] += 1);
        for node in 0..nodes {
            starts[node + 1] += starts[node];
        }
        let mut next = starts.clone();
        let total = starts[nodes];
        let mut targets = vec![0; total];
        let mut weights = self.weights.as_ref().map(|_| vec![0.0; total]);
        let mut place = |from: u32, to: u32, edge: usize| {
            let at = next[from as usize];
            next[from as usize] += 1;
            targets[at] = to;
            if let (Some(weights), Some(given)) = (&mut weights, &self.weights) {
                weights[at] = given[edge];
            }
        };
        for edge in 0..self.len() {
            place(self.from[edge], self.to[edge], edge);
            if undirected {
                place(self.to[edge], self.from[edge], edge);
            }
        }
        Graph { starts, targets, weights }
    }
}

impl Graph {
    /// The number of nodes.
    pub fn node_count(&self) -> usize {
        self.starts.len() - 1
    }

    /// The number of edges; of an undirected graph twice those of the relation.
    pub fn edge_count(&self) -> usize {
        self.targets.len()
    }

    /// The number of edges that start at a node.
    pub fn out_degree(&self, node: u32) -> usize {
        self.out_neighbors(node).len()
    }

    /// Where the edges of a node lead.
    pub fn out_neighbors(&self, node: u32) -> &[u32] {
        &self.targets[self.starts[node as usize]..self.starts[node as usize + 1]]
    }

    /// Where the edges of a node lead, with their weights.
    pub fn out_neighbors_with_weights(&self, node: u32) -> impl ExactSizeIterator<Item = (u32, f64)> + '_ {
        let range = self.starts[node as usize]..self.starts[node as usize + 1];
        range.map(|edge| (self.targets[edge], self.weights.as_ref().map_or(1.0, |weights| weights[edge])))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use std::borrow::Cow;

    use super::*;
    use crate::diag::SourceSpan;
    use crate::fixed_rule::input::InputSource;
    use crate::value::Batch;

    fn edges(rows: &[Vec<DataValue>], weights: Option<Weights>) -> Result<Edges, FixedRuleError> {
        let batch = Batch::from_rows(rows[0].len(), rows.iter().map(Vec::as_slice));
        let arity = rows[0].len();
        let input = Input::new(InputSource::Rows(Cow::Owned(batch)), arity, &[], SourceSpan::default());
        input.edges(weights, &Poison::default())
    }

    #[test]
    fn nodes_are_numbered_by_identity_in_the_order_of_occurrence() {
        let row = |a: DataValue, b: DataValue| vec![a, b];
        let edges =
            edges(&[row("a".into(), 1.into()), row(1.0.into(), "a".into()), row(1.into(), 1.0.into())], None).unwrap();
        let values: Vec<DataValue> = edges.nodes.values().iter().collect();
        assert_eq!(values, ["a".into(), DataValue::from(1.0), 1.into()]);
        assert_eq!((edges.from, edges.to), (vec![0, 1, 2], vec![2, 0, 1]));
        assert_eq!(edges.nodes.find_value(&1.into()), Some(2));
        assert_eq!(edges.nodes.find_value(&2.into()), None);
    }

    #[test]
    fn integers_are_numbered_alike_however_far_apart() {
        for stretch in [1, 1_000_003, i64::MAX / 10] {
            let int = |i: i64| DataValue::from((i % 9 - 4) * stretch);
            let rows: Vec<Vec<DataValue>> = (0..30).map(|i| vec![int(i * 7), int(i * 5 + 1)]).collect();
            let edges = edges(&rows, None).unwrap();
            assert_eq!(edges.nodes.len(), 9);
            for (i, row) in rows.iter().enumerate() {
                assert_eq!(edges.nodes.find_value(&row[0]), Some(edges.from[i]));
                assert_eq!(edges.nodes.find_value(&row[1]), Some(edges.to[i]));
                assert_eq!(edges.nodes.values().get(edges.to[i] as usize), row[1]);
            }
        }
    }

    #[test]
    fn adjacency_has_every_edge_in_one_direction_or_both() {
        let rows: Vec<Vec<DataValue>> =
            [(1, 2, 5), (1, 3, 6), (3, 1, 7), (2, 2, 8)].map(|(a, b, w)| vec![a.into(), b.into(), w.into()]).into();
        let edges = edges(&rows, Some(Weights::Finite)).unwrap();
        let adjacency = |graph: &Graph| -> Vec<Vec<(u32, f64)>> {
            (0..graph.node_count() as u32).map(|node| graph.out_neighbors_with_weights(node).collect()).collect()
        };
        let node = |value: i64| edges.nodes.find_value(&value.into()).unwrap();
        let (one, two, three) = (node(1), node(2), node(3));
        let directed = adjacency(&edges.graph(false));
        assert_eq!(directed[one as usize], [(two, 5.0), (three, 6.0)]);
        assert_eq!(directed[two as usize], [(two, 8.0)]);
        let undirected = edges.graph(true);
        assert_eq!(undirected.edge_count(), 8);
        assert_eq!(adjacency(&undirected)[three as usize], [(one, 6.0), (one, 7.0)]);
        assert_eq!(undirected.out_degree(two), 3, "an edge in both directions, a loop twice");
    }

    #[test]
    fn weights_must_be_numbers_that_the_algorithm_can_use() {
        let row = |weight: DataValue| vec![vec![1.into(), 2.into(), weight]];
        for (weight, finite, non_negative) in [
            (DataValue::from(2), true, true),
            (0.5.into(), true, true),
            ((-1).into(), true, false),
            (f64::INFINITY.into(), false, false),
            (f64::NAN.into(), false, false),
            ("heavy".into(), false, false),
            (DataValue::Null, false, false),
        ] {
            assert_eq!(edges(&row(weight.clone()), Some(Weights::Finite)).is_ok(), finite, "{weight}");
            assert_eq!(edges(&row(weight.clone()), Some(Weights::NonNegative)).is_ok(), non_negative, "{weight}");
            assert!(edges(&row(weight), None).is_ok(), "weights that nobody asks for are not looked at");
        }
    }
}
