//! A server, over HTTP.

use std::collections::BTreeMap;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use cozo::{DataValue, Interrupt, NamedRows, ScriptMutability};
use serde_json::{Value, json};
use ureq::http::{Request, Response};
use ureq::{Agent, Body};

use super::failure::Failure;
use crate::error::CliError;

/// How often a script that is waited for looks for Ctrl-C.
const GLANCE: Duration = Duration::from_millis(20);

/// A server of this program or of CozoDB 0.7.
#[derive(Clone)]
pub struct Server {
    agent: Agent,
    /// The address without a slash at the end.
    url: String,
    token: Option<String>,
}

impl Server {
    /// The server at `http://HOST:PORT` or `https://HOST:PORT`; nothing is sent yet.
    pub fn new(url: &str, token: Option<String>) -> Result<Self, CliError> {
        if !url.starts_with("http://") && !url.starts_with("https://") {
            return Err(CliError::Url(url.to_string()));
        }
        let agent = Agent::config_builder().http_status_as_error(false).build().into();
        Ok(Server { agent, url: url.trim_end_matches('/').to_string(), token })
    }

    /// Its address.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Runs a script.
    pub fn run_script(
        &self,
        script: &str,
        parameters: BTreeMap<String, DataValue>,
        mutability: ScriptMutability,
        interrupt: &Interrupt,
    ) -> miette::Result<NamedRows> {
        let answer = self.answer_unless(script, parameters, mutability, interrupt)?;
        succeeded(&answer, script)?;
        rows_of(&answer)
    }

    /// Runs a script; its result or error as the server tells it, unless an interrupt comes first.
    pub fn answer_unless(
        &self,
        script: &str,
        parameters: BTreeMap<String, DataValue>,
        mutability: ScriptMutability,
        interrupt: &Interrupt,
    ) -> miette::Result<Value> {
        let (sender, receiver) = channel();
        let (server, text) = (self.clone(), script.to_string());
        let wait = move || sender.send(server.answer(&text, parameters, mutability));
        thread::Builder::new().spawn(wait).map_err(CliError::NoThreads)?;
        loop {
            match receiver.recv_timeout(GLANCE) {
                Ok(answer) => return answer,
                Err(RecvTimeoutError::Timeout) if interrupt.check().is_ok() => {}
                Err(_) => return Err(CliError::NotWaitedFor.into()),
            }
        }
    }

    fn answer(
        &self,
        script: &str,
        parameters: BTreeMap<String, DataValue>,
        mutability: ScriptMutability,
    ) -> miette::Result<Value> {
        let parameters: serde_json::Map<String, Value> =
            parameters.into_iter().map(|(name, value)| (name, Value::from(value))).collect();
        let immutable = mutability == ScriptMutability::Immutable;
        let body = json!({"script": script, "params": parameters, "immutable": immutable});
        Ok(self.send("POST", "/text-query", &body.to_string())?)
    }

    /// Imports relations from the text of JSON.
    pub fn import(&self, text: &str) -> miette::Result<()> {
        succeeded(&self.send("PUT", "/import", text)?, "")
    }

    /// Has the server write a backup.
    pub fn backup(&self, file: &str) -> miette::Result<()> {
        succeeded(&self.send("POST", "/backup", &json!({"path": file}).to_string())?, "")
    }

    fn send(&self, method: &str, path: &str, body: &str) -> Result<Value, CliError> {
        let unreachable = |reason: String| CliError::Unreachable { url: self.url.clone(), reason };
        let mut request = Request::builder().method(method).uri(format!("{}{path}", self.url));
        if let Some(token) = &self.token {
            // The first is for the token of the server, the second for its table of tokens.
            request = request.header("x-cozo-auth", token).header("authorization", format!("Bearer {token}"));
        }
        let request = request.body(body).map_err(|error| unreachable(error.to_string()))?;
        let mut response = self.agent.run(request).map_err(|error| unreachable(error.to_string()))?;
        let text = read(&mut response).map_err(|error| unreachable(error.to_string()))?;
        match (response.status().as_u16(), serde_json::from_str(&text)) {
            (401, _) => Err(CliError::NoToken(self.url.clone())),
            (_, Ok(answer @ Value::Object(_))) => Ok(answer),
            (status, _) => Err(unreachable(format!("it is no cozo server: status {status} without JSON"))),
        }
    }
}

fn read(response: &mut Response<Body>) -> Result<String, ureq::Error> {
    response.body_mut().with_config().limit(u64::MAX).read_to_string()
}

/// The error that an answer is, if it is one.
fn succeeded(answer: &Value, script: &str) -> miette::Result<()> {
    match answer["ok"] == true {
        true => Ok(()),
        false => Err(Failure::of_json(answer, script).into()),
    }
}

/// The results of an answer, which are chained by `next`.
fn rows_of(answer: &Value) -> miette::Result<NamedRows> {
    let mut results = vec![];
    let mut next = answer;
    while next.is_object() {
        results.push(NamedRows::from_json(next)?);
        next = &next["next"];
    }
    Ok(NamedRows::chained(results))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_chained() {
        let answer = json!({"ok": true, "headers": ["a"], "rows": [[1]], "next": {"headers": ["b"], "rows": [[1.0]], "next": null}});
        let rows = rows_of(&answer).expect("they are rows").flatten();
        assert_eq!(rows.iter().map(|rows| rows.headers[0].as_str()).collect::<Vec<_>>(), ["a", "b"]);
        assert_eq!(rows[1].rows[0][0], DataValue::from(1.0));
    }
}
