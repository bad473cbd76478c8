//! Small random graphs with everything that graphs may have: loops, parallel edges, nodes without edges, ids of any kind.

use std::collections::{BTreeMap, BTreeSet};

use cozo::{DataValue, DbInstance, ScriptMutability};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

/// The cost of what cannot be reached.
pub const NEVER: f64 = f64::INFINITY;

/// A graph whose nodes are numbered in the order of their ids.
pub struct Graph {
    /// The ids of nodes; the last one has no edges.
    pub ids: Vec<DataValue>,
    /// From, to, weight: distinct, in any order.
    pub edges: Vec<(usize, usize, f64)>,
    pub undirected: bool,
}

/// The rows of a script about a graph.
pub type Rows = Vec<Vec<DataValue>>;

/// Runs a check on many graphs, half of them undirected.
pub fn for_each_graph(graphs: u64, check: impl Fn(&Graph)) {
    for seed in 0..graphs {
        check(&Graph::random(seed));
    }
}

fn ids(kind: u64, count: usize) -> Vec<DataValue> {
    let id = |i: usize| match kind {
        0 => DataValue::from(i as i64 + 3),
        1 => DataValue::from((i as i64 - 2) * 1_000_000_007_000),
        2 => DataValue::from(format!("node {i}")),
        _ => match i % 4 {
            0 => DataValue::from(i as i64),
            1 => DataValue::from(i as f64 - 1.0),
            2 => DataValue::from(format!("{i}")),
            _ => DataValue::from(vec![i as i64]),
        },
    };
    let mut ids: Vec<DataValue> = (0..count).map(id).collect();
    ids.sort();
    ids
}

impl Graph {
    pub fn random(seed: u64) -> Graph {
        let mut random = StdRng::seed_from_u64(seed);
        let nodes = random.random_range(1..8);
        let ids = ids(seed % 4, nodes + 1);
        let density = random.random_range(0..=2 * nodes);
        let mut edges = BTreeSet::new();
        for _ in 0..=density {
            let (from, to) = (random.random_range(0..nodes), random.random_range(0..nodes));
            edges.insert((from, to, random.random_range(1..5)));
        }
        let edges: Vec<(usize, usize, f64)> = edges.into_iter().map(|(a, b, w)| (a, b, f64::from(w))).collect();
        Graph { ids, edges, undirected: seed / 4 % 2 == 1 }
    }

    /// How many nodes there are, the one without edges among them, and perhaps others.
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    pub fn has_edges(&self, node: usize) -> bool {
        self.edges.iter().any(|(from, to, _)| *from == node || *to == node)
    }

    /// The nodes with edges.
    pub fn nodes(&self) -> Vec<usize> {
        (0..self.len()).filter(|node| self.has_edges(*node)).collect()
    }

    /// The edges in both directions if the graph is undirected.
    pub fn all_edges(&self) -> Vec<(usize, usize, f64)> {
        let backwards = self.edges.iter().filter(|_| self.undirected).map(|(a, b, w)| (*b, *a, *w));
        self.edges.iter().copied().chain(backwards).collect()
    }

    /// The weight of the lightest edge of each pair of different nodes.
    pub fn lightest(&self) -> BTreeMap<(usize, usize), f64> {
        let mut lightest = BTreeMap::new();
        for (from, to, weight) in self.all_edges().into_iter().filter(|(from, to, _)| from != to) {
            let known = lightest.entry((from, to)).or_insert(weight);
            *known = weight.min(*known);
        }
        lightest
    }

    /// The same without weights.
    pub fn unweighted(&self) -> Graph {
        let mut edges: Vec<(usize, usize, f64)> = self.edges.iter().map(|(a, b, _)| (*a, *b, 1.0)).collect();
        edges.sort_by(|a, b| a.partial_cmp(b).unwrap());
        edges.dedup();
        Graph { ids: self.ids.clone(), edges, undirected: self.undirected }
    }

    /// The costs of the cheapest paths between all nodes (Floyd and Warshall).
    pub fn distances(&self) -> Vec<Vec<f64>> {
        let n = self.len();
        let mut cost = vec![vec![NEVER; n]; n];
        (0..n).for_each(|node| cost[node][node] = 0.0);
        self.lightest().into_iter().for_each(|((from, to), weight)| cost[from][to] = weight);
        for via in 0..n {
            for from in 0..n {
                for to in 0..n {
                    cost[from][to] = cost[from][to].min(cost[from][via] + cost[via][to]);
                }
            }
        }
        cost
    }

    /// All paths without loops between two nodes, with their costs.
    pub fn simple_paths(&self, start: usize, goal: usize) -> Vec<(f64, Vec<usize>)> {
        let lightest = self.lightest();
        let mut found = vec![];
        let mut open = vec![(0.0, vec![start])];
        while let Some((cost, path)) = open.pop() {
            let last = path[path.len() - 1];
            if last == goal {
                found.push((cost, path));
                continue;
            }
            for ((from, to), weight) in &lightest {
                if *from == last && !path.contains(to) {
                    open.push((cost + weight, path.iter().copied().chain([*to]).collect()));
                }
            }
        }
        found
    }

    /// Runs a script that finds the edges as `$e` with weights and as `$p` without, all ids as `$n`, and the option
    /// `undirected` as `$u`.
    pub fn run(&self, script: &str) -> Rows {
        let list = |rows: Vec<Vec<DataValue>>| DataValue::List(rows.into_iter().map(DataValue::List).collect());
        let row = |(a, b, w): &(usize, usize, f64)| vec![self.ids[*a].clone(), self.ids[*b].clone(), (*w).into()];
        let rows: Vec<Vec<DataValue>> = self.edges.iter().map(row).collect();
        let pairs = rows.iter().map(|row| row[..2].to_vec()).collect();
        let parameters = BTreeMap::from([
            ("e".to_string(), list(rows)),
            ("p".to_string(), list(pairs)),
            ("n".to_string(), list(self.ids.iter().map(|id| vec![id.clone()]).collect())),
            ("u".to_string(), self.undirected.into()),
        ]);
        let script = format!("e[a, b, w] <- $e  p[a, b] <- $p  n[id] <- $n  {script}");
        let outcome = DbInstance::default().run_script(&script, parameters, ScriptMutability::Immutable);
        outcome.unwrap_or_else(|error| panic!("{error:?}\n{script}\n{:?}", self.edges)).rows
    }

    /// The number of a node.
    pub fn node(&self, id: &DataValue) -> usize {
        self.ids.iter().position(|known| known == id).unwrap_or_else(|| panic!("{id} is no node"))
    }

    /// The numbers of a list of nodes.
    pub fn path(&self, list: &DataValue) -> Vec<usize> {
        list.get_slice().unwrap_or_else(|| panic!("{list} is no list")).iter().map(|id| self.node(id)).collect()
    }

    /// Rows of a node and a number, as the number of each node; that of others is nothing.
    pub fn numbers(&self, rows: &Rows, node: usize, number: usize) -> Vec<Option<f64>> {
        let mut numbers = vec![None; self.len()];
        for row in rows {
            let place = &mut numbers[self.node(&row[node])];
            assert!(place.is_none(), "{} has two rows: {rows:?}", row[node]);
            *place = row[number].get_float();
            assert!(place.is_some(), "{rows:?}");
        }
        numbers
    }

    /// Checks that these nodes and no others have these numbers.
    pub fn expect(&self, what: &str, found: &[Option<f64>], nodes: &[usize], expected: impl Fn(usize) -> f64) {
        for node in 0..self.len() {
            let expected = nodes.contains(&node).then(|| expected(node));
            let alike = match (found[node], expected) {
                (Some(found), Some(expected)) => found == expected || (found - expected).abs() < 1e-6,
                (found, expected) => found == expected,
            };
            assert!(alike, "{what} of node {node} is {:?}, not {expected:?}: {self:?}", found[node]);
        }
    }
}

impl std::fmt::Debug for Graph {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?}, undirected {}, ids {:?}", self.edges, self.undirected, self.ids)
    }
}
