//! Search indices as scripts read them: `*relation:index{...}`.

use super::error::SearchIndexError;
use super::segment::Content;
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
        let Content::Vectors(content) = &part.segment.content;
        links(part, content, &mut rows)?;
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
