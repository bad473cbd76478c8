//! `POST /text-query`: scripts.

use std::collections::BTreeMap;
use std::time::Instant;

use axum::response::Response;
use cozo::{DataValue, Interrupt};

use super::auth::Client;
use super::error::Failure;
use super::json_body::JsonText;
use super::request::Payload;
use super::values;

/// `{"script": ..., "params": {...}, "immutable": bool}`
#[derive(serde::Deserialize)]
struct Query {
    script: String,
    #[serde(default, deserialize_with = "values::parameters")]
    params: BTreeMap<String, DataValue>,
    immutable: Option<bool>,
}

/// Runs a script.
pub async fn text_query(client: Client, payload: Payload) -> Result<Response, Failure> {
    let (app, interrupt) = (client.app().clone(), Interrupt::default());
    let work = {
        let interrupt = interrupt.clone();
        move || {
            let Query { script, params, immutable } = payload.parse()?;
            client.may_mention(&script)?;
            let mutability = client.mutability(immutable.unwrap_or(false));
            let start = Instant::now();
            let run = client.app().db.run_script_interruptible(&script, params, mutability, &interrupt);
            let rows = run.map_err(|report| client.failure(report, &script))?;
            Ok(JsonText::of_result(rows, start.elapsed()).into_response())
        }
    };
    app.workers.run(interrupt, work).await
}
