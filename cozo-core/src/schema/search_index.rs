//! Search indices: what finds the rows of a relation by likeness.
//!
//! ```text
//! doc {id => text}          ::fts create doc:words { extractor: text, tokenizer: Simple }
//! doc:words                 listing: {word, src_id => offset_from, offset_to, position, total_length}
//! doc:words:changed         the keys of rows that changed since they were sealed
//! doc:words:segments        sealed segments, as parts of bytes
//! ```
//!
//! What an index of vectors or texts holds follows from the rows of its relation. Sealed segments hold most rows; the rows whose keys are in
//! `changed` are read from the relation itself. An index of near-duplicates consists of ordinary rows: its bands, and its signatures.
//!
//! A listing is the index as scripts read it. The bands of near-duplicates are stored as they are listed; the other listings are
//! made when they are read.

use super::{AccessLevel, BaseType, ColumnDefinition, ColumnType, RelationId, RelationSchema, SchemaRef, Triggers};
use crate::value::{DataValue, SmallStr};

/// A search index of a relation.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct SearchIndex {
    /// Its name, without that of the relation.
    pub name: SmallStr,
    /// What it indexes, and how.
    pub options: SearchOptions,
    /// The index as scripts read it, `relation:name`.
    pub listing: SchemaRef,
    /// The relations that keep it: `changed` and `segments`, or the bands and the signatures.
    pub stored: [SchemaRef; 2],
    /// Whether it can be searched. Not while it is built: writes note what changes already.
    #[serde(default = "yes")]
    pub is_ready: bool,
}

fn yes() -> bool {
    true
}

/// What a search index indexes.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum SearchOptions {
    /// Vectors, to find the nearest (`::hnsw`).
    Vectors(VectorOptions),
    /// Words of texts (`::fts`).
    Text(TextOptions),
    /// Texts and lists, to find near-duplicates (`::lsh`).
    Duplicates(DuplicateOptions),
}

/// The options of an index of vectors.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct VectorOptions {
    /// The number of elements of a vector.
    pub dim: usize,
    /// Whether elements have 64 bits.
    pub wide: bool,
    /// The positions of the columns with vectors.
    pub fields: Vec<usize>,
    /// How far two vectors are from each other.
    pub metric: Metric,
    /// The links of a node on upper layers; layer 0 has twice as many.
    pub m: usize,
    /// The number of candidates for links.
    pub ef_construction: usize,
    /// The text of the expression that tells which rows are indexed.
    pub filter: Option<String>,
    /// Whether the neighbours of candidates are candidates.
    pub extend_candidates: bool,
    /// Whether links are filled up with candidates that were pruned.
    pub keep_pruned_connections: bool,
    /// Whether the index keeps a byte for each element, and distances are computed from the rows.
    #[serde(default)]
    pub int8: bool,
}

/// How far two vectors are from each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum Metric {
    /// The sum of the squares of differences.
    L2,
    /// One less the cosine of the angle.
    Cosine,
    /// One less the inner product.
    InnerProduct,
}

/// The options of an index of texts.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct TextOptions {
    /// The text of the expression for what is indexed of a row.
    pub extractor: String,
    /// How texts are divided.
    pub tokenizer: AnalyzerPart,
    /// What is done to the tokens, in order.
    pub filters: Vec<AnalyzerPart>,
}

/// The options of an index of near-duplicates. Similarities are in millionths, so that the options can be compared.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct DuplicateOptions {
    /// How a row becomes a text or a list; lists need no tokenizer.
    pub text: TextOptions,
    /// The tokens of a shingle.
    pub n_gram: usize,
    /// The hash functions asked for.
    pub n_perm: usize,
    /// The similarity from which rows should be found, in millionths.
    pub threshold_millionths: u32,
    /// The bands of a signature.
    pub bands: usize,
    /// The hashes of a band.
    pub rows: usize,
}

/// A tokenizer or a filter of tokens.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct AnalyzerPart {
    /// Its name.
    pub name: String,
    /// Its arguments.
    pub args: Vec<DataValue>,
}

impl SearchOptions {
    /// The kind, as `::indices` shows it.
    pub fn kind(&self) -> &'static str {
        match self {
            SearchOptions::Vectors(_) => "hnsw",
            SearchOptions::Text(_) => "fts",
            SearchOptions::Duplicates(_) => "lsh",
        }
    }
}

impl SearchIndex {
    /// An index of `relation`. `id` gives the identities of its relations.
    pub fn new(
        relation: &RelationSchema,
        name: &SmallStr,
        options: SearchOptions,
        mut id: impl FnMut() -> RelationId,
    ) -> Self {
        let mut make = |suffix: &str, keys, values| {
            SchemaRef::new(RelationSchema {
                id: id(),
                name: SmallStr::from(format!("{}:{name}{suffix}", relation.name)),
                keys,
                values,
                // An index can be read like its relation, but never written by scripts.
                access_level: relation.access_level.min(AccessLevel::ReadOnly),
                description: String::new(),
                triggers: Triggers::default(),
                indices: vec![],
                searches: vec![],
            })
        };
        let (listing, stored) = match &options {
            SearchOptions::Duplicates(_) => {
                let keys = std::iter::once(column("hash", BaseType::Bytes)).chain(source_keys(relation, "src_"));
                let bands = make("", keys.collect(), vec![]);
                let signatures = make(":inv", relation.keys.clone(), vec![column("minhash", BaseType::Bytes)]);
                (bands.clone(), [bands, signatures])
            }
            other => {
                let (keys, values) = if let SearchOptions::Text(_) = other {
                    listing_of_words(relation)
                } else {
                    listing_of_links(relation)
                };
                let listing = make("", keys, values);
                let changed = make(":changed", relation.keys.clone(), vec![]);
                let place = ["segment", "part"].map(|name| column(name, BaseType::Int));
                (listing, [changed, make(":segments", place.to_vec(), vec![column("bytes", BaseType::Bytes)])])
            }
        };
        SearchIndex { name: name.clone(), options, listing, stored, is_ready: true }
    }

    /// The same index for a relation that has been renamed, or whose access has changed.
    pub(super) fn remade(&self, relation: &RelationSchema) -> Self {
        let mut ids = vec![self.stored[1].id, self.stored[0].id];
        if !self.is_listed_as_stored() {
            ids.push(self.listing.id);
        }
        let id = || ids.pop().expect("one for each relation");
        SearchIndex { is_ready: self.is_ready, ..SearchIndex::new(relation, &self.name, self.options.clone(), id) }
    }

    /// The same index with new identities.
    pub fn with_ids(&self, relation: &RelationSchema, id: impl FnMut() -> RelationId) -> Self {
        SearchIndex::new(relation, &self.name, self.options.clone(), id)
    }

    /// Whether the rows that scripts read are stored.
    pub fn is_listed_as_stored(&self) -> bool {
        matches!(self.options, SearchOptions::Duplicates(_))
    }

    /// The relations that scripts can read.
    pub fn readable(&self) -> impl Iterator<Item = &SchemaRef> {
        let signatures = self.is_listed_as_stored().then_some(&self.stored[1]);
        std::iter::once(&self.listing).chain(signatures)
    }
}

fn column(name: &str, base: BaseType) -> ColumnDefinition {
    ColumnDefinition { name: name.into(), column_type: ColumnType { base, nullable: false }, default: None }
}

fn nullable(mut column: ColumnDefinition) -> ColumnDefinition {
    column.column_type.nullable = true;
    column
}

/// The key columns of a relation with other names.
fn source_keys(relation: &RelationSchema, prefix: &str) -> Vec<ColumnDefinition> {
    let renamed = |key: &ColumnDefinition| ColumnDefinition {
        name: SmallStr::from(format!("{prefix}{}", key.name)),
        column_type: key.column_type.clone(),
        default: None,
    };
    relation.keys.iter().map(renamed).collect()
}

/// The columns of an index of texts: a row for each word of a row.
fn listing_of_words(relation: &RelationSchema) -> (Vec<ColumnDefinition>, Vec<ColumnDefinition>) {
    let keys = std::iter::once(column("word", BaseType::String)).chain(source_keys(relation, "src_"));
    let int = ColumnType { base: BaseType::Int, nullable: false };
    let list = |name| column(name, BaseType::List(Box::new(int.clone()), None));
    let values = vec![list("offset_from"), list("offset_to"), list("position"), column("total_length", BaseType::Int)];
    (keys.collect(), values)
}

/// The columns of an index of vectors: a row for each node and for each link.
fn listing_of_links(relation: &RelationSchema) -> (Vec<ColumnDefinition>, Vec<ColumnDefinition>) {
    let mut keys = vec![column("layer", BaseType::Int)];
    for (end, field, element) in [("fr_", "fr__field", "fr__sub_idx"), ("to_", "to__field", "to__sub_idx")] {
        keys.extend(source_keys(relation, end).into_iter().map(nullable));
        keys.extend([field, element].map(|name| nullable(column(name, BaseType::Int))));
    }
    let hash = nullable(column("hash", BaseType::Bytes));
    (keys, vec![column("dist", BaseType::Float), hash, column("ignore_link", BaseType::Bool)])
}
