//! Who may use `cozo server`: tokens, web pages, encryption.

#![cfg(feature = "server")]

mod support;

use std::sync::Arc;
use std::thread;

use serde_json::json;
use support::server::{Reply, Server, eventually, read_all, start, start_with};
use support::{cozo, scratch};

/// Runs a script with headers.
fn query(server: &Server, script: &str, headers: &[(&str, &str)]) -> Reply {
    server.send("POST", "/text-query", headers, json!({"script": script, "params": {}}).to_string())
}

#[test]
fn addresses_for_others_need_a_token_which_is_made() {
    let directory = scratch("server_token");
    let database = directory.path("data.db");
    let arguments = ["-b", "0.0.0.0", "-e", "sqlite", "-p", &database];
    let server = start(&arguments);
    let file = format!("{database}.sqlite.cozo_auth");
    let token = std::fs::read_to_string(&file).expect("the file was made");
    assert!(token.len() == 64 && token.chars().all(|c| c.is_ascii_alphanumeric()), "{token}");
    use std::os::unix::fs::PermissionsExt;
    assert_eq!(std::fs::metadata(&file).expect("it is there").permissions().mode() & 0o777, 0o600);

    let script = "?[a] <- [[1]]";
    let wrong = token.to_lowercase().replace(|c: char| c.is_ascii_digit(), "x");
    let bearer = format!("Bearer {token}");
    for headers in [&[][..], &[("x-cozo-auth", "")], &[("x-cozo-auth", &wrong)], &[("x-cozo-auth", &token[..63])]] {
        let reply = query(&server, script, headers);
        assert_eq!((reply.status, reply.body.len()), (401, 0));
    }
    for headers in [[("x-cozo-auth", token.as_str())], [("authorization", bearer.as_str())]] {
        query(&server, script, &headers).ok();
    }
    let body = json!({"script": script}).to_string();
    server.send("POST", &format!("/text-query?auth={token}"), &[], body.clone()).ok();
    assert_eq!(server.send("POST", "/text-query?auth=x", &[], body).status, 401);
    for open in ["/", "/health", "/openapi.json", "/page/main.js", "/page/vocabulary.json"] {
        assert_eq!(server.get(open).status, 200);
    }
    assert_eq!(server.get("/metrics").status, 401);
    assert_eq!(server.get("/changes/r").status, 401);
    server.get("/nowhere").failed(404, "server::no_route");
    server.stop();

    let again = start(&arguments);
    query(&again, script, &[("x-cozo-auth", &token)]).ok();
}

#[test]
fn tokens_come_from_a_file_or_the_environment() {
    let directory = scratch("server_token_file");
    let file = directory.file("token", "from-file\n");
    let server = start(&["--token-file", &file]);
    assert_eq!(query(&server, "?[a] <- [[1]]", &[]).status, 401, "who asks for tokens gets them on loopback too");
    query(&server, "?[a] <- [[1]]", &[("x-cozo-auth", "from-file")]).ok();

    let server = start_with(&[], |command| command.env("COZO_AUTH_TOKEN", "from-variable"));
    assert_eq!(query(&server, "?[a] <- [[1]]", &[]).status, 401);
    query(&server, "?[a] <- [[1]]", &[("x-cozo-auth", "from-variable")]).ok();

    let empty = directory.file("empty", " \n");
    cozo(&["server", "-P", "0", "--token-file", &empty]).failed("server::empty_token");
    cozo(&["server", "-P", "0", "--token-file", &directory.path("none")]).failed("cli::file");
}

#[test]
fn tokens_that_may_only_read_see_neither_texts_nor_clients() {
    let directory = scratch("server_running");
    let token = directory.file("token", "master");
    let server = Arc::new(start(&["--token-file", &token, "--token-table", "keys"]));
    let (master, reader) = ([("x-cozo-auth", "master")], [("authorization", "Bearer reader")]);
    query(&server, "?[token, mutable] <- [['reader', false]] :create keys {token => mutable}", &master).ok();
    let endless = server.clone();
    let secret = "n[x] := x = 0  n[x] := n[y], x = y + 1  ?[count(x), s] := n[x], s = 'secret'";
    let waiting = thread::spawn(move || query(&endless, secret, &master));
    let list = |headers| server.send("GET", "/running", headers, "").ok()["running"].clone();
    eventually("it runs", || list(&master)[0]["script"] == json!(secret));
    let seen = list(&reader);
    let names: Vec<&String> = seen[0].as_object().expect("it is listed").keys().collect();
    assert_eq!(names, ["id", "seconds"], "{seen}");
    server.send("DELETE", &format!("/running/{}", seen[0]["id"]), &master, "").ok();
    waiting.join().expect("it answers").failed(400, "eval::killed");
}

#[test]
fn tokens_of_a_relation_may_only_read_unless_they_are_mutable() {
    let directory = scratch("server_table");
    let token = directory.file("token", "master");
    let files = directory.path("");
    let server = start(&["--token-file", &token, "--token-table", "keys", "--files", &files]);
    let master = [("x-cozo-auth", "master")];
    assert_eq!(query(&server, "?[a] <- [[1]]", &[("authorization", "Bearer reader")]).status, 401);
    query(
        &server,
        "?[token, mutable] <- [['reader', false], ['writer', true], ['odd', 1]] :create keys {token => mutable}",
        &master,
    )
    .ok();
    query(&server, "?[k] <- [[1]] :create r {k}", &master).ok();

    let (reader, writer) = ([("authorization", "Bearer reader")], [("authorization", "bearer writer")]);
    assert_eq!(query(&server, "?[a] <- [[1]]", &[("authorization", "Bearer nobody")]).status, 401);
    assert_eq!(query(&server, "?[a] <- [[1]]", &[("x-cozo-auth", "writer")]).status, 401);
    query(&server, "?[k] <- [[2]] :put r {k}", &writer).ok();
    for headers in [reader, [("authorization", "Bearer odd")]] {
        assert_eq!(query(&server, "?[k] := *r{k}", &headers).ok()["rows"], json!([[1], [2]]));
        query(&server, "?[k] <- [[3]] :put r {k}", &headers).failed(403, "server::read_only");
    }
    let refused = |method, path, body: serde_json::Value| {
        server.send(method, path, &reader, body.to_string()).failed(403, "server::read_only");
    };
    refused("PUT", "/import", json!({"r": {"headers": ["k"], "rows": [[9]]}}));
    refused("POST", "/backup", json!({"path": "x.db"}));
    refused("POST", "/import-from-backup", json!({"path": "x.db", "relations": ["r"]}));
    refused("POST", "/transact?write=true", json!({}));
    refused("GET", "/rules/Mine?arity=1", json!({}));
    refused("POST", "/rule-result/0", json!({"headers": [], "rows": []}));
    refused("DELETE", "/rule-result/0", json!({}));
    query(&server, "::remove r", &reader).failed(403, "server::read_only");

    // Nor may it stop what others run, in whatever way it says so.
    for kill in ["::kill 0", "{::kill 0}", "%if {?[a] <- [[1]]} %then {?[a] <- [[1]]} %else {::kill 0} %end"] {
        query(&server, kill, &reader).failed(403, "server::kill");
        query(&server, kill, &writer).ok();
    }
    query(&server, "::running", &reader).ok();
    query(&server, "?[a] <- [['::kill 0']]", &reader).ok();
    server.send("DELETE", "/running/1", &reader, "").failed(403, "server::kill");
    server.send("DELETE", "/running/1", &writer, "").failed(404, "server::no_script");
    assert_eq!(server.send("GET", "/running", &[], "").status, 401);

    // A transaction of others that writes is no way round.
    let step = json!({"script": "?[k] <- [[4]] :put r {k}"}).to_string();
    let id = server.send("POST", "/transact?write=true", &writer, "").ok()["id"].clone();
    let path = format!("/transact/{id}");
    refused("POST", &path, json!({"script": "?[k] <- [[4]] :put r {k}"}));
    refused("PUT", &path, json!({"abort": true}));
    server.send("POST", &path, &writer, step.clone()).ok();
    server.send("PUT", &path, &writer, r#"{"abort": false}"#).ok();
    let id = server.send("POST", "/transact", &reader, "").ok()["id"].clone();
    let path = format!("/transact/{id}");
    assert_eq!(
        server.send("POST", &path, &reader, r#"{"script": "?[k] := *r{k}"}"#).ok()["rows"],
        json!([[1], [2], [4]])
    );
    server.send("POST", &path, &reader, step).failed(403, "server::read_only");

    // Nor may it learn the tokens that write.
    query(&server, "?[token] := *keys{token}", &reader).failed(403, "server::token_table");
    server.send("GET", "/export/r,keys", &reader, "").failed(403, "server::token_table");
    server.send("GET", "/changes/keys", &reader, "").failed(403, "server::token_table");
    server.send("POST", &path, &reader, r#"{"script": "::kill 0"}"#).failed(403, "server::kill");
    let peek = json!({"script": "?[token] := *keys{token}"}).to_string();
    server.send("POST", &path, &reader, peek).failed(403, "server::token_table");
    query(&server, "?[token] := *keys{token}", &writer).ok();

    query(&server, "?[token] <- [['reader']] :rm keys {token}", &master).ok();
    assert_eq!(query(&server, "?[k] := *r{k}", &reader).status, 401, "at once");
}

#[test]
fn other_names_of_this_machine_are_refused_on_loopback() {
    let server = start(&["--allow-host", "db.test"]);
    let script = "?[a] <- [[1]]";
    for good in ["localhost", "localhost:1234", "127.0.0.1", "[::1]:80", "db.test"] {
        query(&server, script, &[("host", good)]).ok();
    }
    query(&server, script, &[("host", "evil.test")]).failed(403, "server::host");
    assert_eq!(server.send("GET", "/", &[("host", "evil.test")], "").status, 403);
    for (host, status) in [
        ("", " 403 "),
        ("Host: evil.test\r\n", " 403 "),
        ("Host: localhost\r\nHost: localhost\r\n", " 400 "),
        ("Host: localhost\r\nHost: evil.test\r\n", " 400 "),
        ("Host: localhost:abc\r\n", " 400 "),
        ("Host: localhost:99999\r\n", " 400 "),
        ("Host: 127.0.0.1:80@evil.test\r\n", " 400 "),
        ("Host: localhost/\r\n", " 400 "),
        ("Host: localhost:\r\n", " 200 "),
    ] {
        // By the routes, and on the direct way.
        let reply = read_all(server.raw(&format!("GET /health HTTP/1.0\r\n{host}\r\n")));
        assert!(reply.contains(status), "{host}: {reply}");
        let body = json!({"script": script}).to_string();
        let head = format!("POST /text-query HTTP/1.0\r\n{host}Content-Length: {}\r\n\r\n{body}", body.len());
        let reply = read_all(server.raw(&head));
        assert!(reply.contains(status), "{host}: {reply}");
    }
    let other = start(&["-b", "0.0.0.0", "--token-file", &scratch("server_hosts").file("token", "t")]);
    let head = "GET /health HTTP/1.1\r\nHost: a.test\r\nConnection: close\r\n";
    assert!(read_all(other.raw(&format!("{head}\r\n"))).contains(" 200 "));
    assert!(read_all(other.raw(&format!("{head}Host: b.test\r\n\r\n"))).contains(" 400 "));
}

#[test]
fn pages_of_other_sites_are_refused_unless_named() {
    let server = start(&[]);
    let script = "?[a] <- [[1]]";
    query(&server, script, &[("origin", "https://evil.test")]).failed(403, "server::origin");
    query(&server, script, &[("origin", "null")]).failed(403, "server::origin");
    let reply = query(&server, script, &[("origin", &server.address)]);
    assert_eq!((reply.ok()["ok"].clone(), reply.header("access-control-allow-origin")), (json!(true), None));
    server.send("GET", "/export/r", &[("sec-fetch-site", "cross-site")], "").failed(403, "server::origin");
    let preflight = [("origin", "https://evil.test"), ("access-control-request-method", "POST")];
    assert_eq!(server.send("OPTIONS", "/text-query", &preflight, "").header("access-control-allow-origin"), None);

    let server = start(&["--cors-origin", "https://app.test", "--cors-origin", "https://two.test"]);
    let reply = query(&server, script, &[("origin", "https://two.test"), ("sec-fetch-site", "cross-site")]);
    reply.ok();
    assert_eq!(reply.header("access-control-allow-origin"), Some("https://two.test"));
    query(&server, script, &[("origin", "https://evil.test")]).failed(403, "server::origin");
    let preflight = [
        ("origin", "https://app.test"),
        ("access-control-request-method", "PUT"),
        ("access-control-request-headers", "x-cozo-auth,content-type"),
    ];
    let reply = server.send("OPTIONS", "/import", &preflight, "");
    assert_eq!((reply.status, reply.header("access-control-allow-origin")), (200, Some("https://app.test")));
    let allowed = |name| reply.header(name).unwrap_or_default().to_lowercase();
    assert!(allowed("access-control-allow-methods").contains("put"));
    assert!(allowed("access-control-allow-headers").contains("x-cozo-auth"));
}

/// A certificate for localhost that anybody may have: `openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes
/// -days 36500 -subj /CN=localhost -addext subjectAltName=DNS:localhost,IP:127.0.0.1`.
const CERTIFICATE: &str = include_str!("support/tls_cert.pem");
const KEY: &str = include_str!("support/tls_key.pem");

#[test]
fn connections_are_encrypted_with_a_certificate() {
    let directory = scratch("server_tls");
    let (certificate, key) = (directory.file("cert.pem", CERTIFICATE), directory.file("key.pem", KEY));
    let server = start(&["--tls-cert", &certificate, "--tls-key", &key]);
    assert!(server.address.starts_with("https://127.0.0.1:"), "{}", server.address);
    let root = ureq::tls::Certificate::from_pem(CERTIFICATE.as_bytes()).expect("it is a certificate");
    let roots = ureq::tls::RootCerts::new_with_certs(&[root]);
    let tls = ureq::tls::TlsConfig::builder().root_certs(roots).build();
    let agent: ureq::Agent = ureq::Agent::config_builder().tls_config(tls).build().into();
    let mut reply = agent.get(format!("{}/health", server.address)).call().expect("it answers");
    assert_eq!(reply.body_mut().read_to_string().expect("it is text"), r#"{"ok":true}"#);
    assert!(ureq::get(format!("{}/health", server.address)).call().is_err(), "others do not know the certificate");
    assert!(!read_all(server.raw("GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")).contains("200 OK"));

    let text = directory.file("text.pem", "no certificate");
    cozo(&["server", "-P", "0", "--tls-cert", &text, "--tls-key", &key]).failed("server::tls");
    cozo(&["server", "-P", "0", "--tls-cert", &certificate, "--tls-key", &text]).failed("server::tls");
}

#[test]
fn addresses_that_cannot_be_had_are_reported() {
    let server = start(&[]);
    let port = server.authority().split_once(':').expect("there is a port").1;
    cozo(&["server", "-P", port]).failed("server::listen");
    cozo(&["server", "-b", "192.0.2.1", "-P", "0"]).failed("server::listen");
    cozo(&["server", "-P", "0", "--files", "no such directory"]).failed("cli::file");
}
