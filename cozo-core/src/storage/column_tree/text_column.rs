//! Strings of a leaf: in one buffer, or as codes into a dictionary if they repeat.
//!
//! `["m", "f", "f", "m"]` becomes the codes `[0, 1, 1, 0]` and the distinct strings `["m", "f"]`.

use std::ops::Range;

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::buffer::{Buffer, TreeMemory, buffer, bytes_of, copy_with_room, write};
use super::nulls::Nulls;
use super::search::equal_range_by;
use super::shared::Shared;
use crate::value::{SmallStr, StrColumn};

/// Strings in one buffer, and the end of each. A null row is empty.
#[derive(Clone, Debug)]
pub(super) struct TextColumn {
    ends: Ends,
    text: String,
    nulls: Nulls,
}

/// The end of each string, in two bytes while the text is short.
#[derive(Clone, Debug)]
enum Ends {
    U16(Buffer<u16>),
    U32(Buffer<u32>),
}

/// Runs the same code for ends of each width.
macro_rules! for_ends {
    ($all:expr, $ends:ident => $body:expr) => {
        match $all {
            Ends::U16($ends) => $body,
            Ends::U32($ends) => $body,
        }
    };
}

impl Ends {
    #[inline]
    fn get(&self, row: usize) -> usize {
        for_ends!(self, ends => ends[row] as usize)
    }

    fn max(&self) -> usize {
        match self {
            Ends::U16(_) => u16::MAX.into(),
            Ends::U32(_) => u32::MAX as usize,
        }
    }

    /// Moves the ends from `row` on by `difference`. The caller has checked that they fit.
    fn shift(&mut self, row: usize, difference: isize) {
        for_ends!(self, ends => ends[row..].iter_mut().for_each(|end| *end = end.wrapping_add_signed(difference as _)));
    }
}

impl TextColumn {
    /// The strings of a range of a column.
    pub fn encode(column: &StrColumn, range: Range<usize>) -> Self {
        let nulls = Nulls::of(column.nulls.as_ref(), range.clone());
        let bytes: usize = range.clone().map(|row| column.bytes_at(row).len()).sum();
        let mut text = String::with_capacity(bytes);
        let mut ends = Buffer::with_capacity_in(range.len(), TreeMemory);
        for row in range {
            text.push_str(column.str_at(row));
            ends.push(text.len() as u32);
        }
        let ends = match u16::try_from(bytes) {
            Ok(_) => Ends::U16(buffer(ends.iter().map(|end| *end as u16))),
            Err(_) => Ends::U32(ends),
        };
        TextColumn { ends, text, nulls }
    }

    pub fn copy_with_room(&self) -> Self {
        let ends = match &self.ends {
            Ends::U16(ends) => Ends::U16(copy_with_room(ends)),
            Ends::U32(ends) => Ends::U32(copy_with_room(ends)),
        };
        let mut text = String::with_capacity(self.text.len() + 32);
        text.push_str(&self.text);
        TextColumn { ends, text, nulls: self.nulls.copy_with_room() }
    }

    pub fn len(&self) -> usize {
        for_ends!(&self.ends, ends => ends.len())
    }

    #[inline]
    fn start(&self, row: usize) -> usize {
        if row == 0 { 0 } else { self.ends.get(row - 1) }
    }

    #[inline]
    fn span(&self, row: usize) -> Range<usize> {
        self.start(row)..self.ends.get(row)
    }

    #[inline]
    pub fn get(&self, row: usize) -> Option<&str> {
        (!self.nulls.get(row)).then(|| &self.text[self.span(row)])
    }

    /// The rows of a sorted range that hold `key`.
    pub fn equal_range(&self, range: Range<usize>, key: Option<&str>) -> Range<usize> {
        let valid = self.nulls.end_of_nulls(range.clone());
        let Some(key) = key else { return range.start..valid };
        equal_range_by(valid..range.end, |row| self.text.as_bytes()[self.span(row)].cmp(key.as_bytes()))
    }

    /// Inserts or replaces a row. Returns `false` if the ends are too narrow for it.
    pub fn write(&mut self, row: usize, value: Option<&str>, is_new: bool) -> bool {
        let (text, start) = (value.unwrap_or_default(), self.start(row));
        let end = if is_new { start } else { self.ends.get(row) };
        if self.text.len() - (end - start) + text.len() > self.ends.max() {
            return false;
        }
        self.nulls.write(row, self.len(), value.is_none(), is_new);
        if is_new {
            for_ends!(&mut self.ends, ends => write(ends, row, start as _, true));
            self.text.insert_str(start, text);
        } else {
            self.text.replace_range(start..end, text);
        }
        self.ends.shift(row, text.len() as isize - (end - start) as isize);
        true
    }

    pub fn remove(&mut self, row: usize) {
        let span = self.span(row);
        self.ends.shift(row, -(span.len() as isize));
        for_ends!(&mut self.ends, ends => { ends.remove(row); });
        self.text.replace_range(span, "");
        self.nulls.remove(row);
    }

    /// Reads the strings that a search compares first. The result has no meaning.
    pub fn prefetch(&self) -> usize {
        let rows = [self.len() / 2, self.len() / 4, self.len() / 4 * 3];
        let first_byte = |row: usize| self.get(row)?.bytes().next();
        rows.into_iter().filter(|row| *row < self.len()).filter_map(first_byte).map(usize::from).sum()
    }

    /// The number of bytes of all strings together.
    pub fn byte_len(&self) -> usize {
        self.text.len()
    }

    /// Appends a range to the end of a column.
    pub fn append_range(&self, range: Range<usize>, target: &mut StrColumn) {
        let len = target.len();
        self.nulls.append_to(range.clone(), &mut target.nulls, len);
        let start = self.span(range.start).start;
        let text = &self.text[start..self.ends.get(range.end - 1)];
        for_ends!(&self.ends, ends => target.append_run(text, ends[range].iter().map(|end| *end as usize - start)));
    }

    pub fn heap_bytes(&self) -> usize {
        for_ends!(&self.ends, ends => bytes_of(ends)) + self.text.capacity() + self.nulls.heap_bytes()
    }
}

/// The code of null.
const NULL_CODE: u8 = u8::MAX;

/// The most distinct strings of a dictionary. A new value is compared with each of them.
const MAX_DISTINCT: usize = 64;

/// Codes into distinct strings, which copies of the column share.
#[derive(Clone, Debug)]
pub(super) struct DictionaryColumn {
    codes: Buffer<u8>,
    distinct: Shared<Buffer<SmallStr>>,
}

impl DictionaryColumn {
    /// The strings of a range of a column, if they repeat at least four times on average.
    pub fn encode(column: &StrColumn, range: Range<usize>) -> Option<Self> {
        let most = MAX_DISTINCT.min(range.len() / 4);
        let mut code_of: FxHashMap<&[u8], u8> = FxHashMap::default();
        let mut codes = Buffer::with_capacity_in(range.len(), TreeMemory);
        let mut distinct = Buffer::new_in(TreeMemory);
        for row in range {
            if column.is_null(row) {
                codes.push(NULL_CODE);
                continue;
            }
            let code = *code_of.entry(column.bytes_at(row)).or_insert(distinct.len() as u8);
            if usize::from(code) == distinct.len() {
                if distinct.len() == most {
                    return None;
                }
                distinct.push(SmallStr::from(column.str_at(row)));
            }
            codes.push(code);
        }
        Some(DictionaryColumn { codes, distinct: Shared::new(distinct) })
    }

    pub fn copy_with_room(&self) -> Self {
        DictionaryColumn { codes: copy_with_room(&self.codes), distinct: self.distinct.clone() }
    }

    pub fn len(&self) -> usize {
        self.codes.len()
    }

    #[inline]
    pub fn get(&self, row: usize) -> Option<&str> {
        match self.codes[row] {
            NULL_CODE => None,
            code => Some(&self.distinct[usize::from(code)]),
        }
    }

    /// The rows of a sorted range that hold `key`.
    pub fn equal_range(&self, range: Range<usize>, key: Option<&str>) -> Range<usize> {
        equal_range_by(range, |row| self.get(row).map(str::as_bytes).cmp(&key.map(str::as_bytes)))
    }

    /// The code of a value, new if need be; none if the dictionary is full.
    fn code(&mut self, value: Option<&str>) -> Option<u8> {
        let Some(value) = value else { return Some(NULL_CODE) };
        if let Some(code) = self.distinct.iter().position(|known| known == value) {
            return Some(code as u8);
        }
        if self.distinct.len() == MAX_DISTINCT {
            return None;
        }
        Shared::make_mut(&mut self.distinct).push(value.into());
        Some(self.distinct.len() as u8 - 1)
    }

    /// Inserts or replaces a row. Returns `false` if the dictionary is full.
    pub fn write(&mut self, row: usize, value: Option<&str>, is_new: bool) -> bool {
        let code = self.code(value);
        code.map(|code| write(&mut self.codes, row, code, is_new)).is_some()
    }

    pub fn remove(&mut self, row: usize) {
        self.codes.remove(row);
    }

    /// An upper bound of the bytes of all strings.
    pub fn most_bytes(&self) -> usize {
        self.codes.len() * self.distinct.iter().map(|text| text.len()).max().unwrap_or(0)
    }

    /// Appends a range to the end of a column.
    pub fn append_range(&self, range: Range<usize>, target: &mut StrColumn) {
        let codes = &self.codes[range];
        if target.nulls.is_some() || codes.contains(&NULL_CODE) {
            let len = target.len();
            let nulls = target.nulls.get_or_insert_with(|| vec![false; len]);
            nulls.extend(codes.iter().map(|code| *code == NULL_CODE));
        }
        let distinct: SmallVec<[&str; MAX_DISTINCT]> = self.distinct.iter().map(SmallStr::as_str).collect();
        target.append_texts(codes.iter().map(|code| distinct.get(usize::from(*code)).copied().unwrap_or_default()));
    }

    pub fn heap_bytes(&self) -> usize {
        let long = self.distinct.iter().filter(|text| text.is_heap_allocated()).map(|text| text.capacity());
        self.codes.capacity() + self.distinct.capacity() * size_of::<SmallStr>() + long.sum::<usize>()
    }
}
