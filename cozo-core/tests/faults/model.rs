//! What a database should hold: relations as text, and the states that are possible after what was acknowledged.
//!
//! A [`State`] is the contents of a database. A step of the workload has [`Effect`]s, which make a state of a state or are refused.
//! A [`Judge`] follows what a process said about its steps. It has one state, and two after a step whose outcome is unknown:
//! with the step and without it.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::PathBuf;
use std::sync::Arc;

use cozo::{DataValue, DbInstance};
use imbl::OrdMap;
use serde::{Deserialize, Serialize};

use super::workload::{Step, Workload};

/// A row as text: the key, and the values.
pub type TextRow = (Arc<str>, Arc<str>);

/// The contents of one relation.
#[derive(Clone, Debug, Default)]
pub struct Relation {
    /// The names of the columns.
    pub columns: String,
    /// The names of its indices.
    pub indices: BTreeSet<String>,
    /// Values by keys, both as text.
    pub rows: OrdMap<Arc<str>, Arc<str>>,
    /// The sum of the hashes of the rows.
    sum: u64,
}

/// The contents of a database.
pub type State = BTreeMap<String, Arc<Relation>>;

/// Rows that are written to a relation.
#[derive(Clone, Debug)]
pub struct Written {
    pub name: String,
    /// The columns that the relation must have.
    pub columns: String,
    pub rows: Arc<Vec<TextRow>>,
}

/// What a step does to a relation.
#[derive(Clone, Debug)]
pub enum Effect {
    /// Makes an empty relation with these columns.
    Create { name: String, columns: String },
    /// Makes a relation anew, or for the first time.
    Replace { name: String, columns: String },
    /// Puts rows.
    Put(Written),
    /// Puts rows that must not be there.
    Insert(Written),
    /// Puts rows that must be there.
    Update(Written),
    /// Removes rows, if they are there.
    Remove(Written),
    /// Renames a relation.
    Rename { name: String, to: String },
    /// Drops a relation.
    Drop { name: String },
    /// Makes an index of a relation that must have these columns.
    Index { name: String, columns: String, index: String },
    /// Drops an index.
    Unindex { name: String, index: String },
    /// Fills an empty database.
    Fill(State),
}

/// Values as text. Long ones are shortened, with their hash.
pub fn shown(values: &[DataValue]) -> Arc<str> {
    let text: Vec<String> = values.iter().map(DataValue::to_string).collect();
    let text = text.join(", ");
    match text.char_indices().nth(60) {
        Some((cut, _)) => format!("{}... ({} bytes, {:08x})", &text[..cut], text.len(), hash_of(&text) as u32).into(),
        None => text.into(),
    }
}

fn hash_of(value: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

impl Relation {
    /// An empty relation.
    pub fn new(columns: &str) -> Self {
        Relation { columns: columns.to_string(), ..Relation::default() }
    }

    pub fn put(&mut self, (key, value): TextRow) {
        self.sum = self.sum.wrapping_add(hash_of((&*key, &*value)));
        if let Some(before) = self.rows.insert(key.clone(), value) {
            self.sum = self.sum.wrapping_sub(hash_of((&*key, &*before)));
        }
    }

    fn remove(&mut self, key: &Arc<str>) {
        if let Some(before) = self.rows.remove(key) {
            self.sum = self.sum.wrapping_sub(hash_of((&**key, &*before)));
        }
    }

    /// What tells relations apart.
    fn digest(&self) -> u64 {
        hash_of((&self.columns, &self.indices, self.rows.len(), self.sum))
    }
}

/// What tells states apart.
pub fn digest(state: &State) -> u64 {
    hash_of(state.iter().map(|(name, relation)| (name, relation.digest())).collect::<Vec<_>>())
}

/// A relation as processes tell each other of it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Listed {
    name: String,
    columns: String,
    indices: BTreeSet<String>,
    rows: Vec<TextRow>,
}

/// The relations of a state.
pub fn list(state: &State) -> Vec<Listed> {
    let listed = |(name, relation): (&String, &Arc<Relation>)| {
        let rows = relation.rows.iter().map(|(key, value)| (key.clone(), value.clone())).collect();
        Listed { name: name.clone(), columns: relation.columns.clone(), indices: relation.indices.clone(), rows }
    };
    state.iter().map(listed).collect()
}

/// The state of these relations.
pub fn state_of(relations: &[Listed]) -> State {
    let relations = relations.iter().map(|listed| {
        let mut relation = Relation::new(&listed.columns);
        relation.indices = listed.indices.clone();
        listed.rows.iter().cloned().for_each(|row| relation.put(row));
        (listed.name.clone(), Arc::new(relation))
    });
    relations.collect()
}

/// The relations of a writer, or all.
pub fn of_writer(state: &State, prefix: Option<char>) -> State {
    let of = state.iter().filter(|(name, _)| prefix.is_none_or(|prefix| name.starts_with(prefix)));
    of.map(|(name, relation)| (name.clone(), relation.clone())).collect()
}

/// All that a database holds, of hidden relations their names.
pub fn contents(db: &DbInstance) -> cozo::Result<State> {
    let listed = db.run_script("::relations", BTreeMap::new(), cozo::ScriptMutability::Immutable)?;
    let mut state = BTreeMap::<String, Relation>::new();
    for row in &listed.rows {
        let name = row[0].get_str().expect("a name is text");
        if let Some((relation, index)) = name.split_once(':') {
            // Indices come after their relations by name.
            state.get_mut(relation).expect("its relation is listed").indices.insert(index.to_string());
            continue;
        }
        if row[2].get_str() == Some("hidden") {
            state.insert(name.to_string(), Relation::new("hidden"));
            continue;
        }
        let keys = row[3].get_int().expect("a number of columns is an integer") as usize;
        let exported = db.export_relations([name].into_iter())?.remove(name).expect("it was asked for");
        let mut relation = Relation::new(&exported.headers.join(", "));
        exported.rows.iter().for_each(|row| relation.put((shown(&row[..keys]), shown(&row[keys..]))));
        state.insert(name.to_string(), relation);
    }
    Ok(state.into_iter().map(|(name, relation)| (name, Arc::new(relation))).collect())
}

/// The state after some effects, or nothing if one is refused.
pub fn apply(state: &State, effects: &[Effect]) -> Option<State> {
    effects.iter().try_fold(state.clone(), |mut state, effect| effect.apply(&mut state).map(|()| state))
}

impl Effect {
    fn apply(&self, state: &mut State) -> Option<()> {
        match self {
            Effect::Create { name, .. } if state.contains_key(name) => None,
            Effect::Replace { name, .. } if state.get(name).is_some_and(|known| !known.indices.is_empty()) => None,
            Effect::Create { name, columns } | Effect::Replace { name, columns } => {
                state.insert(name.clone(), Arc::new(Relation::new(columns)));
                Some(())
            }
            Effect::Put(written) => written.change(state, put_all),
            Effect::Insert(written) => written.change(state, |relation, rows| {
                let are_new = rows.iter().all(|(key, _)| !relation.rows.contains_key(key));
                are_new.then(|| put_all(relation, rows)).flatten()
            }),
            Effect::Update(written) => written.change(state, |relation, rows| {
                let are_there = rows.iter().all(|(key, _)| relation.rows.contains_key(key));
                are_there.then(|| put_all(relation, rows)).flatten()
            }),
            Effect::Remove(written) => written.change(state, |relation, rows| {
                rows.iter().for_each(|(key, _)| relation.remove(key));
                Some(())
            }),
            Effect::Rename { name, to } if !state.contains_key(to) => {
                let relation = state.remove(name)?;
                state.insert(to.clone(), relation);
                Some(())
            }
            Effect::Drop { name } if state.get(name)?.indices.is_empty() => state.remove(name).map(drop),
            Effect::Rename { .. } | Effect::Drop { .. } => None,
            Effect::Index { name, columns, index } => {
                change(state, name, |of| (of.columns == *columns && of.indices.insert(index.clone())).then_some(()))
            }
            Effect::Unindex { name, index } => change(state, name, |of| of.indices.remove(index).then_some(())),
            Effect::Fill(with) if state.is_empty() => {
                *state = with.clone();
                Some(())
            }
            Effect::Fill(_) => None,
        }
    }
}

impl Written {
    fn change(&self, state: &mut State, work: impl FnOnce(&mut Relation, &[TextRow]) -> Option<()>) -> Option<()> {
        change(state, &self.name, |relation| {
            (relation.columns == self.columns).then(|| work(relation, &self.rows)).flatten()
        })
    }
}

fn change(state: &mut State, name: &str, work: impl FnOnce(&mut Relation) -> Option<()>) -> Option<()> {
    work(Arc::make_mut(state.get_mut(name)?))
}

fn put_all(relation: &mut Relation, rows: &[TextRow]) -> Option<()> {
    rows.iter().cloned().for_each(|row| relation.put(row));
    Some(())
}

/// What a process said of a step, or of the database.
#[derive(Clone, Debug, PartialEq)]
pub enum Said {
    /// A step begins.
    Begins(usize),
    /// A step is acknowledged.
    Done(usize),
    /// A step is refused, with a code and a message.
    Refused(usize, String, String),
    /// The database holds what has this digest, before the step of this number.
    Sees(usize, u64),
    /// Something else, for the reader of the report.
    Remark(String),
}

/// The file that a process puts into what it saw before a step.
pub fn seen_file(prefix: Option<char>, step: usize) -> String {
    format!("seen-{}{step}", prefix.map_or(String::new(), String::from))
}

/// The code of an error that leaves it open whether a commit happened.
pub const UNKNOWN: &str = "storage::unknown_outcome";

impl Said {
    /// Reads a line that begins with the number of the writer.
    pub fn of_writer(line: &str) -> (usize, Said) {
        let (writer, line) = line.split_once(' ').unwrap_or_default();
        (writer.parse().unwrap_or_default(), Said::parse(line))
    }

    fn parse(line: &str) -> Said {
        let mut parts = line.splitn(4, ' ');
        let word = parts.next().unwrap_or_default();
        let number = parts.next().and_then(|number| number.parse().ok());
        let mut text = || parts.next().unwrap_or_default().to_string();
        match (word, number) {
            ("begins", Some(step)) => Said::Begins(step),
            ("done", Some(step)) => Said::Done(step),
            ("refused", Some(step)) => Said::Refused(step, text(), text()),
            ("sees", Some(step)) => Said::Sees(step, text().parse().unwrap_or_default()),
            _ => Said::Remark(line.to_string()),
        }
    }
}

/// More states than this are not followed.
const MAX_STATES: usize = 512;

/// Follows what a process said.
#[derive(Clone)]
pub struct Judge<'w> {
    pub steps: &'w [Step],
    /// What the names of its relations begin with, if there are others.
    prefix: Option<char>,
    /// What the database may hold.
    pub states: Vec<State>,
    /// The step that has begun and not ended.
    pending: Option<usize>,
    /// Whether readers have seen what they should not.
    is_strange: bool,
    /// What should not have been said.
    pub complaints: Vec<String>,
    /// What each backup that was begun may hold, by its number, and whether it was acknowledged.
    pub backups: BTreeMap<usize, (bool, Vec<State>)>,
    /// The folder of the files that the process put into what it saw.
    pub seen: Option<PathBuf>,
    /// The last step that is acknowledged.
    pub last_done: Option<usize>,
}

impl<'w> Judge<'w> {
    /// Before anything is said.
    pub fn new(workload: &'w Workload) -> Self {
        let Workload { steps, prefix } = workload;
        let states = vec![State::new()];
        let (complaints, backups) = (vec![], BTreeMap::new());
        Judge {
            steps,
            prefix: *prefix,
            states,
            pending: None,
            is_strange: false,
            complaints,
            backups,
            seen: None,
            last_done: None,
        }
    }

    /// Takes in what comes next.
    pub fn hear(&mut self, said: &Said) {
        match said {
            Said::Begins(step) => {
                self.pending = Some(*step);
                self.back_up(*step, false);
            }
            Said::Done(step) => self.done(*step),
            Said::Refused(step, code, _) if code == UNKNOWN => {
                self.pending = None;
                self.states = self.with_and_without(*step);
            }
            Said::Refused(step, code, message) => self.refused(*step, code, message),
            Said::Sees(step, digest_seen) => {
                let is_explained = self.states.iter().any(|state| digest(state) == *digest_seen);
                // Once is enough: what readers should not see, they see again.
                if !is_explained && !std::mem::replace(&mut self.is_strange, true) {
                    self.complaints.push(format!("before step {step} readers saw: {}", self.describe_seen(*step)));
                }
            }
            Said::Remark(_) => {}
        }
    }

    /// Notes what the backup of a step has, if it makes one.
    fn back_up(&mut self, step: usize, is_acknowledged: bool) {
        if let Some(backup) = self.steps[step].backup {
            self.backups.insert(backup, (is_acknowledged, self.states.clone()));
        }
    }

    /// How what readers saw differs from what they should have.
    fn describe_seen(&self, step: usize) -> String {
        let file = self
            .seen
            .as_ref()
            .and_then(|folder| std::fs::read_to_string(folder.join(seen_file(self.prefix, step))).ok());
        let seen = file.map(|text| state_of(&serde_json::from_str::<Vec<Listed>>(&text).unwrap()));
        seen.and_then(|seen| self.difference(&seen)).unwrap_or_default()
    }

    fn after(&self, step: usize) -> Vec<State> {
        self.states.iter().filter_map(|state| self.steps[step].after(state)).collect()
    }

    fn with_and_without(&self, step: usize) -> Vec<State> {
        let mut states: Vec<State> = self.states.iter().cloned().chain(self.after(step)).collect();
        let mut known = BTreeSet::new();
        states.retain(|state| known.insert(digest(state)));
        assert!(states.len() <= MAX_STATES, "too many steps of an unknown outcome");
        states
    }

    fn done(&mut self, step: usize) {
        self.pending = None;
        self.last_done = Some(step);
        let after = self.after(step);
        match after.is_empty() {
            true => {
                self.complaints.push(format!("step {step} ({}) was acknowledged and makes no sense", self.steps[step]))
            }
            false => self.states = after,
        }
        self.back_up(step, true);
    }

    fn refused(&mut self, step: usize, code: &str, message: &str) {
        self.pending = None;
        if is_of_files(code) {
            return;
        }
        // Other states stay possible: while an outcome is unknown the database shows what was before, and the next opening may find
        // the commit.
        let refuses = |state: &State| self.steps[step].after(state).is_none();
        if !self.states.iter().any(refuses) {
            self.complaints.push(format!("step {step} ({}) was refused: {code} {message}", self.steps[step]));
        }
    }

    /// What the database may hold if the process ends here.
    pub fn possible(&self) -> Vec<State> {
        self.pending.map_or_else(|| self.states.clone(), |step| self.with_and_without(step))
    }

    /// What is there of its writer.
    pub fn part_of(&self, found: &State) -> State {
        of_writer(found, self.prefix)
    }

    /// Whether some of these states are what is there.
    pub fn is_among(&self, found: &State, states: &[State]) -> bool {
        let found = digest(&of_writer(found, self.prefix));
        states.iter().any(|state| digest(state) == found)
    }

    /// How what is there differs from what may be there, in words; nothing if it does not.
    pub fn difference(&self, found: &State) -> Option<String> {
        let (possible, found) = (self.possible(), &of_writer(found, self.prefix));
        if possible.iter().any(|state| digest(state) == digest(found)) {
            return None;
        }
        let described = possible.iter().map(|state| differences(state, found, self.steps));
        described.min_by_key(Vec::len).map(|lines| lines.join("\n"))
    }
}

/// Whether an error is one of files and the disk.
pub fn is_of_files(code: &str) -> bool {
    ["storage::engine", "storage::damaged", "backup::file", "storage::not_a_database"].contains(&code)
        || (code.starts_with("storage::") && code != "storage::no_such_relation")
}

/// How two states differ, in words.
fn differences(expected: &State, found: &State, steps: &[Step]) -> Vec<String> {
    let mut lines = vec![];
    for (name, relation) in expected {
        match found.get(name) {
            None => lines.push(format!("the relation {name} ({} rows) is not there", relation.rows.len())),
            Some(found) => compare(name, relation, found, steps, &mut lines),
        }
    }
    let more = found.iter().filter(|(name, _)| !expected.contains_key(*name));
    lines.extend(
        more.map(|(name, relation)| format!("the relation {name} ({} rows) should not be there", relation.rows.len())),
    );
    lines
}

fn compare(name: &str, expected: &Relation, found: &Relation, steps: &[Step], lines: &mut Vec<String>) {
    if (&expected.columns, &expected.indices) != (&found.columns, &found.indices) {
        let (was, is) = ((&expected.columns, &expected.indices), (&found.columns, &found.indices));
        lines.push(format!("{name} should have the columns and indices {was:?}, and has {is:?}"));
    }
    let lost = expected.rows.iter().filter(|(key, _)| !found.rows.contains_key(*key)).map(|(key, _)| key);
    describe(&format!("{name} lacks"), lost.collect(), name, steps, lines);
    let more = found.rows.iter().filter(|(key, _)| !expected.rows.contains_key(*key)).map(|(key, _)| key);
    describe(&format!("{name} has, and should not have,"), more.collect(), name, steps, lines);
    let other = expected.rows.iter().filter(|(key, value)| found.rows.get(*key).is_some_and(|found| found != *value));
    describe(&format!("{name} has other values at"), other.map(|(key, _)| key).collect(), name, steps, lines);
}

/// The keys of a difference, with the steps that wrote the first few of them.
fn describe(what: &str, keys: Vec<&Arc<str>>, name: &str, steps: &[Step], lines: &mut Vec<String>) {
    let some = keys.iter().take(3).map(|key| match writers(key, name, steps).as_slice() {
        [] => format!("[{key}]"),
        writers => format!("[{key}] (steps {writers:?})"),
    });
    let some: Vec<String> = some.collect();
    if !some.is_empty() {
        lines.push(format!("{what} {} rows: {}", keys.len(), some.join(", ")));
    }
}

/// The steps that put or remove a key of a relation.
fn writers(key: &Arc<str>, name: &str, steps: &[Step]) -> Vec<usize> {
    let writes = |effect: &Effect| match effect {
        Effect::Put(written) | Effect::Insert(written) | Effect::Update(written) | Effect::Remove(written) => {
            written.name == name && written.rows.iter().any(|row| row.0 == *key)
        }
        _ => false,
    };
    let all = steps.iter().enumerate().filter(|(_, step)| step.effects.iter().any(writes));
    all.map(|(number, _)| number).collect()
}

/// The names of the relations in which two states differ.
pub fn changed_relations(one: &State, other: &State) -> Vec<String> {
    let digest_of = |state: &State, name: &String| state.get(name).map(|relation| relation.digest());
    let names: BTreeSet<&String> = one.keys().chain(other.keys()).collect();
    names.into_iter().filter(|name| digest_of(one, name) != digest_of(other, name)).cloned().collect()
}
