//! Searching texts.

use std::cmp::Ordering;

use super::error::SearchIndexError;
use super::hits::{Hits, SearchColumn, SearchWork, Way};
use super::segment::Content;
use super::view::{AllowedEntries, IndexView, Indexed, Part};
use crate::search::postings::{PostingsPart, Scoring, TextSearch};
use crate::text::{AnalyzeOptions, TextQuery};
use crate::value::{Batch, Column, DataValue, compare_columns};

/// What is wanted of a search for texts.
#[derive(Clone, Copy)]
pub struct TextsWanted<'a> {
    /// The most hits.
    pub count: usize,
    /// How scores are computed.
    pub scoring: Scoring,
    /// How phrases and prefixes are read.
    pub options: AnalyzeOptions,
    /// What is wanted besides the keys.
    pub extras: &'a [SearchColumn],
    /// The entries that may be returned; all without it.
    pub allowed: Option<&'a AllowedEntries>,
}

/// The texts that match a query best.
pub fn best_texts(
    of: Indexed<'_>,
    view: &IndexView,
    query: &DataValue,
    wanted: TextsWanted<'_>,
) -> Result<Hits, SearchIndexError> {
    let Some(text) = query.get_str() else {
        return Err(of.extractor.cannot_search(query, "a string, such as 'apple OR pear'"));
    };
    let nothing = Hits {
        keys: Batch::empty(of.relation.keys.len()),
        extras: Batch::empty(wanted.extras.len()),
        is_all: true,
        work: SearchWork::default(),
    };
    let analyzer = of.extractor.analyzer().expect("the index is one of texts");
    let Some(parsed) = TextQuery::parse(text)? else { return Ok(nothing) };
    let Some(analyzed) = parsed.analyze(analyzer, wanted.options)? else { return Ok(nothing) };
    let mut search = TextSearch::new(&analyzed, parts(view, wanted.allowed), wanted.scoring, view.rows)?;
    let keys_of = |part: usize| view.parts[part].segment.keys.columns.as_slice();
    let order = |a: (usize, u32), b: (usize, u32)| -> Ordering {
        compare_columns(keys_of(a.0), a.1 as usize, keys_of(b.0), b.1 as usize)
    };
    let found = search.top(wanted.count, &order)?;
    let mut keys = nothing.keys;
    found.iter().for_each(|hit| keys.append_row(&view.parts[hit.part].segment.keys, hit.doc as usize));
    let mut columns = vec![];
    for extra in wanted.extras {
        let mut column = Column::default();
        for hit in &found {
            column.push_owned(match extra {
                SearchColumn::Score => hit.score.into(),
                _ => {
                    let spans = search.spans(hit.part, hit.doc)?.into_iter();
                    DataValue::List(spans.map(|(from, to)| vec![i64::from(from), i64::from(to)].into()).collect())
                }
            });
        }
        columns.push(column);
    }
    let extras = Batch { columns, len: found.len() };
    let mut work = SearchWork::default();
    work.note(Way::Postings, search.work().scored);
    Ok(Hits { keys, extras, is_all: found.len() < wanted.count, work })
}

/// The parts as the search takes them.
fn parts<'v>(view: &'v IndexView, allowed: Option<&'v AllowedEntries>) -> Vec<PostingsPart<'v>> {
    let part = |(at, part): (usize, &'v Part)| {
        let Content::Text(content) = &part.segment.content else { unreachable!("the index is one of texts") };
        PostingsPart {
            postings: &content.postings,
            deletions: part.deletions.as_deref(),
            shadowed: &part.shadowed,
            allowed: allowed.map(|allowed| &allowed.parts[at].set),
        }
    };
    view.parts.iter().enumerate().map(part).collect()
}
