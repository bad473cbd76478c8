//! Runs a case in a process of its own, which tells its figures as a line of JSON.
//!
//! The process loads the data, notes the memory that it holds, has the peak counted anew, and runs the script. The peak
//! above what was held before is what the query took, indexes and new relations included.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Command;
use std::time::Instant;

use cozo::{DataValue, DbInstance, ScriptMutability};
use serde_json::{Map, Value, json};

use super::queries::{Case, find};
use super::{Inputs, Scale};
use crate::memory::{Memory, memory, reset_peak};
use crate::settings::setting;

/// The first argument of a process that runs one case.
pub const ARGUMENT: &str = "run-one-case";

/// What a run took.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// How long the script took, in seconds.
    pub seconds: f64,
    /// What the process held before the script, in megabytes. Memory is 0 where the system does not tell.
    pub data_mb: f64,
    /// What it held at most above that, with indexes and the new relation of the script.
    pub peak_mb: f64,
    /// The integers of the answer, one row after another.
    pub answer: Vec<i64>,
}

/// Loads the data of a case and runs its script in this process. The query may use so many megabytes, or what is the
/// default of the database, and so many seconds.
pub fn run(case: &Case, inputs: &Inputs, limit_mb: Option<u64>, seconds: u64) -> Result<Run, String> {
    let db = DbInstance::new("mem", "", &options(limit_mb)?).map_err(|error| format!("{error:?}"))?;
    (case.load)(&db, inputs)?;
    let ask = |script: &str| {
        let script = format!("{script}\n:timeout {seconds}");
        let half = BTreeMap::from([("half".to_string(), DataValue::from((inputs.sizes.rows / 2) as i64))]);
        db.run_script(&script, half, ScriptMutability::Mutable).map_err(|error| format!("{error:?}"))
    };
    reset_peak();
    let held = || memory().unwrap_or(Memory { now_mb: 0.0, peak_mb: 0.0 });
    let (data_mb, start) = (held().now_mb, Instant::now());
    let mut answer = ask(case.script)?;
    let (seconds, peak_mb) = (start.elapsed().as_secs_f64(), held().peak_mb);
    if let Some(check) = case.check {
        answer = ask(check)?;
    }
    // Sums are floats.
    let integer = |value: &DataValue| value.get_float().map(|number| number as i64);
    let answer = answer.rows.iter().flatten().map(integer).collect::<Option<_>>().ok_or("no numbers")?;
    Ok(Run { seconds, data_mb, peak_mb: peak_mb - data_mb, answer })
}

/// `COZO_BENCH_OPTIONS` with the limit.
fn options(limit_mb: Option<u64>) -> Result<String, String> {
    let text = setting("OPTIONS").unwrap_or("{}".to_string());
    let mut options: Map<String, Value> =
        serde_json::from_str(&text).map_err(|error| format!("COZO_BENCH_OPTIONS is no JSON object: {error}"))?;
    if let Some(limit) = limit_mb {
        options.insert("query_memory_mb".to_string(), json!(limit));
    }
    Ok(Value::Object(options).to_string())
}

/// What [`spawn`] gives to another process.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The scale of the data.
    pub scale: Scale,
    /// Where the files of the social network are.
    pub folder: PathBuf,
    /// The seconds after which a query is stopped.
    pub seconds: u64,
    /// The threads that a query may use.
    pub threads: usize,
}

impl Settings {
    /// What the cases are made from.
    pub fn inputs(&self) -> Inputs {
        Inputs::new(self.scale, &self.folder)
    }
}

/// Runs a case in a new process, with a limit in megabytes or none. The error is that of the query, or that of the process.
pub fn spawn(case: &Case, settings: &Settings, limit_mb: Option<u64>) -> Result<Run, String> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let Settings { scale, folder, seconds, threads } = settings;
    let mut command = Command::new(program);
    command.arg(ARGUMENT).arg(case.name).arg(scale.0.to_string()).arg(folder);
    command.args([*seconds, *threads as u64, limit_mb.unwrap_or(0)].map(|number| number.to_string()));
    command.stderr(std::process::Stdio::inherit());
    let output = command.output().map_err(|error| format!("the process does not start: {error}"))?;
    let line: Value =
        serde_json::from_slice(&output.stdout).map_err(|_| format!("the process ended with {}", output.status))?;
    if let Some(error) = line["error"].as_str() {
        return Err(error.to_string());
    }
    let number = |name: &str| line[name].as_f64().ok_or_else(|| format!("the process does not tell '{name}'"));
    Ok(Run {
        seconds: number("seconds")?,
        data_mb: number("data_mb")?,
        peak_mb: number("peak_mb")?,
        answer: line["answer"].as_array().into_iter().flatten().filter_map(Value::as_i64).collect(),
    })
}

/// What a process does whose arguments are those of [`spawn`]: it prints the line. Nothing if the arguments are others.
pub fn run_asked() -> Option<Result<(), String>> {
    let mut arguments = std::env::args().skip(1);
    (arguments.next()? == ARGUMENT).then(|| {
        let line = match run_with(&arguments.collect::<Vec<_>>()) {
            Ok(run) => {
                let Run { seconds, data_mb, peak_mb, answer } = run;
                json!({ "seconds": seconds, "data_mb": data_mb, "peak_mb": peak_mb, "answer": answer })
            }
            Err(error) => json!({ "error": error }),
        };
        println!("{line}");
        Ok(())
    })
}

fn run_with(arguments: &[String]) -> Result<Run, String> {
    let [name, scale, folder, numbers @ ..] = arguments else { return Err("arguments are missing".to_string()) };
    let numbers: Vec<u64> = numbers.iter().filter_map(|number| number.parse().ok()).collect();
    let [seconds, threads, limit_mb] = numbers[..] else { return Err("three numbers are expected".to_string()) };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads as usize).build_global();
    pool.map_err(|error| error.to_string())?;
    let case = find(name).ok_or_else(|| format!("there is no case '{name}'"))?;
    run(case, &Inputs::new(scale.parse()?, folder), Some(limit_mb).filter(|limit| *limit > 0), seconds)
}
