//! Probe: sizes and times of scripts. Not part of the project.
#![allow(clippy::unwrap_used)]
use cozo::{DbInstance, DataValue, ScriptMutability};
use std::time::Instant;

fn vm(key: &str) -> usize {
    let text = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = text.lines().find(|l| l.starts_with(key)).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<usize>().unwrap() / 1024
}

fn script(kind: &str, n: usize) -> String {
    let many = |sep: &str, f: &dyn Fn(usize) -> String| (0..n).map(f).collect::<Vec<_>>().join(sep);
    match kind {
        "chain" => format!("r0[x] := x = 7 {} ?[x] := r{}[x]", many(" ", &|i| format!("r{}[x] := r{}[x]", i + 1, i)), n),
        "rules" => format!("{} ?[x] := a[x] a[x] <- [[1]]", many(" ", &|i| format!("r{}[x] := a[x], x > {}", i, i))),
        "same" => format!("{} ?[x] := r[x] a[x] <- [[1]]", many(" ", &|i| format!("r[x] := a[x], x > {}", i))),
        "allused" => format!("a[x] <- [[1]] {} ?[x] := {}", many(" ", &|i| format!("r{i}[x] := a[x], x > {i}")), "r0[x]") + &(1..n).map(|i| format!(" ?[x] := r{i}[x]")).collect::<String>(),
        "in" => format!("?[count(x)] := x in [{}]", many(",", &|_| "1".into())),
        "inlist" => format!("?[count(x)] := x in [{}]", many(",", &|i| format!("{i}"))),
        "rows" => format!("?[a,b] <- [{}] :limit 1", many(",", &|i| format!("[{i},{}]", i * 7 % 1000))),
        "rowsmix" => format!("?[a,b] <- [{}] :limit 1", many(",", &|i| format!("[{i},'name of {}',{}]", i, i as f64 / 7.0)).replace("?[a,b]", "?[a,b,c]")),
        "rowsfn" => format!("?[a,b] <- [{}] :limit 1", many(",", &|i| format!("[{i},lowercase('A{i}')]"))),
        "rowsobj" => format!("?[a,b] <- [{}] :limit 1", many(",", &|i| format!("[{i},{{'a': {i}, 'b': [1,2]}}]"))),
        "atoms" => format!("a[x] <- [[1]] ?[x] := {}", many(", ", &|_| "a[x]".into())),
        "atomsdiff" => format!("a[x] <- [[1]] ?[x0] := {}", many(", ", &|i| format!("a[x{i}]"))),
        "unify" => format!("?[x0] := {}", many(", ", &|i| format!("x{i} = {i}"))),
        "disj" => format!("a[x] <- [[1]] ?[x] := a[x], ({})", many(" or ", &|i| format!("x == {i}"))),
        "oror" => format!("a[x] <- [[1]] ?[x] := a[x], ({})", many(" || ", &|i| format!("x == {i}"))),
        "plus" => format!("?[x] := x = {}", many(" + ", &|_| "1".into())),
        "plusv" => format!("?[x] := y = 1, x = {}", many(" + ", &|_| "y".into())),
        "sub" => format!("?[x] := x = {}", many(" - ", &|_| "1".into())),
        "subv" => format!("?[x] := y = 1, x = {}", many(" - ", &|_| "y".into())),
        "subw" => format!("a[y] <- [[1],[2]] ?[x] := a[y], x = {}", many(" - ", &|_| "y".into())),
        "powv" => format!("?[x] := y = 1, x = {}", many(" ^ ", &|_| "y".into())),
        "bangv" => format!("?[x] := y = true, x = {}y", "!".repeat(n)),
        "joins" => format!("a[x,y] <- [[1,1]] ?[x0] := {}", many(", ", &|i| format!("a[x{i},x{}]", i + 1))),
        "magic" => format!("t[a,b] := e[a,b] t[a,c] := t[a,b], e[b,c] e[a,b] <- [[1,1]] ?[x0] := x0 = 1, {}", many(", ", &|i| format!("t[x{i},x{}]", i + 1))),
        "recatoms" => format!("e[a,b] <- [[1,1]] t[a,b] := e[a,b] t[x0,x{n}] := {} ?[x] := t[x,_]", many(", ", &|i| format!("t[x{i},x{}]", i + 1))),
        "long9" => format!("{} ?[x] := r0[x]", many(" ", &|i| format!("r{i}[x0] := {}", (0..9).map(|j| format!("e[x{j},x{}]", j+1)).collect::<Vec<_>>().join(","))) + " e[a,b] <- [[1,2]]") + &(1..n).map(|i| format!(" ?[x] := r{i}[x]")).collect::<String>(),
        "bang" => format!("?[x] := x = {}true", "!".repeat(n)),
        "minus" => format!("?[x] := x = {}1", "- ".repeat(n)),
        "pow" => format!("?[x] := x = {}", many(" ^ ", &|_| "1".into())),
        "cond" => format!("?[x] := y = 5, x = cond({}, true, 0)", many(", ", &|i| format!("y == {i}, {i}"))),
        "params" => format!("?[x] := x = [{}]", many(", ", &|i| format!("$p{i}"))),
        "blocks" => many(" ", &|i| format!("{{?[x] <- [[{i}]]}}")),
        "wide" => format!("?[{}] <- [[{}]] :create w {{{}}}", many(",", &|i| format!("c{i}")), many(",", &|i| format!("{i}")), many(",", &|i| format!("c{i}"))),
        "widev" => format!("w[{}] <- [[{}]] ?[{}] := w[{}]", many(",", &|i| format!("c{i}")), many(",", &|i| format!("{i}")), many(",", &|i| format!("c{i}")), many(",", &|i| format!("c{i}"))),
        "cross" => format!("?[a] := {}", many(", ", &|_| "(a = 1 or a = 2)".into())),
        "recs" => format!("{} ?[x] := {}", many(" ", &|i| format!("e{i}[x] := x = 1 e{i}[x] := e{i}[y], x = y + 1, x < 3")), "e0[x]") + &(1..n).map(|i| format!(" ?[x] := e{i}[x]")).collect::<String>(),
        "bigrec" => format!("r0[x] := x = 1 {} ?[x] := r0[x]", many(" ", &|i| format!("r{i}[x] := r{}[x]", (i + 1) % n))),
        "opts" => format!("?[x] <- [[1]] {}", many(" ", &|_| ":limit 1".into())),
        "string" => format!("?[x] := x = '{}'", "a".repeat(n)),
        "comment" => format!("?[x] := x = 1 /*{}*/", "a".repeat(n)),
        "blank" => format!("?[x] := {} x = 1", " ".repeat(n)),
        "neg" => format!("a[x] <- [[1]] ?[x] := a[x], {}", many(", ", &|i| format!("not (a[y{i}], y{i} == x, y{i} > 5)"))),
        "heads" => format!("a[x] <- [[1]] ?[{}] := a[x]", many(",", &|_| "x".into())),
        "fixed" => format!("e[a,b] <- [[1,2]] {} ?[x] := f0[x, _]", many(" ", &|i| format!("f{i}[a,b] <~ PageRank(e[])"))),
        "list" => format!("?[x] := x = [{}]", many(",", &|i| format!("{i}"))),
        "listv" => format!("?[x] := y = 1, x = [{}]", many(",", &|_| "y".into())),
        "concatv" => format!("?[x] := y = 'a', x = {}", many(" ++ ", &|_| "y".into())),
        "andv" => format!("?[x] := x = 1, {}", many(" && ", &|_| "x == 1".into())),
        "getv" => format!("?[x] := y = 1, x = y{}", " -> 1".repeat(n)),
        "coal" => format!("?[x] := y = null, x = {}", many(" ~ ", &|_| "y".into())),
        "indepth" => format!("?[x] := x = {}1{}", "[".repeat(n), "]".repeat(n)),
        "parens" => format!("?[x] := x = {}1{}", "(".repeat(n), ")".repeat(n)),
        "not" => format!("?[x] := x = 1, {} x == 2", "not ".repeat(n)),
        "iff" => format!("?[x] := x = {}1{}", "if(true, ".repeat(n), ")".repeat(n)),
        "stored" => format!(":create r {{a}}"),
        _ => panic!("{kind}"),
    }
}

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let (kind, n) = (args[1].as_str(), args[2].parse::<usize>().unwrap());
    let stack = args.get(3).map_or(8 << 20, |s| s.parse::<usize>().unwrap() << 10);
    let text = script(kind, n);
    let bytes = text.len();
    let work = move || {
        let db = DbInstance::default();
        let mut params = std::collections::BTreeMap::new();
        if kind_is_params(&text) { for i in 0..n { params.insert(format!("p{i}"), DataValue::from(i as i64)); } }
        let base = vm("VmHWM");
        let start = Instant::now();
        let parsed = cozo::parse::parse_script(&text);
        let parse = start.elapsed();
        let ok = match &parsed { Ok(_) => "ok".to_string(), Err(e) => e.to_string().chars().take(100).collect() };
        drop(parsed);
        let hwm = vm("VmHWM");
        let start = Instant::now();
        let outcome = db.run_script(&text, params.clone(), ScriptMutability::Mutable);
        let run = start.elapsed();
        let out = match &outcome { Ok(rows) => format!("{} rows", rows.rows.len()), Err(e) => cozo::render_report(e, false).lines().take(3).collect::<Vec<_>>().join(" ").chars().take(150).collect() };
        let start = Instant::now();
        let again = db.run_script(&text, params, ScriptMutability::Mutable);
        let second = start.elapsed();
        drop(again);
        println!("{bytes} bytes: parse {parse:?} ({ok}) peak +{} MB; run {run:?} peak +{} MB; again {second:?}: {out}", hwm - base, vm("VmHWM") - base);
    };
    std::thread::Builder::new().stack_size(stack).spawn(work).unwrap().join().unwrap();
}

fn kind_is_params(text: &str) -> bool { text.contains("$p0") }
