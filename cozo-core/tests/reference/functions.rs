//! `docs/functions.md`.

use std::fmt::Write;

use cozo::expr::functions::{self, CONDITIONALS, FAMILIES};
use cozo::parse;

use crate::{Example, check_examples, check_page, list_of, title, value};

const INTRODUCTION: &str = "\
A parameter that ends in `?` may be left out, and one that ends in `...` stands for any number of arguments. An argument of the
wrong type, null included, is an error (`eval::throw`) unless the entry says otherwise. Integers that do not fit in 64 bits are an error.
Wherever a List is expected, a Json array stands for the List of its elements. The result is then a List; `json` turns it into Json again.
Functions give the same result for the same arguments, except where the entry says *evaluated anew for every row*.
";

#[test]
fn examples_give_what_they_say() {
    check_examples(functions::all().flat_map(|function| function.examples).copied(), value);
    check_examples(CONDITIONALS.iter().flat_map(|conditional| conditional.examples).copied(), value);
}

#[test]
fn every_operator_calls_a_function() {
    for (operator, function) in parse::operators() {
        assert!(functions::find(function).is_some(), "{operator} calls '{function}'");
    }
}

#[test]
fn the_page_is_current() {
    let mut page = title("Functions", "`cozo-core/src/expr/functions`", INTRODUCTION);
    page.push('\n');
    let sections: Vec<&str> =
        std::iter::once("Conditionals").chain(FAMILIES.iter().map(|family| family.title)).collect();
    for section in &sections {
        let _ = writeln!(page, "* [{section}](#{})", section.to_lowercase().replace(' ', "-"));
    }
    page.push_str("\n## Conditionals\n");
    for conditional in CONDITIONALS {
        page.push_str(&entry(conditional.name, conditional.parameters, conditional.doc, conditional.examples));
    }
    for family in FAMILIES {
        let _ = writeln!(page, "\n## {}", family.title);
        for function in family.functions {
            let anew = if function.deterministic { "" } else { " *Evaluated anew for every row.*" };
            let doc = format!("{}{}{anew}", operator_of(function.name), function.doc);
            page.push_str(&entry(function.name, function.parameters, &doc, function.examples));
        }
    }
    check_page("functions.md", &page);
}

fn entry(name: &str, parameters: &[&str], doc: &str, examples: &[Example]) -> String {
    format!("\n### `{name}({})`\n\n{doc}\n\n{}", parameters.join(", "), list_of(examples))
}

/// How the function is written as an operator, if it can be.
fn operator_of(function: &str) -> String {
    let spelling = |operator: &str| match function {
        "minus" | "negate" => format!("Also written `{operator}x`. "),
        _ => format!("Also written `x {operator} y`. "),
    };
    parse::operators().filter(|(_, called)| *called == function).map(|(operator, _)| spelling(operator)).collect()
}
