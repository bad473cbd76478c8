//! Words of other query languages, and what is written in their place.

/// What to write instead of a statement of another language, by its first word.
pub(super) fn statement(word: &str) -> Option<&'static str> {
    find(STATEMENTS, word)
}

/// What to write instead of an option that other databases have, by its word with the colon.
pub(super) fn option(word: &str) -> Option<&'static str> {
    find(WORDS_OF_OPTIONS, word)
}

fn find(table: &'static [(&'static str, &'static str)], word: &str) -> Option<&'static str> {
    table.iter().find(|(known, _)| known.eq_ignore_ascii_case(word)).map(|(_, help)| *help)
}

const STATEMENTS: &[(&str, &str)] = &[
    (
        "select",
        "this is CozoScript, not SQL: `SELECT name FROM country WHERE code = 'fr'` is `?[name] := *country{code: 'fr', name}`",
    ),
    ("with", "rules need no WITH: write `name[x] := ...` before the rule `?[x] := name[x]`"),
    (
        "insert",
        "`INSERT INTO country VALUES ('fr', 'France')` is `?[code, name] <- [['fr', 'France']] :put country {code => name}`",
    ),
    (
        "update",
        "`UPDATE country SET name = 'x' WHERE code = 'fr'` is `?[code, name] <- [['fr', 'x']] :update country {code => name}`",
    ),
    ("delete", "`DELETE FROM country WHERE code = 'fr'` is `?[code] <- [['fr']] :rm country {code}`"),
    (
        "create",
        "`CREATE TABLE country` is `:create country {code: String => name: String}`, an index `::index create country:by_name {name}`",
    ),
    ("drop", "`DROP TABLE country` is `::remove country`"),
    (
        "alter",
        "`ALTER TABLE country ADD` is `::columns country add {area: Float?}`; there are drop, rename, retype and key, too",
    ),
    ("show", "`::relations` lists the relations, `::columns country` the columns of one"),
    ("describe", "`::columns country` lists the columns of a relation"),
    ("explain", "write `::explain { ?[x] := *r{x} }`"),
    ("begin", "a script is one transaction; several statements in braces are one script: `{ ... } { ... }`"),
    ("commit", "a script is one transaction, and commits at its end"),
    ("match", "this is CozoScript, not Cypher: `MATCH (a)-[:KNOWS]->(b) RETURN b` is `?[b] := *knows{fr: a, to: b}`"),
    (
        "merge",
        "`MERGE` is `:put`, which adds a row or replaces the row of the same key: `?[k, v] <- [[1, 2]] :put r {k => v}`",
    ),
    ("return", "the answer is the rule named `?`: `?[x] := *r{x}`"),
];

const WORDS_OF_OPTIONS: &[(&str, &str)] = &[
    (":upsert", "write `:put`, which adds a row or replaces the row of the same key"),
    (":merge", "write `:put`, which adds a row or replaces the row of the same key"),
    (":set", "write `:update` to change some columns of rows, or `:put` for whole rows"),
    (":remove", "write `:rm`, which ignores missing rows, or `:delete`, which does not"),
    (":drop", "write `::remove r` to drop a relation, `:rm` to remove rows"),
    (":where", "write conditions in the body of the rule: `?[x] := *r{x}, x > 1`"),
    (":filter", "write conditions in the body of the rule: `?[x] := *r{x}, x > 1`"),
    (
        ":having",
        "write the condition in a rule that applies the one that aggregates: `n[x, count(y)] := *r{x, y}  ?[x] := n[x, c], c > 1`",
    ),
    (
        ":group",
        "the columns of the head without an aggregation are the groups: `?[city, count(id)] := *user{id, city}`",
    ),
    (
        ":group_by",
        "the columns of the head without an aggregation are the groups: `?[city, count(id)] := *user{id, city}`",
    ),
    (":order_by", "write `:order x`, or `:order -x` for descending"),
    (":sort_by", "write `:order x`, or `:order -x` for descending"),
    (":distinct", "rows of an answer are distinct already"),
    (":skip", "write `:offset`"),
    (":take", "write `:limit`"),
    (":top", "write `:order -x :limit 10`"),
    (":return", "write `:returning` behind a `:put` or `:rm`; the answer of a query is the rule `?`"),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::parse_script;

    /// What stands between backquotes and looks like a whole script must be one.
    #[test]
    fn what_is_advised_can_be_parsed() {
        let begins = ["?[", ":create", "::", "n[", "{ ?"];
        let mut seen = 0;
        for (word, help) in STATEMENTS.iter().chain(WORDS_OF_OPTIONS) {
            for quoted in help.split('`').skip(1).step_by(2).filter(|text| begins.iter().any(|b| text.starts_with(b))) {
                seen += 1;
                let whole = quoted.trim_end_matches(" ...");
                assert!(parse_script(whole).is_ok(), "{word}: {quoted}");
            }
        }
        assert!(seen > 15, "{seen}");
    }

    #[test]
    fn statements_of_other_languages_are_answered() {
        for script in
            ["SELECT * FROM x", "match (a) return a", "INSERT INTO x VALUES (1)", "?[x] := x = 1 :upsert r {x}"]
        {
            let error = parse_script(script).expect_err(script);
            let help = miette::Diagnostic::help(&error).expect("there is help").to_string();
            assert!(help.contains("is `?[") || help.contains("`:put`"), "{script}: {help}");
        }
    }
}
