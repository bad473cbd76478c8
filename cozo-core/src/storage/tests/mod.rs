//! What every engine must do: random operations against a `BTreeMap`, and histories against a filter of all rows.
//!
//! An engine's tests make a [`Subject`] and call [`run_all`].

#![allow(clippy::unwrap_used, clippy::mutable_key_type)]

use std::collections::BTreeMap;
use std::sync::Arc;

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use super::{ChangeKind, ChangeSet, ChangedRows, End, KeyRange, RelationShape, RowChanges, Snapshot, Storage};
use crate::schema::{
    AccessLevel, BaseType, ColumnDefinition, ColumnType, RelationId, RelationSchema, SchemaRef, Triggers,
};
use crate::value::{Batch, Column, DataValue, Tuple, Validity, Vector};

mod histories;

/// An engine under test.
pub struct Subject {
    /// Opens the database, which is empty at first. A persistent one has the contents with which it was closed.
    pub open: Box<dyn Fn() -> Box<dyn Storage>>,
    /// Whether row counts, and thus the parts of a partition, are exact.
    pub exact: bool,
    /// Whether the database outlives the engine.
    pub durable: bool,
}

/// Runs all tests, each with its own database.
pub fn run_all(subject: impl Fn() -> Subject, steps: usize) {
    for kind in [Kind::Record, Kind::Edge, Kind::Text, Kind::Mixed] {
        (0..2).for_each(|seed| run(&subject(), kind, seed, steps));
    }
    for columns in 0..3 {
        (0..2).for_each(|seed| histories::run(&subject(), columns, seed, steps / 3));
    }
    unknown_relations_are_empty_or_errors(&subject());
    relations_without_a_definition_are_gone_after_reopening(&subject());
}

type Model = BTreeMap<Tuple, Tuple>;

/// The relation of the tests.
pub const RELATION: RelationId = RelationId(7);

/// The kinds of values in a relation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// Int key; Int, nullable String and nullable Int values.
    Record,
    /// Two Int keys, no values.
    Edge,
    /// String and Int keys; Float, Bool and vector values.
    Text,
    /// Two keys and one value, all of any type.
    Mixed,
}

impl Kind {
    /// The number of columns.
    pub fn shape(self) -> RelationShape {
        let (keys, arity) = match self {
            Kind::Record => (1, 4),
            Kind::Edge => (2, 2),
            Kind::Text => (2, 5),
            Kind::Mixed => (2, 3),
        };
        RelationShape { keys, arity }
    }

    /// The relation, with the types of its columns.
    fn schema(self) -> SchemaRef {
        let (int, any) = (of(BaseType::Int, false), ColumnType::ANY);
        let types = match self {
            Kind::Record => vec![int.clone(), int, of(BaseType::String, true), of(BaseType::Int, true)],
            Kind::Edge => vec![int.clone(), int],
            Kind::Text => {
                let (float, bool) = (of(BaseType::Float, true), of(BaseType::Bool, true));
                let vectors = of(BaseType::Vector { wide: false, len: 3 }, true);
                vec![of(BaseType::String, false), int, float, bool, vectors]
            }
            Kind::Mixed => vec![any.clone(), any.clone(), any],
        };
        schema(self.shape().keys, types)
    }

    fn value(self, column: usize, random: &mut StdRng) -> DataValue {
        match (self, column) {
            (Kind::Record, 0) => random.random_range(-20_000..20_000).into(),
            (Kind::Record, 1) => (random.random_range(0..i64::MAX) >> random.random_range(0..62)).into(),
            (Kind::Record, 2) => nullable(random, |random| format!("name {}", random.random_range(0..5)).into()),
            (Kind::Record, _) => nullable(random, |random| random.random_range(0..100).into()),
            (Kind::Edge, 0) => random.random_range(0..30).into(),
            (Kind::Edge, _) => random.random_range(0..2_000).into(),
            (Kind::Text, 0) => "é".repeat(random.random_range(0..40)).into(),
            (Kind::Text, 1) => (i64::MAX - random.random_range(0..500)).into(),
            (Kind::Text, 2) => nullable(random, |random| (random.random_range(-9..9) as f64 / 3.0).into()),
            (Kind::Text, 3) => nullable(random, |random| random.random_bool(0.5).into()),
            (Kind::Text, _) => nullable(random, |random| narrow(3, random)),
            (Kind::Mixed, _) => mixed(random),
        }
    }

    fn key(self, random: &mut StdRng) -> Tuple {
        (0..self.shape().keys).map(|column| self.value(column, random)).collect()
    }
}

fn of(base: BaseType, nullable: bool) -> ColumnType {
    ColumnType { base, nullable }
}

/// The relation of the tests with columns of these types, the first of them keys.
pub fn schema(keys: usize, types: Vec<ColumnType>) -> SchemaRef {
    let column = |(i, column_type)| ColumnDefinition { name: format!("c{i}").into(), column_type, default: None };
    let mut columns: Vec<ColumnDefinition> = types.into_iter().enumerate().map(column).collect();
    let values = columns.split_off(keys);
    SchemaRef::new(RelationSchema {
        id: RELATION,
        name: "r".into(),
        keys: columns,
        values,
        access_level: AccessLevel::Normal,
        description: String::new(),
        triggers: Triggers::default(),
        indices: vec![],
        searches: vec![],
    })
}

/// The creation of a relation.
pub fn creation(schema: &SchemaRef) -> ChangeSet {
    let definitions = vec![(schema.name.clone(), Some(schema.clone()))];
    ChangeSet { created: vec![schema.clone()], definitions, ..ChangeSet::default() }
}

fn nullable(random: &mut StdRng, value: impl Fn(&mut StdRng) -> DataValue) -> DataValue {
    if random.random_bool(0.2) { DataValue::Null } else { value(random) }
}

/// A vector of so many elements.
fn narrow(len: usize, random: &mut StdRng) -> DataValue {
    DataValue::Vec(Vector::F32((0..len).map(|_| random.random_range(-3..3) as f32 / 2.0).collect()))
}

fn mixed(random: &mut StdRng) -> DataValue {
    let small = random.random_range(-3..3);
    match random.random_range(0..12) {
        0 => DataValue::Null,
        10 => narrow(random.random_range(0..3), random),
        11 => DataValue::Vec(Vector::F64(vec![small.into(), 0.5].into())),
        1 => random.random_bool(0.5).into(),
        2 => small.into(),
        3 => f64::from(small).into(),
        4 => [f64::NAN, -f64::NAN, -0.0, 0.0, f64::INFINITY][random.random_range(0..5)].into(),
        5 => [i64::MIN, i64::MAX, i64::MAX - 1, 1 << 40][random.random_range(0..4)].into(),
        6 => "x".repeat(random.random_range(0..30)).into(),
        7 => vec![small, 1].into(),
        8 => DataValue::Validity(Validity::from((i64::from(small), small > 0))),
        _ => vec![small as u8].into(),
    }
}

/// Whether rows are identical. Floats that differ only in bits are different.
pub fn identical(a: &[Tuple], b: &[Tuple]) {
    assert_eq!(a, b);
    let text = |rows: &[Tuple]| format!("{rows:?}");
    if a.iter().flatten().any(|value| value.get_float().is_some()) {
        assert_eq!(text(a), text(b));
    }
}

fn batch_of(width: usize, rows: &[Tuple]) -> Batch {
    Batch::from_rows(width, rows.iter().map(Vec::as_slice))
}

fn model_rows(model: &Model) -> Vec<Tuple> {
    model.iter().map(|(key, values)| key.iter().chain(values).cloned().collect()).collect()
}

fn scan(snapshot: &dyn Snapshot, range: &KeyRange, columns: &[usize], max_rows: usize) -> Vec<Tuple> {
    let mut cursor = snapshot.scan(RELATION, range, columns, None).unwrap();
    let mut rows = vec![];
    while let Some(batch) = cursor.next_batch(max_rows).unwrap() {
        assert!(batch.len > 0 && batch.len <= max_rows);
        assert!(batch.columns.iter().all(|column| column.len() == batch.len));
        rows.extend(batch.rows());
    }
    rows
}

fn lookup(snapshot: &dyn Snapshot, prefixes: &[Column], columns: &[usize], max_rows: usize) -> Vec<(u32, Tuple)> {
    let mut cursor = snapshot.lookup(RELATION, prefixes, columns, None).unwrap();
    let mut rows = vec![];
    while let Some(matches) = cursor.next_matches(max_rows).unwrap() {
        assert!(matches.batch.len > 0 && matches.batch.len <= max_rows);
        assert_eq!(matches.probe_rows.len(), matches.batch.len);
        rows.extend(matches.probe_rows.iter().copied().zip(matches.batch.rows()));
    }
    rows
}

/// The engine and its model.
struct Pair {
    kind: Kind,
    storage: Box<dyn Storage>,
    exact: bool,
    model: Model,
    random: StdRng,
}

impl Pair {
    fn new(subject: &Subject, kind: Kind, seed: u64) -> Self {
        let storage = (subject.open)();
        storage.commit(&mut [creation(&kind.schema())]).unwrap();
        let random = StdRng::seed_from_u64(seed);
        Pair { kind, storage, exact: subject.exact, model: Model::new(), random }
    }

    /// A batch of rows to put, applied to the model.
    fn random_put(&mut self, count: usize) -> Batch {
        let shape = self.kind.shape();
        let mut rows = Model::new();
        for _ in 0..count {
            let key = self.kind.key(&mut self.random);
            let values = (shape.keys..shape.arity).map(|column| self.kind.value(column, &mut self.random)).collect();
            rows.insert(key, values);
        }
        let batch = batch_of(shape.arity, &model_rows(&rows));
        self.model.extend(rows);
        batch
    }

    /// A batch of keys to remove, some of them missing, applied to the model.
    fn random_remove(&mut self, count: usize) -> Batch {
        let share = (count as f64 / self.model.len().max(1) as f64).min(1.0);
        let mut keys: Vec<Tuple> = self.model.keys().filter(|_| self.random.random_bool(share)).cloned().collect();
        keys.extend((0..count / 4 + 1).map(|_| self.kind.key(&mut self.random)));
        keys.sort();
        keys.dedup();
        keys.iter().for_each(|key| drop(self.model.remove(key)));
        batch_of(self.kind.shape().keys, &keys)
    }

    fn random_change(&mut self) -> RowChanges {
        let count = [1, 1, 1, 3, 40, 700, 3_000][self.random.random_range(0..7)];
        let (kind, rows) = match self.random.random_bool(0.55) {
            true => (ChangeKind::Put, self.random_put(count)),
            false => (ChangeKind::Remove, self.random_remove(count)),
        };
        let rows = if rows.len == 1 { ChangedRows::One(rows.row(0)) } else { rows.into() };
        RowChanges::new(RELATION, kind, rows)
    }

    fn step(&mut self) {
        let sets = self.random.random_range(1..4);
        let mut sets: Vec<ChangeSet> = (0..sets).map(|_| ChangeSet::of_rows(vec![self.random_change()])).collect();
        self.storage.commit(&mut sets).unwrap();
    }

    fn verify(&mut self) {
        let snapshot = self.storage.snapshot();
        if self.exact {
            assert_eq!(snapshot.row_count(RELATION), self.model.len() as u64);
        }
        self.verify_ranges(&*snapshot);
        self.verify_lookups(&*snapshot);
    }

    /// Changes that are not committed, as a transaction sees them.
    fn verify_overlay(&mut self) {
        let (committed, snapshot) = (self.model.clone(), self.storage.snapshot());
        let mut overlay = snapshot.clone();
        for _ in 0..2 {
            let rows = vec![self.random_change(), self.random_change()];
            overlay = overlay.with_changes(ChangeSet::of_rows(rows)).unwrap();
            self.verify_ranges(&*overlay);
            self.verify_lookups(&*overlay);
        }
        self.model = committed;
        self.verify_ranges(&*snapshot);
    }

    fn random_range(&mut self) -> KeyRange {
        let keys = self.kind.shape().keys;
        let prefix = self.random.random_range(0..keys);
        let near = self.model.keys().nth(self.random.random_range(0..self.model.len().max(1))).cloned();
        let bound = |random: &mut StdRng| {
            let key = self.kind.key(random);
            let upto = random.random_range(prefix + 1..=keys);
            random.random_bool(0.7).then(|| key[prefix..upto].to_vec())
        };
        let (lower, upper) = (bound(&mut self.random), bound(&mut self.random));
        let prefix = near.map_or(vec![], |key| key[..prefix].to_vec());
        KeyRange { prefix, lower, upper }
    }

    fn verify_ranges(&mut self, snapshot: &dyn Snapshot) {
        let columns: Vec<usize> = (0..self.kind.shape().arity).collect();
        for max_rows in [1, 7, 1000] {
            let range = if max_rows == 7 { KeyRange::all() } else { self.random_range() };
            let inside = |row: &Tuple| in_range(row, &range);
            let expected: Vec<Tuple> = model_rows(&self.model).into_iter().filter(inside).collect();
            identical(&scan(snapshot, &range, &columns, max_rows), &expected);
            let parts = self.random.random_range(1..9);
            let cut = snapshot.partition(RELATION, &range, parts);
            assert!(!cut.is_empty() && cut.len() <= parts);
            let scanned: Vec<Vec<Tuple>> = cut.iter().map(|part| scan(snapshot, part, &columns, 500)).collect();
            identical(&scanned.concat(), &expected);
            let even = scanned.iter().all(|part| part.len() <= expected.len() / cut.len() + 1);
            assert!(even || !self.exact, "parts of equal size");
            for end in [End::First, End::Last] {
                let rows = self.random.random_range(1..40);
                let Some((wanted, others)) = snapshot.split_at_rank(RELATION, &range, rows as u64, end) else {
                    assert!(!self.exact, "cut where it is asked for");
                    continue;
                };
                let read = |range: &KeyRange| scan(snapshot, range, &columns, 500);
                let (wanted, others) = (read(&wanted), others.map_or(vec![], |others| read(&others)));
                assert_eq!(wanted.len(), rows.min(expected.len()));
                identical(&if end == End::First { [wanted, others] } else { [others, wanted] }.concat(), &expected);
            }
        }
    }

    fn verify_lookups(&mut self, snapshot: &dyn Snapshot) {
        let shape = self.kind.shape();
        let columns: Vec<usize> = (0..shape.arity).rev().collect();
        for (max_rows, sorted) in [(1, true), (2, false), (7, true), (1000, true), (1000, false)] {
            let width = self.random.random_range(1..=shape.keys);
            let mut probes: Vec<Tuple> = (0..30).map(|_| self.probe(width)).collect();
            if sorted {
                probes.sort();
            }
            let mut prefixes = batch_of(width, &probes).columns;
            if self.random.random_bool(0.3) {
                prefixes = prefixes.iter().map(|column| Column::Any(column.iter().collect())).collect();
            }
            let found = lookup(snapshot, &prefixes, &columns, max_rows);
            let mut expected = vec![];
            for (row, probe) in probes.iter().enumerate() {
                for (key, values) in self.model.range(probe.clone()..).take_while(|(key, _)| key.starts_with(probe)) {
                    expected.push((row as u32, values.iter().rev().chain(key.iter().rev()).cloned().collect()));
                }
            }
            assert_eq!(found, expected);
            let contained = snapshot.contains(RELATION, &prefixes, None).unwrap();
            let present = |row: usize| expected.iter().any(|(probe, _)| *probe == row as u32);
            assert_eq!(contained, (0..probes.len()).map(present).collect::<Vec<_>>());
        }
    }

    /// A prefix that may or may not exist, sometimes of a type that the column does not have.
    fn probe(&mut self, width: usize) -> Tuple {
        let known = self.model.keys().nth(self.random.random_range(0..self.model.len().max(1)));
        match (known, self.random.random_range(0..10)) {
            (Some(key), 0..7) => key[..width].to_vec(),
            (_, 7) => (0..width).map(|_| mixed(&mut self.random)).collect(),
            _ => self.kind.key(&mut self.random)[..width].to_vec(),
        }
    }
}

fn in_range(row: &[DataValue], range: &KeyRange) -> bool {
    let Some(rest) = row.strip_prefix(&range.prefix[..]) else { return false };
    let from = |bound: &Option<Vec<DataValue>>| bound.as_ref().is_none_or(|bound| &rest[..bound.len()] >= bound);
    from(&range.lower) && !(range.upper.is_some() && from(&range.upper))
}

/// Applies random changes and compares with the model after each. Compares the earlier snapshots at the end.
fn run(subject: &Subject, kind: Kind, seed: u64, steps: usize) {
    let mut pair = Pair::new(subject, kind, seed);
    let mut held: Vec<(Arc<dyn Snapshot>, Vec<Tuple>)> = vec![];
    let columns: Vec<usize> = (0..kind.shape().arity).collect();
    for step in 0..steps {
        pair.step();
        if step % 4 == 0 {
            pair.verify();
            pair.verify_overlay();
        }
        if step % 10 == 5 {
            held.push((pair.storage.snapshot(), model_rows(&pair.model)));
        }
        if subject.durable && step % 16 == 11 {
            held.clear();
            drop(std::mem::replace(&mut pair.storage, Box::new(super::mem::MemStorage::new())));
            pair.storage = (subject.open)();
            assert_eq!(pair.storage.opened().unwrap().definitions, [kind.schema()]);
            pair.verify();
        }
    }
    for (snapshot, rows) in &held {
        identical(&scan(&**snapshot, &KeyRange::all(), &columns, 1000), rows);
    }
    pair.storage.commit(&mut [ChangeSet { dropped: vec![RELATION], ..ChangeSet::default() }]).unwrap();
    assert_eq!(scan(&*pair.storage.snapshot(), &KeyRange::all(), &columns, 10), Vec::<Tuple>::new());
}

/// The contents after the filling of a database was interrupted.
fn relations_without_a_definition_are_gone_after_reopening(subject: &Subject) {
    if !subject.durable {
        return;
    }
    let schema = schema(1, vec![of(BaseType::Int, false)]);
    let rows = vec![RowChanges::new(RELATION, ChangeKind::Put, ints(0..100))];
    let unfinished = ChangeSet { created: vec![schema.clone()], ..ChangeSet::of_rows(rows) };
    let storage = (subject.open)();
    storage.commit(&mut [unfinished]).unwrap();
    drop(storage);
    let storage = (subject.open)();
    assert!(storage.opened().unwrap().definitions.is_empty());
    storage.commit(&mut [creation(&schema)]).unwrap();
    assert!(scan(&*storage.snapshot(), &KeyRange::all(), &[0], 10).is_empty());
}

fn unknown_relations_are_empty_or_errors(subject: &Subject) {
    let storage = (subject.open)();
    let schema = schema(1, vec![of(BaseType::Int, false)]);
    let empty = storage.snapshot();
    assert_eq!(empty.row_count(RELATION), 0);
    assert!(scan(&*empty, &KeyRange::all(), &[0], 10).is_empty());
    assert_eq!(empty.contains(RELATION, &ints([1, 2]).columns, None).unwrap(), [false, false]);
    let rows = vec![RowChanges::new(RELATION, ChangeKind::Put, ints([1]))];
    let put = ChangeSet::of_rows(rows.clone());
    assert!(empty.clone().with_changes(put.clone()).is_err());
    let created = ChangeSet { rows: rows.into(), ..creation(&schema) };
    let local = empty.clone().with_changes(created.clone()).unwrap();
    assert_eq!(
        (scan(&*empty, &KeyRange::all(), &[0], 10).len(), scan(&*local, &KeyRange::all(), &[0], 10).len()),
        (0, 1)
    );
    assert!(storage.commit(&mut [created.clone(), ChangeSet { dropped: vec![RELATION], ..put.clone() }, put]).is_err());
    assert!(scan(&*storage.snapshot(), &KeyRange::all(), &[0], 10).is_empty());
    assert!(storage.opened().unwrap().definitions.is_empty());
    storage.commit(&mut [created]).unwrap();
    assert_eq!(scan(&*storage.snapshot(), &KeyRange::all(), &[0], 10).len(), 1);
}

/// Rows of one Int column.
pub fn ints(values: impl IntoIterator<Item = i64>) -> Batch {
    let values: Vec<i64> = values.into_iter().collect();
    let len = values.len();
    Batch::new(vec![Column::ints(values)], len)
}
