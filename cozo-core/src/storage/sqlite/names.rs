//! Names of tables and columns: those of relations and their columns, except where SQLite does not accept them.

use std::collections::HashSet;

/// The name of the catalog's table.
pub const CATALOG: &str = "cozo_catalog";

/// The name of the table with the mark of the commit log.
pub const LOG_MARK: &str = "cozo_commit_log";

/// The longest name, in bytes. Statements repeat names, and SQLite limits the length of statements.
const MAX_BYTES: usize = 100;

/// The prefix of names that SQLite reserves.
const RESERVED: &str = "sqlite_";

/// The name of the table for a relation: its own, or the first free name of a series.
pub fn table_name(relation: &str, mut is_taken: impl FnMut(&str) -> bool) -> String {
    let name = shortened(relation);
    let is_reserved = name.get(..RESERVED.len()).is_some_and(|start| start.eq_ignore_ascii_case(RESERVED));
    let name = if is_reserved { format!("_{name}") } else { name.to_string() };
    first_free(name, |name| !is_taken(name))
}

/// The names of the columns of a table. They follow from those of the relation, so they need not be stored.
pub fn column_names<'n>(columns: impl Iterator<Item = &'n str>) -> Vec<String> {
    let mut taken = HashSet::new();
    columns
        .map(|name| first_free(shortened(name).to_string(), |name| taken.insert(name.to_ascii_lowercase())))
        .collect()
}

fn first_free(name: String, mut is_free: impl FnMut(&str) -> bool) -> String {
    if is_free(&name) {
        return name;
    }
    let mut others = (2..).map(|number| format!("{name}~{number}"));
    others.find(|other| is_free(other)).expect("the series has no end")
}

fn shortened(name: &str) -> &str {
    let end = (0..=MAX_BYTES).rev().find(|end| name.is_char_boundary(*end));
    &name[..end.unwrap_or_default()]
}

/// A quoted name, for statements.
pub fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}
