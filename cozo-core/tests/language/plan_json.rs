//! Plans as JSON, which other engines read: a snapshot of each part of the form, and runs of the parts that come back. A change of a
//! snapshot is a change of the form: see `docs/design/plan-json.md` about versions.

use std::collections::BTreeMap;

use cozo::value::{Batch, Column};
use cozo::{DataValue, DbInstance, PortableGroups, PortableRows, RelationSizes};
use serde_json::{Value, json};

/// A database with some relations, one with an index.
fn database() -> DbInstance {
    let db = DbInstance::default();
    for script in [
        "?[from, to] <- [[1, 2], [2, 3]] :create edge {from: Int, to: Int}",
        "?[id, name] <- [[1, 'a']] :create node {id: Int => name: String?, weight: Float default 0.5}",
        "::index create node:by_name {name, id}",
        ":create tag {node: Int, tag: String}",
        ":create history {k: Int, at: Validity => v: Int}",
    ] {
        db.run_default(script).unwrap_or_else(|error| panic!("{error:?}\n{script}"));
    }
    db
}

fn plan_of(script: &str, sizes: Value) -> Value {
    let parameters = BTreeMap::from([("id".to_string(), DataValue::from(1))]);
    let sizes = RelationSizes::parse(&sizes).expect("the sizes are right");
    database().plan_json(script, parameters, &sizes).unwrap_or_else(|error| panic!("{error:?}\n{script}"))
}

fn shown(script: &str) -> String {
    serde_json::to_string_pretty(&plan_of(script, json!({}))).expect("it is JSON")
}

/// All operators of a plan, by their names.
fn operators(plan: &Value) -> Vec<String> {
    let rules = plan["components"].as_array().into_iter().flatten().flat_map(|component| component["rules"].as_array());
    let operators = rules.flatten().flat_map(|rule| rule["operators"].as_array()).flatten();
    operators.map(|operator| operator["op"].as_str().unwrap_or_default().to_string()).collect()
}

#[test]
fn joins_tests_and_values() {
    insta::assert_snapshot!(shown(
        "?[name, n] := *edge{from: $id, to}, *node{id: to, name}, not *tag{node: to}, n = to + 1, n > 2, t in [1, 2], t != n
         :order -name :limit 3 :offset 1 :assert some"
    ));
}

#[test]
fn recursion_and_magic_sets() {
    insta::assert_snapshot!(shown(
        "path[x, y] := *edge[x, y]  path[x, y] := path[x, z], path[z, y]  ?[y] := path[$id, y]"
    ));
}

#[test]
fn aggregations_constants_and_fixed_rules() {
    insta::assert_snapshot!(shown(
        "given[a, b] <- [[1, 'x'], [2, null]]
         least[y, min(c)] := given[y, _], c = 0.5  least[y, min(c)] := least[x, b], *edge[x, y], c = b + 1
         rank[n, s] <~ PageRank(*edge[], theta: 0.5)
         ?[y, count(c), collect(s, 3)] := least[y, c], rank[y, s]"
    ));
}

#[test]
fn writes() {
    insta::assert_snapshot!(shown("?[id, name] := *node{id, name} :put node {id => name}"));
}

#[test]
fn reads_as_of_a_time() {
    insta::assert_snapshot!(shown("?[k, v] := *history{k, v @ 5}"));
}

#[test]
fn no_operator_is_of_this_engine_alone() {
    // In this order: an index, an intersection, a range of keys, equal expressions, compared expressions, early aggregation.
    for script in [
        "?[id] := *node{name: 'a', id}",
        "?[a, b, c] := *edge[a, b], *edge[b, c], *edge[c, a]",
        "?[to] := *edge{from, to}, from > 3",
        "?[a, b] := *edge[a, _], *node{id: b, name}, length(name) == a + 1",
        "?[a, b] := *edge[a, _], *node{id: b}, a < b + 1",
        "?[count(a)] := *edge[a, b], *edge[b, c], *edge[c, d]",
    ] {
        let plan = plan_of(script, json!({"edge": {"rows": 1e6}, "node": {"rows": 1e6}}));
        let relations: Vec<&str> = plan["relations"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|relation| relation["name"].as_str())
            .collect();
        assert!(relations.iter().all(|name| ["edge", "node"].contains(name)), "{script}: {relations:?}");
        let plain = ["join", "semi_join", "anti_join", "filter", "same", "assign", "unnest", "distinct"];
        let found = operators(&plan);
        assert!(!found.is_empty() && found.iter().all(|name| plain.contains(&name.as_str())), "{script}: {found:?}");
        assert_eq!(plan["tables"].as_array().map(Vec::len), Some(1), "{script}: no table is added");
    }
}

#[test]
fn given_sizes_choose_the_order_of_atoms() {
    let first = |sizes| {
        let plan = plan_of("?[a] := *edge[a, b], *tag{node: b, tag: 'x'}", sizes);
        plan["components"][0]["rules"][0]["operators"][0]["source"]["relation"].clone()
    };
    assert_eq!(first(json!({"edge": {"rows": 10}, "tag": {"rows": 1e9, "distinct": {"tag": 10}}})), "edge");
    assert_eq!(first(json!({"edge": {"rows": 1e9}, "tag": {"rows": 10, "distinct": {"tag": 10}}})), "tag");
}

#[test]
fn scripts_of_several_queries_have_no_plan() {
    let db = database();
    let code = |script: &str| {
        let refused = db.plan_json(script, BTreeMap::new(), &RelationSizes::default()).expect_err(script);
        refused.code().map(|code| code.to_string()).unwrap_or_default()
    };
    assert_eq!(code("::relations"), "plan::not_one_query");
    assert_eq!(code("{?[a] := a = 1} {?[a] := a = 2}"), "plan::not_one_query");
    assert_eq!(code("?[a] := *nowhere[a]"), "query::relation_not_found");
    assert_eq!(code("?[a] := a = $missing"), "parser::param_not_found");
    assert!(RelationSizes::parse(&json!({"edge": 3})).is_err());
}

/// Each documented example of a function gives the same through the parts of a plan that are evaluated for other engines.
#[test]
fn portable_rows_give_what_the_functions_give() {
    let db = DbInstance::default();
    let mut compared = 0;
    for function in cozo::expr::functions::all().filter(|function| function.deterministic) {
        for (example, outcome) in function.examples.iter().filter(|(_, outcome)| !outcome.is_empty()) {
            // The parameter keeps the planner from computing the value itself.
            let script = format!("?[v] := u in [0, 1, 2], v = if(u == $id, {example}, null)");
            let parameters = BTreeMap::from([("id".to_string(), DataValue::from(1))]);
            let Ok(plan) = db.plan_json(&script, parameters, &RelationSizes::default()) else { continue };
            let rule = &plan["components"][0]["rules"][0];
            let spec = json!({
                "inputs": [{"slot": 1000, "encoding": "Int"}],
                "operators": rule["operators"].as_array().expect("a list").iter().filter(|part| part["op"] != "distinct").collect::<Vec<_>>(),
                "outputs": [{"slot": rule["head"][0], "encoding": "Ordered"}],
            });
            let rows = PortableRows::parse(&spec.to_string()).unwrap_or_else(|error| panic!("{error:?}\n{example}"));
            let found = rows.run(Batch::new(vec![Column::ints(vec![1])], 1));
            let found = found.unwrap_or_else(|error| panic!("{error:?}\n{example}")).row(1);
            let value = found[0].get_bytes().map(|bytes| cozo::decoded_value(bytes).expect("it was encoded"));
            let wanted = db.run_default(&format!("?[v] := v = {outcome}")).expect("an outcome is an expression").rows;
            assert_eq!(value.as_ref(), Some(&wanted[0][0]), "{example}");
            compared += 1;
        }
    }
    assert!(compared > 250, "only {compared} examples were compared");
}

#[test]
fn portable_groups_give_out_complete_groups() {
    let spec = json!({"columns": [
        {"encoding": "Int", "result": "Int"},
        {"encoding": "Int", "result": "Ordered", "aggregation": "collect", "arguments": []},
    ]});
    let mut groups = PortableGroups::parse(&spec.to_string()).expect("the columns are right");
    let (mut found, rows) = (vec![], 200_000);
    for start in (0..rows).step_by(1000) {
        let keys = (start..start + 1000).map(|row| row / 2).collect();
        let values = (start..start + 1000).collect();
        let batch = Batch::new(vec![Column::ints(keys), Column::ints(values)], 1000);
        found.extend(groups.take(batch).expect("they are grouped"));
    }
    assert!(!found.is_empty(), "some groups come before the end");
    found.push(groups.finish().expect("they are complete"));
    let keys: Vec<i64> =
        found.iter().flat_map(|batch| batch.columns[0].as_dense_ints().expect("integers").to_vec()).collect();
    assert_eq!(keys, (0..rows / 2).collect::<Vec<_>>());
    let pair = found[0].row(1)[1].get_bytes().map(|bytes| cozo::decoded_value(bytes).expect("it was encoded"));
    assert_eq!(pair, Some(DataValue::from(vec![2, 3])));
}

#[test]
fn groups_of_no_rows() {
    let column = |name: &str| json!({"encoding": "Int", "result": "Ordered", "aggregation": name, "arguments": []});
    let spec = json!({"columns": [column("count"), column("max")]});
    let mut groups = PortableGroups::parse(&spec.to_string()).expect("the columns are right");
    let found = groups.finish().expect("there is one group").row(0);
    let values: Vec<DataValue> = found
        .iter()
        .filter_map(DataValue::get_bytes)
        .map(|bytes| cozo::decoded_value(bytes).expect("encoded"))
        .collect();
    assert_eq!(values, [DataValue::from(0), DataValue::Null]);
}

#[test]
fn parts_that_are_no_parts_are_refused() {
    for text in [
        "",
        "{}",
        r#"{"inputs": [], "operators": [{"op": "sing"}], "outputs": []}"#,
        r#"{"inputs": [], "operators": [{"op": "filter", "test": {"call": "no_such_function", "arguments": []}}], "outputs": []}"#,
        r#"{"inputs": [], "operators": [{"op": "filter", "test": {"call": "sqrt", "arguments": []}}], "outputs": []}"#,
        r#"{"inputs": [{"slot": 0, "encoding": "Long"}], "operators": [], "outputs": []}"#,
    ] {
        let refused = PortableRows::parse(text).err().unwrap_or_else(|| panic!("{text} is accepted"));
        assert_eq!(refused.code().map(|code| code.to_string()).as_deref(), Some("plan::malformed"), "{text}");
    }
    let rows = PortableRows::parse(
        r#"{"inputs": [{"slot": 0, "encoding": "Native"}], "operators": [], "outputs": [{"slot": 0, "encoding": "Int"}]}"#,
    );
    let wrong =
        rows.expect("the form is right").run(Batch::new(vec![Column::floats(vec![0.5])], 1)).expect_err("no Int");
    assert_eq!(wrong.code().map(|code| code.to_string()).as_deref(), Some("plan::wrong_type"));
}
