//! The scripts that make the indices and triggers of a relation, for exports.
//!
//! ```text
//! ::index create user:place {city, uid}
//! ::fts create doc:words {extractor: text, tokenizer: Simple, filters: [Lowercase]}
//! ::set_triggers user on put { ?[a] := _new[a, b] :put log {a} }
//! ```

use std::fmt::Write;

use super::{
    AnalyzerPart, DuplicateOptions, IndexDefinition, Metric, RelationSchema, SearchOptions, TextOptions, VectorOptions,
};
use crate::text::LshParameters;

impl RelationSchema {
    /// A script for each index of the relation, which makes the same index.
    pub fn index_scripts(&self) -> Vec<String> {
        let ordinary = |index: &IndexDefinition| {
            format!("::index create {}:{} {{{}}}", self.name, index.name, self.names(&index.columns))
        };
        let indices = self.indices.iter().map(ordinary);
        let searches = self.searches.iter().map(|search| {
            let options = match &search.options {
                SearchOptions::Vectors(options) => self.vectors(options),
                SearchOptions::Text(options) => text(options),
                SearchOptions::Duplicates(options) => duplicates(options),
            };
            format!("::{} create {}:{} {{{options}}}", search.options.kind(), self.name, search.name)
        });
        indices.chain(searches).collect()
    }

    /// The script that sets the triggers of the relation, if it has any.
    pub fn trigger_script(&self) -> Option<String> {
        let mut script = String::new();
        let events = [("put", &self.triggers.put), ("rm", &self.triggers.rm), ("replace", &self.triggers.replace)];
        for (event, queries) in events {
            for query in queries {
                // A comment at the end would take the brace for its own.
                let is_open = query.lines().last().is_some_and(|line| line.contains('#')) && !query.ends_with('\n');
                let _ = write!(script, " on {event} {{ {query}{}}}", if is_open { "\n" } else { "" });
            }
        }
        (!script.is_empty()).then(|| format!("::set_triggers {}{script}", self.name))
    }

    /// The names of the columns at these positions.
    fn names(&self, positions: &[usize]) -> String {
        let names: Vec<&str> = self.columns().map(|column| column.name.as_str()).collect();
        positions.iter().filter_map(|position| names.get(*position).copied()).collect::<Vec<_>>().join(", ")
    }

    fn vectors(&self, options: &VectorOptions) -> String {
        let distance = match options.metric {
            Metric::L2 => "L2",
            Metric::Cosine => "Cosine",
            Metric::InnerProduct => "IP",
        };
        let width = if options.wide { "F64" } else { "F32" };
        let mut text = format!(
            "dim: {}, dtype: {width}, fields: [{}], distance: {distance}, m: {}, ef_construction: {}",
            options.dim,
            self.names(&options.fields),
            options.m,
            options.ef_construction,
        );
        let _ = write!(text, ", extend_candidates: {}", options.extend_candidates);
        let _ = write!(text, ", keep_pruned_connections: {}", options.keep_pruned_connections);
        if let Some(filter) = &options.filter {
            let _ = write!(text, ", filter: {filter}");
        }
        text + if options.int8 { ", quantization: int8" } else { "" }
    }
}

fn text(options: &TextOptions) -> String {
    let filters: Vec<String> = options.filters.iter().map(part).collect();
    let (extractor, tokenizer) = (&options.extractor, part(&options.tokenizer));
    format!("extractor: {extractor}, tokenizer: {tokenizer}, filters: [{}]", filters.join(", "))
}

fn part(part: &AnalyzerPart) -> String {
    let arguments: Vec<String> = part.args.iter().map(ToString::to_string).collect();
    if arguments.is_empty() { part.name.clone() } else { format!("{}({})", part.name, arguments.join(", ")) }
}

/// The options keep the bands that follow from the weights, and not the weights. So weights are found that give these bands.
fn duplicates(options: &DuplicateOptions) -> String {
    let threshold = f64::from(options.threshold_millionths) / 1e6;
    let bands = LshParameters { bands: options.bands, rows: options.rows };
    let weights = bands.weights(options.n_perm, threshold).unwrap_or([1.0, 1.0]);
    format!(
        "{}, n_gram: {}, n_perm: {}, target_threshold: {threshold:?}, false_positive_weight: {:?}, \
         false_negative_weight: {:?}",
        text(&options.text),
        options.n_gram,
        options.n_perm,
        weights[0],
        weights[1],
    )
}
