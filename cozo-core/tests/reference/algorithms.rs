//! `docs/algorithms.md`.

use cozo::fixed_rule::{BuiltInRule, DefaultValue, FIXED_RULES, Output};
use cozo::{DataValue, DbInstance};

use crate::{check_examples, check_page, title};

const INTRODUCTION: &str = "\
A fixed rule computes a relation from whole relations: `?[node, score] <~ PageRank(*follows[], theta: 0.9)`. Inputs come first, rules
as `rule[]` and stored relations as `*relation[]`, then options by name. Names in the brackets, as in `*city[name, x, y]`, are for
options that are expressions over these columns; the rule gets all columns in any case.

Nodes are any values, told apart by identity: `1` and `1.0` are two nodes. A graph consists of its edges; nodes without edges exist only
if an input for nodes lists them. `undirected: true` adds every edge in the other direction. Costs and scores are 64-bit floats. Ties go
to the smaller value, so the same graph gives the same answer, whatever the order of its rows and the number of threads. Random choices
follow from a seed. All algorithms stop at a `:timeout`. V and E are the numbers of nodes and edges.
";

/// The rows that an example answers, as a list of lists.
fn run(script: &str) -> cozo::Result<DataValue> {
    let rows = DbInstance::default().run_default(script)?.rows;
    Ok(DataValue::List(rows.into_iter().map(DataValue::List).collect()))
}

#[test]
fn examples_give_what_they_say() {
    check_examples(FIXED_RULES.iter().flat_map(|rule| rule.examples).copied(), run);
}

#[test]
fn every_algorithm_is_documented() {
    for rule in FIXED_RULES {
        assert!(rule.doc.ends_with('.'), "{}", rule.name);
        let is_algorithm = rule.inputs.iter().any(|input| input.name == "edges");
        assert_eq!(is_algorithm, !rule.cost.is_empty(), "{}", rule.name);
        assert_eq!(is_algorithm, !rule.source.is_empty(), "{}", rule.name);
        assert!(!is_algorithm || !rule.examples.is_empty(), "{}", rule.name);
        for (script, _) in rule.examples {
            assert!(script.contains(&format!("<~ {}(", rule.name)), "{script} shows another rule");
        }
        assert!(
            rule.inputs
                .iter()
                .map(|input| input.doc)
                .chain(rule.options.iter().map(|option| option.doc))
                .all(|doc| !doc.is_empty())
        );
    }
}

/// What an option is if it is not given.
fn default(value: DefaultValue) -> String {
    match value {
        DefaultValue::Required => "required".to_string(),
        DefaultValue::Null => "optional".to_string(),
        DefaultValue::Bool(value) => format!("default `{value}`"),
        DefaultValue::Int(value) => format!("default `{value}`"),
        DefaultValue::Float(value) => format!("default `{}`", DataValue::from(value)),
        DefaultValue::Text(value) => format!("default `'{value}'`"),
    }
}

/// An example in one line.
fn example(script: &str, rows: &str) -> String {
    format!("* `{}` gives `{rows}`\n", script.split_whitespace().collect::<Vec<_>>().join(" "))
}

fn section(rule: &BuiltInRule) -> String {
    let names = rule.aliases.iter().map(|alias| format!(", `{alias}`")).collect::<String>();
    let columns = match rule.output {
        Output::Columns(columns) => format!("`{}`", columns.join("`, `")),
        output => output.describe(),
    };
    let mut text = format!("\n## `{}`{names}\n\n{}\n\nGives {columns}.\n\n", rule.name, rule.doc);
    for input in rule.inputs {
        let optional = if input.optional { ", optional" } else { "" };
        text.push_str(&format!("* input `{}`{optional}: {}\n", input.name, input.doc));
    }
    for option in rule.options {
        text.push_str(&format!(
            "* option `{}`, {}, {}: {}\n",
            option.name,
            option.kind.describe(),
            default(option.default),
            option.doc
        ));
    }
    for (label, note) in [("Cost", rule.cost), ("Source", rule.source)] {
        if !note.is_empty() {
            text.push_str(&format!("\n{label}: {note}{}\n", if note.ends_with('.') { "" } else { "." }));
        }
    }
    if !rule.examples.is_empty() {
        let examples: String = rule.examples.iter().map(|(script, rows)| example(script, rows)).collect();
        text.push_str(&format!("\n{examples}"));
    }
    text
}

#[test]
fn the_page_is_current() {
    let mut page = title("Fixed rules and graph algorithms", "`cozo-core/src/fixed_rule`", INTRODUCTION);
    FIXED_RULES.iter().for_each(|rule| page.push_str(&section(rule)));
    check_page("algorithms.md", &page);
}
