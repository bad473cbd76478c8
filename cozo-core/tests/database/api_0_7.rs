//! A program as someone wrote it for the crate `cozo` 0.7: the same names, types and meanings.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::str::FromStr;

use cozo::{
    DataValue, DbInstance, JsonData, NamedRows, Num, ScriptMutability, UuidWrapper, Validity, ValidityTs, Vector,
    evaluate_expressions, format_error_as_json, get_variables,
};
use serde_json::{Value, json};

type Params = BTreeMap<String, DataValue>;

fn params(pairs: &[(&str, DataValue)]) -> Params {
    pairs.iter().map(|(name, value)| (name.to_string(), value.clone())).collect()
}

#[test]
fn values_are_made_and_taken_apart() {
    let list: DataValue = vec![1i64, 2].into();
    assert_eq!(list.get_slice(), Some([DataValue::from(1i64), DataValue::from(2i64)].as_slice()));
    assert_eq!(DataValue::from(3i32).get_int(), Some(3));
    assert_eq!(DataValue::from(3.0).get_int(), Some(3), "an integral float counts as an integer");
    assert_eq!(DataValue::from(3.5).get_int(), None);
    assert_eq!(DataValue::from(3i64).get_float(), Some(3.0));
    assert_eq!(DataValue::from(true).get_bool(), Some(true));
    assert_eq!(DataValue::from("text").get_str(), Some("text"));
    assert_eq!(DataValue::from("text".to_string()).get_str(), Some("text"));
    assert_eq!(DataValue::from(vec![1u8, 2]).get_bytes(), Some([1u8, 2].as_slice()));
    assert_eq!(DataValue::Null.get_str(), None);
}

#[test]
fn values_are_matched_on() {
    let describe = |value: &DataValue| match value {
        DataValue::Null => "null".to_string(),
        DataValue::Bool(b) => format!("bool {b}"),
        DataValue::Num(Num::Int(i)) => format!("int {i}"),
        DataValue::Num(Num::Float(f)) => format!("float {f}"),
        DataValue::Str(s) => format!("string {s}"),
        DataValue::Bytes(b) => format!("bytes {}", b.len()),
        DataValue::Uuid(UuidWrapper(u)) => format!("uuid {u}"),
        DataValue::List(l) => format!("list {}", l.len()),
        DataValue::Vec(v) => format!("vector {}", v.len()),
        DataValue::Json(JsonData(j)) => format!("json {j}"),
        DataValue::Validity(v) => format!("validity {} {}", v.timestamp.0.0, v.is_assert.0),
        _ => "internal".to_string(),
    };
    let uuid = uuid::Uuid::from_str("550e8400-e29b-41d4-a716-446655440000").unwrap();
    let validity = Validity { timestamp: ValidityTs(Reverse(5)), is_assert: Reverse(true) };
    for (value, expected) in [
        (DataValue::Null, "null"),
        (DataValue::from(false), "bool false"),
        (DataValue::from(-1i64), "int -1"),
        (DataValue::from(0.5), "float 0.5"),
        (DataValue::from("s"), "string s"),
        (DataValue::Bytes(vec![0, 255]), "bytes 2"),
        (DataValue::Uuid(UuidWrapper(uuid)), "uuid 550e8400-e29b-41d4-a716-446655440000"),
        (DataValue::List(vec![DataValue::Null]), "list 1"),
        (DataValue::Vec(Vector::F32(ndarray::arr1(&[1.0, 2.0, 3.0]))), "vector 3"),
        (DataValue::Json(JsonData(json!({"a": 1}))), "json {\"a\":1}"),
        (DataValue::Validity(validity), "validity 5 true"),
        (DataValue::Validity(Validity::from((7, false))), "validity 7 false"),
    ] {
        assert_eq!(describe(&value), expected);
    }
    assert!(!Vector::F64(ndarray::arr1(&[1.0])).is_empty());
}

#[test]
fn values_have_one_total_order_and_may_be_hashed() {
    let ordered = [
        DataValue::Null,
        false.into(),
        true.into(),
        1i64.into(),
        1.0.into(),
        2i64.into(),
        "a".into(),
        vec![0u8].into(),
    ];
    assert!(ordered.is_sorted());
    let mut shuffled = ordered.to_vec();
    shuffled.reverse();
    shuffled.sort();
    assert_eq!(shuffled, ordered);
    assert_eq!(ordered.iter().collect::<HashSet<_>>().len(), ordered.len(), "1 and 1.0 are distinct");
}

#[test]
fn values_go_to_json_and_back() {
    for value in [json!(null), json!(true), json!(-3), json!(1.5), json!("x"), json!([1, ["a", null]])] {
        assert_eq!(Value::from(DataValue::from(value.clone())), value);
        assert_eq!(DataValue::from(&value), DataValue::from(value));
    }
    assert!(matches!(DataValue::from(json!({"a": 1})), DataValue::Json(_)));
    assert_eq!(Value::from(DataValue::from(vec![0u8, 1, 2])), json!("AAEC"));
    assert_eq!(Value::from(DataValue::from(f64::INFINITY)), json!("INFINITY"));
    assert_eq!(Value::from(DataValue::from(f64::NAN)), json!(null));
    let text = serde_json::to_string(&DataValue::from(vec![1i64])).unwrap();
    assert_eq!(serde_json::from_str::<DataValue>(&text).unwrap(), DataValue::from(vec![1i64]), "serde, both ways");
}

#[test]
fn values_print_as_cozoscript() {
    for (value, printed) in [
        (DataValue::Null, "null"),
        (DataValue::from(1.5), "1.5"),
        (DataValue::from(1.0), "1.0"),
        (DataValue::from("a\"b"), r#""a\"b""#),
        (DataValue::from(vec![1i64, 2]), "[1, 2]"),
        (DataValue::from(vec![0u8, 1, 2]), "decode_base64(\"AAEC\")"),
        (DataValue::from(f64::NAN), "to_float(\"NAN\")"),
    ] {
        assert_eq!(value.to_string(), printed);
    }
    assert!(!format!("{:?}", DataValue::Null).is_empty());
}

#[test]
fn a_database_is_opened_by_the_name_of_its_engine() {
    assert!(DbInstance::new("mem", "", "").is_ok());
    assert!(DbInstance::new("mem", std::path::Path::new("ignored"), "{}").is_ok());
    assert!(DbInstance::new("mem", "", Default::default()).is_ok());
    assert!(DbInstance::new_with_str("mem", "", "").is_ok());
    let message: String = DbInstance::new_with_str("punched cards", "", "").err().expect("there is no such engine");
    assert!(message.contains("punched cards"), "{message}");
}

#[test]
fn clones_are_handles_of_one_database() {
    let db = DbInstance::default();
    let clone = db.clone();
    clone.run_default(":create r {a}").unwrap();
    std::thread::spawn(move || clone.run_default("?[a] <- [[1]] :put r {a}").unwrap()).join().unwrap();
    assert_eq!(db.run_default("?[a] := *r[a]").unwrap().rows.len(), 1);
}

#[test]
fn scripts_run_with_parameters() -> cozo::Result<()> {
    let db = DbInstance::default();
    db.run_script(
        "?[k, v] <- $rows :create r {k => v}",
        params(&[("rows", json!([[1, "a"], [2, "b"]]).into())]),
        ScriptMutability::Mutable,
    )?;
    let result: NamedRows =
        db.run_script("?[v] := *r{k: $k, v}", params(&[("k", 2.into())]), ScriptMutability::Immutable)?;
    assert_eq!(result.headers, ["v"]);
    assert_eq!(result.rows, [["b".into()]]);
    assert!(result.next.is_none() && !result.has_more());
    Ok(())
}

#[test]
fn errors_are_reports() {
    let db = DbInstance::default();
    let error: cozo::Error = db.run_default("?[x] := *nowhere[x]").unwrap_err();
    assert!(error.to_string().contains("nowhere"));
    let json = format_error_as_json(error, Some("?[x] := *nowhere[x]"));
    assert_eq!(
        (&json["ok"], &json["code"], &json["severity"]),
        (&json!(false), &json!("query::relation_not_found"), &json!("error"))
    );
    for field in ["message", "display", "help"] {
        assert!(json[field].is_string(), "{field}: {json}");
    }
    for field in ["causes", "labels", "related"] {
        assert!(json[field].is_array(), "{field}: {json}");
    }
    let span = &json["labels"][0]["span"];
    assert!(span["offset"].is_u64() && span["length"].is_u64());
}

#[test]
fn results_and_errors_come_as_json() {
    let db = DbInstance::default();
    let good = db.run_script_fold_err("?[a] <- [[$a]]", params(&[("a", 1.into())]), ScriptMutability::Mutable);
    assert_eq!(good["ok"], true);
    assert_eq!((&good["headers"], &good["rows"], &good["next"]), (&json!(["a"]), &json!([[1]]), &json!(null)));
    assert!(good["took"].is_number());
    let bad = db.run_script_fold_err("?[a] <-", Params::new(), ScriptMutability::Mutable);
    assert_eq!((&bad["ok"], &bad["code"]), (&json!(false), &json!("parser::pest")));
}

fn parse(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

#[test]
fn results_come_as_text_of_json() {
    let db = DbInstance::default();
    let good = parse(&db.run_script_str("?[a] <- [[$a]]", r#"{"a": [1, "x"]}"#, false));
    assert_eq!((&good["ok"], &good["rows"]), (&json!(true), &json!([[[1, "x"]]])));
    assert_eq!(parse(&db.run_script_str("?[a] <- [[1]]", "", true))["ok"], true);
    assert_eq!(parse(&db.run_script_str(":create r {a}", "{}", true))["ok"], false, "immutable");
    let bad = parse(&db.run_script_str("?[a] <- [[1]]", "[1]", false));
    assert_eq!(bad, json!({"ok": false, "message": "params argument is not a JSON map"}));
}

#[test]
fn named_rows_are_a_small_table() {
    let rows = NamedRows::new(vec!["a".to_string(), "b".to_string()], vec![vec![1.into(), "x".into()]]);
    let json = rows.clone().into_json();
    assert_eq!(json, json!({"headers": ["a", "b"], "rows": [[1, "x"]], "next": null}));
    let read = NamedRows::from_json(&json).unwrap();
    assert_eq!((&read.headers, &read.rows), (&rows.headers, &rows.rows));
    assert!(NamedRows::from_json(&json!({"rows": []})).is_err());
    let count = rows.clone().into_iter().map(|row: Vec<DataValue>| row.len()).sum::<usize>();
    assert_eq!(count, 2);
    assert!(NamedRows::default().rows.is_empty());
    let (script, parameters) = rows.into_payload("r", "put");
    let db = DbInstance::default();
    db.run_default(":create r {a => b}").unwrap();
    db.run_script(&script, parameters, ScriptMutability::Mutable).unwrap();
    assert_eq!(db.run_default("?[b] := *r[1, b]").unwrap().rows, [["x".into()]]);
}

#[test]
fn several_results_form_a_chain() {
    let db = DbInstance::default();
    let first = db.run_default("{?[a] <- [[1]]} as _x {?[b] <- [[2], [3]]} as _y %return _x, _y").unwrap();
    assert!(first.has_more());
    let all: Vec<NamedRows> = first.flatten();
    assert_eq!(all.iter().map(|rows| rows.rows.len()).collect::<Vec<_>>(), [1, 2]);
    assert!(all.iter().all(|rows| !rows.has_more()));
}

#[test]
fn relations_are_exported_and_imported() {
    let db = DbInstance::default();
    db.run_default("?[k, v] <- [[1, 'a'], [2, 'b']] :create r {k: Int => v}").unwrap();
    let exported: BTreeMap<String, NamedRows> = db.export_relations(["r"].iter()).unwrap();
    assert_eq!(exported["r"].headers, ["k", "v"]);
    assert!(db.export_relations(vec!["nowhere".to_string()].into_iter()).is_err());
    let other = DbInstance::default();
    other.run_default(":create r {k: Int => v}").unwrap();
    other.import_relations(exported).unwrap();
    assert_eq!(other.run_default("?[k, v] := *r[k, v]").unwrap().rows.len(), 2);
}

#[test]
fn relations_are_exported_and_imported_as_text() {
    let db = DbInstance::default();
    db.run_default("?[k, v] <- [[1, 'a']] :create r {k: Int => v}").unwrap();
    let exported = parse(&db.export_relations_str(r#"{"relations": ["r"]}"#));
    assert_eq!(exported, json!({"ok": true, "data": {"r": {"headers": ["k", "v"], "rows": [[1, "a"]], "next": null}}}));
    let other = DbInstance::default();
    other.run_default(":create r {k: Int => v}").unwrap();
    assert_eq!(parse(&other.import_relations_str(&exported["data"].to_string())), json!({"ok": true}));
    other.import_relations_str_with_err(r#"{"-r": {"headers": ["k"], "rows": [[1]]}}"#).unwrap();
    assert!(other.run_default("?[k] := *r[k, _]").unwrap().rows.is_empty());
    for bad in ["not json", r#"{"nowhere": {"headers": ["a"], "rows": []}}"#] {
        let answer = parse(&other.import_relations_str(bad));
        assert!(answer["ok"] == false && answer["message"].is_string(), "{answer}");
        assert!(other.import_relations_str_with_err(bad).is_err());
    }
    assert_eq!(parse(&other.export_relations_str(r#"{"relations": ["nowhere"]}"#))["ok"], false);
}

#[test]
fn expressions_are_evaluated_alone() {
    let value = evaluate_expressions("a * $p + 1", &params(&[("p", 3.into())]), &params(&[("a", 5.into())])).unwrap();
    assert_eq!(value, DataValue::from(16));
    assert!(evaluate_expressions("a + b", &Params::new(), &params(&[("a", 5.into())])).is_err(), "b is not bound");
    assert!(evaluate_expressions("1 +", &Params::new(), &Params::new()).is_err());
    let variables: BTreeSet<String> = get_variables("f + length(g) + $p", &params(&[("p", 1.into())])).unwrap();
    assert_eq!(variables, BTreeSet::from(["f".to_string(), "g".to_string()]));
}

#[test]
fn transactions_are_held_open() {
    let db = DbInstance::default();
    db.run_default(":create r {a}").unwrap();
    let transaction = db.multi_transaction(true);
    transaction.run_script("?[a] <- [[$a]] :put r {a}", params(&[("a", 1.into())])).unwrap();
    transaction.commit().unwrap();
    let dropped = db.multi_transaction(true);
    dropped.run_script("?[a] <- [[2]] :put r {a}", Params::new()).unwrap();
    dropped.abort().unwrap();
    assert_eq!(db.run_default("?[a] := *r[a]").unwrap().rows.len(), 1);
}

#[test]
fn databases_have_the_type_of_their_engine() {
    let db: cozo::Db<cozo::MemStorage> = cozo::new_cozo_mem().unwrap();
    db.initialize().unwrap();
    db.run_script("?[a] <- [[1]] :create r {a}", Params::new(), ScriptMutability::Mutable).unwrap();
    let handle = db.clone();
    assert_eq!(handle.run_script_read_only("?[a] := *r[a]", Params::new()).unwrap().rows.len(), 1);
    assert!(handle.run_script_read_only("?[a] <- [[2]] :put r {a}", Params::new()).is_err());
    let other = cozo::Db::new(cozo::MemStorage::new()).unwrap();
    assert!(other.run_script_read_only("?[a] := *r[a]", Params::new()).is_err(), "it is another database");
}

#[test]
fn parsed_scripts_run_at_a_time_of_choice() {
    let db = DbInstance::default();
    let run = |script: &str| {
        let parsed: cozo::CozoScript = cozo::parse::parse_script(script).unwrap();
        db.run_script_ast(parsed, ValidityTs(Reverse(5_000_000)), ScriptMutability::Mutable)
    };
    run("?[k, at] <- [[1, 'ASSERT']] :create r {k, at: Validity}").unwrap();
    let rows = run("?[at] := *r[1, at]").unwrap().rows;
    assert_eq!(rows, vec![vec![DataValue::Validity(Validity::from((5_000_000, true)))]]);
    assert!(run("?[a] := *nowhere[a]").is_err());
}

#[test]
fn backups_answer_as_text() {
    let db = DbInstance::default();
    let import = json!({"path": "/nowhere/else", "relations": ["r"]}).to_string();
    for answer in [
        db.restore_backup_str("/nowhere/else"),
        db.backup_db_str("/nowhere/else"),
        db.import_from_backup_str(&import),
        db.import_from_backup_str("{}"),
    ] {
        let answer = parse(&answer);
        assert!(answer["ok"] == false && answer["message"].is_string(), "{answer}");
    }
}
