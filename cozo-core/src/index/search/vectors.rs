//! Searching for the nearest vectors.

use std::borrow::Cow;
use std::cell::RefCell;

use super::error::SearchIndexError;
use super::hits::{Hits, SearchColumn, SearchWork, Way};
use super::rows::looked_up;
use super::segment::Content;
use super::vector_content::{VectorContent, VectorPlace};
use super::view::{AllowedEntries, IndexView, Indexed, Part};
use crate::search::vectors::{AllowedNodes, Originals, Scratch, SearchWay, VectorQuery, VectorRef};
use crate::value::{Batch, Column, DataValue, Vector};

/// What is wanted of a search for vectors.
#[derive(Clone, Copy)]
pub struct NearestWanted<'a> {
    /// The most hits.
    pub count: usize,
    /// The number of candidates that the search keeps.
    pub ef: usize,
    /// The greatest distance.
    pub radius: Option<f64>,
    /// What is wanted besides the keys.
    pub extras: &'a [SearchColumn],
    /// The entries that may be returned; all without it.
    pub allowed: Option<&'a AllowedEntries>,
}

/// A hit in a part of a view.
struct PartHit<'v> {
    part: &'v Part,
    place: VectorPlace,
    distance: f64,
}

/// The vectors nearest to a query.
pub fn nearest(
    of: Indexed<'_>,
    view: &IndexView,
    query: &DataValue,
    wanted: NearestWanted<'_>,
) -> Result<Hits, SearchIndexError> {
    let vector = checked(of, query)?;
    let vector = vector.elements().expect("the elements lie side by side");
    let (mut found, mut work) = (vec![], SearchWork::default());
    for (at, part) in view.parts.iter().enumerate() {
        let Content::Vectors(content) = &part.segment.content else { continue };
        let live = wanted.allowed.map(|allowed| &allowed.parts[at]).or(part.live_nodes.as_deref());
        let allowed = live.map(|live| AllowedNodes { set: &live.set, count: live.count });
        let (k, ef, radius) = (wanted.count, wanted.ef, wanted.radius);
        let originals = RowsOfNodes { of, part, content, failure: RefCell::default() };
        let query = VectorQuery { vector, k, ef, radius, allowed, originals: Some(&originals) };
        let searched = SCRATCH.with_borrow_mut(|scratch| content.index.search(query, scratch))?;
        work.note(way(searched.way), searched.compared);
        if let Some(failure) = originals.failure.into_inner() {
            return Err(failure);
        }
        found.extend(searched.hits.into_iter().map(|hit| PartHit {
            part,
            place: content.places.of(hit.node),
            // There are several NaNs: results have one of them.
            distance: if hit.distance.is_nan() { f64::NAN } else { hit.distance },
        }));
    }
    let key = |hit: &PartHit<'_>| hit.part.segment.keys.row(hit.place.doc as usize);
    found.sort_by(|a, b| distance_order(a.distance, b.distance).then_with(|| key(a).cmp(&key(b))));
    let is_all = found.len() < wanted.count;
    found.truncate(wanted.count);
    let mut keys = Batch::empty(of.relation.keys.len());
    found.iter().for_each(|hit| keys.append_row(&hit.part.segment.keys, hit.place.doc as usize));
    let extras = extras(of, &found, &keys, wanted.extras)?;
    Ok(Hits { keys, extras, is_all, work })
}

fn way(way: SearchWay) -> Way {
    match way {
        SearchWay::Exact => Way::Exact,
        SearchWay::Graph => Way::Graph,
        SearchWay::OneHop => Way::OneHop,
        SearchWay::TwoHops => Way::TwoHops,
    }
}

/// The rows with the vectors of which a segment has codes alone.
struct RowsOfNodes<'a> {
    of: Indexed<'a>,
    part: &'a Part,
    content: &'a VectorContent,
    /// Why rows could not be read.
    failure: RefCell<Option<SearchIndexError>>,
}

impl Originals for RowsOfNodes<'_> {
    fn read(&self, nodes: &[u32], take: &mut dyn FnMut(u32, VectorRef<'_>)) {
        if let Err(error) = self.try_read(nodes, take) {
            *self.failure.borrow_mut() = Some(error);
        }
    }
}

impl RowsOfNodes<'_> {
    fn try_read(&self, nodes: &[u32], take: &mut dyn FnMut(u32, VectorRef<'_>)) -> Result<(), SearchIndexError> {
        let mut docs: Vec<u32> = nodes.iter().map(|node| self.content.places.of(*node).doc).collect();
        docs.sort_unstable();
        docs.dedup();
        let rows = looked_up(self.of.base(), &self.part.segment.keys.take(&docs))?;
        if rows.len != docs.len() {
            return Err(SearchIndexError::OutOfStep { index: self.of.index.listing.name.to_string() });
        }
        for node in nodes {
            let place = self.content.places.of(*node);
            let row = docs.binary_search(&place.doc).unwrap_or_default();
            with_vector_at(&rows, row, place, |vector| take(*node, vector));
        }
        Ok(())
    }
}

/// What `take` makes of the vector at a place of a row, if there is one.
fn with_vector_at<R>(rows: &Batch, row: usize, place: VectorPlace, take: impl FnOnce(VectorRef<'_>) -> R) -> Option<R> {
    let field = &rows.columns[usize::from(place.column)];
    if let Column::Vec(vectors) = field {
        return vectors.row(row).map(take);
    }
    let value = field.get(row);
    let value = match (&value, usize::try_from(place.element)) {
        (DataValue::List(items), Ok(element)) => items.get(element),
        _ => Some(&value),
    };
    match value {
        Some(DataValue::Vec(vector)) => vector.elements().map(take),
        _ => None,
    }
}

thread_local! {
    /// What a search takes memory for.
    static SCRATCH: RefCell<Scratch> = RefCell::default();
}

/// NaN comes last.
fn distance_order(a: f64, b: f64) -> std::cmp::Ordering {
    a.is_nan().cmp(&b.is_nan()).then(a.total_cmp(&b))
}

/// The vector that is searched for, its elements side by side.
fn checked<'q>(of: Indexed<'_>, query: &'q DataValue) -> Result<Cow<'q, Vector>, SearchIndexError> {
    let options = of.extractor.vectors().expect("the index is one of vectors");
    match query {
        DataValue::Vec(vector) if vector.len() == options.dim => Ok(match vector.elements() {
            Some(_) => Cow::Borrowed(vector),
            None => Cow::Owned(vector.compact()),
        }),
        other => {
            let wanted = format!("a vector of {} elements, such as vec([1.0, 2.0])", options.dim);
            Err(of.extractor.cannot_search(other, wanted))
        }
    }
}

/// A column for each output besides those of the relation.
fn extras(
    of: Indexed<'_>,
    found: &[PartHit<'_>],
    keys: &Batch,
    wanted: &[SearchColumn],
) -> Result<Batch, SearchIndexError> {
    let name =
        |column: u16| of.relation.columns().nth(column.into()).map_or(DataValue::Null, |it| it.name.as_str().into());
    let mut columns = vec![];
    for column in wanted {
        let values: Vec<DataValue> = match column {
            SearchColumn::Distance => found.iter().map(|hit| DataValue::from(hit.distance)).collect(),
            SearchColumn::Field => found.iter().map(|hit| name(hit.place.column)).collect(),
            SearchColumn::FieldIndex => {
                let index = |place: VectorPlace| (place.element >= 0).then_some(i64::from(place.element));
                found.iter().map(|hit| index(hit.place).map_or(DataValue::Null, DataValue::from)).collect()
            }
            _ => vectors_at(of, found, keys)?,
        };
        let mut column = Column::default();
        values.into_iter().for_each(|value| column.push_owned(value));
        columns.push(column);
    }
    Ok(Batch { columns, len: found.len() })
}

/// The vectors that were found, from the relation.
fn vectors_at(of: Indexed<'_>, found: &[PartHit<'_>], keys: &Batch) -> Result<Vec<DataValue>, SearchIndexError> {
    let rows = looked_up(of.base(), keys)?;
    if rows.len != keys.len {
        return Err(SearchIndexError::OutOfStep { index: of.index.listing.name.to_string() });
    }
    let vector = |(row, hit): (usize, &PartHit<'_>)| {
        with_vector_at(&rows, row, hit.place, |vector| DataValue::from(vector)).unwrap_or(DataValue::Null)
    };
    Ok(found.iter().enumerate().map(vector).collect())
}
