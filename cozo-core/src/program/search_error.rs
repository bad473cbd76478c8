//! What is wrong with a search in an index.

use crate::diag::SourceSpan;

/// A search that does not fit its index.
#[derive(Debug, Clone, thiserror::Error, miette::Diagnostic)]
pub enum SearchError {
    /// There is no such index.
    #[error("the relation '{relation}' has no search index '{name}'")]
    #[diagnostic(
        code(eval::hnsw_index_not_found),
        help("'::indices {relation}' lists its indices; ::hnsw, ::fts and ::lsh create search indices")
    )]
    IndexNotFound {
        /// The relation.
        relation: String,
        /// The name.
        name: String,
        /// Where it stands.
        #[label("no such search index")]
        span: SourceSpan,
    },
    /// The index is being built.
    #[error("the index '{index}' is being built")]
    #[diagnostic(code(eval::search_index_building), help("'::indices' says when it is ready"))]
    Building {
        /// The index.
        index: String,
        /// Where it stands.
        #[label("not ready yet")]
        span: SourceSpan,
    },
    /// A parameter is missing.
    #[error("the search has no parameter '{name}'")]
    #[diagnostic(
        code(parser::hnsw_query_required),
        help("give it after the bar, as in ~rel:index{{column | query: q, k: 10, ef: 50}}; 'ef' is for vectors alone")
    )]
    ParameterMissing {
        /// The parameter.
        name: &'static str,
        /// The search.
        #[label("lacks the parameter")]
        span: SourceSpan,
    },
    /// There is no such parameter.
    #[error("a search in an index of the kind '{kind}' has no parameter '{name}'")]
    #[diagnostic(code(parser::unknown_search_parameter))]
    UnknownParameter {
        /// The name.
        name: String,
        /// The kind of index.
        kind: &'static str,
        /// The nearest names.
        #[help]
        hint: String,
        /// Where it stands.
        #[label("unknown parameter")]
        span: SourceSpan,
    },
    /// `within` is not understood.
    #[error("'within' takes the keys of '{relation}' from a rule or a stored relation")]
    #[diagnostic(
        code(eval::bad_within),
        help(
            "write 'within: rule[{keys}]': each key column once, by its name or by the variable that it binds, and '_' for other \
             columns of the rule; select rows in the rule"
        )
    )]
    Within {
        /// The searched relation.
        relation: String,
        /// Its key columns.
        keys: String,
        /// The argument, or the whole.
        #[label("not understood")]
        span: SourceSpan,
    },
    /// It stands in a negation.
    #[error("a search cannot be negated")]
    #[diagnostic(
        code(eval::negated_search),
        help(
            "search in a rule of its own, and negate that: found[x] := ~r:i{{x | ...}}  ?[x] := *r{{x}}, not found[x]"
        )
    )]
    Negated {
        /// The search.
        #[label("negated")]
        span: SourceSpan,
    },
    /// The expression of the index cannot be evaluated for the rows of its relation.
    #[error("the index '{index}' cannot read the rows of its relation: {reason}")]
    #[diagnostic(code(eval::bad_extractor), help("an index takes values from the columns of its relation alone"))]
    BadExtractor {
        /// The index.
        index: String,
        /// The reason.
        reason: String,
    },
}
