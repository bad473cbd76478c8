//! Histories read as of a time, by the column tree and by the reads that any engine has, against a filter of all rows.

use super::*;
use crate::storage::{AsOf, BatchCursor, LookupCursor, RelationState, StorageError, as_of};

/// Rows of a value column by key, the Validity last.
struct Histories {
    /// The number of key columns before the Validity.
    column: usize,
    storage: Box<dyn Storage>,
    model: Model,
    random: StdRng,
}

/// Reads as of a time by reading all versions, as an engine does that cannot seek in histories.
struct PlainReads<'s>(&'s dyn Snapshot);

impl Snapshot for PlainReads<'_> {
    fn describe(&self, relation: RelationId) -> Option<RelationState<'_>> {
        self.0.describe(relation)
    }

    fn scan<'a>(
        &'a self,
        relation: RelationId,
        range: &KeyRange,
        columns: &[usize],
        as_of: Option<AsOf>,
    ) -> Result<Box<dyn BatchCursor + 'a>, StorageError> {
        match as_of {
            Some(as_of) => as_of::scan(self, relation, range, columns, as_of),
            None => self.0.scan(relation, range, columns, None),
        }
    }

    fn lookup<'a>(
        &'a self,
        relation: RelationId,
        prefixes: &'a [Column],
        columns: &[usize],
        as_of: Option<AsOf>,
    ) -> Result<Box<dyn LookupCursor + 'a>, StorageError> {
        match as_of {
            Some(as_of) => as_of::lookup(self, relation, prefixes, columns, as_of),
            None => self.0.lookup(relation, prefixes, columns, None),
        }
    }

    fn with_changes(self: Arc<Self>, _: ChangeSet) -> Result<Arc<dyn Snapshot>, StorageError> {
        unreachable!("these reads see no changes")
    }
}

const MAX_ROWS: [usize; 4] = [1, 3, 40, 2000];

impl Histories {
    fn new(subject: &Subject, column: usize, seed: u64) -> Self {
        let storage = (subject.open)();
        let ends = [of(BaseType::Validity, false), of(BaseType::Int, false)];
        let types = [of(BaseType::Int, false), ColumnType::ANY].into_iter().take(column).chain(ends).collect();
        storage.commit(&mut [creation(&schema(column + 1, types))]).unwrap();
        Histories { column, storage, model: Model::new(), random: StdRng::seed_from_u64(seed) }
    }

    /// The key columns before the Validity: few values, of several types and encodings.
    fn prefix(&mut self) -> Tuple {
        let value = |column: usize, random: &mut StdRng| -> DataValue {
            let number = random.random_range(0..12i64);
            match (column, number % 4) {
                (0, _) => number.into(),
                (_, 0) => format!("name {number}").into(),
                (_, 1) => DataValue::Null,
                _ => (number as f64 / 2.0).into(),
            }
        };
        (0..self.column).map(|column| value(column, &mut self.random)).collect()
    }

    /// Puts versions of some histories, or removes some rows. Most histories have few versions; some fill several leaves.
    fn step(&mut self) {
        let mut puts = Model::new();
        for _ in 0..self.random.random_range(1..8) {
            let prefix = self.prefix();
            let versions = [1, 2, 5, 10, 60, 1400][self.random.random_range(0..6)];
            let times = if versions > 100 { 2000 } else { 40 };
            for _ in 0..versions {
                let validity = Validity::from((self.random.random_range(-times..times), self.random.random_bool(0.6)));
                let key = prefix.iter().cloned().chain([DataValue::Validity(validity)]).collect();
                puts.insert(key, vec![self.random.random_range(0..100_000).into()]);
            }
        }
        let share = if self.random.random_bool(0.2) { 0.5 } else { 0.05 };
        let removed: Vec<Tuple> = self.model.keys().filter(|_| self.random.random_bool(share)).cloned().collect();
        let rows = |kind, rows| RowChanges::new(RELATION, kind, rows);
        let changes = vec![
            rows(ChangeKind::Remove, batch_of(self.column + 1, &removed)),
            rows(ChangeKind::Put, batch_of(self.column + 2, &model_rows(&puts))),
        ];
        self.storage.commit(&mut [ChangeSet::of_rows(changes)]).unwrap();
        removed.iter().for_each(|key| drop(self.model.remove(key)));
        self.model.extend(puts);
    }

    fn as_of(&mut self) -> AsOf {
        let micros = match self.random.random_range(0..8) {
            0 => [i64::MIN, i64::MAX, -2001, 2001][self.random.random_range(0..4)],
            1..4 => self.random.random_range(-2000..2000),
            _ => self.random.random_range(-45..45),
        };
        AsOf { column: self.column, micros }
    }

    fn verify(&mut self) {
        let snapshot = self.storage.snapshot();
        for max_rows in MAX_ROWS {
            let as_of = self.as_of();
            let visible = visible(&self.model, as_of);
            let range = self.random_range();
            let (width, probes) = self.random_probes();
            verify_scan(&*snapshot, &visible, &range, as_of, max_rows);
            verify_scan(&PlainReads(&*snapshot), &visible, &range, as_of, max_rows);
            if width > 0 {
                verify_lookup(&*snapshot, &visible, width, &probes, as_of, max_rows);
                verify_lookup(&PlainReads(&*snapshot), &visible, width, &probes, as_of, max_rows);
            }
        }
    }

    fn random_range(&mut self) -> KeyRange {
        if self.column == 0 || self.random.random_bool(0.3) {
            return KeyRange::all();
        }
        let cut = self.random.random_range(0..self.column);
        let bound = |key: Tuple, random: &mut StdRng| {
            let upto = random.random_range(cut + 1..=key.len());
            random.random_bool(0.7).then(|| key[cut..upto].to_vec())
        };
        let (prefix, lower, upper) = (self.prefix(), self.prefix(), self.prefix());
        let (lower, upper) = (bound(lower, &mut self.random), bound(upper, &mut self.random));
        KeyRange { prefix: prefix[..cut].to_vec(), lower, upper }
    }

    fn random_probes(&mut self) -> (usize, Vec<Tuple>) {
        if self.column == 0 {
            return (0, vec![]);
        }
        let width = self.random.random_range(1..=self.column);
        let mut probes: Vec<Tuple> = (0..20).map(|_| self.prefix()[..width].to_vec()).collect();
        if self.random.random_bool(0.6) {
            probes.sort();
        }
        (width, probes)
    }
}

/// The rows visible at a time, by the definition.
fn visible(model: &Model, as_of: AsOf) -> Vec<Tuple> {
    let timestamp = |row: &Tuple| match row[as_of.column] {
        DataValue::Validity(validity) => (validity.micros(), validity.asserts()),
        _ => unreachable!("the column has validities"),
    };
    let mut visible: BTreeMap<Tuple, Tuple> = BTreeMap::new();
    for row in model_rows(model) {
        let history = row[..as_of.column].to_vec();
        if timestamp(&row).0 <= as_of.micros
            && visible.get(&history).is_none_or(|newest| timestamp(newest) < timestamp(&row))
        {
            visible.insert(history, row);
        }
    }
    visible.into_values().filter(|row| timestamp(row).1).collect()
}

fn verify_scan(snapshot: &dyn Snapshot, visible: &[Tuple], range: &KeyRange, as_of: AsOf, max_rows: usize) {
    let columns: Vec<usize> = (0..as_of.column + 2).collect();
    let mut cursor = snapshot.scan(RELATION, range, &columns, Some(as_of)).unwrap();
    let mut rows = vec![];
    while let Some(batch) = cursor.next_batch(max_rows).unwrap() {
        assert!(batch.len > 0 && batch.len <= max_rows + 1);
        assert!(batch.columns.iter().all(|column| column.len() == batch.len));
        rows.extend(batch.rows());
    }
    let expected: Vec<Tuple> = visible.iter().filter(|row| in_range(row, range)).cloned().collect();
    assert_eq!(rows, expected, "{range:?} {as_of:?}");
}

fn verify_lookup(
    snapshot: &dyn Snapshot,
    visible: &[Tuple],
    width: usize,
    probes: &[Tuple],
    as_of: AsOf,
    max_rows: usize,
) {
    let columns: Vec<usize> = (0..as_of.column + 2).rev().collect();
    let prefixes = batch_of(width, probes).columns;
    let mut cursor = snapshot.lookup(RELATION, &prefixes, &columns, Some(as_of)).unwrap();
    let mut found = vec![];
    while let Some(matches) = cursor.next_matches(max_rows).unwrap() {
        assert!(matches.batch.len > 0 && matches.probe_rows.len() == matches.batch.len);
        found.extend(matches.probe_rows.iter().copied().zip(matches.batch.rows()));
    }
    let mut expected: Vec<(u32, Tuple)> = vec![];
    for (probe, prefix) in probes.iter().enumerate() {
        let rows = visible.iter().filter(|row| row.starts_with(prefix));
        expected.extend(rows.map(|row| (probe as u32, row.iter().rev().cloned().collect())));
    }
    assert_eq!(found, expected, "{as_of:?}");
    let contained = snapshot.contains(RELATION, &prefixes, Some(as_of)).unwrap();
    let shown = |probe: usize| expected.iter().any(|(found, _)| *found == probe as u32);
    assert_eq!(contained, (0..probes.len()).map(shown).collect::<Vec<_>>());
}

/// Reads random histories as of random times.
pub fn run(subject: &Subject, column: usize, seed: u64, steps: usize) {
    let mut histories = Histories::new(subject, column, seed);
    let mut held: Vec<(Arc<dyn Snapshot>, Model)> = vec![];
    for step in 0..steps {
        histories.step();
        histories.verify();
        if step % 5 == 2 {
            held.push((histories.storage.snapshot(), histories.model.clone()));
        }
    }
    for (snapshot, model) in &held {
        let as_of = histories.as_of();
        verify_scan(&**snapshot, &visible(model, as_of), &KeyRange::all(), as_of, 100);
    }
}
