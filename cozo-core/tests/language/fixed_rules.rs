//! Fixed rules: how they are applied, and rules of the host as a program for the crate `cozo` 0.7 writes them.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use cozo::{
    DataValue, DbInstance, Expr, FixedRule, FixedRuleInputRelation, FixedRulePayload, NamedRows, Poison,
    RegularTempStore, Result, ScriptMutability, SimpleFixedRule, SmallStr, SourceSpan, Symbol, format_error_as_json,
};
use serde_json::{Value, json};

use crate::common::{PATIENCE, code, failure, rows, run_with};

type Options = BTreeMap<SmallStr, Expr>;

/// The rows that a script answers, as JSON.
fn answer(db: &DbInstance, script: &str) -> Value {
    rows(db, script).into_iter().map(DataValue::from).collect::<Vec<_>>().into_iter().map(Value::from).collect()
}

/// A rule that says what it was given: for each input the headers and rows, then the options.
fn echo() -> SimpleFixedRule {
    SimpleFixedRule::new(1, |inputs: Vec<NamedRows>, options: BTreeMap<String, DataValue>| {
        let mut rows: Vec<Vec<DataValue>> =
            inputs.into_iter().map(|input| vec![input.into_json().to_string().into()]).collect();
        rows.extend(options.into_iter().map(|(name, value)| vec![format!("{name} = {value}").into()]));
        Ok(NamedRows::new(vec!["text".to_string()], rows))
    })
}

fn with_echo() -> DbInstance {
    let db = DbInstance::default();
    db.register_fixed_rule("Echo".to_string(), echo()).unwrap();
    db
}

fn shown(headers: &[&str], rows: Value) -> Value {
    json!([json!({"headers": headers, "rows": rows, "next": null}).to_string()])
}

#[test]
fn inputs_are_whole_relations_under_the_names_given_to_their_columns() {
    let db = with_echo();
    rows(&db, "?[k, v, w] <- [[2, 'b', 0], [1, 'a', 9]] :create s {k => v, w}");
    let r = "r[a, b] <- [[2, 3], [1, 5]]";
    let sorted = json!([[1, 5], [2, 3]]);
    let stored = json!([[1, "a", 9], [2, "b", 0]]);
    for (input, headers, expected) in [
        ("r[]", vec!["_0", "_1"], &sorted),
        ("r[x]", vec!["x", "_1"], &sorted),
        ("r[_, y]", vec!["_0", "y"], &sorted),
        ("r[x, y, z]", vec!["x", "y"], &sorted),
        ("*s[]", vec!["_0", "_1", "_2"], &stored),
        ("*s[x, y]", vec!["x", "y", "_2"], &stored),
        ("*s{v: x}", vec!["_0", "x", "_2"], &stored),
        ("*s{w, k}", vec!["k", "_1", "w"], &stored),
        ("*s{}", vec!["_0", "_1", "_2"], &stored),
    ] {
        let script = format!("{r}  ?[t] <~ Echo({input})");
        assert_eq!(answer(&db, &script), json!([shown(&headers, expected.clone())]), "{input}");
    }
    let two = answer(&db, &format!("{r}  ?[t] <~ Echo(r[x], opt: 1, *s[k])"));
    assert_eq!(two.as_array().unwrap().len(), 3, "options may stand among the inputs: {two}");
}

#[test]
fn inputs_may_be_rules_of_any_kind_and_are_complete() {
    let db = with_echo();
    rows(&db, "?[a, b] <- [[1, 2], [2, 3], [3, 4]] :create e {a, b}");
    let path = "p[a, b] := *e[a, b]  p[a, c] := p[a, b], *e[b, c]";
    // The other use of `p` binds its first column; the input must not be restricted by that.
    let script = format!("{path}  x[t] <~ Echo(p[])  ?[t, b] := x[t], p[1, b], b == 2");
    let everything = json!([[1, 2], [1, 3], [1, 4], [2, 3], [2, 4], [3, 4]]);
    assert_eq!(answer(&db, &script)[0][0], shown(&["_0", "_1"], everything)[0]);
    let shortest = "d[n, min(c)] := n = 1, c = 0  d[n, min(c)] := d[m, k], *e[m, n], c = k + 1";
    let script = format!("{shortest}  ?[] <~ Echo(d[])");
    assert_eq!(answer(&db, &script), json!([shown(&["_0", "_1"], json!([[1, 0], [2, 1], [3, 2], [4, 3]]))]));
    let chained = "a[x] <- [[1]]  b[x] <~ Echo(a[])  ?[x] <~ Echo(b[])";
    assert_eq!(answer(&db, chained).as_array().unwrap().len(), 1);
    let improved = "d[n, min(c)] := n = 1, c = 9  d[n, min(c)] := d[n, k], k > 5, c = k - 1  ?[t] <~ Echo(d[])";
    assert_eq!(answer(&db, improved), json!([shown(&["_0", "_1"], json!([[1, 5]]))]), "superseded rows are gone");
}

#[test]
fn stored_inputs_are_read_as_of_a_time() {
    let db = with_echo();
    rows(&db, ":create h {k, at: Validity => v}");
    rows(&db, "?[k, at, v] <- [['a', [10, true], 1], ['b', [15, true], 2], ['a', [20, false], 0]] :put h {k, at => v}");
    let (a, b) = (json!(["a", [10, true], 1]), json!(["b", [15, true], 2]));
    let headers = ["k", "_1", "v"];
    for (time, expected) in [(9, json!([])), (10, json!([a])), (15, json!([a, b])), (25, json!([b]))] {
        for input in ["*h{k, v @ $t}", "*h[k, _1, v @ $t]", "*h{k, v @ $t + 0}"] {
            let seen = run_with(&db, &format!("?[t] <~ Echo({input})"), &[("t", time)]).unwrap().rows;
            assert_eq!(seen[0][0].get_str(), shown(&headers, expected.clone())[0].as_str(), "{input} at {time}");
        }
    }
    let two = answer(&db, "?[t] <~ Echo(*h{k @ 10}, *h{v @ 25}, *h{k: y})");
    let all = json!([["a", [20, false], 0], a, b]);
    let mut expected = [(["k", "_1", "_2"], json!([a])), (["_0", "_1", "v"], json!([b])), (["y", "_1", "_2"], all)]
        .map(|(headers, rows)| shown(&headers, rows)[0].clone());
    expected.sort_by_key(|text| text.to_string());
    let sorted: Vec<Value> = two.as_array().unwrap().iter().map(|row| row[0].clone()).collect();
    assert_eq!(sorted, expected, "each input has its own time");
    rows(&db, ":create plain {k}");
    assert_eq!(failure(&db, "?[t] <~ Echo(*plain[k @ 5])"), "eval::invalid_time_travel");
    assert_eq!(failure(&db, "?[t] <~ Echo(*h[k @ 'yesterday'])"), "parser::bad_validity_spec");
    assert_eq!(failure(&db, "?[t] <~ Echo(*h[k @ k])"), "eval::not_constant");
    let wrong = run_with(&db, "?[t] <~ Echo(*h[k @ $t / 2])", &[("t", 5)]).unwrap_err();
    assert_eq!(code(wrong), "parser::bad_validity_spec", "2.5 is no time");
}

#[test]
fn stored_inputs_may_be_indices() {
    let db = with_echo();
    rows(&db, "?[k, v] <- [[1, 'b'], [2, 'a']] :create s {k => v}");
    rows(&db, "::index create s:by_v {v, k}");
    let expected = json!([shown(&["v", "_1"], json!([["a", 2], ["b", 1]]))]);
    assert_eq!(answer(&db, "?[t] <~ Echo(*s:by_v{v})"), expected);
}

#[test]
fn inputs_see_what_the_transaction_wrote() {
    let db = with_echo();
    let script = "{?[a] <- [[1]] :create _t {a}} {?[a] <- [[2]] :put _t {a}} {?[t] <~ Echo(*_t[])}";
    assert_eq!(answer(&db, script), json!([shown(&["_0"], json!([[1], [2]]))]));
    rows(&db, ":create s {a}");
    let held = db.multi_transaction(true);
    held.run_script("?[a] <- [[7]] :put s {a}", BTreeMap::new()).unwrap();
    let seen = held.run_script("?[t] <~ Echo(*s[])", BTreeMap::new()).unwrap();
    assert_eq!(seen.rows[0][0].get_str(), shown(&["_0"], json!([[7]]))[0].as_str());
    held.abort().unwrap();
}

#[test]
fn options_are_evaluated() {
    let db = with_echo();
    let script = "?[t] <~ Echo(a: 1 + $p, b: ['x', $p], c: {'k': null})";
    let expected = ["a = 5", "b = [\"x\", 4]", "c = {\"k\":null}"].map(|text| vec![DataValue::from(text)]);
    assert_eq!(run_with(&db, script, &[("p", 4)]).unwrap().rows, expected);
    let again = run_with(&db, script, &[("p", 5)]).unwrap().rows;
    assert_eq!(again[0][0].get_str(), Some("a = 6"), "the same script with another value");
    assert_eq!(failure(&db, "?[t] <~ Echo(a: x)"), "eval::not_constant");
    assert_eq!(failure(&db, "?[t] <~ Echo(a: 1 + 'x')"), "eval::throw");
    assert_eq!(failure(&db, "?[t] <~ Echo(a: $p)"), "parser::param_not_found");
}

#[test]
fn heads_fit_or_are_left_out() {
    let db = with_echo();
    let result = db.run_default("r[a] <- [[1]]  ?[] <~ Echo(r[])").unwrap();
    assert_eq!(result.headers, ["_0"]);
    for (script, expected) in [
        ("?[a, b] <~ Echo()", "parser::fixed_rule_head_arity_mismatch"),
        ("?[count(a)] <~ Echo()", "parser::fixed_aggr_conflict"),
        ("?[a] <~ Nothing()", "parser::fixed_rule_not_found"),
        ("x[a] <~ Nothing()  ?[a] <- [[1]]", "parser::fixed_rule_not_found"),
        ("?[a] <~ Echo(r[])", "algo::rule_not_found"),
        ("?[a] <~ Echo(*r[])", "query::relation_not_found"),
        ("r[x, y] <- [[1, 2]]  ?[a] <~ Echo(r[z, z])", "parser::duplicate_bindings_for_fixed_rule"),
        ("r[x] <- [[1]]  ?[a] <~ Echo(r[z], r[z])", "parser::duplicate_bindings_for_fixed_rule"),
        ("r[x, y] <- [[1, 2]]  ?[a] <~ Echo(r[_, _], r[_, z])", ""),
        ("?[a] <~ Echo()  ?[a] <~ Echo()", "parser::mult_rule_def"),
        ("?[a] <~ Echo()  ?[a] := a = 1", "parser::mult_rule_def"),
        ("x[a] <~ Echo(y[])  y[a] := x[a]  ?[a] := x[a]", "eval::unstratifiable"),
        ("x[a] <~ Echo(x[])  ?[a] := x[a]", "eval::unstratifiable"),
        ("x[a] <~ Echo(y[])  y[a] <~ Echo(x[])  ?[a] := x[a]", "eval::unstratifiable"),
        ("x[a] <~ Constant()  ?[a] := x[a]", "fixed_rule::arg_not_found"),
    ] {
        let found = db.run_default(script).err().map(code).unwrap_or_default();
        assert_eq!(found, expected, "{script}");
    }
    rows(&db, "?[k] <- [[1]] :create h {k}");
    assert_eq!(failure(&db, "?[a] <~ Echo(*h{v: x})"), "eval::named_field_not_found");
    rows(&db, "::access_level hidden h");
    assert_eq!(failure(&db, "?[a] <~ Echo(*h[])"), "tx::insufficient_access_level");
}

#[test]
fn errors_show_the_place_and_help() {
    let db = with_echo();
    rows(&db, "?[k] <- [[1]] :create h {k}");
    let pieces = [
        ("r[x] <- [[1]]  ?[i, x] <~ ReorderSort(r[x], out: [y])", "y"),
        ("r[x] <- [[1]]  ?[i, x] <~ ReorderSort(r[x], out: [x], take: 'many')", "'many'"),
        ("r[x] <- [[1]]  ?[i, x] <~ ReorderSort(r[x], out: 7)", "7"),
        ("?[x] <~ CsvReader(url: 'file:///nowhere', types: ['Number'])", "['Number']"),
        ("?[x] <~ CsvReader(url: 'file:///nowhere', types: ['Int'])", "CsvReader"),
        ("?[a] <~ Echo(h[])", "h[]"),
        ("?[a, b] <~ Echo(*h[])", "?[a, b]"),
        ("?[a] <~ Echo(*h[z], *h[z])", "z"),
    ];
    for (script, piece) in pieces {
        let error = format_error_as_json(db.run_default(script).expect_err(script), Some(script));
        let span = &error["labels"][0]["span"];
        let at = |name: &str| usize::try_from(span[name].as_u64().expect("there is a label")).unwrap();
        let shown = &script[at("offset")..at("offset") + at("length")];
        assert!(shown.starts_with(piece), "{script}: '{shown}'");
        assert!(error["help"].is_string(), "{error}");
    }
}

#[test]
fn the_plan_names_fixed_rules() {
    let db = with_echo();
    let plan = answer(&db, "::explain { r[a] <- [[1]]  ?[t] <~ Echo(r[x], b: 2, a: 1 + 1) }");
    let line = plan.as_array().unwrap().iter().find(|line| line[5] == "Echo").expect("there is a line for the rule");
    assert_eq!((&line[4], &line[7]), (&json!("algo"), &json!(["Echo(r[x], a: 2, b: 2)"])));
    rows(&db, ":create h {k, at: Validity}");
    let script = "{ x[t] <~ Echo(*h[k @ 5])  ?[t] := x[t], t != '' }";
    let plan = answer(&db, &format!("::explain {script}"));
    assert_eq!(plan[0][7], json!(["Echo(*h[k @ 5])"]));
    let analyzed = answer(&db, &format!("::explain analyze {script}"));
    assert_eq!((&analyzed[0][5], &analyzed[0][9]), (&json!("Echo"), &json!(1)));
    assert!(analyzed[0][11].as_f64().unwrap() > 0.0, "its time is measured: {analyzed}");
    assert!(analyzed.as_array().unwrap().iter().any(|line| line[9] == json!(1)), "those after it have: {analyzed}");
}

#[test]
fn a_limit_cuts_what_a_fixed_rule_gives_in_order() {
    let db = DbInstance::default();
    let script = "r[x] <- [[3], [1], [2]]  ?[i, x] <~ ReorderSort(r[x], out: [x], sort_by: -x)";
    assert_eq!(answer(&db, &format!("{script} :limit 2")), json!([[1, 3], [2, 2]]));
    assert_eq!(answer(&db, &format!("{script} :order x :offset 1 :limit 1")), json!([[2, 2]]));
    rows(&db, &format!("{script} :create ranked {{i => x}}"));
    assert_eq!(answer(&db, "?[x] := *ranked[1, x]"), json!([[3]]));
}

/// A rule that uses all there is to read options with.
struct Reader;

impl FixedRule for Reader {
    fn init_options(&self, options: &mut Options, span: SourceSpan) -> Result<()> {
        options.entry("added".into()).or_insert(Expr::Constant(DataValue::from(42), span));
        Ok(())
    }

    fn arity(&self, options: &Options, head: &[Symbol], _span: SourceSpan) -> Result<usize> {
        assert!(options.contains_key("added"), "the options are initialised first");
        Ok(if head.is_empty() { 2 } else { head.len() })
    }

    fn run(&self, payload: FixedRulePayload<'_, '_>, out: &mut RegularTempStore, _poison: Poison) -> Result<()> {
        let mut put = |name: &str, value: DataValue| out.put(vec![name.into(), value]);
        put("name", payload.name().into());
        put("count", DataValue::from(payload.inputs_count() as i64));
        put("string", DataValue::Str(payload.string_option("string", Some("default"))?));
        put("integer", payload.integer_option("integer", Some(-1))?.into());
        put("positive", DataValue::from(payload.pos_integer_option("positive", Some(1))? as i64));
        put("natural", DataValue::from(payload.non_neg_integer_option("natural", Some(0))? as i64));
        put("float", payload.float_option("float", Some(0.5))?.into());
        put("unit", payload.unit_interval_option("unit", Some(1.0))?.into());
        put("bool", payload.bool_option("bool", Some(true))?.into());
        put("added", payload.integer_option("added", None)?.into());
        put(
            "expr",
            payload.expr_option("expr", Some(Expr::Constant(DataValue::Null, payload.span())))?.to_string().into(),
        );
        if payload.inputs_count() > 9 {
            payload.option_span("integer")?;
        }
        Ok(())
    }
}

#[test]
fn options_are_read_with_defaults_and_checked() {
    let db = DbInstance::default();
    db.register_fixed_rule("Reader".to_string(), Reader).unwrap();
    let table = |script: &str| -> BTreeMap<String, Value> {
        rows(&db, script)
            .into_iter()
            .map(|row| (row[0].get_str().unwrap().to_string(), row[1].clone().into()))
            .collect()
    };
    let defaults = table("?[k, v] <~ Reader()");
    let expected = json!({"name": "Reader", "count": 0, "string": "default", "integer": -1, "positive": 1, "natural": 0,
        "float": 0.5, "unit": 1.0, "bool": true, "added": 42, "expr": "null"});
    assert_eq!(json!(defaults), expected);
    let given = table(
        "r[a] <- [[1]]  ?[] <~ Reader(r[], string: 's', integer: 2.0, positive: 3, natural: 4, float: 5, unit: 0, \
         bool: false, added: 6, expr: a + 1)",
    );
    let expected = json!({"name": "Reader", "count": 1, "string": "s", "integer": 2, "positive": 3, "natural": 4,
        "float": 5.0, "unit": 0.0, "bool": false, "added": 6, "expr": "add(a, 1)"});
    assert_eq!(json!(given), expected);
    for wrong in [
        "string: 1",
        "integer: 1.5",
        "integer: 'x'",
        "positive: 0",
        "natural: -1",
        "float: null",
        "unit: 1.5",
        "unit: -0.1",
        "bool: 1",
    ] {
        assert_eq!(failure(&db, &format!("?[k, v] <~ Reader({wrong})")), "fixed_rule::arg_wrong", "{wrong}");
    }
    assert_eq!(failure(&db, "?[a, b, c] <~ Reader()"), "parser::simple_fixed_rule_arity_mismatch");
}

/// A rule that uses all there is to read inputs with.
struct Walker;

impl FixedRule for Walker {
    fn arity(&self, _: &Options, _: &[Symbol], _: SourceSpan) -> Result<usize> {
        Ok(1)
    }

    fn run(&self, payload: FixedRulePayload<'_, '_>, out: &mut RegularTempStore, poison: Poison) -> Result<()> {
        let edges: FixedRuleInputRelation<'_, '_> = payload.get_input(0)?.ensure_min_len(2)?;
        assert_eq!(edges.arity()?, 2);
        assert_eq!(edges.get_binding_map(3), BTreeMap::from([(Symbol::new("to", edges.span()), 4)]));
        let start = payload.get_input(1)?.iter()?.next().expect("there is a start")?;
        let mut waiting = start.clone();
        while let Some(node) = waiting.pop() {
            poison.check()?;
            if out.exists(&vec![node.clone()]) {
                continue;
            }
            for edge in edges.prefix_iter(&node)? {
                waiting.push(edge?[1].clone());
            }
            out.put(vec![node]);
        }
        let (graph, values, numbers) = edges.as_directed_graph(false)?;
        for (value, number) in &numbers {
            assert_eq!(&values[*number as usize], value);
            let neighbors: Vec<_> = graph.out_neighbors(*number).iter().map(|n| values[*n as usize].clone()).collect();
            let mut rows: Vec<_> = edges.prefix_iter(value)?.map(|edge| edge.unwrap()[1].clone()).collect();
            rows.sort();
            assert_eq!(
                neighbors.iter().cloned().collect::<std::collections::BTreeSet<_>>().into_iter().collect::<Vec<_>>(),
                rows
            );
        }
        Ok(())
    }
}

#[test]
fn inputs_are_read_as_rows_by_prefix_and_as_graphs() {
    let db = DbInstance::default();
    db.register_fixed_rule("Walker".to_string(), Walker).unwrap();
    let edges = "[[1, 2], [2, 1], [2, 'x'], [1.0, 3], [7, 8]]";
    let derived = format!("e[a, b] <- {edges}  s[x] <- [[1]]  ?[n] <~ Walker(e[_, to], s[])");
    assert_eq!(answer(&db, &derived), json!([[1], [2], ["x"]]));
    rows(&db, &format!("?[a, b] <- {edges} :create e {{a, b}}"));
    assert_eq!(answer(&db, "s[x] <- [[1.0]]  ?[n] <~ Walker(*e{b: to}, s[])"), json!([[1.0], [3]]));
    assert_eq!(failure(&db, "?[n] <~ Walker()"), "fixed_rule::not_enough_args");
    assert_eq!(failure(&db, "e[a] <- [[1]]  ?[n] <~ Walker(e[])"), "algo::input_relation_bad_arity");
    assert_eq!(failure(&db, "?[n] <~ Walker(*e[_, to])"), "fixed_rule::not_enough_args");
}

#[test]
fn rules_are_registered_and_unregistered() {
    let db = DbInstance::default();
    assert!(db.get_fixed_rules().contains_key("ReorderSort"));
    assert_eq!(failure(&db, "?[t] <~ Echo(a: 1)"), "parser::fixed_rule_not_found");
    db.register_fixed_rule("Echo".to_string(), echo()).unwrap();
    assert_eq!(answer(&db, "?[t] <~ Echo(a: 1)"), json!([["a = 1"]]), "a script that failed before");
    let listed = rows(&db, "::fixed_rules");
    assert!(listed.contains(&vec!["Echo".into()]) && listed.contains(&vec!["Constant".into()]) && listed.is_sorted());
    assert!(db.clone().get_fixed_rules().contains_key("Echo"), "all handles share the rules");
    let again = db.register_fixed_rule("Echo".to_string(), echo()).unwrap_err();
    assert!(again.to_string().contains("already registered"), "{again}");
    for name in ["ReorderSort", "Constant", "PageRank", "SCC"] {
        assert!(db.register_fixed_rule(name.to_string(), echo()).is_err(), "{name} is taken");
        assert!(db.unregister_fixed_rule(name).is_err(), "{name} is built in");
    }
    assert!(db.unregister_fixed_rule("Echo").unwrap());
    assert!(!db.unregister_fixed_rule("Echo").unwrap());
    assert_eq!(failure(&db, "?[t] <~ Echo(a: 1)"), "parser::fixed_rule_not_found");
    let other = SimpleFixedRule::new(2, |_, _| Ok(NamedRows::new(vec![], vec![vec![1.into(), 2.into()]])));
    db.register_fixed_rule("Echo".to_string(), other).unwrap();
    assert_eq!(failure(&db, "?[t] <~ Echo(a: 1)"), "parser::fixed_rule_head_arity_mismatch");
    assert_eq!(answer(&db, "?[] <~ Echo(a: 1)"), json!([[1, 2]]));
}

#[test]
fn built_in_rules_of_the_host_view_are_the_real_ones() {
    struct Wrapped(Arc<Box<dyn FixedRule>>);
    impl FixedRule for Wrapped {
        fn arity(&self, options: &Options, head: &[Symbol], span: SourceSpan) -> Result<usize> {
            self.0.arity(options, head, span)
        }
        fn run(&self, payload: FixedRulePayload<'_, '_>, out: &mut RegularTempStore, poison: Poison) -> Result<()> {
            self.0.run(payload, out, poison)
        }
    }
    let db = DbInstance::default();
    let rules = db.get_fixed_rules();
    db.register_fixed_rule("Sorted".to_string(), Wrapped(rules["ReorderSort"].clone())).unwrap();
    db.register_fixed_rule("Rows".to_string(), Wrapped(rules["Constant"].clone())).unwrap();
    let script = "r[x] <~ Rows(data: [[5], [4]])  ?[i, y] <~ Sorted(r[x], out: [x * 2], sort_by: x)";
    assert_eq!(answer(&db, script), json!([[1, 8], [2, 10]]));
    assert_eq!(failure(&db, "?[] <~ Rows(data: [[5], [4, 3]])"), "fixed_rule::arg_wrong");
}

#[test]
fn errors_and_misfits_of_the_host_fail_the_query() {
    let db = DbInstance::default();
    let failing = SimpleFixedRule::new(1, |_, _| Err(cozo::Error::msg("out of paper")));
    let misfit = SimpleFixedRule::new(1, |_, _| Ok(NamedRows::new(vec![], vec![vec![1.into(), 2.into()]])));
    db.register_fixed_rule("Failing".to_string(), failing).unwrap();
    db.register_fixed_rule("Misfit".to_string(), misfit).unwrap();
    let error = db.run_default("?[a] <~ Failing()").unwrap_err();
    assert_eq!(error.to_string(), "out of paper");
    assert_eq!(failure(&db, "?[a] <~ Misfit()"), "parser::simple_fixed_rule_arity_mismatch");
    rows(&db, ":create r {a}");
    assert!(db.run_default("{?[a] <- [[1]] :put r {a}} {?[a] <~ Failing() :put r {a}}").is_err());
    assert_eq!(rows(&db, "?[a] := *r[a]").len(), 0, "nothing was written");
    assert_eq!(rows(&db, "%ignore_error {?[a] <~ Failing()} {?[a] <- [[1]]}").len(), 1);
}

#[test]
fn a_rule_may_run_scripts_itself() {
    let db = DbInstance::default();
    rows(&db, "?[a] <- [[1], [2]] :create r {a}");
    let handle = db.clone();
    let nested = SimpleFixedRule::new(1, move |_, _| {
        handle.run_script("?[count(a)] := *r[a]", BTreeMap::new(), ScriptMutability::Immutable)
    });
    db.register_fixed_rule("Nested".to_string(), nested).unwrap();
    assert_eq!(answer(&db, "?[n] <~ Nested()"), json!([[2]]));
}

#[test]
fn rules_are_answered_over_channels() {
    let db = DbInstance::default();
    let (rule, requests) = SimpleFixedRule::rule_with_channel(1);
    db.register_fixed_rule("Remote".to_string(), rule).unwrap();
    let worker = std::thread::spawn(move || {
        for (inputs, options, answer) in requests.iter().take(3) {
            let Some(factor) = options.get("factor").and_then(DataValue::get_int) else {
                // The second request: an error. The third is dropped.
                if !inputs.is_empty() {
                    answer.send(Err(cozo::Error::msg("no factor"))).unwrap();
                }
                continue;
            };
            let rows = inputs[0].rows.iter().map(|row| vec![(row[0].get_int().unwrap() * factor).into()]).collect();
            answer.send(Ok(NamedRows::new(vec![], rows))).unwrap();
        }
    });
    assert_eq!(answer(&db, "r[x] <- [[1], [2]]  ?[y] <~ Remote(r[], factor: 3)"), json!([[3], [6]]));
    assert_eq!(db.run_default("r[x] <- [[1]]  ?[y] <~ Remote(r[])").unwrap_err().to_string(), "no factor");
    assert_eq!(failure(&db, "?[y] <~ Remote()"), "fixed_rule::no_answer");
    worker.join().unwrap();
    assert_eq!(failure(&db, "?[y] <~ Remote(factor: 1)"), "fixed_rule::no_answer", "the receiver is gone");
}

/// A rule that goes on until the poison stops it, and says when it began and that it ended.
struct Endless(Arc<AtomicBool>, Arc<AtomicUsize>);

impl FixedRule for Endless {
    fn arity(&self, _: &Options, _: &[Symbol], _: SourceSpan) -> Result<usize> {
        Ok(1)
    }

    fn run(&self, _: FixedRulePayload<'_, '_>, _: &mut RegularTempStore, poison: Poison) -> Result<()> {
        self.0.store(true, Ordering::SeqCst);
        let outcome = loop {
            if let Err(stopped) = poison.check() {
                break Err(stopped);
            }
            std::thread::sleep(Duration::from_millis(1));
        };
        self.1.fetch_add(1, Ordering::SeqCst);
        outcome
    }
}

#[test]
fn a_rule_of_the_host_stops_at_its_timeout_and_when_it_is_killed() {
    let db = DbInstance::default();
    let (began, ended) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
    db.register_fixed_rule("Endless".to_string(), Endless(began.clone(), ended.clone())).unwrap();
    let start = Instant::now();
    let error = format_error_as_json(db.run_default("?[a] <~ Endless() :timeout 0.3").unwrap_err(), None);
    assert_eq!(error["code"], "eval::killed");
    assert!(error["help"].as_str().unwrap().contains(":timeout"), "{error}");
    assert!((Duration::from_millis(250)..Duration::from_secs(20)).contains(&start.elapsed()));
    assert_eq!(ended.load(Ordering::SeqCst), 1);

    began.store(false, Ordering::SeqCst);
    let running = std::thread::spawn({
        let db = db.clone();
        move || db.run_default("?[a] <~ Endless() :timeout 0").map_err(code)
    });
    while !began.load(Ordering::SeqCst) {
        assert!(start.elapsed() < PATIENCE);
        std::thread::sleep(Duration::from_millis(1));
    }
    db.interrupt_all();
    assert_eq!(running.join().unwrap().unwrap_err(), "eval::killed");
    assert_eq!(ended.load(Ordering::SeqCst), 2);
}

#[test]
fn a_query_that_waits_for_a_channel_stops_at_its_timeout() {
    let db = DbInstance::default();
    let (rule, requests) = SimpleFixedRule::rule_with_channel(1);
    db.register_fixed_rule("Remote".to_string(), rule).unwrap();
    assert_eq!(failure(&db, "?[y] <~ Remote() :timeout 0.2"), "eval::killed");
    let (.., late) = requests.recv_timeout(PATIENCE).unwrap();
    assert!(late.send(Ok(NamedRows::default())).is_err(), "nobody waits any more");
}
