//! The result of `::explain` as a tree: below each rule its operators, each above the one that feeds it.
//!
//! ```text
//! ?[y] := p[x, y], gt(x, 0)
//! └── out _1
//!     └── filter gt(_0, 0)
//!         └── load_mem p: _0 -> _0, _1 -> _1
//! ```

use std::time::Duration;

use cozo::{DataValue, NamedRows};

use crate::output;

/// The headers by which a result is known.
const HEADERS: [&str; 9] =
    ["stratum", "rule_idx", "rule", "atom_idx", "op", "ref", "joins_on", "filters/expr", "out_relation"];

/// Whether it is a result of `::explain`.
pub fn is_plan(rows: &NamedRows) -> bool {
    rows.headers.iter().map(String::as_str).take(HEADERS.len()).eq(HEADERS)
}

/// The tree of a result of `::explain`.
pub fn tree(rows: &NamedRows) -> String {
    let mut lines = vec![];
    let mut before: Option<&[DataValue]> = None;
    let mut depth = 0;
    for row in &rows.rows {
        if before.is_none_or(|before| before[0] != row[0]) {
            lines.push(format!("stratum {}", row[0]));
        }
        // Relations that are written out, and those of algorithms, have one row each.
        if before.is_none_or(|before| before[..3] != row[..3] || row[4].get_str() == Some("algo")) {
            lines.push(text(&row[2]));
            depth = 0;
        }
        lines.push(format!("{}└── {}", "    ".repeat(depth), operator(rows, row)));
        depth += 1;
        before = Some(row);
    }
    lines.join("\n")
}

/// An operator with what it reads, how it joins, and what it computes.
fn operator(rows: &NamedRows, row: &[DataValue]) -> String {
    let mut line = text(&row[4]);
    if row[5] != DataValue::Null {
        line = format!("{line} {}", text(&row[5]));
    }
    let (joins, computes) = (list(&row[6]), list(&row[7]));
    if !joins.is_empty() {
        line = format!("{line} on {joins}");
    }
    match (computes.is_empty(), row[5] == DataValue::Null) {
        (true, _) => {}
        (false, true) => line = format!("{line} {computes}"),
        (false, false) => line = format!("{line}: {computes}"),
    }
    let measured =
        rows.headers.iter().zip(row).skip(HEADERS.len()).filter_map(|(header, value)| measure(header, value));
    let measured = measured.collect::<Vec<_>>().join(", ");
    if measured.is_empty() { line } else { format!("{line}  ({measured})") }
}

/// What `::explain analyze` has counted.
fn measure(header: &str, value: &DataValue) -> Option<String> {
    let number = |value: i64| usize::try_from(value).unwrap_or_default();
    match (header, value) {
        (_, DataValue::Null) => None,
        ("rows", rows) => Some(output::count(number(rows.get_int()?), "row")),
        ("batches", batches) => {
            batches.get_int().filter(|batches| *batches > 1).map(|batches| format!("{batches} batches"))
        }
        ("seconds", seconds) => Some(output::duration(Duration::try_from_secs_f64(seconds.get_float()?).ok()?)),
        ("estimate", rows) => Some(format!("{} estimated", output::count(number(rows.get_int()?), "row"))),
        (_, other) => Some(text(other)),
    }
}

/// Strings as they are.
fn text(value: &DataValue) -> String {
    value.get_str().map_or_else(|| value.to_string(), str::to_string)
}

fn list(value: &DataValue) -> String {
    value.get_slice().unwrap_or_default().iter().map(text).collect::<Vec<_>>().join(", ")
}
