//! Recall of graphs, and what their shape must not depend on.

use super::*;

#[test]
fn a_graph_finds_the_nearest() {
    let (rows, queries) = (random_rows(4000, 12), random_rows(100, 12));
    for metric in [Metric::L2, Metric::Cosine, Metric::InnerProduct] {
        let index = build(&rows, GraphOptions { metric, ..L2 });
        assert!(index.has_graph());
        let recall = mean_recall(&index, &rows, &queries, 100);
        assert!(recall > 0.95, "{metric:?}: {recall}");
    }
}

#[test]
fn doubles_have_a_graph_too() {
    let (rows, queries) = (random_rows(3000, 10), random_rows(50, 10));
    let index = VectorIndex::build(vectors(&rows, Precision::F64), L2).expect("no budget");
    assert!(mean_recall(&index, &rows, &queries, 100) > 0.95);
}

#[test]
fn clusters_far_apart_are_found() {
    let rows = clustered_rows(4000, 8, 40);
    let index = build(&rows, L2);
    let queries: Vec<Vec<f32>> = rows.iter().step_by(53).cloned().collect();
    assert!(mean_recall(&index, &rows, &queries, 64) > 0.97);
}

#[test]
fn equal_vectors_are_all_found() {
    let distinct = random_rows(3, 4);
    let mut rows = random_rows(2500, 4);
    for (i, row) in rows.iter_mut().enumerate().filter(|(i, _)| i % 5 != 0) {
        row.clone_from(&distinct[i % 3]);
    }
    let index = build(&rows, L2);
    assert!(index.has_graph());
    assert_eq!(index.twins().count(), 3);
    for like in distinct {
        let hits = index.search(query(&like, 500, 10), &mut Scratch::default()).expect("no budget").hits;
        assert!(hits.iter().all(|hit| hit.distance == 0.0 && rows[hit.node as usize] == like));
        assert!(hits.len() == 500 && hits.is_sorted_by_key(|hit| hit.node));
    }
    let queries: Vec<Vec<f32>> = rows.iter().step_by(5).take(100).cloned().collect();
    assert!(mean_recall(&index, &rows, &queries, 100) > 0.95);
}

#[test]
fn only_equal_vectors_are_no_loop() {
    let index = build(&vec![vec![1.0, 2.0]; 3000], L2);
    let found = index.search(query(&[1.0, 2.0], 10, 10), &mut Scratch::default()).expect("no budget");
    assert_eq!(found.hits.iter().map(|hit| hit.node).collect::<Vec<_>>(), (0..10).collect::<Vec<_>>());
}

#[test]
fn one_dimension_and_odd_values() {
    let mut rows: Vec<Vec<f32>> = (0..3000).map(|i| vec![(i * 7 % 3000) as f32]).collect();
    rows[10] = vec![f32::NAN];
    rows[20] = vec![f32::NEG_INFINITY];
    let index = build(&rows, GraphOptions { metric: Metric::InnerProduct, ..L2 });
    let found = index.search(query(&[-1.0], 5, 50), &mut Scratch::default()).expect("no budget");
    assert_eq!((found.way, found.hits[0].node), (SearchWay::Graph, 20));
    let all = index.search(query(&[-1.0], 3000, 50), &mut Scratch::default()).expect("no budget").hits;
    assert_eq!((all.len(), all[2999].node), (3000, 10));
    let index = build(&rows, L2);
    let found = index.search(query(&[1000.2], 5, 50), &mut Scratch::default()).expect("no budget");
    let found: Vec<f32> = found.hits.iter().map(|hit| rows[hit.node as usize][0]).collect();
    assert_eq!(found, [1000.0, 1001.0, 999.0, 1002.0, 998.0]);
}

#[test]
fn zeros_have_no_cosine_and_are_found_if_wanted() {
    let mut rows = random_rows(2500, 3);
    rows.iter_mut().step_by(2).for_each(|row| row.fill(0.0));
    let index = build(&rows, GraphOptions { metric: Metric::Cosine, ..L2 });
    let found = index.search(query(&[1.0, 2.0, 3.0], 2000, 10), &mut Scratch::default()).expect("no budget");
    assert_eq!(found.hits.len(), 2000);
    assert_eq!(found.hits.iter().filter(|hit| hit.distance.is_nan()).count(), 2000 - 1250);
}

#[test]
fn a_build_does_not_depend_on_threads() {
    let rows = random_rows(3000, 6);
    let alone = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a thread starts");
    let many = rayon::ThreadPoolBuilder::new().num_threads(5).build().expect("threads start");
    let (a, b) = (alone.install(|| build(&rows, L2)), many.install(|| build(&rows, L2)));
    assert!(a == b);
}

#[test]
fn options_change_the_graph() {
    let (rows, queries) = (random_rows(3000, 6), random_rows(50, 6));
    let few = GraphOptions { ef_construction: 12, ..L2 };
    let plain = build(&rows, few);
    let links = |index: &VectorIndex| (0..3000).map(|node| index.degree(node)).sum::<usize>();
    for (extend_candidates, keep_pruned_connections) in [(true, false), (false, true), (true, true)] {
        let index = build(&rows, GraphOptions { extend_candidates, keep_pruned_connections, ..few });
        assert!(mean_recall(&index, &rows, &queries, 100) > 0.95);
        assert!(index.graph != plain.graph);
        assert!(!keep_pruned_connections || links(&index) > links(&plain));
    }
    assert!((0..3000).all(|node| index_is_bounded(&plain, node)));
}

fn index_is_bounded(index: &VectorIndex, node: u32) -> bool {
    (0..=index.level(node)).all(|layer| index.links(layer, node).count() <= if layer == 0 { 16 } else { 8 })
}

#[test]
fn a_build_stops_when_its_script_must() {
    let interrupt = crate::budget::Interrupt::default();
    let budget = crate::budget::Budget::new(interrupt.clone(), 0.0, 1 << 30);
    let _entered = budget.enter();
    interrupt.kill();
    assert!(VectorIndex::build(vectors(&random_rows(3000, 6), Precision::F32), L2).is_err());
    drop(_entered);
    let small = crate::budget::Budget::new(crate::budget::Interrupt::default(), 0.0, 1 << 16);
    let _entered = small.enter();
    assert!(VectorIndex::build(vectors(&random_rows(3000, 6), Precision::F32), L2).is_err());
}
