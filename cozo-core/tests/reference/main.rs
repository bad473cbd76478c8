//! The reference pages of `docs/`: made of the registries of the crate, and current.
//!
//! Every example in a registry is run first, so that the pages say what is so. `make docs` writes the pages anew.

#[path = "../common/mod.rs"]
mod common;

mod aggregations;
mod algorithms;
mod errors;
mod functions;
mod operations;

use std::path::Path;

use cozo::{DataValue, DbInstance};

/// Set to write the pages instead of comparing them.
const BLESS: &str = "COZO_BLESS_DOCS";

/// What an example is and gives; an empty outcome means an error.
type Example = (&'static str, &'static str);

/// Compares a page with what it should be, or writes it.
fn check_page(name: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs").join(name);
    if std::env::var_os(BLESS).is_some() {
        std::fs::write(&path, text).expect("the page can be written");
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(found == text, "docs/{name} is not current: run `make docs`");
}

/// The first lines of a page.
fn title(heading: &str, source: &str, introduction: &str) -> String {
    format!("# {heading}\n\n<!-- Made by `make docs` from {source}: edit that. -->\n\n{}\n", introduction.trim_end())
}

/// The value of an expression.
fn value(expression: &str) -> cozo::Result<DataValue> {
    let rows = DbInstance::default().run_default(&format!("?[value] := value = {expression}"))?.rows;
    Ok(rows[0][0].clone())
}

/// What is wrong with an example, given the outcome of running it.
fn complaint((example, expected): Example, outcome: cozo::Result<DataValue>) -> Option<String> {
    match outcome {
        Err(_) if expected.is_empty() => None,
        Err(error) => Some(format!("{example}\n  fails: {error:?}")),
        Ok(found) if expected.is_empty() => Some(format!("{example}\n  gives {found} instead of an error")),
        Ok(found) => {
            let expected = value(expected).unwrap_or_else(|error| panic!("{expected}: {error:?}"));
            (found != expected).then(|| format!("{example}\n  gives {found} instead of {expected}"))
        }
    }
}

/// Runs examples, and fails with all that do not give what they say.
fn check_examples(examples: impl Iterator<Item = Example>, run: impl Fn(&str) -> cozo::Result<DataValue>) {
    let complaints: Vec<String> = examples.filter_map(|example| complaint(example, run(example.0))).collect();
    assert!(complaints.is_empty(), "\n{}", complaints.join("\n"));
}

/// Examples in one line each, as a list.
fn list_of(examples: &[Example]) -> String {
    let line = |(example, expected): &Example| match *expected {
        "" => format!("* `{example}` is an error\n"),
        expected => format!("* `{example}` gives `{expected}`\n"),
    };
    examples.iter().map(line).collect()
}
