//! Segments: what an index holds of some rows of its relation.
//!
//! ```text
//! keys      [1], [2], [5]            the rows, in key order; their numbers are the docs 0, 1, 2
//! content   an index over vectors, or postings, whose nodes and documents stand for docs
//! ```
//!
//! A segment never changes. It is made of rows ([`SegmentBuilder`]), of other segments, or of bytes.

use super::error::SearchIndexError;
use super::extractor::Extractor;
use super::text_content::{TextBuilder, TextContent};
use super::vector_content::{VectorBuilder, VectorContent};
use crate::search::postings::Postings;
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

impl Segment {
    /// The number of its rows.
    pub fn len(&self) -> usize {
        self.keys.len
    }

    /// The doc with the key of a row.
    pub fn find(&self, keys: &[Column], row: usize) -> Option<u32> {
        let (mut from, mut to) = (0, self.keys.len);
        while from < to {
            let middle = from + (to - from) / 2;
            match compare_columns(&self.keys.columns, middle, keys, row) {
                std::cmp::Ordering::Less => from = middle + 1,
                std::cmp::Ordering::Greater => to = middle,
                std::cmp::Ordering::Equal => return Some(middle as u32),
            }
        }
        None
    }

    /// The docs with the keys of rows, ascending.
    pub fn find_all(&self, keys: &Batch) -> Vec<u32> {
        (0..keys.len).filter_map(|row| self.find(&keys.columns, row)).collect()
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
