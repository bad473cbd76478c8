//! Random and odd requests to a server with little memory: it lives, and each request ends within a bounded time.
//!
//! `COZO_REQUESTS` is how many there are, `COZO_SEED` which.

#![cfg(all(feature = "server", target_os = "linux"))]

mod support;

use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use flate2::Compression;
use flate2::write::GzEncoder;
use support::scratch;
use support::server::{Server, read_all, start_by};

/// How many clients send at a time.
const CLIENTS: u64 = 4;

/// Scripts have 0.2 seconds; whatever takes longer than this is not stopped.
const BOUND: Duration = Duration::from_secs(20);

/// What a script of 0.2 seconds takes at most, if the machine is not busy otherwise.
const EXPECTED: Duration = Duration::from_millis(600);

fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// Random numbers that are the same for the same seed.
struct Random(u64);

impl Random {
    fn number(&mut self) -> u64 {
        // Xorshift, as in Marsaglia's paper of 2003.
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, limit: usize) -> usize {
        (self.number() % limit as u64) as usize
    }

    fn one<'t, T: ?Sized>(&mut self, of: &[&'t T]) -> &'t T {
        of[self.below(of.len())]
    }
}

/// Scripts that the limits stop, or that end by themselves. `$p` is a parameter.
const SCRIPTS: &[&str] = &[
    "?[a] <- [[1]]",
    "?[a] := a = $p",
    "?[n] := n = length($p)",
    "?[a] <- $p",
    "?[a, b] <- $p :put r {a => b}",
    "?[k, v] := *r{a: k, b: v} :limit 10",
    "?[a, b] := a in int_range(200), b = $p :put r {a => b}",
    "?[a] := *r{a} :rm r {a}",
    "?[count(a)] := *r{a}",
    "n[x] := x = 0  n[x] := n[y], x = y + 1  ?[count(x)] := n[x]",
    "?[count(a)] := a in int_range(10000), b in int_range(100000), a + b == -1",
    "?[a, b] := a in int_range(2000), b in int_range(2000)",
    "?[a] := a = 1 :sleep 5",
    "{?[a] := a in int_range(5000) :create _t {a}} %debug _t %return _t",
    "%loop {?[a] <- [[1]]} %end",
    "%if {?[a] := a = $p} %then {?[a] := *nope{a}} %end",
    "::relations",
    "::running",
    "::columns r",
    "::explain {?[a] := *r{a}}",
    "::compact",
    "?[a",
    "?[a] := a = 'open",
    "?[é] := é = \"\\u{0}\"",
    "}{)(][",
    "",
    "::kill 999999999999999999999",
    "?[a] := a = [[[[[[[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]]]]]]]",
    "?[a] := a = -9223372036854775808 - 1",
    "?[a] := a = 1e308 * 10",
    "?[a] := regex_matches($p, '(a+)+$')",
    "?[a] := a = 1 / 0 :timeout 0",
    "e[a, b] := a in int_range(300), b = mod(a * 7, 300)  ?[x, y] <~ PageRank(e[a, b])",
    "?[x] <~ CsvReader(types: ['Any'], url: 'file:///etc/passwd')",
    "?[x] <~ Nowhere()",
    "?[n] := n = length(int_range(100000000))",
    "?[x, l] := x in int_range(1000), l = int_range(1000000)",
    "?[n] := n = length(sorted(reverse(int_range(30000000))))",
    "?[n] := k in [1], l = int_range(1000000), n = length(windows(l, 100))",
    "?[b] := a = [1, 2, 3], b = concat(a, a, a, a), c = [b, b, b, b, b], d = [c, c, c, c, c]",
    "?[n] := t = concat('aaaaaaaaaa', $p), n = length(regex_replace_all(t, '(?s).*', '$0$0$0$0$0$0$0$0'))",
    "?[n] := n = length(chars($p))",
    "?[l] := l = vec(int_range(50000000))",
    "e[a, b] := a in int_range(300), b in int_range(300)  ?[x] <~ Cycles(e[a, b], limit: 1000000000)",
    "d[x, l] := x = 0, l = []  d[y, m] := d[x, l], x < 100000, y = x + 1, m = [l]  ?[l] := d[100000, l]",
];

/// A value in JSON, which may be large, deep or odd.
fn value(random: &mut Random, depth: usize) -> String {
    let deep = [1, 10, 100, 200, 5000][random.below(5)];
    match random.below(if depth > 3 { 12 } else { 20 }) {
        0 => "null".to_string(),
        1 => "true".to_string(),
        2 => random.number().to_string(),
        3 => format!("-{}", random.number()),
        4 => random.one(&["1e308", "1e-400", "1e999", "0.1", "-0", "00", "1.", "NaN", "0x1"]).to_string(),
        5 => "9".repeat(1 + random.below(2000)),
        6 => "\"\"".to_string(),
        7 => format!("\"{}\"", "text ".repeat(random.below(3000))),
        8 => random.one(&["\"\\u0000\"", "\"\\ud800\"", "\"é😀\"", "\"open", "'a'", "\"\\x\""]).to_string(),
        9 => format!("{}{}", "[".repeat(deep), "]".repeat(deep)),
        10 => format!("{}1{}", "{\"a\":".repeat(deep), "}".repeat(deep)),
        11 => format!("[{}0]", "0,".repeat(random.below(300_000))),
        12 | 13 => {
            let items: Vec<String> = (0..random.below(6)).map(|_| value(random, depth + 1)).collect();
            format!("[{}]", items.join(","))
        }
        14 => format!("[[{}], [1, 2]]", value(random, depth + 1)),
        15 => {
            let fields: Vec<String> =
                (0..random.below(6)).map(|n| format!("\"{n}\":{}", value(random, depth + 1))).collect();
            format!("{{{}}}", fields.join(","))
        }
        16 => format!("[{}[1,2]]", "[3,4],".repeat(random.below(50_000))),
        17 => format!("[{}{{}}]", "{\"a\":1},".repeat(random.below(20_000))),
        _ => "1".to_string(),
    }
}

/// The body for a route, mostly of the right shape.
fn body(random: &mut Random, path: &str) -> Vec<u8> {
    let value = value(random, 0);
    let script = random.one(SCRIPTS);
    let script = serde_json::json!(format!("{script} {}", if script.starts_with('?') { ":timeout 0.2" } else { "" }));
    let rows = format!(r#"{{"headers": ["a", "b"], "rows": [[1, 2], [{value}, 3], [4, {value}]]}}"#);
    let text = match (random.below(12), path) {
        (0, _) => value,
        (1, _) => format!(
            r#"{{"script": {value}, "params": {value}, "path": {value}, "abort": {value}, "headers": {value}, "rows": {value}}}"#
        ),
        (2, _) => String::new(),
        (_, "/import") => format!(r#"{{"{}": {rows}}}"#, random.one(&["r", "-r", "nope", "r:i", "", "_t"])),
        (_, "/backup") => format!(r#"{{"path": "{}"}}"#, random.one(&["a.db", "b.db", "../x.db", "/etc/passwd", ""])),
        (_, "/import-from-backup") => r#"{"path": "a.db", "relations": ["r", "r", "nope"]}"#.to_string(),
        (_, path) if path.starts_with("/rule-result") => rows,
        (3, path) if path.starts_with("/transact/") => format!(r#"{{"abort": {}}}"#, random.one(&["true", "false"])),
        _ => format!(
            r#"{{"script": {script}, "params": {{"p": {value}}}, "immutable": {}}}"#,
            random.one(&["true", "false", "false"])
        ),
    };
    let mut bytes = text.into_bytes();
    match random.below(12) {
        0 => bytes.truncate(random.below(bytes.len() + 1)),
        1 if !bytes.is_empty() => {
            let at = random.below(bytes.len());
            bytes[at] = random.number() as u8;
        }
        2 => bytes.extend_from_slice(&random.number().to_le_bytes()),
        _ => {}
    }
    bytes
}

/// A small body that becomes large.
fn bomb(random: &mut Random) -> Vec<u8> {
    let piece =
        random.one(&["0,", "[0],", "[],", "{},", "\"\",", "\"a\":1,", " ", "text", "[1,\"a\",{\"b\":2}],", "["]);
    let mut encoder = GzEncoder::new(vec![], Compression::fast());
    let start = random.one(&[
        r#"{"script": "?[n] := n = length($p) :timeout 0.2", "params": {"p": ["#,
        r#"{"script": "?[a] := a = $p :timeout 0.2", "params": {"#,
        r#"{"r": {"headers": ["a", "b"], "rows": ["#,
        r#"{"script": "?[a] <- ["#,
        "",
    ]);
    encoder.write_all(start.as_bytes()).expect("memory takes all");
    let block = piece.repeat(1 << 14);
    let bytes = 1 << (16 + random.below(12));
    (0..bytes / block.len()).for_each(|_| encoder.write_all(block.as_bytes()).expect("memory takes all"));
    encoder.write_all(b"0]}}").expect("memory takes all");
    encoder.finish().expect("memory takes all")
}

/// What does not keep to HTTP, or nearly.
fn raw(random: &mut Random) -> Vec<u8> {
    let host = "Host: localhost\r\n";
    let text = match random.below(12) {
        0 => (0..random.below(5000)).map(|_| char::from(random.number() as u8)).collect(),
        1 => format!("POST /text-query HTTP/1.1\r\n{host}Content-Length: 99999999999999999999\r\n\r\n{{}}"),
        2 => format!("POST /text-query HTTP/1.1\r\n{host}Content-Length: 10\r\nContent-Length: 20\r\n\r\n0123456789"),
        3 => format!("POST /text-query HTTP/1.1\r\n{host}Transfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\nx"),
        4 => format!("POST /text-query HTTP/1.1\r\n{host}Transfer-Encoding: chunked\r\n\r\nzz\r\n"),
        5 => format!("GET /{} HTTP/1.1\r\n{host}\r\n", "a".repeat(random.below(200_000))),
        6 => format!("GET / HTTP/1.1\r\n{host}X: {}\r\n\r\n", "a".repeat(random.below(500_000))),
        7 => format!("GET / HTTP/1.1\r\n{host}{}\r\n", "A: b\r\n".repeat(random.below(1000))),
        8 => format!(
            "{}GET /health HTTP/1.1\r\n{host}\r\n",
            format!("GET /health HTTP/1.1\r\n{host}\r\n").repeat(random.below(200))
        ),
        9 => "GET /health HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n\r\n".to_string(),
        10 => format!("GET /changes/r HTTP/1.1\r\n{host}\r\n"),
        _ => format!(
            "GET /rules/Rule{}?arity={} HTTP/1.1\r\n{host}\r\n",
            random.below(5),
            random.one(&["0", "2", "x", "99999999999"])
        ),
    };
    text.into_bytes()
}

/// Sends one request; gives what it was, to be shown if it fails.
fn send(server: &Server, random: &mut Random) -> String {
    let number = random.below(60).to_string();
    let paths = [
        "/text-query",
        "/text-query",
        "/text-query",
        "/import",
        "/backup",
        "/import-from-backup",
        "/transact?write=true",
        "/transact",
        "/transact/",
        "/transact/",
        "/rule-result/",
        "/export/r,r,nope",
        "/export/%00",
        "/metrics",
        "/openapi.json",
        "/page/main.js",
        "/nowhere",
    ];
    let path = random.one(&paths);
    let path = if path.ends_with('/') { format!("{path}{number}") } else { path.to_string() };
    let method = match path.as_str() {
        _ if random.below(8) == 0 => random.one(&["GET", "POST", "PUT", "DELETE", "OPTIONS", "PATCH"]),
        "/import" => "PUT",
        path if path.starts_with("/transact/") => random.one(&["POST", "PUT"]),
        "/text-query" | "/backup" | "/import-from-backup" => "POST",
        path if path.starts_with("/transact") || path.starts_with("/rule-result") => "POST",
        _ => "GET",
    };
    match random.below(10) {
        0 => {
            let bytes = raw(random);
            let mut stream = server.raw("");
            stream.set_read_timeout(Some(Duration::from_millis(200))).expect("the timeout can be set");
            // The server may have enough of it.
            let _ = stream.write_all(&bytes);
            let _ = stream.shutdown(std::net::Shutdown::Write);
            read_all(stream);
            String::from_utf8_lossy(&bytes[..bytes.len().min(100)]).into_owned()
        }
        1 => {
            let body = bomb(random);
            let reply = server.try_send(method, &path, &[("content-encoding", "gzip")], body);
            format!("{method} {path} bomb: {:?}", reply.map(|reply| reply.status))
        }
        _ => {
            let body = body(random, &path);
            let shown = String::from_utf8_lossy(&body[..body.len().min(300)]).into_owned();
            let headers = [("accept-encoding", "gzip"), ("origin", "https://evil.test"), ("content-encoding", "gzip")];
            let headers = if random.below(6) == 0 { &headers[random.below(3)..][..1] } else { &[] };
            let reply = server.try_send(method, &path, headers, body);
            format!("{method} {path} {shown}: {:?}", reply.map(|reply| reply.status))
        }
    }
}

#[test]
fn a_server_with_little_memory_lives_and_answers() {
    let (requests, seed) = (setting("COZO_REQUESTS", 200), setting("COZO_SEED", 1));
    let directory = scratch("server_random");
    let path = directory.path("data.db");
    let arguments = ["-p", &path, "-c", r#"{"query_memory_mb": 64}"#, "--timeout", "2", "--transaction-timeout", "5"];
    let server = start_by(&["sh", "-c", "ulimit -v 2097152; exec \"$0\" \"$@\""], &arguments, |command| {
        command.current_dir(directory.path(""))
    });
    server.query(":create r {a => b}").ok();
    let (server, next) = (Arc::new(server), Arc::new(AtomicU64::new(0)));
    let late = Arc::new(AtomicU64::new(0));
    let client = |_| {
        let (server, next, late) = (server.clone(), next.clone(), late.clone());
        thread::spawn(move || {
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                if number >= requests {
                    return;
                }
                let mut random = Random(((seed << 32) + number + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
                let begin = Instant::now();
                let what = send(&server, &mut random);
                let took = begin.elapsed();
                if took > EXPECTED {
                    late.fetch_add(1, Ordering::Relaxed);
                    println!("{took:?}: {what:.200}");
                }
                assert!(took < BOUND, "request {number} of seed {seed} took {took:?}: {what}");
                let alive = server.try_send("GET", "/health", &[], "");
                let is_alive = alive.as_ref().is_ok_and(|reply| reply.status == 200);
                let said = alive.map(|reply| format!("{} {}", reply.status, reply.text()));
                assert!(is_alive, "after request {number} of seed {seed}: {said:?} after {what}");
            }
        })
    };
    let clients: Vec<_> = (0..CLIENTS).map(client).collect();
    let ended: Vec<_> = clients.into_iter().map(|client| client.join()).collect();
    println!("{} of {requests} took longer than {EXPECTED:?}", late.load(Ordering::Relaxed));
    let mut server = Arc::into_inner(server).expect("all clients have ended");
    if ended.iter().any(Result::is_err) {
        server.signal("-TERM");
        let status = server.wait();
        panic!("{status}: {}", server.rest_of_log());
    }
    assert_eq!(server.query("?[a] <- [[1]]").ok()["rows"], serde_json::json!([[1]]));
    server.signal("-TERM");
    let status = server.wait();
    let log = server.rest_of_log();
    assert!(status.success() && !log.contains("panicked"), "{status}: {log}");
}
