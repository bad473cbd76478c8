//! What `cozo server` stops, and how it ends.

#![cfg(feature = "server")]

mod support;

use std::io::{BufRead, BufReader, Write};
use std::net::Shutdown;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use support::scratch;
use support::server::{Reply, Server, eventually, read_all, send_signal, start, wait_for};

/// A script that would never end.
const ENDLESS: &str = "n[x] := x = 0  n[x] := n[y], x = y + 1  ?[count(x)] := n[x]";

fn running(server: &Server) -> usize {
    server.rows("::running").as_array().map_or(0, Vec::len)
}

#[test]
fn scripts_are_stopped_at_the_time_limit() {
    let server = start(&["--timeout", "0.3"]);
    let begin = Instant::now();
    server.query(ENDLESS).failed(504, "server::timeout");
    assert!(begin.elapsed() < Duration::from_secs(20));
    server.query(&format!("{ENDLESS} :timeout 0.05")).failed(400, "eval::killed");

    let id = server.post("/transact", &Value::Null).ok()["id"].clone();
    let path = format!("/transact/{id}");
    server.post(&path, &json!({"script": ENDLESS})).failed(504, "server::timeout");
    assert_eq!(server.post(&path, &json!({"script": "?[a] <- [[1]]"})).ok()["rows"], json!([[1]]), "it goes on");
}

#[test]
fn scripts_are_killed_by_others() {
    let server = Arc::new(start(&[]));
    let endless = server.clone();
    let waiting = thread::spawn(move || endless.query(ENDLESS));
    eventually("it runs", || running(&server) == 2);
    let id = server.rows("::running")[0][0].clone();
    server.post("/text-query", &json!({"script": "::kill $id", "params": {"id": id}})).ok();
    waiting.join().expect("it answers").failed(400, "eval::killed");
}

#[test]
fn scripts_are_listed_with_their_texts_and_clients() {
    let server = Arc::new(start(&[]));
    assert_eq!(server.get("/running").ok(), json!({"ok": true, "running": []}));
    let endless = server.clone();
    let body = json!({"script": ENDLESS}).to_string();
    let waiting = thread::spawn(move || endless.send("POST", "/text-query", &[("user-agent", "test/1")], body));
    let list = || server.get("/running").ok()["running"].clone();
    eventually("it runs", || running(&server) == 2);
    let listed = list();
    assert_eq!((&listed[0]["script"], &listed[0]["agent"]), (&json!(ENDLESS), &json!("test/1")), "{listed}");
    assert!(listed[0]["client"].as_str().is_some_and(|client| client.starts_with("127.0.0.1:")), "{listed}");
    assert!(listed[0]["seconds"].as_f64().is_some_and(|seconds| seconds >= 0.0) && listed[1].is_null(), "{listed}");
    let path = format!("/running/{}", listed[0]["id"]);
    server.send("DELETE", &path, &[], "").ok();
    waiting.join().expect("it answers").failed(400, "eval::killed");
    assert_eq!(list(), json!([]));
    server.send("DELETE", &path, &[], "").failed(404, "server::no_script");
}

#[test]
fn a_stopped_script_of_a_transaction_leaves_it_open() {
    let server = Arc::new(start(&[]));
    let path = format!("/transact/{}", server.post("/transact", &Value::Null).ok()["id"]);
    let (endless, of_endless) = (server.clone(), path.clone());
    let waiting = thread::spawn(move || endless.post(&of_endless, &json!({"script": ENDLESS})));
    let list = || server.get("/running").ok()["running"].clone();
    eventually("it is listed", || list()[0]["script"] == json!(ENDLESS));
    server.send("DELETE", &format!("/running/{}", list()[0]["id"]), &[], "").ok();
    waiting.join().expect("it answers").failed(400, "eval::killed");
    assert_eq!(server.post(&path, &json!({"script": "?[a] <- [[1]]"})).ok()["rows"], json!([[1]]), "it goes on");
}

#[test]
fn scripts_end_when_their_client_goes_away() {
    let server = start(&[]);
    let body = json!({"script": ENDLESS}).to_string();
    let head = format!("Host: localhost\r\nContent-Length: {}\r\n\r\n{body}", body.len());
    let client = server.raw(&format!("POST /text-query HTTP/1.1\r\n{head}"));
    eventually("the script runs", || running(&server) == 2);
    drop(client);
    eventually("the script has ended", || running(&server) == 1);

    // In a transaction, which goes on.
    let id = server.post("/transact", &Value::Null).ok()["id"].clone();
    let alone = running(&server);
    let client = server.raw(&format!("POST /transact/{id} HTTP/1.1\r\n{head}"));
    thread::sleep(Duration::from_millis(300));
    drop(client);
    let path = format!("/transact/{id}");
    assert_eq!(server.post(&path, &json!({"script": "?[a] <- [[1]]"})).ok()["rows"], json!([[1]]));
    assert_eq!(running(&server), alone);
}

/// Sends a script with the rest of the head of its request, closes this half of the connection, and gives what comes.
fn half_closed(server: &Server, version: &str, script: &str) -> String {
    let body = json!({"script": script}).to_string();
    let head = format!("POST /text-query HTTP/{version}\r\nHost: localhost\r\nContent-Length: {}\r\n\r\n", body.len());
    let stream = server.raw(&format!("{head}{body}"));
    stream.shutdown(Shutdown::Write).expect("it can be closed");
    read_all(stream)
}

#[test]
fn a_client_that_has_closed_its_half_gets_its_answer() {
    let server = start(&[]);
    for version in ["1.0", "1.1"] {
        let reply = half_closed(&server, version, "?[a] := a = 40 + 2");
        assert!(reply.starts_with("HTTP/1.") && reply.contains(" 200 OK") && reply.contains("[[42]]"), "{reply}");
    }
    // Whoever waits for long is told now and then that the answer is still to come, which is no answer.
    let reply = half_closed(&server, "1.1", "?[a] := a = 40 + 2 :sleep 1.5");
    let (before, answer) = reply.split_once("HTTP/1.1 200 OK").unwrap_or_else(|| panic!("no answer in {reply}"));
    assert!(before.replace("HTTP/1.1 102 Processing\r\n\r\n", "").is_empty(), "{reply}");
    assert!(answer.contains("[[42]]") && !answer.contains("102 Processing"), "{reply}");
    // A long answer is whole.
    let reply = half_closed(&server, "1.1", "?[n] := n in int_range(300000)");
    assert!(reply.contains("[299999]") && reply.ends_with("0\r\n\r\n"), "{} bytes", reply.len());
    // A body that does not come whole is none.
    let stream = server.raw("POST /text-query HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{");
    stream.shutdown(Shutdown::Write).expect("it can be closed");
    assert!(!read_all(stream).contains("200 OK"));
    // Several requests at once.
    let one = "GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n";
    let stream = server.raw(&one.repeat(3));
    stream.shutdown(Shutdown::Write).expect("it can be closed");
    assert_eq!(read_all(stream).matches("{\"ok\":true}").count(), 3);
}

#[test]
fn a_client_that_has_gone_is_told_from_one_that_waits() {
    let server = Arc::new(start(&[]));
    let waiting = server.clone();
    let waits = thread::spawn(move || half_closed(&waiting, "1.1", "?[a] := a = 40 + 2 :sleep 3"));
    eventually("it runs", || running(&server) == 2);
    let body = json!({"script": "?[a] := a = 1 :sleep 600"}).to_string();
    let gone: Vec<_> = ["1.0", "1.1"]
        .map(|version| {
            let head = format!("POST /text-query HTTP/{version}\r\nHost: localhost\r\nContent-Length: {}", body.len());
            server.raw(&format!("{head}\r\n\r\n{body}"))
        })
        .into();
    eventually("all run", || running(&server) == 4);
    drop(gone);
    eventually("those of the clients that have gone have ended", || running(&server) <= 2);
    assert!(waits.join().expect("it ends well").contains("[[42]]"));
}

#[test]
fn more_scripts_than_may_run_wait_their_turn() {
    let server = Arc::new(start(&["--max-running", "1", "--timeout", "1"]));
    let endless = server.clone();
    let first = thread::spawn(move || endless.query(ENDLESS));
    thread::sleep(Duration::from_millis(500));
    let begin = Instant::now();
    server.query("?[a] <- [[1]]").ok();
    assert!(begin.elapsed() > Duration::from_millis(100), "it had to wait");
    first.join().expect("it answers").failed(504, "server::timeout");
    assert_eq!(server.get("/health").status, 200);
}

#[test]
fn a_server_with_no_place_left_can_be_rescued() {
    let directory = scratch("server_rescue");
    let token = directory.file("token", "master");
    let server =
        Arc::new(start(&["--max-running", "2", "--timeout", "30", "--token-file", &token, "--token-table", "keys"]));
    let as_user = |user: &str, script: &str| {
        let bearer = format!("Bearer {user}");
        let body = json!({"script": script}).to_string();
        server.send("POST", "/text-query", &[("authorization", &bearer)], body)
    };
    let keys = "?[token, mutable] <- [['writer', true], ['reader', false]] :create keys {token => mutable}";
    as_user("master", keys).ok();
    let endless: Vec<JoinHandle<Reply>> = (0..3)
        .map(|_| {
            let server = server.clone();
            let headers = [("x-cozo-auth", "master")];
            thread::spawn(move || server.send("POST", "/text-query", &headers, json!({"script": ENDLESS}).to_string()))
        })
        .collect();
    // Two run, the third one waits; each look-up of a token and each list has to pass them.
    let ids = |user| -> Vec<Value> {
        let rows = as_user(user, "::running").ok()["rows"].clone();
        rows.as_array().into_iter().flatten().map(|row| row[0].clone()).collect()
    };
    eventually("two run", || ids("reader").len() == 3);
    for id in &ids("reader")[..2] {
        as_user("reader", &format!("::kill {id}")).failed(403, "server::kill");
    }
    assert_eq!(ids("writer").len(), 3, "they go on");
    for _ in 0..3 {
        eventually("another one runs", || ids("writer").len() > 1);
        let id = ids("writer")[0].clone();
        assert_eq!(as_user("writer", &format!("::kill {id}")).ok()["rows"], json!([["KILLING"]]));
        eventually("it has ended", || !ids("writer").contains(&id));
    }
    endless.into_iter().for_each(|script| script.join().expect("it answers").failed(400, "eval::killed"));
}

#[test]
fn clients_that_dawdle_lose_their_connection() {
    let server = start(&["--client-timeout", "0.5"]);
    let begin = Instant::now();
    let silent = server.raw("");
    let half = server.raw("POST /text-query HTTP/1.1\r\nHost: local");
    let reply = read_all(server.raw("POST /text-query HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{"));
    assert!(reply.starts_with("HTTP/1.1 408 ") && reply.contains("server::slow_client"), "{reply}");
    assert!(!read_all(half).contains("200 OK") && read_all(silent).is_empty());
    assert!(begin.elapsed() < Duration::from_secs(30));
}

#[test]
fn a_script_that_was_short_may_take_long_and_holds_nobody_up() {
    let server = Arc::new(start(&["--timeout", "30"]));
    let script = "n[x] := x = 0  n[x] := n[y], y < $last, x = y + 1  ?[count(x)] := n[x]";
    let count = |last: u64| server.post("/text-query", &json!({"script": script, "params": {"last": last}}));
    // From the second time on it runs where its connection is served; the longer ones are divided from the short ones.
    for last in [1, 2, 3, 30_000, 1, 100_000] {
        assert_eq!(count(last).ok()["rows"], json!([[last + 1]]));
    }
    (0..200).for_each(|_| drop(count(1).ok()));
    // More of them than there are processors.
    let begin = Instant::now();
    let long: Vec<JoinHandle<Reply>> = (0..8)
        .map(|_| {
            let server = server.clone();
            let body = json!({"script": script, "params": {"last": u32::MAX}});
            thread::spawn(move || server.post("/text-query", &body))
        })
        .collect();
    eventually("all run", || running(&server) == 9);
    (0..20).for_each(|_| drop(count(5).ok()));
    assert_eq!(server.get("/health").status, 200);
    assert!(begin.elapsed() < Duration::from_secs(20), "the others are answered meanwhile");
    let ids = server.rows("::running");
    ids.as_array().into_iter().flatten().for_each(|row| drop(server.query(&format!("::kill {}", row[0])).ok()));
    long.into_iter().for_each(|script| script.join().expect("it answers").failed(400, "eval::killed"));
}

/// A client that writes 0, 1, 2, ... until the server does not answer; gives how many were acknowledged.
fn writer(server: &Arc<Server>, name: usize, stop: &Arc<AtomicBool>) -> JoinHandle<usize> {
    let (server, stop) = (server.clone(), stop.clone());
    thread::spawn(move || {
        for n in 0.. {
            let script = "?[w, n] <- [[$w, $n]] :put r {w, n}";
            let body = json!({"script": script, "params": {"w": name, "n": n}}).to_string();
            match server.try_send("POST", "/text-query", &[], body) {
                Ok(reply) if reply.status == 200 => (),
                Ok(reply) => panic!("{}", reply.text()),
                Err(_) => return n,
            }
            if stop.load(Ordering::Relaxed) {
                return n + 1;
            }
        }
        0
    })
}

/// Has clients write to a database in a file, ends the server by a signal, and checks that what was acknowledged is there.
fn nothing_is_lost_by(signal: &str) {
    let directory = scratch(&format!("server_lost{signal}"));
    let database = directory.path("data.db");
    let arguments = ["-e", "sqlite", "-p", &database];
    let server = Arc::new(start(&arguments));
    server.query(":create r {w: Int, n: Int}").ok();
    let stop = Arc::new(AtomicBool::new(false));
    let writers: Vec<JoinHandle<usize>> = (0..4).map(|name| writer(&server, name, &stop)).collect();
    eventually("there are many rows", || server.rows("?[count(n)] := *r{n}")[0][0].as_i64() > Some(200));
    server.signal(signal);
    let acknowledged: Vec<usize> = writers.into_iter().map(|writer| writer.join().expect("it ends well")).collect();
    let mut server = Arc::into_inner(server).expect("all writers have ended");
    let status = server.wait();
    assert_eq!(status.success(), signal == "-TERM", "{status}");

    let server = start(&arguments);
    for (name, count) in acknowledged.into_iter().enumerate() {
        let found = server.rows(&format!("?[count(n), max(n)] := *r{{w: {name}, n}}"))[0].clone();
        let (found_count, max) = (found[0].as_u64(), found[1].as_u64());
        assert!(found_count >= Some(count as u64), "{name}: {count} acknowledged, {found} found");
        assert_eq!(max.map(|max| max + 1), found_count, "there are no gaps");
    }
}

#[test]
fn an_orderly_end_loses_nothing() {
    nothing_is_lost_by("-TERM");
}

#[test]
fn a_sudden_end_loses_nothing_that_was_acknowledged() {
    nothing_is_lost_by("-KILL");
}

#[test]
fn requests_may_end_before_the_server_does() {
    let server = Arc::new(start(&[]));
    let slow = server.clone();
    let script = "n[x] := x = 0  n[x] := n[y], x = y + 1, x < 1500000  ?[count(x)] := n[x]";
    let waiting = thread::spawn(move || slow.query(script));
    eventually("it runs", || running(&server) == 2);
    server.signal("-TERM");
    server.logged("ending");
    assert_eq!(waiting.join().expect("it answers").ok()["rows"], json!([[1_500_000]]));
    let mut server = Arc::into_inner(server).expect("nobody else has it");
    assert!(server.wait().success());
}

#[test]
fn scripts_that_do_not_end_are_stopped_with_the_server() {
    let mut server = start(&["--shutdown-timeout", "0.3"]);
    let body = json!({"script": ENDLESS}).to_string();
    let mut client = server.raw("POST /text-query HTTP/1.1\r\nHost: localhost\r\n");
    write!(client, "Content-Length: {}\r\n\r\n{body}", body.len()).expect("it takes the request");
    eventually("it runs", || running(&server) == 2);
    let begin = Instant::now();
    server.signal("-INT");
    assert!(server.wait().success());
    assert!(begin.elapsed() < Duration::from_secs(20));
}

#[test]
fn a_log_that_nobody_reads_does_no_harm() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cozo"));
    let mut child = command.args(["server", "-P", "0"]).stderr(Stdio::piped()).spawn().expect("the binary starts");
    let log = BufReader::new(child.stderr.take().expect("there is a pipe"));
    assert!(log.lines().map_while(Result::ok).any(|line| line.contains("listening")));
    send_signal(&child, "-TERM");
    assert!(wait_for(&mut child).success());
}
