//! The words of the language with what they mean, as the editor of the page completes them: `page/vocabulary.json`.
//!
//! They come from the registries that the parser, the resolver and the reference pages of `docs/` read, too.

use std::sync::LazyLock;

use cozo::expr::aggregations::AGGREGATIONS;
use cozo::expr::functions::{self, CONDITIONALS};
use cozo::fixed_rule::{BuiltInRule, FIXED_RULES};
use cozo::parse::{CONTROL_WORDS, MUTATIONS, OPTIONS, Word};
use cozo::schema::BaseType;
use cozo::session::{SEARCH_PARAMETERS, SYSTEM_OPS, SearchParameter};
use serde_json::{Value, json};

/// The vocabulary as JSON: lists of `{name, kind, insert, detail, doc}` by their use.
pub fn json() -> &'static str {
    static TEXT: LazyLock<String> = LazyLock::new(|| vocabulary().to_string());
    &TEXT
}

fn vocabulary() -> Value {
    json!({
        "aggregations": AGGREGATIONS.iter().map(|a| call("aggregation", a.name, a.parameters, a.doc)).collect::<Vec<_>>(),
        "control": words("control", CONTROL_WORDS),
        "fixed_rules": FIXED_RULES.iter().flat_map(|rule| fixed_rule(rule)).collect::<Vec<_>>(),
        "functions": callables(),
        "mutations": words("operation", MUTATIONS),
        "options": words("option", OPTIONS),
        "search_parameters": SEARCH_PARAMETERS.iter().map(search_parameter).collect::<Vec<_>>(),
        "system": SYSTEM_OPS.iter().map(|(usage, doc)| system_op(usage, doc)).collect::<Vec<_>>(),
        "types": types().map(|name| entry("type", &name, &name, "", "")).collect::<Vec<_>>(),
    })
}

/// A word: its name, what it becomes in the script, what stands beside it in the list, and what it means.
fn entry(kind: &str, name: &str, insert: &str, detail: &str, doc: &str) -> Value {
    json!({ "name": name, "kind": kind, "insert": insert, "detail": detail, "doc": doc })
}

fn call(kind: &str, name: &str, parameters: &[&str], doc: &str) -> Value {
    entry(kind, name, &format!("{name}("), &format!("({})", parameters.join(", ")), doc)
}

fn search_parameter(parameter: &SearchParameter) -> Value {
    entry("parameter", parameter.name, &format!("{}: ", parameter.name), "", parameter.doc)
}

fn callables() -> Vec<Value> {
    let conditionals = CONDITIONALS.iter().map(|c| call("function", c.name, c.parameters, c.doc));
    let mut all: Vec<Value> =
        functions::all().map(|f| call("function", f.name, f.parameters, f.doc)).chain(conditionals).collect();
    all.sort_by_key(|entry| entry["name"].to_string());
    all
}

fn words(kind: &str, words: &[Word]) -> Vec<Value> {
    let spellings = |word: &Word| -> Vec<Value> {
        let entry = |name| entry(kind, name, &followed(name, word.arguments), word.arguments, word.doc);
        word.spellings().map(entry).collect()
    };
    words.iter().flat_map(spellings).collect()
}

/// The column types, with an example of those that have parts.
fn types() -> impl Iterator<Item = String> {
    use BaseType::{Any, Bool, Bytes, Float, Int, Json, String, Uuid, Validity, Vector};
    let types = [Any, Bool, Int, Float, String, Bytes, Uuid, Json, Validity, Vector { wide: false, len: 3 }];
    types.into_iter().map(|base| base.to_string())
}

/// A word with a space behind it if more has to follow.
fn followed(name: &str, arguments: &str) -> String {
    if arguments.is_empty() { name.to_string() } else { format!("{name} ") }
}

/// An operation, of which only the words before its arguments are written.
fn system_op(usage: &str, doc: &str) -> Value {
    let is_word = |word: &&str| word.starts_with("::") || word.chars().all(|c| c.is_ascii_lowercase());
    let name = usage.split(' ').take_while(is_word).collect::<Vec<_>>().join(" ");
    let arguments = usage[name.len()..].trim_start();
    entry("system", &name, &followed(&name, arguments), arguments, doc)
}

fn fixed_rule(rule: &BuiltInRule) -> Vec<Value> {
    let inputs = rule.inputs.iter().map(|input| format!("{}[]", input.name));
    let options = rule.options.iter().map(|option| format!("{}:", option.name));
    let arguments = inputs.chain(options).collect::<Vec<_>>().join(", ");
    let columns = rule.output.describe();
    let doc = format!("{} Gives {columns}.", rule.doc);
    let options: Vec<Value> = rule
        .options
        .iter()
        .map(|option| entry("option", option.name, &format!("{}: ", option.name), option.kind.describe(), option.doc))
        .collect();
    let named = |name: &str| {
        let mut made = entry("fixed rule", name, &format!("{name}("), &format!("({arguments})"), &doc);
        made["options"] = json!(options);
        made
    };
    std::iter::once(rule.name).chain(rule.aliases.iter().copied()).map(named).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_has_a_name_and_a_meaning() {
        let vocabulary = vocabulary();
        let lists = vocabulary.as_object().expect("it is an object");
        for (list, entries) in lists {
            let entries = entries.as_array().expect("it is a list");
            assert!(entries.len() > 5, "{list} has {} entries", entries.len());
            for entry in entries {
                assert!(entry["name"].as_str().is_some_and(|name| !name.is_empty()), "{entry}");
                assert!(list == "types" || entry["doc"].as_str().is_some_and(|doc| !doc.is_empty()), "{entry}");
            }
        }
    }

    #[test]
    fn operations_are_words_and_arguments() {
        let op = system_op("::index create REL:NAME { COLUMN, ... }", "");
        assert_eq!((&op["name"], &op["insert"]), (&json!("::index create"), &json!("::index create ")));
        assert_eq!(op["detail"], "REL:NAME { COLUMN, ... }");
        assert_eq!(system_op("::running", "")["insert"], "::running");
        assert_eq!(system_op("::explain analyze { QUERY }", "")["name"], "::explain analyze");
    }
}
