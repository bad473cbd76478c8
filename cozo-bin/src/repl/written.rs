//! What a script has written, in words.

use cozo::session::Written;
use cozo::{DataValue, NamedRows};

use crate::output::count;

/// `1 relation created, 2 rows put`; nothing if the script wrote nothing.
pub fn counts(written: &Written) -> Option<String> {
    let Written { created, put, inserted, updated, removed, perhaps_removed } = *written;
    let rows = |number: usize, done: &str| format!("{} {done}", count(number, "row"));
    let created = (created > 0).then(|| format!("{} created", count(created, "relation")));
    let done = [(put, "put"), (inserted, "inserted"), (updated, "updated"), (removed, "removed")];
    let done = done.into_iter().filter(|(number, _)| *number > 0).map(|(number, done)| rows(number, done));
    // The operation does not look whether they were there.
    let perhaps = (perhaps_removed > 0).then(|| format!("up to {}", rows(perhaps_removed, "removed")));
    let all: Vec<String> = created.into_iter().chain(done).chain(perhaps).collect();
    (!all.is_empty()).then(|| all.join(", "))
}

/// Whether the rows are the status of an operation.
pub fn is_status(rows: &NamedRows) -> bool {
    rows.headers == ["status"] && rows.rows == [[DataValue::from("OK")]]
}
