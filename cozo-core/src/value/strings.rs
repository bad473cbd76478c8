//! String columns: all bytes in one buffer, and the offsets of the strings.

use std::ops::Range;

use super::primitive::append_taken_nulls;

/// Strings in one buffer. Row `i` is `bytes[offsets[i]..offsets[i + 1]]`.
#[derive(Clone, Debug)]
pub struct StrColumn {
    offsets: Vec<u32>,
    bytes: Vec<u8>,
    /// `true` for each null row; absent if no row is null.
    pub nulls: Option<Vec<bool>>,
}

impl Default for StrColumn {
    fn default() -> Self {
        StrColumn { offsets: vec![0], bytes: vec![], nulls: None }
    }
}

impl StrColumn {
    /// The most bytes of one column.
    pub const MAX_BYTES: usize = u32::MAX as usize;

    /// An empty column with room for `rows` strings of `bytes` bytes in all.
    pub fn with_capacity(rows: usize, bytes: usize) -> Self {
        let mut offsets = Vec::with_capacity(rows + 1);
        offsets.push(0);
        StrColumn { offsets, bytes: Vec::with_capacity(bytes), nulls: None }
    }

    /// The offsets (one more than rows), the bytes, and `true` for each null row.
    pub fn into_parts(self) -> (Vec<u32>, Vec<u8>, Option<Vec<bool>>) {
        (self.offsets, self.bytes, self.nulls)
    }

    /// The number of rows.
    pub fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    /// The approximate size of the strings.
    pub fn memory_bytes(&self) -> usize {
        self.bytes.len() + self.len() * size_of::<u32>()
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The bytes of a row; empty for null.
    #[inline]
    pub fn bytes_at(&self, row: usize) -> &[u8] {
        &self.bytes[self.offsets[row] as usize..self.offsets[row + 1] as usize]
    }

    /// The text of a row; empty for null.
    #[inline]
    pub fn str_at(&self, row: usize) -> &str {
        std::str::from_utf8(self.bytes_at(row)).expect("string columns hold UTF-8")
    }

    /// Whether the row is null.
    #[inline]
    pub fn is_null(&self, row: usize) -> bool {
        self.nulls.as_ref().is_some_and(|nulls| nulls[row])
    }

    /// The number of bytes of all strings together.
    pub fn byte_len(&self) -> usize {
        self.bytes.len()
    }

    /// Whether `additional` more bytes fit.
    pub fn has_room(&self, additional: usize) -> bool {
        self.bytes.len() + additional <= Self::MAX_BYTES
    }

    /// Appends a string. The caller has checked that it fits (see [`StrColumn::has_room`]).
    #[inline]
    pub fn push(&mut self, text: &str) {
        self.push_bytes(text.as_bytes());
        if let Some(nulls) = &mut self.nulls {
            nulls.push(false);
        }
    }

    /// Appends a null.
    pub fn push_null(&mut self) {
        let len = self.len();
        self.nulls.get_or_insert_with(|| vec![false; len]).push(true);
        self.push_bytes(&[]);
    }

    fn push_bytes(&mut self, text: &[u8]) {
        self.bytes.extend_from_slice(text);
        self.offsets.push(self.bytes.len() as u32);
    }

    /// Appends consecutive strings of `text`, given by their ends there. The caller has checked that they fit, and maintains
    /// `nulls`.
    pub fn append_run(&mut self, text: &str, ends: impl Iterator<Item = usize>) {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(text.as_bytes());
        self.offsets.extend(ends.map(|end| (start + end) as u32));
    }

    /// Appends a range of rows of another column, under the same conditions.
    pub fn append_rows(&mut self, other: &StrColumn, range: Range<usize>) {
        let first = other.offsets[range.start];
        let start = self.bytes.len() as u32;
        self.bytes.extend_from_slice(&other.bytes[first as usize..other.offsets[range.end] as usize]);
        self.offsets.extend(other.offsets[range.start + 1..=range.end].iter().map(|end| start + (end - first)));
    }

    /// The number of bytes of the given rows.
    pub fn taken_bytes(&self, rows: &[u32]) -> usize {
        rows.iter().map(|row| self.bytes_at(*row as usize).len()).sum()
    }

    /// The number of bytes of the rows in a range.
    pub fn bytes_within(&self, range: Range<usize>) -> usize {
        (self.offsets[range.end] - self.offsets[range.start]) as usize
    }

    /// Appends the given rows of another column, with memory of exactly their size. If they do not fit, appends nothing and returns
    /// `false`.
    pub fn append_take(&mut self, other: &StrColumn, rows: &[u32]) -> bool {
        self.append_taken(other, rows, other.taken_bytes(rows))
    }

    /// [`StrColumn::append_take`] of rows with `bytes` bytes in all.
    pub fn append_taken(&mut self, other: &StrColumn, rows: &[u32], bytes: usize) -> bool {
        if !self.has_room(bytes) {
            return false;
        }
        let len = self.len();
        append_taken_nulls(&mut self.nulls, len, other.nulls.as_deref(), rows);
        self.bytes.reserve(bytes);
        self.offsets.reserve(rows.len());
        rows.iter().for_each(|row| self.push_bytes(other.bytes_at(*row as usize)));
        true
    }

    /// Appends strings, under the conditions of [`StrColumn::append_run`].
    pub fn append_texts<'a>(&mut self, texts: impl Iterator<Item = &'a str>) {
        texts.for_each(|text| self.push_bytes(text.as_bytes()));
    }

    /// Removes all rows from `len` on.
    pub fn truncate(&mut self, len: usize) {
        self.offsets.truncate(len + 1);
        self.bytes.truncate(self.offsets[len] as usize);
        if let Some(nulls) = &mut self.nulls {
            nulls.truncate(len);
        }
    }
}
