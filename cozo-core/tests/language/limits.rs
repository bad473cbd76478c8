//! Queries that are far too large end in an error, or in an answer, never in a crash.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use cozo::{DbInstance, format_error_as_json};

/// The code of the error that a script ends in, on a thread with the usual small stack.
fn code_on_small_stack(script: String) -> String {
    let run = move || {
        let error = DbInstance::default().run_default(&script).unwrap_err();
        format_error_as_json(error, Some(&script))["code"].as_str().unwrap_or_default().to_string()
    };
    std::thread::Builder::new().stack_size(2 << 20).spawn(run).unwrap().join().unwrap()
}

fn body_of(atoms: usize) -> String {
    let atoms: Vec<String> = (0..atoms).map(|i| format!("x{i} = {i}")).collect();
    format!("?[x0] := {}", atoms.join(", "))
}

#[test]
fn a_body_of_very_many_atoms_is_refused() {
    assert_eq!(code_on_small_stack(body_of(20_000)), "parser::too_many_atoms");
}

#[test]
fn a_body_of_many_atoms_runs_on_a_small_stack() {
    let run = || DbInstance::default().run_default(&body_of(1000)).unwrap().rows.len();
    let rows = std::thread::Builder::new().stack_size(2 << 20).spawn(run).unwrap().join().unwrap();
    assert_eq!(rows, 1);
}

#[test]
fn disjunctions_that_multiply_are_refused() {
    let group = "(a = 1 or a = 2)";
    let script = format!("?[a] := {}", vec![group; 40].join(", "));
    assert_eq!(code_on_small_stack(script), "parser::too_many_disjuncts");
}

#[test]
fn a_long_chain_of_rules_runs() {
    let chain: Vec<String> = (1..3000).map(|i| format!("r{i}[x] := r{}[x]", i - 1)).collect();
    let script = format!("r0[x] := x = 7 {} ?[x] := r2999[x]", chain.join(" "));
    let rows = DbInstance::default().run_default(&script).unwrap().rows;
    assert_eq!(rows, vec![vec![cozo::DataValue::from(7)]]);
}

#[test]
fn a_rule_of_many_joins_is_read_by_another() {
    let db = DbInstance::default();
    db.run_default("?[a, b] <- [[1, 1], [2, 2]] :create r {a => b}").unwrap();
    let joins: Vec<String> = (0..100).map(|i| format!("*r[x{i}, x{}]", i + 1)).collect();
    let script = format!("s[x0, y] := {}, y = x0 + 1, y > 2  ?[a, y] := s[a, y], *r[a, y - 1]", joins.join(", "));
    let rows = db.run_default(&script).unwrap().rows;
    assert_eq!(rows, [[2.into(), 3.into()]]);
}
