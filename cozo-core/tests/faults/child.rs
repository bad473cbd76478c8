//! The process that meets faults: it runs the steps of a workload, and says what becomes of each.
//!
//! It goes on after errors, as a program would that serves others, and now and then closes the database and opens it again after one.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::time::Duration;

use cozo::{DbInstance, NamedRows, ScriptMutability, format_error_as_json};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use super::model::{self, State};
use super::settings::{SETTINGS, Setting};
use super::workload::{self, Action, Step, Workload};

/// What a process is to do, by its environment.
#[derive(Clone, Debug)]
pub struct Task {
    /// The number of the setting.
    pub setting: usize,
    pub seed: u64,
    /// How many steps it runs.
    pub steps: usize,
    /// The folder of the database.
    pub folder: PathBuf,
    /// The file that it says everything in.
    pub said: PathBuf,
    /// Whether it is killed at its end, with the database open.
    pub is_killed: bool,
}

/// How often everything is read again where another writer changes the names of relations.
const LOOKS: usize = 20;

const RELATION_NOT_FOUND: &str = "query::relation_not_found";

/// The variable of the environment that a [`Task`] is in.
pub const TASK: &str = "COZO_FAULTS_TASK";

/// After how many steps readers look at everything.
const STEPS_BETWEEN_LOOKS: usize = 6;

/// How often the database is opened before the process gives up.
const ATTEMPTS: u32 = 3;

/// How long it waits before the second time; before the third, as long again.
const BETWEEN_ATTEMPTS: Duration = Duration::from_millis(100);

/// Longer than the commit log waits.
const PAUSE: Duration = Duration::from_millis(120);

impl Task {
    /// As the variable has it.
    pub fn to_text(&self) -> String {
        let Task { setting, seed, steps, folder, said, is_killed } = self;
        format!("{setting}|{seed}|{steps}|{}|{}|{is_killed}", folder.display(), said.display())
    }

    fn parse(text: &str) -> Self {
        let parts: Vec<&str> = text.split('|').collect();
        let [setting, seed, steps, folder, said, is_killed] = parts[..] else { panic!("no task: {text}") };
        Task {
            setting: setting.parse().unwrap(),
            seed: seed.parse().unwrap(),
            steps: steps.parse().unwrap(),
            folder: folder.into(),
            said: said.into(),
            is_killed: is_killed.parse().unwrap(),
        }
    }

    /// The steps of the task, of each writer.
    pub fn workloads(&self, source: &State) -> Vec<Workload> {
        workload::of_seed(self.seed, self.steps, source)
    }

    pub fn setting(&self) -> &'static Setting {
        &SETTINGS[self.setting]
    }
}

/// Where the file beside the database comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// A backup.
    Backup,
    /// A file of CozoDB 0.7.
    Older,
}

impl Source {
    /// That of a seed.
    pub fn of_seed(seed: u64) -> Self {
        if seed % 5 == 2 { Source::Older } else { Source::Backup }
    }

    /// Its contents, in a database.
    pub fn database(self) -> DbInstance {
        let db = DbInstance::default();
        match self {
            Source::Backup => {
                workload::source_scripts().iter().for_each(|script| drop(db.run_default(script).unwrap()))
            }
            Source::Older => db.restore_backup(older_file("types")).unwrap(),
        }
        db
    }
}

/// A file of CozoDB 0.7.
pub fn older_file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/data/cozo-0.7/{name}.db"))
}

/// The name of that file.
pub const SOURCE_FILE: &str = "source.db";

/// The name of a backup.
pub fn backup_file(number: usize) -> String {
    format!("backup-{number}.db")
}

/// A thread that writes.
struct Writer<'c> {
    task: &'c Task,
    number: usize,
    prefix: Option<char>,
    said: &'c File,
    /// Decides what it does after errors.
    random: StdRng,
    db: Option<DbInstance>,
}

/// Does what the environment says, if it says something.
pub fn run() {
    let Ok(task) = std::env::var(TASK) else { return };
    let task = Task::parse(&task);
    let source = model::contents(&Source::of_seed(task.seed).database()).unwrap();
    let workloads = task.workloads(&source);
    // Opened by its name, which marks what is written to it. One, since the library knows one.
    let said = File::options().create(true).append(true).open(&task.said).unwrap();
    let writer = |(number, workload): (usize, &Workload)| Writer {
        task: &task,
        number,
        prefix: workload.prefix,
        said: &said,
        random: StdRng::seed_from_u64(task.seed),
        db: None,
    };
    let mut writers: Vec<Writer<'_>> = workloads.iter().enumerate().map(writer).collect();
    if writers[0].open() {
        // Before the first begins, which may close the database and open it again.
        let db = writers[0].db.clone();
        writers.iter_mut().for_each(|writer| writer.db.clone_from(&db));
        drop(db);
        std::thread::scope(|scope| {
            for (writer, workload) in writers.iter_mut().zip(&workloads) {
                scope.spawn(|| writer.work(&workload.steps));
            }
        });
    }
    let mut last = writers.swap_remove(0);
    drop(writers);
    match task.is_killed {
        true => {
            last.say("killed");
            rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL).unwrap();
        }
        false => {
            last.db.take();
            last.say("closed");
        }
    }
}

/// The code and the message of an error, in a line.
pub fn in_words(error: cozo::Error) -> String {
    let message = format!("{error:#}").replace('\n', " ");
    let causes: Vec<String> = error.chain().skip(1).map(|cause| cause.to_string().replace('\n', " ")).collect();
    let code = format_error_as_json(error, None)["code"].as_str().unwrap_or("no_code").to_string();
    format!("{code} {message} {}", causes.join(": "))
}

impl Writer<'_> {
    fn say(&mut self, line: &str) {
        // At once, so that lines of two threads do not mix.
        self.said.write_all(format!("{} {line}\n", self.number).as_bytes()).unwrap();
    }

    /// Opens the database; whether it is open.
    fn open(&mut self) -> bool {
        for attempt in 0..ATTEMPTS {
            std::thread::sleep(BETWEEN_ATTEMPTS * attempt);
            match catch_unwind(|| self.task.setting().open(&self.task.folder)) {
                Ok(Ok(db)) => {
                    self.db = Some(db);
                    return true;
                }
                Ok(Err(error)) => self.say(&format!("cannot open: {}", in_words(error))),
                Err(_) => self.say("panics on opening"),
            }
        }
        self.say("gives up");
        false
    }

    fn work(&mut self, steps: &[Step]) {
        for (number, step) in steps.iter().enumerate() {
            if number % STEPS_BETWEEN_LOOKS == 1 {
                self.look(number);
            }
            self.say(&format!("begins {number}"));
            let Some(db) = self.db.clone() else { return };
            let outcome = catch_unwind(AssertUnwindSafe(|| run_step(&db, step, &self.task.folder)));
            drop(db);
            match outcome {
                Ok(Ok(())) if matches!(step.action, Action::Reopen) => {
                    self.db.take();
                    if !self.open() {
                        return;
                    }
                    self.say(&format!("done {number}"));
                }
                Ok(Ok(())) => self.say(&format!("done {number}")),
                Ok(Err(error)) => {
                    self.say(&format!("refused {number} {}", in_words(error)));
                    if !self.goes_on() {
                        return;
                    }
                }
                Err(_) => self.say(&format!("panics in step {number}")),
            }
        }
        self.look(steps.len());
    }

    /// Now and then opens the database again after an error, if no other thread has it; whether it is open.
    fn goes_on(&mut self) -> bool {
        if self.prefix.is_some() || !self.random.random_ratio(1, 6) {
            return true;
        }
        self.db.take();
        self.say("opens again");
        self.open()
    }

    /// Reads everything.
    fn look(&mut self, number: usize) {
        let Some(db) = &self.db else { return };
        let seen = catch_unwind(AssertUnwindSafe(|| {
            let is_gone = |error: &cozo::Error| error.code().is_some_and(|code| code.to_string() == RELATION_NOT_FOUND);
            let mut contents = model::contents(db);
            let mut left = if self.prefix.is_some() { LOOKS } else { 0 };
            // The other writer may give a relation another name between its listing and its reading.
            while left > 0 && contents.as_ref().is_err_and(is_gone) {
                contents = model::contents(db);
                left -= 1;
            }
            contents
        }));
        match seen {
            Ok(Ok(state)) => {
                let state = model::of_writer(&state, self.prefix);
                let file = self.task.said.with_file_name(model::seen_file(self.prefix, number));
                std::fs::write(file, serde_json::to_string(&model::list(&state)).unwrap()).unwrap();
                self.say(&format!("sees {number} {}", model::digest(&state)));
            }
            Ok(Err(error)) => self.say(&format!("cannot read before step {number}: {}", in_words(error))),
            Err(_) => self.say(&format!("panics when reading before step {number}")),
        }
    }
}

fn run_step(db: &DbInstance, step: &Step, folder: &Path) -> cozo::Result<()> {
    match &step.action {
        Action::Script(script, parameters) => {
            db.run_script(script, parameters.clone(), ScriptMutability::Mutable).map(drop)
        }
        Action::Import(data) => {
            let named = |(name, (headers, rows)): (&String, &(Vec<String>, Vec<_>))| {
                (name.clone(), NamedRows::new(headers.clone(), rows.clone()))
            };
            db.import_relations(data.iter().map(named).collect::<BTreeMap<_, _>>())
        }
        Action::Held(scripts, commits) => {
            let transaction = db.multi_transaction(true);
            let run =
                |(script, parameters): &(String, BTreeMap<_, _>)| transaction.run_script(script, parameters.clone());
            if let Some(error) = scripts.iter().find_map(|script| run(script).err()) {
                // What is dropped instead ends a little later, and the database may be opened again at once.
                transaction.abort()?;
                return Err(error);
            }
            if *commits { transaction.commit() } else { transaction.abort() }
        }
        Action::Backup(number) => db.backup_db(folder.join(backup_file(*number))),
        Action::Restore => db.restore_backup(folder.join(SOURCE_FILE)),
        Action::ImportFromBackup(name) => db.import_from_backup(folder.join(SOURCE_FILE), std::slice::from_ref(name)),
        Action::Reopen => Ok(()),
        Action::Pause => {
            std::thread::sleep(PAUSE);
            Ok(())
        }
    }
}
