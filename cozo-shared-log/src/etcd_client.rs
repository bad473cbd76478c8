//! Requests to etcd's JSON gateway: `/v3/kv/range` and so on. Keys and values are base64 in JSON.

use crate::medium::{Failure, Outcome};
use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::{Value, json};
use std::{
    io::{BufRead, BufReader},
    sync::atomic::{AtomicUsize, Ordering},
    time::{Duration, Instant},
};
use ureq::{Agent, Body, http::Response};

/// A member that does not answer is given up after so long, as there are others.
const PATIENCE: Duration = Duration::from_secs(3);
const LARGEST_ANSWER: u64 = 1 << 30;

/// Members of a cluster.
#[derive(Debug)]
pub struct Client {
    agent: Agent,
    endpoints: Vec<String>,
    /// Which of them is asked next.
    current: AtomicUsize,
}

impl Client {
    pub fn new(endpoints: Vec<String>) -> Client {
        let config = Agent::config_builder().http_status_as_error(false).timeout_connect(Some(Duration::from_secs(1)));
        Client { agent: config.build().into(), endpoints, current: AtomicUsize::new(0) }
    }

    pub fn encode(&self, bytes: &[u8]) -> String {
        STANDARD.encode(bytes)
    }

    fn post(&self, path: &str, request: &Value, timeout: Duration) -> Outcome<Response<Body>> {
        let endpoint = &self.endpoints[self.current.load(Ordering::Relaxed) % self.endpoints.len()];
        let post = self.agent.post(format!("{endpoint}/v3/{path}")).config().timeout_global(Some(timeout)).build();
        let answer = post.content_type("application/json").send(request.to_string());
        let mut answer = answer.map_err(|error| {
            let why = format!("{endpoint}: {error}");
            match error {
                ureq::Error::Io(error) if error.kind() == std::io::ErrorKind::ConnectionRefused => Failure::Unsent(why),
                ureq::Error::ConnectionFailed | ureq::Error::HostNotFound => Failure::Unsent(why),
                _ => Failure::Lost(why),
            }
        })?;
        if answer.status().is_success() {
            return Ok(answer);
        }
        let status = answer.status();
        let why = format!("{endpoint}: {status}: {}", answer.body_mut().read_to_string().unwrap_or_default());
        Err(if status.is_client_error() && status != 408 && status != 429 {
            Failure::Refused(why)
        } else {
            Failure::Lost(why)
        })
    }

    /// The answer of a member. If there is none, the next request goes to another: this one may have been done.
    fn ask(&self, path: &str, request: &Value, until: Instant) -> Outcome<Value> {
        let left = until.saturating_duration_since(Instant::now()).min(PATIENCE);
        if left.is_zero() {
            return Err(Failure::Lost("the time is over".into()));
        }
        let answer = self.post(path, request, left).and_then(|answer| {
            let text = answer.into_body().into_with_config().limit(LARGEST_ANSWER).read_to_vec();
            let text = text.map_err(|error| Failure::Lost(error.to_string()))?;
            serde_json::from_slice(&text).map_err(|error| Failure::Lost(error.to_string()))
        });
        if matches!(answer, Err(Failure::Lost(_) | Failure::Unsent(_))) {
            self.current.fetch_add(1, Ordering::Relaxed);
        }
        answer
    }

    /// The keys and values of a range.
    pub fn range(&self, request: &Value, until: Instant) -> Outcome<Vec<(Vec<u8>, Vec<u8>)>> {
        let answer = self.ask("kv/range", request, until)?;
        let pairs = answer["kvs"].as_array().map(Vec::as_slice).unwrap_or_default();
        pairs.iter().map(|pair| Ok((decode(&pair["key"])?, decode(&pair["value"])?))).collect()
    }

    /// Whether a key is there, and at which revision of the store that was so.
    pub fn revision(&self, key: &str, until: Instant) -> Outcome<(bool, u64)> {
        let answer = self.ask("kv/range", &json!({ "key": key, "keys_only": true }), until)?;
        let revision = answer["header"]["revision"].as_str().and_then(|text| text.parse().ok());
        let revision = revision.ok_or_else(|| Failure::Lost("the answer has no revision".into()))?;
        Ok((answer["kvs"].as_array().is_some_and(|pairs| !pairs.is_empty()), revision))
    }

    pub fn put(&self, key: &str, value: &[u8], until: Instant) -> Outcome<()> {
        self.ask("kv/put", &json!({ "key": key, "value": self.encode(value) }), until).map(drop)
    }

    pub fn delete(&self, range: &Value, until: Instant) -> Outcome<()> {
        self.ask("kv/deleterange", range, until).map(drop)
    }

    /// Whether the conditions of a transaction held, so that it was done.
    pub fn transaction(&self, request: &Value, until: Instant) -> Outcome<bool> {
        Ok(self.ask("kv/txn", request, until)?["succeeded"].as_bool().unwrap_or(false))
    }

    /// Returns when a key changes from a revision on, or at that time.
    pub fn watch(&self, key: &str, from: u64, until: Instant) -> Outcome<()> {
        let left = until.saturating_duration_since(Instant::now()).max(Duration::from_millis(1));
        let request = json!({ "create_request": { "key": key, "start_revision": from.to_string() } });
        // The end of the time looks like a lost answer.
        let answer = match self.post("watch", &request, left) {
            Err(Failure::Lost(_) | Failure::Unsent(_)) if Instant::now() >= until => return Ok(()),
            answer => answer?,
        };
        for line in BufReader::new(answer.into_body().into_reader()).lines() {
            let Ok(line) = line else { break };
            // etcd cancels a watch of a revision that it has removed. The caller then looks at the slot itself.
            let news = serde_json::from_str::<Value>(&line).unwrap_or_default();
            if news["result"]["events"].is_array() || news["result"]["canceled"] == true {
                break;
            }
        }
        Ok(())
    }
}

fn decode(text: &Value) -> Outcome<Vec<u8>> {
    // An empty value is left out.
    STANDARD.decode(text.as_str().unwrap_or_default()).map_err(|error| Failure::Lost(error.to_string()))
}
