//! Names of tables and columns: those of relations and their columns, except where SQLite does not take them.

use std::collections::HashSet;

/// The name of the catalog's table.
pub const CATALOG: &str = "cozo_catalog";

/// The name of the table with the mark of the commit log.
pub const LOG_MARK: &str = "cozo_commit_log";

/// How much of a name is kept, in bytes: statements repeat names, and SQLite bounds the length of statements.
const MAX_BYTES: usize = 100;

/// What SQLite keeps for itself.
const RESERVED: &str = "sqlite_";

/// The name of the table for a relation: its own, or the first of a series that is not taken.
pub fn table_name(relation: &str, mut is_taken: impl FnMut(&str) -> bool) -> String {
    let name = shortened(relation);
    let is_reserved = name.get(..RESERVED.len()).is_some_and(|start| start.eq_ignore_ascii_case(RESERVED));
    let name = if is_reserved { format!("_{name}") } else { name.to_string() };
    first_free(name, |name| !is_taken(name))
}

/// The names of the columns of a table. They follow from those of the relation, so that nobody needs to keep them.
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

/// A name as statements have it.
pub fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}
