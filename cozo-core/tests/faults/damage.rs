//! A file of a database is damaged while it is closed: the database says so, or all of it is there.
//!
//! Some damage cannot be known. [`Excuse`] lists what, and a test that meets it counts it, and fails only if more is lost than that.

use std::collections::BTreeMap;
use std::fmt::{self, Display, Formatter};
use std::path::Path;

use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};

use super::child::{SOURCE_FILE, backup_file};
use super::disk::{Disk, Names, files_below};
use super::examine::{Found, Question};
use super::io_errors::STEPS;
use super::lab::{Lab, Possible, Run, number};
use super::model::{Judge, Said, State, changed_relations, digest};
use super::settings;
use super::trace::{Event, matches};

/// How often one database is damaged.
const DAMAGES_PER_RUN: u64 = 20;

/// The size of a page of SQLite, and of the memory of the system.
const PAGE: usize = 4096;

/// The kinds of files, so that each is damaged as often as the others.
const FILES: &[&str] = &[
    "db.sqlite",
    "db.sqlite-wal",
    "*commits-*",
    "*.log",
    "*.sst",
    "*.blob",
    "*/MANIFEST-*",
    "*/CURRENT",
    "*/OPTIONS-*",
    "*/IDENTITY",
    "backup-*",
];

/// What happens to a file.
#[derive(Clone, Debug)]
pub enum Damage {
    /// A bit changes.
    Flip { offset: usize, bit: u8 },
    /// It ends early.
    Truncate(usize),
    /// A page, or what of it is in the file, is zero.
    Zero(usize),
    /// It is gone.
    Delete,
    /// Something follows.
    Append(Vec<u8>),
    /// It is as it was before.
    Older(Vec<u8>),
}

impl Display for Damage {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Damage::Append(bytes) => write!(f, "{} bytes appended", bytes.len()),
            Damage::Older(bytes) => write!(f, "as it was before, {} bytes", bytes.len()),
            other => write!(f, "{other:?}"),
        }
    }
}

type Files = BTreeMap<String, Vec<u8>>;

/// A database that is to be damaged.
struct Subject<'r> {
    run: &'r Run,
    judges: Vec<Judge<'r>>,
    files: Files,
    /// The files at some moment before.
    older: Files,
    /// What the writers wrote before, from the first to the last.
    earlier: Vec<Vec<State>>,
}

/// Damages databases of all settings of an engine.
pub fn try_engine(engine: &str) {
    let mut lab = Lab::new(&format!("damage-{engine}"));
    let (count, first) = (number("COZO_DAMAGES", 100), number("COZO_FAULTS_SEED", 1));
    let settings = settings::of_engine(engine);
    for round in 0..count.div_ceil(DAMAGES_PER_RUN) {
        let (setting, _) = settings[round as usize % settings.len()];
        let seed = first * 1000 + 700 + round;
        let mut random = StdRng::seed_from_u64(seed);
        let run = lab.run(setting, seed, STEPS, random.random_ratio(2, 3), None);
        let subject = Subject::new(&mut lab, &run, &mut random);
        for _ in 0..DAMAGES_PER_RUN.min(count - round * DAMAGES_PER_RUN) {
            subject.damage_one(&mut lab, &mut random);
        }
        lab.clear(&run);
    }
    lab.report();
}

impl<'r> Subject<'r> {
    fn new(lab: &mut Lab, run: &'r Run, random: &mut StdRng) -> Self {
        let before = lab.new_folder();
        run.write_beginning(&before);
        let mut disk = Disk::with(&before, Names::Strict);
        let mut judges = run.new_judges();
        let mut earlier: Vec<Vec<State>> = judges.iter().map(|judge| judge.states.clone()).collect();
        let (mut older, moment) = (Files::new(), random.random_range(0..run.trace.events.len()));
        for (number, event) in run.trace.events.iter().enumerate() {
            if number == moment {
                older = disk.seen(&run.trace);
            }
            disk.happens(event);
            if let Event::Said(writer, said) = event {
                let (judge, earlier) = (&mut judges[*writer], &mut earlier[*writer]);
                judge.hear(said);
                if matches!(said, Said::Done(_)) && earlier.last().map(digest) != judge.states.first().map(digest) {
                    earlier.extend(judge.states.first().cloned());
                }
            }
        }
        earlier.iter_mut().for_each(|earlier| drop(earlier.pop()));
        Subject { run, judges, files: files_below(&run.task.folder), older, earlier }
    }

    fn damage_one(&self, lab: &mut Lab, random: &mut StdRng) {
        let Some(name) = self.draw_file(random) else { return };
        let damage = self.draw(&name, random);
        if matches!(damage, Damage::Delete) && self.is_alone(&name) {
            return;
        }
        let folder = lab.new_folder();
        let mut files = self.files.clone();
        let bytes = files.remove(&name).expect("it is one of them");
        files.extend(damage.of(&bytes).map(|bytes| (name.clone(), bytes)));
        write(&folder, &files);
        let beside: Vec<String> = files.iter().map(|(name, bytes)| format!("{name} ({})", bytes.len())).collect();
        let context = format!(
            "{name} is damaged: {damage}, in {}\n  {}\n  there are {}",
            folder.display(),
            self.run.context(),
            beside.join(", ")
        );
        match name.starts_with("backup-") {
            true => self.restore(lab, &name, &damage, &folder, &context),
            false => self.open(lab, &name, &damage, &folder, &context),
        }
        if std::env::var("COZO_FAULTS_KEEP").is_err() {
            std::fs::remove_dir_all(&folder).unwrap();
        }
    }

    /// Whether no other file tells that there was this one: without a file of the old database, an opening makes a new one.
    fn is_alone(&self, name: &str) -> bool {
        let is_beside = |other: &str| other.starts_with("backup-") || other.ends_with("-lock") || other == SOURCE_FILE;
        let tells = |other: &str| other != name && !is_beside(other);
        // What threads of SQLite share is not kept, and its log may be empty.
        let is_kept = |other: &str, bytes: &[u8]| !bytes.is_empty() && !other.ends_with("-shm");
        !self.files.iter().any(|(other, bytes)| tells(other) && is_kept(other, bytes))
    }

    fn draw_file(&self, random: &mut StdRng) -> Option<String> {
        let of_kind = |kind: &&str| self.files.keys().filter(|name| matches(kind, name)).collect::<Vec<_>>();
        let kinds: Vec<Vec<&String>> = FILES.iter().map(of_kind).filter(|names| !names.is_empty()).collect();
        kinds.choose(random)?.choose(random).map(|name| name.to_string())
    }

    fn draw(&self, name: &str, random: &mut StdRng) -> Damage {
        let bytes = &self.files[name];
        let older = self.older.get(name).filter(|older| *older != bytes);
        match (random.random_range(0..12), older) {
            (0, _) => Damage::Delete,
            (1, _) => Damage::Append((0..random.random_range(1..5000)).map(|_| random.random()).collect()),
            (2 | 3, Some(older)) => Damage::Older(older.clone()),
            _ if bytes.is_empty() => Damage::Append(vec![0; 100]),
            (2..5, _) => Damage::Truncate(random.random_range(0..bytes.len())),
            (5 | 6, _) => Damage::zero(random.random_range(0..bytes.len())),
            _ => Damage::Flip { offset: random.random_range(0..bytes.len()), bit: random.random_range(0..8) },
        }
    }

    /// The database opens with all that it should hold, or something is said.
    fn open(&self, lab: &mut Lab, name: &str, damage: &Damage, folder: &Path, context: &str) {
        let (setting, damaged) = (self.run.task.setting(), files_below(folder));
        let found = match lab.examine(setting, folder, false) {
            Err(end) => return lab.find("the process that opens it ends", context, &end),
            Ok(found) => found,
        };
        if !found.complaints.is_empty() {
            return lab.find("a panic", context, &found.complaints.join("\n"));
        }
        let says = !found.says().is_empty();
        let difference = found.refusal.is_none().then(|| self.difference(&found.state())).flatten();
        let outcome = match (&found.refusal, &difference) {
            (Some(_), _) => "refused",
            (None, None) => "all is there",
            (None, Some(_)) if says => "some is there, and it is said",
            (None, Some(_)) => "some is lost without a word",
        };
        let excuse = (difference.is_some() && !says).then(|| self.excuse(name, damage, &found.state())).flatten();
        let counted = excuse.as_ref().map_or(outcome.to_string(), |excuse| format!("{outcome}: {excuse}"));
        *lab.done.entry(counted).or_default() += 1;
        if excuse.is_some() {
            return;
        }
        if let Some(difference) = &difference {
            let said = format!("{difference}\nit says: {:?}", found.says());
            match says {
                false => lab.find("some is lost without a word", context, &said),
                // SQLite knows pages, and not of whom they are.
                true if name != "db.sqlite" && !self.is_told(&found) => {
                    lab.find("more is lost than is said", context, &said)
                }
                true => {}
            }
        }
        let goes_on = self.goes_on_after(name, damage, &damaged);
        if !found.is_opened || (difference.is_some() && goes_on) {
            let said = format!("{outcome}: {:?}", found.says());
            self.check_evidence(lab, damaged.get(name), folder, &format!("{context}\n  {said}"));
        }
        self.open_again(lab, &found, folder, context);
    }

    /// How what is there differs from what should be.
    fn difference(&self, found: &State) -> Option<String> {
        Possible { judges: &self.judges, earlier: &[], may_be_torn: false }.difference(found)
    }

    /// Whether what is lost are the last commits, or is in relations that are named.
    fn is_told(&self, found: &Found) -> bool {
        let state = found.state();
        let is_named = |name: &String| found.says().iter().any(|said| said.contains(name.as_str()));
        let of_writer = |(judge, earlier): (&Judge<'_>, &Vec<State>)| {
            let is_changed = |expected| changed_relations(expected, &judge.part_of(&state));
            judge.is_among(&state, earlier)
                || judge.states.iter().any(|expected| is_changed(expected).iter().all(is_named))
        };
        self.judges.iter().zip(&self.earlier).all(of_writer)
    }

    /// How many states of writers are lost, if what is there is what they wrote up to some moment.
    fn lost(&self, found: &State) -> Option<usize> {
        let of_writer = |(judge, earlier): (&Judge<'_>, &Vec<State>)| {
            if judge.is_among(found, &judge.states) {
                return Some(0);
            }
            let is_found = |earlier: &State| digest(earlier) == digest(&judge.part_of(found));
            earlier.iter().rev().position(is_found).map(|lost| lost + 1)
        };
        self.judges.iter().zip(&self.earlier).map(of_writer).sum()
    }

    /// Whether something follows in the file that cannot be read because of the damage. SQLite's pages are written over
    /// where nothing was noticed when the database was opened.
    fn goes_on_after(&self, name: &str, damage: &Damage, damaged: &Files) -> bool {
        let follows = |from: usize| damaged[name][from..].iter().any(|byte| *byte != 0);
        match damage {
            _ if name == "db.sqlite" => false,
            // RocksDB takes zeros in its log for room that was never used, and what is behind them for that of an older log.
            Damage::Zero(_) if name.ends_with(".log") => false,
            Damage::Flip { offset, .. } => follows(*offset),
            Damage::Zero(from) => follows(*from),
            Damage::Truncate(_) | Damage::Delete | Damage::Append(_) | Damage::Older(_) => false,
        }
    }

    /// What was damaged is still there, under whatever name.
    fn check_evidence(&self, lab: &mut Lab, damaged: Option<&Vec<u8>>, folder: &Path, context: &str) {
        let now = files_below(folder);
        if damaged.is_some_and(|damaged| !now.values().any(|file| file.starts_with(damaged))) {
            let names: Vec<&String> = now.keys().collect();
            lab.find("what was damaged is removed", context, &format!("there are {names:?}"));
        }
    }

    /// What was refused is refused again; what was shown is shown again.
    fn open_again(&self, lab: &mut Lab, before: &Found, folder: &Path, context: &str) {
        let again = match lab.examine(self.run.task.setting(), folder, false) {
            Err(end) => return lab.find("the process that opens it again ends", context, &end),
            Ok(found) => found,
        };
        match (&before.refusal, &again.refusal) {
            (Some(_), Some(_)) => {}
            (None, None) => {
                if digest(&before.state()) != digest(&again.state()) {
                    lab.find("the second opening shows something else", context, "");
                }
            }
            (Some(refusal), None) => {
                let says = !again.says().is_empty() || self.difference(&again.state()).is_none();
                if !says {
                    lab.find("the second opening says nothing", context, refusal);
                }
            }
            (None, Some(refusal)) => lab.find("the second opening fails", context, refusal),
        }
    }

    /// Why a loss need not be said.
    fn excuse(&self, name: &str, damage: &Damage, found: &State) -> Option<Excuse> {
        if name == "db.sqlite" {
            let is_only = !self.files.keys().any(|name| name.starts_with("db.sqlite-"));
            return match damage {
                Damage::Flip { .. } | Damage::Zero(_) | Damage::Older(_) => Some(Excuse::NoChecksums),
                Damage::Delete if is_only => Some(Excuse::NothingLeft),
                _ => None,
            };
        }
        // See docs/engines.md: without a commit log nothing else knows what the log of the engine had.
        let options = self.run.task.setting().options();
        let has_commit_log = !["0}", "0,"].iter().any(|none| options.contains(&format!("\"commit_log_mb\": {none}")));
        let is_removed_log = name.ends_with(".log") && matches!(damage, Damage::Delete);
        if (name == "db.sqlite-wal" || is_removed_log) && !has_commit_log {
            return Some(Excuse::NothingElseKnows);
        }
        let lost = self.lost(found);
        let is_last_log = self.last_log().is_some_and(|last| last == name);
        let ends_early = match damage {
            Damage::Truncate(_) => true,
            Damage::Older(older) => self.files[name].starts_with(older),
            Damage::Zero(from) => from + PAGE >= self.files[name].len(),
            _ => false,
        };
        match lost {
            Some(_) if is_last_log && ends_early => Some(Excuse::EndsEarly),
            Some(1) if is_last_log && matches!(damage, Damage::Flip { .. } | Damage::Zero(_)) => {
                Some(Excuse::LastRecord)
            }
            _ => None,
        }
    }

    /// The log that was written last: a crash may leave its end unwritten.
    fn last_log(&self) -> Option<&str> {
        let number = |name: &&str| -> u64 {
            let digits: String = name.chars().filter(char::is_ascii_digit).collect();
            digits.parse().unwrap_or_default()
        };
        let of =
            |kind: &str| self.files.keys().map(String::as_str).filter(|name| matches(kind, name)).max_by_key(number);
        of("*commits-*").or_else(|| of("db.sqlite-wal")).or_else(|| of("*.log"))
    }

    /// A restore gives all of the backup, or an error and nothing.
    fn restore(&self, lab: &mut Lab, name: &str, damage: &Damage, folder: &Path, context: &str) {
        let path = folder.join(name);
        if !path.exists() {
            return;
        }
        let found = match lab.examiner.ask(&Question::Backup { path }) {
            Err(end) => return lab.find("the process that restores it ends", context, &end),
            Ok(found) => found,
        };
        if !found.complaints.is_empty() {
            lab.find("a restore goes wrong", context, &found.complaints.join("\n"));
        }
        let is_whole = self.judges.iter().any(|judge| {
            let made = judge.backups.iter().find(|(number, _)| backup_file(**number) == name);
            made.is_some_and(|(_, (_, states))| judge.is_among(&found.state(), states))
        });
        let outcome = match (found.refusal.is_some(), is_whole, damage) {
            (true, ..) => "a backup is refused",
            (_, true, _) => "a backup is restored",
            (_, _, Damage::Flip { .. } | Damage::Zero(_)) => "a backup is restored: SQLite has no checksums",
            _ => return lab.find("a part of a backup is restored without a word", context, ""),
        };
        *lab.done.entry(outcome.to_string()).or_default() += 1;
    }
}

/// Why a loss need not be said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Excuse {
    /// A page of SQLite has no checksum.
    NoChecksums,
    /// There is nothing that would know of a database.
    NothingLeft,
    /// There is no commit log that would know of what another log had.
    NothingElseKnows,
    /// A log ends early, as after a crash that came before the rest of it was written.
    EndsEarly,
    /// The last record of a log is not whole, as after a crash while it was written.
    LastRecord,
}

impl Display for Excuse {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Excuse::NoChecksums => "SQLite has no checksums",
            Excuse::NothingLeft => "nothing is left",
            Excuse::NothingElseKnows => "no commit log knows of it",
            Excuse::EndsEarly => "a log ends early",
            Excuse::LastRecord => "the last record of a log",
        })
    }
}

impl Damage {
    /// The page of an offset is zero.
    pub fn zero(offset: usize) -> Self {
        Damage::Zero(offset / PAGE * PAGE)
    }

    /// What becomes of the bytes of a file; nothing if it is gone.
    pub fn of(&self, bytes: &[u8]) -> Option<Vec<u8>> {
        let mut bytes = bytes.to_vec();
        match self {
            Damage::Flip { offset, bit } => bytes[*offset] ^= 1 << bit,
            Damage::Truncate(len) => bytes.truncate(*len),
            Damage::Zero(from) => {
                let to = (from + PAGE).min(bytes.len());
                bytes[*from..to].fill(0);
            }
            Damage::Delete => return None,
            Damage::Append(more) => bytes.extend(more),
            Damage::Older(older) => bytes.clone_from(older),
        }
        Some(bytes)
    }
}

/// Writes files below a folder.
fn write(folder: &Path, files: &Files) {
    for (name, bytes) in files.iter().filter(|(name, _)| *name != SOURCE_FILE) {
        let path = folder.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }
}
