//! The samples against what CozoDB 0.7 itself says is in them.

use cozo::legacy::{LegacyFile, LegacyRelation, SearchDefinition, TokenStep};
use cozo::schema::BaseType;
use cozo::{DataValue, Num, Tuple};
use serde_json::{Map, Value, json};

use super::{SAMPLES, knows, rows_of, sample};

/// What `::relations` and so on gave for a sample.
fn expected(name: &str) -> Value {
    let text = std::fs::read_to_string(sample(name).with_extension("json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

/// Rows compare as text, so that 1 and 1.0, or 0.0 and -0.0, differ.
fn as_text(rows: &Value) -> Vec<String> {
    rows.as_array().unwrap().iter().map(Value::to_string).collect()
}

/// A value as the expected contents write it.
fn plain(value: DataValue) -> Value {
    match value {
        DataValue::Num(Num::Float(float)) if float.is_nan() => json!({"$float": "nan"}),
        DataValue::Num(Num::Float(float)) if float.is_infinite() => {
            json!({"$float": if float > 0.0 { "inf" } else { "-inf" }})
        }
        DataValue::Bytes(_) => json!({"$bytes": Value::from(value)}),
        DataValue::List(items) => items.into_iter().map(plain).collect(),
        DataValue::Json(json) => with_large_integers_as_floats(json.0),
        other => Value::from(other),
    }
}

/// As the program that wrote the expected contents showed them.
fn with_large_integers_as_floats(value: Value) -> Value {
    match value {
        Value::Number(number) if number.is_u64() && !number.is_i64() => json!(number.as_f64().unwrap()),
        Value::Array(items) => items.into_iter().map(with_large_integers_as_floats).collect(),
        Value::Object(fields) => {
            let fields = fields.into_iter().map(|(key, value)| (key, with_large_integers_as_floats(value)));
            Value::Object(fields.collect::<Map<_, _>>())
        }
        other => other,
    }
}

fn columns(relation: &LegacyRelation) -> Vec<Value> {
    let keys = relation.schema.keys.len();
    let columns = relation.schema.columns().enumerate();
    let row = columns
        .map(|(i, column)| json!([column.name, i < keys, i, column.column_type.to_string(), column.default.is_some()]));
    row.collect()
}

fn triggers(relation: &LegacyRelation) -> Vec<Value> {
    let triggers = &relation.schema.triggers;
    let lists = [("put", &triggers.put), ("rm", &triggers.rm), ("replace", &triggers.replace)];
    let rows = lists.into_iter().flat_map(|(event, texts)| texts.iter().enumerate().map(move |row| (event, row)));
    rows.map(|(event, (i, text))| json!([event, i, text])).collect()
}

fn step(step: &TokenStep) -> Value {
    json!({"name": step.name, "args": step.args.iter().map(tagged).collect::<Vec<_>>()})
}

fn tagged(value: &DataValue) -> Value {
    match value {
        DataValue::Bool(value) => json!({"Bool": value}),
        DataValue::Num(Num::Int(value)) => json!({"Num": {"Int": value}}),
        DataValue::Str(text) => json!({"Str": text}),
        DataValue::List(items) => json!({"List": items.iter().map(tagged).collect::<Vec<_>>()}),
        other => panic!("no argument of a tokenizer: {other}"),
    }
}

/// Name, kind and parameters of each index.
fn indices(relation: &LegacyRelation) -> Vec<Value> {
    let ordinary = relation.indices.iter().map(|index| json!([index.name, "normal", {"indices": index.columns}]));
    let search = relation.search_indices.iter().map(|index| {
        let config = match &index.definition {
            SearchDefinition::Hnsw(hnsw) => json!({
                "vec_dim": hnsw.dimension, "dtype": format!("{:?}", hnsw.width), "vec_fields": hnsw.columns,
                "distance": format!("{:?}", hnsw.distance), "ef_construction": hnsw.ef_construction,
                "m_neighbours": hnsw.m_neighbours, "m_max": hnsw.m_max, "m_max0": hnsw.m_max0,
                "level_multiplier": hnsw.level_multiplier, "extend_candidates": hnsw.extend_candidates,
                "keep_pruned_connections": hnsw.keep_pruned_connections,
            }),
            SearchDefinition::Fts(fts) => json!({
                "extractor": fts.extractor, "tokenizer": step(&fts.tokenizer),
                "tokenizer_filters": fts.filters.iter().map(step).collect::<Vec<_>>(),
            }),
            SearchDefinition::Lsh(lsh) => json!({
                "extractor": lsh.extractor, "tokenizer": step(&lsh.tokenizer),
                "tokenizer_filters": lsh.filters.iter().map(step).collect::<Vec<_>>(), "n_gram": lsh.n_gram,
                "num_perm": lsh.num_perm, "n_bands": lsh.n_bands, "n_rows_in_band": lsh.n_rows_in_band,
                "threshold": lsh.threshold,
            }),
        };
        json!([index.name, index.definition.kind(), config])
    });
    ordinary.chain(search).collect()
}

/// Without the names of relations, and with the escapes of CozoScript.
fn expected_indices(entry: &Value) -> Vec<Value> {
    let rows = entry["indices"]["rows"].as_array().unwrap().iter();
    let without_relations =
        rows.map(|row| json!([row[0], row[1], row[3]]).to_string().replace(r"\\u{301}", r"\\u0301"));
    without_relations.map(|text| serde_json::from_str(&text).unwrap()).collect()
}

/// Where the keys are of types for which the file has the same order.
fn assert_in_order(what: &str, rows: &[Tuple], relation: &LegacyRelation) {
    let keys = &relation.schema.keys;
    if keys.iter().all(|key| !matches!(key.column_type.base, BaseType::Any)) {
        let in_order = rows.windows(2).all(|pair| pair[0][..keys.len()] < pair[1][..keys.len()]);
        assert!(in_order, "{what}: in the order of keys");
    }
}

#[test]
fn every_sample_holds_what_it_should() {
    for name in SAMPLES {
        let (expected, file) = (expected(name), LegacyFile::open(&sample(name)).unwrap());
        let report = file.report(&knows).unwrap();
        let names: Vec<&str> = file.relations().iter().map(|relation| relation.schema.name.as_str()).collect();
        let mut wanted: Vec<&str> = expected["relations"].as_object().unwrap().keys().map(String::as_str).collect();
        wanted.sort_unstable();
        assert_eq!(names, wanted, "{name}");
        for (relation, counted) in file.relations().iter().zip(&report.relations) {
            let (schema, entry) = (&relation.schema, &expected["relations"][relation.schema.name.as_str()]);
            let what = format!("{name}, {}", schema.name);
            let headers: Vec<&str> = schema.columns().map(|column| column.name.as_str()).collect();
            assert_eq!(json!(headers), entry["headers"], "{what}");
            assert_eq!(json!(columns(relation)), entry["columns"]["rows"], "{what}");
            assert_eq!(json!(triggers(relation)), entry["triggers"]["rows"], "{what}");
            assert_eq!(indices(relation), expected_indices(entry), "{what}");
            assert_eq!(json!(schema.access_level.name()), entry["access_level"], "{what}");
            assert_eq!(schema.description, "");
            let (rows, read) = rows_of(&file, relation).unwrap();
            assert_in_order(&what, &rows, relation);
            let rows: Vec<Value> = rows.into_iter().map(|row| row.into_iter().map(plain).collect()).collect();
            assert_eq!(as_text(&json!(rows)), as_text(&entry["rows"]), "{what}");
            assert_eq!((read.rows, read.converted), (rows.len() as u64, 0), "{what}");
            if name != "broken" {
                read.require_all(counted).unwrap();
                assert_eq!(read.rows, counted.rows_in_file);
            }
        }
    }
}

#[test]
fn defaults_become_scripts() {
    let mut defaults = Vec::new();
    for name in SAMPLES {
        let file = LegacyFile::open(&sample(name)).unwrap();
        for relation in file.relations() {
            for column in relation.schema.columns() {
                let Some(text) = &column.default else { continue };
                defaults.push(format!("{}.{} = {text}", relation.schema.name, column.name));
            }
        }
    }
    let expected = [
        "defaults.at = \"ASSERT\"",
        "defaults.one = 1",
        "defaults.sum = 1 + 2 * 3",
        "defaults.neg = -5",
        "defaults.fl = 2.0",
        r#"defaults.text = "a\"b\\""#,
        "more_defaults.u = rand_uuid_v4()",
        "more_defaults.flag = !true",
        "more_defaults.nothing = null",
        "more_defaults.l = [1, \"x\", null, [2.5]]",
        "more_defaults.j = {\"a\": 1, \"b\": [true]}",
        "more_defaults.c = concat(\"a\", \"b\") ++ lowercase(\"C\")",
        "more_defaults.d = cond(rand_float() > 2, 1, true, 0.5)",
        "more_defaults.e = null ~ 7",
        "more_defaults.t = now()",
        "more_defaults.g = [1, 2] -> 0",
        "more_defaults.x = 1 < 2 && \"a\" != \"b\" || false",
        "bad_default.v = no_such_function(1)",
        "bad_default.w = some_name",
        "indexed.v = 1 + 2",
        "indexed.x = [1, {\"a\": null}]",
        "unreadable.ok = regex_matches(\"abc\", \"^a\")",
    ];
    let printed = |text: &str| {
        let (name, text) = text.split_once(" = ").unwrap();
        format!("{name} = {}", cozo::parse::parse_expr(text).unwrap())
    };
    assert_eq!(defaults, expected.map(printed));
}

#[test]
fn the_report_says_what_is_lost() {
    let report = |name: &str| LegacyFile::open(&sample(name)).unwrap().report(&knows).unwrap();
    let messages = |notes: &[cozo::legacy::Note]| -> Vec<String> {
        notes.iter().map(|note| format!("{}: {}", note.relation, note.message)).collect()
    };
    let types = report("types");
    assert_eq!((types.not_carried_over, types.warnings, types.remnants), (vec![], vec![], vec![]));
    let catalog = report("catalog");
    assert_eq!(messages(&catalog.not_carried_over), Vec::<String>::new());
    assert_eq!(messages(&catalog.warnings), Vec::<String>::new());
    let odd = report("odd");
    assert_eq!(messages(&odd.not_carried_over), Vec::<String>::new());
    let warnings = [
        "bad_default: the default of column 'v' uses the function 'no_such_function', which does not exist",
        "bad_default: the default of column 'w' uses the name 'some_name', which has no meaning there",
    ];
    assert_eq!(messages(&odd.warnings), warnings);
}

#[test]
fn rows_under_a_shared_id_go_where_they_fit() {
    let file = LegacyFile::open(&sample("broken")).unwrap();
    let report = file.report(&knows).unwrap();
    let shared: Vec<(&str, u64, Vec<&str>)> = report
        .relations
        .iter()
        .map(|relation| {
            let others = relation.shares_id_with.iter().map(|name| name.as_str()).collect();
            (relation.name.as_str(), relation.rows_in_file, others)
        })
        .collect();
    let expected = [
        ("fresh", 3, vec!["old"]),
        ("old", 3, vec!["fresh"]),
        ("other", 1, vec!["unreadable"]),
        ("unreadable", 1, vec!["other"]),
    ];
    assert_eq!(shared, expected);
    for (relation, counted) in file.relations().iter().zip(&report.relations) {
        rows_of(&file, relation).unwrap().1.require_all(counted).unwrap();
    }
}
