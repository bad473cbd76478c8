//! `GET /changes/{relation}`: a stream of what is changed in a relation.

use axum::extract::Path;
use axum::response::Response;
use cozo::{CallbackOp, NamedRows};

use super::auth::Client;
use super::error::Failure;
use super::events;
use super::values::write_rows;

/// How many changes a client may be behind. One that is slower loses its stream, and knows that it missed something.
const WAITING_CHANGES: usize = 1024;

/// Sends changes as they are committed, from the moment at which the headers of the response are sent.
pub async fn changes(client: Client, Path(relation): Path<String>) -> Result<Response, Failure> {
    client.may_mention(&relation)?;
    let db = client.app().db.clone();
    let (id, changes) = db.register_callback(&relation, Some(WAITING_CHANGES));
    let produce = move |events: &events::Events| {
        let mut changes = changes.into_iter();
        while changes.next().is_some_and(|(op, new, old)| events.put(event(op, &new, &old))) {}
    };
    let stop = move || {
        db.unregister_callback(id);
    };
    Ok(events::stream(client.app(), produce, stop)?)
}

/// `{"op": "Put", "new_rows": {...}, "old_rows": {...}}`
fn event(op: CallbackOp, new: &NamedRows, old: &NamedRows) -> Vec<u8> {
    let mut json = format!("{{\"op\":\"{op}\",\"new_rows\":").into_bytes();
    write_rows(&mut json, new);
    json.extend_from_slice(b",\"old_rows\":");
    write_rows(&mut json, old);
    json.push(b'}');
    json
}
