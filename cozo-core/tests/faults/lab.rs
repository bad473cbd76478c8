//! Where faults are tried: processes are run below one folder, what they leave is examined, and findings are gathered.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use tempfile::TempDir;

use super::child::{SOURCE_FILE, Source, TASK, Task, backup_file, older_file};
use super::disk::files_below;
use super::examine::{Examiner, Found, Question};
use super::injector::{self, Fault};
use super::model::{self, Judge, Said, State};
use super::settings::Setting;
use super::trace::Trace;
use super::workload::Workload;

/// Far more time than a process takes on a slow machine.
const PATIENCE: Duration = Duration::from_secs(120);

/// A process that takes longer is worth a look.
const SLOW: Duration = Duration::from_secs(5);

/// How many findings are described in full.
const MAX_DESCRIBED: usize = 8;

/// The file beside a database, and what it holds.
struct SourceFile {
    bytes: Vec<u8>,
    state: State,
}

static BACKUP: LazyLock<SourceFile> = LazyLock::new(|| {
    let folder = tempfile::tempdir().unwrap();
    let (file, db) = (folder.path().join(SOURCE_FILE), Source::Backup.database());
    db.backup_db(&file).unwrap();
    SourceFile { bytes: std::fs::read(&file).unwrap(), state: model::contents(&db).unwrap() }
});

static OLDER: LazyLock<SourceFile> = LazyLock::new(|| SourceFile {
    bytes: std::fs::read(older_file("types")).unwrap(),
    state: model::contents(&Source::Older.database()).unwrap(),
});

/// The file beside the database of a seed.
fn source_of(seed: u64) -> &'static SourceFile {
    match Source::of_seed(seed) {
        Source::Backup => &BACKUP,
        Source::Older => &OLDER,
    }
}

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
    /// The steps of each writer.
    pub workloads: Vec<Workload>,
    pub fault: Option<Fault>,
    pub trace: Trace,
    /// How it ended, unless that was as it should.
    complaints: Vec<(&'static str, String)>,
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
        let source = source_of(seed);
        std::fs::write(folder.join(SOURCE_FILE), &source.bytes).unwrap();
        let task = Task { setting, seed, steps, folder, said: case.join("said"), is_killed };
        let start = Instant::now();
        let (ended, complained) = start_process(&task, fault.as_ref(), &case);
        let trace = Trace::read(&case.join("trace"));
        let workloads = task.workloads(&source.state);
        let mut run = Run { task, workloads, fault, trace, complaints: vec![] };
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
                let (alarms, problems) = found.alarms_and_problems();
                if !problems.is_empty() {
                    self.find("the check finds problems", context, &problems.join("\n"));
                }
                if !found.complaints.is_empty() {
                    self.find("it does not go on", context, &found.complaints.join("\n"));
                }
                if !alarms.is_empty() && !possible.may_warn(&found.state(), &alarms) {
                    self.find("it warns, and nothing is lost", context, &alarms.join("\n"));
                }
                if let Some(difference) = possible.difference(&found.state()) {
                    self.find("it holds something else", context, &difference);
                }
            }
        }
        possible.judges.iter().for_each(|judge| self.check_backups(folder, judge, context));
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
            if !judge.is_among(&found.state(), expected) {
                self.find("a backup has something else", context, &format!("backup {number}"));
            }
        }
    }
}

/// What a database may hold: of each writer what its judge says, or what it wrote up to some moment before.
pub struct Possible<'j> {
    pub judges: &'j [Judge<'j>],
    /// For each writer; of none if only what the judge says is possible.
    pub earlier: &'j [Vec<State>],
    /// Whether a commit that was not acknowledged may lie in a log in part, so that a warning tells of it.
    pub may_be_torn: bool,
}

impl Possible<'_> {
    /// Whether it may be said that something is missing.
    fn may_warn(&self, found: &State, alarms: &[&str]) -> bool {
        // What was being written is torn, which cannot be told from damage to the last commit. Of two commits that one sync was to keep, the
        // second may be there alone.
        let of_torn =
            ["one was being written when", "the log of RocksDB is damaged", "commits or more are behind that"];
        let is_of_torn = |alarm: &&str| of_torn.iter().any(|of| alarm.contains(of));
        !self.earlier.is_empty()
            || (self.may_be_torn && alarms.iter().any(is_of_torn))
            || self.judges.iter().any(|judge| judge.difference(found).is_some())
    }

    /// How what is there differs from it, in words; nothing if it does not.
    pub fn difference(&self, found: &State) -> Option<String> {
        let of_writer = |(number, judge): (usize, &Judge<'_>)| {
            let is_earlier = self.earlier.get(number).is_some_and(|earlier| judge.is_among(found, earlier));
            if is_earlier { None } else { judge.difference(found) }
        };
        let differences: Vec<String> = self.judges.iter().enumerate().filter_map(of_writer).collect();
        (!differences.is_empty()).then(|| differences.join("\n"))
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
        let last = self.trace.said().next_back().map(|(_, said)| said.clone());
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
        for (_, said) in self.trace.said() {
            match said {
                Said::Refused(_, _, text) | Said::Remark(text) if text.contains("locked") => {
                    self.complaints.push(("no other process has it open, and it is locked", format!("{said:?}")));
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
        let is_of_files = |said: &Said| matches!(said, Said::Refused(_, code, _) if model::is_of_files(code));
        let refused = self.trace.said().filter(|(_, said)| is_of_files(said));
        let refused: Vec<String> =
            refused.map(|(writer, said)| format!("\n    {}", self.told(writer, said))).take(6).collect();
        format!(
            "{}, seed {seed}, {}\n  failed: {failed}{more}\n  refused:{}\n  again: COZO_FAULTS_CASE='{setting}|{seed}|{steps}|{is_killed}|{fault}' cargo test --workspace --test faults again -- --nocapture",
            self.task.setting(),
            if *is_killed { "killed" } else { "closed" },
            refused.join(""),
        )
    }

    /// What was said of a step, with the step.
    pub fn told(&self, writer: usize, said: &Said) -> String {
        let steps = &self.workloads[writer].steps;
        let step_of =
            |step: &usize| format!("step {step}{}", self.workloads[writer].prefix.map_or(String::new(), String::from));
        match said {
            Said::Begins(step) => format!("{} begins: {}", step_of(step), steps[*step]),
            Said::Done(step) => format!("{} done", step_of(step)),
            Said::Refused(step, code, message) => {
                format!("{} ({}) refused: {code} {message}", step_of(step), steps[*step])
            }
            Said::Sees(step, _) => format!("readers look before {}", step_of(step)),
            Said::Remark(text) => text.clone(),
        }
    }

    /// What was wrong with the process itself, and with what it said.
    pub fn complaints(&self, judges: &[Judge<'_>]) -> Vec<(&'static str, String)> {
        let all = judges.iter().flat_map(|judge| &judge.complaints);
        let said = all.map(|complaint| ("what it said does not fit", complaint.clone()));
        self.complaints.iter().cloned().chain(said).collect()
    }

    /// Judges who have heard nothing, one for each writer.
    pub fn new_judges(&self) -> Vec<Judge<'_>> {
        self.workloads.iter().map(Judge::new).collect()
    }

    /// Judges who have heard all.
    pub fn judges(&self) -> Vec<Judge<'_>> {
        let mut judges = self.new_judges();
        judges.iter_mut().for_each(|judge| judge.seen = self.task.said.parent().map(Path::to_path_buf));
        self.trace.said().for_each(|(writer, said)| judges[writer].hear(said));
        judges
    }

    /// Writes a folder as the process found it.
    pub fn write_beginning(&self, folder: &Path) {
        std::fs::create_dir_all(folder).unwrap();
        std::fs::write(folder.join(SOURCE_FILE), &source_of(self.task.seed).bytes).unwrap();
    }

    /// The files that it left.
    pub fn files(&self) -> BTreeMap<String, Vec<u8>> {
        files_below(&self.task.folder)
    }
}
