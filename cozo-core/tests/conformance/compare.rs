//! Comparing what a step came to with what is expected.

use std::sync::LazyLock;

use regex::Regex;
use serde_json::Value;

use crate::case::Step;
use crate::run::Outcome;

/// The relative tolerance of floats if a step does not say.
const DEFAULT_TOLERANCE: f64 = 1e-9;

/// How the outcome differs; nothing if it does not.
pub fn differences(step: &Step, outcome: &Outcome) -> Vec<String> {
    if step.has("nocheck") {
        return Vec::new();
    }
    let error_expected = step.expected["error"] == true;
    match outcome {
        Outcome::Crash(text) => vec![format!("it crashed: {text}")],
        Outcome::Error(error) => error_differences(step, error, error_expected),
        Outcome::Answer(answer) if error_expected => vec![format!("expected an error, got {}", answer["rows"])],
        Outcome::Answer(_) if step.has("ok") => Vec::new(),
        Outcome::Answer(answer) => answer_differences(step, &step.expected, answer),
    }
}

fn error_differences(step: &Step, error: &Value, error_expected: bool) -> Vec<String> {
    let code = error["code"].as_str().unwrap_or("no code");
    let text = format!("{} [{code}]", error["message"].as_str().unwrap_or_default());
    match step.expected["code"].as_str() {
        _ if !error_expected => vec![format!("expected success, got an error: {text}")],
        Some(expected) if step.has("code") && code != expected => {
            vec![format!("expected an error with the code {expected}, got {text}")]
        }
        _ => Vec::new(),
    }
}

fn answer_differences(step: &Step, expected: &Value, got: &Value) -> Vec<String> {
    if expected["headers"] != got["headers"] {
        return vec![format!("headers: expected {}, got {}", expected["headers"], got["headers"])];
    }
    if step.has("headers") {
        return Vec::new();
    }
    let lines = row_differences(step, &rows(expected), &rows(got));
    if !lines.is_empty() || step.has("count") {
        return lines;
    }
    match (expected.get("next"), got.get("next")) {
        (None, _) => Vec::new(),
        (Some(_), None) => vec!["expected a further result (next), got none".to_string()],
        (Some(expected), Some(got)) => answer_differences(step, expected, got),
    }
}

fn rows(answer: &Value) -> Vec<Value> {
    answer["rows"].as_array().cloned().unwrap_or_default()
}

fn row_differences(step: &Step, expected: &[Value], got: &[Value]) -> Vec<String> {
    if expected.len() != got.len() {
        let mut lines = vec![format!("expected {} rows, got {}", expected.len(), got.len())];
        let beside = |rows: &[Value], others: &[Value], word: &str| -> Vec<String> {
            let others: Vec<String> = others.iter().map(sort_key).collect();
            let beside = rows.iter().filter(|row| !others.contains(&sort_key(row)));
            beside.take(20).map(|row| format!("{word} {row}")).collect()
        };
        lines.extend(beside(expected, got, "missing:"));
        lines.extend(beside(got, expected, "extra:  "));
        return lines;
    }
    if step.has("count") {
        return Vec::new();
    }
    let alike = Likeness { tolerance: step.tolerance.unwrap_or(DEFAULT_TOLERANCE), loose: step.has("loosenum") };
    let (mut expected, mut got) = (prepare(step, expected), prepare(step, got));
    let ordered = order_matters(step);
    if !ordered {
        expected.sort_by_cached_key(sort_key);
        got.sort_by_cached_key(sort_key);
    }
    let mut pairs: Vec<(Value, Value)> =
        expected.into_iter().zip(got).filter(|(expected, got)| !alike.values(expected, got)).collect();
    if !ordered && pairs.len() <= 300 {
        pairs = unmatched(pairs, &alike);
    }
    pairs
        .into_iter()
        .flat_map(|(expected, got)| [format!("expected: {expected}"), format!("got:      {got}")])
        .collect()
}

/// Rows that sorting put beside different ones may still have a partner within the tolerance.
fn unmatched(pairs: Vec<(Value, Value)>, alike: &Likeness) -> Vec<(Value, Value)> {
    let (expected, mut got): (Vec<Value>, Vec<Value>) = pairs.into_iter().unzip();
    let mut left = Vec::new();
    for row in expected {
        match got.iter().position(|other| alike.values(&row, other)) {
            Some(at) => {
                got.remove(at);
            }
            None => left.push(row),
        }
    }
    left.into_iter().zip(got).collect()
}

/// The rows without the ignored columns, and with the lists in bag columns sorted.
fn prepare(step: &Step, rows: &[Value]) -> Vec<Value> {
    let column = |(i, value): (usize, &Value)| match value {
        _ if step.ignored_columns.contains(&i) => None,
        Value::Array(items) if step.bag_columns.contains(&i) => {
            let mut items = items.clone();
            items.sort_by_cached_key(sort_key);
            Some(Value::Array(items))
        }
        other => Some(other.clone()),
    };
    rows.iter().map(|row| row.as_array().into_iter().flatten().enumerate().filter_map(column).collect()).collect()
}

/// Whether the order of the rows counts: if the script sorts them, unless the step says otherwise.
fn order_matters(step: &Step) -> bool {
    static SORTS: LazyLock<Regex> = LazyLock::new(|| Regex::new(r":(order|sort)\b").expect("the pattern is fine"));
    step.has("exact") || !step.has("set") && SORTS.is_match(&step.script)
}

/// A text that sorts rows alike on both sides: floats are cut to six digits, an Int is its float.
fn sort_key(value: &Value) -> String {
    match value {
        Value::Number(number) => format!("{:.5e}", number.as_f64().unwrap_or(f64::NAN)),
        Value::Array(items) => format!("[{}]", items.iter().map(sort_key).collect::<Vec<_>>().join(",")),
        Value::Object(object) => {
            let pairs: Vec<String> = object.iter().map(|(key, value)| format!("{key}:{}", sort_key(value))).collect();
            format!("{{{}}}", pairs.join(","))
        }
        other => other.to_string(),
    }
}

/// When two values count as the same.
struct Likeness {
    tolerance: f64,
    /// Whether 1 and 1.0 are alike.
    loose: bool,
}

impl Likeness {
    fn values(&self, expected: &Value, got: &Value) -> bool {
        match (expected, got) {
            (Value::Number(a), Value::Number(b)) => match (a.as_i64(), b.as_i64()) {
                (Some(a), Some(b)) => a == b,
                _ if a.is_f64() != b.is_f64() && !self.loose => false,
                _ => self.floats(a.as_f64().unwrap_or(f64::NAN), b.as_f64().unwrap_or(f64::NAN)),
            },
            (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| self.values(a, b)),
            (Value::Object(a), Value::Object(b)) => {
                a.len() == b.len() && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| self.values(a, b)))
            }
            _ => expected == got,
        }
    }

    fn floats(&self, a: f64, b: f64) -> bool {
        let absolute = if self.tolerance <= DEFAULT_TOLERANCE { self.tolerance * 1e-3 } else { self.tolerance };
        a == b || (a - b).abs() <= (self.tolerance * a.abs().max(b.abs())).max(absolute)
    }
}
