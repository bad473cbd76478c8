//! The script cases of `conformance/` on every engine, a test for each area.
//!
//! [`case`] reads the files, [`run`] runs a case against a fresh database, [`compare`] says how the outcome differs from
//! what is expected. `conformance/README.md` documents the format.

mod case;
mod compare;
mod diagnostics;
#[path = "../common/engines.rs"]
mod engines;
mod run;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use case::{Area, Case};
use engines::{SETTINGS, Setting};
use run::Outcome;

/// The folder of the cases.
fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../conformance")
}

/// Runs an area on every engine; fails with the differences of all cases that do not do as they should.
fn check(name: &str) {
    let area = Area::load(&folder(), name);
    let mut complaints = Vec::new();
    for (setting, case) in SETTINGS.iter().flat_map(|setting| area.cases.iter().map(move |case| (setting, case))) {
        if let Some(difference) = difference(case, setting) {
            complaints.push(format!("--- {name}/{} on {setting}\n{difference}", case.name));
        }
    }
    let runs = SETTINGS.len() * area.cases.len();
    assert!(
        complaints.is_empty(),
        "{} of {runs} cases do not do as they should\n{}",
        complaints.len(),
        complaints.join("\n")
    );
}

/// How the first step that differs from what is expected does so.
fn difference(case: &Case, setting: &Setting) -> Option<String> {
    let outcomes = run::run_case(case, setting);
    for (number, (step, outcome)) in case.steps.iter().zip(&outcomes).enumerate() {
        let lines = compare::differences(step, outcome);
        if !lines.is_empty() {
            let op = step.op.as_deref().map(|op| format!(" ({op})")).unwrap_or_default();
            let script = step.script.trim().replace('\n', "\n    ");
            return Some(format!("step {}{op}:\n    {script}\n  {}", number + 1, lines.join("\n  ")));
        }
    }
    (outcomes.len() < case.steps.len())
        .then(|| format!("it ended after {} of {} steps", outcomes.len(), case.steps.len()))
}

macro_rules! areas {
    ($($area:ident)*) => {
        $(
            #[test]
            fn $area() {
                check(stringify!($area));
            }
        )*

        #[test]
        fn every_area_has_a_test() {
            let tested: BTreeSet<String> = [$(stringify!($area).to_string()),*].into();
            assert_eq!(case::area_names(&folder()), tested);
        }
    };
}

areas! {
    aggr algo_graph algo_path api bulk daily errors fn_compare fn_convert fn_json fn_list fn_math fn_misc fn_string fn_vec fts hnsw
    evaluation indices literals lsh meaning options own_quirks recursion rules stored sysops time timetravel transactions triggers types utilities
}

#[test]
fn the_comparison_sees_what_differs() {
    use serde_json::json;
    let rows = |rows: serde_json::Value| json!({"headers": ["a"], "rows": rows});
    let table = [
        ("", json!([[1], [2]]), json!([[2], [1]]), true),
        ("exact", json!([[1], [2]]), json!([[2], [1]]), false),
        ("", json!([[1]]), json!([[1.0]]), false),
        ("loosenum", json!([[1]]), json!([[1.0]]), true),
        ("", json!([[1.0]]), json!([[1.0000000000001]]), true),
        ("", json!([[1.0]]), json!([[1.0001]]), false),
        ("tol=1e-3", json!([[1.0]]), json!([[1.0001]]), true),
        ("bag=0", json!([[[1, 2]]]), json!([[[2, 1]]]), true),
        ("ignore=0", json!([[1]]), json!([[2]]), true),
        ("count", json!([[1]]), json!([[2]]), true),
        ("count", json!([[1]]), json!([]), false),
        ("headers", json!([[1]]), json!([]), true),
        ("ok", json!([[1]]), json!([]), true),
        ("", json!([[{"$float": "nan"}]]), json!([[null]]), false),
    ];
    for (flags, expected, got, alike) in table {
        let mut step = case::Step::parse(flags, "?[a] := a = 1");
        step.expected = rows(expected.clone());
        let differences = compare::differences(&step, &Outcome::Answer(rows(got.clone())));
        assert_eq!(differences.is_empty(), alike, "'{flags}' {expected} {got}: {differences:?}");
    }
}
