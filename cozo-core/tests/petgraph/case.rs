//! Random graphs as stored relations, and as copies that petgraph holds.

use std::collections::{BTreeMap, BTreeSet};

use cozo::petgraph::graph::{Graph, NodeIndex};
use cozo::petgraph::{Directed, EdgeType, Undirected};
use cozo::{DataValue, DbInstance, NamedRows, ScriptMutability, StoredGraph};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

/// What edges a random graph may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Any: loops, parallel edges, edges in both directions.
    Any,
    /// At most one edge between two nodes, and no loops or cycles.
    Acyclic,
    /// From one half of the nodes to the other, at most one edge between two nodes.
    Bipartite,
}

/// A graph that is stored as `edge {a, b, w}` and, without weights, as `pair {a, b}`.
pub struct Case {
    pub db: DbInstance,
    /// From, to, weight, in ascending order. Nodes are numbered in the order of their values.
    pub edges: Vec<(usize, usize, f64)>,
    /// The value of each node.
    pub values: Vec<DataValue>,
    pub seed: u64,
}

/// Runs a check on graphs of several sizes, and values of several types.
pub fn for_each_case(shape: Shape, max_nodes: usize, check: impl Fn(&Case)) {
    for seed in 0..40 {
        check(&Case::random(seed, shape, max_nodes));
    }
}

fn value(seed: u64, node: usize) -> DataValue {
    match seed % 3 {
        0 => DataValue::from(node as i64 + 1),
        1 => DataValue::from(node as i64 * 1_000_003 - 5_000_000),
        // The order of these differs from that of the numbers.
        _ => DataValue::from(format!("node {node}")),
    }
}

fn random_edges(random: &mut StdRng, shape: Shape, nodes: usize) -> BTreeSet<(usize, usize, i64)> {
    let count = random.random_range(1..=2 * nodes);
    let mut edges = BTreeMap::new();
    for number in 0..count {
        let (a, b) = (random.random_range(0..nodes), random.random_range(0..nodes));
        let (a, b) = match shape {
            Shape::Any => (a, b),
            Shape::Acyclic if a == b => continue,
            Shape::Acyclic => (a.min(b), a.max(b)),
            Shape::Bipartite => (a / 2 * 2, b / 2 * 2 + 1),
        };
        let parallel = if shape == Shape::Any { number } else { 0 };
        edges.insert((a, b, parallel), random.random_range(1..6));
    }
    edges.into_iter().map(|((a, b, _), weight)| (a, b, weight)).collect()
}

impl Case {
    pub fn random(seed: u64, shape: Shape, max_nodes: usize) -> Case {
        let mut random = StdRng::seed_from_u64(seed);
        let nodes = random.random_range(2..=max_nodes);
        let mut given: Vec<(DataValue, DataValue, f64)> = random_edges(&mut random, shape, nodes)
            .into_iter()
            .map(|(a, b, weight)| (value(seed, a), value(seed, b), weight as f64))
            .collect();
        // A graph of two nodes may have come without edges.
        if given.is_empty() {
            given.push((value(seed, 0), value(seed, 1), 1.0));
        }
        let values: BTreeSet<DataValue> = given.iter().flat_map(|(a, b, _)| [a.clone(), b.clone()]).collect();
        let values: Vec<DataValue> = values.into_iter().collect();
        let number = |value: &DataValue| values.binary_search(value).unwrap();
        let mut edges: Vec<(usize, usize, f64)> = given.iter().map(|(a, b, w)| (number(a), number(b), *w)).collect();
        edges.sort_by(|a, b| a.partial_cmp(b).unwrap());
        let db = DbInstance::default();
        let rows = given.into_iter().map(|(a, b, w)| DataValue::List(vec![a, b, w.into()])).collect();
        let rows = BTreeMap::from([("rows".to_string(), DataValue::List(rows))]);
        let script = "{?[a, b, w] <- $rows :create edge {a, b, w}} {?[a, b] := *edge{a, b} :create pair {a, b}}";
        db.run_script(script, rows, ScriptMutability::Mutable).unwrap();
        Case { db, edges, values, seed }
    }

    /// The stored graph with weights.
    pub fn weighted(&self) -> StoredGraph {
        self.db.weighted_graph("edge").unwrap()
    }

    /// The stored graph without weights and parallel edges.
    pub fn plain(&self) -> StoredGraph {
        self.db.graph("pair").unwrap()
    }

    fn copy<Ty: EdgeType>(&self) -> Graph<DataValue, f64, Ty> {
        let mut copy = Graph::with_capacity(self.values.len(), self.edges.len());
        for value in &self.values {
            copy.add_node(value.clone());
        }
        for (a, b, weight) in &self.edges {
            copy.add_edge(NodeIndex::new(*a), NodeIndex::new(*b), *weight);
        }
        copy
    }

    /// A copy of the graph with weights: nodes and edges have the same indices.
    pub fn directed_copy(&self) -> Graph<DataValue, f64, Directed> {
        self.copy()
    }

    /// The same without directions.
    pub fn undirected_copy(&self) -> Graph<DataValue, f64, Undirected> {
        self.copy()
    }

    /// All nodes.
    pub fn nodes(&self) -> impl Iterator<Item = NodeIndex> + use<> {
        (0..self.values.len()).map(NodeIndex::new)
    }

    /// Runs a script that reads `edge` and `pair`.
    pub fn run(&self, script: &str) -> Vec<Vec<DataValue>> {
        let outcome: cozo::Result<NamedRows> = self.db.run_script(script, BTreeMap::new(), ScriptMutability::Immutable);
        outcome.unwrap_or_else(|error| panic!("{error:?}\n{script}\n{self:?}")).rows
    }

    /// The index of the node with a value.
    pub fn node(&self, value: &DataValue) -> NodeIndex {
        NodeIndex::new(self.values.binary_search(value).unwrap_or_else(|_| panic!("{value} is no node")))
    }

    /// Rows of a node and a number, as the number of each node.
    pub fn numbers(&self, script: &str) -> Vec<f64> {
        let mut numbers = vec![f64::NAN; self.values.len()];
        for row in self.run(script) {
            numbers[self.node(&row[0]).index()] = row[1].get_float().unwrap();
        }
        assert!(numbers.iter().all(|number| !number.is_nan()), "{script} leaves a node out: {self:?}");
        numbers
    }

    /// Rows of a node and the number of its group, as groups.
    pub fn groups(&self, script: &str) -> BTreeSet<BTreeSet<NodeIndex>> {
        let mut groups: BTreeMap<i64, BTreeSet<NodeIndex>> = BTreeMap::new();
        for row in self.run(script) {
            groups.entry(row[1].get_int().unwrap()).or_default().insert(self.node(&row[0]));
        }
        groups.into_values().collect()
    }

    /// The sum of the last column.
    pub fn sum(&self, script: &str) -> f64 {
        self.run(script).iter().map(|row| row[row.len() - 1].get_float().unwrap()).sum()
    }

    /// Checks that both have about the same numbers.
    pub fn expect_close(&self, ours: &[f64], theirs: impl IntoIterator<Item = f64>) {
        let theirs: Vec<f64> = theirs.into_iter().collect();
        let close = |(a, b): (&f64, &f64)| (a - b).abs() < 1e-9 * a.abs().max(1.0);
        let alike = ours.len() == theirs.len() && ours.iter().zip(&theirs).all(close);
        assert!(alike, "ours {ours:?}\ntheirs {theirs:?}\n{self:?}");
    }
}

impl std::fmt::Debug for Case {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "seed {}, edges {:?}, values {:?}", self.seed, self.edges, self.values)
    }
}

/// Groups of nodes as sets.
pub fn as_sets<G: IntoIterator<Item = NodeIndex>>(
    groups: impl IntoIterator<Item = G>,
) -> BTreeSet<BTreeSet<NodeIndex>> {
    groups.into_iter().map(|group| group.into_iter().collect()).collect()
}
