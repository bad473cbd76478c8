//! Many small records of five integers: the experiment of WhiteDB. Made, scanned, indexed, found a hundred at a time by the
//! index, and followed one by one as a chain; and as many strings.
//!
//! Both systems are asked by their own language. A record is `id, part, amount, stamp, next`: a hundred records share a
//! `part`, every [`AMOUNTS`]th has the same `amount`, and `next` leads through all records in a scattered order.

pub mod database;
#[cfg(feature = "peers")]
pub mod sqlite;

use std::time::{Duration, Instant};

/// So many records share a part.
pub const PER_PART: i64 = 100;

/// There are so many amounts.
pub const AMOUNTS: i64 = 1000;

/// The amount whose records are counted.
pub const COUNTED: i64 = 7;

/// So many records are handed over at a time.
pub const BATCH: i64 = 100_000;

/// From one record of the chain to the next; a prime, so that the chain reaches all.
const STRIDE: i64 = 7_368_787;

/// A system that keeps records.
pub trait Records {
    /// Puts records with these numbers.
    fn insert(&mut self, records: &[Record]);

    /// Puts strings, numbered from `first` on.
    fn insert_strings(&mut self, first: i64, strings: &[String]);

    /// How many records have an amount, found by looking at all.
    fn count_amount(&mut self, amount: i64) -> i64;

    /// Makes an index of `part`.
    fn index(&mut self);

    /// Reads the records of a part by the index, whole; the sum of their numbers.
    fn part(&mut self, part: i64) -> i64;

    /// How many records a part has, by the index.
    fn count_part(&mut self, part: i64) -> i64;

    /// Follows the chain from record 0 to its end; how many records it has.
    fn chain(&mut self) -> i64;
}

/// A record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record {
    /// The key.
    pub id: i64,
    /// Shared by [`PER_PART`] records.
    pub part: i64,
    /// One of [`AMOUNTS`].
    pub amount: i64,
    /// Different in each.
    pub stamp: i64,
    /// The next record of the chain, or -1.
    pub next: i64,
}

/// How many records and look-ups.
#[derive(Clone, Copy, Debug)]
pub struct Size {
    /// Records; a multiple of [`PER_PART`].
    pub records: i64,
    /// Look-ups of one part each.
    pub lookups: i64,
}

impl Size {
    /// So many records, rounded to whole parts, and a tenth as many look-ups.
    pub fn of(records: usize) -> Size {
        let mut records = (records as u64).next_multiple_of(PER_PART as u64) as i64;
        // The chain reaches all records if their number shares no factor with the stride.
        while records % STRIDE == 0 {
            records += PER_PART;
        }
        Size { records, lookups: (records / 10).max(1) }
    }

    /// How many parts there are.
    pub fn parts(&self) -> i64 {
        self.records / PER_PART
    }

    /// The record with a number.
    pub fn record(&self, id: i64) -> Record {
        let next = (id + STRIDE) % self.records;
        Record {
            id,
            part: id % self.parts(),
            amount: id * 31 % AMOUNTS,
            stamp: 1_600_000_000_000 + id * 1000,
            next: if next == 0 { -1 } else { next },
        }
    }

    fn sum_of_part(&self, part: i64) -> i64 {
        (0..PER_PART).map(|place| part + place * self.parts()).sum()
    }
}

/// Does everything once, each answer checked; what was done, how long it took, and for how many things.
pub fn run(system: &mut dyn Records, size: Size) -> Vec<(&'static str, Duration, i64)> {
    let mut steps = Vec::new();
    let mut step = |name, number, elapsed: Duration| steps.push((name, elapsed, number));
    step(
        "insert records",
        size.records,
        insert(
            size,
            |first, end| (first..end).map(|id| size.record(id)).collect::<Vec<_>>(),
            |_, records| system.insert(records),
        ),
    );
    step(
        "insert strings",
        size.records,
        insert(
            size,
            |first, end| (first..end).map(|id| format!("the string with the number {id}")).collect::<Vec<_>>(),
            |first, strings| system.insert_strings(first, strings),
        ),
    );
    let expected = (0..size.records).filter(|id| size.record(*id).amount == COUNTED).count() as i64;
    step("scan for one value", size.records, timed(|| assert_eq!(system.count_amount(COUNTED), expected)));
    step("make an index", size.records, timed(|| system.index()));
    // Parts far from each other, as a program that knows no order would ask for.
    let parts: Vec<i64> = (0..size.lookups).map(|place| place * 7919 % size.parts()).collect();
    parts
        .iter()
        .step_by(1 + parts.len() / 100)
        .for_each(|part| assert_eq!(system.part(*part), size.sum_of_part(*part)));
    let sum: i64 = parts.iter().map(|part| size.sum_of_part(*part)).sum();
    step(
        "look up a part of 100 records",
        size.lookups,
        timed(|| {
            assert_eq!(parts.iter().map(|part| system.part(*part)).sum::<i64>(), sum);
        }),
    );
    step(
        "count a part of 100 records",
        size.lookups,
        timed(|| assert_eq!(parts.iter().map(|part| system.count_part(*part)).sum::<i64>(), size.lookups * PER_PART)),
    );
    step("follow a chain", size.records, timed(|| assert_eq!(system.chain(), size.records)));
    steps
}

/// How long it takes to hand over all records in batches, without the time of making them.
fn insert<T>(size: Size, make: impl Fn(i64, i64) -> Vec<T>, mut insert: impl FnMut(i64, &[T])) -> Duration {
    let mut elapsed = Duration::ZERO;
    for first in (0..size.records).step_by(BATCH as usize) {
        let batch = make(first, size.records.min(first + BATCH));
        elapsed += timed(|| insert(first, &batch));
    }
    elapsed
}

fn timed(run: impl FnOnce()) -> Duration {
    let start = Instant::now();
    run();
    start.elapsed()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chain_goes_through_all_records() {
        let size = Size::of(1234);
        assert_eq!(size.records, 1300);
        let chain = std::iter::successors(Some(0), |id| Some(size.record(*id).next).filter(|next| *next >= 0));
        let mut ids: Vec<i64> = chain.take(2000).collect();
        ids.sort_unstable();
        assert_eq!(ids, (0..1300).collect::<Vec<_>>());
    }

    #[test]
    fn the_database_gives_the_right_answers() {
        let steps = run(&mut database::Database::new(cozo::DbInstance::default()), Size::of(2000));
        assert_eq!(steps.len(), 7);
    }

    #[cfg(feature = "peers")]
    #[test]
    fn sqlite_gives_the_right_answers() {
        assert_eq!(run(&mut sqlite::Sqlite::in_memory(), Size::of(2000)).len(), 7);
    }
}
