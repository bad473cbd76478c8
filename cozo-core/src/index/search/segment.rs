//! Segments: what an index holds of some rows of its relation.
//!
//! ```text
//! keys      [1], [2], [5]            the rows, in key order; their numbers are the docs 0, 1, 2
//! content   an index over vectors, or postings, whose nodes and documents stand for docs
//! ```
//!
//! A segment never changes. It is made of rows ([`SegmentBuilder`]), of other segments, or of bytes.

use std::cmp::Ordering;

use super::error::SearchIndexError;
use super::extractor::Extractor;
use super::text_content::{TextBuilder, TextContent};
use super::vector_content::{VectorBuilder, VectorContent};
use crate::budget::make_room;
use crate::search::postings::Postings;
use crate::value::sort::sorted;
use crate::value::{Batch, Column, DataValue, compare_columns};

/// What an index holds of some rows.
pub struct Segment {
    /// The keys of the rows, in order.
    pub keys: Batch,
    pub content: Content,
}

/// What is searched in a segment.
pub enum Content {
    Vectors(VectorContent),
    Text(TextContent),
}

/// Gathers what is searched.
enum ContentBuilder<'e> {
    Vectors(VectorBuilder<'e>),
    Text(TextBuilder<'e>),
}

/// Makes a segment of rows.
pub struct SegmentBuilder<'e> {
    extractor: &'e Extractor,
    keys: Batch,
    content: ContentBuilder<'e>,
}

impl<'e> SegmentBuilder<'e> {
    /// A builder without rows, for a relation with so many key columns.
    pub fn new(extractor: &'e Extractor, keys: usize) -> Self {
        let content = match extractor.vectors() {
            Some(_) => ContentBuilder::Vectors(VectorBuilder::new(extractor)),
            None => ContentBuilder::Text(TextBuilder::new(extractor)),
        };
        SegmentBuilder { extractor, keys: Batch::empty(keys), content }
    }

    /// Adds rows of the relation after all rows before them. Columns that the extractor does not read may be empty, key columns may not.
    pub fn add(&mut self, rows: &Batch) -> Result<(), SearchIndexError> {
        let values = self.extractor.values(rows)?;
        let held = match &mut self.content {
            ContentBuilder::Vectors(vectors) => vectors.add(rows, &values, self.keys.len as u32)?,
            ContentBuilder::Text(texts) => texts.add(&values)?,
        };
        for (keys, column) in self.keys.columns.iter_mut().zip(&rows.columns) {
            keys.append_take(column, &held);
        }
        self.keys.len += held.len();
        Ok(())
    }

    /// The segment. With `sealed`, what makes searches of many rows fast is made, too.
    pub fn finish(self, sealed: bool) -> Result<Segment, SearchIndexError> {
        let content = match self.content {
            ContentBuilder::Vectors(vectors) => Content::Vectors(vectors.finish(sealed)?),
            ContentBuilder::Text(texts) => Content::Text(texts.finish()?),
        };
        Ok(Segment { keys: self.keys, content })
    }
}

/// A segment to merge, without its dead docs, which ascend.
#[derive(Clone, Copy)]
pub struct Merged<'s> {
    pub segment: &'s Segment,
    pub dead: &'s [u32],
}

impl Merged<'_> {
    /// The docs that stay.
    fn live(&self) -> Vec<u32> {
        let mut dead = self.dead.iter().peekable();
        (0..self.segment.len() as u32).filter(|doc| dead.next_if_eq(&doc).is_none()).collect()
    }
}

impl Segment {
    /// The segment of the live docs of several segments, at least one. No two of them have the same key.
    pub fn merge(parts: &[Merged<'_>]) -> Result<Segment, SearchIndexError> {
        let width = parts[0].segment.keys.columns.len();
        let mut all = Batch::empty(width + 2);
        for (number, part) in parts.iter().enumerate() {
            let docs = part.live();
            let mut keys = part.segment.keys.take(&docs);
            make_room(keys.memory_bytes())?;
            keys.columns.push(Column::repeat(&DataValue::from(number as i64), docs.len()));
            keys.columns.push(Column::ints(docs.into_iter().map(i64::from).collect()));
            all.append(&keys);
        }
        let mut keys = sorted(all, width);
        let (docs, origins) = (keys.columns.pop(), keys.columns.pop());
        let mut numbers: Vec<Vec<Option<u32>>> = parts.iter().map(|part| vec![None; part.segment.len()]).collect();
        let mut from = Vec::with_capacity(keys.len);
        for row in 0..keys.len {
            let at =
                |column: &Option<Column>| column.as_ref().and_then(|column| column.get(row).get_int()).unwrap_or(0);
            let (part, doc) = (at(&origins) as usize, at(&docs) as u32);
            numbers[part][doc as usize] = Some(row as u32);
            from.push((part, doc));
        }
        let content = match &parts[0].segment.content {
            Content::Vectors(_) => Content::Vectors(merged_vectors(parts, &from)?),
            Content::Text(_) => Content::Text(merged_texts(parts, &numbers, keys.len as u32)?),
        };
        Ok(Segment { keys, content })
    }

    /// The number of its rows.
    pub fn len(&self) -> usize {
        self.keys.len
    }

    /// The number of nodes or documents.
    pub fn entries(&self) -> usize {
        match &self.content {
            Content::Vectors(content) => content.index.len(),
            Content::Text(_) => self.len(),
        }
    }

    /// The docs with the keys of rows, which ascend.
    pub fn find_all(&self, keys: &Batch) -> Vec<u32> {
        if let ([mine], [wanted]) = (&self.keys.columns[..], &keys.columns[..])
            && let (Some(mine), Some(wanted)) = (mine.as_dense_ints(), wanted.as_dense_ints())
        {
            return find_ascending(self.keys.len, keys.len, |doc, row| mine[doc].cmp(&wanted[row]));
        }
        find_ascending(self.keys.len, keys.len, |doc, row| compare_columns(&self.keys.columns, doc, &keys.columns, row))
    }

    /// About how much memory it takes.
    pub fn memory_bytes(&self) -> usize {
        self.keys.memory_bytes()
            + match &self.content {
                Content::Vectors(content) => content.memory_bytes(),
                Content::Text(content) => content.memory_bytes(),
            }
    }

    /// The segment as bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let keys: Vec<Vec<DataValue>> = self.keys.columns.iter().map(|column| column.iter().collect()).collect();
        let keys = rmp_serde::to_vec(&(self.keys.len, keys)).expect("values can be written");
        let mut bytes = (keys.len() as u64).to_le_bytes().to_vec();
        bytes.extend_from_slice(&keys);
        match &self.content {
            Content::Vectors(content) => content.write(&mut bytes),
            Content::Text(content) => bytes.extend_from_slice(&content.postings.to_bytes()),
        }
        bytes
    }

    /// A segment of bytes. None if they are damaged.
    pub fn from_bytes(bytes: &[u8], extractor: &Extractor) -> Option<Segment> {
        let (len, rest) = bytes.split_first_chunk::<8>()?;
        let (keys, content) = rest.split_at_checked(usize::try_from(u64::from_le_bytes(*len)).ok()?)?;
        let (len, columns): (usize, Vec<Vec<DataValue>>) = rmp_serde::from_slice(keys).ok()?;
        if columns.iter().any(|column| column.len() != len) {
            return None;
        }
        let columns = columns.into_iter().map(|values| {
            let mut column = Column::default();
            values.into_iter().for_each(|value| column.push_owned(value));
            column
        });
        let keys = Batch { columns: columns.collect(), len };
        let content = match extractor.vectors() {
            Some(_) => Content::Vectors(VectorContent::read(content, len, extractor)?),
            None => {
                let postings = Postings::from_bytes(content).ok().filter(|postings| postings.docs() as usize == len)?;
                Content::Text(TextContent { postings })
            }
        };
        Some(Segment { keys, content })
    }
}

/// The vectors of merged segments. `from` has the segment and the doc of each new doc.
fn merged_vectors(parts: &[Merged<'_>], from: &[(usize, u32)]) -> Result<VectorContent, SearchIndexError> {
    let contents = parts.iter().filter_map(|part| match &part.segment.content {
        Content::Vectors(content) => Some(content),
        Content::Text(_) => None,
    });
    VectorContent::merge(&contents.collect::<Vec<_>>(), from)
}

/// The texts of merged segments. `numbers` has the new number of each doc.
fn merged_texts(
    parts: &[Merged<'_>],
    numbers: &[Vec<Option<u32>>],
    total: u32,
) -> Result<TextContent, SearchIndexError> {
    let with_numbers = parts.iter().zip(numbers).filter_map(|(part, numbers)| match &part.segment.content {
        Content::Text(content) => Some((&content.postings, numbers.as_slice())),
        Content::Vectors(_) => None,
    });
    Ok(TextContent { postings: Postings::merge(&with_numbers.collect::<Vec<_>>(), total)? })
}

/// The docs that are equal to one of the rows; both ascend.
#[inline]
fn find_ascending(docs: usize, rows: usize, compare: impl Fn(usize, usize) -> Ordering) -> Vec<u32> {
    let mut found = vec![];
    let mut from = 0;
    for row in 0..rows {
        // The next one is near where many are looked for.
        let mut step = 1;
        while from + step < docs && compare(from + step, row).is_lt() {
            step *= 2;
        }
        let (mut low, mut high) = (from + step / 2, docs.min(from + step));
        while low < high {
            let middle = low + (high - low) / 2;
            if compare(middle, row).is_lt() { low = middle + 1 } else { high = middle }
        }
        from = low;
        if from == docs {
            break;
        }
        if compare(from, row).is_eq() {
            found.push(from as u32);
        }
    }
    found
}
