//! `::hnsw create`, `::fts create`, `::lsh create`, `::reindex` of these, and what `::indices` shows of search indices.
//!
//! The options of an index are read first, so that a wrong one changes nothing. An index that is created by itself is built while others
//! read and write its relation ([`online`](super::online)). In a script with other statements it is built within the script's
//! transaction, which then conflicts with writers of the relation.

use serde_json::{Value, json};

use super::index_error::IndexError;
use super::online::create_online;
use super::options::{OptionReader, Written};
use super::shared::{count, find_for};
use crate::index::search::{self, SearchStatistics};
use crate::parse::ast::{Expr, SearchIndexKind, Symbol};
use crate::program::extractor;
use crate::schema::{
    AccessLevel, AnalyzerPart, BaseType, DuplicateOptions, Metric, RelationSchema, SchemaRef, SearchIndex,
    SearchOptions, TextOptions, VectorOptions,
};
use crate::session::results::NamedRows;
use crate::session::run::ScriptContext;
use crate::storage::Snapshot;
use crate::text::LshParameters;
use crate::txn::Transaction;
use crate::value::{DataValue, JsonData};

/// `::hnsw|fts|lsh create rel:name {options}`
pub fn create(
    kind: SearchIndexKind,
    relation: &Symbol,
    name: &Symbol,
    options: &[(Symbol, Expr)],
    txn: &mut Transaction,
    context: &ScriptContext<'_>,
) -> miette::Result<NamedRows> {
    let schema = find_for("indexed", AccessLevel::Protected, relation, txn)?;
    if schema.index(&name.name).is_some() || schema.search(&name.name).is_some() {
        let (relation, name, span) = (schema.name.to_string(), name.name.to_string(), name.span);
        return Err(IndexError::Exists { relation, name, span }.into());
    }
    let mut reader = OptionReader::new(options, name.span, context);
    let options = match kind {
        SearchIndexKind::Hnsw => SearchOptions::Vectors(vectors(&mut reader, &schema)?),
        SearchIndexKind::Fts => SearchOptions::Text(texts(&mut reader, &schema, true)?),
        SearchIndexKind::Lsh => SearchOptions::Duplicates(duplicates(&mut reader, &schema)?),
    };
    reader.finish()?;
    let budget = context.core.budget(context.interrupt, 0.0);
    let _entered = budget.enter();
    if context.is_alone {
        return create_online(&schema.name, &name.name, options, context);
    }
    let index = txn.create_search(&schema, &name.name, options);
    let extractor = extractor(&schema, &index)?;
    search::build(&schema, &index, &extractor, txn)?;
    Ok(NamedRows::status("OK"))
}

/// `::reindex rel:name` of a search index. One of vectors or texts is made anew in a transaction of its own, after which every search has
/// the same answers.
pub fn renew(
    schema: &SchemaRef,
    index: &SearchIndex,
    txn: &mut Transaction,
    context: &ScriptContext<'_>,
) -> miette::Result<()> {
    if !index.is_ready {
        return Err(IndexError::Building { name: index.name.to_string() }.into());
    }
    let budget = context.core.budget(context.interrupt, 0.0);
    let _entered = budget.enter();
    if !matches!(index.options, SearchOptions::Duplicates(_)) {
        return Ok(context.core.sealer.renew(&schema.name, &index.name)?);
    }
    txn.drop_search(schema, index);
    let Some(schema) = txn.catalog().find(&schema.name).cloned() else { return Ok(()) };
    let index = txn.create_search(&schema, &index.name, index.options.clone());
    let extractor = extractor(&schema, &index)?;
    Ok(search::build(&schema, &index, &extractor, txn)?)
}

/// The options of an index of vectors.
fn vectors(reader: &mut OptionReader<'_>, schema: &RelationSchema) -> miette::Result<VectorOptions> {
    let dim = reader.needed(&["dim"])?.positive()?;
    let wide = match reader.optional(&["dtype"]) {
        None => false,
        Some(written) => written.one_of(&[("F32", false), ("Float", false), ("F64", true), ("Double", true)])?,
    };
    let fields = vector_columns(&reader.needed(&["fields"])?, schema, dim, wide)?;
    let metrics = [
        ("L2", Metric::L2),
        ("Cosine", Metric::Cosine),
        ("IP", Metric::InnerProduct),
        ("InnerProduct", Metric::InnerProduct),
    ];
    let metric = reader.optional(&["distance", "dist"]).map_or(Ok(Metric::L2), |written| written.one_of(&metrics))?;
    let m = reader.needed(&["m", "m_neighbours"])?.positive()?;
    let ef_construction = reader.needed(&["ef_construction", "ef"])?.positive()?;
    let filter = reader.optional(&["filter"]).map(|written| written.over_columns(schema)).transpose()?;
    let mut truth = |name| reader.optional(&[name]).map_or(Ok(false), |written: Written<'_>| written.truth());
    let extend_candidates = truth("extend_candidates")?;
    let keep_pruned_connections = truth("keep_pruned_connections")?;
    let kinds = [("none", false), ("int8", true)];
    let int8 = reader.optional(&["quantization"]).map_or(Ok(false), |written| written.one_of(&kinds))?;
    Ok(VectorOptions {
        dim,
        wide,
        fields,
        metric,
        m,
        ef_construction,
        filter,
        extend_candidates,
        keep_pruned_connections,
        int8,
    })
}

/// The positions of the columns with vectors of this kind.
fn vector_columns(fields: &Written<'_>, schema: &RelationSchema, dim: usize, wide: bool) -> miette::Result<Vec<usize>> {
    let mut positions = vec![];
    for field in fields.names()? {
        let position = schema.column_index(&field.name);
        let column = position.and_then(|position| schema.columns().nth(position));
        let Some((position, column)) = position.zip(column) else {
            let (relation, name, span) = (schema.name.to_string(), field.name.to_string(), field.span);
            return Err(IndexError::ColumnNotFound { relation, name, span }.into());
        };
        let element = match &column.column_type.base {
            BaseType::List(element, _) => &element.base,
            base => base,
        };
        if *element != (BaseType::Vector { wide, len: dim }) {
            let width = if wide { 64 } else { 32 };
            let wanted = format!("<F{width}; {dim}> or [<F{width}; {dim}>]");
            let (name, found) = (field.name.to_string(), column.column_type.to_string());
            return Err(IndexError::NoVectorColumn { name, found, wanted, span: field.span }.into());
        }
        positions.push(position);
    }
    Ok(positions)
}

/// The options of an index of texts, or the part of them that an index of near-duplicates has too.
fn texts(reader: &mut OptionReader<'_>, schema: &RelationSchema, needs_tokenizer: bool) -> miette::Result<TextOptions> {
    let extractor = reader.needed(&["extractor"])?.over_columns(schema)?;
    let extractor = match reader.optional(&["extract_filter"]) {
        None => extractor,
        Some(filter) => format!("if({}, {extractor})", filter.over_columns(schema)?),
    };
    let tokenizer = match needs_tokenizer {
        true => Some(reader.needed(&["tokenizer"])?),
        false => reader.optional(&["tokenizer"]),
    };
    let plain = AnalyzerPart { name: "Simple".into(), args: vec![] };
    let tokenizer = tokenizer.map_or(Ok(plain), |written| written.part())?;
    let filters = reader.optional(&["filters"]).map_or(Ok(vec![]), |written| written.parts())?;
    reader.check_analyzer(&tokenizer, &filters)?;
    Ok(TextOptions { extractor, tokenizer, filters })
}

/// The options of an index of near-duplicates.
fn duplicates(reader: &mut OptionReader<'_>, schema: &RelationSchema) -> miette::Result<DuplicateOptions> {
    let text = texts(reader, schema, false)?;
    let n_gram = reader.optional(&["n_gram"]).map_or(Ok(1), |written| written.positive())?;
    let n_perm = reader.optional(&["n_perm"]).map_or(Ok(200), |written| written.positive())?;
    let mut number =
        |name, default| reader.optional(&[name]).map_or(Ok(default), |written: Written<'_>| written.number());
    let threshold = number("target_threshold", 0.9)?;
    let weights = [number("false_positive_weight", 1.0)?, number("false_negative_weight", 1.0)?];
    let LshParameters { bands, rows } = LshParameters::choose(n_perm, threshold, weights[0], weights[1])?;
    let threshold_millionths = (threshold * 1e6).round() as u32;
    Ok(DuplicateOptions { text, n_gram, n_perm, threshold_millionths, bands, rows })
}

/// The row of `::indices`.
pub fn row(index: &SearchIndex, snapshot: &dyn Snapshot) -> miette::Result<Vec<DataValue>> {
    let mut config = config(&index.options);
    if let (false, Value::Object(entries)) = (index.is_listed_as_stored(), &mut config) {
        let held = SearchStatistics::of(index, snapshot)?;
        entries.insert("ready".into(), index.is_ready.into());
        entries.insert("segments".into(), held.segments.into());
        entries.insert("sealed_rows".into(), held.sealed.into());
        entries.insert("dead_rows".into(), held.dead.into());
        entries.insert("tail_rows".into(), held.tail.into());
        entries.insert("bytes".into(), held.bytes.into());
    }
    let relations = index.readable().map(|schema| DataValue::from(schema.name.as_str())).collect();
    let (name, kind) = (index.name.as_str().into(), index.options.kind().into());
    Ok(vec![name, kind, DataValue::List(relations), DataValue::Json(JsonData(config))])
}

/// The options as `::indices` shows them.
fn config(options: &SearchOptions) -> Value {
    let part = |part: &AnalyzerPart| {
        let args: Vec<Value> = part.args.iter().map(|arg| Value::from(arg.clone())).collect();
        json!({ "name": part.name, "args": args })
    };
    let filters = |text: &TextOptions| text.filters.iter().map(part).collect::<Vec<_>>();
    match options {
        SearchOptions::Vectors(options) => json!({
            "vec_dim": options.dim,
            "dtype": if options.wide { "F64" } else { "F32" },
            "vec_fields": options.fields,
            "distance": format!("{:?}", options.metric),
            "ef_construction": options.ef_construction,
            "m_neighbours": options.m,
            "m_max": options.m,
            "m_max0": 2 * options.m,
            "level_multiplier": 1.0 / (options.m as f64).ln(),
            "index_filter": options.filter,
            "extend_candidates": options.extend_candidates,
            "keep_pruned_connections": options.keep_pruned_connections,
            "quantization": if options.int8 { "int8" } else { "none" },
        }),
        SearchOptions::Text(text) => json!({
            "extractor": text.extractor,
            "tokenizer": part(&text.tokenizer),
            "tokenizer_filters": filters(text),
        }),
        SearchOptions::Duplicates(options) => json!({
            "extractor": options.text.extractor,
            "tokenizer": part(&options.text.tokenizer),
            "tokenizer_filters": filters(&options.text),
            "n_gram": options.n_gram,
            "num_perm": options.bands * options.rows,
            "n_bands": options.bands,
            "n_rows_in_band": options.rows,
            "threshold": f64::from(options.threshold_millionths) / 1e6,
        }),
    }
}

/// The rows of `::relations` for an index.
pub fn relation_rows(index: &SearchIndex) -> impl Iterator<Item = Vec<DataValue>> + '_ {
    index.readable().map(relation_row)
}

fn relation_row(schema: &SchemaRef) -> Vec<DataValue> {
    let mut row = vec![schema.name.as_str().into(), count(schema.arity()), "index".into(), count(schema.keys.len())];
    row.extend([count(schema.values.len()), count(0), count(0), count(0), "".into()]);
    row
}
