//! Syntax errors in the user's words: what was found, what could stand there, and how to mend common mistakes.
//!
//! For `?[a] :- r[a]` the help is: a rule with a body is written `head := body`.

use pest::error::{Error, ErrorVariant, InputLocation};

use super::advice::advice;
use super::error::ParseError;
use super::grammar::Rule;
use super::position::describe_position;
use super::prescan::{Scanned, closing};
use super::vocabulary::{CONTROL_WORDS, MUTATIONS, OPTIONS, Word};

const SYSTEM_OPS: [&str; 19] = [
    "::relations",
    "::running",
    "::compact",
    "::fixed_rules",
    "::columns",
    "::indices",
    "::describe",
    "::remove",
    "::rename",
    "::index",
    "::hnsw",
    "::fts",
    "::lsh",
    "::set_triggers",
    "::show_triggers",
    "::access_level",
    "::kill",
    "::explain",
    "::explain analyze",
];

/// What pest could not read, told to the user.
pub(super) fn explain(source: &str, scanned: &Scanned<'_>, error: &Error<Rule>) -> ParseError {
    let offset = match error.location {
        InputLocation::Pos(offset) | InputLocation::Span((offset, _)) => offset,
    };
    let rules = match &error.variant {
        ErrorVariant::ParsingError { positives, .. } => positives.as_slice(),
        // Pest makes one such error of its own: when a thread began with hardly any stack left.
        ErrorVariant::CustomError { .. } => return ParseError::out_of_stack(offset),
    };
    let found = found(&scanned.text, offset);
    let expected = expected(rules);
    let wanted = if expected.is_empty() { String::new() } else { format!(": expected {expected}") };
    let message = format!("unexpected {found} at {}{wanted}", describe_position(source, offset));
    let label = if offset == source.len() { "the script ends here" } else { "not expected here" };
    ParseError::syntax(message, offset, label, help(source, scanned, offset, rules))
}

/// The word, sign or end at a place.
fn found(text: &str, offset: usize) -> String {
    let rest = &text[offset..];
    let Some(first) = rest.chars().next() else {
        return "end of the script".to_string();
    };
    let len = match first {
        _ if is_name(first) => rest.find(|character| !is_name(character)).unwrap_or(rest.len()),
        ':' | '%' => {
            let sigils = rest.len() - rest.trim_start_matches(first).len();
            sigils + word_at(&rest[sigils..]).len()
        }
        _ => first.len_utf8(),
    };
    let word: String = rest[..len].chars().take(40).collect();
    format!("`{}`", word.escape_debug())
}

/// What could stand there, each thing once, the end of the script last.
fn expected(rules: &[Rule]) -> String {
    let mut names: Vec<&str> = vec![];
    for name in rules.iter().map(|rule| name_of(*rule)) {
        if !name.is_empty() && !names.contains(&name) {
            names.push(name);
        }
    }
    if rules == [Rule::integer] {
        names = vec!["an integer"];
    }
    if names.contains(&"an atom") {
        names.retain(|name| !matches!(*name, "an expression" | "a rule" | "a stored relation"));
    }
    names.sort_by_key(|name| *name == END);
    match names.as_slice() {
        [] => String::new(),
        [only] => only.to_string(),
        [first @ .., last] => format!("{} or {last}", first.join(", ")),
    }
}

const END: &str = "the end of the script";

/// A rule of the grammar in the user's words.
fn name_of(rule: Rule) -> &'static str {
    use Rule::*;
    match rule {
        EOI => END,
        comma => "`,`",
        semicolon => "`;`",
        rbracket => "`]`",
        rparen => "`)`",
        rbrace => "`}`",
        bar => "`|`",
        ident => "a name",
        column_name => "a column",
        column_spec | column_list => "a column",
        binding_name => "a variable",
        rule_name | rule_apply | fixed_rule_input => "a rule",
        head_name | head | rule_definition => "a rule",
        relation_name | stored_name | target_name => "the name of a relation",
        index_path => "an index (`relation:index`)",
        ephemeral => "an ephemeral relation (`_name`)",
        op_get | op_concat | op_or | op_and | op_eq | op_neq | op_ge | op_le | op_gt | op_lt | op_add | op_sub
        | op_mul | op_div | op_mod | op_pow | op_coalesce => "an operator",
        expr | grouped | constant | parameter | variable | function_name | call | list | object | float | integer
        | double_string | single_string | raw_string | op_minus | op_negate => "an expression",
        pair => "a `key: value` pair",
        body | filter | group | unify | unify_each | kw_not | stored_apply | search_apply => "an atom",
        positional_args | positional_bindings | named_args | named_bindings => "`[` or `{`",
        named_arg | named_binding | search_bindings => "a column",
        validity => "`@`",
        search_parameters | setting => "a `name: value` pair",
        kw_or => "`or`",
        kw_and => "`and`",
        kw_in => "`in`",
        inline_body | kw_inline => "`:=`",
        constant_body | kw_constant => "`<-`",
        fixed_body | kw_fixed => "`<~`",
        fixed_call => "a fixed rule",
        fixed_stored_input => "a stored relation",
        aggregation => "an aggregation",
        query => "a rule or an option",
        limit
        | offset
        | order
        | timeout
        | sleep
        | assertion
        | returning
        | disable_magic_rewrite
        | disable_join_reorder
        | mutation
        | mutation_op
        | kw_limit
        | kw_offset
        | kw_order
        | kw_timeout
        | kw_sleep
        | kw_assert
        | kw_disable_magic_rewrite
        | kw_disable_join_reorder => "an option",
        order_key | output_column | ascending | descending => "an output column",
        assertion_kind => "`none` or `some`",
        column_specs => "`{`",
        kw_values => "`=>`",
        column_default | kw_default => "`default`",
        column_binding => "`=`",
        column_type | type_list | type_tuple | type_vector | type_name => "a column type",
        nullable => "`?`",
        sys_relations
        | sys_running
        | sys_compact
        | sys_fixed_rules
        | sys_columns
        | sys_indices
        | sys_describe
        | sys_remove
        | sys_rename
        | sys_create_index
        | sys_create_search_index
        | sys_drop_index
        | sys_set_triggers
        | sys_show_triggers
        | sys_access_level
        | sys_kill
        | sys_explain
        | kw_columns
        | kw_indices
        | kw_describe
        | kw_remove
        | kw_rename
        | kw_index
        | search_index_kind
        | kw_set_triggers
        | kw_show_triggers
        | kw_access_level
        | kw_kill
        | kw_explain => "a system operation",
        renaming => "`old -> new`",
        kw_arrow => "`->`",
        kw_create => "`create`",
        kw_drop => "`drop`",
        kw_on | trigger => "`on`",
        trigger_event => "`put`, `rm` or `replace`",
        access_level => "`normal`, `protected`, `read_only` or `hidden`",
        analyze => "`analyze`",
        block | query_statement => "a `{` block `}`",
        statements
        | system_statement
        | if_statement
        | loop_statement
        | break_statement
        | continue_statement
        | return_statement
        | debug_statement
        | ignore_error_statement
        | swap_statement
        | kw_if
        | kw_if_not
        | kw_break
        | kw_continue
        | kw_return
        | kw_debug
        | kw_ignore_error
        | kw_swap => "a statement",
        store_as | kw_as => "`as`",
        kw_then => "`%then`",
        kw_else => "`%else`",
        kw_end => "`%end`",
        kw_mark => "`%mark`",
        kw_loop => "`%loop`",
        _ => "",
    }
}

/// How to mend a common mistake, if this looks like one, or else what to write at this place.
fn help(source: &str, scanned: &Scanned<'_>, offset: usize, rules: &[Rule]) -> String {
    let (before, rest) = scanned.text.split_at(offset);
    let colon = rest.starts_with(':');
    confused_sign(before, rest, rules)
        .map(str::to_string)
        .or_else(|| if rest.starts_with("::") { misspelt(rest, "::", "a system operation", &SYSTEM_OPS) } else { None })
        .or_else(|| if colon { misspelt(rest, ":", "an option", &spellings(&[OPTIONS, MUTATIONS])) } else { None })
        .or_else(|| {
            if rest.starts_with('%') {
                misspelt(rest, "%", "a control word", &spellings(&[CONTROL_WORDS]))
            } else {
                None
            }
        })
        .or_else(|| unmatched(source, scanned))
        .or_else(|| before.trim().is_empty().then(|| empty_script(rest)).flatten())
        .or_else(|| confused_name(before, rest, rules).map(str::to_string))
        .unwrap_or_else(|| advice(before, rules).to_string())
}

/// Signs of other languages, or of this one in the wrong place.
fn confused_sign(before: &str, rest: &str, rules: &[Rule]) -> Option<&'static str> {
    let after_head = rules.contains(&Rule::kw_inline) || rules.contains(&Rule::inline_body);
    let in_expression = rules.contains(&Rule::op_add) || rules.contains(&Rule::expr);
    if after_head && (rest.starts_with(":-") || rest.starts_with('=')) {
        return Some("a rule with a body is written `head := body`");
    }
    if after_head && rest.starts_with("<=") {
        return Some("a rule with constant rows is written `head <- rows`");
    }
    if rest.starts_with('=') && in_expression {
        return Some("`=` only stands between a variable and an expression; to compare, write `==`");
    }
    if rest.starts_with('&') || rest.starts_with('|') {
        return Some("write `&&` and `||` between expressions, `and` and `or` between atoms");
    }
    if rest.starts_with("in ") && in_expression {
        return Some(
            "`in` stands between a variable and a list, as in `x in [1, 2]`; in an expression write `is_in(x, list)`",
        );
    }
    if rest.starts_with('*') && before.ends_with('*') {
        return Some("the power operator is `^`");
    }
    None
}

fn spellings(lists: &[&[Word]]) -> Vec<&'static str> {
    lists.iter().flat_map(|words| words.iter()).flat_map(Word::spellings).collect()
}

/// A word with a sigil that does not exist, or one that cannot stand here.
fn misspelt(rest: &str, sigil: &str, what: &str, known: &[&str]) -> Option<String> {
    let name = word_at(&rest[sigil.len()..]);
    let word = &rest[..sigil.len() + name.len()];
    if name.is_empty() {
        return None;
    }
    if known.contains(&word) {
        return (sigil == "::")
            .then(|| "a system operation stands alone in a script, or in braces of its own".to_string());
    }
    Some(match nearest(word, known) {
        Some(near) => format!("`{word}` is not {what}; did you mean `{near}`?"),
        None => {
            let all: Vec<String> = known.iter().map(|known| format!("`{known}`")).collect();
            format!("`{word}` is not {what}; there are {}", all.join(", "))
        }
    })
}

fn empty_script(rest: &str) -> Option<String> {
    rest.is_empty().then(|| "the least query is one rule: `?[answer] <- [[42]]`".to_string())
}

fn unmatched(source: &str, scanned: &Scanned<'_>) -> Option<String> {
    let unmatched = scanned.unmatched?;
    let bracket = unmatched.bracket as char;
    let place = describe_position(source, unmatched.offset);
    Some(match closing(unmatched.bracket) {
        same if same == unmatched.bracket => format!("the `{bracket}` at {place} closes nothing"),
        closer => format!("the `{bracket}` at {place} is not closed by a `{}`", closer as char),
    })
}

fn confused_name(before: &str, rest: &str, rules: &[Rule]) -> Option<&'static str> {
    let next = rest.chars().next()?;
    if rest.starts_with("?[") && !rules.contains(&Rule::block) {
        return Some(
            "the entry rule `?` cannot be applied, and a rule may only begin after the one before is complete",
        );
    }
    if next == '.' && rest[1..].starts_with(|digit: char| digit.is_ascii_digit()) {
        return Some("a number needs a digit before its point: `0.5`");
    }
    let name_follows = |text: &str| text.trim_start_matches(|digit: char| digit.is_ascii_digit()).starts_with(is_name);
    if next.is_ascii_digit() && name_follows(rest) {
        return Some("names do not begin with digits, and numbers do not end in letters");
    }
    if next == '_' && before.trim_end().is_empty() {
        return Some("a rule's name does not begin with an underscore");
    }
    None
}

/// The name that a text begins with.
fn word_at(text: &str) -> &str {
    &text[..text.find(|character| !is_name(character)).unwrap_or(text.len())]
}

fn is_name(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

/// The known word that differs least, if one is close.
pub fn nearest<'k>(word: &str, known: &[&'k str]) -> Option<&'k str> {
    let wanted = word.to_lowercase();
    let distances = known.iter().map(|candidate| (edit_distance(&wanted, &candidate.to_lowercase()), *candidate));
    let (distance, candidate) = distances.min()?;
    (distance <= candidate.len().div_ceil(4)).then_some(candidate)
}

/// Levenshtein's distance in characters; beyond 40 of them nothing is near.
fn edit_distance(a: &str, b: &str) -> usize {
    if a.len() > 40 {
        return usize::MAX;
    }
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, left) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, right) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(left != *right);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_place_has_advice() {
        for rule in Rule::all_rules().iter().filter(|rule| !name_of(**rule).is_empty()) {
            let specific = advice("", &[*rule]) != advice("", &[]);
            assert!(specific || matches!(rule, Rule::query | Rule::rule_definition), "{rule:?}");
        }
    }

    #[test]
    fn the_nearest_word_is_found() {
        assert_eq!(nearest("Strng", &["Int", "String"]), Some("String"));
        assert_eq!(nearest(":limt", &spellings(&[OPTIONS, MUTATIONS])), Some(":limit"));
        assert_eq!(nearest(":group", &spellings(&[OPTIONS, MUTATIONS])), None);
    }

    #[test]
    fn words_of_help_are_those_of_the_grammar() {
        use pest::Parser;
        for option in spellings(&[OPTIONS, MUTATIONS]).into_iter().filter(|name| *name != ":returning") {
            let script = format!("{option} ");
            let error = super::super::grammar::CozoScriptParser::parse(Rule::query_script, &script).expect_err(option);
            assert!(matches!(error.location, InputLocation::Pos(at) if at == script.len()), "{option}");
        }
    }
}
