//! How much memory and time requests may take while their bodies are read.

#![cfg(all(feature = "server", target_os = "linux"))]

mod support;

use std::io::Write;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::json;
use support::server::{Reply, Server, eventually, start};

/// A result that exceeds the memory of a query goes to the client batch by batch.
#[test]
fn a_result_larger_than_the_memory_is_streamed() {
    let server = start(&["-c", r#"{"query_memory_mb": 12}"#]);
    server.query(":create fact {id: Int => value: Int}").ok();
    for start in (0..300_000).step_by(50_000) {
        let rows = format!("?[id, value] := x in int_range(50), y in int_range(1000), id = {start} + x * 1000 + y");
        server.query(&format!("{rows}, value = id % 7 :put fact {{id => value}}")).ok();
    }
    let script = "?[value, id, text] := *fact{id, value}, text = concat('number ', to_string(id)) :order -value, id";
    let result = server.query(script).ok();
    let rows = result["rows"].as_array().expect("there are rows");
    assert_eq!(
        (rows.len(), &result["headers"], &result["next"]),
        (300_000, &json!(["value", "id", "text"]), &json!(null))
    );
    let mut expected: Vec<i64> = (0..300_000).collect();
    expected.sort_by_key(|id| (-(id % 7), *id));
    for (row, id) in rows.iter().zip(expected) {
        assert_eq!(*row, json!([id % 7, id, format!("number {id}")]));
    }
}

/// The most memory that the server had, in megabytes.
fn peak_mb(server: &Server) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", server.id())).expect("it runs");
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("Linux says it");
    line.trim().trim_end_matches(" kB").parse::<u64>().expect("it is a number") / 1024
}

/// A body of `before`, then `piece` so many times, then `after`, compressed.
fn compressed(before: &str, piece: &str, times: usize, after: &str) -> Vec<u8> {
    let mut encoder = GzEncoder::new(vec![], Compression::fast());
    let block = piece.repeat(1000);
    encoder.write_all(before.as_bytes()).expect("memory takes all");
    (0..times / 1000).for_each(|_| encoder.write_all(block.as_bytes()).expect("memory takes all"));
    encoder.write_all(after.as_bytes()).expect("memory takes all");
    encoder.finish().expect("memory takes all")
}

const GZIP: [(&str, &str); 1] = [("content-encoding", "gzip")];

#[test]
fn a_small_body_that_becomes_large_is_refused() {
    let server = start(&["-c", r#"{"query_memory_mb": 64}"#]);
    let script = r#"{"script": "?[n] := n = length($p)", "params": {"p": "#;
    for (before, piece, after) in [
        (format!("{script}["), "0,", "0]}}"),
        (format!("{script}["), "[],", "0]}}"),
        (format!("{script}["), "{\"a\":1},", "0]}}"),
        (format!("{script}["), "\"\",", "0]}}"),
        (format!("{script}["), "\"a text of more than a few bytes\",", "0]}}"),
        (format!("{script}{{\"a\": ["), "0,", "0]}}}"),
        (format!("{script}\""), "text", "\"}}"),
        (" ".to_string(), "         ", r#"{"script": "?[a] <- [[1]]"}"#),
        (r#"{"script": "?[a] <- [[1]] "#.to_string(), " #\\n", r#""}"#),
    ] {
        let body = compressed(&before, piece, 100_000_000 / piece.len(), after);
        assert!(body.len() < 2_000_000, "{before} {piece}: {}", body.len());
        server.send("POST", "/text-query", &GZIP, body.clone()).failed(413, "server::request_memory");
        let id = server.post("/transact", &json!({})).ok()["id"].clone();
        server.send("POST", &format!("/transact/{id}"), &GZIP, body).failed(413, "server::request_memory");
    }
    let import = r#"{"r": {"headers": ["a"], "rows": ["#;
    for (before, piece, after) in [
        (import, "[0],", "[0]]}}"),
        (import, "[{}],[[1]],[null],", "[0]]}}"),
        (r#"{"r": {"headers": ["#, "\"\",", "\"\"], \"rows\": []}}"),
        (r#"{"r": {"rows": [["#, "0,", "0]], \"headers\": []}}"),
        ("{", r#""r": {"headers": [], "rows": []},"#, r#""s": {"headers": [], "rows": []}}"#),
    ] {
        let body = compressed(before, piece, 120_000_000 / piece.len(), after);
        let reply = server.send("PUT", "/import", &GZIP, body);
        assert!([400, 413].contains(&reply.status), "{piece}: {}", reply.text());
    }
    assert!(peak_mb(&server) < 400, "{} MB", peak_mb(&server));
    assert_eq!(server.rows("?[a] <- [[1]]"), json!([[1]]), "it goes on");
}

/// By default a request may take more, and not much more.
#[test]
fn a_bomb_ends_in_an_error() {
    let server = start(&["--request-memory-mb", "256"]);
    let before = r#"{"script": "?[n] := n = length($l)", "params": {"l": ["#;
    let body = compressed(before, "0,", 100_000_000, "0]}}");
    assert!(body.len() < 3_000_000, "{}", body.len());
    server.send("POST", "/text-query", &GZIP, body).failed(413, "server::request_memory");
    assert!(peak_mb(&server) < 600, "{} MB", peak_mb(&server));
}

#[test]
fn rows_take_a_small_multiple_of_their_text() {
    let server = start(&[]);
    server.query(":create r {k: Int => name: String, x: Float}").ok();
    let rows: Vec<String> = (0..1_000_000).map(|n| format!("[{n}, \"name {n}\", {n}.5]")).collect();
    let body = format!(r#"{{"r": {{"headers": ["k", "name", "x"], "rows": [{}]}}}}"#, rows.join(","));
    let text_mb = body.len() as u64 >> 20;
    assert!(text_mb > 30, "{text_mb} MB");
    let before = peak_mb(&server);
    server.send("PUT", "/import", &[], body).ok();
    assert_eq!(server.rows("?[count(k), sum(x)] := *r{k, x}"), json!([[1_000_000, 500_000_000_000.0]]));
    let took = peak_mb(&server) - before;
    assert!(took < 8 * text_mb, "{text_mb} MB of text took {took} MB");

    let server = start(&[]);
    let rows: Vec<String> = (0..1_000_000).map(|n| format!("[{n}, \"name {n}\", {n}.5]")).collect();
    let body = format!(r#"{{"script": "?[n] := n = length($rows)", "params": {{"rows": [{}]}}}}"#, rows.join(","));
    let before = peak_mb(&server);
    assert_eq!(server.send("POST", "/text-query", &[], body).ok()["rows"], json!([[1_000_000]]));
    let took = peak_mb(&server) - before;
    assert!(took < 24 * text_mb, "{text_mb} MB of text took {took} MB");
}

#[test]
fn requests_share_the_memory_that_there_is() {
    let server = Arc::new(start(&["--request-memory-mb", "32", "--max-running", "1", "--timeout", "30"]));
    // Each holds its body while it waits for its turn.
    let blocker = server.clone();
    let blocked = thread::spawn(move || blocker.query("?[a] := a = 1 :sleep 4"));
    let body = format!(r#"{{"script": "?[n] := n = length($p)", "params": {{"p": "{}"}}}}"#, "x".repeat(12 << 20));
    eventually("it runs", || server.rows("::running").as_array().is_some_and(|running| running.len() == 2));
    let requests: Vec<_> = (0..24)
        .map(|_| {
            let (server, body) = (server.clone(), body.clone());
            thread::spawn(move || server.send("POST", "/text-query", &[], body))
        })
        .collect();
    let replies: Vec<Reply> = requests.into_iter().map(|request| request.join().expect("it answers")).collect();
    blocked.join().expect("it answers").ok();
    let refused = replies.iter().filter(|reply| reply.status == 503).inspect(|reply| reply.failed(503, "server::busy"));
    assert!(refused.count() >= 4, "not all fit");
    assert!(replies.iter().any(|reply| reply.status == 200), "some do");
    assert_eq!(server.send("POST", "/text-query", &[], body).ok()["rows"], json!([[12 << 20]]), "there is room again");
}

#[test]
fn reading_a_body_ends_at_the_time_limit() {
    let server = start(&["--timeout", "0.05"]);
    server.query(":create r {k: Int}").ok();
    let rows = compressed(r#"{"r": {"headers": ["k"], "rows": ["#, "[0],", 40_000_000, "[0]]}}");
    let params = compressed(r#"{"script": "?[a] <- [[1]]", "params": {"p": ["#, "0,", 20_000_000, "0]}}");
    let begin = Instant::now();
    server.send("PUT", "/import", &GZIP, rows).failed(504, "server::timeout");
    server.send("POST", "/text-query", &GZIP, params).failed(504, "server::timeout");
    assert!(begin.elapsed() < Duration::from_secs(40));
    assert_eq!(server.rows("?[count(k)] := *r{k}"), json!([[0]]));
}

#[test]
fn what_has_no_values_is_small() {
    let server = start(&["--files", "."]);
    let long = format!(r#"{{"path": "x", "relations": [{}""]}}"#, "\"\",".repeat(1 << 20));
    for path in ["/backup", "/import-from-backup"] {
        server.send("POST", path, &[], long.clone()).failed(413, "server::too_large");
    }
    let id = server.post("/transact", &json!({})).ok()["id"].clone();
    server.send("PUT", &format!("/transact/{id}"), &[], long).failed(413, "server::too_large");
}
