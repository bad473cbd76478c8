//! What people type who come from other shells: `quit`, `\d`, `.tables`, SQL and Cypher.
//!
//! What is meant is done where a word says it all. A statement of another language is not run: the answer is how it is written
//! here, with the user's own names where the statement is easy.

mod catalog;
mod cypher;
mod sql;

use cozo::parse::parse_script;

use crate::connection::Connection;
use catalog::Catalog;

/// What an input of another shell means here.
#[derive(PartialEq, Eq, Debug)]
pub enum Habit {
    /// The end of the shell.
    Leave,
    /// A script that lists what was asked for.
    Script(String),
    /// A command of this shell.
    Command(String),
    /// How it is written here.
    Advice(String),
}

/// The habit that an input shows, if it is no script of this language.
pub fn of(input: &str, connection: &Connection) -> Option<Habit> {
    let input = input.trim().trim_end_matches(';').trim_end();
    if parse_script(input).is_ok() {
        return None;
    }
    let words: Vec<String> = input.split_whitespace().map(str::to_lowercase).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    word(input, &words).or_else(|| statement(input, &words, &Catalog::new(connection)))
}

/// Commands of other shells.
fn word(input: &str, words: &[&str]) -> Option<Habit> {
    // Names keep their capitals.
    let last = || input.split_whitespace().next_back().unwrap_or_default().trim_matches(['"', '`']);
    let relations = || Habit::Script("::relations".to_string());
    let columns = || Habit::Script(format!("::columns {}", last()));
    match words {
        [".exit" | ".quit" | "\\q" | ":q" | ":quit" | ":exit" | "quit" | "exit" | "quit()" | "exit()" | "bye"] => {
            Some(Habit::Leave)
        }
        [".help" | "\\?" | "\\h" | ":help" | "help" | "?" | "help()"] => Some(Habit::Command("%help".to_string())),
        [".help" | "\\h" | ":help" | "help", _] => Some(Habit::Command(format!("%help {}", last()))),
        ["\\d" | "\\dt" | "\\l" | ".tables" | ".schema" | "show", "tables"]
        | ["\\d" | "\\dt" | ".tables" | ".schema"] => Some(relations()),
        ["show", "relations"] => Some(relations()),
        ["\\d" | "\\d+" | ".schema" | "describe" | "desc", _] | ["show", "columns", "from", _] => Some(columns()),
        ["\\x"] => Some(Habit::Command("%expand".to_string())),
        [".read" | "\\i", _] => Some(Habit::Command(format!("%run {}", last()))),
        ["begin" | "start" | "commit" | "rollback", ..] => Some(Habit::Advice(TRANSACTIONS.to_string())),
        _ => None,
    }
}

const TRANSACTIONS: &str = "\
An input is one transaction: all of it happens, or nothing. Statements in braces are one together:
  { ?[...] := ... :put ... }
  { ?[...] := ... :assert none }";

/// Statements of other languages.
fn statement(input: &str, words: &[&str], catalog: &Catalog<'_>) -> Option<Habit> {
    let (language, written) = match words {
        ["match" | "optional" | "merge", ..] => ("Cypher", cypher::written(input, catalog)),
        ["create", second, ..] if second.starts_with('(') => ("Cypher", cypher::written(input, catalog)),
        [
            "select" | "insert" | "create" | "delete" | "update" | "drop" | "alter" | "with" | "explain" | "replace",
            _,
            ..,
        ] => ("SQL", sql::written(input, catalog)),
        _ => return None,
    };
    let (is_exact, script) = match written.exact.filter(|script| parse_script(script).is_ok()) {
        Some(script) => (true, script),
        None => (false, written.pattern.to_string()),
    };
    let is = if is_exact { "This one would be" } else { "The pattern is" };
    let script = script.lines().map(|line| format!("  {line}")).collect::<Vec<_>>().join("\n");
    Some(Habit::Advice(format!("Queries are written in CozoScript, not in {language}. {is}:\n{script}")))
}

/// How a statement is written here.
struct Written {
    /// With its own names, if it is easy.
    exact: Option<String>,
    /// The form of such statements.
    pattern: &'static str,
}

#[cfg(test)]
mod tests {
    use super::*;
    use cozo::DbInstance;

    fn connection() -> Connection {
        let db = DbInstance::default();
        for script in [
            "?[id, name, age] <- [[1, 'Ann', 31], [2, 'Bea', 28]] :create person {id => name, age}",
            "?[who, whom] <- [[1, 2]] :create knows {who, whom}",
        ] {
            db.run_default(script).expect("it creates");
        }
        Connection::Local(db)
    }

    /// The script that the answer to a statement advises, which runs.
    fn advised(statement: &str) -> String {
        let connection = connection();
        let Some(Habit::Advice(advice)) = of(statement, &connection) else { panic!("no advice: {statement}") };
        let (first, script) = advice.split_once('\n').expect("it has a script");
        assert!(first.ends_with("This one would be:"), "{statement}: {advice}");
        let script: Vec<&str> = script.lines().map(str::trim).collect();
        let Connection::Local(db) = connection else { unreachable!("it is here") };
        db.run_default(&script.join("\n")).unwrap_or_else(|error| panic!("{script:?}: {error:?}"));
        script.join(" ")
    }

    #[test]
    fn words_of_other_shells_do_what_they_mean() {
        let connection = connection();
        let of = |input| of(input, &connection);
        assert!(["quit", "exit;", ".exit", "\\q", "QUIT"].map(of).iter().all(|habit| *habit == Some(Habit::Leave)));
        let relations = Some(Habit::Script("::relations".to_string()));
        assert!([".tables", "\\d", "show tables;", "SHOW TABLES"].map(of).iter().all(|habit| *habit == relations));
        let columns = Some(Habit::Script("::columns Person".to_string()));
        assert!(["\\d Person", ".schema Person", "describe Person"].map(of).iter().all(|habit| *habit == columns));
        assert_eq!(of("help Substr"), Some(Habit::Command("%help Substr".to_string())));
        assert!(["?[a] := a = 1", "::relations", "nonsense", "select"].map(of).iter().all(Option::is_none));
    }

    #[test]
    fn selects_are_written_with_their_names() {
        for (sql, script) in [
            ("SELECT * FROM person", "?[id, name, age] := *person{id, name, age}"),
            (
                "select name from Person where age > 30 and name <> 'Bea';",
                "?[name] := *person{name, age}, age > 30, name != 'Bea'",
            ),
            (
                "SELECT p.name FROM person p WHERE p.id = 1 OR p.age = 28",
                "?[name] := *person{name, id, age}, id == 1 || age == 28",
            ),
            (
                "SELECT name, age FROM person ORDER BY age DESC, name LIMIT 1",
                "?[name, age] := *person{name, age} :order -age, name :limit 1",
            ),
            ("SELECT name FROM person ORDER BY age", "?[name, age] := *person{name, age} :order age"),
            ("SELECT age, COUNT(*) FROM person GROUP BY age", "?[age, count(id)] := *person{age, id}"),
            ("SELECT name FROM person -- all of them", "?[name] := *person{name}"),
            ("SELECT name FROM person WHERE NOT (age = 31)", "?[name] := *person{name, age}, ! (age == 31)"),
            ("SELECT AVG(age) FROM person", "?[mean(age)] := *person{age, id}"),
        ] {
            assert_eq!(advised(sql), script, "{sql}");
        }
    }

    #[test]
    fn writes_are_written_with_their_names() {
        for (sql, script) in [
            (
                "INSERT INTO person (id, name, age) VALUES (3, 'Cleo', NULL), (4, 'Dan (d)', 5)",
                "?[id, name, age] <- [[3, 'Cleo', null], [4, 'Dan (d)', 5]] :put person {id, name, age}",
            ),
            (
                "INSERT INTO person VALUES (3, 'Cleo', 7)",
                "?[id, name, age] <- [[3, 'Cleo', 7]] :put person {id, name, age}",
            ),
            ("DELETE FROM person WHERE age < 30", "?[id] := *person{id, age}, age < 30 :rm person {id}"),
            (
                "UPDATE person SET age = age + 1, name = 'x' WHERE id = 2",
                "?[id, age, name] := *person{id, age: old_age}, id == 2, age = old_age + 1, name = 'x' \
                 :update person {id, age, name}",
            ),
            (
                "CREATE TABLE town (zip VARCHAR(5) PRIMARY KEY, name TEXT NOT NULL, size INTEGER)",
                ":create town {zip: String => name: String, size: Int?}",
            ),
            (
                "CREATE TABLE road (a INT, b INT, km REAL, PRIMARY KEY (a, b))",
                ":create road {a: Int, b: Int => km: Float?}",
            ),
            ("CREATE INDEX by_age ON person (age)", "::index create person:by_age {age}"),
            ("DROP TABLE knows", "::remove knows"),
        ] {
            assert_eq!(advised(sql), script, "{sql}");
        }
    }

    #[test]
    fn paths_are_written_with_their_names() {
        for (cypher, script) in [
            ("MATCH (p:Person) RETURN p.name", "?[p_name] := *person{id: p, name: p_name}"),
            (
                "MATCH (a:person {name: 'Ann'})-[:KNOWS]->(b:person) WHERE b.age > 20 RETURN b.name, b.age LIMIT 3",
                "?[b_name, b_age] := *person{id: a, name: 'Ann'}, *knows{who: a, whom: b}, \
                 *person{id: b, name: b_name, age: b_age}, b_age > 20 :limit 3",
            ),
            ("MATCH (a)<-[:knows]-(b) RETURN a, count(b)", "?[a, count(b)] := *knows{who: b, whom: a}"),
        ] {
            assert_eq!(advised(cypher), script, "{cypher}");
        }
    }

    #[test]
    fn what_is_not_easy_has_a_pattern() {
        let connection = connection();
        for (statement, part) in [
            ("SELECT a.x, b.y FROM a JOIN b ON a.id = b.id", "?[COLUMN, ...]"),
            ("MATCH (a)-[*1..3]->(b) RETURN b", "reached"),
            ("ALTER TABLE r ADD COLUMN c INT", "::columns RELATION add"),
            ("SELECT name FROM person WHERE NOT age = 31", "?[COLUMN, ...]"),
            ("SELECT name AS n FROM person ORDER BY n", "?[COLUMN, ...]"),
        ] {
            let Some(Habit::Advice(advice)) = of(statement, &connection) else { panic!("no advice: {statement}") };
            assert!(advice.contains("The pattern is") && advice.contains(part), "{advice}");
        }
    }
}
