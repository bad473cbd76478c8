//! `cozo server` under load, and killed under load.
//!
//! `COZO_SOAK_SECONDS` is how long the load lasts, `COZO_CRASHES` how often the server of each engine is killed.

#![cfg(all(feature = "server", unix))]

mod support;

use std::collections::BTreeSet;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use support::scratch;
use support::server::{Server, start};

/// Connections under load.
const CONNECTIONS: u64 = 512;

/// Rows that are read under load. Each connection writes one of them: two commits of the same row may conflict.
const USERS: u64 = 2 * CONNECTIONS;

/// Clients that write while the server is killed.
const WRITERS: usize = 8;

#[cfg(feature = "storage-rocksdb")]
const ENGINES: [&str; 2] = ["sqlite", "rocksdb"];
#[cfg(not(feature = "storage-rocksdb"))]
const ENGINES: [&str; 1] = ["sqlite"];

fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// A client with a connection of its own that it keeps.
struct Client {
    agent: ureq::Agent,
    url: String,
}

impl Client {
    fn new(server: &Server) -> Self {
        let agent = ureq::Agent::config_builder().http_status_as_error(false).build().into();
        Client { agent, url: format!("{}/text-query", server.address) }
    }

    /// The rows of a script; an error if there is no server. A refusal fails the test.
    fn rows(&self, script: &str, params: Value) -> Result<Value, ureq::Error> {
        let body = json!({"script": script, "params": params}).to_string();
        let mut response = self.agent.post(&self.url).send(&body)?;
        let text = response.body_mut().read_to_string()?;
        assert_eq!(response.status(), 200, "{script}: {text}");
        let json: Value = serde_json::from_str(&text).expect("it is JSON");
        Ok(json["rows"].clone())
    }
}

/// Reads four times for each write until an instant; how often it did either.
fn read_and_write(client: &Client, number: u64, end: Instant) -> u64 {
    let mut count = 0;
    while Instant::now() < end {
        let id = if count % 5 == 0 { number } else { (number * 7919 + count * 31) % USERS };
        let done = match count % 5 {
            0 => client.rows("?[id, n] <- [[$id, $n]] :put user {id => n}", json!({"id": id, "n": id + USERS * count})),
            _ => client.rows("?[n] := *user{id: $id, n}", json!({"id": id})),
        };
        let rows = done.expect("the server answers");
        let right = match count % 5 {
            0 => rows == json!([["OK"]]),
            _ => rows[0][0].as_u64().is_some_and(|n| n % USERS == id),
        };
        assert!(right, "{id}: {rows}");
        count += 1;
    }
    count
}

#[test]
fn many_connections_read_and_write_at_once() {
    for engine in ENGINES {
        let directory = scratch(&format!("server_load_{engine}"));
        let server = start(&["-e", engine, "-p", &directory.path("data")]);
        let fill = format!("?[id, n] := id in int_range({USERS}), n = id :create user {{id: Int => n: Int}}");
        server.query(&fill).ok();
        let end = Instant::now() + Duration::from_secs(setting("COZO_SOAK_SECONDS", 2));
        let clients: Vec<JoinHandle<u64>> = (0..CONNECTIONS)
            .map(|number| {
                let client = Client::new(&server);
                thread::spawn(move || read_and_write(&client, number, end))
            })
            .collect();
        let counts: Vec<u64> = clients.into_iter().map(|client| client.join().expect("all is answered")).collect();
        assert!(counts.iter().all(|count| *count > 0), "{engine}: each connection was served: {counts:?}");
        let right = format!("?[count(id)] := *user{{id, n}}, mod(n, {USERS}) == id");
        assert_eq!(server.rows(&right), json!([[USERS]]), "{engine}");
        server.stop();
    }
}

/// Writes one number after the other until the server is gone; gives those that were acknowledged.
fn write(client: &Client, writer: usize, from: u64) -> BTreeSet<u64> {
    let put = "?[w, n, v] <- [[$w, $n, $n * 7]] :put r {w, n => v}";
    (from..).take_while(|n| client.rows(put, json!({"w": writer, "n": n})).is_ok()).collect()
}

#[test]
fn what_was_acknowledged_survives_kills() {
    for engine in ENGINES {
        let directory = scratch(&format!("server_kills_{engine}"));
        let database = directory.path("data");
        let mut acknowledged = vec![BTreeSet::new(); WRITERS];
        for round in 0..=setting("COZO_CRASHES", 2) {
            let mut server = start(&["-e", engine, "-p", &database]);
            if round == 0 {
                server.query(":create r {w: Int, n: Int => v: Int}").ok();
            }
            let next = missing_none(&server, &acknowledged, &format!("{engine}, round {round}"));
            let clients: Vec<JoinHandle<BTreeSet<u64>>> = (0..WRITERS)
                .map(|writer| {
                    let (client, from) = (Client::new(&server), next[writer]);
                    thread::spawn(move || write(&client, writer, from))
                })
                .collect();
            // Some lives are too short for more than a few commits.
            thread::sleep(Duration::from_millis(100 + round * 397 % 900));
            server.signal("-KILL");
            server.wait();
            for (known, client) in acknowledged.iter_mut().zip(clients) {
                known.extend(client.join().expect("nothing is refused"));
            }
        }
        assert!(acknowledged.iter().all(|numbers| !numbers.is_empty()), "{engine}: all have written");
        missing_none(&start(&["-e", engine, "-p", &database]), &acknowledged, engine);
    }
}

/// Checks that all that was acknowledged is there; gives the next number of each writer.
fn missing_none(server: &Server, acknowledged: &[BTreeSet<u64>], context: &str) -> Vec<u64> {
    let check = |(writer, numbers): (usize, &BTreeSet<u64>)| -> u64 {
        let rows = server.rows(&format!("?[n] := *r{{w: {writer}, n, v}}, v == n * 7"));
        let found: BTreeSet<u64> = rows.as_array().into_iter().flatten().filter_map(|row| row[0].as_u64()).collect();
        let lost: Vec<&u64> = numbers.difference(&found).collect();
        assert!(lost.is_empty(), "{context}: writer {writer} lost {lost:?}");
        found.last().map_or(0, |last| last + 1)
    };
    acknowledged.iter().enumerate().map(check).collect()
}
