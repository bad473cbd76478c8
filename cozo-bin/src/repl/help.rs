//! `%help`: the commands, and all that has a name in the language.
//!
//! What is said comes from the registries that the parser, the resolver and the reference pages of `docs/` read, too.

use cozo::diag::nearest;
use cozo::expr::aggregations::AGGREGATIONS;
use cozo::expr::functions::{self, CONDITIONALS};
use cozo::fixed_rule::{BuiltInRule, FIXED_RULES};
use cozo::parse::{CONTROL_WORDS, MUTATIONS, OPTIONS, Word};
use cozo::session::{SEARCH_PARAMETERS, SYSTEM_OPS};

use super::meta::{Arguments, COMMANDS};
use super::pager;
use super::session::Session;
use crate::error::CliError;
use crate::output;

/// How to type.
const HOW_TO_TYPE: &str = "\
Type a script and Enter. An input that is not finished goes on: an open bracket or string, rules without one for ?, or
statements that begin with { or a word such as %if. An empty line or ; ends it. An input that begins with a space goes on
until an empty line. Options such as :order or :put, typed alone, continue the query before. Ctrl-C leaves what is typed, or
stops what runs; Ctrl-D exits.
";

/// Lists the commands, or explains a name.
pub fn help(session: &mut Session, name: Arguments<'_>) -> miette::Result<()> {
    match name.text {
        "" => Ok(list()?),
        name => Ok(pager::show(&explained(name)?, session.pages)?),
    }
}

fn list() -> Result<(), CliError> {
    output::line(HOW_TO_TYPE)?;
    COMMANDS.iter().try_for_each(|command| {
        let usage = format!("{} {}", command.name, command.arguments);
        output::line(format!("{usage:31} {}", command.doc))
    })?;
    output::line(
        "\n%help NAME explains one of these, or a name of the language: %help substr, %help PageRank, %help :put",
    )
}

/// Everything of this name, in sections with an empty line between them.
fn explained(name: &str) -> Result<String, CliError> {
    let name = name.trim_end_matches(['(', ')', '[', ']']);
    let sections: Vec<String> = entries().filter(|entry| entry.is_named(name)).map(|entry| entry.text()).collect();
    if !sections.is_empty() {
        return Ok(sections.join("\n\n"));
    }
    let names: Vec<String> = entries().flat_map(|entry| entry.names).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let meant = nearest(name, &names).map_or(String::new(), |meant| format!(": did you mean {meant}?"));
    Err(CliError::Usage(format!("nothing is named '{name}'{meant}")))
}

/// Something that has a name.
struct Entry {
    /// What it is.
    kind: &'static str,
    /// Its name, and other ones.
    names: Vec<String>,
    /// How it is written.
    usage: String,
    doc: String,
    /// Further lines.
    more: Vec<String>,
}

impl Entry {
    /// The same without its sign, too.
    fn is_named(&self, name: &str) -> bool {
        let bare = |text: &str| text.trim_start_matches([':', '%']).to_lowercase();
        let is_exact = name.starts_with([':', '%']);
        self.names.iter().any(|known| if is_exact { known == name } else { bare(known) == bare(name) })
    }

    fn text(&self) -> String {
        let others = &self.names[1..];
        let others = if others.is_empty() { String::new() } else { format!(", also {}", others.join(", ")) };
        let head = format!("{}  ({}{others})", output::bold(&self.usage), self.kind);
        let lines = [head, format!("  {}", self.doc)].into_iter();
        lines.chain(self.more.iter().map(|line| format!("  {line}"))).collect::<Vec<_>>().join("\n")
    }
}

/// All that can be explained.
fn entries() -> impl Iterator<Item = Entry> {
    let commands = COMMANDS.iter().map(|command| {
        let usage = format!("{} {}", command.name, command.arguments);
        entry("command", command.name, usage.trim_end(), command.doc, &[])
    });
    let functions = functions::all()
        .map(|function| call("function", function.name, function.parameters, function.doc, function.examples));
    let conditionals =
        CONDITIONALS.iter().map(|known| call("function", known.name, known.parameters, known.doc, known.examples));
    let aggregations =
        AGGREGATIONS.iter().map(|known| call("aggregation", known.name, known.parameters, known.doc, known.examples));
    let words = [("query option", OPTIONS), ("operation", MUTATIONS), ("control word", CONTROL_WORDS)];
    let words = words.into_iter().flat_map(|(kind, words)| words.iter().map(move |known| word(kind, known)));
    let operations = SYSTEM_OPS.iter().map(|(usage, doc)| operation(usage, doc));
    let parameters = SEARCH_PARAMETERS
        .iter()
        .map(|known| entry("parameter of searches", known.name, &format!("{}: VALUE", known.name), known.doc, &[]));
    commands
        .chain(functions)
        .chain(conditionals)
        .chain(aggregations)
        .chain(FIXED_RULES.iter().map(|rule| fixed_rule(rule)))
        .chain(words)
        .chain(operations)
        .chain(parameters)
}

fn entry(kind: &'static str, name: &str, usage: &str, doc: &str, examples: &[(&str, &str)]) -> Entry {
    let example = |(script, outcome): &(&str, &str)| {
        let script = script.lines().map(str::trim).collect::<Vec<_>>().join(" ");
        format!("{script}  gives {}", if outcome.is_empty() { "an error" } else { outcome })
    };
    Entry {
        kind,
        names: vec![name.to_string()],
        usage: usage.to_string(),
        doc: doc.to_string(),
        more: examples.iter().map(example).collect(),
    }
}

fn call(kind: &'static str, name: &str, parameters: &[&str], doc: &str, examples: &[(&str, &str)]) -> Entry {
    entry(kind, name, &format!("{name}({})", parameters.join(", ")), doc, examples)
}

fn word(kind: &'static str, word: &Word) -> Entry {
    let usage = format!("{} {}", word.name, word.arguments);
    let names = word.spellings().map(str::to_string).collect();
    Entry { names, ..entry(kind, word.name, usage.trim_end(), word.doc, word.examples) }
}

/// An operation goes by all of its words, and by the first one.
fn operation(usage: &str, doc: &str) -> Entry {
    let is_word = |word: &&str| word.starts_with("::") || word.chars().all(|c| c.is_ascii_lowercase());
    let words: Vec<&str> = usage.split(' ').take_while(is_word).collect();
    let mut entry = entry("system operation", &words.join(" "), usage, doc, &[]);
    if words.len() > 1 {
        entry.names.push(words[0].to_string());
    }
    entry
}

fn fixed_rule(rule: &BuiltInRule) -> Entry {
    let inputs = rule.inputs.iter().map(|input| format!("{}[]", input.name));
    let options = rule.options.iter().map(|option| format!("{}: {}", option.name, option.kind.describe()));
    let usage = format!("{}({})", rule.name, inputs.chain(options).collect::<Vec<_>>().join(", "));
    let columns = rule.output.describe();
    let inputs = rule.inputs.iter().map(|input| format!("{}[]: {}", input.name, input.doc));
    let options = rule.options.iter().map(|option| format!("{}: {}", option.name, option.doc));
    let more = std::iter::once(format!("gives {columns}")).chain(inputs).chain(options).collect();
    let names = std::iter::once(rule.name).chain(rule.aliases.iter().copied()).map(str::to_string).collect();
    Entry { names, more, ..entry("algorithm or reader", rule.name, &usage, rule.doc, &[]) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_explained() {
        for name in
            ["%save", "length", "if", "min", "PageRank", "breadthfirstsearch", ":order", ":sort", ":put", "%loop"]
        {
            assert!(explained(name).is_ok(), "{name}");
        }
        for entry in entries() {
            assert!(
                !entry.doc.is_empty() && entry.names.iter().all(|name| explained(name).is_ok()),
                "{:?}",
                entry.names
            );
        }
    }

    #[test]
    fn one_name_may_mean_several_things() {
        let text = explained("min").expect("it is a name");
        assert!(text.contains("(function)") && text.contains("(aggregation)"), "{text}");
        assert!(explained("::index").expect("it is a name").contains("::index drop"));
        assert!(explained("put").expect("it is a name").contains(":put REL"));
    }

    #[test]
    fn what_is_mistyped_is_said() {
        assert!(explained("lenght").expect_err("it is no name").to_string().contains("did you mean length?"));
    }
}
