//! The distinct values of many groups, in one hash table and one column.

use std::cell::Cell;

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;

use crate::budget::{Stop, make_room, step};
use crate::value::sort::sort_in_steps;
use crate::value::{Column, DataValue, allocated, hash_value};

/// The distinct (group, value) pairs that were seen, numbered in the order of their first appearance.
#[derive(Default)]
pub(super) struct Distinct {
    table: HashTable<Slot>,
    groups: Vec<u32>,
    values: Column,
    /// The number of values of a mixture whose bytes are counted, and these bytes. Values are counted in batches.
    held: Cell<(usize, usize)>,
}

/// Where a pair stands, with its hash so that growing the table reads nothing else.
struct Slot {
    hash: u32,
    pair: u32,
}

impl Slot {
    /// The hash that the table wants, from the half that slots keep.
    #[inline]
    fn table_hash(hash: u32) -> u64 {
        u64::from(hash).wrapping_mul(0x9E37_79B9_0000_0001)
    }
}

impl Distinct {
    /// The number of pairs.
    pub fn len(&self) -> usize {
        self.groups.len()
    }

    /// About how many bytes the pairs take.
    pub fn memory_bytes(&self) -> usize {
        let value = match &self.values {
            Column::Any(_) => size_of::<DataValue>(),
            Column::Str(column) => column.memory_bytes() / column.len().max(1),
            Column::Vec(column) => column.memory_bytes() / column.len().max(1),
            _ => size_of::<i64>(),
        };
        self.len() * (value + size_of::<u32>() + 2 * size_of::<Slot>()) + self.held_bytes()
    }

    /// The bytes that the values of a mixture hold.
    fn held_bytes(&self) -> usize {
        let Column::Any(values) = &self.values else { return 0 };
        let (counted, held) = self.held.get();
        let held = held + values[counted..].iter().map(DataValue::held_bytes).sum::<usize>();
        self.held.set((values.len(), held));
        held
    }

    /// The group of each pair.
    pub fn groups(&self) -> &[u32] {
        &self.groups
    }

    /// The value of each pair.
    pub fn values(&self) -> &Column {
        &self.values
    }

    /// The number of the pair of a group and a row of a column, and whether it is new.
    #[inline]
    pub fn insert_row(&mut self, group: u32, column: &Column, row: usize) -> (usize, bool) {
        let (groups, values) = (&mut self.groups, &mut self.values);
        let hash = mix(group, column.hash_at(row));
        let is_same = |pair: usize| groups[pair] == group && values.equals_at(pair, column, row);
        let (pair, is_new) = find_or_add(&mut self.table, hash, groups.len(), is_same);
        if is_new {
            groups.push(group);
            values.push_from(column, row);
        }
        (pair, is_new)
    }

    /// As [`Distinct::insert_row`], for a value that stands alone.
    pub fn insert_value(&mut self, group: u32, value: &DataValue) -> (usize, bool) {
        let (groups, values) = (&mut self.groups, &mut self.values);
        let hash = mix(group, hash_value(value));
        let is_same = |pair: usize| groups[pair] == group && values.compare_value(pair, value).is_eq();
        let (pair, is_new) = find_or_add(&mut self.table, hash, groups.len(), is_same);
        if is_new {
            groups.push(group);
            values.push(value);
        }
        (pair, is_new)
    }

    /// A list for each of so many groups: the results of `element` for its pairs, sorted by value.
    pub fn sorted_lists(
        &self,
        groups: usize,
        element: impl Fn(usize) -> Result<DataValue, Stop>,
    ) -> Result<Column, Stop> {
        let compare = |a: &u32, b: &u32| {
            let (a, b) = (*a as usize, *b as usize);
            let by_group = self.groups[a].cmp(&self.groups[b]);
            by_group.then_with(|| self.values.compare_at(a, &self.values, b))
        };
        make_room(self.len() * size_of::<u32>())?;
        let mean_bytes = self.memory_bytes() / self.len().max(1);
        let pairs = sort_in_steps((0..self.len() as u32).collect(), |_| mean_bytes, compare)?;
        let mut lists = vec![vec![]; groups];
        for pair in pairs {
            step(1)?;
            push(&mut lists[self.groups[pair as usize] as usize], element(pair as usize)?)?;
        }
        Ok(Column::Any(lists.into_iter().map(DataValue::List).collect()))
    }
}

/// Appends to a list, which is given room as it grows.
fn push(list: &mut Vec<DataValue>, value: DataValue) -> Result<(), Stop> {
    if list.len() == list.capacity() {
        let more = list.len().max(1);
        make_room(allocated(more * size_of::<DataValue>()))?;
        list.reserve_exact(more);
    }
    list.push(value);
    Ok(())
}

/// The number of the pair with this hash that `is_same` accepts, or `next` as the number of a new one.
#[inline]
fn find_or_add(table: &mut HashTable<Slot>, hash: u32, next: usize, is_same: impl Fn(usize) -> bool) -> (usize, bool) {
    let is_slot = |slot: &Slot| slot.hash == hash && is_same(slot.pair as usize);
    match table.entry(Slot::table_hash(hash), is_slot, |slot| Slot::table_hash(slot.hash)) {
        Entry::Occupied(slot) => (slot.get().pair as usize, false),
        Entry::Vacant(slot) => {
            let pair = u32::try_from(next).expect("fewer than 2^32 distinct values");
            slot.insert(Slot { hash, pair });
            (next, true)
        }
    }
}

/// The hash of a pair. One value in many groups, or many values in one, must spread over all bits.
#[inline]
fn mix(group: u32, hash: u64) -> u32 {
    let spread_group = u64::from(group).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let product = u128::from(hash ^ spread_group) * u128::from(0xD6E8_FEB8_6659_FD93_u64);
    let folded = (product as u64) ^ ((product >> 64) as u64);
    (folded >> 32) as u32
}
