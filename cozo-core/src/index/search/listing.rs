//! Search indices as scripts read them: `*relation:index{...}`.

use super::error::SearchIndexError;
use super::segment::Content;
use super::text_content::TextContent;
use super::vector_content::{VectorContent, VectorPlace};
use super::view::{IndexView, Indexed, Part};
use crate::budget::{self, make_room};
use crate::value::sort::sorted;
use crate::value::{Batch, DataValue};

/// The rows of an index, in key order.
pub fn listing(of: Indexed<'_>) -> Result<Batch, SearchIndexError> {
    let view = IndexView::open(of)?;
    let schema = &of.index.listing;
    let mut rows = Batch::empty(schema.arity());
    for part in &view.parts {
        match &part.segment.content {
            Content::Vectors(content) => links(part, content, &mut rows)?,
            Content::Text(content) => words(part, content, &mut rows)?,
        }
    }
    Ok(sorted(rows, schema.keys.len()))
}

/// Adds the nodes and links of a part: a node leads to itself.
fn links(part: &Part, content: &VectorContent, rows: &mut Batch) -> Result<(), SearchIndexError> {
    let is_live = |node: u32| part.live_nodes.as_ref().is_none_or(|live| live.set.contains(node as usize));
    let width = rows.columns.len();
    let mut add = |layer: usize, from: u32, to: u32, distance: f64| -> Result<(), SearchIndexError> {
        budget::step(1)?;
        make_room(width * size_of::<DataValue>())?;
        let mut row = vec![DataValue::from(-(layer as i64))];
        for node in [from, to] {
            let VectorPlace { doc, column, element } = content.places.of(node);
            row.extend(part.segment.keys.row(doc as usize));
            row.extend([i64::from(column), i64::from(element)].map(DataValue::from));
        }
        row.extend([distance.into(), DataValue::Null, false.into()]);
        rows.push_row(&row);
        Ok(())
    };
    let index = &content.index;
    if index.layers() == 0 {
        let live = (0..index.len() as u32).filter(|node| is_live(*node));
        return live.into_iter().try_for_each(|node| add(0, node, node, 0.0));
    }
    for layer in 0..index.layers() {
        for node in index.nodes(layer).filter(|node| is_live(*node)) {
            let links: Vec<(u32, f64)> = index.links(layer, node).filter(|(to, _)| is_live(*to)).collect();
            add(layer, node, node, links.len() as f64)?;
            links.into_iter().try_for_each(|(to, distance)| add(layer, node, to, distance))?;
        }
    }
    Ok(())
}

/// Adds the words of the live documents of a part.
fn words(part: &Part, content: &TextContent, rows: &mut Batch) -> Result<(), SearchIndexError> {
    let numbers =
        |numbers: &[u32]| DataValue::from(numbers.iter().map(|number| i64::from(*number)).collect::<Vec<_>>());
    for posting in content.postings.rows() {
        budget::step(1)?;
        if part.dead.binary_search(&posting.doc).is_ok() {
            continue;
        }
        make_room((rows.columns.len() + 3 * posting.from.len()) * size_of::<DataValue>())?;
        let mut row = vec![DataValue::from(posting.word)];
        row.extend(part.segment.keys.row(posting.doc as usize));
        row.extend([&posting.from, &posting.to, &posting.positions].map(|of_posting| numbers(of_posting)));
        row.push(i64::from(posting.total_length).into());
        rows.push_row(&row);
    }
    Ok(())
}
