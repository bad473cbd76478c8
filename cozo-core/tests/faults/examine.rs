//! Opening a database after a fault, in a process of its own that serves for many: should it end or hang, the test goes on.
//!
//! The process is asked by a line of JSON on its standard input, and answers with one on its standard output.

use std::io::{BufRead, BufReader, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use cozo::DbInstance;
use serde::{Deserialize, Serialize};

use super::child::in_words;
use super::injector;
use super::model::{self, Listed, State};

/// The variable of the environment that makes a process an examiner.
const EXAMINER: &str = "COZO_FAULTS_EXAMINER";

/// Far more time than it takes to open a database on a slow machine.
const PATIENCE: Duration = Duration::from_secs(120);

/// What is to be examined.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Question {
    /// A database: what it holds, and with `goes_on` whether it can be written and opened again.
    Database { engine: String, path: PathBuf, options: String, goes_on: bool },
    /// A backup, or a file of CozoDB 0.7: what a new database holds that is filled from it.
    Backup { path: PathBuf },
}

/// What was found.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Found {
    /// Why it could not be opened, or read, or restored.
    pub refusal: Option<String>,
    /// Whether a database could be opened.
    pub is_opened: bool,
    /// What the opening says is lost.
    pub warnings: Vec<String>,
    /// What the check says is wrong.
    pub problems: Vec<String>,
    relations: Vec<Listed>,
    /// What is wrong with going on.
    pub complaints: Vec<String>,
}

impl Found {
    /// What is said to be missing, and what is said to be wrong otherwise.
    pub fn alarms_and_problems(&self) -> (Vec<&str>, Vec<&str>) {
        let (lost, problems): (Vec<&String>, Vec<&String>) =
            self.problems.iter().partition(|problem| problem.contains(".lost'"));
        let alarms = self.warnings.iter().chain(lost).map(String::as_str).collect();
        (alarms, problems.into_iter().map(String::as_str).collect())
    }

    /// What the opening, the check or the error say is wrong.
    pub fn says(&self) -> Vec<&String> {
        self.refusal.iter().chain(&self.warnings).chain(&self.problems).collect()
    }

    /// What the database holds.
    pub fn state(&self) -> State {
        model::state_of(&self.relations)
    }
}

/// A process that examines.
pub struct Examiner {
    root: PathBuf,
    process: Option<Process>,
}

struct Process {
    child: Child,
    input: ChildStdin,
    answers: Receiver<String>,
}

impl Examiner {
    /// An examiner of what lies below a folder.
    pub fn new(root: &Path) -> Self {
        Examiner { root: root.to_path_buf(), process: None }
    }

    /// Examines something; an error if the process ends, or takes far too long.
    pub fn ask(&mut self, question: &Question) -> Result<Found, String> {
        let process = self.process.get_or_insert_with(|| Process::start(&self.root));
        let asked = writeln!(process.input, "{}", serde_json::to_string(question).unwrap());
        let answer = asked.ok().and_then(|()| process.answers.recv_timeout(PATIENCE).ok());
        if let Some(answer) = answer {
            return Ok(serde_json::from_str(&answer).unwrap());
        }
        let mut child = self.process.take().expect("it was just asked").child;
        let ended = child.try_wait().unwrap();
        let _ = child.kill();
        let ended = ended.or_else(|| child.wait().ok().filter(|status| !is_kill(status)));
        Err(match ended {
            Some(status) => format!("the process that opens it ends: {status}"),
            None => "the process that opens it hangs".to_string(),
        })
    }
}

fn is_kill(status: &std::process::ExitStatus) -> bool {
    std::os::unix::process::ExitStatusExt::signal(status) == Some(9)
}

impl Drop for Examiner {
    fn drop(&mut self) {
        if let Some(Process { mut child, input, .. }) = self.process.take() {
            drop(input);
            let _ = child.wait();
        }
    }
}

/// What comes before each answer, since the test program says things of its own.
const ANSWER: &str = "examined: ";

impl Process {
    fn start(root: &Path) -> Self {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "examiner", "--nocapture"]).env(EXAMINER, "1");
        injector::preload(&mut command, root);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let (input, output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let (sender, answers) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                if let Some(answer) = line.strip_prefix(ANSWER) {
                    let _ = sender.send(answer.to_string());
                }
            }
        });
        Process { child, input, answers }
    }
}

/// Answers questions, if the environment says so.
pub fn run() {
    if std::env::var(EXAMINER).is_err() {
        return;
    }
    for line in std::io::stdin().lines().map_while(Result::ok) {
        let found = examine(&serde_json::from_str(&line).unwrap());
        let answer = format!("\n{ANSWER}{}\n", serde_json::to_string(&found).unwrap());
        std::io::stdout().write_all(answer.as_bytes()).unwrap();
    }
}

fn examine(question: &Question) -> Found {
    let mut found = Found::default();
    let examined = catch_unwind(AssertUnwindSafe(|| match question {
        Question::Database { engine, path, options, goes_on } => {
            let open = || DbInstance::new(engine, path, options);
            database(&open, *goes_on, &mut found)
        }
        Question::Backup { path } => backup(path, &mut found),
    }));
    match examined {
        Ok(Ok(())) => {}
        Ok(Err(error)) => found.refusal = Some(in_words(error)),
        Err(panic) => {
            let text = panic.downcast_ref::<String>().map(String::as_str).or(panic.downcast_ref::<&str>().copied());
            found.complaints.push(format!("a panic: {}", text.unwrap_or_default()));
        }
    }
    found
}

/// A relation that is made to see whether the database goes on.
const PROBE: &str = "probe";

fn database(open: &dyn Fn() -> cozo::Result<DbInstance>, goes_on: bool, found: &mut Found) -> cozo::Result<()> {
    let db = open()?;
    found.is_opened = true;
    found.warnings = db.warnings();
    found.problems = db.check()?.problems;
    let state = model::contents(&db)?;
    found.relations = model::list(&state);
    if !goes_on {
        return Ok(());
    }
    let wrote = db
        .run_default(&format!("?[k] <- [[1]] :create {PROBE} {{k: Int}}"))
        .and_then(|_| db.run_default(&format!("?[k] <- [[2]] :put {PROBE} {{k}}")));
    if let Err(error) = wrote {
        found.complaints.push(format!("it cannot be written to: {}", in_words(error)));
    }
    drop(db);
    let again = open().and_then(|db| model::contents(&db));
    match again {
        Err(error) => found.complaints.push(format!("it cannot be opened a second time: {}", in_words(error))),
        Ok(mut again) => {
            let probe = again.remove(PROBE).map_or(0, |probe| probe.rows.len());
            if found.complaints.is_empty() && probe != 2 {
                found.complaints.push(format!("of two rows written after it was opened {probe} are there"));
            }
            if model::digest(&again) != model::digest(&state) {
                found.complaints.push("it holds something else when it is opened a second time".to_string());
            }
        }
    }
    Ok(())
}

fn backup(path: &Path, found: &mut Found) -> cozo::Result<()> {
    let db = DbInstance::default();
    let restored = db.restore_backup(path);
    found.relations = model::list(&model::contents(&db)?);
    if restored.is_err() && !found.relations.is_empty() {
        found.complaints.push("a restore that failed left something behind".to_string());
    }
    restored
}
