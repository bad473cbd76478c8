//! Tests of numbering and adjacency against simple models.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::borrow::Cow;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;
use crate::diag::SourceSpan;
use crate::fixed_rule::input::{InputSource, StoredRows};
use crate::schema::RelationId;
use crate::storage::ColumnTree;
use crate::storage::{BatchCursor, ContentVersion, KeyRange, RelationShape, StorageError};
use crate::value::{Batch, DataValue};

fn edges(rows: &[Vec<DataValue>], weights: Option<Weights>) -> Result<Edges, FixedRuleError> {
    let batch = Batch::from_rows(rows[0].len(), rows.iter().map(Vec::as_slice));
    let arity = rows[0].len();
    let input = Input::new(InputSource::Rows(Cow::Owned(batch)), arity, &[], SourceSpan::default());
    input.edges(weights, &Poison::default())
}

/// Checks that the ends of edges are the numbers of their values, and that numbers follow the order of values.
fn check_numbers(rows: &[Vec<DataValue>], edges: &Edges) {
    for (i, row) in rows.iter().enumerate() {
        assert_eq!(edges.nodes.value(edges.from()[i]), row[0]);
        assert_eq!(edges.nodes.value(edges.to()[i]), row[1]);
        assert_eq!(edges.nodes.find_value(&row[0]), Some(edges.from()[i]));
        let column: Column = [row[1].clone()].into_iter().collect();
        assert_eq!(edges.nodes.find(&column, 0), Some(edges.to()[i]));
    }
    let mut distinct: Vec<DataValue> = rows.iter().flat_map(|row| row[..2].to_vec()).collect();
    distinct.sort();
    distinct.dedup();
    assert_eq!(edges.nodes.values().iter().collect::<Vec<_>>(), distinct);
}

#[test]
fn nodes_are_numbered_by_identity_in_the_order_of_values() {
    let row = |a: DataValue, b: DataValue| vec![a, b];
    let rows = [row("a".into(), 1.into()), row(1.0.into(), "a".into()), row(1.into(), 1.0.into())];
    let edges = edges(&rows, None).unwrap();
    check_numbers(&rows, &edges);
    assert_eq!(edges.nodes.find_value(&2.into()), None);
    assert_eq!((edges.from(), edges.to()), ([2, 1, 0].as_slice(), [0, 2, 1].as_slice()));
    let sorted = edges.sorted();
    assert_eq!((sorted.from(), sorted.to()), ([0, 1, 2].as_slice(), [1, 2, 0].as_slice()));
}

#[test]
fn integers_are_numbered_alike_however_far_apart() {
    for (stretch, offset) in [
        (1, 0),
        (3, -7),
        (1_000_003, 0),
        (i64::MAX / 10, 0),
        (1, i64::MAX - 4),
        (1, i64::MIN + 4),
        (90, i64::MIN + 500),
    ] {
        let int = |i: i64| DataValue::from(((i % 9 - 4) * stretch).saturating_add(offset));
        let rows: Vec<Vec<DataValue>> = (0..30).map(|i| vec![int(i * 7), int(i * 5 + 1)]).collect();
        check_numbers(&rows, &edges(&rows, None).unwrap());
    }
}

#[test]
fn many_values_are_numbered_by_several_tables() {
    let kinds: [fn(i64) -> DataValue; 4] = [
        |i| DataValue::from(i * 1_000_000_007),
        |i| DataValue::from(format!("node {i}")),
        |i| if i % 3 == 0 { DataValue::from(i) } else { DataValue::from(i as f64) },
        |i| DataValue::from(vec![i / 7, i % 7]),
    ];
    for kind in kinds {
        let rows: Vec<Vec<DataValue>> =
            (0..20_000).map(|i| vec![kind(i * i % 7001), kind((i * 31 + 5) % 9001)]).collect();
        check_numbers(&rows, &edges(&rows, None).unwrap());
    }
}

#[test]
fn nodes_without_edges_come_last() {
    for [a, b] in [[2, 4], [2, 3]] {
        let mut edges = edges(&[vec![b.into(), a.into()]], None).unwrap();
        let more: Column = [9, a, 1, 9, 6].into_iter().map(DataValue::from).collect();
        assert!(edges.nodes.add_without_edges(&more, &Poison::default()).unwrap());
        let values: Vec<DataValue> = edges.nodes.values().iter().collect();
        assert_eq!(values, [a, b, 1, 6, 9].map(DataValue::from));
        let found: Vec<Option<u32>> = values.iter().map(|value| edges.nodes.find_value(value)).collect();
        assert_eq!(found, [0, 1, 2, 3, 4].map(Some));
        let column: Column = [6, 5].into_iter().map(DataValue::from).collect();
        assert_eq!(edges.nodes.find_all(&column, &Poison::default()).unwrap(), [3, NO_NODE]);
    }
}

fn adjacency(graph: &Graph) -> Vec<Vec<(u32, f64)>> {
    (0..graph.node_count() as u32).map(|node| graph.out_neighbors_with_weights(node).collect()).collect()
}

#[test]
fn adjacency_has_every_edge_in_one_direction_or_both() {
    let rows: Vec<Vec<DataValue>> =
        [(1, 2, 5), (1, 3, 6), (3, 1, 7), (2, 2, 8)].map(|(a, b, w)| vec![a.into(), b.into(), w.into()]).into();
    let edges = edges(&rows, Some(Weights::Finite)).unwrap();
    assert_eq!(adjacency(&edges.graph(Direction::Out)), [vec![(1, 5.0), (2, 6.0)], vec![(1, 8.0)], vec![(0, 7.0)]]);
    let into = edges.graph(Direction::In);
    assert_eq!(adjacency(&into), [vec![(2, 7.0)], vec![(0, 5.0), (1, 8.0)], vec![(0, 6.0)]]);
    assert_eq!(adjacency(&into), adjacency(&edges.graph(Direction::Out).reversed()));
    let both = edges.graph(Direction::Both);
    assert_eq!(both.edge_count(), 8);
    assert_eq!(adjacency(&both)[2], [(0, 7.0), (0, 6.0)]);
    assert_eq!(both.out_degree(1), 3, "an edge in both directions, a loop twice");
    assert_eq!(adjacency(&both.simple()), [vec![(1, 5.0), (2, 6.0)], vec![(0, 5.0)], vec![(0, 6.0)]]);
    let (_, owned) = edges.into_graph(Direction::Out);
    assert_eq!(adjacency(&owned)[0], [(1, 5.0), (2, 6.0)]);
}

#[test]
fn large_graphs_are_placed_by_blocks_of_nodes() {
    const NODES: u32 = 20_000;
    let edges = 0..2_200_000_u64;
    let mut from: Vec<u32> = edges.clone().map(|i| (i * i % 100_003 % u64::from(NODES)) as u32).collect();
    let to: Vec<u32> = edges.clone().map(|i| (i * 7919 % u64::from(NODES - 1)) as u32).collect();
    let weights: Vec<f64> = edges.map(|i| i as f64).collect();
    for sorted in [false, true] {
        if sorted {
            from.sort_unstable();
        }
        let mut expected: Vec<Vec<(u32, f64)>> = vec![vec![]; NODES as usize];
        for i in 0..from.len() {
            expected[from[i] as usize].push((to[i], weights[i]));
        }
        let mut graph = Graph::new(NODES as usize, &from, &to, Some(&weights), Direction::Out);
        assert_eq!(adjacency(&graph), expected);
        if sorted {
            let starts = starts_of_sorted(NODES as usize, &from).into();
            let moved = Graph::of_sorted(NODES as usize, &starts, to.clone().into(), Some(weights.clone().into()));
            assert_eq!(adjacency(&moved), expected);
            for direction in [Direction::In, Direction::Both] {
                let turned = Graph::new(NODES as usize, &from, &to, Some(&weights), direction);
                assert_eq!(adjacency(&moved.turned(direction)), adjacency(&turned));
            }
        }
        let pieces = graph.pieces();
        assert!(pieces.len() > 5 && pieces[0].start == 0 && pieces[pieces.len() - 1].end == NODES as usize);
        assert!(pieces.windows(2).all(|pair| pair[0].end == pair[1].start));
        graph.sort_neighbors();
        expected.iter_mut().for_each(|row| row.sort_by(|a, b| a.partial_cmp(b).unwrap()));
        assert_eq!(adjacency(&graph), expected);
        let plain = Graph::new(NODES as usize, &from, &to, None, Direction::Both).simple();
        assert!((0..NODES).all(|node| plain.out_neighbors(node).is_sorted_by(|a, b| a < b)));
        assert!((0..NODES).all(|node| !plain.out_neighbors(node).contains(&node)));
    }
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

/// A stored relation that counts how often it is read.
struct Counting {
    tree: ColumnTree,
    scans: AtomicUsize,
}

impl StoredRows for &Counting {
    fn scan_all(&self, columns: &[usize]) -> Result<Box<dyn BatchCursor + '_>, StorageError> {
        self.scans.fetch_add(1, Ordering::Relaxed);
        self.scan_part(&KeyRange::all(), columns)
    }

    fn scan_part(&self, part: &KeyRange, columns: &[usize]) -> Result<Box<dyn BatchCursor + '_>, StorageError> {
        Ok(Box::new(self.tree.scan(part, columns)))
    }

    fn parts(&self, parts: usize) -> Vec<(KeyRange, usize)> {
        let parts = self.tree.partition(&KeyRange::all(), parts).into_iter();
        parts.map(|part| (self.tree.row_count_within(&part) as usize, part)).map(|(rows, part)| (part, rows)).collect()
    }

    fn most_rows(&self) -> usize {
        self.tree.row_count() as usize
    }

    fn contents(&self) -> Option<(RelationId, ContentVersion)> {
        Some((RelationId(1), self.tree.contents()))
    }
}

#[test]
fn graphs_are_kept_until_their_rows_change_or_memory_is_short() {
    let batch = |rows: &[[i64; 3]]| {
        let rows: Vec<[DataValue; 3]> = rows.iter().map(|row| row.map(DataValue::from)).collect();
        Batch::from_rows(3, rows.iter().map(<[_; 3]>::as_slice))
    };
    let mut stored =
        Counting { tree: ColumnTree::new(RelationShape { keys: 2, arity: 3 }), scans: AtomicUsize::new(0) };
    stored.tree.put(&batch(&[[1, 2, 5], [2, 3, 6]]));
    let kept = GraphCache::new(1 << 20);
    let read = |stored: &Counting, kept: &GraphCache, weights: Option<Weights>| {
        let input =
            Input::new(InputSource::Stored(Box::new(stored)), 3, &[], SourceSpan::default()).keeping(Some(kept));
        let edges = input.edges(weights, &Poison::default()).unwrap();
        let directions = [Direction::Out, Direction::In, Direction::Both];
        let graphs = directions.map(|direction| adjacency(&edges.graph(direction)));
        kept.keep_within_budget();
        (graphs, edges.from().to_vec(), stored.scans.swap(0, Ordering::Relaxed))
    };
    let plain = |target: u32| (target, 1.0);
    let expected = [
        vec![vec![plain(1)], vec![plain(2)], vec![]],
        vec![vec![], vec![plain(0)], vec![plain(1)]],
        vec![vec![plain(1)], vec![plain(2), plain(0)], vec![plain(1)]],
    ];
    for scans in [1, 0, 0] {
        assert_eq!(read(&stored, &kept, None), (expected.clone(), vec![0, 1], scans));
    }
    // Edges with other weights are a separate entry, and both are cached.
    for scans in [1, 0] {
        let (graphs, _, scanned) = read(&stored, &kept, Some(Weights::Finite));
        assert_eq!((&graphs[0][0], scanned), (&vec![(1, 5.0)], scans));
    }
    assert_eq!(read(&stored, &kept, None).2, 0);
    // A change of a clone does not affect the cached edges.
    let mut changed = Counting { tree: stored.tree.clone(), scans: AtomicUsize::new(0) };
    changed.tree.remove(&batch(&[[2, 3, 0]]));
    let (graphs, from, scans) = read(&changed, &kept, None);
    assert_eq!((&graphs[0], from, scans), (&vec![vec![plain(1)], vec![]], vec![0], 1));
    assert_eq!(read(&stored, &kept, None), (expected.clone(), vec![0, 1], 1), "the contents before it are given up");
    // Without room nothing is cached. With room for one entry, the other is dropped.
    let none = GraphCache::new(10);
    assert_eq!((read(&stored, &none, None).2, read(&stored, &none, None).2), (1, 1));
    let one = GraphCache::new(350);
    assert_eq!((read(&stored, &one, None).2, read(&stored, &one, Some(Weights::Finite)).2), (1, 1));
    assert_eq!((read(&stored, &one, Some(Weights::Finite)).2, read(&stored, &one, None).2), (0, 1));
}

#[test]
fn kept_edges_forget_their_ends_and_know_them_again() {
    // The nodes 30 to 39 have no outgoing edges, and others have no incoming ones.
    let rows: Vec<[DataValue; 2]> = (0..200).map(|i| [(i * i % 31 % 30).into(), (i * 7 % 40).into()]).collect();
    let mut sorted: Vec<&[DataValue; 2]> = rows.iter().collect();
    sorted.sort();
    sorted.dedup();
    let mut tree = ColumnTree::new(RelationShape { keys: 2, arity: 2 });
    tree.put(&Batch::from_rows(2, sorted.iter().map(|row| row.as_slice())));
    let stored = Counting { tree, scans: AtomicUsize::new(0) };
    let kept = GraphCache::new(1 << 20);
    let read = |keeping| {
        let input = Input::new(InputSource::Stored(Box::new(&stored)), 2, &[], SourceSpan::default()).keeping(keeping);
        input.edges(None, &Poison::default()).unwrap()
    };
    let plain = read(None);
    let turned = adjacency(&read(Some(&kept)).graph(Direction::In));
    assert_eq!(turned, adjacency(&plain.graph(Direction::In)));
    kept.keep_within_budget();
    stored.scans.swap(0, Ordering::Relaxed);
    let forgetful = read(Some(&kept));
    assert!(forgetful.from.is_none() && forgetful.to.get().is_none());
    assert_eq!((forgetful.from(), forgetful.to()), (plain.from(), plain.to()));
    // With an additional node, they have an adjacency of their own.
    let mut wider = read(Some(&kept));
    assert!(wider.nodes.add_without_edges(&[DataValue::from(99)].into_iter().collect(), &Poison::default()).unwrap());
    let mut expected = adjacency(&plain.graph(Direction::Both));
    assert_eq!(adjacency(&read(Some(&kept)).graph(Direction::Both)), expected);
    expected.push(vec![]);
    assert_eq!(adjacency(&wider.graph(Direction::Both)), expected);
    assert_eq!(adjacency(&read(Some(&kept)).graph(Direction::Out)), adjacency(&plain.graph(Direction::Out)));
    assert_eq!(stored.scans.into_inner(), 0, "nothing was read again");
}

/// Several threads read the same edges as one thread, whatever value does not fit.
#[test]
fn many_stored_edges_are_read_in_parts() {
    let regular: Vec<[DataValue; 2]> = (0..100_000).map(|i| [(i / 7).into(), (i * 31 % 9973).into()]).collect();
    let with = |place: usize, edge: [DataValue; 2]| {
        let mut edges = regular.clone();
        edges[place] = edge;
        edges
    };
    let inputs = [
        regular.clone(),
        with(50_000, [7142.into(), (-5).into()]),
        with(90_000, [12_857.into(), (1i64 << 40).into()]),
        with(99_999, [14_285.into(), "far".into()]),
        with(60_000, [DataValue::from(8571), DataValue::Null]),
    ];
    for (number, rows) in inputs.iter().enumerate() {
        let batch = Batch::from_rows(2, rows.iter().map(<[_; 2]>::as_slice));
        let mut tree = ColumnTree::new(RelationShape { keys: 2, arity: 2 });
        let mut sorted: Vec<&[DataValue; 2]> = rows.iter().collect();
        sorted.sort();
        tree.put(&Batch::from_rows(2, sorted.iter().map(|row| row.as_slice())));
        let stored = Counting { tree, scans: AtomicUsize::new(0) };
        let read = |source| Input::new(source, 2, &[], SourceSpan::default()).edges(None, &Poison::default()).unwrap();
        let (all, parts) = (read(InputSource::Rows(Cow::Owned(batch))), read(InputSource::Stored(Box::new(&stored))));
        assert_eq!(stored.scans.into_inner() == 0, number < 2, "input {number}");
        assert_eq!(parts.nodes.len(), all.nodes.len(), "input {number}");
        let pairs = |edges: &Edges| {
            let mut pairs: Vec<(u32, u32)> = edges.from().iter().copied().zip(edges.to().iter().copied()).collect();
            pairs.sort_unstable();
            pairs
        };
        assert_eq!(pairs(&parts), pairs(&all), "input {number}");
    }
}
