//! Numbering values of any type. Hash tables find the distinct values, and sorting them gives their numbers.
//!
//! Values are divided among several tables by their hashes, so that the tables are filled in parallel without locks. No value is
//! copied: a table refers to the first row with a value.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use hashbrown::HashTable;
use rayon::prelude::*;

use super::Poison;
use super::nodes::{NO_NODE, Nodes};
use crate::threads;
use crate::value::Column;

/// The number of values hashed at a time.
const VALUES_AT_ONCE: usize = 1 << 18;

/// At least this many values are divided among several tables.
const PARALLEL_MIN_NODES: usize = 1 << 15;

/// The most tables.
const MAX_TABLES: usize = 16;

/// A row of one of the columns.
#[derive(Clone, Copy)]
struct Slot {
    column: u32,
    row: u32,
}

/// The distinct values of one table.
#[derive(Default)]
struct Distinct {
    /// Hashes, and positions in `first`.
    table: HashTable<(u64, u32)>,
    /// The first row of each value.
    first: Vec<Slot>,
}

/// Numbers the values of two columns together. None if there are more values than numbers.
pub fn number(columns: [&Column; 2], poison: &Poison) -> miette::Result<Option<(Nodes, [Vec<u32>; 2])>> {
    let values = columns[0].len() + columns[1].len();
    let threads = if values < PARALLEL_MIN_NODES { 1 } else { threads::count() };
    let tables = threads.next_power_of_two().min(MAX_TABLES);
    let mut distinct: Vec<Distinct> = std::iter::repeat_with(Distinct::default).take(tables).collect();
    let mut found = [vec![], vec![]];
    for (i, found) in found.iter_mut().enumerate() {
        *found = find(&mut distinct, columns, i, poison)?;
    }
    if distinct.iter().any(|table| table.first.len() >= NO_NODE as usize / tables) {
        return Ok(None);
    }
    let sorted = sort(&distinct, columns);
    poison.check()?;
    let longest = distinct.iter().map(|table| table.first.len()).max().unwrap_or_default();
    let mut numbers = vec![NO_NODE; longest * tables];
    for (number, (id, _)) in (0..).zip(&sorted) {
        numbers[*id as usize] = number;
    }
    for found in &mut found {
        found.par_iter_mut().for_each(|id| *id = numbers[*id as usize]);
    }
    let mut values = Column::default();
    for run in sorted.chunk_by(|a, b| a.1.column == b.1.column) {
        let rows: Vec<u32> = run.iter().map(|(_, place)| place.row).collect();
        values.append_take(columns[run[0].1.column as usize], &rows);
    }
    Ok(Some((Nodes::ascending(values), found)))
}

/// The identifier of the value in each row of a column: its position in the table, times the number of tables, plus the table's number.
fn find(distinct: &mut [Distinct], columns: [&Column; 2], number: usize, poison: &Poison) -> miette::Result<Vec<u32>> {
    let column = columns[number];
    let ids: Vec<AtomicU32> = (0..column.len()).map(|_| AtomicU32::new(NO_NODE)).collect();
    let tables = distinct.len();
    let mut hashes = vec![];
    for start in (0..column.len()).step_by(VALUES_AT_ONCE) {
        poison.check()?;
        let end = (start + VALUES_AT_ONCE).min(column.len());
        (start..end).into_par_iter().map(|row| column.hash_at(row)).collect_into_vec(&mut hashes);
        distinct.par_iter_mut().enumerate().for_each(|(own, table)| {
            for (row, hash) in (start..end).zip(&hashes) {
                // The hash tables themselves use the bits at both ends.
                if (hash >> 40) as usize % tables == own {
                    let place = Slot { column: number as u32, row: row as u32 };
                    let position = table.position(*hash, place, columns);
                    ids[row].store(position.wrapping_mul(tables as u32) + own as u32, Relaxed);
                }
            }
        });
    }
    Ok(ids.into_iter().map(AtomicU32::into_inner).collect())
}

impl Distinct {
    fn position(&mut self, hash: u64, place: Slot, columns: [&Column; 2]) -> u32 {
        let column = columns[place.column as usize];
        let first = &self.first;
        let same = |(other_hash, position): &(u64, u32)| {
            let other = first[*position as usize];
            *other_hash == hash
                && columns[other.column as usize].equals_at(other.row as usize, column, place.row as usize)
        };
        if let Some((_, position)) = self.table.find(hash, same) {
            return *position;
        }
        let position = first.len() as u32;
        self.table.insert_unique(hash, (hash, position), |(hash, _)| *hash);
        self.first.push(place);
        position
    }
}

/// All distinct values in ascending order: the identifier by [`find`], and the first row.
fn sort(distinct: &[Distinct], columns: [&Column; 2]) -> Vec<(u32, Slot)> {
    let tables = distinct.len() as u32;
    let of_table = |(own, table): (u32, &Distinct)| -> Vec<(u32, Slot)> {
        (0..).zip(&table.first).map(|(position, place): (u32, _)| (position * tables + own, *place)).collect()
    };
    let mut all: Vec<(u32, Slot)> = (0..).zip(distinct).flat_map(of_table).collect();
    if let (Some(from), Some(to)) = (columns[0].as_dense_ints(), columns[1].as_dense_ints()) {
        all.par_sort_unstable_by_key(|(_, place)| [from, to][place.column as usize][place.row as usize]);
    } else {
        all.par_sort_unstable_by(|(_, a), (_, b)| {
            let (one, other) = (columns[a.column as usize], columns[b.column as usize]);
            one.compare_at(a.row as usize, other, b.row as usize)
        });
    }
    all
}
