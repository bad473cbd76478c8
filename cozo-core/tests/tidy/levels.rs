//! The levels of modules: who may import whom.
//!
//! The modules of `src/` have levels, and so have the children of the folders in [`FOLDERS`]. Code imports from lower levels and from
//! its own module. `mod.rs` of such a folder declares, re-exports, and may import all of its children, so no child imports from it.

use super::{Complaints, Source, sources};

/// The modules of `src/`, from the lowest level up.
const ROOT: &[&[&str]] = &[
    &["allocator", "clock", "diag", "fork", "kernels", "sync"],
    &["budget", "threads"],
    &["value"],
    &["data_file", "text"],
    &["expr", "parse", "schema"],
    &["search", "storage"],
    &["replica"],
    &["legacy", "spill", "txn"],
    &["fixed_rule", "index"],
    &["program"],
    &["plan"],
    &["exec"],
    &["session"],
];

/// Folders of `src/` with the levels of their children, from the lowest up.
const FOLDERS: &[(&str, &[&[&str]])] = &[
    (
        "exec",
        &[
            &["error", "piece", "profile", "thresholds"],
            &["index", "sorting"],
            &["rows", "rowset"],
            &["run"],
            &["access", "sink"],
            &["operators", "row"],
            &["driver", "write"],
        ],
    ),
    (
        "exec/access",
        &[
            &["stored", "tables"],
            &["all_rows", "build_side", "ordered_scan"],
            &["lookup_counter", "pairs"],
            &["sorted_lists"],
        ],
    ),
    (
        "exec/driver",
        &[
            &["build_parts", "fixed", "groups", "ordered"],
            &["rule"],
            &["stages"],
            &["fixpoint"],
            &["rounds_on_disk"],
            &["recursion"],
            &["evaluate"],
            &["answer"],
        ],
    ),
    (
        "index/search",
        &[
            &["error", "hits", "thresholds"],
            &["extractor"],
            &["rows", "text_content", "vector_content"],
            &["segment"],
            &["cache", "segments"],
            &["view"],
            &["duplicates", "listing", "texts", "vectors"],
            &["follow", "seal"],
            &["verify"],
        ],
    ),
    (
        "exec/index",
        &[&["max_tree", "packed_key", "scale"], &["clustered_rows"], &["hash_index"], &["cache", "ordered_rows"]],
    ),
    ("exec/sorting", &[&["compare"], &["in_memory"], &["order"], &["merge"], &["runs"], &["partitions"]]),
    ("exec/rowset", &[&["int_set"], &["row_set"], &["table"], &["grouping", "int_collector", "seen", "top_k"]]),
    (
        "search/postings",
        &[
            &["thresholds", "varint", "words"],
            &["fronts", "places", "scorer"],
            &["best", "blocks"],
            &["cursor"],
            &["index"],
            &["builder", "bytes", "merge", "phrases"],
            &["deletions"],
            &["live"],
            &["leaves"],
            &["nodes"],
            &["windows"],
            &["search"],
        ],
    ),
    (
        "search/vectors",
        &[
            &["order", "scratch", "thresholds", "watch"],
            &["codes", "graph", "metric", "rows", "ways"],
            &["options", "space"],
            &["twins", "walk"],
            &["build", "filtered"],
            &["index"],
            &["bytes", "inspect", "merge", "search"],
        ],
    ),
    (
        "session",
        &[
            &["error", "follower", "running", "script"],
            &["portable", "results"],
            &["events", "transfer"],
            &["backup", "opening", "sealer"],
            &["core"],
            &["filling", "run"],
            &["sys"],
            &["api"],
        ],
    ),
    (
        "session/portable",
        &[&["error"], &["encoding", "sizes"], &["expression"], &["groups", "operators", "rows"], &["document"]],
    ),
    (
        "session/api",
        &[
            &["expressions", "multi", "simple_rule"],
            &["db"],
            &[
                "backups",
                "check",
                "counted",
                "engine",
                "extensions",
                "graph",
                "json",
                "plan_json",
                "relations",
                "shared",
                "statement",
            ],
        ],
    ),
    ("session/backup", &[&["error", "progress"], &["file"], &["restore", "write"]]),
    ("session/events", &[&["callbacks", "debug", "triggers"], &["elsewhere"], &["shared_changes"], &["hooks"]]),
    ("session/results", &[&["rows"], &["columns", "reader"], &["stream"]]),
    ("session/run", &[&["carry", "context"], &["query"], &["imperative"]]),
    ("session/script", &[&["cached_ref", "statistics"], &["compile"], &["query_cache"], &["statements"], &["cache"]]),
    (
        "session/sys",
        &[
            &["column_error", "in_place", "index_error", "shared"],
            &["online", "options"],
            &["searches"],
            &["explain", "indices", "metadata", "process", "triggers"],
            &["columns", "relations"],
            &["operations"],
        ],
    ),
    (
        "storage",
        &[
            &["content_version", "error", "folders", "key", "lost", "range", "shape"],
            &["codec", "content_cache", "cursor", "log_mark", "options"],
            &["changes"],
            &["column_tree"],
            &["traits"],
            &["as_of", "copy", "mem"],
            &["overlay"],
            &["cache", "commit_log", "kv", "sqlite"],
            &["rocksdb"],
            &["engines"],
        ],
    ),
    ("storage/cache", &[&["cursor", "slot"], &["load"]]),
    (
        "storage/codec",
        &[&["kind", "reader"], &["ordered"], &["any", "bounds"], &["key"], &["value"], &["batch", "rows"]],
    ),
    (
        "storage/kv",
        &[
            &["keys"],
            &["engine", "probes"],
            &["catalog", "lookup", "scan"],
            &["as_of"],
            &["snapshot"],
            &["append", "partition", "write"],
            &["storage"],
        ],
    ),
    (
        "storage/column_tree",
        &[
            &["heap", "limits", "loads", "search"],
            &["buffer"],
            &["nulls", "shared"],
            &["int_column", "plain_column", "text_column", "vector_column"],
            &["leaf_column"],
            &["changes", "columns"],
            &["leaf"],
            &["node"],
            &["finger", "rebalance"],
            &["apply", "prefetch"],
            &["cursor"],
            &["as_of"],
            &["tree"],
            &["leaf_directory"],
        ],
    ),
    (
        "txn",
        &[
            &["catalog", "error", "keys", "sync", "written"],
            &["versions"],
            &["commit", "ephemeral"],
            &["view", "writes"],
            &["transaction"],
            &["definitions"],
        ],
    ),
    ("replica", &[&["error"], &["entry"], &["state"], &["checkpoint"], &["start"], &["history"]]),
    (
        "txn/commit",
        &[
            &["observer", "request"],
            &["history", "turns", "write_batcher"],
            &["pipeline"],
            &["alone", "filler", "replicated"],
        ],
    ),
    ("txn/versions", &[&["version"], &["current"], &["active"]]),
];

fn level_of(levels: &[&[&str]], module: &str) -> Option<usize> {
    levels.iter().position(|modules| modules.contains(&module))
}

/// The length of the name that the text begins with.
fn name_end(text: &str) -> usize {
    text.find(|c: char| c != '_' && !c.is_ascii_alphanumeric()).unwrap_or(text.len())
}

/// The code of a file as one text. Remarks, and the tests at the end, are blank lines.
fn code_of(source: &Source) -> String {
    let mut lines = vec![""; source.tests_from];
    source.code().for_each(|(line, text)| lines[line - 1] = text);
    lines.join("\n")
}

/// Adds the paths that the text begins with, below `path`: one, or those of a list in braces. Returns the number of bytes read.
fn add_paths(text: &str, path: &[String], found: &mut Vec<Vec<String>>) -> usize {
    let Some(list) = text.strip_prefix('{') else {
        let end = if text.starts_with('*') { 1 } else { name_end(text) };
        let mut path = path.to_vec();
        match &text[..end] {
            "self" | "" => {}
            "super" => drop(path.pop()),
            name => path.push(name.to_string()),
        }
        return match text[end..].strip_prefix("::") {
            Some(rest) => end + 2 + add_paths(rest, &path, found),
            None => {
                found.push(path);
                end
            }
        };
    };
    let mut at = 0;
    loop {
        at += list[at..].find(|c: char| c != ',' && !c.is_whitespace()).unwrap_or(list.len() - at);
        if at >= list.len() || list[at..].starts_with('}') {
            return at + 2;
        }
        let read = add_paths(&list[at..], path, found);
        if read == 0 {
            return at + 1;
        }
        at += read;
        at += list[at..].find([',', '}']).unwrap_or(list.len() - at);
    }
}

/// The path of the module that a file holds, from `src/` on.
fn module_path(file: &str) -> Vec<String> {
    let path = file.trim_end_matches(".rs").trim_end_matches("/mod");
    path.split('/').filter(|name| *name != "lib").map(str::to_string).collect()
}

fn is_word_start(code: &str, at: usize) -> bool {
    !code[..at].ends_with(|c: char| c == '_' || c.is_ascii_alphanumeric())
}

/// The module within the file, `mod name { .. }`, that the code at `at` is in. The code is formatted.
fn inline_module(code: &str, at: usize) -> Option<&str> {
    let (start, text) = code[..at].match_indices("mod ").filter(|(at, _)| is_word_start(code, *at)).last()?;
    let rest = &code[start + text.len()..];
    let name = &rest[..name_end(rest)];
    let is_open = rest[name.len()..].starts_with(" {") && !code[start..at].contains("\n}");
    is_open.then_some(name)
}

/// All paths from `src/` on that code names by `crate::` or `super::`, with their lines.
fn named_paths(module: &[String], code: &str) -> Vec<(usize, Vec<String>)> {
    let mut all = vec![];
    for word in ["crate::", "super::", "pub(in crate::"] {
        for (at, _) in code.match_indices(word) {
            let before = code[..at].chars().next_back();
            let goes_on = before.is_some_and(|c| c == ':' || c == '_' || c == '$' || c.is_ascii_alphanumeric());
            if goes_on || (word == "crate::" && code[..at].ends_with("pub(in ")) {
                continue;
            }
            let mut found = vec![];
            match word {
                "crate::" => add_paths(&code[at + word.len()..], &[], &mut found),
                "super::" => {
                    let module: Vec<String> =
                        module.iter().cloned().chain(inline_module(code, at).map(str::to_string)).collect();
                    add_paths(&code[at..], &module, &mut found)
                }
                _ => 0,
            };
            let line = code[..at].matches('\n').count() + 1;
            all.extend(found.into_iter().map(|path| (line, path)));
        }
    }
    all
}

fn check(source: &Source, folder: &[String], levels: &[&[&str]], complaints: &mut Complaints) {
    let module = module_path(&source.path);
    let Some(child) = module.get(folder.len()).filter(|_| module.starts_with(folder)) else { return };
    let Some(level) = level_of(levels, child) else {
        let place = if folder.is_empty() { "src".to_string() } else { folder.join("/") };
        return complaints.add(source, 1, format!("give '{child}' a level in '{place}' in tests/tidy/levels.rs"));
    };
    for (line, path) in named_paths(&module, &code_of(source)) {
        let Some(other) = path.get(folder.len()).filter(|other| path.starts_with(folder) && *other != child) else {
            continue;
        };
        match level_of(levels, other) {
            Some(lower) if lower < level => {}
            Some(higher) => {
                let mend = "move what is shared to a lower level, or pass it in";
                complaints.add(
                    source,
                    line,
                    format!("'{child}' (level {level}) must not use '{other}' (level {higher}): {mend}"),
                );
            }
            None => complaints.add(source, line, format!("import '{other}' from the module that defines it")),
        }
    }
}

#[test]
fn modules_import_lower_levels_only() {
    let mut complaints = Complaints::default();
    let (mut checked, folders) = (0, FOLDERS.iter().chain([&("", ROOT)]));
    for (folder, levels) in folders {
        let folder: Vec<String> = folder.split('/').filter(|name| !name.is_empty()).map(str::to_string).collect();
        for source in sources().iter().filter(|source| source.path != "lib.rs" && !source.is_test) {
            checked += 1;
            check(source, &folder, levels, &mut complaints);
        }
    }
    assert!(checked > 200, "the sources are where this test looks for them");
}

#[test]
fn paths_are_found_in_code() {
    let table: [(&str, &[&str]); 11] = [
        ("use crate::value::{DataValue, Tuple};", &["value/DataValue", "value/Tuple"]),
        (
            "use crate::{\n    value::Tuple,\n    diag::{self, SourceSpan},\n};",
            &["value/Tuple", "diag", "diag/SourceSpan"],
        ),
        ("fn f(span: crate::diag::SourceSpan) -> crate::expr::Expr {", &["diag/SourceSpan", "expr/Expr"]),
        ("pub(crate) fn f() {}", &[]),
        ("pub(in crate::parse) fn f() {}", &[]),
        ("use other_crate::value;", &[]),
        ("$crate::value::of()", &[]),
        ("use super::{leaf::{A, B}, tree};", &["exec/leaf/A", "exec/leaf/B", "exec/tree"]),
        ("super::super::value::of()", &["value/of"]),
        ("use super::*;", &["exec/*"]),
        ("mod inner {\n    use super::Sink;\n}", &["exec/sink/Sink"]),
    ];
    let module = ["exec", "sink"].map(str::to_string);
    for (code, expected) in table {
        let found: Vec<String> = named_paths(&module, code).into_iter().map(|(_, path)| path.join("/")).collect();
        assert_eq!(found, expected, "{code}");
    }
}
