//! Running one case against a fresh database.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, mpsc};
use std::time::Duration;

use base64::Engine as _;
use cozo::{DataValue, DbInstance, JsonData, MultiTransaction, NamedRows, Num, ScriptMutability, format_error_as_json};
use serde_json::{Value, json};

use crate::case::{Case, Step};
use crate::engines::Setting;

/// How long a case may take.
const TIME_LIMIT: Duration = Duration::from_secs(60);

/// What a step came to.
pub enum Outcome {
    /// `{"headers", "rows", "next"?}`, with bytes and the floats that JSON lacks as objects.
    Answer(Value),
    /// An error, as the API renders it, and under `script` the script that was run.
    Error(Value),
    /// A panic, or no answer within the limit.
    Crash(String),
}

/// The outcomes of the steps of a case; it ends with a crash.
pub fn run_case(case: &Case, setting: &Setting) -> Vec<Outcome> {
    let scratch = Scratch::new();
    let mut database = Database::open(setting, &scratch.path);
    let mut outcomes = Vec::new();
    for step in &case.steps {
        let outcome = run_limited(&mut database, step, &scratch.path);
        let crashed = matches!(outcome, Outcome::Crash(_));
        outcomes.push(outcome);
        if crashed {
            break;
        }
    }
    outcomes
}

/// Runs a step on a thread of its own, so that a hang costs one case.
fn run_limited(database: &mut Database, step: &Step, scratch: &Path) -> Outcome {
    let (sender, receiver) = mpsc::channel();
    let (mut working, step, scratch) = (database.clone(), step.clone(), scratch.to_path_buf());
    std::thread::spawn(move || {
        let outcome = catch_unwind(AssertUnwindSafe(|| working.run(&step, &scratch)));
        let outcome = outcome.unwrap_or_else(|panic| {
            let text = panic.downcast_ref::<String>().cloned();
            Outcome::Crash(text.or(panic.downcast_ref::<&str>().map(ToString::to_string)).unwrap_or_default())
        });
        // The receiver is gone if the time was over.
        let _ = sender.send((outcome, working));
    });
    match receiver.recv_timeout(TIME_LIMIT) {
        Ok((outcome, after)) => {
            *database = after;
            outcome
        }
        Err(_) => {
            database.handle.interrupt_all();
            Outcome::Crash(format!("no answer within {} s", TIME_LIMIT.as_secs()))
        }
    }
}

#[derive(Clone)]
struct Database {
    handle: DbInstance,
    /// The transactions held open, by name.
    transactions: BTreeMap<String, Arc<MultiTransaction>>,
}

impl Database {
    fn open(setting: &Setting, scratch: &Path) -> Database {
        let handle = setting.open(scratch).expect("the engine opens");
        Database { handle, transactions: BTreeMap::new() }
    }

    fn run(&mut self, step: &Step, scratch: &Path) -> Outcome {
        let place = scratch.to_string_lossy();
        let script = step.script.replace("{{TMP}}", &place);
        let result = match &step.op {
            Some(op) => self.call(op, step, &script, scratch),
            None => self.run_script(step, &script),
        };
        match result {
            Ok(answer) => Outcome::Answer(answer),
            Err(error) => {
                let mut error = format_error_as_json(error, Some(&script));
                error["script"] = script.into();
                Outcome::Error(error)
            }
        }
    }

    fn run_script(&self, step: &Step, script: &str) -> miette::Result<Value> {
        let mutability = if step.has("immutable") { ScriptMutability::Immutable } else { ScriptMutability::Mutable };
        if !step.plan.is_empty() {
            self.check_plan(step, script)?;
        }
        Ok(encode_rows(self.handle.run_script(script, parameters(step), mutability)?))
    }

    /// Panics if `::explain` does not name what the step asks for.
    fn check_plan(&self, step: &Step, script: &str) -> miette::Result<()> {
        let explain = format!("::explain {{ {script} }}");
        let plan = self.handle.run_script(&explain, parameters(step), ScriptMutability::Immutable)?;
        let (operator, said) = (|row: &[DataValue]| row[4].clone(), |row: &[DataValue]| row[7].clone());
        let names = plan.rows.iter().flat_map(|row| {
            let said = said(row).get_slice().unwrap_or_default().to_vec();
            said.into_iter().chain([operator(row)]).filter_map(|name| Some(name.get_str()?.replace(' ', "_")))
        });
        let names: Vec<String> = names.collect();
        let missing: Vec<&String> = step.plan.iter().filter(|name| !names.contains(name)).collect();
        assert!(missing.is_empty(), "the plan lacks {missing:?}, it has {names:?}");
        Ok(())
    }

    /// Does what `op=` asks for.
    fn call(&mut self, op: &str, step: &Step, script: &str, scratch: &Path) -> miette::Result<Value> {
        let arg = substitute(&step.arg, &scratch.to_string_lossy());
        let text = |value: &Value| PathBuf::from(value.as_str().expect("the argument is a path"));
        let names = |value: &Value| -> Vec<String> {
            let names = value.as_array().expect("the argument lists relations").iter();
            names.map(|name| name.as_str().expect("a relation is text").to_string()).collect()
        };
        let held = step.name.clone().unwrap_or_default();
        let transaction = || self.transactions.get(&held).expect("a transaction was begun").clone();
        match op {
            "begin" => {
                self.transactions.insert(held, Arc::new(self.handle.multi_transaction(step.has("write"))));
            }
            "txrun" => return Ok(encode_rows(transaction().run_script(script, parameters(step))?)),
            "commit" => transaction().commit()?,
            "abort" => transaction().abort()?,
            "file" => {
                let name = step.name.as_deref().expect("a file has a name");
                std::fs::write(scratch.join(name), script).expect("the scratch folder can be written");
            }
            "import" => self.handle.import_relations(import_data(&arg))?,
            "export" => return Ok(export_rows(self.handle.export_relations(names(&arg).iter())?)),
            "backup" => self.handle.backup_db(text(&arg))?,
            "restore" => self.handle.restore_backup(text(&arg))?,
            "import_from_backup" => self.handle.import_from_backup(text(&arg[0]), &names(&arg[1]))?,
            "reopen" => self.handle = DbInstance::default(),
            other => panic!("there is no call '{other}'"),
        }
        Ok(json!({"headers": [], "rows": []}))
    }
}

/// The parameters of a step by name.
fn parameters(step: &Step) -> BTreeMap<String, DataValue> {
    step.params.as_object().into_iter().flatten().map(|(name, value)| (name.clone(), decode(value))).collect()
}

/// The data of an import as the API takes it.
fn import_data(arg: &Value) -> BTreeMap<String, NamedRows> {
    let relations = arg.as_object().expect("an import names relations");
    let convert = |data: &Value| {
        let headers = data["headers"].as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_string);
        let row = |row: &Value| row.as_array().into_iter().flatten().map(decode).collect();
        NamedRows::new(headers.collect(), data["rows"].as_array().into_iter().flatten().map(row).collect())
    };
    relations.iter().map(|(name, data)| (name.clone(), convert(data))).collect()
}

/// An export as rows: relation, headers, rows.
fn export_rows(exported: BTreeMap<String, NamedRows>) -> Value {
    let rows = exported.into_iter().map(|(name, data)| {
        let data = encode_rows(data);
        json!([name, data["headers"], data["rows"]])
    });
    json!({"headers": ["relation", "headers", "rows"], "rows": rows.collect::<Vec<_>>()})
}

fn encode_rows(data: NamedRows) -> Value {
    let rows: Vec<Value> = data.rows.iter().map(|row| row.iter().map(encode).collect()).collect();
    let mut answer = json!({"headers": data.headers, "rows": rows});
    if let Some(next) = data.next {
        answer["next"] = encode_rows(*next);
    }
    answer
}

/// A value as the answers write it.
fn encode(value: &DataValue) -> Value {
    match value {
        DataValue::Num(Num::Float(float)) => encode_float(*float),
        DataValue::Bytes(bytes) => json!({"$bytes": base64::engine::general_purpose::STANDARD.encode(bytes)}),
        DataValue::List(items) => items.iter().map(encode).collect(),
        DataValue::Set(items) => items.iter().map(encode).collect(),
        DataValue::Vec(vector) => vector.to_f64().into_iter().map(encode_float).collect(),
        other => Value::from(other.clone()),
    }
}

fn encode_float(float: f64) -> Value {
    let name = match float {
        f64::INFINITY => "inf",
        f64::NEG_INFINITY => "-inf",
        _ if float.is_nan() => "nan",
        _ => return json!(float),
    };
    json!({"$float": name})
}

/// A value written in a case file.
fn decode(value: &Value) -> DataValue {
    match value {
        Value::Array(items) => DataValue::List(items.iter().map(decode).collect()),
        Value::Object(object) => match object.iter().next() {
            Some((key, Value::String(text))) if object.len() == 1 && key == "$bytes" => {
                let bytes = base64::engine::general_purpose::STANDARD.decode(text);
                DataValue::Bytes(bytes.expect("bytes are written as base64"))
            }
            Some((key, Value::String(text))) if object.len() == 1 && key == "$float" => {
                DataValue::from(text.parse::<f64>().expect("a float is a number, inf or nan"))
            }
            _ => DataValue::Json(JsonData(value.clone())),
        },
        scalar => DataValue::from(scalar),
    }
}

/// The argument of a call with the scratch folder in place.
fn substitute(value: &Value, scratch: &str) -> Value {
    match value {
        Value::String(text) => text.replace("{{TMP}}", scratch).into(),
        Value::Array(items) => items.iter().map(|item| substitute(item, scratch)).collect(),
        Value::Object(object) => {
            object.iter().map(|(key, value)| (key.replace("{{TMP}}", scratch), substitute(value, scratch))).collect()
        }
        other => other.clone(),
    }
}

/// The temporary folder of a case.
struct Scratch {
    path: PathBuf,
}

impl Scratch {
    fn new() -> Scratch {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("cozo-conformance-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&path).expect("a temporary folder can be made");
        Scratch { path }
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What is left behind does no harm.
        let _ = std::fs::remove_dir_all(&self.path);
    }
}
