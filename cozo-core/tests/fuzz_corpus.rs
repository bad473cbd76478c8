//! The fuzz targets over mangled scripts, for a few seconds each and with the same random numbers in every run.
//!
//! `make fuzz` runs the same targets for as long as one likes, with inputs that grow towards code not seen yet.

#![allow(clippy::unwrap_used)] // tests may panic

#[path = "conformance/case.rs"]
#[allow(dead_code)]
mod case;
#[path = "../../fuzz/targets.rs"]
mod targets;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::time::{Duration, Instant};

use case::{Area, Case, area_names};

const SCRIPTS: &str = include_str!("corpus/parse/scripts.txt");
const CANONICAL: &str = include_str!("corpus/parse/canonical.txt");
const BROKEN: &str = include_str!("corpus/parse/broken.txt");

/// How long each target runs: 5 seconds, or what `COZO_FUZZ_SECONDS` says. The random numbers are then others.
fn time_for_each() -> (Duration, u64) {
    let given = std::env::var("COZO_FUZZ_SECONDS").ok().and_then(|text| text.parse().ok());
    let seconds = given.unwrap_or(5);
    (Duration::from_secs(seconds), given.unwrap_or(0))
}

fn scripts() -> Vec<String> {
    let scripts = SCRIPTS.split("\n=====\n").chain(CANONICAL.split("\n---\n")).chain(BROKEN.split("\n---\n"));
    scripts.map(str::to_string).collect()
}

/// The scripts of each conformance case, one after another; files are not to be read.
fn cases() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../conformance");
    let cases = area_names(&folder).into_iter().flat_map(|area| Area::load(&folder, &area).cases);
    let text = |case: Case| -> String {
        let steps: Vec<String> =
            case.steps.into_iter().filter(|step| step.op.is_none()).map(|step| step.script).collect();
        steps.join(targets::SEPARATOR)
    };
    cases.map(text).filter(|text| !text.contains("{{TMP}}")).collect()
}

/// Numbers that look random and are the same in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % bound.max(1) as u64) as usize
    }
}

/// One small harm done to a text.
fn mutate(text: &mut Vec<u8>, random: &mut Random) {
    const SPLICES: [&str; 16] = [
        "(",
        ")",
        "[",
        "]",
        "{",
        "}",
        "\"",
        "'",
        "_\"",
        "/*",
        "*/",
        "é",
        " not ",
        "\\u",
        ":put r {a}",
        "9999999999999999999",
    ];
    let at = random.below(text.len());
    let end = (at + random.below(20)).min(text.len());
    match random.below(6) {
        0 if !text.is_empty() => text[at] ^= 1 << random.below(7),
        1 => text.truncate(at),
        2 => text.splice(at..at, SPLICES[random.below(SPLICES.len())].bytes()).for_each(drop),
        3 => text.drain(at..end).for_each(drop),
        4 => {
            let copy = text[at..end].to_vec();
            text.splice(end..end, copy).for_each(drop);
        }
        _ => text.insert(at, random.below(128) as u8),
    }
}

/// Runs a target over mangled texts until the time is over.
fn run(target: fn(&str), texts: &[String], seed: u64) {
    let (limit, other_seed) = time_for_each();
    let mut random = Random(seed + other_seed);
    let started = Instant::now();
    let mut count = 0;
    while started.elapsed() < limit {
        let mut text = texts[random.below(texts.len())].as_bytes().to_vec();
        for _ in 0..=random.below(3) {
            mutate(&mut text, &mut random);
        }
        let text = String::from_utf8_lossy(&text);
        assert!(catch_unwind(AssertUnwindSafe(|| target(&text))).is_ok(), "{text}");
        count += 1;
    }
    assert!(count > 50, "only {count} texts in {limit:?}");
}

#[test]
fn mangled_scripts_parse_or_are_errors() {
    run(targets::parse, &scripts(), 0x5eed);
}

#[test]
fn mangled_scripts_end_in_answers_or_errors() {
    run(targets::evaluate, &scripts(), 0xfeed);
}

#[test]
fn mangled_cases_end_in_answers_or_errors() {
    run(targets::evaluate, &cases(), 0xbeef);
}

#[test]
fn what_does_not_end_is_interrupted() {
    targets::evaluate("%loop {?[x] <- [[1]]} %end");
    targets::evaluate("n[x] := x = 0  n[x] := n[y], x = y + 1  ?[x] := n[x] :timeout 0");
}
