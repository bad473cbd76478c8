//! Searches among allowed nodes.

use fixedbitset::FixedBitSet;

use super::super::filtered::FilteredWalk;
use super::super::order::node_of;
use super::super::space::Probe;
use super::*;

fn set_of(len: usize, is_allowed: impl Fn(usize) -> bool) -> FixedBitSet {
    let mut set = FixedBitSet::with_capacity(len);
    set.extend((0..len).filter(|node| is_allowed(*node)));
    set
}

/// Searches and checks what every search must keep. Returns the recall and the way.
fn checked(index: &VectorIndex, rows: &[Vec<f32>], to: &[f32], set: &FixedBitSet) -> (f64, SearchWay) {
    let allowed = AllowedNodes { set, count: set.count_ones(..) };
    let asked = VectorQuery { allowed: Some(allowed), ..query(to, 10, 20) };
    let found = index.search(asked, &mut Scratch::default()).expect("no budget");
    assert_eq!(found.hits.len(), 10.min(allowed.count));
    assert!(found.hits.iter().all(|hit| set.contains(hit.node as usize)));
    assert!(found.compared <= 2 * allowed.count + 400, "never much more work than the comparison of all");
    (recall(&found.hits, &nearest(L2.metric, rows, to, 10, |node| set.contains(node))), found.way)
}

#[test]
fn every_share_of_allowed_nodes_is_found() {
    let (rows, queries) = (random_rows(8000, 6), random_rows(30, 6));
    let index = build(&rows, L2);
    for one_in in [1, 2, 4, 10, 100, 4000] {
        let set = set_of(rows.len(), |node| node % one_in == 0);
        let results: Vec<(f64, SearchWay)> = queries.iter().map(|to| checked(&index, &rows, to, &set)).collect();
        let recall = results.iter().map(|(recall, _)| recall).sum::<f64>() / queries.len() as f64;
        assert!(recall > 0.9, "one in {one_in}: {recall}");
        let expected = [SearchWay::Graph, SearchWay::OneHop, SearchWay::Exact][one_in.min(3) - 1];
        assert!(results.iter().all(|(_, way)| *way == expected), "one in {one_in}: {results:?}");
    }
}

/// The mean recall of a way of walking.
fn recall_of_walks(
    index: &VectorIndex,
    rows: &[Vec<f32>],
    set: &FixedBitSet,
    walk: impl Fn(&FilteredWalk<'_>, Probe<'_>, &mut Scratch),
) -> f64 {
    let (VectorIndex { space, graph, twins, .. }, mut scratch) = (index, Scratch::default());
    let (queries, ef) = (random_rows(50, rows[0].len()), 60);
    // Rows so large that a walk never gives up.
    let costs = SearchCosts::new(1 << 20, rows.len(), 1 << 20, ef);
    let recalls = queries.iter().map(|to| {
        walk(&FilteredWalk { space, graph, twins, allowed: set, ef, costs }, Probe::F32(to), &mut scratch);
        let nearest = nearest(L2.metric, rows, to, 10, |node| set.contains(node));
        let found: Vec<u32> = scratch.list.iter().map(|key| node_of(*key)).collect();
        assert!(found.len() == ef && found.iter().all(|node| set.contains(*node as usize)));
        nearest.iter().filter(|(node, _)| found.contains(node)).count() as f64 / 10.0
    });
    recalls.sum::<f64>() / queries.len() as f64
}

#[test]
fn both_ways_of_walking_find_allowed_nodes() {
    let rows = random_rows(6000, 6);
    let index = build(&rows, L2);
    for one_in in [2, 5, 10] {
        let set = set_of(rows.len(), |node| node % one_in == 0);
        let one_hop = recall_of_walks(&index, &rows, &set, |walk, from, scratch| {
            assert_eq!(walk.one_hop(from, 0, scratch, &mut 0), SearchWay::OneHop);
        });
        let two_hops = recall_of_walks(&index, &rows, &set, |walk, from, scratch| {
            assert_eq!(walk.two_hops(from, 0, scratch, &mut 0), SearchWay::TwoHops);
        });
        assert!(one_hop > 0.97 && two_hops > 0.95, "one in {one_in}: {one_hop}, {two_hops}");
    }
}

#[test]
fn filters_that_depend_on_the_place_are_found() {
    let (rows, queries) = (random_rows(8000, 6), random_rows(20, 6));
    let index = build(&rows, L2);
    for to in &queries {
        for share in [0.02, 0.15, 0.5, 0.9] {
            let mut distances: Vec<f64> = rows.iter().map(|row| distance(L2.metric, to, row)).collect();
            distances.sort_by(f64::total_cmp);
            let bound = distances[(share * 8000.0) as usize];
            let near = set_of(rows.len(), |node| distance(L2.metric, to, &rows[node]) < bound);
            let mut far = near.clone();
            far.toggle_range(..);
            assert!(checked(&index, &rows, to, &near).0 >= 0.8, "near, {share}");
            assert!(checked(&index, &rows, to, &far).0 >= 0.8, "far, {share}");
        }
    }
}

#[test]
fn a_member_of_a_family_may_be_allowed_alone() {
    let mut rows = random_rows(6000, 4);
    rows[1000..3000].fill(vec![0.5; 4]);
    let index = build(&rows, L2);
    for one_in in [2, 7] {
        let set = set_of(rows.len(), |node| {
            node == 2999 || (!(1000..3000).contains(&node) && (node % one_in == 0 || one_in == 2))
        });
        let allowed = AllowedNodes { set: &set, count: set.count_ones(..) };
        let asked = VectorQuery { allowed: Some(allowed), ..query(&[0.5; 4], 3, 20) };
        let found = index.search(asked, &mut Scratch::default()).expect("no budget");
        assert_eq!((found.hits[0].node, found.hits.len()), (2999, 3));
    }
}

#[test]
fn no_node_may_be_allowed() {
    let index = build(&random_rows(3000, 4), L2);
    let set = FixedBitSet::new();
    let asked = VectorQuery { allowed: Some(AllowedNodes { set: &set, count: 0 }), ..query(&[0.5; 4], 3, 20) };
    assert_eq!(index.search(asked, &mut Scratch::default()).expect("no budget").hits, []);
}
