//! The vectors of a segment: an index over them, and the place of each in its row.

use std::ops::Range;

use super::error::SearchIndexError;
use super::extractor::Extractor;
use crate::budget::make_room;
use crate::schema::VectorOptions;
use crate::search::vectors::{
    GraphOptions, MergePart, Metric, Precision, Quantization, VectorIndex, VectorRef, Vectors,
};
use crate::value::{Batch, Column, DataValue};

/// The vectors of some rows.
pub struct VectorContent {
    /// The index, whose nodes are the vectors in the order of `places`.
    pub index: VectorIndex,
    /// Where the vectors stand, in the order of docs.
    pub places: Places,
}

/// Where vectors stand.
pub enum Places {
    /// Each row has one, in this column. Nodes are docs.
    OfColumn(u16),
    /// Anywhere.
    Each(Vec<VectorPlace>),
}

/// Where a vector stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VectorPlace {
    /// The row.
    pub doc: u32,
    /// The column of the relation.
    pub column: u16,
    /// The place in a list; -1 if the column is no list.
    pub element: i32,
}

/// The bytes of a place.
const PLACE_BYTES: usize = 10;

impl Places {
    /// Places in the order of nodes.
    fn packed(places: Vec<VectorPlace>) -> Places {
        let column = places.first().map_or(0, |place| place.column);
        let plain =
            |(node, place): (usize, &VectorPlace)| *place == VectorPlace { doc: node as u32, column, element: -1 };
        if places.iter().enumerate().all(plain) { Places::OfColumn(column) } else { Places::Each(places) }
    }

    /// Where the vector of a node stands.
    pub fn of(&self, node: u32) -> VectorPlace {
        match self {
            Places::OfColumn(column) => VectorPlace { doc: node, column: *column, element: -1 },
            Places::Each(places) => places[node as usize],
        }
    }
}

/// Gathers the vectors of rows.
pub struct VectorBuilder<'e> {
    options: &'e VectorOptions,
    vectors: Vectors,
    places: Vec<VectorPlace>,
}

impl<'e> VectorBuilder<'e> {
    pub fn new(extractor: &'e Extractor) -> Self {
        let options = extractor.vectors().expect("the index is one of vectors");
        let precision = if options.wide { Precision::F64 } else { Precision::F32 };
        VectorBuilder { options, vectors: Vectors::with_capacity(options.dim, precision, 0), places: vec![] }
    }

    /// Adds the vectors of rows for which `indexed` is true. Returns the rows that have any; the first of them becomes `next_doc`.
    pub fn add(&mut self, rows: &Batch, indexed: &Column, next_doc: u32) -> Result<Vec<u32>, SearchIndexError> {
        make_room(rows.len * self.options.dim * size_of::<f32>())?;
        let mut held = vec![];
        for row in (0..rows.len).filter(|row| indexed.get(*row) == DataValue::Bool(true)) {
            let (before, doc) = (self.places.len(), next_doc + held.len() as u32);
            for column in &self.options.fields {
                self.push_field(&rows.columns[*column], row, VectorPlace { doc, column: *column as u16, element: -1 });
            }
            if self.places.len() > before {
                held.push(row as u32);
            }
        }
        Ok(held)
    }

    /// Adds the vector of a field, or each of its list.
    fn push_field(&mut self, field: &Column, row: usize, place: VectorPlace) {
        if let Column::Vec(vectors) = field {
            return vectors.row(row).into_iter().for_each(|vector| self.push(vector, place));
        }
        match field.get(row) {
            DataValue::Vec(vector) => vector.elements().into_iter().for_each(|vector| self.push(vector, place)),
            DataValue::List(items) => {
                for (element, item) in items.iter().enumerate() {
                    if let DataValue::Vec(vector) = item
                        && let Some(vector) = vector.elements()
                    {
                        self.push(vector, VectorPlace { element: element as i32, ..place });
                    }
                }
            }
            _ => {}
        }
    }

    fn push(&mut self, vector: VectorRef<'_>, place: VectorPlace) {
        // The type of the column ensures the dimension.
        if self.vectors.push(vector).is_ok() {
            self.places.push(place);
        }
    }

    /// The content; `sealed` if it is worth a graph.
    pub fn finish(self, sealed: bool) -> Result<VectorContent, SearchIndexError> {
        let options = graph_options(self.options);
        let index = match sealed {
            true => VectorIndex::build(self.vectors, options)?,
            // Few vectors need no codes, and searches among them no rows.
            false => VectorIndex::flat(self.vectors, GraphOptions { quantization: Quantization::None, ..options }),
        };
        let places = Places::packed(self.places);
        Ok(VectorContent { index, places })
    }
}

/// The options of the graph.
fn graph_options(options: &VectorOptions) -> GraphOptions {
    GraphOptions {
        metric: match options.metric {
            crate::schema::Metric::L2 => Metric::L2,
            crate::schema::Metric::Cosine => Metric::Cosine,
            crate::schema::Metric::InnerProduct => Metric::InnerProduct,
        },
        quantization: if options.int8 { Quantization::Int8 } else { Quantization::None },
        m: options.m,
        ef_construction: options.ef_construction,
        extend_candidates: options.extend_candidates,
        keep_pruned_connections: options.keep_pruned_connections,
    }
}

impl VectorContent {
    /// The nodes of a doc.
    pub fn nodes_of(&self, doc: u32) -> Range<usize> {
        match &self.places {
            Places::OfColumn(_) => doc as usize..doc as usize + 1,
            Places::Each(places) => {
                let start = places.partition_point(|place| place.doc < doc);
                start..start + places[start..].partition_point(|place| place.doc == doc)
            }
        }
    }

    /// The vectors of several contents. `from` has the content and the doc of each new doc, in order; those of one content ascend.
    pub fn merge(contents: &[&VectorContent], from: &[(usize, u32)]) -> Result<VectorContent, SearchIndexError> {
        let mut numbers: Vec<Vec<Option<u32>>> =
            contents.iter().map(|content| vec![None; content.index.len()]).collect();
        let mut next_node = vec![0; contents.len()];
        let mut places: Vec<VectorPlace> = vec![];
        for (doc, (of, old)) in from.iter().enumerate() {
            let (content, node) = (contents[*of], &mut next_node[*of]);
            while *node < content.index.len() {
                let place = content.places.of(*node as u32);
                if place.doc > *old {
                    break;
                }
                if place.doc == *old {
                    numbers[*of][*node] = Some(places.len() as u32);
                    places.push(VectorPlace { doc: doc as u32, ..place });
                }
                *node += 1;
            }
        }
        let parts: Vec<MergePart<'_>> = contents
            .iter()
            .zip(&numbers)
            .map(|(content, numbers)| MergePart { index: &content.index, numbers })
            .collect();
        let index = VectorIndex::merge(&parts, places.len())?;
        Ok(VectorContent { index, places: Places::packed(places) })
    }

    pub fn memory_bytes(&self) -> usize {
        let places = match &self.places {
            Places::OfColumn(_) => 0,
            Places::Each(places) => places.len() * size_of::<VectorPlace>(),
        };
        self.index.memory_bytes() + places
    }

    /// Appends the content as bytes.
    pub fn write(&self, bytes: &mut Vec<u8>) {
        match &self.places {
            Places::OfColumn(column) => {
                bytes.extend_from_slice(&u64::MAX.to_le_bytes());
                bytes.extend_from_slice(&column.to_le_bytes());
            }
            Places::Each(places) => {
                bytes.extend_from_slice(&(places.len() as u64).to_le_bytes());
                for place in places {
                    bytes.extend_from_slice(&place.doc.to_le_bytes());
                    bytes.extend_from_slice(&place.column.to_le_bytes());
                    bytes.extend_from_slice(&place.element.to_le_bytes());
                }
            }
        }
        bytes.extend_from_slice(&self.index.to_bytes());
    }

    /// A content of bytes, for a segment of so many rows. None if they are damaged.
    pub fn read(bytes: &[u8], docs: usize, extractor: &Extractor) -> Option<VectorContent> {
        let options = extractor.vectors()?;
        let (count, rest) = bytes.split_first_chunk::<8>()?;
        let (places, rest) = match u64::from_le_bytes(*count) {
            u64::MAX => {
                let (column, rest) = rest.split_first_chunk::<2>()?;
                (Places::OfColumn(u16::from_le_bytes(*column)), rest)
            }
            count => {
                let (places, rest) = rest.split_at_checked(usize::try_from(count).ok()?.checked_mul(PLACE_BYTES)?)?;
                let place = |bytes: &[u8; PLACE_BYTES]| VectorPlace {
                    doc: u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]),
                    column: u16::from_le_bytes([bytes[4], bytes[5]]),
                    element: i32::from_le_bytes([bytes[6], bytes[7], bytes[8], bytes[9]]),
                };
                (Places::Each(places.as_chunks::<PLACE_BYTES>().0.iter().map(place).collect()), rest)
            }
        };
        let index = VectorIndex::from_bytes(rest).ok()?;
        let fits = match &places {
            Places::OfColumn(_) => index.len() == docs,
            Places::Each(places) => {
                index.len() == places.len() && places.iter().all(|place| (place.doc as usize) < docs)
            }
        };
        (fits && index.dim() == options.dim).then_some(VectorContent { index, places })
    }
}
