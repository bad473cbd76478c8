//! The parameters of searches in indices.
//!
//! [`SEARCH_PARAMETERS`] has all that is known about each: which indices have it, what becomes of it, and its documentation. The resolver,
//! error messages and completion read the same entries.

use super::search_error::SearchError;
use crate::diag::nearest;
use crate::index::search::SearchColumn;
use crate::parse::ast::Symbol;

/// A parameter of a search.
pub struct SearchParameter {
    /// The word before the colon.
    pub name: &'static str,
    /// What it does.
    pub doc: &'static str,
    /// The kinds of indices whose searches have it.
    kinds: &'static [&'static str],
    pub(super) role: Role,
}

/// What becomes of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// It has a place of its own in a search.
    Part,
    /// It is an expression without variables.
    Constant,
    /// It binds something that was found.
    Binds(SearchColumn),
}

const ALL: &[&str] = &["hnsw", "fts", "lsh"];
const VECTORS: &[&str] = &["hnsw"];
const TEXTS: &[&str] = &["fts"];
const DUPLICATES: &[&str] = &["lsh"];

const fn part(name: &'static str, doc: &'static str) -> SearchParameter {
    SearchParameter { name, doc, kinds: ALL, role: Role::Part }
}

const fn constant(name: &'static str, kinds: &'static [&'static str], doc: &'static str) -> SearchParameter {
    SearchParameter { name, doc, kinds, role: Role::Constant }
}

const fn binds(
    name: &'static str,
    kinds: &'static [&'static str],
    column: SearchColumn,
    doc: &'static str,
) -> SearchParameter {
    SearchParameter { name, doc, kinds, role: Role::Binds(column) }
}

/// All parameters.
pub const SEARCH_PARAMETERS: &[SearchParameter] = &[
    part("query", "what is searched for: a vector, a text query, or a text or list like others"),
    part("filter", "what must hold of a row: an expression over columns of the relation and bound variables"),
    part("within", "a rule or a relation with the keys of the rows among which to search"),
    constant("k", ALL, "the most rows for each query"),
    constant("ef", VECTORS, "the candidates of a search: more find better rows and take longer"),
    constant("radius", VECTORS, "the greatest distance"),
    binds("bind_distance", VECTORS, SearchColumn::Distance, "the distance"),
    binds("bind_vector", VECTORS, SearchColumn::Vector, "the vector that was found"),
    binds("bind_field", VECTORS, SearchColumn::Field, "the name of the column with the vector"),
    binds("bind_field_idx", VECTORS, SearchColumn::FieldIndex, "the place of the vector in a list"),
    constant("score_kind", TEXTS, "'tf_idf', 'tf' or 'bm25'"),
    constant("k1", TEXTS, "how much a word counts that occurs again, for 'bm25'"),
    constant("b", TEXTS, "how much the length of a text counts, for 'bm25'"),
    constant("exact_phrases", TEXTS, "whether the words of a phrase must follow one another"),
    constant("prefix_analyzed", TEXTS, "whether beginnings of words go through the filters of the index"),
    binds("bind_score", TEXTS, SearchColumn::Score, "the score"),
    binds("bind_spans", TEXTS, SearchColumn::Spans, "the places of the words that were found"),
    constant("min_similarity", DUPLICATES, "the least estimated similarity, from 0 to 1"),
    binds("bind_similarity", DUPLICATES, SearchColumn::Similarity, "the estimated similarity"),
];

/// The parameters without which a search in an index of this kind has no meaning.
pub(super) fn needed(kind: &str) -> &'static [&'static str] {
    match kind {
        "hnsw" => &["query", "k", "ef"],
        "fts" => &["query", "k"],
        _ => &["query"],
    }
}

/// The parameters of searches in indices of this kind.
pub(super) fn of_kind(kind: &str) -> impl Iterator<Item = &'static SearchParameter> {
    SEARCH_PARAMETERS.iter().filter(move |parameter| parameter.kinds.contains(&kind))
}

/// The role of a parameter.
pub(super) fn role(name: &Symbol, kind: &'static str) -> Result<Role, SearchError> {
    if let Some(parameter) = of_kind(kind).find(|parameter| parameter.name == name.name) {
        return Ok(parameter.role);
    }
    let names: Vec<&str> = of_kind(kind).map(|parameter| parameter.name).collect();
    let hint = match nearest(&name.name, &names) {
        Some(meant) => format!("did you mean '{meant}'?"),
        None => format!("a search in an index of this kind has the parameters {}", names.join(", ")),
    };
    Err(SearchError::UnknownParameter { name: name.to_string(), kind, hint, span: name.span })
}
