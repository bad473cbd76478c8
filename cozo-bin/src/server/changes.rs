//! `GET /changes/{relation}`: a stream of what is changed in a relation.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use axum::extract::rejection::QueryRejection;
use axum::extract::{Path, Query};
use axum::http::HeaderMap;
use axum::response::Response;
use cozo::{CallbackOp, ChangePosition, DbInstance, NamedRows, SharedChanges};
use serde::Deserialize;
use tokio::task::spawn_blocking;

use super::auth::Client;
use super::error::{Failure, ServerError};
use super::events;
use super::state::Server;
use super::values::write_rows;

/// How many changes a client may be behind. One that is slower loses its stream, and knows that it missed something.
const WAITING_CHANGES: usize = 1024;

/// How long the thread of a stream waits for a change before it looks whether its client has gone.
const LOOK: Duration = Duration::from_millis(200);

/// A client of a relation that does not change is told how far the log is at most this often.
const BETWEEN_IDS: Duration = Duration::from_secs(5);

/// The query of the address.
#[derive(Deserialize)]
pub struct Start {
    /// The position of the last change that the client has.
    after: Option<String>,
}

/// Sends changes as they are committed, from the moment at which the headers of the response are sent. With a shared log, each has
/// its position, and the client may name the one from which to go on.
pub async fn changes(
    client: Client,
    Path(relation): Path<String>,
    start: Result<Query<Start>, QueryRejection>,
    headers: HeaderMap,
) -> Result<Response, Failure> {
    client.may_mention(&relation)?;
    let Query(Start { after }) = start.map_err(|rejected| ServerError::BadRequest(rejected.body_text()))?;
    // A browser that lost its connection names the last event by itself.
    let last_event =
        headers.get("last-event-id").and_then(|id| id.to_str().ok().map(str::to_string)).filter(|id| !id.is_empty());
    let server = client.app();
    let db = server.db.clone();
    let after = last_event.or(after);
    if after.is_none() && db.shared_state().map_err(|report| Failure::of_report(report, None))?.is_none() {
        return Ok(own_changes(server, db, &relation)?);
    }
    let begin = move || {
        let after = after.map(|text| text.parse::<ChangePosition>()).transpose()?;
        db.shared_changes(&relation, after)
    };
    // The state at a position in the past is made anew, which takes its time.
    let begun = spawn_blocking(begin).await.map_err(|error| ServerError::Internal(error.to_string()))?;
    Ok(shared_changes(server, begun.map_err(|report| Failure::of_report(report, None))?)?)
}

/// The changes that this process commits.
fn own_changes(server: &Server, db: DbInstance, relation: &str) -> Result<Response, ServerError> {
    let (id, changes) = db.register_callback(relation, Some(WAITING_CHANGES));
    let produce = move |events: &events::Events| {
        let mut changes = changes.into_iter();
        while changes.next().is_some_and(|(op, new, old)| events.put(event(op, &new, &old))) {}
    };
    let stop = move || {
        db.unregister_callback(id);
    };
    events::stream(server, produce, stop)
}

/// The changes of all processes of a shared log.
fn shared_changes(server: &Server, mut changes: SharedChanges) -> Result<Response, ServerError> {
    let has_ended = Arc::new(AtomicBool::new(false));
    let is_over = has_ended.clone();
    let produce = move |events: &events::Events| {
        // A client that has had no event yet knows from where to go on, too.
        let mut told: Option<(ChangePosition, Instant)> = None;
        while !is_over.load(Ordering::Relaxed) {
            let next = changes.next_within(LOOK).and_then(|change| Ok((change, changes.position()?)));
            match next {
                Ok((None, position)) => {
                    let is_known = told.is_some_and(|(at, time)| at == position || time.elapsed() < BETWEEN_IDS);
                    if !is_known {
                        told = Some((position, Instant::now()));
                        if !events.put_id(&position.to_string()) {
                            return;
                        }
                    }
                }
                Ok((Some(change), position)) => {
                    told = Some((position, Instant::now()));
                    let json = event(change.op, &change.new_rows, &change.old_rows);
                    if !events.put_with_id(&change.position.to_string(), json) {
                        return;
                    }
                }
                Err(report) => {
                    events.put_error(&cozo::format_error_as_json(report, None));
                    return;
                }
            }
        }
    };
    events::stream(server, produce, move || has_ended.store(true, Ordering::Relaxed))
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
