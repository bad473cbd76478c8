//! `GET /rules/{name}` and `/rule-result/{id}`: fixed rules whose work a client does.
//!
//! The client holds a stream open; each call of the rule is an event with a number, and the client answers under that number.

use std::collections::{BTreeMap, HashMap};

use axum::extract::rejection::QueryRejection;
use axum::extract::{Path, Query};
use axum::response::Response;
use cozo::{DataValue, Interrupt, NamedColumns, NamedRows, SimpleFixedRule};
use crossbeam_channel::Sender;
use parking_lot::Mutex;
use serde_json::json;

use super::auth::Client;
use super::error::{Failure, ServerError};
use super::events;
use super::json_body::JsonText;
use super::request::{Decoded, Number, Payload};
use super::values::{write_json, write_list, write_name, write_rows, write_value};
use crate::decode::{DecodeError, Meter, RowsSeed, decode};

/// Where an answer goes.
type Answer = Sender<miette::Result<NamedRows>>;

/// The requests that wait for answers, by number.
#[derive(Default)]
pub struct RuleRequests(Mutex<Waiting>);

#[derive(Default)]
struct Waiting {
    next: u64,
    answers: HashMap<u64, (Registration, Answer)>,
}

/// The number of a client that answers for a rule.
type Registration = u64;

impl RuleRequests {
    /// A number for a client.
    fn register(&self) -> Registration {
        self.0.lock().number()
    }

    fn add(&self, from: Registration, answer: Answer) -> u64 {
        let mut waiting = self.0.lock();
        let id = waiting.number();
        waiting.answers.insert(id, (from, answer));
        id
    }

    /// Drops the requests to a client that has gone: their queries fail.
    fn forget(&self, from: Registration) {
        self.0.lock().answers.retain(|_, (registration, _)| *registration != from);
    }

    /// Takes a request, to be answered or dropped: then its query fails.
    fn take(&self, id: u64) -> Result<Answer, ServerError> {
        let taken = self.0.lock().answers.remove(&id);
        taken.map(|(_, answer)| answer).ok_or(ServerError::NoRuleRequest(id))
    }

    fn has(&self, id: u64) -> bool {
        self.0.lock().answers.contains_key(&id)
    }
}

impl Waiting {
    fn number(&mut self) -> u64 {
        self.next += 1;
        self.next
    }
}

/// `?arity=N`
#[derive(serde::Deserialize)]
pub struct Arity {
    arity: usize,
}

/// Registers a rule for as long as the client listens.
pub async fn rules(
    client: Client,
    Path(name): Path<String>,
    arity: Result<Query<Arity>, QueryRejection>,
) -> Result<Response, Failure> {
    client.must_write()?;
    let Query(Arity { arity }) = arity.map_err(|rejected| ServerError::BadRequest(rejected.body_text()))?;
    let app = client.app().clone();
    let (rule, requests) = SimpleFixedRule::rule_with_channel(arity);
    if let Err(report) = app.db.register_fixed_rule(name.clone(), rule) {
        let event = json!({"type": "register-error", "error": report.to_string()});
        return Ok(events::single(event.to_string().into_bytes()));
    }
    let (server, registration) = (app.clone(), app.rule_requests.register());
    let produce = move |events: &events::Events| {
        for (inputs, options, answer) in requests {
            let id = server.rule_requests.add(registration, answer);
            if !events.put(event(id, &inputs, &options)) {
                break;
            }
        }
        server.rule_requests.forget(registration);
    };
    let server = app.clone();
    let stop = move || {
        if let Err(error) = server.db.unregister_fixed_rule(&name) {
            tracing::error!(name, %error, "a rule cannot be taken away");
        }
        // Queries that use the rule keep the channel open on which `produce` waits.
        server.rule_requests.forget(registration);
    };
    Ok(events::stream(&app, produce, stop)?)
}

/// `{"type": "request", "id": n, "inputs": [...], "options": {...}}`
fn event(id: u64, inputs: &[NamedRows], options: &BTreeMap<String, DataValue>) -> Vec<u8> {
    let mut json = b"{\"type\":\"request\",\"id\":".to_vec();
    write_json(&mut json, &id);
    json.extend_from_slice(b",\"inputs\":");
    write_list(&mut json, inputs, write_rows);
    json.extend_from_slice(b",\"options\":{");
    for (i, (name, value)) in options.iter().enumerate() {
        write_name(&mut json, i == 0, name);
        write_value(&mut json, value);
    }
    json.extend_from_slice(b"}}");
    json
}

/// `POST /rule-result/{id}`: `{"headers": [...], "rows": [[...]]}`.
pub async fn answer(client: Client, Number(id): Number, payload: Payload) -> Result<Response, Failure> {
    client.must_write()?;
    let app = client.app().clone();
    if !app.rule_requests.has(id) {
        return Err(ServerError::NoRuleRequest(id).into());
    }
    let work = move || {
        let Decoded { value, held: _held } = payload.decode(&Interrupt::default(), read_answer)?;
        client.app().rule_requests.take(id)?.send(Ok(value)).map_err(|_| ServerError::NoRuleRequest(id))?;
        Ok(JsonText::ok().into_response())
    };
    app.workers.beside(work).await
}

/// The rows that a client answers with.
fn read_answer(text: &[u8], meter: &Meter<'_>) -> Result<NamedRows, DecodeError> {
    let NamedColumns { headers, rows, .. } = decode(text, RowsSeed { meter, relation: "the rule" }, meter)?;
    let bytes = rows.len.saturating_mul(size_of::<Vec<DataValue>>() + rows.columns.len() * size_of::<DataValue>());
    let room: Result<(), serde_json::Error> = meter.charge(bytes);
    room.map_err(|_| DecodeError::TooMuch)?;
    Ok(NamedRows::new(headers, rows.rows().collect()))
}

/// `DELETE /rule-result/{id}`: the query fails.
pub async fn cancel(client: Client, Number(id): Number) -> Result<Response, Failure> {
    client.must_write()?;
    let answer = client.app().rule_requests.take(id)?;
    answer.send(Err(ServerError::RuleCancelled.into())).map_err(|_| ServerError::NoRuleRequest(id))?;
    Ok(JsonText::ok().into_response())
}
