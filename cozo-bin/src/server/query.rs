//! `POST /text-query`: scripts.

use std::time::{Duration, Instant};

use axum::response::Response;
use cozo::Interrupt;

use super::auth::Client;
use super::error::Failure;
use super::json_body::JsonText;
use super::request::{Decoded, Payload};
use super::running::Listed;
use super::scripts;
use crate::decode::ScriptRequest;

/// How long a query may keep a thread that serves connections.
const MOMENT: Duration = Duration::from_millis(1);

fn run(request: ScriptRequest, client: &Client, interrupt: &Interrupt) -> Result<Response, Failure> {
    let ScriptRequest { script, params, immutable } = request;
    client.may_run(&script)?;
    let mutability = client.mutability(immutable);
    let start = Instant::now();
    let run = client.app().db.run_script_answer(&script, params, mutability, interrupt);
    let answer = run.map_err(|report| client.failure(report, &script))?;
    let warnings = client.app().db.script_warnings(&script);
    Ok(JsonText::of_result(answer, &warnings, start.elapsed()).into_response())
}

/// Runs a query on the thread that serves the connection if it is likely to end within a moment: to hand it to another
/// thread would take longer. Gives nothing if it has not ended by then, or cannot begin now: it read at most, and may begin anew.
fn try_at_once(request: &ScriptRequest, client: &Client) -> Option<Result<Response, Failure>> {
    let app = client.app();
    let habit = app.habits.of(&request.script)?;
    let start = Instant::now();
    let interrupt = Interrupt::default();
    let outcome = app.workers.try_at_once(|| run(request.clone(), client, &interrupt.until(start + MOMENT)))?;
    let was_short = start.elapsed() < MOMENT;
    habit.note(was_short);
    if was_short {
        app.metrics.direct_queries.inc();
        return Some(outcome);
    }
    let stopped = outcome.as_ref().is_err_and(|failure| failure.has_code("eval::killed"));
    // Somebody else may have stopped it, too.
    (!stopped || interrupt.check().is_err()).then_some(outcome)
}

/// Runs a script.
pub async fn text_query(client: Client, payload: Payload) -> Result<Response, Failure> {
    let short = if payload.is_short() { Some(payload.short_script()?) } else { None };
    if let Some(request) = &short {
        if scripts::is_control(&request.script) {
            // It must not wait for the scripts that it is to stop.
            return run(request.clone(), &client, &Interrupt::default());
        }
        if let Some(outcome) = try_at_once(request, &client) {
            return outcome;
        }
    }
    let (app, interrupt) = (client.app().clone(), Interrupt::default());
    let listed = Listed::new(&client, &interrupt);
    if let Some(request) = &short {
        listed.show(&request.script);
    }
    let work = {
        let interrupt = interrupt.clone();
        move || {
            let Decoded { value, held: _held } = payload.script(short, &interrupt)?;
            listed.show(&value.script);
            run(value, &client, &interrupt)
        }
    };
    // Apart, so that what all queries carry along is small.
    Box::pin(app.workers.run(interrupt, work)).await
}
