//! The engine's suite, and the shape of the trees that changes leave.

#![allow(clippy::unwrap_used, clippy::mutable_key_type)]

mod check;

use std::collections::BTreeMap;
use std::sync::Arc;

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use self::check::{check, leaf_sizes, nodes};
use super::{DirectoryReader, LeafDirectory, Tree};
use crate::storage::mem::MemStorage;
use crate::storage::tests::{self as suite, RELATION, Subject, identical, ints};
use crate::storage::{
    BatchCursor, ChangeKind, ChangeSet, ChangedRows, KeyRange, Opened, RelationShape, Snapshot, Storage, StorageError,
};
use crate::value::{Batch, Column, DataValue};

#[test]
fn the_engine_behaves_like_the_model() {
    let subject = || Subject { open: Box::new(|| Box::new(Checked(MemStorage::new()))), exact: true, durable: false };
    suite::run_all(subject, 40);
}

/// A tree of one Int column.
fn int_tree(values: impl IntoIterator<Item = i64>) -> Tree {
    let mut tree = Tree::new(RelationShape { keys: 1, arity: 1 });
    tree.put(&ints(values));
    tree
}

fn fill(tree: &Tree) -> f64 {
    let sizes = leaf_sizes(tree);
    sizes.iter().sum::<usize>() as f64 / (sizes.len() * super::MAX_LEAF_ROWS) as f64
}

#[test]
fn sequential_loads_leave_full_leaves() {
    let bulk = int_tree(0..100_000);
    let mut single = int_tree([]);
    (0..20_000).for_each(|value| single.put(&ints([value])));
    let mut batches = int_tree([]);
    (0..100).for_each(|batch| batches.put(&ints(batch * 1000..(batch + 1) * 1000)));
    for tree in [&bulk, &single, &batches] {
        check(tree);
        assert!(fill(tree) > 0.9, "{}", fill(tree));
    }
}

#[test]
fn random_puts_and_a_row_at_a_time_removal_keep_the_shape() {
    let mut random = StdRng::seed_from_u64(1);
    let mut tree = int_tree([]);
    (0..30_000).for_each(|_| tree.put(&ints([random.random_range(0..1_000_000)])));
    check(&tree);
    assert!(fill(&tree) > 0.5, "{}", fill(&tree));
    for value in 0..1_000_000 {
        if value % 100 != 0 || value < 500_000 {
            tree.remove(&ints([value]));
        }
        if value % 50_000 == 0 {
            check(&tree);
        }
    }
    check(&tree);
    assert!(leaf_sizes(&tree).len() <= 4);
}

#[test]
fn heavy_rows_make_small_leaves() {
    let mut tree = Tree::new(RelationShape { keys: 1, arity: 3 });
    let row = |key: i64| [key.into(), "x".repeat(10_000).into(), vec![key; 100].into()];
    for step in 0..1_000 {
        tree.put(&Batch::from_rows(3, [&row(step * 7919 % 1000)[..]]));
    }
    check(&tree);
    let mut bulk = Tree::new(tree.shape());
    bulk.put(&tree.scan_all());
    check(&bulk);
    let mut blocks = Tree::new(tree.shape());
    for block in 0..50 {
        let rows: Vec<_> = (block * 20..(block + 1) * 20).map(row).collect();
        blocks.put(&Batch::from_rows(3, rows.iter().map(|row| &row[..])));
        check(&blocks);
    }
    // Rows that are moved in lie between others, and replace some.
    let mut given = Tree::new(tree.shape());
    let sparse = (0..40).map(|key| key * 25).collect::<Vec<_>>();
    for keys in std::iter::once(sparse).chain((0..50).map(|block| (block * 20..(block + 1) * 20).collect())) {
        let rows: Vec<_> = keys.into_iter().map(row).collect();
        let rows = Batch::from_rows(3, rows.iter().map(|row| &row[..]));
        given.take(ChangeKind::Put, &mut ChangedRows::Many(Arc::new(rows))).expect("rows in memory can be read");
        check(&given);
    }
    for other in [&blocks, &given] {
        identical(&other.scan_all().rows().collect::<Vec<_>>(), &tree.scan_all().rows().collect::<Vec<_>>());
    }
    for tree in [&tree, &bulk, &blocks, &given] {
        assert!(leaf_sizes(tree).iter().all(|rows| *rows <= 12), "{:?}", leaf_sizes(tree));
    }
    (0..990).for_each(|key| tree.remove(&ints([key])));
    check(&tree);
    identical(
        &tree.scan_all().rows().collect::<Vec<_>>(),
        &(990..1000).map(|key| row(key).to_vec()).collect::<Vec<_>>(),
    );
}

/// Integers without gaps, with gaps, and mixed with other types. Single puts and removals move rows to other positions.
#[test]
fn rows_are_found_by_their_keys_wherever_they_lie() {
    let ints = |range: std::ops::Range<i64>| range.map(DataValue::from).collect::<Vec<_>>();
    let probes = [ints(-20..1020), vec![DataValue::Null, 0.0.into(), 3.0.into(), "3".into(), i64::MIN.into()]].concat();
    let kinds = [
        ints(0..1000),
        ints(-10..10),
        [ints(0..5), ints(7..600)].concat(),
        [vec![DataValue::Null], ints(0..300)].concat(),
        [ints(0..40), vec![1.5.into()]].concat(),
        [ints(3..9), vec![i64::MAX.into()]].concat(),
    ];
    for mut keys in kinds {
        let mut tree = Tree::new(RelationShape { keys: 1, arity: 2 });
        keys.sort();
        let rows: Vec<_> = keys.iter().map(|key| [key.clone(), key.clone()]).collect();
        tree.put(&Batch::from_rows(2, rows.iter().map(|row| &row[..])));
        let mut model: BTreeMap<DataValue, DataValue> = rows.into_iter().map(|[key, value]| (key, value)).collect();
        for step in 0..50 {
            let key = &probes[step * 37 % probes.len()];
            if step % 3 == 0 {
                tree.remove(&Batch::from_rows(1, [std::slice::from_ref(key)]));
                model.remove(key);
            } else {
                let row = [key.clone(), DataValue::from(step as i64)];
                tree.put(&Batch::from_rows(2, [&row[..]]));
                model.insert(key.clone(), row[1].clone());
            }
            check(&tree);
        }
        for key in &probes {
            let mut places = [DataValue::Bool(true)];
            let is_found = tree.get(std::slice::from_ref(key), &[(1, 0)], &mut places);
            assert_eq!(is_found.then_some(&places[0]), model.get(key), "{key:?}");
        }
    }
}

impl Tree {
    fn scan_all(&self) -> Batch {
        let columns: Vec<usize> = (0..self.shape().arity).collect();
        self.scan(&KeyRange::all(), &columns).next_batch(usize::MAX).unwrap().unwrap()
    }
}

#[test]
fn a_change_copies_only_the_path_to_it() {
    let before = int_tree((0..1_000_000).map(|value| value * 2));
    let mut after = before.clone();
    after.put(&ints([1_000_001]));
    let old: std::collections::HashSet<_> = nodes(&before).into_iter().collect();
    let copied = nodes(&after).into_iter().filter(|node| !old.contains(node)).count();
    // Leaves are full after a bulk load: one path, and the leaf's new sibling, which may split the nodes above.
    assert!((3..=8).contains(&copied), "{copied} nodes copied");
    let first: Vec<_> = nodes(&after);
    after.put(&ints([1_000_003]));
    assert_eq!(nodes(&after), first, "a node that nobody else holds is changed in place");
    assert_eq!((before.row_count(), after.row_count()), (1_000_000, 1_000_002));
}

#[test]
fn a_prefix_with_many_matches_is_handed_out_in_pieces() {
    let mut tree = Tree::new(RelationShape { keys: 2, arity: 2 });
    let rows = 50_000;
    tree.put(&Batch::new(vec![Column::ints(vec![5; rows]), Column::ints((0..rows as i64).collect())], rows));
    let prefixes = [Column::ints(vec![4, 5, 5, 6])];
    let mut cursor = tree.lookup(&prefixes, &[1]);
    let (mut count, mut calls) = (0, 0);
    while let Some(matches) = crate::storage::LookupCursor::next_matches(&mut cursor, 1000).unwrap() {
        let expected = (count..count + matches.batch.len).map(|row| (row % rows) as i64);
        assert!(matches.batch.columns[0].as_dense_ints().unwrap().iter().copied().eq(expected));
        (count, calls) = (count + matches.batch.len, calls + 1);
    }
    assert_eq!((count, calls), (2 * rows, 100));
}

/// The engine, with its trees checked after every commit.
struct Checked(MemStorage);

impl Storage for Checked {
    fn opened(&self) -> Result<Opened, StorageError> {
        self.0.opened()
    }

    fn snapshot(&self) -> Arc<dyn Snapshot> {
        self.0.snapshot()
    }

    fn commit(&self, changes: &mut [ChangeSet]) -> Result<Arc<dyn Snapshot>, StorageError> {
        let snapshot = self.0.commit(changes)?;
        self.0.current.lock().tree(RELATION).into_iter().for_each(check);
        Ok(snapshot)
    }
}

/// The rows that the directory finds for each first key from 0 to below 4,000, with some columns.
fn placed_rows(tree: &Tree, columns: &[usize]) -> BTreeMap<i64, Vec<Vec<DataValue>>> {
    let places = LeafDirectory::of(tree, 4_000, || Ok::<_, ()>(())).unwrap().expect("keys are integers close together");
    let rows = DirectoryReader::new(tree, Arc::new(places)).expect("the places are of this tree");
    let keys: Vec<i64> = (-2..4_002).rev().collect();
    let ranges = rows.starts().find(&Column::ints(keys.clone()), keys.len());
    let found: Vec<_> = ranges.iter().filter(|range| !range.is_empty()).cloned().collect();
    let len = found.iter().map(std::ops::Range::len).sum();
    let columns: Vec<Column> = columns.iter().map(|column| rows.take(*column, &found, len)).collect();
    let mut row = 0..len;
    let group = |(key, range): (i64, std::ops::Range<u32>)| {
        let rows = row.by_ref().take(range.len());
        (key, rows.map(|row| columns.iter().map(|column| column.get(row)).collect()).collect())
    };
    keys.into_iter().zip(ranges).filter(|(_, range)| !range.is_empty()).map(group).collect()
}

#[test]
fn rows_are_found_at_their_places() {
    let mut random = StdRng::seed_from_u64(7);
    let mut tree = Tree::new(RelationShape { keys: 2, arity: 4 });
    let mut model: BTreeMap<(i64, i64), [DataValue; 2]> = BTreeMap::new();
    for step in 0..40 {
        // Every key has a few rows, with gaps, and one key fills many leaves. Values have several types.
        let mut rows: BTreeMap<(i64, i64), [DataValue; 2]> = BTreeMap::new();
        for _ in 0..4_000 {
            let key = if random.random_bool(0.2) { 1_234 } else { random.random_range(0..3_000) / 3 * 4 };
            let bits = random.random_range(1..60);
            let other = random.random_range(0..1 << bits);
            let value = match key % 5 {
                0 => DataValue::Null,
                1 => "text".into(),
                2 => 0.5.into(),
                _ => (key << step).into(),
            };
            rows.insert((key, other), [other.into(), value]);
        }
        let values = |((key, other), [first, second]): (&(i64, i64), &[DataValue; 2])| {
            [(*key).into(), (*other).into(), first.clone(), second.clone()]
        };
        if step % 4 == 3 {
            let gone: Vec<(i64, i64)> = model.keys().copied().filter(|_| random.random_bool(0.2)).collect();
            let keys: Vec<[DataValue; 2]> = gone.iter().map(|(key, other)| [(*key).into(), (*other).into()]).collect();
            tree.remove(&Batch::from_rows(2, keys.iter().map(|row| &row[..])));
            gone.iter().for_each(|key| _ = model.remove(key));
        } else {
            let put: Vec<[DataValue; 4]> = rows.iter().map(values).collect();
            tree.put(&Batch::from_rows(4, put.iter().map(|row| &row[..])));
            model.extend(rows);
        }
        let mut expected: BTreeMap<i64, Vec<Vec<DataValue>>> = BTreeMap::new();
        for row in &model {
            let [key, other, first, second] = values(row);
            expected.entry(row.0.0).or_default().push(vec![second, other, first, key]);
        }
        assert_eq!(placed_rows(&tree, &[3, 1, 2, 0]), expected, "after step {step}");
    }
    assert!(leaf_sizes(&tree).len() > 64, "there are nodes between the root and the leaves");
}

#[test]
fn places_are_of_integers_close_together_and_of_one_tree_as_it_was() {
    let places = |tree: &Tree, most_keys| LeafDirectory::of(tree, most_keys, || Ok::<_, ()>(())).unwrap();
    let mut tree = int_tree(0..2_000);
    let of_tree = Arc::new(places(&tree, 2_000).unwrap());
    assert!(
        DirectoryReader::new(&tree, of_tree.clone()).is_some()
            && DirectoryReader::new(&tree.clone(), of_tree.clone()).is_some()
    );
    tree.put(&ints([5]));
    assert!(DirectoryReader::new(&tree, of_tree).is_none(), "the tree has changed");
    assert!(places(&tree, 1_999).is_none(), "a key is too large");
    assert!(places(&int_tree(-1..2_000), 10_000).is_none(), "a key is negative");
    assert!(places(&int_tree(0..3), 10_000).is_none(), "the root is a leaf");
    let mut mixed = int_tree(0..2_000);
    mixed.put(&Batch::from_rows(1, [&[DataValue::from("text")][..]]));
    assert!(places(&mixed, 10_000).is_none(), "a key is a text");
    let mut nulls = int_tree(0..2_000);
    nulls.put(&Batch::from_rows(1, [&[DataValue::Null][..]]));
    assert!(places(&nulls, 10_000).is_none(), "a key is null");
    assert_eq!(LeafDirectory::of(&tree, 10_000, || Err("stopped")).map(|_| ()), Err("stopped"));
}
