//! Queries whose rows exceed their memory: the rows go to disk, and the answers are the same.

#![allow(clippy::unwrap_used)]

use crate::engines::SETTINGS;
use cozo::{DataValue, DbInstance, Interrupt, ScriptAnswer, ScriptMutability};

/// A database in which a query may take 16 MB, with a relation of 500,000 rows and two of 200,000.
fn db(options: &str) -> DbInstance {
    let db = DbInstance::new("mem", "", options).unwrap();
    for (name, thousands) in [("fact", 500), ("left", 200), ("right", 200)] {
        db.run_default(&format!(":create {name} {{id: Int => key: Int, value: Int}}")).unwrap();
        for start in (0..thousands).step_by(50) {
            let script = format!(
                "n[x] := x in int_range(1000)
                ?[id, key, value] := a in int_range({start}, {start} + 50), n[b], id = a * 1000 + b,
                    key = id * 7919 % {thousands}001, value = id % 10
                :put {name} {{id => key, value}}"
            );
            db.run_default(&script).unwrap();
        }
    }
    db
}

const SMALL: &str = r#"{"query_memory_mb": 16}"#;

fn ints(db: &DbInstance, script: &str) -> Vec<i64> {
    let rows = db.run_default(script).unwrap_or_else(|error| panic!("{script}: {error:?}")).rows;
    rows[0].iter().map(|value| value.get_float().unwrap() as i64).collect()
}

/// Scripts, each with the integers of its one row.
const QUERIES: [(&str, &[i64]); 16] = [
    // Groups.
    ("g[key, sum(value)] := *fact{key, value}  ?[count(key), sum(s)] := g[key, s]", &[500_000, 2_250_000]),
    (
        "g[key, collect(value)] := *fact{key, value}  ?[count(key), sum(l)] := g[key, s], l = length(s)",
        &[500_000, 500_000],
    ),
    // Distinct rows.
    ("d[value, key] := *fact{key, value}  ?[count(key), min(key), max(key)] := d[v, key]", &[500_000, 0, 500_000]),
    ("d[k, w] := *fact{key, value}, k = key % 300000, w = value % 2  ?[count(k)] := d[k, w]", &[428_600]),
    // Joins, one of them with the rows of a rule, and tests.
    ("?[count(a), sum(v)] := *left{id: a, key, value: v}, *right{id: b, key}", &[200_000, 900_000]),
    ("d[key, a] := *left{id: a, key}  ?[count(a), max(a)] := *right{key, value: 3}, d[key, a]", &[20_000, 199_993]),
    ("d[key] := *left{key}, key % 3 != 0  ?[count(id)] := *right{id, key}, not d[key]", &[66_667]),
    // Recursion.
    (
        "e[x, y] := x in int_range(700), y = (x + 1) % 700  path[x, y] := e[x, y]  path[x, y] := path[x, z], e[z, y]  ?[count(x), sum(y)] := path[x, y]",
        &[490_000, 171_255_000],
    ),
    // Joins by expressions and by comparisons.
    ("?[count(a), sum(v)] := *left{id: a, key: k, value: v}, *right{id: b, key: j}, k + 1 == j + 1", &[200_000, 900_000]),
    ("r[j, b] := *right{id: b, key: j}  ?[count(a), count(j)] := *left{key: a}, r[j, b], a <= j, j < a + 2", &[399_998, 399_998]),
    ("?[count(a), count(j)] := *left{key: a}, *right{key: j}, a <= j, j < a + 2", &[399_998, 399_998]),
    // Recursion that carries no column along: through two atoms, in turns, with a meet, with a join of expressions or of comparisons.
    (
        "e[x, y] := x in int_range(20000), y = x + 1, y % 40 != 0  path[x, y] := e[x, y]  path[x, y] := path[x, z], path[z, y]
        ?[count(x), sum(y)] := path[x, y]",
        &[390_000, 3_902_470_000],
    ),
    (
        "e[x, y] := x in int_range(20000), y = x + 1, y % 40 != 0  odd[x, y] := e[x, y]  even[x, y] := odd[x, z], e[z, y]
        odd[x, y] := even[x, z], e[z, y]  n[count(x)] := even[x, y]  m[count(x)] := odd[x, y]
        ?[a, b] := n[a], m[b]",
        &[190_000, 200_000],
    ),
    (
        "e[x, y] := x in int_range(20000), y = x + 1, y % 40 != 0  d[x, y, min(n)] := e[x, y], n = 1
        d[x, y, min(n)] := d[x, z, a], d[z, y, b], n = a + b  ?[count(x), sum(n)] := d[x, y, n]",
        &[390_000, 5_330_000],
    ),
    (
        "e[x, y] := x in int_range(20000), y = x + 1, y % 40 != 0  path[x, y] := e[x, y]
        path[x, y] := path[x, a], path[b, y], a + 1 == b + 1  ?[count(x), sum(y)] := path[x, y]",
        &[390_000, 3_902_470_000],
    ),
    (
        "up[x, y] := x in int_range(1, 1024), y = to_int(floor(x / 2)), y > 0  sg[x, y] := x = 1, y = 1
        sg[x, y] := up[x, p], sg[p, q], up[y, q]  ?[count(x), sum(y)] := sg[x, y]",
        &[349_525, 229912771],
    ),
];

#[test]
fn rows_that_exceed_the_memory_give_the_same_answers() {
    let (small, large) = (db(SMALL), db("{}"));
    for (script, expected) in QUERIES {
        assert_eq!(ints(&large, script), expected, "with memory: {script}");
        assert_eq!(ints(&small, script), expected, "on disk: {script}");
        assert!(!ways(&small, script).is_empty(), "`::explain analyze` names no way: {script}");
        assert_eq!(ways(&large, script), [], "{script}");
    }
}

#[test]
fn orders_that_exceed_the_memory_are_read_and_stored() {
    let db = db(SMALL);
    let page = db.run_default("?[value, id] := *fact{id, value} :order -value, id :offset 250000 :limit 3").unwrap();
    let expected = [[4, 4], [4, 14], [4, 24]].map(|row| row.map(DataValue::from).to_vec());
    assert_eq!(page.rows, expected);
    db.run_default("?[key, id, value] := *fact{id, key, value} :order value :create by_key {key => id, value}")
        .unwrap();
    assert_eq!(
        ints(&db, "?[count(key), sum(id), sum(value)] := *by_key{key, id, value}"),
        [500_000, 500_000 * 499_999 / 2, 2_250_000]
    );
    // Of rows with the same key, the last of the order is stored.
    db.run_default("?[k, id] := *fact{id}, k = id % 400000 :order -id :create first {k => id}").unwrap();
    assert_eq!(ints(&db, "?[count(k), max(id)] := *first{k, id}"), [400_000, 399_999]);
    db.run_default("?[k, id] := *fact{id}, k = id % 400000 :order id :put first {k => id}").unwrap();
    assert_eq!(ints(&db, "?[count(k), max(id), min(id)] := *first{k, id}"), [400_000, 499_999, 100_000]);
    let sorted = db.run_default("?[id] := *by_key{id} :assert some :order id :limit 1 :offset 499999").unwrap();
    assert_eq!(sorted.rows, [[DataValue::from(499_999)]]);
}

#[test]
fn indices_follow_what_exceeds_the_memory() {
    for setting in SETTINGS {
        let folder = tempfile::tempdir().unwrap();
        let options = setting.options_with(r#""query_memory_mb": 16"#);
        let db = DbInstance::new(setting.engine, folder.path().join("db"), &options).unwrap();
        db.run_default(":create r {id: Int => a: Int, b: Int}").unwrap();
        db.run_default("::index create r:by_a {a}").unwrap();
        db.run_default("::index create r:by_b {b, a}").unwrap();
        let put = |thousands: &str, a: &str| {
            let ids = format!("t in int_range({thousands}), n[m], id = t * 1000 + m");
            let put = format!("?[id, a, b] := {ids}, a = {a}, b = id % 3 :put r {{id => a, b}}");
            db.run_default(&format!("n[m] := m in int_range(1000)  {put}")).unwrap();
        };
        put("300", "id % 1000");
        // Of 150,000 rows that were there, one half changes, and the other is put again as it is.
        put("150, 450", "if(id % 2 == 0, id % 1000, 5000)");
        for (query, expected) in [
            ("?[count(id)] := *r{id}", 450_000),
            ("?[count(id)] := *r:by_a{a: 5000, id}", 150_000),
            ("?[count(id)] := *r:by_a{a: 8, id}", 450),
            ("?[count(id)] := *r:by_a{a: 7, id}", 150),
            ("?[count(id)] := *r:by_b{b: 2, id}", 150_000),
            ("?[count(id)] := *r:by_b{b: 1, a: 5000, id}", 50_000),
        ] {
            assert_eq!(ints(&db, query), [expected], "{setting}: {query}");
        }
        assert_eq!(db.check().unwrap().problems, [""; 0], "{setting}");
    }
}

#[test]
fn too_little_disk_is_an_error_that_says_so() {
    let count = "g[key, sum(value)] := *fact{key, value}  ?[count(key)] := g[key, s]";
    let little = db(r#"{"query_memory_mb": 16, "temp_limit_mb": 1}"#);
    let error = little.run_default(count).unwrap_err();
    assert_eq!(error.code().unwrap().to_string(), "eval::out_of_disk");
    assert!(error.to_string().contains("1 MB on disk"), "{error}");
    // The disk is free again.
    assert_eq!(ints(&little, "?[count(id)] := *fact{id}"), [500_000]);
    assert_eq!(little.run_default(count).unwrap_err().code().unwrap().to_string(), "eval::out_of_disk");

    let nowhere = tempfile::tempdir().unwrap().path().join("missing");
    let nowhere = db(&format!(r#"{{"query_memory_mb": 16, "temp_dir": {:?}}}"#, nowhere.display().to_string()));
    let error = nowhere.run_default(count).unwrap_err();
    assert_eq!(error.code().unwrap().to_string(), "eval::temp_files");
    assert!(error.help().unwrap().to_string().contains("temp_dir"));
}

#[test]
fn options_that_mean_nothing_are_refused() {
    for (options, named) in [
        (r#"{"temp_limit_mb": -1}"#, "temp_limit_mb"),
        (r#"{"query_memory_mb": -0.5}"#, "query_memory_mb"),
        (r#"{"cache_mb": -1}"#, "cache_mb"),
        (r#"{"temp_dir": ""}"#, "temp_dir"),
    ] {
        let error = DbInstance::new("mem", "", options).err().unwrap();
        assert_eq!(error.code().unwrap().to_string(), "db::bad_options");
        assert!(error.to_string().contains(named), "{error}");
    }
}

#[test]
fn no_file_is_left_behind() {
    let folder = tempfile::tempdir().unwrap();
    let db = db(&format!(r#"{{"query_memory_mb": 16, "temp_dir": {:?}}}"#, folder.path().display().to_string()));
    for (script, _) in QUERIES {
        db.run_default(script).unwrap();
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "{script}");
    }
}

#[test]
fn a_result_that_exceeds_the_memory_is_streamed() {
    let db = db(SMALL);
    let script = "?[value, id, other] := *fact{id, value}, other = id + 0.5 :order value, -id";
    assert_eq!(db.run_default(script).unwrap_err().code().unwrap().to_string(), "eval::out_of_memory");
    let interrupt = Interrupt::default();
    let stream = db.run_script_stream(script, Default::default(), ScriptMutability::Immutable, &interrupt);
    let mut stream = stream.unwrap();
    // A stream does not care what happens to its script, to its relation or to others.
    interrupt.kill();
    db.run_default("::remove fact").unwrap();
    let (mut rows, mut last) = (0, (0, i64::MAX));
    while let Some(batch) = stream.next_batch().unwrap() {
        for row in 0..batch.len {
            let [value, id] = [0, 1].map(|column| batch.columns[column].get(row).get_int().unwrap());
            assert!((last.0, -last.1) < (value, -id), "{last:?} comes before {value}, {id}");
            assert_eq!(batch.columns[2].get(row), DataValue::from(id as f64 + 0.5));
            last = (value, id);
        }
        rows += batch.len;
    }
    assert_eq!((rows, stream.headers().join(" ")), (500_000, "value id other".to_string()));
    let few = db.run_script_stream(
        "?[x] <- [[2], [1]]",
        Default::default(),
        ScriptMutability::Immutable,
        &Interrupt::default(),
    );
    assert_eq!(few.unwrap().collect().unwrap().rows.rows().flatten().collect::<Vec<_>>(), [1, 2].map(DataValue::from));
}

/// Rows that fit into the memory, but not several times: as values for a client, or as copies that are coerced and sorted.
#[test]
fn an_answer_and_a_write_need_no_copies_in_memory() {
    let db = db(SMALL);
    let answer = |script: &str| {
        let interrupt = Interrupt::default();
        match db.run_script_answer(script, Default::default(), ScriptMutability::Immutable, &interrupt).unwrap() {
            ScriptAnswer::Rows(rows) => rows.rows.len(),
            ScriptAnswer::Stream(rows) => rows.collect().unwrap().rows.len,
        }
    };
    assert_eq!(answer("?[id, count(value)] := *left{id, value}"), 200_000);
    assert_eq!(answer("?[id, key] := *left{id, key}, (key % 2 == 0 or id % 3 == 0)"), 133_333);
    assert_eq!(answer("?[id] := *left{id}, id < 10"), 10);
    db.run_default("?[key, id, value] := *left{id, key, value} :create copy {key => id, value}").unwrap();
    assert_eq!(
        ints(&db, "?[count(key), sum(id), sum(value)] := *copy{key, id, value}"),
        [200_000, 19_999_900_000, 900_000]
    );
}

#[test]
fn a_query_shows_what_it_uses_and_can_be_killed() {
    let db = db(r#"{"query_memory_mb": 16, "spill_mb": 1}"#);
    // More rows than any disk: the query ends when it is killed.
    let endless = "?[a, b, c] := *fact{id: a}, *fact{id: b}, *fact{id: c}";
    std::thread::scope(|scope| {
        let running = scope.spawn(|| db.run_default(endless).map(drop));
        let seen = loop {
            let rows = db.run_default("::running").unwrap();
            let found =
                rows.rows.iter().find(|row| row.get(3).is_some_and(|disk| disk.get_int() > Some(1 << 20))).cloned();
            if let Some(row) = found {
                assert_eq!(rows.headers, ["id", "started_at", "memory_bytes", "disk_bytes"]);
                break row;
            }
            assert!(!running.is_finished(), "the query uses the disk before it ends");
        };
        assert!(seen[2].get_int() > Some(0) && seen[2].get_int() <= Some(16 << 20), "{seen:?}");
        db.run_default(&format!("::kill {}", seen[0])).unwrap();
        let stopped = running.join().unwrap().unwrap_err();
        assert_eq!(stopped.code().unwrap().to_string(), "eval::killed");
    });
    let timed = db.run_default(&format!("{endless} :timeout 0.5")).unwrap_err();
    assert_eq!(timed.code().unwrap().to_string(), "eval::killed");
    assert!(timed.to_string().contains("timeout"));
}

#[test]
fn rows_from_disk_are_stored_by_every_engine() {
    for setting in SETTINGS {
        let folder = tempfile::tempdir().unwrap();
        let options = setting.options_with(r#""spill_mb": 0"#);
        let path = folder.path().join("db");
        let open = || DbInstance::new(setting.engine, &path, &options).unwrap();
        let mut db = open();
        let numbers = "n[x] := x in int_range(300)  ?[k, v] := n[a], n[b], k = a * 300 + b, v = k % 7";
        db.run_default(&format!("{numbers} :create r {{k: Int => v: Int}}")).unwrap();
        // The transaction reads its own rows, and what fails leaves nothing.
        let own =
            "{?[k, v] := *r{k, v: w}, w > 3, v = w + 10 :order -k :put r {k => v}} {?[count(k), sum(v)] := *r{k, v}}";
        let failing = "{?[k, v] := *r{k}, v = -1 :put r {k => v}} {?[k] := *r{k} :assert none}";
        assert_eq!(ints(&db, own), [90_000, 269_997 + 10 * 38_571], "{setting}");
        assert!(db.run_default(failing).is_err());
        if setting.is_persistent() {
            drop(db);
            db = open();
        }
        let counted = "?[count(k), sum(v), min(v), max(k)] := *r{k, v}";
        assert_eq!(ints(&db, counted), [90_000, 269_997 + 10 * 38_571, 0, 89_999], "{setting}");
        db.run_default("::index create r:by_value {v}").unwrap();
        assert_eq!(ints(&db, "?[count(k), min(k)] := *r:by_value{v: 15, k}"), [12_857, 5], "{setting}");
        assert!(db.run_default("::reindex r:by_value").is_ok());
        db.run_default("?[k, v] := *r{k, v} :replace r {v => k}").unwrap();
        assert_eq!(ints(&db, "?[count(v), min(k)] := *r{v, k}"), [7, 89_993], "{setting}: of equal keys the last");
    }
}

/// Triangles with a direction around, without, and cliques of four, of which the lists take more than a query may have.
#[test]
fn lists_to_intersect_are_read_piece_by_piece() {
    let edges = |options: &str, node: &str| {
        let db = DbInstance::new("mem", "", options).unwrap();
        db.run_default(":create edge {a, b}").unwrap();
        for part in 0..64 {
            let script = format!(
                "e[a, b] := i in int_range({part} * 5000, {part} * 5000 + 5000), a = i % 4001, b = (i * 7919 + 13 * to_int(i / 4001)) % 4003
                ?[a, b] := e[x, y], a = {}, b = {} :put edge {{a, b}}",
                node.replace('N', "x"),
                node.replace('N', "y"),
            );
            db.run_default(&script).unwrap();
        }
        db
    };
    let queries = [
        "?[count(a), max(c)] := *edge[a, b], *edge[b, c], *edge[c, a]",
        "?[count(a), max(c)] := *edge[a, b], *edge[b, c], *edge[a, c]",
        "?[count(a)] := *edge[a, b], *edge[b, c], *edge[a, c], *edge[b, d], *edge[a, d], *edge[c, d]",
    ];
    for (node, limit) in [("N", 3), ("N * 1000000007", 6), ("concat('no', to_string(N))", 3)] {
        let (large, small) = (edges("", node), edges(&format!(r#"{{"query_memory_mb": {limit}}}"#), node));
        let mut in_pieces = 0;
        for query in queries {
            let answer =
                |db: &DbInstance| db.run_default(query).unwrap_or_else(|error| panic!("{query}: {error:?}")).rows;
            assert_eq!(answer(&small), answer(&large), "{query}");
            in_pieces += usize::from(ways(&small, query).contains(&("intersect".into(), "pieces".into())));
        }
        assert!(in_pieces >= 2, "{node}: {in_pieces} queries in pieces");
    }
}

/// What `::explain analyze` says of the operators of a query that exceed the memory: each with its name.
fn ways(db: &DbInstance, query: &str) -> Vec<(String, String)> {
    let analyzed = db.run_default(&format!("::explain analyze {{ {query} }}")).unwrap();
    let column = |name: &str| analyzed.headers.iter().position(|header| header == name).unwrap();
    let (operator, beyond) = (column("op"), column("beyond_memory"));
    let text = |row: &Vec<DataValue>, column: usize| row[column].get_str().map(str::to_string);
    analyzed.rows.iter().filter_map(|row| Some((text(row, operator).unwrap(), text(row, beyond)?))).collect()
}
