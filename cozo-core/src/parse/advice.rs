//! What to write where the grammar could not go on: a line of help for each construct.
//!
//! For `::access_level r` the help is the form of that operation. [`super::hint`] asks here if no common mistake explains an
//! error better.

/// What to write at a place, by what is expected there and the text before it.
pub(super) fn advice(before: &str, expected: &[&str]) -> &'static str {
    if before.trim_end().ends_with("<~") {
        return FIXED_CALL;
    }
    let entry = ADVICE.iter().find(|(names, _)| expected.iter().any(|name| names.contains(name)));
    entry.map_or(ANY_SCRIPT, |(_, text)| text)
}

const FIXED_CALL: &str = "call a fixed rule with parentheses: `?[node, rank] <~ PageRank(*edge[])`";

const ANY_SCRIPT: &str = "begin with a rule, whose head has brackets: `?[x] := *r[x]`; an option: `:create r {x}`; or a \
                          system operation: `::relations`";

/// Help by what is expected. The first entry with an expected thing counts, so rare things come before common ones.
const ADVICE: &[(&[&str], &str)] = &[
    (
        &["a column type"],
        "write a type: Any, Bool, Bytes, Float, Int, Json, String, Uuid, Validity, `[T]`, `[T; 3]`, `(T, U)` or \
         `<F32; 3>`, with `?` behind it if null is allowed",
    ),
    (
        &["`default`", "`=`", "`?`"],
        "divide columns by `,`, keys from values by one `=>`; a column may have a type, a default and the output column \
         that fills it: `{k: Int, t = max(x) => v: Float default 0.0}`",
    ),
    (&["`{`", "`=>`"], "list the columns in braces, the keys before `=>`: `:create r {key: Int => value: String}`"),
    (
        &["`normal`, `protected`, `read_only` or `hidden`"],
        "write the level, then the relations: `::access_level read_only r, s`",
    ),
    (&["`old -> new`", "`->`"], "write the old name, `->` and the new one: `::rename old -> new`"),
    (
        &["`on`", "`put`, `rm` or `replace`"],
        "write an event and a query in braces for each trigger: `::set_triggers r on put { ... } on rm { ... }`",
    ),
    (
        &["`add`", "`rename`", "`retype`", "`key`"],
        "write what changes: `::columns r add {x: Int default 0}`, `drop x`, `rename x -> y`, `retype {x: Float}` or `key {x}`",
    ),
    (&["`create`", "`drop`"], "write `create` or `drop`, and the index as `relation:index`"),
    (&["`analyze`"], "put the query in braces: `::explain { ?[x] := *r[x] }`"),
    (&["`none` or `some`"], "write `:assert none` if there must be no rows, `:assert some` if there must be one"),
    (
        &["an output column"],
        "name columns as the head of `?` spells them, `-` before those that descend: `:order city, -count(x)`",
    ),
    (&["`|`"], "divide the columns from the parameters of the search by `|`: `~r:index{ k | query: q, k: 3 }`"),
    (&["`[` or `{`"], "apply a stored relation by position, `*r[a, b]`, or by column, `*r{column: a}`"),
    (
        &["a stored relation"],
        "give a fixed rule relations, as `*r[]` or `rule[]`, and options, as `name: value`: `BFS(*e[], s[], limit: 5)`",
    ),
    (&["a fixed rule"], FIXED_CALL),
    (&["a `name: value` pair"], "write settings as `name: value`, divided by `,`"),
    (&["a rule or an option"], ANY_SCRIPT),
    (&["a `key: value` pair"], "write pairs as `key: value`, divided by `,`"),
    (
        &["`@`"],
        "name columns, each perhaps with `:` and what it must equal, divided by `,`; `@` and a time come last: `*r{a, b: x @ \
         'NOW'}`",
    ),
    (
        &["a column"],
        "name columns, divided by `,`; where a relation is made or written, keys come before `=>`: `{key: Int => value: \
         String}`",
    ),
    (&["an index (`relation:index`)"], "name the index with its relation: `relation:index`"),
    (&["an ephemeral relation (`_name`)"], "name an ephemeral relation; its name begins with `_`: `{ ... } as _kept`"),
    (
        &["the name of a relation"],
        "write the name of a stored relation: letters, digits and `_`, without `*` or quotes",
    ),
    (
        &["a statement", "a `{` block `}`", "`as`", "`%then`", "`%else`", "`%end`", "`%mark`", "`%loop`"],
        "write statements, at least one in each branch: queries and system operations in braces, `%if { ... } %then ... \
         %else ... %end`, `%loop ... %end`",
    ),
    (
        &["`:=`", "`<-`", "`<~`"],
        "write `:=` and a body, `<-` and a list of rows, or `<~` and a fixed rule after the head",
    ),
    (
        &["a variable", "an aggregation"],
        "write variables, or aggregations of them, divided by `,`: `?[x, count(y)]`; what is computed gets a name in the \
         body, as in `z = x + 1`",
    ),
    (
        &["an atom", "`in`"],
        "write an atom: `rule[x]`, `*relation{column: x}`, `x = expression`, `x in list` or a condition, perhaps with \
         `not` before it",
    ),
    (
        &["the end of the script", "`;`", "a rule"],
        "what stands before is complete: join more to it by an operator or, in a body, by `,` and an atom; a rule begins \
         with `name[...]`, an option with `:`, and a system operation stands alone",
    ),
    (
        &["an operator", "`or`", "`and`"],
        "put an operator between two values, `:` behind a key, `,` between items, and close the bracket after the last",
    ),
    (
        &["an expression"],
        "write a value: a literal, a variable, a parameter `$name`, a call `f(x)`, or `(...)` around an expression",
    ),
    (
        &["`,`", "`]`", "`)`", "`}`"],
        "divide names by `,` and close the bracket after the last; what is computed gets a name in the body, as in `z = x \
         + 1`",
    ),
    (&["a name"], "write a name: a letter, then letters, digits and `_`"),
    (&["an integer"], "write a whole number, as in `<F32; 128>`"),
    (&["an option"], "write an option and its value: `:limit 10`, `:order -x`, `:put r {k => v}`"),
    (&["a system operation"], "write a system operation: `::relations`, `::columns r`, `::explain { ?[x] := *r[x] }`"),
    (&["`if absent`"], "`if absent` ends a `:create` that may find the relation there: `:create r {k => v} if absent`"),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::expected::{expected, name_of};
    use crate::parse::grammar::Rule;

    #[test]
    fn every_place_has_advice() {
        for rule in Rule::all_rules().iter().filter(|rule| !name_of(**rule).is_empty()) {
            let names = expected(&[*rule]);
            assert!(ADVICE.iter().any(|(known, _)| known.contains(&names[0])), "{names:?}");
        }
    }
}
