//! Every step that must fail says what is wrong, where in the script, and what to do about it.

use std::fmt::Write as _;

use serde_json::Value;

use crate::case::{Area, Case, Step};
use crate::engines::SETTINGS;
use crate::folder;
use crate::run::{Outcome, run_case};

/// The areas whose errors are looked at.
#[rustfmt::skip]
const AREAS: &[&str] = &[
    "aggr", "algo_graph", "algo_path", "api", "bulk", "daily", "errors", "fn_compare", "fn_convert", "fn_json", "fn_list", "fn_math",
    "fn_misc", "fn_string", "fn_vec", "fts", "hnsw", "indices", "literals", "lsh", "options", "own_quirks", "recursion", "rules", "stored",
    "sysops", "time", "timetravel", "transactions", "triggers", "types", "utilities",
];

/// Errors whose code differs from the recorded one.
const OTHER_CODES: &[(&str, &str)] = &[
    // The recorded system takes `not` for a variable here; it is a keyword.
    ("errors/not_misuse/1", "parser::pest"),
    // The number of arguments is checked before the query runs, as for all functions.
    ("fn_list/int_range/8", "parser::func_wrong_num_args"),
    // A missing option has this code for every fixed rule.
    ("utilities/constant_missing_data/1", "fixed_rule::arg_not_found"),
];

#[test]
fn every_error_has_a_code_a_place_and_a_help() {
    let mut complaints = String::new();
    for area in AREAS.iter().map(|name| Area::load(&folder(), name)) {
        for case in area.cases.iter().filter(|case| case.steps.iter().any(must_fail)) {
            complain(&area.name, case, &mut complaints);
        }
    }
    assert!(complaints.is_empty(), "\n{complaints}");
}

fn must_fail(step: &Step) -> bool {
    step.expected["error"] == true
}

/// Runs a case and adds what is wrong with its errors.
fn complain(area: &str, case: &Case, complaints: &mut String) {
    let outcomes = run_case(case, &SETTINGS[0]);
    for (number, (step, outcome)) in
        case.steps.iter().zip(&outcomes).enumerate().filter(|(_, (step, _))| must_fail(step))
    {
        let name = format!("{area}/{}/{}", case.name, number + 1);
        let Outcome::Error(error) = outcome else { continue };
        let other = OTHER_CODES.iter().find(|(at, _)| *at == name).map(|(_, code)| *code);
        let code = other.or(step.expected["code"].as_str());
        for flaw in flaws(error, step, code) {
            let script = step.script.trim().replace('\n', "\n    ");
            let _ = writeln!(complaints, "{name}: {flaw}: {} [{}]\n    {script}", error["message"], error["code"]);
        }
    }
}

fn flaws(error: &Value, step: &Step, code: Option<&str>) -> Vec<String> {
    let mut flaws = vec![];
    match (error["code"].as_str(), code) {
        (None, _) => flaws.push("no code".to_string()),
        (Some(code), Some(recorded)) if code != recorded => flaws.push(format!("the code should be {recorded}")),
        _ => {}
    }
    if error["help"].as_str().is_none_or(str::is_empty) {
        flaws.push("no help".to_string());
    }
    // A call of the API has no script to point into.
    let has_script = step.op.as_deref().is_none_or(|op| op == "txrun");
    if has_script && let Some(flaw) = place(error) {
        flaws.push(flaw);
    }
    flaws
}

/// What is wrong with the label.
fn place(error: &Value) -> Option<String> {
    let script = error["script"].as_str().unwrap_or_default();
    let label = error["labels"].get(0);
    let Some(label) = label else { return Some("no place".to_string()) };
    if label["label"].as_str().is_none_or(str::is_empty) {
        return Some("the place has no label".to_string());
    }
    let number = |name: &str| label["span"][name].as_u64().and_then(|number| usize::try_from(number).ok());
    match (number("offset"), number("length")) {
        (Some(offset), Some(length)) if script.get(offset..offset + length).is_some() => None,
        _ => Some(format!("the place is not in the script: {label}")),
    }
}
