//! Where faults are tried: processes are run below one folder, what they leave is examined, and findings are gathered.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use tempfile::TempDir;

use super::child::{SOURCE_FILE, TASK, Task, backup_file, source};
use super::disk::files_below;
use super::examine::{Examiner, Found, Question};
use super::injector::{self, Fault};
use super::model::{self, Judge, Said, State, digest};
use super::settings::Setting;
use super::trace::Trace;
use super::workload::Step;

/// Far more time than a process takes on a slow machine.
const PATIENCE: Duration = Duration::from_secs(120);

/// Whoever takes longer is worth a look.
const SLOW: Duration = Duration::from_secs(5);

/// How many findings are described in full.
const MAX_DESCRIBED: usize = 8;

/// The file beside each database, and what it holds.
static SOURCE: LazyLock<(Vec<u8>, State)> = LazyLock::new(|| {
    let folder = tempfile::tempdir().unwrap();
    let (file, db) = (folder.path().join(SOURCE_FILE), source());
    db.backup_db(&file).unwrap();
    (std::fs::read(&file).unwrap(), model::contents(&db).unwrap())
});

/// A number of the environment.
pub fn number(variable: &str, default: u64) -> u64 {
    std::env::var(variable)
        .map_or(default, |text| text.parse().unwrap_or_else(|_| panic!("{variable}={text}: no number")))
}

/// A place for trying faults.
pub struct Lab {
    folder: TempDir,
    /// Its path without links.
    root: PathBuf,
    pub examiner: Examiner,
    cases: usize,
    findings: Vec<Finding>,
    /// What the test is called.
    name: String,
    took: Vec<(Duration, String)>,
    /// What was done, by kind.
    pub done: BTreeMap<String, usize>,
}

struct Finding {
    kind: String,
    text: String,
}

/// What a process did, and what it left.
pub struct Run {
    pub task: Task,
    pub steps: Vec<Step>,
    pub fault: Option<Fault>,
    pub trace: Trace,
    /// How it ended, unless that was as it should.
    complaints: Vec<(&'static str, String)>,
    /// What was in the folder when it began.
    pub source: Vec<u8>,
}

impl Lab {
    /// A place for a test.
    pub fn new(name: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let examiner = Examiner::new(&root);
        let (findings, done) = (vec![], BTreeMap::new());
        Lab { folder, root, examiner, cases: 0, findings, took: vec![], name: name.to_string(), done }
    }

    /// An empty folder.
    pub fn new_folder(&mut self) -> PathBuf {
        self.cases += 1;
        let folder = self.root.join(self.cases.to_string());
        std::fs::create_dir(&folder).unwrap();
        folder
    }

    /// Runs a process with a fault, or without.
    pub fn run(&mut self, setting: usize, seed: u64, steps: usize, is_killed: bool, fault: Option<Fault>) -> Run {
        let case = self.new_folder();
        let folder = case.join("db");
        std::fs::create_dir(&folder).unwrap();
        let (source, source_state) = &*SOURCE;
        std::fs::write(folder.join(SOURCE_FILE), source).unwrap();
        let task = Task { setting, seed, steps, folder, said: case.join("said"), is_killed };
        let start = Instant::now();
        let (ended, complained) = start_process(&task, fault.as_ref(), &case);
        let trace = Trace::read(&case.join("trace"));
        let steps = task.workload(source_state);
        let mut run = Run { task, steps, fault, trace, complaints: vec![], source: source.clone() };
        run.note_end(ended, &complained);
        self.took.push((start.elapsed(), run.context()));
        *self.done.entry("runs".to_string()).or_default() += 1;
        run
    }

    /// Notes something wrong. `context` says where and how to see it again.
    pub fn find(&mut self, kind: &str, context: &str, text: &str) {
        self.findings.push(Finding {
            kind: kind.to_string(),
            text: format!("{kind}\n  {context}\n  {}", text.replace('\n', "\n  ")),
        });
    }

    /// Says what was found, and fails if there is anything.
    pub fn report(self) {
        println!("{}: {:?}", self.name, self.done);
        self.report_slow();
        if self.findings.is_empty() {
            return;
        }
        let mut kinds = BTreeMap::<&str, Vec<&Finding>>::new();
        self.findings.iter().for_each(|finding| kinds.entry(&finding.kind).or_default().push(finding));
        let mut report = format!("{} findings:\n", self.findings.len());
        kinds.iter().for_each(|(kind, all)| writeln!(report, "{:5} x {kind}", all.len()).unwrap());
        // Some of each kind, not the first of all.
        let described = (0..)
            .flat_map(|n| kinds.values().filter_map(move |all| all.get(n)))
            .take(MAX_DESCRIBED.min(self.findings.len()));
        described.for_each(|finding| writeln!(report, "\n{}", finding.text).unwrap());
        let all: Vec<&str> = self.findings.iter().map(|finding| finding.text.as_str()).collect();
        let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("findings-{}.txt", self.name));
        std::fs::write(&file, all.join("\n\n")).unwrap();
        if std::env::var("COZO_FAULTS_KEEP").is_ok() {
            writeln!(report, "\nthe files are in {}", self.folder.keep().display()).unwrap();
        }
        panic!("{report}\nall of them are in {}", file.display());
    }

    /// Says which processes took longest.
    fn report_slow(&self) {
        let mut slow: Vec<_> = self.took.iter().collect();
        slow.sort_by_key(|(took, _)| std::cmp::Reverse(*took));
        let all: Duration = slow.iter().map(|(took, _)| *took).sum();
        println!("{} processes took {all:?}", slow.len());
        for (took, context) in slow.iter().take(3).filter(|(took, _)| *took > SLOW) {
            println!("  {took:?}: {context}");
        }
    }

    /// Removes what a case left, unless it is to be looked at.
    pub fn clear(&self, run: &Run) {
        if std::env::var("COZO_FAULTS_KEEP").is_err() {
            let _ = std::fs::remove_dir_all(run.task.folder.parent().expect("it lies in the folder of its case"));
        }
    }

    /// Examines the database in a folder, with nothing held in memory.
    pub fn examine(&mut self, setting: &Setting, folder: &Path, goes_on: bool) -> Result<Found, String> {
        let question = Question::Database {
            engine: setting.engine.to_string(),
            path: setting.path(folder),
            options: setting.options(),
            goes_on,
        };
        self.examiner.ask(&question)
    }

    /// Sees to it that a database opens, and holds what it may hold. `judge` has heard all that was said.
    pub fn check(&mut self, run: &Run, folder: &Path, possible: &Possible<'_>, goes_on: bool, context: &str) {
        match self.examine(run.task.setting(), folder, goes_on) {
            Err(end) => self.find("the process that opens the database ends", context, &end),
            Ok(found) => {
                if let Some(refusal) = &found.refusal {
                    return self.find("the database does not open", context, refusal);
                }
                if !found.problems.is_empty() {
                    self.find("the check finds problems", context, &found.problems.join("\n"));
                }
                if !found.complaints.is_empty() {
                    self.find("it does not go on", context, &found.complaints.join("\n"));
                }
                if let Some(difference) = possible.difference(&found.state()) {
                    self.find("it holds something else", context, &difference);
                }
            }
        }
        self.check_backups(folder, possible.judge, context);
    }

    /// Sees to it that what is under the name of a backup is a backup.
    fn check_backups(&mut self, folder: &Path, judge: &Judge<'_>, context: &str) {
        for number in judge.steps.iter().filter_map(|step| step.backup) {
            let file = folder.join(backup_file(number));
            let known = judge.backups.get(&number);
            if !file.exists() {
                if let Some((true, _)) = known {
                    self.find("a backup is not there", context, &format!("backup {number} was acknowledged"));
                }
                continue;
            }
            let found = match self.examiner.ask(&Question::Backup { path: file }) {
                Err(end) => return self.find("the process that restores a backup ends", context, &end),
                Ok(found) => found,
            };
            if let Some(refusal) = found.refusal {
                self.find("half a backup is there", context, &format!("backup {number}: {refusal}"));
                continue;
            }
            let expected = known.map_or(&judge.states, |(_, states)| states);
            if !expected.iter().any(|state| digest(state) == digest(&found.state())) {
                self.find("a backup has something else", context, &format!("backup {number}"));
            }
        }
    }
}

/// What a database may hold.
pub struct Possible<'j> {
    pub judge: &'j Judge<'j>,
    /// Also what it held at some moment before.
    pub earlier: &'j [State],
}

impl Possible<'_> {
    fn difference(&self, found: &State) -> Option<String> {
        let is_earlier = self.earlier.iter().any(|state| digest(state) == digest(found));
        if is_earlier { None } else { self.judge.difference(found) }
    }
}

/// Runs a process to its end, and gives what it wrote to its standard error.
fn start_process(task: &Task, fault: Option<&Fault>, case: &Path) -> (Option<ExitStatus>, String) {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "child", "--nocapture"]).env(TASK, task.to_text());
    injector::preload(&mut command, &task.folder);
    command.env("COZO_FAULTS_TRACE", case.join("trace")).env("COZO_FAULTS_SAID", &task.said);
    if let Some(fault) = fault {
        command.env("COZO_FAULTS_FAIL", fault.to_string());
    }
    let errors = std::fs::File::create(case.join("stderr")).unwrap();
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(errors).spawn().unwrap();
    let start = Instant::now();
    let ended = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break Some(status);
        }
        if start.elapsed() > PATIENCE {
            child.kill().unwrap();
            child.wait().unwrap();
            break None;
        }
        std::thread::sleep(Duration::from_millis(2));
    };
    (ended, std::fs::read_to_string(case.join("stderr")).unwrap_or_default())
}

impl Run {
    /// Notes what the process should not have said or done.
    fn note_end(&mut self, ended: Option<ExitStatus>, complained: &str) {
        let last = self.trace.said().last().cloned();
        let is_closed = last == Some(Said::Remark("closed".to_string()));
        let is_killed = last == Some(Said::Remark("killed".to_string()));
        match ended {
            None => self.complaints.push(("the process hangs", format!("the last it said is {last:?}"))),
            Some(status) if !(is_closed && status.success() || is_killed) => {
                self.complaints.push(("the process ends", format!("{status}, after {last:?}\n{complained}")));
            }
            Some(_) if complained.contains("panicked at") => {
                self.complaints.push(("a panic", complained.to_string()));
            }
            Some(_) => {}
        }
        for said in self.trace.said() {
            match said {
                Said::Refused(_, _, text) | Said::Remark(text) if text.contains("locked") => {
                    self.complaints.push(("nobody else has it open, and it is locked", format!("{said:?}")));
                }
                Said::Remark(text) if text.starts_with("panics") => self.complaints.push(("a panic", text.clone())),
                Said::Remark(text) if text.starts_with("cannot") && self.fault.is_none() => {
                    self.complaints.push(("an error without a fault", text.clone()));
                }
                Said::Refused(_, code, message) if self.fault.is_none() && model::is_of_files(code) => {
                    self.complaints.push(("an error without a fault", format!("{said:?} {message}")));
                }
                _ => {}
            }
        }
    }

    /// What it is, what failed, and how to see it again.
    pub fn context(&self) -> String {
        let Task { setting, seed, steps, is_killed, .. } = &self.task;
        let fault = self.fault.as_ref().map(Fault::to_string).unwrap_or_default();
        let failures = self.trace.failures();
        let more = if failures.len() > 3 { format!(" and {} more", failures.len() - 3) } else { String::new() };
        let failed = failures.iter().take(3).copied().collect::<Vec<_>>().join("; ");
        let refused =
            self.trace.said().filter(|said| matches!(said, Said::Refused(_, code, _) if model::is_of_files(code)));
        let refused: Vec<String> = refused.map(|said| format!("\n    {}", self.told(said))).take(6).collect();
        format!(
            "{}, seed {seed}, {}\n  failed: {failed}{more}\n  refused:{}\n  again: COZO_FAULTS_CASE='{setting}|{seed}|{steps}|{is_killed}|{fault}' cargo test --workspace --test faults again -- --nocapture",
            self.task.setting(),
            if *is_killed { "killed" } else { "closed" },
            refused.join(""),
        )
    }

    /// What was said of a step, with the step.
    pub fn told(&self, said: &Said) -> String {
        match said {
            Said::Begins(step) => format!("step {step} begins: {}", self.steps[*step]),
            Said::Done(step) => format!("step {step} done"),
            Said::Refused(step, code, message) => {
                format!("step {step} ({}) refused: {code} {message}", self.steps[*step])
            }
            Said::Sees(step, _) => format!("readers look before step {step}"),
            Said::Remark(text) => text.clone(),
        }
    }

    /// What was wrong with the process itself, and with what it said.
    pub fn complaints(&self, judge: &Judge<'_>) -> Vec<(&'static str, String)> {
        let said = judge.complaints.iter().map(|complaint| ("what it said does not fit", complaint.clone()));
        self.complaints.iter().cloned().chain(said).collect()
    }

    /// A judge who has heard all.
    pub fn judge(&self) -> Judge<'_> {
        let mut judge = Judge::new(&self.steps);
        judge.seen = self.task.said.parent().map(Path::to_path_buf);
        self.trace.said().for_each(|said| judge.hear(said));
        judge
    }

    /// Writes a folder as the process found it.
    pub fn write_beginning(&self, folder: &Path) {
        std::fs::create_dir_all(folder).unwrap();
        std::fs::write(folder.join(SOURCE_FILE), &self.source).unwrap();
    }

    /// The files that it left.
    pub fn files(&self) -> BTreeMap<String, Vec<u8>> {
        files_below(&self.task.folder)
    }
}
