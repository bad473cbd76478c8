//! Searches without a graph: distances, order, radius, and odd vectors.

use super::*;

fn search(index: &VectorIndex, query: VectorQuery<'_>) -> Vec<Hit> {
    index.search(query, &mut Scratch::default()).expect("no budget").hits
}

fn nodes(hits: &[Hit]) -> Vec<u32> {
    hits.iter().map(|hit| hit.node).collect()
}

#[test]
fn distances_are_those_of_the_formulas() {
    for dim in [1, 2, 7, 8, 31, 32, 33, 50, 100] {
        let rows = random_rows(100, dim);
        for metric in [Metric::L2, Metric::Cosine, Metric::InnerProduct] {
            for precision in [Precision::F32, Precision::F64] {
                let index = VectorIndex::flat(vectors(&rows, precision), GraphOptions { metric, ..L2 });
                let hits = search(&index, query(&rows[3], 100, 1));
                assert_eq!(hits.len(), 100);
                let exactness = if precision == Precision::F32 { 1e-4 } else { 1e-12 };
                for hit in &hits {
                    let expected = distance(metric, &rows[3], &rows[hit.node as usize]);
                    let difference = (hit.distance - expected).abs();
                    assert!(difference <= exactness * (1.0 + expected.abs()), "{metric:?} {dim} {hit:?} {expected}");
                }
                assert!(hits.is_sorted_by(|a, b| (a.distance, a.node) < (b.distance, b.node)));
            }
        }
    }
}

#[test]
fn doubles_are_told_apart_beyond_floats() {
    let mut close = Vectors::with_capacity(1, Precision::F64, 3);
    for x in [1.0 + 3e-12, 1.0 + 2e-12, 1.0 + 1e-12] {
        close.push([x].as_slice().into()).expect("the length is right");
    }
    let index = VectorIndex::flat(close, GraphOptions { metric: Metric::InnerProduct, ..L2 });
    let hits = search(&index, VectorQuery { vector: [1.0_f64].as_slice().into(), ..query(&[], 3, 3) });
    assert_eq!(nodes(&hits), [0, 1, 2]);
}

#[test]
fn there_may_be_fewer_than_wanted() {
    let rows = random_rows(5, 4);
    let index = build(&rows, L2);
    assert_eq!(search(&index, query(&rows[0], 10, 1)).len(), 5);
    assert_eq!(search(&index, query(&rows[0], 0, 1)).len(), 0);
    assert_eq!(search(&build(&[], L2), query(&[1.0, 2.0, 3.0], 10, 10)), []);
    assert_eq!(search(&index, query(&[1.0], 10, 10)), [], "the query has another length");
    let wrong = Vectors::with_capacity(2, Precision::F32, 1).push([1.0_f32].as_slice().into());
    assert_eq!(wrong, Err(VectorError::Dimension { expected: 2, found: 1 }));
}

#[test]
fn the_radius_is_the_greatest_distance() {
    let rows: Vec<Vec<f32>> = (0..10).map(|i| vec![i as f32]).collect();
    let index = build(&rows, L2);
    let hits = search(&index, VectorQuery { radius: Some(9.0), ..query(&[0.0], 10, 10) });
    assert_eq!(nodes(&hits), [0, 1, 2, 3]);
    let hits = search(&index, VectorQuery { radius: Some(9.0), ..query(&[0.0], 2, 2) });
    assert_eq!(nodes(&hits), [0, 1]);
}

#[test]
fn equal_distances_are_ordered_by_node() {
    let rows: Vec<Vec<f32>> = [1.0, -1.0, 1.0, 2.0, -1.0].map(|x| vec![x]).into();
    assert_eq!(nodes(&search(&build(&rows, L2), query(&[0.0], 4, 4))), [0, 1, 2, 4]);
}

#[test]
fn vectors_without_a_distance_come_last() {
    let zero = vec![0.0, 0.0];
    let rows = [zero.clone(), vec![1.0, 0.0], vec![f32::NAN, 1.0], vec![-1.0, 0.0], vec![f32::INFINITY, 0.0]];
    let cosine = GraphOptions { metric: Metric::Cosine, ..L2 };
    let index = build(&rows, cosine);
    let hits = search(&index, query(&[2.0, 0.0], 10, 10));
    assert_eq!(nodes(&hits), [1, 3, 0, 2, 4]);
    assert!(hits[2].distance.is_nan(), "as cos_dist of the language has it");
    assert_eq!(nodes(&search(&index, query(&zero, 3, 3))), [0, 1, 2]);
    assert_eq!(nodes(&search(&index, VectorQuery { radius: Some(5.0), ..query(&[2.0, 0.0], 10, 10) })), [1, 3]);
    let index = build(&rows, GraphOptions { metric: Metric::InnerProduct, ..L2 });
    assert_eq!(nodes(&search(&index, query(&[2.0, 1.0], 10, 10))), [4, 1, 0, 3, 2]);
}
