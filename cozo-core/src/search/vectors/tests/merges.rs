//! Merged indexes against fresh ones.

use super::*;

/// The number of each node if some are dropped.
fn numbers(first: u32, kept: impl Iterator<Item = bool>) -> Vec<Option<u32>> {
    let mut next = first;
    kept.map(|is_kept| {
        is_kept.then(|| {
            next += 1;
            next - 1
        })
    })
    .collect()
}

fn merge(parts: &[(&VectorIndex, Vec<Option<u32>>)]) -> VectorIndex {
    let total = parts.iter().flat_map(|(_, numbers)| numbers).flatten().count();
    let parts: Vec<MergePart<'_>> = parts.iter().map(|(index, numbers)| MergePart { index, numbers }).collect();
    let merged = VectorIndex::merge(&parts, total).expect("no budget");
    assert_eq!((merged.len(), merged.verify()), (total, vec![]));
    assert!(VectorIndex::merge(&parts, total).expect("no budget") == merged, "the result is always the same");
    merged
}

/// Replaces three in ten of the rows, and merges.
fn replace(index: &VectorIndex, rows: &mut Vec<Vec<f32>>, seed: u64) -> VectorIndex {
    let (mut random, dim) = (Numbers(seed), rows[0].len());
    let kept: Vec<bool> = rows.iter().map(|_| random.below(10) >= 3).collect();
    let new: Vec<Vec<f32>> = kept.iter().filter(|kept| !**kept).map(|_| random.row(dim)).collect();
    let mut all_kept = kept.iter();
    rows.retain(|_| *all_kept.next().expect("there is one for each"));
    let tail = VectorIndex::flat(vectors(&new, Precision::F32), L2);
    let numbers_of_tail = numbers(rows.len() as u32, new.iter().map(|_| true));
    rows.extend(new);
    merge(&[(&tail, numbers_of_tail), (index, numbers(0, kept.into_iter()))])
}

#[test]
fn a_merged_graph_is_as_good_as_a_fresh_one() {
    let (mut rows, queries) = (random_rows(3000, 10), random_rows(200, 10));
    let mut index = build(&rows, L2);
    for seed in 1..=3 {
        index = replace(&index, &mut rows, seed);
        let fresh = mean_recall(&build(&rows, L2), &rows, &queries, 40);
        let merged = mean_recall(&index, &rows, &queries, 40);
        assert!(merged > fresh - 0.01, "{merged} < {fresh}");
    }
}

#[test]
fn nodes_keep_their_vectors() {
    let rows = random_rows(6000, 4);
    let (a, b) = (build(&rows[..4000], L2), build(&rows[4000..], L2));
    let even = |i: usize| i.is_multiple_of(2);
    // The numbers alternate where they can, so that no part stays together.
    let of_a = (0..4000).map(|i| Some(if i < 1000 { 2 * i } else { i + 1000 })).collect();
    let of_b = (0..2000).map(|i| even(i).then_some(i as u32 + 1)).collect();
    let merged = merge(&[(&a, of_a), (&b, of_b)]);
    let mut expected = vec![vec![]; 5000];
    (0..4000).for_each(|i| expected[if i < 1000 { 2 * i } else { i + 1000 }].clone_from(&rows[i]));
    (0..2000).filter(|i| even(*i)).for_each(|i| expected[i + 1].clone_from(&rows[4000 + i]));
    for (node, row) in (0..).zip(&expected).step_by(37) {
        let hits = merged.search(query(row, 1, 40), &mut Scratch::default()).expect("no budget").hits;
        assert_eq!(hits, [Hit { node, distance: 0.0 }]);
    }
}

#[test]
fn equal_vectors_outlive_the_one_that_stood_for_them() {
    let mut rows = random_rows(3000, 4);
    rows[100] = rows[2500].clone();
    rows[200] = rows[2500].clone();
    let index = build(&rows, L2);
    assert_eq!(index.twins().collect::<Vec<_>>(), [(100, &[200, 2500][..])]);
    let merged = merge(&[(&index, numbers(0, (0..3000).map(|i| i != 100)))]);
    assert_eq!(merged.twins().collect::<Vec<_>>(), [(199, &[2499][..])]);
    let merged = merge(&[(&merged, numbers(0, (0..2999).map(|i| i != 199)))]);
    assert_eq!(merged.twins().count(), 0);
    let hits = merged.search(query(&rows[2500], 1, 20), &mut Scratch::default()).expect("no budget").hits;
    assert_eq!(hits, [Hit { node: 2498, distance: 0.0 }]);
}

#[test]
fn most_nodes_may_be_dropped() {
    let rows = clustered_rows(6000, 6, 12);
    let index = build(&rows, L2);
    for kept in [4500, 3001, 2500, 100, 0] {
        let merged = merge(&[(&index, numbers(0, (0..6000).map(|i| i < kept)))]);
        let queries: Vec<Vec<f32>> = rows[..kept].iter().step_by(29).cloned().collect();
        if kept > 2000 {
            assert!(mean_recall(&merged, &rows[..kept], &queries, 60) > 0.97);
        }
    }
}

#[test]
fn a_part_of_vectors_becomes_codes() {
    let rows = random_rows(3000, 8);
    let coded = GraphOptions { quantization: Quantization::Int8, metric: Metric::Cosine, ..L2 };
    let index = build(&rows[..2500], coded);
    let tail = VectorIndex::flat(vectors(&rows[2500..], Precision::F32), GraphOptions { metric: Metric::Cosine, ..L2 });
    let merged =
        merge(&[(&index, numbers(0, (0..2500).map(|_| true))), (&tail, numbers(2500, (0..500).map(|_| true)))]);
    assert_eq!(merged.space, build(&rows, coded).space);
}
