//! The texts of a segment: an index over their words.

use rayon::prelude::*;

use super::error::SearchIndexError;
use super::extractor::Extractor;
use super::thresholds::TEXTS_PER_TASK;
use crate::budget::{Budget, Stop, make_room};
use crate::search::postings::{Postings, PostingsBuilder};
use crate::text::{Analyzer, Tokens};
use crate::threads;
use crate::value::Column;

/// The texts of some rows: each row is the document of its number.
pub struct TextContent {
    pub postings: Postings,
}

/// Gathers the texts of rows.
pub struct TextBuilder<'e> {
    analyzer: &'e Analyzer,
    /// The postings of the first texts, in order.
    parts: Vec<PostingsBuilder>,
    /// The texts after them.
    pending: Vec<Column>,
    /// The first document of the pending texts.
    first_pending: u32,
    pending_texts: usize,
}

impl<'e> TextBuilder<'e> {
    pub fn new(extractor: &'e Extractor) -> Self {
        let analyzer = extractor.analyzer().expect("the index is one of texts");
        TextBuilder { analyzer, parts: vec![], pending: vec![], first_pending: 0, pending_texts: 0 }
    }

    /// Adds texts. Returns the rows that have one.
    pub fn add(&mut self, texts: &Column) -> Result<Vec<u32>, SearchIndexError> {
        let held: Vec<u32> = (0..texts.len() as u32).filter(|row| !texts.is_null(*row as usize)).collect();
        let texts = texts.take(&held);
        make_room(texts.memory_bytes())?;
        self.pending_texts += held.len();
        self.pending.push(texts);
        if self.pending_texts >= TEXTS_PER_TASK * threads::count() {
            self.index_pending()?;
        }
        Ok(held)
    }

    /// Indexes the pending texts, on all threads if there are many.
    fn index_pending(&mut self) -> Result<(), Stop> {
        let pending = std::mem::take(&mut self.pending);
        if pending.is_empty() {
            return Ok(());
        }
        let mut first = self.first_pending;
        let numbered: Vec<(u32, Column)> = pending
            .into_iter()
            .map(|texts| {
                first += texts.len() as u32;
                (first - texts.len() as u32, texts)
            })
            .collect();
        (self.first_pending, self.pending_texts) = (first, 0);
        let (analyzer, budget) = (self.analyzer, Budget::current());
        let index = |texts: &[(u32, Column)]| {
            let _entered = budget.as_ref().map(Budget::enter);
            indexed(analyzer, texts)
        };
        if numbered.len() == 1 {
            self.parts.push(index(&numbered)?);
            return Ok(());
        }
        let share = numbered.len().div_ceil(threads::count());
        let parts: Vec<PostingsBuilder> = numbered.par_chunks(share).map(index).collect::<Result<_, Stop>>()?;
        self.parts.extend(parts);
        Ok(())
    }

    pub fn finish(mut self) -> Result<TextContent, SearchIndexError> {
        self.index_pending()?;
        Ok(TextContent { postings: PostingsBuilder::join(self.parts)? })
    }
}

/// The postings of texts.
fn indexed(analyzer: &Analyzer, texts: &[(u32, Column)]) -> Result<PostingsBuilder, Stop> {
    let (mut builder, mut tokens) = (PostingsBuilder::new(), Tokens::default());
    for (first, column) in texts {
        for row in 0..column.len() {
            let text = column.get(row);
            analyzer.tokens(text.get_str().unwrap_or_default(), &mut tokens)?;
            builder.add(first + row as u32, &tokens)?;
        }
    }
    Ok(builder)
}

impl TextContent {
    pub fn memory_bytes(&self) -> usize {
        self.postings.memory_bytes()
    }
}
