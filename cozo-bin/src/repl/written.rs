//! What a script has written, in words.

use cozo::parse::ast::MutationOp;
use cozo::session::Written;
use cozo::{DataValue, NamedRows};

use super::input;
use crate::output::count;

/// `1 relation created, 2 rows put`, or `0 rows put`; nothing for a script without an operation that writes.
pub fn counts(written: &Written, script: &str) -> Option<String> {
    let Written { created, put, inserted, updated, removed, perhaps_removed } = *written;
    let rows = |number: usize, done: &str| format!("{} {done}", count(number, "row"));
    let created = (created > 0).then(|| format!("{} created", count(created, "relation")));
    let done = [(put, "put"), (inserted, "inserted"), (updated, "updated"), (removed, "removed")];
    let done = done.into_iter().filter(|(number, _)| *number > 0).map(|(number, done)| rows(number, done));
    // The operation does not look whether they were there.
    let perhaps = (perhaps_removed > 0).then(|| format!("up to {}", rows(perhaps_removed, "removed")));
    let all: Vec<String> = created.into_iter().chain(done).chain(perhaps).collect();
    if all.is_empty() { in_vain(script).map(|done| rows(0, done)) } else { Some(all.join(", ")) }
}

/// What a query that has written nothing would have done to rows.
fn in_vain(script: &str) -> Option<&'static str> {
    match input::mutation_of(script)? {
        MutationOp::Put => Some("put"),
        MutationOp::Insert => Some("inserted"),
        MutationOp::Update => Some("updated"),
        MutationOp::Rm | MutationOp::Delete => Some("removed"),
        MutationOp::Create | MutationOp::Replace | MutationOp::Ensure | MutationOp::EnsureNot => None,
    }
}

/// Whether the rows are the status of an operation.
pub fn is_status(rows: &NamedRows) -> bool {
    rows.headers == ["status"] && rows.rows == [[DataValue::from("OK")]]
}
