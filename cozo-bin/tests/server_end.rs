//! How `cozo server` ends: the database is closed after all that has it, and what was acknowledged is there.

#![cfg(all(feature = "server", unix))]

mod support;

use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use serde_json::{Value, json};
use support::scratch;
use support::server::{Server, eventually, start, start_by, start_with};

#[cfg(feature = "storage-rocksdb")]
const ENGINES: [&str; 2] = ["sqlite", "rocksdb"];
#[cfg(not(feature = "storage-rocksdb"))]
const ENGINES: [&str; 1] = ["sqlite"];

/// A script that never ends and takes no memory.
const ENDLESS: &str = "?[count(a)] := a in int_range(1000000), b in int_range(1000000), *r{n}, a + b == -1 - n";

/// Sends a request; nothing if there is no server any more.
fn ask(server: &Server, method: &str, path: &str, body: &Value) -> Option<Value> {
    let reply = server.try_send(method, path, &[], body.to_string()).ok()?;
    (reply.status == 200).then(|| reply.json())
}

/// Begins transactions, writes and reads in them, and commits some, until the server does not answer.
fn hold(server: &Server, number: usize) {
    for round in 0.. {
        let Some(begun) = ask(server, "POST", "/transact?write=true", &Value::Null) else { return };
        let path = format!("/transact/{}", begun["id"]);
        let script = format!("?[w, n] := w = {}, n in int_range(100) :put r {{w, n}}", 100 + number);
        let steps = [script.as_str(), "?[count(n)] := *r{n}"];
        if steps.iter().any(|script| ask(server, "POST", &path, &json!({"script": script})).is_none()) {
            return;
        }
        if round % 3 == 0 && ask(server, "PUT", &path, &json!({"abort": false})).is_none() {
            return;
        }
    }
}

/// Writes one number after the other until the server does not answer; `acknowledged` counts.
fn write(server: &Server, number: usize, acknowledged: &AtomicU64) {
    let put = |n| json!({"script": format!("?[w, n] <- [[{number}, {n}]] :put r {{w, n}}")});
    while ask(server, "POST", "/text-query", &put(acknowledged.load(Ordering::Relaxed))).is_some() {
        acknowledged.fetch_add(1, Ordering::Relaxed);
    }
}

#[test]
fn held_transactions_and_running_scripts_end_with_the_server() {
    for engine in ENGINES {
        for round in 0..3 {
            let directory = scratch(&format!("server_end_{engine}"));
            let path = directory.path("data");
            let arguments = ["-e", engine, "-p", &path, "--shutdown-timeout", "0.3"];
            let server = Arc::new(start(&arguments));
            server.query(":create r {w: Int, n: Int}").ok();
            let acknowledged: Arc<[AtomicU64; 2]> = Arc::default();
            let spawn = |work: Box<dyn FnOnce(&Server) + Send>| -> JoinHandle<()> {
                let server = server.clone();
                thread::spawn(move || work(&server))
            };
            let mut clients: Vec<JoinHandle<()>> = (0..6).map(|n| spawn(Box::new(move |s| hold(s, n)))).collect();
            for number in 0..2 {
                let acknowledged = acknowledged.clone();
                clients.push(spawn(Box::new(move |server| write(server, number, &acknowledged[number]))));
            }
            eventually("all have begun", || acknowledged.iter().all(|count| count.load(Ordering::Relaxed) > 3));
            clients
                .push(spawn(Box::new(|server| drop(ask(server, "POST", "/text-query", &json!({"script": ENDLESS}))))));
            thread::sleep(Duration::from_millis(50 + 100 * round));
            server.signal(["-TERM", "-INT", "-HUP"][round as usize]);
            clients.into_iter().for_each(|client| client.join().expect("a client ends well"));
            let mut server = Arc::into_inner(server).expect("nobody else has it");
            let status = server.wait();
            assert!(status.success(), "{engine}: {status}");
            let log = server.rest_of_log();
            assert!(log.contains("ended") && !log.contains("pthread") && !log.contains("panicked"), "{engine}: {log}");

            let server = start(&arguments);
            for (number, count) in acknowledged.iter().enumerate() {
                let found = server.rows(&format!("?[count(n)] := *r{{w: {number}, n}}"))[0][0].as_u64();
                assert!(found >= Some(count.load(Ordering::Relaxed)), "{engine}: {found:?} of {count:?}");
            }
            let left = server.rows("?[w, count(n)] := *r{w, n}, w >= 100");
            assert!(left.as_array().into_iter().flatten().all(|row| row[1] == 100), "{engine}: {left}");
        }
    }
}

/// After the time that requests have, and at a second signal before it.
#[test]
fn clients_are_told_that_their_scripts_were_stopped() {
    for (timeout, signals) in [("0.3", 1), ("600", 2)] {
        let server = Arc::new(start(&["--shutdown-timeout", timeout, "--max-running", "1"]));
        server.query("?[n] <- [[1]] :create r {n}").ok();
        // The second waits for the first.
        let clients: Vec<JoinHandle<Value>> = (0..2)
            .map(|_| {
                let server = server.clone();
                thread::spawn(move || server.query(ENDLESS).json())
            })
            .collect();
        eventually("one runs", || server.get("/running").text().contains("int_range"));
        for _ in 0..signals {
            server.signal("-TERM");
            thread::sleep(Duration::from_millis(200));
        }
        for client in clients {
            let answer = client.join().expect("an answer comes");
            assert_eq!((&answer["ok"], &answer["code"]), (&json!(false), &json!("eval::killed")), "{answer}");
        }
        let mut server = Arc::into_inner(server).expect("nobody else has it");
        assert!(server.wait().success());
    }
}

/// A full pipe that nobody reads blocks whoever writes to it. The log must not hold up requests, nor the end.
#[test]
fn a_log_that_is_not_read_holds_nothing_up() {
    let server = start(&["--log", "debug", "--max-running", "2"]);
    server.pause_log();
    // Each request is a line of the log, and a pipe holds 64 KB.
    for _ in 0..3000 {
        assert_eq!(server.get("/health").status, 200);
    }
    for _ in 0..20 {
        server.query("{?[a] := a in int_range(3000) :create _t {a}} %debug _t").ok();
    }
    server.stop();
}

#[test]
fn what_a_script_debugs_is_in_the_log() {
    for stdout in [Stdio::null(), std::io::pipe().expect("there are pipes").1.into()] {
        let server = start_with(&[], |command| command.stdout(stdout));
        server.query("{?[a] := a in int_range(300) :create _shown {a}} %debug _shown").ok();
        let line = server.logged("_shown");
        assert!(line.contains("count=300") && line.contains("[99]") && !line.contains("[100]"), "{line}");
    }
}

#[test]
fn nohup_keeps_a_server() {
    let server = start(&[]);
    server.signal("-HUP");
    server.logged("ended");
    let server = start_by(&["sh", "-c", "trap '' HUP; exec \"$0\" \"$@\""], &[], |command| command);
    server.signal("-HUP");
    thread::sleep(Duration::from_millis(300));
    assert_eq!(server.get("/health").status, 200);
    server.stop();
}
