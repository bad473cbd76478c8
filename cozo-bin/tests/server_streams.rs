//! What is held open over `cozo server`: streams of changes, custom rules, transactions.

#![cfg(feature = "server")]

mod support;

use std::sync::Arc;
use std::thread;

use serde_json::{Value, json};
use support::scratch;
use support::server::{Server, eventually, start};

#[test]
fn changes_are_streamed_as_they_are_committed() {
    let server = start(&[]);
    let events = server.events("/changes/r");
    server.query("?[k, v] <- [[1, 'x'], [2, 'y']] :create r {k => v}").ok();
    let created = events.next();
    assert_eq!(
        created,
        json!({
            "op": "Put",
            "new_rows": {"headers": ["k", "v"], "rows": [[1, "x"], [2, "y"]], "next": null},
            "old_rows": {"headers": ["k", "v"], "rows": [], "next": null},
        })
    );
    server.query("?[k, v] <- [[1, 'z']] :put r {k => v}").ok();
    let put = events.next();
    assert_eq!((&put["new_rows"]["rows"], &put["old_rows"]["rows"]), (&json!([[1, "z"]]), &json!([[1, "x"]])));
    server.query("?[k] <- [[2]] :rm r {k}").ok();
    let removed = events.next();
    assert_eq!(
        (&removed["op"], &removed["new_rows"]["rows"], &removed["old_rows"]["rows"]),
        (&json!("Rm"), &json!([[2]]), &json!([[2, "y"]]))
    );
    assert!(server.get("/metrics").text().contains("cozo_event_streams 1"));
}

/// Two servers share a log. A client that lost the one goes on with the other.
#[test]
fn changes_of_a_shared_log_go_on_at_another_server() {
    let directory = scratch("server_changes");
    let log = directory.path("log");
    let servers = [start(&["--shared", &log]), start(&["--shared", &log])];
    let rows = |event: &(String, Value)| json!([event.1["new_rows"]["rows"], event.1["old_rows"]["rows"]]);
    let stream = servers[0].events("/changes/r");
    servers[1].query("?[k, v] <- [[1, 1]] :create r {k => v}").ok();
    eventually("the other has it", || !servers[0].rows("::relations").as_array().is_none_or(Vec::is_empty));
    servers[0].query("?[k, v] <- [[1, 2]] :put r {k => v}").ok();
    let first = [stream.next_with_id(), stream.next_with_id()];
    assert_eq!(first.each_ref().map(rows), [json!([[[1, 1]], []]), json!([[[1, 2]], [[1, 1]]])]);
    drop(stream);
    servers[0].query("?[k, v] <- [[1, 3]] :put r {k => v}").ok();
    servers[0].query("?[k] <- [[1]] :rm r {k}").ok();
    let stream = servers[1].events_after("/changes/r", &first[1].0);
    let second = [stream.next_with_id(), stream.next_with_id()];
    assert_eq!(second.each_ref().map(rows), [json!([[[1, 3]], [[1, 2]]]), json!([[[1]], [[1, 3]]])]);
    let stream = servers[0].events(&format!("/changes/r?after={}", first[0].0));
    assert_eq!(
        [stream.next_with_id(), stream.next_with_id(), stream.next_with_id()],
        [&first[1..], &second[..]].concat()[..]
    );

    servers[0].get("/changes/r?after=one").failed(400, "replica::bad_position");
    servers[0].get("/changes/r?after=1000.0").failed(400, "replica::changes_ahead");
    start(&[]).get("/changes/r?after=1.0").failed(400, "replica::no_log");
}

#[test]
fn a_stream_ends_with_its_client_and_with_the_server() {
    let server = start(&[]);
    let reader = server.raw("GET /changes/r HTTP/1.1\r\nHost: localhost\r\n\r\n");
    let streams =
        |server: &Server, count: &str| server.get("/metrics").text().contains(&format!("cozo_event_streams {count}"));
    eventually("the stream is there", || streams(&server, "1"));
    drop(reader);
    eventually("the stream is gone", || streams(&server, "0"));
    let events = server.events("/changes/r");
    server.stop();
    assert!(events.ends());
}

#[test]
fn rules_of_clients_run() {
    let server = Arc::new(start(&[]));
    let events = server.events("/rules/Double?arity=1");
    let run = |server: &Arc<Server>| {
        let server = server.clone();
        thread::spawn(move || server.query("r[a] <- [[1], [2]]  ?[x] <~ Double(r[a], factor: 2, name: 'n')"))
    };
    let waiting = run(&server);
    let request = events.next();
    assert_eq!(request["type"], "request");
    assert_eq!(request["inputs"], json!([{"headers": ["a"], "rows": [[1], [2]], "next": null}]));
    assert_eq!(request["options"], json!({"factor": 2, "name": "n"}));
    let path = format!("/rule-result/{}", request["id"]);
    server.post(&path, &json!({"headers": ["x"]})).failed(400, "server::bad_request");
    assert_eq!(server.post(&path, &json!({"headers": ["x"], "rows": [[2], [4]]})).ok(), json!({"ok": true}));
    assert_eq!(waiting.join().expect("it answers").ok()["rows"], json!([[2], [4]]));
    server.post(&path, &json!({"headers": ["x"], "rows": []})).failed(404, "server::no_rule_request");

    let waiting = run(&server);
    let path = format!("/rule-result/{}", events.next()["id"]);
    assert_eq!(server.delete(&path).ok(), json!({"ok": true}));
    let cancelled = waiting.join().expect("it answers");
    assert_eq!(cancelled.status, 400);
    assert!(cancelled.text().contains("server::rule_cancelled"), "{}", cancelled.text());
    server.delete(&path).failed(404, "server::no_rule_request");
    server.delete("/rule-result/x").failed(404, "server::no_route");

    // Rows of another width are an error of the query.
    let waiting = run(&server);
    let path = format!("/rule-result/{}", events.next()["id"]);
    server.post(&path, &json!({"headers": ["x", "y"], "rows": [[2, 3]]})).ok();
    assert_eq!(waiting.join().expect("it answers").status, 400);
}

#[test]
fn rules_are_registered_once_and_as_long_as_the_client_listens() {
    let server = start(&[]);
    let reader = server.raw("GET /rules/Mine?arity=1 HTTP/1.1\r\nHost: localhost\r\n\r\n");
    let known = |server: &Server| server.rows("::fixed_rules").to_string().contains("\"Mine\"");
    eventually("the rule is known", || known(&server));
    let events = server.events("/rules/Mine?arity=1");
    let refused = events.next();
    assert_eq!(refused["type"], "register-error");
    assert!(refused["error"].as_str().is_some_and(|error| error.contains("Mine")), "{refused}");
    assert!(events.ends());
    assert!(known(&server), "the refusal took nothing away");
    drop(reader);
    eventually("the rule is gone", || !known(&server));
    server.get("/rules/Mine").failed(400, "server::bad_request");
    server.get("/rules/Mine?arity=x").failed(400, "server::bad_request");
}

#[test]
fn a_query_fails_when_the_client_of_its_rule_goes_away() {
    let server = Arc::new(start(&[]));
    let reader = server.raw("GET /rules/Mine?arity=1 HTTP/1.1\r\nHost: localhost\r\n\r\n");
    eventually("the rule is known", || server.rows("::fixed_rules").to_string().contains("\"Mine\""));
    let asking = server.clone();
    let waiting = thread::spawn(move || asking.query("?[x] <~ Mine()"));
    eventually("the query runs", || server.rows("::running").as_array().is_some_and(|rows| rows.len() == 2));
    drop(reader);
    assert_eq!(waiting.join().expect("it answers").status, 400);
}

/// Begins a transaction.
fn begin(server: &Server, query: &str) -> String {
    let begun = server.post(&format!("/transact{query}"), &Value::Null).ok();
    assert_eq!(begun["ok"], true);
    format!("/transact/{}", begun["id"].as_u64().expect("there is a number"))
}

#[test]
fn transactions_are_committed_or_aborted() {
    let server = start(&[]);
    server.query(":create r {k => v}").ok();
    let step = |path: &str, script: &str| server.post(path, &json!({"script": script, "params": {"n": 1}}));
    let path = begin(&server, "?write=true");
    step(&path, "?[k, v] <- [[$n, 'x']] :put r {k => v}").ok();
    let seen = step(&path, "?[k, v] := *r{k, v}").ok();
    assert_eq!(seen, json!({"headers": ["k", "v"], "rows": [[1, "x"]], "next": null}));
    assert_eq!(server.rows("?[k] := *r{k}"), json!([]), "others do not see it");

    // A query that fails leaves no trace and ends nothing.
    step(&path, "?[k, v] := *nope[k, v]").failed(400, "query::relation_not_found");
    server.send("POST", &path, &[], "{").failed(400, "server::bad_request");
    step(&path, "?[k, v] <- [[2, 'y']] :put r {k => v}").ok();
    assert_eq!(server.put(&path, &json!({"abort": false})).ok(), json!({"ok": true}));
    assert_eq!(server.rows("?[k] := *r{k}"), json!([[1], [2]]));
    step(&path, "?[a] <- [[1]]").failed(404, "server::no_transaction");
    server.put(&path, &json!({"abort": true})).failed(404, "server::no_transaction");

    let path = begin(&server, "?write=true");
    step(&path, "?[k] <- [[1]] :rm r {k}").ok();
    server.put(&path, &json!({})).failed(400, "server::bad_request");
    assert_eq!(server.put(&path, &json!({"abort": true})).ok(), json!({"ok": true}));
    assert_eq!(server.rows("?[k] := *r{k}"), json!([[1], [2]]));

    for read_only in ["", "?write=false"] {
        let path = begin(&server, read_only);
        assert_eq!(step(&path, "?[k, v] <- [[3, 'z']] :put r {k => v}").status, 400);
        assert_eq!(step(&path, "?[k] := *r{k}").ok()["rows"], json!([[1], [2]]));
    }
    server.post("/transact?write=maybe", &Value::Null).failed(400, "server::bad_request");
    step("/transact/99999", "?[a] <- [[1]]").failed(404, "server::no_transaction");
    server.post("/transact/x", &Value::Null).failed(404, "server::no_route");
}

#[test]
fn conflicts_are_reported_at_the_commit() {
    let server = start(&[]);
    server.query("?[k, v] <- [[1, 0]] :create r {k => v}").ok();
    let paths = [begin(&server, "?write=true"), begin(&server, "?write=true")];
    for path in &paths {
        server.post(path, &json!({"script": "?[k, v] := *r{k, v: w}, v = w + 1 :put r {k => v}"})).ok();
    }
    server.put(&paths[0], &json!({"abort": false})).ok();
    let reply = server.put(&paths[1], &json!({"abort": false}));
    assert_eq!((reply.status, &reply.json()["ok"]), (400, &json!(false)));
    assert_eq!(server.rows("?[v] := *r{v}"), json!([[1]]));
}

#[test]
fn idle_transactions_are_aborted() {
    let server = start(&["--transaction-timeout", "0.5"]);
    server.query(":create r {k}").ok();
    let path = begin(&server, "?write=true");
    server.post(&path, &json!({"script": "?[k] <- [[1]] :put r {k}"})).ok();
    // A query that takes longer is not idle.
    let slow = "n[x] := x = 0  n[x] := n[y], x = y + 1, x < 2000000  ?[max(x)] := n[x]";
    let busy = begin(&server, "");
    server.post(&busy, &json!({"script": slow})).ok();
    server.logged("an idle transaction was aborted");
    server.post(&path, &json!({"script": "?[a] <- [[1]]"})).failed(404, "server::no_transaction");
    assert_eq!(server.rows("?[k] := *r{k}"), json!([]));
    eventually("none is counted", || server.get("/metrics").text().contains("cozo_open_transactions 0"));
}
