//! Random programs, two answers: what the engine says in several ways, and what a naive evaluation says.
//!
//! A [`program::Program`] is generated as data from a seed. It is evaluated by its definition in [`naive`], and printed as
//! CozoScript for the engine: as it is, without magic sets, with its rules and atoms shuffled, with its stored relations
//! as constant rules, with indices on its stored relations. All answers must be the same. A program that fails is made smaller before it is shown.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod generate;
mod large;
mod naive;
mod program;
mod shrink;

use cozo::{DataValue, DbInstance};
use rand::SeedableRng;
use rand::rngs::StdRng;

use naive::Rows;
use program::Program;

/// How an answer of the engine is wrong.
#[derive(Clone, Debug)]
pub struct Failure {
    /// The same for failures of the same kind.
    pub kind: String,
    /// All there is to know.
    pub report: String,
}

/// The scripts that must all give the answer of the program.
fn variants(program: &Program, seed: u64) -> Vec<(&'static str, String)> {
    let mut random = StdRng::seed_from_u64(seed);
    let plain = program.script(false, None);
    let without_magic = format!("{plain}:disable_magic_rewrite true\n");
    let mut variants = vec![
        ("as generated", plain.clone()),
        ("without magic sets", without_magic),
        ("in the written order", format!("{plain}:disable_join_reorder true\n")),
        ("with neither", format!("{plain}:disable_magic_rewrite true\n:disable_join_reorder true\n")),
        ("with a limit that is not reached", format!("{plain}:limit 100000\n")),
        ("with constant rules for stored relations", program.script(true, None)),
    ];
    // Some aggregations depend on the order in which atoms are written.
    if !program.order_matters() {
        variants.push(("shuffled", program.script(false, Some(&mut random))));
        variants.push(("shuffled again", program.script(false, Some(&mut random))));
    }
    variants
}

/// The failure of a program, if it has one.
fn check(program: &Program, seed: u64) -> Option<Failure> {
    let expected = naive::answer(program)?;
    let db = DbInstance::default();
    // Its queries put all rows on disk that may go there.
    let on_disk = DbInstance::new("mem", "", r#"{"spill_mb": 0}"#).expect("the options are right");
    for (db, script) in program.setup().iter().flat_map(|script| [(&db, script), (&on_disk, script)]) {
        if let Err(error) = db.run_default(script) {
            return Some(Failure { kind: "setup".to_string(), report: format!("{error:?}\n{script}") });
        }
    }
    let fails_in = |db: &DbInstance, name: &str| {
        let named = |(variant, script)| compare(db, &format!("{variant}{name}"), script, &expected, program);
        variants(program, seed).iter().map(|(variant, script)| (*variant, script.as_str())).find_map(named)
    };
    let fails = |name: &str| fails_in(&db, name);
    if let Some(failure) = fails("").or_else(|| fails_in(&on_disk, ", on disk")) {
        return Some(failure);
    }
    let indices = program.indices(&mut StdRng::seed_from_u64(seed));
    for script in &indices {
        db.run_default(script).unwrap_or_else(|error| panic!("{error:?}\n{script}"));
    }
    let made = format!(", with {}", indices.join(" "));
    fails(&made).map(|failure| Failure { kind: "with indices".to_string(), ..failure })
}

fn compare(db: &DbInstance, name: &str, script: &str, expected: &Rows, program: &Program) -> Option<Failure> {
    let setup = program.setup().join("\n");
    let report = |found: String| format!("{name}:\n{setup}\n---\n{script}\n{found}\nexpected: {expected:?}");
    match db.run_default(script) {
        // Sorted and without repetitions.
        Ok(rows) if rows.rows.iter().eq(expected) => None,
        Ok(rows) => {
            Some(Failure { kind: format!("{name} differs"), report: report(format!("found:    {:?}", rows.rows)) })
        }
        // What only the recursion binds, a negated group cannot wait for.
        Err(error) if error.to_string().contains("needs the rule's own result") => None,
        Err(error) => {
            let message = format!("{error:?}");
            Some(Failure { kind: error.to_string(), report: report(message) })
        }
    }
}

fn check_seeds(seeds: std::ops::Range<u64>, generate: fn(u64) -> Program) {
    for seed in seeds {
        let program = generate(seed);
        let Some(failure) = check(&program, seed) else { continue };
        let (_, failure) = shrink::shrink(program, failure, &|smaller| check(smaller, seed));
        panic!("seed {seed}, {}", failure.report);
    }
}

#[test]
fn programs_0() {
    check_seeds(0..200, generate::program);
}

#[test]
fn programs_1() {
    check_seeds(200..400, generate::program);
}

#[test]
fn programs_2() {
    check_seeds(400..600, generate::program);
}

#[test]
fn programs_of_ordered_aggregations() {
    check_seeds(0..1000, generate::ordered_program);
}

#[test]
fn programs_of_the_environment() {
    if let Some(count) = std::env::var("COZO_RANDOM_PROGRAMS").ok().and_then(|count| count.parse::<u64>().ok()) {
        check_seeds(1000..1000 + count, generate::program);
        check_seeds(1000..1000 + count, generate::ordered_program);
    }
}

/// Programs for tests of other engines, which ask for them: a JSON object a line with the scripts that make the relations, and the query.
#[test]
fn programs_for_other_engines() {
    let Ok(file) = std::env::var("COZO_PROGRAMS_FILE") else { return };
    let count = std::env::var("COZO_PROGRAMS").ok().and_then(|count| count.parse().ok()).unwrap_or(100);
    let valid = (0..).map(generate::program).filter(|program| naive::answer(program).is_some()).take(count);
    let line = |program: Program| {
        serde_json::json!({"setup": program.setup(), "script": program.script(false, None)}).to_string()
    };
    let lines: Vec<String> = valid.map(line).collect();
    std::fs::write(file, lines.join("\n")).expect("the file can be written");
}

/// The generator would prove little if its programs answered nothing.
#[test]
fn most_programs_answer_something() {
    let answers: Vec<usize> =
        (0..250).filter_map(|seed| Some(naive::answer(&generate::program(seed))?.len())).take(200).collect();
    assert_eq!(answers.len(), 200, "most programs are valid");
    let empty = answers.iter().filter(|rows| **rows == 0).count();
    let large = answers.iter().filter(|rows| **rows >= 5).count();
    assert!(empty < 100 && large > 20, "{empty} of 200 are empty, {large} have five rows or more");
}

/// A wrong answer must be noticed, and made small.
#[test]
fn a_wrong_answer_is_found_and_shrunk() {
    let seed =
        (0..).find(|seed| naive::answer(&generate::program(*seed)).is_some_and(|rows| rows.len() > 3)).expect("one");
    let wrong = |program: &Program| {
        let rows = naive::answer(program)?;
        (!rows.is_empty()).then(|| Failure { kind: "claimed empty".to_string(), report: program.script(true, None) })
    };
    let program = generate::program(seed);
    let before = program.script(true, None).len();
    let failure = wrong(&program).expect("it has rows");
    let (smaller, _) = shrink::shrink(program, failure, &wrong);
    assert!(smaller.script(true, None).len() < before);
    assert!(
        compare(&DbInstance::default(), "", "?[a] <- [[1], [2]]", &Rows::from([vec![DataValue::from(1)]]), &smaller)
            .is_some()
    );
}
