//! Definitions of search indices, as they are stored.

use serde::Deserialize;
use serde::de::IgnoredAny;

use super::LegacyRelation;
use super::handle::ElementWidth;
use super::value::values;
use crate::schema::{AnalyzerPart, DuplicateOptions, Metric, SearchOptions, TextOptions, VectorOptions};
use crate::value::{DataValue, SmallStr};

/// A search index of a relation.
#[derive(Clone, Debug)]
pub struct SearchIndex {
    /// Its name, without that of the relation.
    pub name: SmallStr,
    /// What it is made of.
    pub definition: SearchDefinition,
    /// The relations that keep it in the file; they may have kept the relation's name of old.
    pub(super) relations: Vec<SmallStr>,
}

/// A search index by kind.
#[derive(Clone, Debug)]
pub enum SearchDefinition {
    /// Proximity of vectors.
    Hnsw(HnswIndex),
    /// Words of texts.
    Fts(FtsIndex),
    /// Likeness of texts.
    Lsh(LshIndex),
}

impl SearchDefinition {
    /// The name of the kind, as `::indices` shows it.
    pub fn kind(&self) -> &'static str {
        match self {
            SearchDefinition::Hnsw(_) => "hnsw",
            SearchDefinition::Fts(_) => "fts",
            SearchDefinition::Lsh(_) => "lsh",
        }
    }

    /// The text of the expression that it is made with: what it indexes, for HNSW which rows it indexes.
    pub fn expression(&self) -> Option<&str> {
        match self {
            SearchDefinition::Hnsw(index) => index.filter.as_deref(),
            SearchDefinition::Fts(index) => Some(&index.extractor),
            SearchDefinition::Lsh(index) => Some(&index.extractor),
        }
    }
}

/// How far two vectors are from each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub enum Distance {
    /// The squared Euclidean distance.
    L2,
    /// One less the inner product; `IP` in scripts.
    InnerProduct,
    /// One less the cosine of the angle.
    Cosine,
}

/// The parameters of an HNSW index.
#[derive(Clone, Debug, Deserialize)]
pub struct HnswIndex {
    #[serde(rename = "base_relation")]
    _relation: IgnoredAny,
    #[serde(rename = "index_name")]
    _name: IgnoredAny,
    /// The number of elements of a vector.
    #[serde(rename = "vec_dim")]
    pub dimension: usize,
    /// The type of the elements.
    #[serde(rename = "dtype")]
    pub width: ElementWidth,
    /// The positions of the columns with vectors, keys first.
    #[serde(rename = "vec_fields")]
    pub columns: Vec<usize>,
    /// How far two vectors are from each other.
    pub distance: Distance,
    /// How many candidates are looked at when a vector is added.
    pub ef_construction: usize,
    /// How many neighbours a new vector gets.
    pub m_neighbours: usize,
    /// How many neighbours a vector has at most.
    pub m_max: usize,
    /// The same in the lowest layer.
    pub m_max0: usize,
    /// What the layers of new vectors are drawn with.
    pub level_multiplier: f64,
    /// Which rows are indexed, as the user wrote it.
    #[serde(rename = "index_filter")]
    pub filter: Option<String>,
    /// Whether neighbours of candidates are candidates.
    pub extend_candidates: bool,
    /// Whether neighbours that were discarded fill up what is missing.
    pub keep_pruned_connections: bool,
}

/// A tokenizer, or a filter of tokens.
#[derive(Clone, Debug, Deserialize)]
pub struct TokenStep {
    /// Its name.
    pub name: String,
    /// Its arguments.
    #[serde(default, deserialize_with = "values")]
    pub args: Vec<DataValue>,
}

/// The parameters of a full-text index.
#[derive(Clone, Debug, Deserialize)]
pub struct FtsIndex {
    #[serde(rename = "base_relation")]
    _relation: IgnoredAny,
    #[serde(rename = "index_name")]
    _name: IgnoredAny,
    /// The expression whose value is indexed, as CozoScript; rows where it is null are not.
    pub extractor: String,
    /// What divides text into tokens.
    pub tokenizer: TokenStep,
    /// What happens to the tokens.
    pub filters: Vec<TokenStep>,
}

/// The parameters of an LSH index.
#[derive(Clone, Debug, Deserialize)]
pub struct LshIndex {
    #[serde(rename = "base_relation")]
    _relation: IgnoredAny,
    #[serde(rename = "index_name")]
    _name: IgnoredAny,
    /// The expression whose value is indexed, as CozoScript; rows where it is null are not.
    pub extractor: String,
    /// How many tokens make a feature.
    pub n_gram: usize,
    /// What divides text into tokens.
    pub tokenizer: TokenStep,
    /// What happens to the tokens.
    pub filters: Vec<TokenStep>,
    /// The number of permutations: `n_bands * n_rows_in_band`.
    pub num_perm: usize,
    /// The number of bands.
    pub n_bands: usize,
    /// The number of rows in a band.
    pub n_rows_in_band: usize,
    /// From which likeness on two rows should be found together.
    pub threshold: f64,
    #[serde(rename = "perms", default = "nothing")]
    _permutations: IgnoredAny,
}

impl LegacyRelation {
    /// The search indices that its own become.
    pub fn searches(&self) -> Vec<(SmallStr, SearchOptions)> {
        self.search_indices.iter().map(|index| (index.name.clone(), index.definition.options())).collect()
    }
}

impl SearchDefinition {
    fn options(&self) -> SearchOptions {
        match self {
            SearchDefinition::Hnsw(index) => SearchOptions::Vectors(index.options()),
            SearchDefinition::Fts(index) => {
                SearchOptions::Text(text_options(&index.extractor, &index.tokenizer, &index.filters))
            }
            SearchDefinition::Lsh(index) => SearchOptions::Duplicates(DuplicateOptions {
                text: text_options(&index.extractor, &index.tokenizer, &index.filters),
                n_gram: index.n_gram,
                n_perm: index.num_perm,
                threshold_millionths: (index.threshold * 1e6).round() as u32,
                bands: index.n_bands,
                rows: index.n_rows_in_band,
            }),
        }
    }
}

impl HnswIndex {
    fn options(&self) -> VectorOptions {
        VectorOptions {
            dim: self.dimension,
            wide: matches!(self.width, ElementWidth::F64),
            fields: self.columns.clone(),
            metric: match self.distance {
                Distance::L2 => Metric::L2,
                Distance::InnerProduct => Metric::InnerProduct,
                Distance::Cosine => Metric::Cosine,
            },
            m: self.m_neighbours,
            ef_construction: self.ef_construction,
            filter: self.filter.clone(),
            extend_candidates: self.extend_candidates,
            keep_pruned_connections: self.keep_pruned_connections,
            int8: false,
        }
    }
}

fn text_options(extractor: &str, tokenizer: &TokenStep, filters: &[TokenStep]) -> TextOptions {
    let part = |step: &TokenStep| AnalyzerPart { name: step.name.clone(), args: step.args.clone() };
    TextOptions {
        extractor: extractor.to_string(),
        tokenizer: part(tokenizer),
        filters: filters.iter().map(part).collect(),
    }
}

fn nothing() -> IgnoredAny {
    IgnoredAny
}
