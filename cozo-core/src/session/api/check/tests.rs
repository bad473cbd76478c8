//! Search indices whose stored bytes are damaged, or that hold something else than their relations.
//!
//! Segments are in relations that no script reaches, so the tests write to them as the pipeline does.

#![allow(clippy::unwrap_used)]

use std::collections::BTreeSet;
use std::path::Path;

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use crate::index::search::{Indexed, Manifest, prepare};
use crate::program::extractor;
use crate::schema::{SchemaRef, SearchIndex};
use crate::session::DbInstance;
use crate::storage::{ChangeKind, KeyRange};
use crate::txn::Transaction;
use crate::value::{Batch, Column, DataValue};

/// The engines that keep bytes. Without a cache each search reads them.
const ENGINES: &[&str] = &[
    "sqlite",
    #[cfg(feature = "storage-rocksdb")]
    "rocksdb",
];

const UNCACHED: &str = r#"{"cache_mb": 0}"#;

/// Few vectors, so that searches compare all, and answers do not depend on a graph.
const ROWS: i64 = 600;

const NEAR: &str = "::hnsw create d:near {dim: 2, fields: [v], m: 8, ef_construction: 20}";
const WORDS: &str = "::fts create d:words {extractor: t, tokenizer: Simple}";

/// How many bits are flipped in each blob, one after the other.
const FLIPS: usize = 5;

fn rows(db: &DbInstance, script: &str) -> Vec<Vec<DataValue>> {
    db.run_default(script).unwrap_or_else(|error| panic!("{error:?}\n{script}")).rows
}

fn open(engine: &str, folder: &Path, options: &str) -> DbInstance {
    DbInstance::new(engine, folder.join(engine), options).unwrap()
}

/// A relation with indices of two segments each, the first with deletions, and some rows in the tail.
fn documents(db: &DbInstance) {
    rows(db, ":create d {id: Int => t: String, v: <F32; 2>}");
    put(db, 0..ROWS, 0);
    rows(db, NEAR);
    rows(db, WORDS);
    put(db, 0..30, 1000);
    seal(db);
    put(db, 40..45, 2000);
}

/// Puts rows, each with a word of its own and one that all have.
fn put(db: &DbInstance, ids: std::ops::Range<i64>, add: i64) {
    let script = format!(
        "?[id, t, v] := id in int_range({}, {}), n = id + {add}, t = 'w' ++ to_string(n) ++ ' all', v = [n % 50, n / 50]
         :put d {{id => t, v}}",
        ids.start, ids.end
    );
    rows(db, &script);
}

fn seal(db: &DbInstance) {
    for index in ["near", "words"] {
        db.core().unwrap().sealer.seal_index("d", index).unwrap();
    }
}

/// What searches find.
fn answers(db: &DbInstance) -> Vec<Vec<Vec<DataValue>>> {
    let near = ["[3, 4]", "[20.5, 1]", "[49, 30]"].map(|query| {
        format!("?[x, id] := ~d:near{{id | query: vec({query}), k: 9, ef: 40, bind_distance: x}} :order x, id")
    });
    let words = ["w7", "w1007", "w41", "w2041", "w599 OR w1003"].map(|query| {
        format!("?[x, id] := ~d:words{{id | query: '{query}', k: 9, score_kind: 'bm25', bind_score: x}} :order x, id")
    });
    let all = "?[count(id)] := ~d:words{id | query: 'all', k: 2000}".to_string();
    near.iter().chain(&words).chain([&all]).map(|script| rows(db, script)).collect()
}

/// The relation `d` and one of its indices, in a transaction.
fn begin(db: &DbInstance, index: &str) -> (Transaction, SchemaRef, SearchIndex) {
    let txn = Transaction::begin_held(db.pipeline().unwrap(), true);
    let schema = txn.catalog().find("d").unwrap().clone();
    let index = schema.search(index).unwrap().clone();
    (txn, schema, index)
}

/// Commits what derives from rows: as far as the pipeline knows, from the first one.
fn commit(mut txn: Transaction, schema: &SchemaRef) {
    txn.rely_on(schema, &Batch { columns: vec![Column::ints(vec![0])], len: 1 }.into()).expect("it hashes");
    txn.commit().unwrap();
}

/// A part of a blob as it is stored; blob 0 is the manifest.
#[derive(Clone, Debug, PartialEq)]
struct StoredPart {
    blob: i64,
    part: i64,
    bytes: Vec<u8>,
}

/// All that an index has stored about its segments.
fn parts(db: &DbInstance, index: &str) -> Vec<StoredPart> {
    let (mut txn, schema, index) = begin(db, index);
    let view = txn.view(&[schema.id]).unwrap();
    let mut cursor = view.of(schema.id).scan(index.stored[1].id, &KeyRange::all(), &[0, 1, 2], None).unwrap();
    let mut parts = vec![];
    while let Some(batch) = cursor.next_batch(16).unwrap() {
        for row in 0..batch.len {
            let [blob, part] = [0, 1].map(|column| batch.columns[column].get(row).get_int().unwrap());
            parts.push(StoredPart { blob, part, bytes: batch.columns[2].get(row).get_bytes().unwrap().to_vec() });
        }
    }
    parts
}

/// Stores a part, or removes it.
fn write(db: &DbInstance, index: &str, kind: ChangeKind, part: &StoredPart) {
    let (mut txn, schema, index) = begin(db, index);
    let mut columns = vec![Column::ints(vec![part.blob]), Column::ints(vec![part.part])];
    if kind == ChangeKind::Put {
        columns.push(Column::Any(vec![DataValue::Bytes(part.bytes.clone())]));
    }
    txn.write_derived(&index.stored[1], kind, Batch { columns, len: 1 });
    commit(txn, &schema);
}

/// What may become of a part: bits change, its end is missing, or all of it.
fn damages(part: &StoredPart, random: &mut StdRng) -> Vec<Option<StoredPart>> {
    let mut all = vec![None, Some(StoredPart { bytes: part.bytes[..part.bytes.len() / 2].to_vec(), ..part.clone() })];
    for _ in 0..FLIPS {
        let mut flipped = part.clone();
        flipped.bytes[random.random_range(0..part.bytes.len())] ^= 1 << random.random_range(0..8);
        all.push(Some(flipped));
    }
    all
}

fn apply(db: &DbInstance, index: &str, part: &StoredPart, damage: &Option<StoredPart>) {
    match damage {
        None => write(db, index, ChangeKind::Remove, part),
        Some(damaged) => write(db, index, ChangeKind::Put, damaged),
    }
}

#[test]
fn damaged_segments_are_reported_and_change_no_answer() {
    let mut random = StdRng::seed_from_u64(46);
    for engine in ENGINES {
        let folder = tempfile::tempdir().unwrap();
        let db = open(engine, folder.path(), UNCACHED);
        documents(&db);
        let expected = answers(&db);
        assert_eq!(db.check().unwrap().problems, [] as [String; 0]);
        for index in ["near", "words"] {
            let before = parts(&db, index);
            let blobs: BTreeSet<i64> = before.iter().map(|part| part.blob).collect();
            assert_eq!(blobs.len(), 4, "the manifest, two segments, deletions");
            for part in &before {
                for damage in damages(part, &mut random) {
                    apply(&db, index, part, &damage);
                    let context = format!("{engine} {index}: {part:?} became {damage:?}");
                    assert!(answers(&db) == expected, "{context}");
                    let [problem] = &db.check().unwrap().problems[..] else { panic!("not one problem: {context}") };
                    let what = if part.blob == 0 { "the list of segments" } else { "a segment" };
                    assert!(problem.starts_with(&format!("{what} of the index 'd:{index}' is damaged")), "{problem}");
                    rows(&db, "::indices d");
                    write(&db, index, ChangeKind::Put, part);
                }
            }
            assert_eq!(parts(&db, index), before);
        }
        assert_eq!(db.check().unwrap().problems, [] as [String; 0]);
    }
}

#[test]
fn a_damaged_index_is_mended_by_the_next_sealing_or_by_making_it_again() {
    for engine in ENGINES {
        for index in ["near", "words"] {
            for blob in [0, 1] {
                let folder = tempfile::tempdir().unwrap();
                let db = open(engine, folder.path(), UNCACHED);
                documents(&db);
                let before = parts(&db, index);
                let mut part = before.iter().find(|part| part.blob == blob).unwrap().clone();
                part.bytes[4] ^= 1;
                write(&db, index, ChangeKind::Put, &part);
                put(&db, 100..110, 3000);
                let expected = answers(&db);
                // Opened with a cache, which has nothing of before.
                drop(db);
                let db = open(engine, folder.path(), "");
                assert!(answers(&db) == expected, "{engine} {index} {blob}");
                assert_eq!(db.check().unwrap().problems.len(), 1, "{engine} {index} {blob}");
                seal(&db);
                assert!(answers(&db) == expected, "{engine} {index} {blob}, sealed");
                assert_eq!(db.check().unwrap().problems, [] as [String; 0]);
                let after: BTreeSet<i64> = parts(&db, index).iter().map(|part| part.blob).collect();
                let last = before.iter().map(|part| part.blob).max().unwrap();
                assert_eq!(
                    after,
                    BTreeSet::from([0, last + 1]),
                    "nothing of before remains, and no number is used again"
                );
                drop(db);
                let db = open(engine, folder.path(), UNCACHED);
                assert!(answers(&db) == expected, "{engine} {index} {blob}, opened again");
                write(&db, index, ChangeKind::Put, &StoredPart { blob: last + 1, ..part });
                assert_eq!(db.check().unwrap().problems.len(), 1);
                rows(&db, &format!("::reindex d:{index}"));
                assert_eq!(db.check().unwrap().problems, [] as [String; 0]);
                assert!(answers(&db) == expected, "{engine} {index} {blob}, made again");
            }
        }
    }
}

const DISAGREES: &str = "the index 'd:any' does not agree with its relation: '::reindex d:any' makes it anew";

/// Changes a row of `d` behind the back of its indices.
fn put_unnoticed(db: &DbInstance, id: i64, text: &str, vector: &str) {
    let full = rows(db, &format!("?[id, t, v] := id = {id}, t = '{text}', v = {vector}")).concat();
    let (mut txn, schema, _) = begin(db, "any");
    let columns = full.iter().map(|value| Column::repeat(value, 1)).collect();
    txn.write_derived(&schema, ChangeKind::Put, Batch { columns, len: 1 });
    commit(txn, &schema);
}

/// A relation with one index `any`, of two merged segments, that agrees with it.
fn indexed(create: &str) -> DbInstance {
    let db = DbInstance::default();
    let precision = if create.contains("F64") { "F64" } else { "F32" };
    rows(&db, &format!(":create d {{id: Int => t: String, v: <{precision}; 3>}}"));
    let put = "?[id, t, v] := id in int_range($from, 300), t = 'w' ++ to_string(id) ++ ' all', v = [sin(id), id % 7 + 0.1, id * id]
        :put d {id => t, v}";
    rows(&db, &put.replace("$from", "0"));
    rows(&db, create);
    // Rows that change, so that some are dead.
    rows(&db, &put.replace("$from", "200").replace("id * id", "id"));
    if !create.contains("lsh") {
        db.core().unwrap().sealer.seal_index("d", "any").unwrap();
    }
    assert_eq!(db.check().unwrap().problems, [] as [String; 0], "{create}");
    db
}

#[test]
fn the_check_compares_vectors_with_those_of_the_rows() {
    for options in [
        "",
        ", distance: IP",
        ", distance: Cosine",
        ", dtype: F64, distance: Cosine",
        ", quantization: 'int8'",
        ", quantization: 'int8', distance: Cosine",
        ", quantization: 'int8', dtype: F64, distance: Cosine",
    ] {
        let create = format!("::hnsw create d:any {{dim: 3, fields: [v], m: 8, ef_construction: 20{options}}}");
        let db = indexed(&create);
        let precision = if options.contains("F64") { "F64" } else { "F32" };
        for (id, vector) in [(17, "[1, 0.5, 3]"), (250, "[100, 3, 2]")] {
            put_unnoticed(&db, id, "", &format!("vec({vector}, '{precision}')"));
        }
        assert_eq!(
            db.check().unwrap().problems,
            [
                "the index 'd:any' has 2 vectors that differ from those of its relation, the first at [17]: '::reindex d:any' makes it anew"
            ],
            "{options}"
        );
        put_unnoticed(&db, 999, "", &format!("vec([1, 2, 3], '{precision}')"));
        assert_eq!(db.check().unwrap().problems, [DISAGREES], "{options}");
    }
}

#[test]
fn the_check_compares_texts_with_those_of_the_rows() {
    for create in [
        "::fts create d:any {extractor: t, tokenizer: Simple}",
        "::lsh create d:any {extractor: t, tokenizer: Simple, n_gram: 1, target_threshold: 0.5}",
    ] {
        for text in ["w18 all", "all w17", "w17 all all", ""] {
            let db = indexed(create);
            put_unnoticed(&db, 17, "w17 all", "vec([0, 0, 0])");
            assert_eq!(db.check().unwrap().problems, [] as [String; 0], "the index does not read this column");
            put_unnoticed(&db, 17, text, "vec([0, 0, 0])");
            // The words of both are the same set, which is all that near-duplicates have.
            let is_same = create.contains("lsh") && text.contains("all") && text.contains("w17");
            let expected: &[&str] = if is_same { &[] } else { &[DISAGREES] };
            assert_eq!(db.check().unwrap().problems, expected, "{create} {text}");
        }
    }
}

#[test]
fn the_check_counts_deleted_texts() {
    let db = DbInstance::default();
    documents(&db);
    let deletions = parts(&db, "words").into_iter().find(|part| part.bytes.starts_with(b"CZD1")).unwrap();
    let (mut txn, schema, index) = begin(&db, "words");
    let mut manifest =
        Manifest::read(&index.stored[1], txn.view(&[schema.id]).unwrap().of(schema.id)).unwrap().unwrap();
    let mut bytes = deletions.bytes;
    // After the mark, the size of the first section and the number of documents: how many tokens are deleted.
    bytes[4 + 8 + 8] += 1;
    let blob = manifest.write_blob(&index.stored[1], &bytes, &mut txn).unwrap();
    manifest.segments[0].deletions = Some(blob);
    manifest.write(&index.stored[1], &mut txn);
    commit(txn, &schema);
    assert_eq!(
        db.check().unwrap().problems,
        ["the index 'd:words' counts its deleted texts wrongly: '::reindex d:words' makes it anew"]
    );
}

#[test]
fn a_sealing_whose_rows_have_all_changed_writes_nothing() {
    let db = DbInstance::default();
    documents(&db);
    for name in ["near", "words"] {
        let (mut txn, schema, index) = begin(&db, name);
        let extractor = extractor(&schema, &index).unwrap();
        let prepared = {
            let view = txn.view(&[schema.id]).unwrap();
            let snapshot = view.of(schema.id);
            prepare(Indexed { relation: &schema, index: &index, extractor: &extractor, snapshot, cache: None }).unwrap()
        };
        let of_others = |add| {
            put(&db, 40..45, add);
            let (mut txn, ..) = begin(&db, name);
            prepared.apply(&schema, &index, &extractor, &mut txn).unwrap().is_some()
        };
        // The same rows again can be sealed. Of others nothing could be committed, so nothing may go into the cache.
        assert_eq!([of_others(2000), of_others(3000), of_others(2000)], [true, false, true], "{name}");
    }
}
