//! What can go wrong when an index takes something of a row, or is searched.

use crate::budget::Stop;
use crate::diag::SourceSpan;
use crate::expr::EvalError;
use crate::storage::StorageError;
use crate::text::TextQueryError;
use crate::txn::TxnError;

/// A search index could not follow its relation, or could not be searched.
#[derive(Debug, Clone, thiserror::Error, miette::Diagnostic)]
pub enum SearchIndexError {
    /// The script must stop.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Stop(#[from] Stop),
    /// The extractor failed on a row.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Eval(#[from] EvalError),
    /// The engine failed.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Storage(#[from] StorageError),
    /// The transaction failed.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Txn(#[from] TxnError),
    /// What is searched for is no query for texts.
    #[error(transparent)]
    #[diagnostic(transparent)]
    TextQuery(#[from] TextQueryError),
    /// The same, with the place in the script.
    #[error("{} (at byte {} of the query)", error.message, error.span.0)]
    #[diagnostic(code(text::bad_query), help("{}", error.help))]
    BadTextQuery {
        /// What is wrong, with the place in the text of the query.
        error: TextQueryError,
        /// The parameter `query`.
        #[label("this query for texts")]
        span: SourceSpan,
    },
    /// The expression of an index failed on a row.
    #[error("the {what} of the index '{index}' fails on a row: {reason}")]
    #[diagnostic(
        code(eval::search_extractor),
        help(
            "it is evaluated for each row of the relation; 'if(condition, value)' gives null for rows that it cannot take"
        )
    )]
    Extract {
        /// Which expression: the extractor or the filter.
        what: &'static str,
        /// The index.
        index: String,
        /// The reason.
        reason: String,
    },
    /// The extractor gave something that the index cannot hold.
    #[error("the {what} of the index '{index}' gives {found}")]
    #[diagnostic(
        code(eval::fts::extractor::invalid_return_type),
        help("it must give {wanted}, or null for a row that is not indexed")
    )]
    InvalidExtract {
        /// Which expression: the extractor or the filter.
        what: &'static str,
        /// The index.
        index: String,
        /// What it gave, shortened.
        found: String,
        /// What the index holds.
        wanted: &'static str,
    },
    /// The index searches for something else.
    #[error("the index '{index}' cannot search for {found}")]
    #[diagnostic(code(eval::search_query), help("'query' must be {wanted}"))]
    InvalidQuery {
        /// The index.
        index: String,
        /// What was searched for, shortened.
        found: String,
        /// What it searches for.
        wanted: String,
        /// The parameter `query`.
        #[label("searched for here")]
        span: SourceSpan,
    },
    /// A row that the index finds is not in the relation.
    #[error("the index '{index}' is out of step with its relation")]
    #[diagnostic(
        code(eval::search_index_damaged),
        help("'::reindex {index}' makes it anew; 'cozo check' shows what is wrong")
    )]
    OutOfStep {
        /// The index.
        index: String,
    },
}

impl SearchIndexError {
    /// The error with the place of the parameter `query` in the script.
    pub fn at(self, place: SourceSpan) -> Self {
        match self {
            SearchIndexError::TextQuery(error) => SearchIndexError::BadTextQuery { error, span: place },
            SearchIndexError::InvalidQuery { index, found, wanted, .. } => {
                SearchIndexError::InvalidQuery { index, found, wanted, span: place }
            }
            other => other,
        }
    }
}
