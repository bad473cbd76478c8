//! The words that begin with a sign: options, operations on stored relations, and control words.
//!
//! A [`Word`] holds all that is known about a word besides its meaning to the parser: spellings, arguments, documentation and
//! examples. The help of syntax errors, completion, `docs/operations.md` and the tests read the same entries. A new word is an
//! entry here, a rule of the grammar, and an arm in `option.rs` or `script.rs`. The tests run every example.

/// A word of the language.
pub struct Word {
    /// The word with its sign.
    pub name: &'static str,
    /// Other spellings.
    pub aliases: &'static [&'static str],
    /// What follows it.
    pub arguments: &'static str,
    /// What it does.
    pub doc: &'static str,
    /// Scripts that begin with an empty database, and their rows as an expression. An empty outcome means an error.
    pub examples: &'static [(&'static str, &'static str)],
}

impl Word {
    /// Its spellings, the first one first.
    pub fn spellings(&self) -> impl Iterator<Item = &'static str> {
        std::iter::once(self.name).chain(self.aliases.iter().copied())
    }
}

const fn word(
    name: &'static str,
    arguments: &'static str,
    doc: &'static str,
    examples: &'static [(&'static str, &'static str)],
) -> Word {
    Word { name, aliases: &[], arguments, doc, examples }
}

/// The options of queries.
pub const OPTIONS: &[Word] = &[
    word(
        ":assert",
        "none|some",
        "Makes the script and its whole transaction fail if there are rows (`none`), or if there are no rows (`some`).",
        &[("?[x] := x in [1, 2], x > 2 :assert none", "[]"), ("?[x] := x in [1, 2], x > 2 :assert some", "")],
    ),
    word(
        ":disable_join_reorder",
        "BOOL",
        "Runs joins in the order in which the script has its atoms. The rows are the same.",
        &[("a[x] <- [[1], [2]] b[x] <- [[2]] ?[x] := a[x], b[x] :disable_join_reorder true", "[[2]]")],
    ),
    word(
        ":disable_magic_rewrite",
        "BOOL",
        "Evaluates rules in full, without restricting them to the bindings that the query needs. The rows are the same.",
        &[("r[a, b] <- [[1, 2], [2, 3]] ?[b] := r[1, b] :disable_magic_rewrite true", "[[2]]")],
    ),
    word(
        ":limit",
        "N",
        "At most N rows, after sorting and after `:offset`. Without `:order`, evaluation stops as soon as there are enough, \
         and which rows these are is not defined.",
        &[("?[x] <- [[3], [1], [2]] :order x :limit 2", "[[1], [2]]"), ("?[x] <- [[3]] :limit -1", "")],
    ),
    word(
        ":offset",
        "N",
        "Leaves out the first N rows.",
        &[("?[x] <- [[3], [1], [2]] :order x :offset 1", "[[2], [3]]"), ("?[x] <- [[3]] :offset 0.5", "")],
    ),
    Word {
        aliases: &[":sort"],
        ..word(
            ":order",
            "[+|-]COLUMN, ...",
            "Sorts by output columns as the head spells them, `-` for descending; without it rows are in ascending order.",
            &[
                ("?[x, y] <- [[1, 'b'], [2, 'a'], [3, 'b']] :order y, -x", "[[2, 'a'], [3, 'b'], [1, 'b']]"),
                ("?[count(x)] := x in [1, 2] :order -count(x)", "[[2]]"),
                ("?[x] <- [[1]] :order y", ""),
            ],
        )
    },
    word(
        ":returning",
        "",
        "Gives the rows that an operation on a stored relation changed, instead of a status: the requested rows, then the \
         rows that were there before.",
        &[(
            "{?[k, v] <- [[1, 'a']] :create r {k => v}}
             {?[k, v] <- [[1, 'b'], [2, 'c']] :put r {k => v} :returning}",
            "[['inserted', 1, 'b'], ['inserted', 2, 'c'], ['replaced', 1, 'a']]",
        )],
    ),
    word(
        ":sleep",
        "SECONDS",
        "Waits before the transaction continues.",
        &[("?[x] <- [[1]] :sleep 0.01", "[[1]]"), ("?[x] <- [[1]] :sleep 0", "")],
    ),
    word(
        ":timeout",
        "SECONDS",
        "Stops the query after this number of seconds; the default is 300, and 0 means never.",
        &[
            ("?[x] <- [[1]] :timeout 5", "[[1]]"),
            ("n[x] := x = 0  n[x] := n[y], x = y + 1  ?[x] := n[x] :timeout 0.05", ""),
        ],
    ),
];

/// The operations on stored relations.
pub const MUTATIONS: &[Word] = &[
    word(
        ":create",
        "REL {KEY: TYPE, ... => VALUE: TYPE, ...}",
        "Makes a relation, which must not exist yet, with the rows of the query; without a query it is empty. A column may \
         have a type, a `default`, and `= COLUMN`, the output column that fills it.",
        &[
            ("{?[k, v] <- [[1, 'a']] :create r {k: Int => v: String}} {?[v] := *r{k: 1, v}}", "[['a']]"),
            ("{?[k, count(x)] := k = 1, x in [5, 6] :create r {k => n = count(x)}} {?[n] := *r{n}}", "[[2]]"),
            ("{:create r {k: Int => v default 0}} {?[k] <- [[1]] :put r {k}} {?[v] := *r{v}}", "[[0]]"),
            ("{:create r {k}} {:create r {k}}", ""),
        ],
    ),
    word(
        ":delete",
        "REL {KEY, ...}",
        "Removes rows by their keys; fails if one is not there.",
        &[
            ("{?[k] <- [[1], [2]] :create r {k}} {?[k] <- [[1]] :delete r {k}} {?[k] := *r{k}}", "[[2]]"),
            ("{:create r {k}} {?[k] <- [[1]] :delete r {k}}", ""),
        ],
    ),
    word(
        ":ensure",
        "REL {KEY, ... => VALUE, ...}",
        "Fails unless rows are there with these values, and if another transaction changes them meanwhile.",
        &[
            ("{?[k, v] <- [[1, 'a']] :create r {k => v}} {?[k, v] <- [[1, 'a']] :ensure r {k => v}}", "[['OK']]"),
            ("{?[k, v] <- [[1, 'a']] :create r {k => v}} {?[k, v] <- [[1, 'b']] :ensure r {k => v}}", ""),
        ],
    ),
    word(
        ":ensure_not",
        "REL {KEY, ...}",
        "Fails if rows with these keys are there, or if another transaction adds them meanwhile.",
        &[
            ("{:create r {k => v}} {?[k] <- [[1]] :ensure_not r {k}}", "[['OK']]"),
            ("{?[k] <- [[1]] :create r {k}} {?[k] <- [[1]] :ensure_not r {k}}", ""),
        ],
    ),
    word(
        ":insert",
        "REL {KEY, ... => VALUE, ...}",
        "Adds rows; fails if there is one with the same key.",
        &[
            ("{:create r {k => v}} {?[k, v] <- [[1, 'a']] :insert r {k => v}} {?[k, v] := *r{k, v}}", "[[1, 'a']]"),
            ("{?[k] <- [[1]] :create r {k}} {?[k] <- [[1]] :insert r {k}}", ""),
        ],
    ),
    word(
        ":put",
        "REL {KEY, ... => VALUE, ...}",
        "Adds rows, and replaces rows with the same keys.",
        &[
            (
                "{?[k, v] <- [[1, 'a']] :create r {k => v}}
                 {?[k, v] <- [[1, 'b'], [2, 'c']] :put r {k => v}}
                 {?[k, v] := *r{k, v}}",
                "[[1, 'b'], [2, 'c']]",
            ),
            ("?[k] <- [[1]] :put nowhere {k}", ""),
        ],
    ),
    word(
        ":replace",
        "REL {KEY: TYPE, ... => VALUE: TYPE, ...}",
        "As `:create`, but replaces the relation of that name if there is one.",
        &[(
            "{?[k] <- [[1]] :create r {k}} {?[a, b] <- [[2, 3]] :replace r {a => b}} {?[a, b] := *r{a, b}}",
            "[[2, 3]]",
        )],
    ),
    word(
        ":rm",
        "REL {KEY, ...}",
        "Removes rows by their keys; those that are not there are ignored.",
        &[("{?[k] <- [[1], [2]] :create r {k}} {?[k] <- [[1], [7]] :rm r {k}} {?[k] := *r{k}}", "[[2]]")],
    ),
    word(
        ":update",
        "REL {KEY, ... => VALUE, ...}",
        "Changes some values of rows; fails if one is not there.",
        &[
            (
                "{?[k, a, b] <- [[1, 'a', 'b']] :create r {k => a, b}}
                 {?[k, b] <- [[1, 'c']] :update r {k => b}}
                 {?[a, b] := *r{a, b}}",
                "[['a', 'c']]",
            ),
            ("{:create r {k => v}} {?[k, v] <- [[1, 2]] :update r {k => v}}", ""),
        ],
    ),
];

/// The words of imperative scripts.
pub const CONTROL_WORDS: &[Word] = &[
    word(
        "%break",
        "[LABEL]",
        "Leaves the innermost loop, or the one with the label.",
        &[("%loop { ?[x] <- [[1]] } %break %end { ?[x] <- [[2]] }", "[[2]]"), ("%break", "")],
    ),
    word(
        "%continue",
        "[LABEL]",
        "Continues with the next round of a loop.",
        &[(
            "{?[n] <- [[0]] :create _n {n}}
             %loop
                 {?[n] := *_n{n: m}, n = m + 1 :replace _n {n}}
                 %if {?[n] := *_n{n}, n < 3} %then %continue %end
                 %break
             %end
             {?[n] := *_n{n}}",
            "[[3]]",
        )],
    ),
    word(
        "%debug",
        "NAME",
        "Prints a relation to the standard output.",
        &[("{?[x] <- [[1]]} as _kept %debug _kept {?[x] := *_kept{x}}", "[[1]]")],
    ),
    word(
        "%else",
        "STATEMENT ...",
        "Begins the statements that run if the condition does not hold.",
        &[("%if {?[x] := x in []} %then {?[x] <- [[1]]} %else {?[x] <- [[2]]} %end", "[[2]]")],
    ),
    word("%end", "", "Ends `%if` and `%loop`.", &[("%if {?[x] <- [[false]]} %then {?[x] <- [[1]]} %end", "[[1]]")]),
    word(
        "%if",
        "{QUERY}|NAME %then STATEMENT ... [%else STATEMENT ...] %end",
        "Runs statements if the query or the relation has rows, whatever their values.",
        &[
            ("{?[x] <- [[7]]} as _found %if _found %then {?[y] := *_found{x: y}} %end", "[[7]]"),
            ("%if {?[x] := x in []} %then {?[x] <- [[1]]} %end", "[]"),
        ],
    ),
    word(
        "%if_not",
        "{QUERY}|NAME %then STATEMENT ... [%else STATEMENT ...] %end",
        "Runs statements if the query or the relation has no rows.",
        &[("%if_not {?[x] := x in []} %then {?[x] <- [[1]]} %end", "[[1]]")],
    ),
    word(
        "%ignore_error",
        "{QUERY}",
        "Runs a query; if it fails, it leaves no trace, and the script continues.",
        &[("%ignore_error {?[x] := *nowhere{x}}", "[['FAILED']]")],
    ),
    word(
        "%loop",
        "STATEMENT ... %end",
        "Runs statements again and again, until `%break` or `%return`.",
        &[("%loop %return {?[x] <- [[1]]} %end", "[[1]]")],
    ),
    word(
        "%mark",
        "LABEL %loop STATEMENT ... %end",
        "Gives a loop a label, for `%break` and `%continue` in loops inside it.",
        &[("%mark outer %loop %loop %break outer %end %end {?[x] <- [[1]]}", "[[1]]")],
    ),
    word(
        "%return",
        "[{QUERY}|NAME, ...]",
        "Ends the script with the rows of queries or relations as its result.",
        &[("%return {?[x] <- [[1]]} {?[x] <- [[2]]}", "[[1]]")],
    ),
    word(
        "%swap",
        "NAME NAME",
        "Exchanges two ephemeral relations.",
        &[("{?[x] <- [[1]]} as _a {?[x] <- [[2]]} as _b %swap _a _b %return _a", "[[2]]")],
    ),
    word(
        "%then",
        "STATEMENT ...",
        "Begins the statements that run if the condition holds; it may be left out.",
        &[("%if {?[x] <- [[0]]} {?[x] <- [[1]]} %end", "[[1]]")],
    ),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::option;

    #[test]
    fn words_are_sorted_and_documented() {
        for words in [OPTIONS, MUTATIONS, CONTROL_WORDS] {
            assert!(words.is_sorted_by_key(|word| word.name));
            for word in words {
                assert!(word.doc.ends_with('.') && !word.examples.is_empty(), "{}", word.name);
            }
        }
    }

    #[test]
    fn every_mutation_of_the_grammar_is_here() {
        let mut spellings: Vec<&str> = option::MUTATIONS.iter().map(|(spelling, _)| *spelling).collect();
        spellings.sort_unstable();
        assert_eq!(MUTATIONS.iter().map(|word| word.name).collect::<Vec<_>>(), spellings);
    }
}
