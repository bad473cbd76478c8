//! The routes of `cozo server`, over HTTP.

#![cfg(feature = "server")]

mod support;

use std::io::{Read, Write};

use serde_json::{Value, json};
use support::scratch;
use support::server::{read_all, start, start_with};

#[test]
fn scripts_run() {
    let server = start(&[]);
    let reply = server.post(
        "/text-query",
        &json!({"script": "?[a, b] <- [[1, $x], [2.0, null]] :create r {a => b}", "params": {"x": [1, {"k": "v"}]}}),
    );
    let result = reply.ok();
    assert_eq!(reply.header("content-type"), Some("application/json"));
    assert_eq!((&result["ok"], &result["next"]), (&json!(true), &Value::Null));
    assert!(result["took"].is_f64());
    assert_eq!(server.rows("?[a, b] := *r{a, b}"), json!([[1, [1, {"k": "v"}]], [2.0, null]]));
    assert_eq!(server.query("{?[a] <- [[1]]} {?[b] <- [[2]]}").ok()["headers"], json!(["b"]));

    // All that may be left out.
    for body in [r#"{"script": "?[a] <- [[1]]"}"#, r#"{"script": "?[a] <- [[1]]", "params": null, "immutable": null}"#]
    {
        assert_eq!(server.send("POST", "/text-query", &[], body).ok()["rows"], json!([[1]]));
    }
    let immutable = json!({"script": ":create s {a}", "params": {}, "immutable": true});
    server.post("/text-query", &immutable).failed(400, "query::read_only");
}

#[test]
fn errors_are_described() {
    let server = start(&[]);
    let reply = server.query("?[é] := *nope[é]");
    reply.failed(400, "query::relation_not_found");
    let error = reply.json();
    assert_eq!(error["labels"][0]["span"]["offset"], 10, "offsets are of bytes: {error}");
    assert!(error["display"].as_str().is_some_and(|display| display.contains("nope")));
    assert_eq!((&error["severity"], &error["related"], &error["filename"]), (&json!("error"), &json!([]), &json!("")));
    for body in ["", "{", "[]", r#"{"params": {}}"#, r#"{"script": 1}"#, r#"{"script": "", "params": [1]}"#, "\u{1}"] {
        server.send("POST", "/text-query", &[], body).failed(400, "server::bad_request");
    }
    server.send("POST", "/text-query", &[], vec![0xff, 0xfe]).failed(400, "server::bad_request");
    server.send("POST", "/text-query", &[("content-encoding", "gzip")], "no gzip").failed(400, "server::bad_request");
    // What the libraries refuse before a route sees it.
    server.send("POST", "/text-query", &[("content-encoding", "br")], "{}").failed(415, "server::refused");
    server.get("/export/%FF").failed(400, "server::refused");
}

#[test]
fn relations_go_out_and_in() {
    let server = start(&[]);
    server.query(":create a {k => v}").ok();
    server.query(":create b {k}").ok();
    let data = json!({
        "a": {"headers": ["v", "k", "other"], "rows": [["x", 1, 0], [{"j": 1}, 2, 0]], "next": null},
        "b": {"headers": ["k"], "rows": [[1.5], ["s"]]},
    });
    assert_eq!(server.put("/import", &data).ok(), json!({"ok": true}));
    let exported = json!({
        "a": {"headers": ["k", "v"], "rows": [[1, "x"], [2, {"j": 1}]], "next": null},
        "b": {"headers": ["k"], "rows": [[1.5], ["s"]], "next": null},
    });
    assert_eq!(server.get("/export/a,b").ok(), json!({"ok": true, "data": exported}));
    assert_eq!(server.get("/export/a%2Cb").ok()["data"], exported);
    assert_eq!(server.put("/import", &json!({"-b": {"headers": ["k"], "rows": [[1.5]]}})).ok(), json!({"ok": true}));
    assert_eq!(server.rows("?[k] := *b{k}"), json!([["s"]]));

    server.get("/export/a,nope").failed(400, "query::relation_not_found");
    assert_eq!(server.put("/import", &json!({"nope": {"headers": [], "rows": []}})).status, 400);
    assert_eq!(server.put("/import", &json!({"a": {"headers": ["k"], "rows": [[1]]}})).status, 400);
    for bad in [json!([]), json!({"a": []}), json!({"a": {"headers": ["k", "v"], "rows": [1]}})] {
        server.put("/import", &bad).failed(400, "server::bad_request");
    }
}

#[test]
fn backups_stay_in_their_directory() {
    let directory = scratch("server_backups");
    let outside = scratch("server_backups_outside").path("x.db");
    let server = start(&["--files", &directory.path("")]);
    server.query("?[k] <- [[1], [2]] :create r {k}").ok();
    assert_eq!(server.post("/backup", &json!({"path": "a.db"})).ok(), json!({"ok": true}));
    assert_eq!(server.post("/backup", &json!({"path": directory.path("b.db")})).ok(), json!({"ok": true}));
    server.query("?[k] <- [[1], [2]] :rm r {k}").ok();
    let import = |path: &str| server.post("/import-from-backup", &json!({"path": path, "relations": ["r"]}));
    assert_eq!(import("a.db").ok(), json!({"ok": true}));
    assert_eq!(server.rows("?[k] := *r{k}"), json!([[1], [2]]));

    for path in [outside.as_str(), "../server_backups_outside/x.db"] {
        server.post("/backup", &json!({"path": path})).failed(403, "server::outside_of_files");
    }
    std::fs::write(&outside, "").expect("the file can be written");
    import(&outside).failed(403, "server::outside_of_files");
    std::os::unix::fs::symlink(&outside, directory.path("link.db")).expect("the link can be made");
    import("link.db").failed(403, "server::outside_of_files");
    server.post("/backup", &json!({"path": "link.db"})).failed(403, "server::outside_of_files");
    import("nowhere.db").failed(400, "server::file");
    assert_eq!(server.post("/backup", &json!({"path": "a.db"})).status, 400, "it is there already");
    server.post("/backup", &json!({})).failed(400, "server::bad_request");
}

#[test]
fn files_are_those_of_the_current_directory_on_loopback_and_none_elsewhere() {
    let directory = scratch("server_current");
    let server = start_with(&[], |command| command.current_dir(directory.path("")));
    server.query(":create r {k}").ok();
    server.post("/backup", &json!({"path": "here.db"})).ok();
    assert!(std::path::Path::new(&directory.path("here.db")).exists());
    server.post("/backup", &json!({"path": "../there.db"})).failed(403, "server::outside_of_files");

    let token = directory.file("token", "secret\n");
    let server = start(&["-b", "0.0.0.0", "--token-file", &token]);
    let body = json!({"path": "here.db"}).to_string();
    server.send("POST", "/backup", &[("x-cozo-auth", "secret")], body).failed(403, "server::no_files");
}

#[test]
fn databases_are_restored_at_the_start() {
    let directory = scratch("server_restore");
    let server = start(&["--files", &directory.path("")]);
    server.query("?[k] <- [[7]] :create r {k}").ok();
    server.post("/backup", &json!({"path": "b.db"})).ok();
    let restored = start(&["--restore", &directory.path("b.db")]);
    assert_eq!(restored.rows("?[k] := *r{k}"), json!([[7]]));
}

#[test]
fn scripts_read_no_files_unless_allowed() {
    let file = scratch("server_external").file("x.csv", "1,2\n");
    let script = format!("?[a, b] <~ CsvReader(types: ['Int', 'Int'], url: 'file://{file}', has_headers: false)");
    let server = start(&[]);
    assert_eq!(server.query(&script).status, 400);
    let server = start(&["--allow-external-access"]);
    assert_eq!(server.rows(&script), json!([[1, 2]]));
}

#[test]
fn the_server_describes_itself() {
    let server = start(&[]);
    let page = server.get("/");
    assert_eq!((page.status, page.header("content-type")), (200, Some("text/html; charset=utf-8")));
    assert!(page.text().contains("<textarea") && !page.text().contains("http://") && !page.text().contains("https://"));
    let policy = page.header("content-security-policy").expect("there is a policy");
    assert!(policy.starts_with("default-src 'none'") && !policy.contains("unsafe"), "{policy}");
    for (file, kind) in [("main.js", "text/javascript"), ("base.css", "text/css"), ("icon.svg", "image/svg+xml")] {
        let file = server.get(&format!("/page/{file}"));
        assert!(file.status == 200 && file.header("content-type").is_some_and(|found| found.starts_with(kind)));
    }
    server.get("/page/nope.js").failed(404, "server::no_route");
    server.get("/page/..%2fpage.rs").failed(404, "server::no_route");
    let words = server.get("/page/vocabulary.json").ok();
    assert!(words["functions"].as_array().is_some_and(|all| all.iter().any(|word| word["name"] == "concat")));
    assert_eq!(server.get("/health").ok(), json!({"ok": true}));

    let openapi = server.get("/openapi.json").ok();
    assert_eq!(openapi["openapi"], "3.0.3");
    for (path, operations) in openapi["paths"].as_object().expect("there are paths") {
        let path = path.replace("{id}", "9").replace("{names}", "r").replace("{relation}", "r").replace("{name}", "R");
        for method in ["GET", "POST", "PUT", "DELETE"] {
            // The streams would not end.
            if method == "GET" && (path.starts_with("/changes") || path.starts_with("/rules")) {
                continue;
            }
            let is_route = server.send(method, &path, &[], "").status != 405;
            let is_described = operations.get(method.to_lowercase()).is_some();
            assert_eq!(is_route, is_described, "{method} {path}");
        }
    }
    server.get("/nowhere").failed(404, "server::no_route");
    assert_eq!(server.get("/nowhere").json()["message"], "No route for GET /nowhere");
    server.get("/text-query").failed(405, "server::method");
}

#[test]
fn references_in_the_description_lead_somewhere() {
    fn references<'v>(value: &'v Value, found: &mut Vec<&'v str>) {
        match value {
            Value::Object(fields) => {
                found.extend(fields.get("$ref").and_then(Value::as_str));
                fields.values().for_each(|field| references(field, found));
            }
            Value::Array(items) => items.iter().for_each(|item| references(item, found)),
            _ => (),
        }
    }
    let openapi = start(&[]).get("/openapi.json").ok();
    let mut found = vec![];
    references(&openapi, &mut found);
    assert!(found.len() > 20);
    for reference in found {
        let pointer = reference.strip_prefix('#').expect("it is one of the document");
        assert!(openapi.pointer(pointer).is_some(), "{reference}");
    }
}

#[test]
fn queries_that_were_short_before_run_where_their_connection_is_served() {
    let server = start(&[]);
    server.query("?[k, v] <- [[1, 'one']] :create r {k => v}").ok();
    let direct = || {
        let metrics = server.get("/metrics").text();
        let count = metrics.lines().find_map(|line| line.strip_prefix("cozo_direct_queries_total "));
        count.and_then(|count| count.parse::<u32>().ok()).expect("it is counted")
    };
    let before = direct();
    // The first call makes the script known; the processor may be busy elsewhere during some of the others.
    let answers: Vec<Value> = (0..50).map(|_| server.query("?[v] := *r{k: 1, v}").ok()["rows"].clone()).collect();
    assert!(answers.iter().all(|rows| *rows == json!([["one"]])), "{answers:?}");
    let after_reads = direct();
    assert!(after_reads > before, "{before} and then {after_reads}");
    (0..5).for_each(|_| drop(server.query("?[k, v] <- [[2, 'two']] :put r {k => v}").ok()));
    assert_eq!(direct(), after_reads, "what writes is never run there");
}

#[test]
fn requests_are_counted_and_have_ids() {
    let server = start(&["--log", "debug", "--log-format", "json"]);
    server.query("?[a] <- [[1]]").ok();
    server.query("?[a] := b");
    server.get("/nowhere");
    let transaction = server.post("/transact", &json!({})).ok();
    assert!(transaction["id"].is_u64());
    let metrics = server.get("/metrics").text();
    for line in [
        "cozo_http_requests_total{method=\"POST\",route=\"/text-query\",status=\"200\"} 1",
        "cozo_http_requests_total{method=\"POST\",route=\"/text-query\",status=\"400\"} 1",
        "cozo_http_requests_total{method=\"GET\",route=\"other\",status=\"404\"} 1",
        "cozo_http_request_seconds_count{route=\"/text-query\"} 2",
        "cozo_open_transactions 1",
        "cozo_event_streams 0",
    ] {
        assert!(metrics.lines().any(|have| have == line), "{line} in\n{metrics}");
    }
    let reply = server.send("GET", "/health", &[("x-request-id", "mine-7")], "");
    assert_eq!(reply.header("x-request-id"), Some("mine-7"));
    let logged: Value = serde_json::from_str(&server.logged("mine-7")).expect("the log is JSON");
    assert_eq!(
        (&logged["path"], &logged["status"], &logged["level"]),
        (&json!("/health"), &json!(200), &json!("DEBUG"))
    );
    let ids =
        [server.get("/health"), server.get("/health")].map(|reply| reply.header("x-request-id").map(str::to_string));
    assert!(ids[0].is_some() && ids[0] != ids[1]);
}

#[test]
fn long_results_are_whole_in_chunks() {
    let server = start(&[]);
    let script = "?[n, text] := n in int_range(100000), text = concat('row ', to_string(n))";
    let result = server.query(script).ok();
    let rows = result["rows"].as_array().expect("there are rows");
    assert_eq!((rows.len(), &rows[99_999]), (100_000, &json!([99_999, "row 99999"])));
    let body = json!({"script": script}).to_string();
    let head = format!(
        "POST /text-query HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: {}\r\n",
        body.len()
    );
    let reply = read_all(server.raw(&format!("{head}\r\n{body}")));
    let (headers, _) = reply.split_once("\r\n\r\n").expect("there are headers");
    assert!(headers.contains("transfer-encoding: chunked") && !headers.contains("content-length"), "{headers}");
}

#[test]
fn bodies_are_compressed_both_ways() {
    let server = start(&["--max-body-mb", "1"]);
    let compress = |text: &[u8]| {
        let mut encoder = flate2::write::GzEncoder::new(vec![], flate2::Compression::default());
        encoder.write_all(text).expect("memory takes all");
        encoder.finish().expect("memory takes all")
    };
    let body = compress(json!({"script": "?[n] := n in int_range(10000)"}).to_string().as_bytes());
    let head = "POST /text-query HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nAccept-Encoding: gzip\r\n";
    let mut stream = server.raw(&format!("{head}Content-Encoding: gzip\r\nContent-Length: {}\r\n\r\n", body.len()));
    stream.write_all(&body).expect("it takes the body");
    let mut reply = vec![];
    stream.read_to_end(&mut reply).expect("it answers");
    let head_end = reply.windows(4).position(|bytes| bytes == b"\r\n\r\n").expect("there are headers") + 4;
    let headers = String::from_utf8_lossy(&reply[..head_end]);
    assert!(headers.contains("content-encoding: gzip"), "{headers}");
    assert!(reply.len() < 40_000, "10000 rows take {} bytes", reply.len());

    // What is counted is the body without its compression.
    let large = compress(format!("{}{{}}", " ".repeat(2 << 20)).as_bytes());
    assert!(large.len() < 10_000);
    server.send("POST", "/text-query", &[("content-encoding", "gzip")], large).failed(413, "server::too_large");
    let nearly = format!("{}{}", " ".repeat((1 << 20) - 100), json!({"script": "?[a] <- [[1]]"}));
    assert_eq!(server.send("POST", "/text-query", &[], nearly).ok()["rows"], json!([[1]]));
    server.send("PUT", "/import", &[], " ".repeat((1 << 20) + 1)).failed(413, "server::too_large");
}

/// A short body whose length is said passes by the layers of the routes, one in chunks goes through them.
#[test]
fn scripts_get_the_same_response_on_the_direct_way() {
    let server = start(&[]);
    let ask = |head: &str, body: &str| {
        let head = format!("POST /text-query HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{head}");
        let mut response = vec![];
        server.raw(&format!("{head}\r\n\r\n{body}")).read_to_end(&mut response).expect("a response comes");
        let end = response.windows(4).position(|bytes| bytes == b"\r\n\r\n").expect("headers end");
        let headers = String::from_utf8_lossy(&response[..end]).to_lowercase();
        let changes =
            |line: &&str| ["date: ", "x-request-id: ", "content-length: "].iter().any(|name| line.starts_with(name));
        let mut headers: Vec<String> = headers.lines().filter(|line| !changes(line)).map(str::to_string).collect();
        headers.sort();
        let body = String::from_utf8_lossy(&response[end + 4..]).into_owned();
        // What follows is the time that it took.
        (headers, body.split("\"took\"").next().map(str::to_string))
    };
    let many = "{\"script\": \"?[n] := n in int_range(1000)\"}";
    let cases = [
        ("", "{\"script\": \"?[a] <- [[1]]\"}"),
        ("", "{\"script\": \"?[a\"}"),
        ("", "no JSON"),
        ("", "{}"),
        ("", "{\"script\": \"::relations\"}"),
        ("", "{\"script\": \"?[a] <- [[1]] :create r {a}\", \"immutable\": true}"),
        ("Accept-Encoding: identity\r\n", many),
        ("Accept-Encoding: gzip\r\n", "{\"script\": \"?[a] <- [[1]]\"}"),
        ("Origin: https://evil.test\r\n", "{\"script\": \"?[a] <- [[1]]\"}"),
        ("Sec-Fetch-Site: cross-site\r\n", "{\"script\": \"?[a] <- [[1]]\"}"),
    ];
    for (head, body) in cases {
        let direct = ask(&format!("{head}Content-Length: {}", body.len()), body);
        let chunked = format!("{:x}\r\n{body}\r\n0\r\n\r\n", body.len());
        assert_eq!(direct, ask(&format!("{head}Transfer-Encoding: chunked"), &chunked), "{head}{body}");
    }
    let (headers, _) = ask(&format!("Accept-Encoding: gzip\r\nContent-Length: {}", many.len()), many);
    assert!(headers.contains(&"content-encoding: gzip".to_string()), "{headers:?}");
}

#[test]
fn warnings_stand_beside_the_rows() {
    let server = start(&["--engine", "mem"]);
    let run = |script: &str| server.post("/text-query", &json!({ "script": script, "params": {} })).ok();
    let warned = run("?[x] <- [[1]] :create _kept {x}");
    assert!(warned["warnings"][0].as_str().is_some_and(|warning| warning.contains("nobody can see")), "{warned}");
    assert!(run("?[x] <- [[1]]").get("warnings").is_none());
}
