//! What a search index takes of each row of its relation.
//!
//! | index | takes | leaves out |
//! |---|---|---|
//! | vectors | the vectors in its fields | nulls, and rows for which the filter is not true |
//! | text | a string: the value of the extractor | nulls |
//! | near-duplicates | the signature of a string or a list | nulls |

use std::sync::Arc;

use super::error::SearchIndexError;
use crate::diag::SourceSpan;
use crate::expr::functions::quote;
use crate::expr::{EvalError, Expr, Frame};
use crate::schema::{SearchIndex, SearchOptions, TextOptions, VectorOptions};
use crate::text::{
    Analyzer, AnalyzerError, LshParameters, MinHasher, Named, Shingles, Signature, Tokens, hash_of_bytes,
};
use crate::value::{Batch, Column, DataValue};

/// What an index takes of a row.
#[derive(Clone, Debug)]
pub struct Extractor {
    /// The index as a relation, for errors.
    name: String,
    /// The columns that it reads, ascending.
    columns: Vec<usize>,
    /// The extractor; for vectors the filter, if there is one.
    expr: Option<Expr>,
    kind: Extracted,
}

#[derive(Clone, Debug)]
enum Extracted {
    Vectors(VectorOptions),
    Text(Arc<Analyzer>),
    Duplicates(Arc<Duplicates>),
}

/// How near-duplicates are found.
#[derive(Debug)]
pub(super) struct Duplicates {
    analyzer: Analyzer,
    n_gram: usize,
    hasher: MinHasher,
    pub parameters: LshParameters,
}

impl Extractor {
    /// The extractor of an index. `expr` is the expression of its options over the columns of the relation, whose numbers are slots.
    pub fn new(index: &SearchIndex, expr: Option<Expr>) -> Result<Self, AnalyzerError> {
        let mut columns = vec![];
        let mut read = |part: &Expr| {
            if let Expr::Slot(column, _) = part {
                columns.push(*column);
            }
        };
        expr.iter().for_each(|expr| expr.walk(&mut read));
        let kind = match &index.options {
            SearchOptions::Vectors(options) => {
                columns.extend(&options.fields);
                Extracted::Vectors(options.clone())
            }
            SearchOptions::Text(options) => Extracted::Text(Arc::new(analyzer(options)?)),
            SearchOptions::Duplicates(options) => {
                let parameters = LshParameters { bands: options.bands, rows: options.rows };
                Extracted::Duplicates(Arc::new(Duplicates {
                    analyzer: analyzer(&options.text)?,
                    n_gram: options.n_gram,
                    hasher: MinHasher::new(parameters.bands * parameters.rows),
                    parameters,
                }))
            }
        };
        columns.sort_unstable();
        columns.dedup();
        Ok(Extractor { name: index.listing.name.to_string(), columns, expr, kind })
    }

    /// The columns of the relation that it reads, ascending. Rows that agree in them are the same to the index.
    pub fn columns(&self) -> &[usize] {
        &self.columns
    }

    /// The analyzer of an index of texts.
    pub fn analyzer(&self) -> Option<&Analyzer> {
        match &self.kind {
            Extracted::Text(analyzer) => Some(analyzer),
            Extracted::Vectors(_) | Extracted::Duplicates(_) => None,
        }
    }

    pub(super) fn vectors(&self) -> Option<&VectorOptions> {
        match &self.kind {
            Extracted::Vectors(options) => Some(options),
            Extracted::Text(_) | Extracted::Duplicates(_) => None,
        }
    }

    pub(super) fn duplicates(&self) -> Option<&Duplicates> {
        match &self.kind {
            Extracted::Duplicates(duplicates) => Some(duplicates),
            Extracted::Vectors(_) | Extracted::Text(_) => None,
        }
    }

    /// The value of the expression for each row, checked. `rows` has a column for each column of the relation; those that are not read
    /// may be empty.
    pub fn values(&self, rows: &Batch) -> Result<Column, SearchIndexError> {
        let Some(expr) = &self.expr else { return Ok(Column::repeat(&DataValue::from(true), rows.len)) };
        let frame = Frame { columns: &rows.columns, len: rows.len, parameters: &[] };
        let values =
            expr.eval(frame).and_then(|values| Ok(values.into_column(rows.len)?)).map_err(|e| self.failed(e))?;
        let (fits, wanted): (fn(&DataValue) -> bool, _) = match self.kind {
            Extracted::Vectors(_) => (|value| matches!(value, DataValue::Bool(_) | DataValue::Null), "true or false"),
            Extracted::Text(_) => (|value| matches!(value, DataValue::Str(_) | DataValue::Null), "a string"),
            Extracted::Duplicates(_) => (
                |value| matches!(value, DataValue::Str(_) | DataValue::List(_) | DataValue::Null),
                "a string or a list",
            ),
        };
        let all_fit = match &values {
            Column::Null(_) => true,
            Column::Str(_) => !matches!(self.kind, Extracted::Vectors(_)),
            _ => false,
        };
        if !all_fit && let Some(found) = values.iter().find(|value| !fits(value)) {
            let (index, found) = (self.name.clone(), quote(&found));
            return Err(SearchIndexError::InvalidExtract { what: self.what(), index, found, wanted });
        }
        Ok(values)
    }

    /// What its expression is called.
    fn what(&self) -> &'static str {
        if self.vectors().is_some() { "filter" } else { "extractor" }
    }

    /// The error of its expression, whose places are not those of the script.
    fn failed(&self, error: EvalError) -> SearchIndexError {
        match error {
            EvalError::Stop(stop) => stop.into(),
            error => {
                let (index, reason) = (self.name.clone(), error.to_string());
                SearchIndexError::Extract { what: self.what(), index, reason }
            }
        }
    }

    /// That something cannot be searched for.
    pub(super) fn cannot_search(&self, found: &DataValue, wanted: impl Into<String>) -> SearchIndexError {
        let (index, found) = (self.name.clone(), quote(found));
        SearchIndexError::InvalidQuery { index, found, wanted: wanted.into(), span: SourceSpan::default() }
    }
}

impl Duplicates {
    /// The signature of a text or a list; none for other values.
    pub fn signature(&self, value: &DataValue, scratch: &mut Scratch) -> Result<Option<Signature>, SearchIndexError> {
        match value {
            DataValue::Str(text) => {
                self.analyzer.tokens(text, &mut scratch.tokens)?;
                let shingles = scratch.shingles.get_or_insert_with(|| Shingles::new(self.n_gram));
                Ok(Some(self.hasher.signature(shingles.of(&scratch.tokens)?)))
            }
            DataValue::List(items) => {
                let mut hashes: Vec<u64> =
                    items.iter().map(|item| hash_of_bytes(item.to_string().as_bytes())).collect();
                hashes.sort_unstable();
                hashes.dedup();
                Ok(Some(self.hasher.signature(&hashes)))
            }
            _ => Ok(None),
        }
    }
}

/// Buffers for one text after the other.
#[derive(Default)]
pub(super) struct Scratch {
    tokens: Tokens,
    shingles: Option<Shingles>,
}

/// The analyzer of some options.
fn analyzer(options: &TextOptions) -> Result<Analyzer, AnalyzerError> {
    let filters: Vec<Named<'_>> = options.filters.iter().map(|part| (&*part.name, &*part.args)).collect();
    Analyzer::new((&options.tokenizer.name, &options.tokenizer.args), &filters)
}
