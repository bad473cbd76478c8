//! The null flags of a leaf column. A column without nulls has no flags.

use std::ops::Range;

use super::buffer::{Buffer, buffer, copy_with_room, write};

/// Null flags.
#[derive(Clone, Debug, Default)]
pub(super) struct Nulls(Option<Buffer<bool>>);

impl Nulls {
    /// The flags of a range of a column.
    pub fn of(flags: Option<&Vec<bool>>, range: Range<usize>) -> Self {
        let flags = flags.map(|flags| &flags[range]).filter(|flags| flags.contains(&true));
        Nulls(flags.map(|flags| buffer(flags.iter().copied())))
    }

    /// These flags.
    pub fn each(flags: impl ExactSizeIterator<Item = bool> + Clone) -> Self {
        Nulls(flags.clone().any(|is_null| is_null).then(|| buffer(flags)))
    }

    /// The number of nulls before a row.
    #[inline]
    pub fn count_before(&self, row: usize) -> usize {
        self.0.as_ref().map_or(0, |flags| flags[..row].iter().filter(|is_null| **is_null).count())
    }

    pub fn copy_with_room(&self) -> Self {
        Nulls(self.0.as_deref().map(copy_with_room))
    }

    #[inline]
    pub fn get(&self, row: usize) -> bool {
        self.0.as_ref().is_some_and(|flags| flags[row])
    }

    /// Inserts or replaces a row of a column of `len` rows.
    pub fn write(&mut self, row: usize, len: usize, null: bool, is_new: bool) {
        if null || self.0.is_some() {
            write(self.0.get_or_insert_with(|| no_nulls(len)), row, null, is_new);
        }
    }

    pub fn remove(&mut self, row: usize) {
        if let Some(flags) = &mut self.0 {
            flags.remove(row);
        }
    }

    /// The first row of a sorted range that is not null. Nulls sort first.
    #[inline]
    pub fn end_of_nulls(&self, range: Range<usize>) -> usize {
        match &self.0 {
            None => range.start,
            Some(flags) => range.start + flags[range].partition_point(|null| *null),
        }
    }

    /// Appends the flags of a range to those of a column of `len` rows.
    pub fn append_to(&self, range: Range<usize>, target: &mut Option<Vec<bool>>, len: usize) {
        match (&self.0, target.as_mut()) {
            (None, None) => {}
            (None, Some(flags)) => flags.resize(len + range.len(), false),
            (Some(more), _) => target.get_or_insert_with(|| vec![false; len]).extend_from_slice(&more[range]),
        }
    }

    pub fn heap_bytes(&self) -> usize {
        self.0.as_ref().map_or(0, Buffer::capacity)
    }
}

fn no_nulls(len: usize) -> Buffer<bool> {
    buffer(std::iter::repeat_n(false, len))
}
