//! `docs/operations.md`: query options, operations on stored relations, control words, system operations.

use std::fmt::Write;

use cozo::parse::{CONTROL_WORDS, MUTATIONS, OPTIONS, Word};
use cozo::session::SYSTEM_OPS;
use cozo::{DataValue, DbInstance};

use crate::{Example, check_examples, check_page, title};

const INTRODUCTION: &str = "\
A script is one query (rules and options), one system operation, or statements: queries and system operations in braces, with
control words between them. A script is one transaction. Examples begin with an empty database.
";

/// Examples of the system operations, by their words; no outcome is given where it differs from run to run.
const SYSTEM_EXAMPLES: &[(&str, &[Example])] = &[
    ("::access_level", &[("{:create r {k}} {::access_level read_only r} {?[k] <- [[1]] :put r {k}}", "")]),
    (
        "::columns",
        &[(
            "{:create r {k: Int => v: String? default 'x'}} {::columns r}",
            "[['k', true, 0, 'Int', false], ['v', false, 1, 'String?', true]]",
        )],
    ),
    (
        "::columns add",
        &[
            (
                "{?[k] <- [[1]] :create r {k: Int}} {::columns r add {v: String default 'x', twice: Int = k * 2}} {?[k, v, twice] := *r[k, v, twice]}",
                "[[1, 'x', 2]]",
            ),
            ("{:create r {k}} {::columns r add {v: Int}}", ""),
        ],
    ),
    ("::columns drop", &[("{?[k, v] <- [[1, 'a']] :create r {k => v}} {::columns r drop v} {?[k] := *r[k]}", "[[1]]")]),
    (
        "::columns key",
        &[
            (
                "{?[k, v] <- [[1, 'b'], [2, 'a']] :create r {k => v}} {::columns r key {v}} {?[v, k] := *r[v, k]}",
                "[['a', 2], ['b', 1]]",
            ),
            ("{?[k, v] <- [[1, 'a'], [2, 'a']] :create r {k => v}} {::columns r key {v}}", ""),
        ],
    ),
    ("::columns rename", &[("{?[k] <- [[1]] :create r {k}} {::columns r rename k -> id} {?[id] := *r{id}}", "[[1]]")]),
    (
        "::columns retype",
        &[(
            "{?[k, v] <- [[1, '7']] :create r {k => v: String}} {::columns r retype {v: Int default 0}} {?[k, v] := *r[k, v]}",
            "[[1, 7]]",
        )],
    ),
    ("::compact", &[("::compact", "[['OK']]")]),
    (
        "::describe",
        &[(
            "{:create r {k}} {::describe r 'what was seen'} {::relations}",
            "[['r', 1, 'normal', 1, 0, 0, 0, 0, 'what was seen']]",
        )],
    ),
    (
        "::explain",
        &[(
            "{:create r {k => v}} {::explain {?[v] := *r{k: 1, v}}}",
            "[[0, 0, '?[v] := *r[1, v]', 1, 'out', null, [], ['_0', 'run: one row'], '?'],
 [0, 0, '?[v] := *r[1, v]', 0, 'stored_prefix_join', ':r', ['k = 1'], ['v -> _0'], '?']]",
        )],
    ),
    ("::explain analyze", &[("{:create r {k}} {::explain analyze {?[k] := *r{k}}}", UNCHECKED)]),
    ("::fixed_rules", &[("::fixed_rules", UNCHECKED)]),
    (
        "::index create",
        &[
            (
                "{?[k, v] <- [[1, 'a'], [2, 'b']] :create r {k => v}}
                 {::index create r:by_v {v}}
                 {?[v, k] := *r:by_v{v, k}}",
                "[['a', 1], ['b', 2]]",
            ),
            ("{:create r {k => v}} {::index create r:by_w {w}}", ""),
        ],
    ),
    ("::index drop", &[("{:create r {k => v}} {::index create r:by_v {v}} {::index drop r:by_v} {::indices r}", "[]")]),
    ("::indices", &[("{:create r {k => v}} {::index create r:by_v {v}} {::indices r}", UNCHECKED)]),
    ("::kill", &[("::kill 123", "[['NOT_FOUND']]")]),
    ("::relations", &[("{:create r {k => v}} {::relations}", "[['r', 2, 'normal', 1, 1, 0, 0, 0, '']]")]),
    (
        "::fts create",
        &[(
            "{?[k, t] <- [[1, 'an apple a day'], [2, 'Apples and pears']] :create d {k => t}}
             {::fts create d:words {extractor: t, tokenizer: Simple, filters: [Lowercase, Stemmer('english')]}}
             {?[k] := ~d:words{k | query: 'apple AND pear', k: 10}}",
            "[[2]]",
        )],
    ),
    (
        "::fts drop",
        &[(
            "{:create d {k => t}} {::fts create d:i {extractor: t, tokenizer: Simple}} {::fts drop d:i} {::indices d}",
            "[]",
        )],
    ),
    (
        "::hnsw create",
        &[(
            "{?[k, v] <- [[1, [0, 0]], [2, [5, 5]]] :create p {k => v: <F32; 2>}}
             {::hnsw create p:near {dim: 2, fields: [v], m: 16, ef_construction: 50}}
             {?[k, d] := ~p:near{k | query: vec([4, 4]), k: 1, ef: 20, bind_distance: d}}",
            "[[2, 2.0]]",
        )],
    ),
    (
        "::hnsw drop",
        &[(
            "{:create p {k => v: <F32; 2>}} {::hnsw create p:i {dim: 2, fields: v, m: 8, ef: 20}} {::hnsw drop p:i} {::indices p}",
            "[]",
        )],
    ),
    (
        "::lsh create",
        &[(
            "{?[k, t] <- [[1, 'to be or not to be'], [2, 'that is the question']] :create d {k => t}}
             {::lsh create d:like {extractor: t, tokenizer: Simple, n_gram: 2, target_threshold: 0.5}}
             {?[k] := ~d:like{k | query: 'to be, or not to be?'}}",
            "[[1]]",
        )],
    ),
    (
        "::lsh drop",
        &[(
            "{:create d {k => t}} {::lsh create d:i {extractor: t, tokenizer: Simple}} {::lsh drop d:i} {::indices d}",
            "[]",
        )],
    ),
    (
        "::reindex",
        &[(
            "{?[k, t] <- [[1, 'an apple'], [2, 'a pear']] :create d {k => t}}
             {::fts create d:words {extractor: t, tokenizer: Simple}}
             {::reindex d:words}
             {?[k] := ~d:words{k | query: 'pear', k: 10}}",
            "[[2]]",
        )],
    ),
    ("::remove", &[("{:create r {k}} {::remove r} {?[k] := *r{k}}", "")]),
    ("::rename", &[("{?[k] <- [[1]] :create r {k}} {::rename r -> s} {?[k] := *s{k}}", "[[1]]")]),
    ("::replica", &[("::replica", "[]")]),
    ("::running", &[("::running", UNCHECKED)]),
    (
        "::set_triggers on",
        &[(
            "{:create r {k}} {:create log {k}}
             {::set_triggers r on put {?[k] := _new[k] :put log {k}}}
             {?[k] <- [[1], [2]] :put r {k}}
             {?[k] := *log{k}}",
            "[[1], [2]]",
        )],
    ),
    (
        "::show_triggers",
        &[(
            "{:create r {k}} {::set_triggers r on rm {?[k] := _old[k] :assert none}} {::show_triggers r}",
            "[['rm', 0, '?[k] := _old[k] :assert none']]",
        )],
    ),
];

/// Stands for an outcome that differs from run to run, or from version to version.
const UNCHECKED: &str = "...";

/// All rows that a script gives, as a list.
fn run(script: &str) -> cozo::Result<DataValue> {
    let rows = DbInstance::default().run_default(script)?.rows;
    Ok(DataValue::List(rows.into_iter().map(DataValue::List).collect()))
}

/// The words of a system operation, without what is put in for the capitals.
fn words_of(usage: &str) -> String {
    let is_fixed = |word: &&str| word.chars().all(|c| c.is_ascii_lowercase() || matches!(c, ':' | '_'));
    usage.split(' ').take_while(|word| *word != "{").filter(is_fixed).collect::<Vec<_>>().join(" ")
}

fn system_examples(usage: &str) -> &'static [Example] {
    let words = words_of(usage);
    SYSTEM_EXAMPLES.iter().find(|(known, _)| *known == words).map_or(&[], |(_, examples)| examples)
}

#[test]
fn examples_give_what_they_say() {
    let words = [OPTIONS, MUTATIONS, CONTROL_WORDS].into_iter().flatten();
    check_examples(words.flat_map(|word| word.examples).copied(), run);
    let system = SYSTEM_EXAMPLES.iter().flat_map(|(_, examples)| *examples).copied();
    check_examples(system.filter(|(_, expected)| *expected != UNCHECKED), run);
}

#[test]
fn every_system_operation_has_an_example() {
    for (usage, _) in SYSTEM_OPS {
        assert!(!system_examples(usage).is_empty(), "give {usage} an example in SYSTEM_EXAMPLES");
    }
}

#[test]
fn the_page_is_current() {
    let mut page =
        title("Operations", "`cozo-core/src/parse/vocabulary.rs` and `cozo-core/src/session/sys`", INTRODUCTION);
    page.push('\n');
    let sections =
        [("Query options", OPTIONS), ("Operations on stored relations", MUTATIONS), ("Control words", CONTROL_WORDS)];
    for (section, _) in sections.iter().chain(&[("System operations", OPTIONS)]) {
        let _ = writeln!(page, "* [{section}](#{})", section.to_lowercase().replace(' ', "-"));
    }
    for (section, words) in sections {
        let _ = writeln!(page, "\n## {section}");
        words.iter().for_each(|word| page.push_str(&word_entry(word)));
    }
    page.push_str("\n## System operations\n");
    for (usage, doc) in SYSTEM_OPS {
        page.push_str(&entry(usage, &sentence(doc), system_examples(usage)));
    }
    check_page("operations.md", &page);
}

fn word_entry(word: &Word) -> String {
    let spellings: Vec<&str> = word.spellings().collect();
    let aliases = match spellings[1..].join("`, `") {
        aliases if aliases.is_empty() => aliases,
        aliases => format!("Also written `{aliases}`. "),
    };
    entry(format!("{} {}", word.name, word.arguments).trim_end(), &format!("{aliases}{}", word.doc), word.examples)
}

/// A line of a list as a sentence.
fn sentence(doc: &str) -> String {
    let (first, rest) = doc.split_at(doc.chars().next().map_or(0, char::len_utf8));
    format!("{}{rest}.", first.to_uppercase())
}

fn entry(usage: &str, doc: &str, examples: &[Example]) -> String {
    let mut text = format!("\n### `{usage}`\n\n{doc}\n\n");
    for (script, outcome) in examples {
        let outcome = match *outcome {
            "" => "an error".to_string(),
            outcome if outcome.contains('\n') => format!("\n```\n{}\n```", aligned(outcome)),
            outcome => format!("`{outcome}`"),
        };
        let _ = writeln!(text, "```\n{}\n```\ngives {outcome}\n", aligned(script));
    }
    text.truncate(text.trim_end().len());
    text + "\n"
}

/// The text without the indentation that its further lines have in the source.
fn aligned(text: &str) -> String {
    let indentation = |line: &str| line.len() - line.trim_start().len();
    let common = text.lines().skip(1).map(indentation).min().unwrap_or(0);
    let lines = text.lines().enumerate().map(|(number, line)| if number == 0 { line } else { &line[common..] });
    lines.collect::<Vec<_>>().join("\n")
}
