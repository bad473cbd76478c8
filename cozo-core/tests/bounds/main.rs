//! Scripts in a process with few addresses: it lives, and each script ends near its limits of time and memory.
//!
//! The tests run themselves again in a process that may have [`ADDRESSES_KB`] kilobytes of addresses, in a database whose queries
//! may take [`QUERY_MEMORY_MB`]. `COZO_EXPRESSIONS` is how many random expressions there are, `COZO_SEED` which;
//! `COZO_SHOW_SLOWEST` prints those that ran longest.

#![cfg(target_os = "linux")]

#[path = "../common/mod.rs"]
mod common;
mod expressions;

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use cozo::{DataValue, DbInstance, NamedRows, ScriptMutability, SimpleFixedRule};

use common::code;
use rand::SeedableRng;
use rand::rngs::StdRng;

const QUERY_MEMORY_MB: usize = 64;

const ADDRESSES_KB: usize = 2 << 20;

/// How much more memory than a query may take the process may have: what allocators keep, and pieces that are not counted.
const SLACK_MB: usize = 80;

/// Set in the process that has few addresses.
const LIMITED: &str = "COZO_TEST_LIMITED";

/// Far more than any script here takes, which has a fifth of a second: only what is not stopped takes longer.
const BOUND: Duration = Duration::from_secs(20);

fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// Whether this process has few addresses; if not, the test is run in one that has.
fn is_limited(test: &str) -> bool {
    if std::env::var(LIMITED).is_ok() {
        return true;
    }
    let script = format!("ulimit -v {ADDRESSES_KB} && exec \"$0\" --exact {test} --nocapture --test-threads 1");
    let program = std::env::current_exe().expect("a test has a file");
    let mut command = Command::new("sh");
    command.args(["-c", &script]).arg(program).env(LIMITED, "yes");
    let output = command.output().expect("there is a shell");
    let (said, complaints) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    println!("{said}");
    assert!(output.status.success(), "{}\n{said}\n{complaints}", output.status);
    assert!(said.contains("1 passed"), "{said}");
    false
}

fn database() -> DbInstance {
    DbInstance::new("mem", "", &format!("{{\"query_memory_mb\": {QUERY_MEMORY_MB}}}")).expect("it opens")
}

/// A line of `/proc/self/status`, in megabytes.
fn memory_mb(line: &str) -> usize {
    let status = fs::read_to_string("/proc/self/status").expect("Linux says it");
    let kilobytes = status
        .lines()
        .find_map(|found| found.strip_prefix(line)?.trim_matches(&[':', ' ', '\t', 'k', 'B'][..]).parse().ok());
    kilobytes.map_or(0, |kilobytes: usize| kilobytes >> 10)
}

/// How a script ended.
struct Outcome {
    /// The code of its error, or nothing.
    code: String,
    took: Duration,
    /// By how many megabytes the process grew.
    grew_mb: usize,
}

fn run(db: &DbInstance, script: &str) -> Outcome {
    // From here on the process notes anew how large it is at most.
    fs::write("/proc/self/clear_refs", "5").expect("Linux takes it");
    let (before, start) = (memory_mb("VmRSS"), Instant::now());
    let answer = db.run_default(script);
    let took = start.elapsed();
    let grew_mb = memory_mb("VmHWM").saturating_sub(before);
    let outcome = Outcome { code: answer.err().map(code).unwrap_or_default(), took, grew_mb };
    let shown: String = script.chars().take(4000).collect();
    assert!(outcome.grew_mb <= QUERY_MEMORY_MB + SLACK_MB, "{} MB more: {shown}", outcome.grew_mb);
    assert!(outcome.took < BOUND, "{took:?}: {shown}");
    outcome
}

/// Runs scripts that must all end with one of these errors.
fn all_end_with(codes: &[&str], scripts: &[&str]) {
    let (db, mut others) = (database(), vec![]);
    for script in scripts {
        let outcome = run(&db, script);
        println!("{:5.2} s {:4} MB {:20} {script:.100}", outcome.took.as_secs_f64(), outcome.grew_mb, outcome.code);
        if !codes.contains(&&*outcome.code) {
            others.push(format!("{} instead of {codes:?}: {script:.400}", outcome.code));
        }
        assert_eq!(db.run_default("?[x] := x = 1").map(|answer| answer.rows.len()).ok(), Some(1));
    }
    assert!(others.is_empty(), "{others:#?}");
}

#[test]
fn what_an_expression_makes_is_bounded() {
    if is_limited("what_an_expression_makes_is_bounded") {
        all_end_with(
            &["eval::out_of_memory"],
            &[
                "?[n] := n = length(int_range(100000000))",
                "?[x, l] := x in int_range(1000), l = int_range(1000000)",
                "?[n] := k in [1], l = int_range(1000000), n = length(windows(l, 100))",
                "?[n] := a in [1, 2, 3], b = [a,a,a,a,a,a,a,a,a,a], c = [b,b,b,b,b,b,b,b,b,b], d = [c,c,c,c,c,c,c,c,c,c],
                 e = [d,d,d,d,d,d,d,d,d,d], f = [e,e,e,e,e,e,e,e,e,e], g = [f,f,f,f,f,f,f,f,f,f], h = [g,g,g,g,g,g,g,g,g,g],
                 i = [h,h,h,h,h,h,h,h,h,h], j = [i,i,i,i,i,i,i,i,i,i], n = length(j)",
                "l[l] := l = int_range(500000)  ?[n] := l[l], n = length(concat(l, l, l, l, l, l, l, l))",
                "t[t] := l = int_range(300000), t = to_string(l)  ?[n] := t[t], n = length(regex_replace_all(t, '(?s).*', '$0$0$0$0$0$0$0$0$0$0$0$0$0$0$0$0$0$0$0$0$0$0$0$0$0$0$0$0$0$0$0$0$0$0$0$0$0$0$0$0'))",
                "t[t] := l = int_range(900000), t = to_string(l)  ?[n] := t[t], n = length(chars(t))",
                "t[t] := l = int_range(900000), t = to_string(l)  ?[n] := t[t], n = length(regex_extract(t, '.'))",
                "?[v] := v = vec(int_range(50000000))",
                "?[n] := n = length(sorted(reverse(int_range(30000000))))",
                "?[n] := l = int_range(1000000), n = length(json(l))",
            ],
        );
    }
}

#[test]
fn what_a_fixed_rule_makes_is_bounded() {
    if !is_limited("what_a_fixed_rule_makes_is_bounded") {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder can be made");
    let csv = folder.path().join("rows.csv");
    fill(&csv, b"1,some text\n");
    let json = folder.path().join("rows.jsonl");
    fill(&json, b"{\"a\": [0, 0, 0, 0, 0, 0, 0, 0]}\n");
    let array = folder.path().join("array.json");
    fs::write(&array, format!("[{{\"a\": [{}0]}}]", "0,".repeat(20_000_000))).expect("it is written");
    let quoted = folder.path().join("quoted.csv");
    fs::write(&quoted, format!("\"{}", "text,".repeat(40_000_000))).expect("it is written");
    let scripts = [
        "e[a, b] := a in int_range(30), b in int_range(30)  ?[c, l] <~ Cycles(e[a, b], limit: 1000000000)".to_string(),
        // 2^40 ways of the same cost through diamonds.
        "e[a, b] := k in int_range(40), a = 3 * k, b = a + 1  e[a, b] := k in int_range(40), a = 3 * k, b = a + 2
         e[a, b] := k in int_range(40), b = 3 * k + 3, a = b - 1  e[a, b] := k in int_range(40), b = 3 * k + 3, a = b - 2
         s[n] <- [[0]]  g[n] <- [[120]]  ?[s, g, c, p] <~ ShortestPathDijkstra(e[], s[], g[], keep_ties: true)"
            .to_string(),
        "e[a, b] <- [[1, 2], [2, 1]]  n[a] <- [[1], [2]]  s[a] <- [[1]]
         ?[w, s, p] <~ RandomWalk(e[], n[], s[], steps: 1000000000)"
            .to_string(),
        "e[a, b] <- [[1, 2], [2, 1]]  n[a] <- [[1], [2]]  s[a] <- [[1]]
         ?[w, s, p] <~ RandomWalk(e[], n[], s[], steps: 10, iterations: 1000000000)"
            .to_string(),
        "e[a, b] := a in int_range(30000), b = a + 1  s[a] := a in int_range(30000)  ?[s, n, c] <~ SSSP(e[], s[])".to_string(),
        "e[a, b] := a in int_range(30000), b = a + 1  s[a] := a in int_range(30000)
         ?[s, g, p] <~ ShortestPathBFS(e[], s[], s[])"
            .to_string(),
        "e[a, b] := a in int_range(3000), b = a + 1  s[a] <- [[0]]  ?[s, g, c, p] <~ ShortestPathDijkstra(e[], s[])".to_string(),
        "e[a, b] := a in int_range(30000), b = a + 1  n[a] := a in int_range(30001)  s[a] <- [[0]]
         ?[s, a, p] <~ BFS(e[], n[a], s[], condition: a >= 0, limit: 100000)"
            .to_string(),
        "e[a, b] := a in int_range(3000), b in int_range(3000)  ?[n, t, o, i] <~ DegreeCentrality(e[])".to_string(),
        "?[a] <~ CsvReader(url: 'file:///dev/zero', types: ['Any'], has_headers: false)".to_string(),
        "?[a] <~ JsonReader(url: 'file:///dev/zero', fields: ['a'])".to_string(),
        "?[a] <~ JsonReader(url: 'file:///dev/zero', fields: ['a'], json_lines: false)".to_string(),
        format!("?[a] <~ CsvReader(url: 'file://{}', types: ['Any'], has_headers: false)", quoted.display()),
        format!("?[a] <~ JsonReader(url: 'file://{}', fields: ['a'], json_lines: false)", array.display()),
    ];
    all_end_with(&["eval::out_of_memory"], &scripts.iter().map(String::as_str).collect::<Vec<_>>());
    // The rows of these go to disk.
    let scripts = [
        format!("?[a, b] <~ CsvReader(url: 'file://{}', types: ['Int', 'String'], has_headers: false)", csv.display()),
        format!("?[a] <~ JsonReader(url: 'file://{}', fields: ['a'])", json.display()),
    ];
    all_end_with(&[""], &scripts.each_ref().map(String::as_str));
}

/// Writes 100 MB of a line.
fn fill(path: &Path, line: &[u8]) {
    let mut file = fs::File::create(path).expect("a file can be made");
    let block = line.repeat((1 << 20) / line.len());
    (0..100).for_each(|_| file.write_all(&block).expect("it is written"));
}

#[test]
fn work_that_takes_long_within_one_value_is_stopped() {
    if is_limited("work_that_takes_long_within_one_value_is_stopped") {
        all_end_with(
            &["eval::killed"],
            &[
                "?[n] := l = int_range(70000), n = length(sorted(concat(reverse(l), l, [m]))), m in int_range(100000), n < m :timeout 0.2",
                "?[n] := l = int_range(70000), m in int_range(100000), n = length(intersection(l, [m])), n < 0 :timeout 0.2",
                "e[a, b] := k in int_range(40), a = 3 * k, b = a + 1  e[a, b] := k in int_range(40), a = 3 * k, b = a + 2
                 e[a, b] := k in int_range(40), b = 3 * k + 3, a = b - 1  e[a, b] := k in int_range(40), b = 3 * k + 3, a = b - 2
                 s[n] <- [[0]]  g[n] <- [[120]]  ?[s, g, c, p] <~ KShortestPathYen(e[], s[], g[], k: 1000000) :timeout 0.2",
                // Each search follows the line to its end and finds two nodes: much time, little memory.
                "e[a, b] := a in int_range(100000), b = a + 1  e[a, b] := b in int_range(100000), a = b + 1
                 ?[c, l] <~ Cycles(e[a, b], limit: 1000000) :timeout 0.2",
                "e[a, b] := a in int_range(100000), b = (a * 7919) % 100003  ?[n, b] <~ BetweennessCentrality(e[]) :timeout 0.2",
                "e[a, b] := a in int_range(200000), b = (a * 7919) % 200003  ?[n, b] <~ ClosenessCentrality(e[]) :timeout 0.2",
            ],
        );
    }
}

#[test]
fn parsing_and_compiling_are_stopped() {
    if !is_limited("parsing_and_compiling_are_stopped") {
        return;
    }
    let rules: String = (0..60_000).map(|rule| format!("r{rule}[x] := r{}[x] ", rule + 1)).collect();
    let sum = vec!["x"; 400_000].join(" + ");
    let calls = format!("{}x{}", "abs(".repeat(100), ")".repeat(100));
    let scripts = [
        format!("?[x] := x in [{}1] :timeout 0.001", "1, ".repeat(300_000)),
        format!("?[x] := r0[x] {rules} r60000[x] := x = 1 :timeout 0.001"),
        format!("?[y] := x = 1, y = {sum} :timeout 0.001"),
        format!("?[y] := x = 1, y = [{}1] :timeout 0.001", format!("{calls}, ").repeat(3_000)),
        format!("?[x] <- [{}[1]] :timeout 0.001", "['text', 1.5], ".repeat(100_000)),
    ];
    let all = scripts.iter().map(String::as_str).collect::<Vec<_>>();
    // What is refused at once for its size has no time to be stopped.
    all_end_with(&["eval::killed", "eval::out_of_memory"], &all);
    // Without the timeout some of them take more memory than they may; none is more than this test bears.
    let db = database();
    for script in &scripts {
        run(&db, &script.replace(":timeout 0.001", ""));
    }
}

#[test]
fn values_of_the_host_are_bounded_in_depth() {
    let nested = |levels: usize| (0..levels).fold(DataValue::from(1), |inner, _| DataValue::List(vec![inner]));
    let db = database();
    db.run_default(":create r {k => v}").expect("it runs");
    let with = |value: DataValue| {
        db.run_script("?[v] := v = $v", [("v".to_string(), value)].into(), ScriptMutability::Immutable).map(|_| ())
    };
    let import = |value: DataValue| {
        let rows = NamedRows::new(vec!["k".to_string(), "v".to_string()], vec![vec![1.into(), value]]);
        db.import_relations([("r".to_string(), rows)].into())
    };
    let rule = |value: DataValue| {
        let given =
            SimpleFixedRule::new(1, move |_, _| Ok(NamedRows::new(vec!["v".to_string()], vec![vec![value.clone()]])));
        db.register_fixed_rule("Given".to_string(), given)?;
        let answer = db.run_default("?[v] <~ Given()").map(|_| ());
        db.unregister_fixed_rule("Given")?;
        answer
    };
    for make in [&with as &dyn Fn(DataValue) -> cozo::Result<()>, &import, &rule] {
        make(nested(127)).expect("so deep it may be");
        assert_eq!(code(make(nested(128)).expect_err("it is too deep")), "eval::too_deep");
        assert_eq!(code(make(nested(5_000)).expect_err("it is too deep")), "eval::too_deep");
    }
}

#[test]
fn random_expressions_are_bounded() {
    if !is_limited("random_expressions_are_bounded") {
        return;
    }
    let (count, seed) = (setting("COZO_EXPRESSIONS", 500), setting("COZO_SEED", 1));
    let (db, mut random) = (database(), StdRng::seed_from_u64(seed));
    let mut slowest: Vec<(Duration, String)> = vec![];
    let mut codes = std::collections::BTreeMap::<String, usize>::new();
    for _ in 0..count {
        let script = expressions::script(&mut random);
        let outcome = run(&db, &script);
        *codes.entry(outcome.code).or_default() += 1;
        slowest.push((outcome.took, script));
    }
    slowest.sort_unstable_by_key(|(took, _)| std::cmp::Reverse(*took));
    println!("{codes:?}");
    let late = slowest.iter().filter(|(took, _)| *took > Duration::from_millis(600)).count();
    println!("{late} of {count} took more than 0.4 seconds longer than they may");
    for (took, script) in slowest.iter().take(setting("COZO_SHOW_SLOWEST", 0) as usize) {
        println!("{took:?}: {script:.600}");
    }
    let sees_both = ["eval::out_of_memory", ""].iter().all(|code| codes.get(*code).is_some_and(|count| *count > 0));
    assert!(sees_both, "some end, and some outgrow their memory: {codes:?}");
}
