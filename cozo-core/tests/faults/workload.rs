//! What a process does to a database: steps that follow from a seed.
//!
//! A step is drawn for the state that the steps before it make if none of them fails. If one fails, a later step may be refused
//! for that reason, and the [model](super::model) says so too.

use std::collections::BTreeMap;
use std::fmt::{self, Display, Formatter};
use std::sync::Arc;

use cozo::{DataValue, Validity};
use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};

use super::model::{Effect, State, TextRow, Written, apply, shown};

/// Makes the key and the values of a row of two numbers.
type MadeRow = fn(i64, i64) -> (Vec<DataValue>, Vec<DataValue>);

/// What the columns of a relation are.
#[derive(Debug, PartialEq)]
pub struct Shape {
    spec: &'static str,
    keys: &'static [&'static str],
    values: &'static [&'static str],
    /// The columns of its index.
    index: &'static str,
}

/// The shapes that relations have. No two have a column of the same name, so that none is taken for another.
const SHAPES: &[Shape] = &[
    Shape { spec: "k: Int => v: String", keys: &["k"], values: &["v"], index: "v" },
    Shape { spec: "a: Int, b: String => c", keys: &["a", "b"], values: &["c"], index: "c" },
    Shape { spec: "fr: Int, to: Int", keys: &["fr", "to"], values: &[], index: "to" },
    Shape { spec: "id: Int, at: Validity => w: String", keys: &["id", "at"], values: &["w"], index: "w" },
];

/// How many relations there are at most.
const MAX_RELATIONS: usize = 5;

/// The first letters of the names of relations, for one process that writes alone, and for two that write at once.
const ALONE: char = 'r';
const TOGETHER: [char; 2] = ['a', 'b'];

/// The numbers of backups of a writer begin here.
const BACKUPS_PER_WRITER: usize = 100;

/// Keys are below this number, so that rows are often put again.
const KEYS: i64 = 60;

/// What a large commit has: more rows than the commit log takes.
const MANY_ROWS: i64 = 5000;

/// Rows that RocksDB adds as a file, if they come after all others.
const APPENDED_ROWS: i64 = 17_000;

/// How a step is run.
#[derive(Clone, Debug)]
pub enum Action {
    /// A script with parameters.
    Script(String, BTreeMap<String, DataValue>),
    /// An import of rows under headers into relations.
    Import(BTreeMap<String, (Vec<String>, Vec<Vec<DataValue>>)>),
    /// Scripts in a transaction that is held open, which is committed or not.
    Held(Vec<(String, BTreeMap<String, DataValue>)>, bool),
    /// A backup with a number.
    Backup(usize),
    /// The database is filled from the file that lies beside it.
    Restore,
    /// Rows of a relation are imported from that file.
    ImportFromBackup(String),
    /// The database is closed and opened again.
    Reopen,
    /// Time passes, in which the commit log is applied.
    Pause,
}

/// A step.
#[derive(Clone, Debug)]
pub struct Step {
    words: String,
    pub action: Action,
    pub effects: Vec<Effect>,
    /// Whether it undoes its effects at its end.
    is_undone: bool,
    /// The number of the backup that it makes.
    pub backup: Option<usize>,
}

impl Step {
    /// The state after the step, or nothing if it is refused.
    pub fn after(&self, state: &State) -> Option<State> {
        let after = apply(state, &self.effects)?;
        Some(if self.is_undone { state.clone() } else { after })
    }
}

impl Display for Step {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&self.words)
    }
}

/// Rows as values and as text.
struct Rows {
    values: Vec<Vec<DataValue>>,
    text: Arc<Vec<TextRow>>,
}

/// The steps of one writer, a thread of the process.
pub struct Workload {
    pub steps: Vec<Step>,
    /// What the names of its relations begin with, if there are other writers.
    pub prefix: Option<char>,
}

/// Draws steps.
struct Generator<'s> {
    random: StdRng,
    /// What the names of relations begin with.
    letter: char,
    /// Whether this is the only writer.
    is_alone: bool,
    state: State,
    shapes: BTreeMap<String, &'static Shape>,
    /// The contents of the file beside the database.
    source: &'s State,
    steps: Vec<Step>,
    backups: usize,
    /// The next key that comes after all others.
    next_key: i64,
}

/// The steps of the writers of a seed; one seed in four has two. `source` is what the file beside the database holds.
pub fn of_seed(seed: u64, count: usize, source: &State) -> Vec<Workload> {
    if seed % 4 != 3 {
        return vec![Workload { steps: steps(seed, count, source, ALONE, 0), prefix: None }];
    }
    let writer = |(number, letter): (usize, char)| {
        let steps = steps(seed * 10 + number as u64, count / 2, source, letter, number * BACKUPS_PER_WRITER);
        Workload { steps, prefix: Some(letter) }
    };
    TOGETHER.into_iter().enumerate().map(writer).collect()
}

fn steps(seed: u64, count: usize, source: &State, letter: char, backups: usize) -> Vec<Step> {
    let random = StdRng::seed_from_u64(seed);
    let (state, shapes) = (State::new(), BTreeMap::new());
    let is_alone = letter == ALONE;
    let mut generator =
        Generator { random, letter, is_alone, state, shapes, source, steps: vec![], backups, next_key: 10_000 };
    generator.begin();
    while generator.steps.len() < count {
        generator.draw();
    }
    generator.steps
}

/// What the file beside the database is made by: relations that a workload knows.
pub fn source_scripts() -> Vec<String> {
    let put = |name: &str, rows: &str, shape: &Shape| format!("{rows} :create {name} {{{}}}", shape.spec);
    vec![
        put("r0", "?[k, v] := k in int_range(700), v = concat('from a backup ', to_string(k))", &SHAPES[0]),
        put("r1", "?[a, b, c] := a in int_range(30), b = to_string(a), c = [a, b]", &SHAPES[1]),
        put("r2", "?[fr, to] := fr in int_range(20), to in int_range(20)", &SHAPES[2]),
        "::index create r2:i {to}".to_string(),
    ]
}

/// The shapes of these relations.
const SOURCE_SHAPES: &[(&str, usize)] = &[("r0", 0), ("r1", 1), ("r2", 2)];

impl Generator<'_> {
    fn push(&mut self, words: impl Into<String>, action: Action, effects: Vec<Effect>) {
        let is_undone = matches!(action, Action::Held(_, false));
        let step = Step { words: words.into(), action, effects, is_undone, backup: None };
        if let Some(after) = step.after(&self.state) {
            self.state = after;
        }
        self.steps.push(step);
    }

    fn script(&mut self, words: impl Into<String>, script: impl Into<String>, effects: Vec<Effect>) {
        self.push(words, Action::Script(script.into(), BTreeMap::new()), effects);
    }

    fn with_rows(&mut self, words: String, script: String, rows: Rows, effects: Vec<Effect>) {
        let list = rows.values.into_iter().map(DataValue::List).collect();
        let parameters = BTreeMap::from([("rows".to_string(), DataValue::List(list))]);
        self.push(words, Action::Script(script, parameters), effects);
    }

    /// One database in four begins with a restore; others with two relations.
    fn begin(&mut self) {
        if self.is_alone && self.random.random_ratio(1, 4) {
            self.push("restore", Action::Restore, vec![Effect::Fill(self.source.clone())]);
            let known = SOURCE_SHAPES.iter().filter(|(name, _)| self.source.contains_key(*name));
            self.shapes.extend(known.map(|(name, shape)| (name.to_string(), &SHAPES[*shape])));
        } else {
            for _ in 0..2 {
                let shape = SHAPES.choose(&mut self.random).expect("there are shapes");
                let name = self.free_name().expect("there are few relations");
                self.create(&name, shape);
            }
        }
    }

    fn create(&mut self, name: &str, shape: &'static Shape) {
        self.shapes.insert(name.to_string(), shape);
        let effects = vec![Effect::Create { name: name.to_string(), columns: shape.columns() }];
        self.script(format!("create {name}"), format!(":create {name} {{{}}}", shape.spec), effects);
    }

    /// A relation that there is, and its shape.
    fn relation(&mut self) -> Option<(String, &'static Shape)> {
        let names: Vec<&String> = self.state.keys().filter(|name| self.shapes.contains_key(*name)).collect();
        let name = names.choose(&mut self.random)?.to_string();
        let shape = self.shapes[&name];
        Some((name, shape))
    }

    /// A name that no relation has.
    fn free_name(&mut self) -> Option<String> {
        let mut names = (0..MAX_RELATIONS).map(|number| format!("{}{number}", self.letter));
        names.find(|name| !self.state.contains_key(name))
    }

    fn draw(&mut self) {
        let drawn = self.random.random_range(0..100);
        let Some((name, shape)) = self.relation() else {
            let name = self.free_name().expect("there is no relation");
            return self.create(&name, &SHAPES[0]);
        };
        match drawn {
            0..32 => self.put_few(&name, shape),
            32..42 => self.change_one(&name, shape),
            42..52 => self.chain(&name, shape),
            52..58 => self.put_many(&name, shape),
            58..60 => self.put_long(&name, shape),
            60..66 => self.import(&name, shape),
            66..74 => self.hold(&name, shape),
            74..90 => self.define(drawn, &name, shape),
            90..92 => self.script("compact", "::compact", vec![]),
            92..94 => self.back_up(),
            94..95 if self.is_alone => self.import_from_backup(),
            95..98 if self.is_alone => self.push("close and open", Action::Reopen, vec![]),
            _ => self.push("wait", Action::Pause, vec![]),
        }
    }

    fn put_few(&mut self, name: &str, shape: &Shape) {
        let count = if self.random.random_ratio(3, 4) { 1 } else { self.random.random_range(2..30) };
        let rows = self.rows(shape, count);
        let effects = vec![Effect::Put(shape.written(name, &rows.text))];
        let words = format!("put {count} into {name}");
        if count == 1 && shape != &SHAPES[3] {
            return self.put_one(words, name, shape, rows, effects);
        }
        self.with_rows(words, shape.put("$rows", ":put", name), rows, effects);
    }

    /// A row of parameters, which takes a way of its own through the engine.
    fn put_one(&mut self, words: String, name: &str, shape: &Shape, rows: Rows, effects: Vec<Effect>) {
        let row = rows.values.into_iter().next().expect("there is a row");
        let names: Vec<String> = (0..row.len()).map(|column| format!("$p{column}")).collect();
        let script = shape.put(&format!("[[{}]]", names.join(", ")), ":put", name);
        let parameters = row.into_iter().enumerate().map(|(column, value)| (format!("p{column}"), value)).collect();
        self.push(words, Action::Script(script, parameters), effects);
    }

    /// An insert, an update or a removal, of rows that are there or not.
    fn change_one(&mut self, name: &str, shape: &Shape) {
        let name = name.to_string();
        let count = self.random.random_range(1..4);
        let rows = self.rows(shape, count);
        let text = rows.text.clone();
        match self.random.random_range(0..3) {
            0 => {
                let effects = vec![Effect::Insert(shape.written(&name, &text))];
                self.with_rows(format!("insert into {name}"), shape.put("$rows", ":insert", &name), rows, effects);
            }
            1 if !shape.values.is_empty() => {
                let effects = vec![Effect::Update(shape.written(&name, &text))];
                self.with_rows(format!("update {name}"), shape.put("$rows", ":update", &name), rows, effects);
            }
            _ => {
                let effects = vec![Effect::Remove(shape.written(&name, &text))];
                let keys = shape.keys.join(", ");
                let script = format!("?[{}] <- $rows :rm {name} {{{keys}}}", shape.columns());
                self.with_rows(format!("remove from {name}"), script, rows, effects);
            }
        }
    }

    /// Two writes in one transaction.
    fn chain(&mut self, name: &str, shape: &Shape) {
        let (other, other_shape) = self.relation().expect("there is one");
        let (rows, more) = (self.rows(shape, 2), self.rows(other_shape, 3));
        let effects =
            vec![Effect::Put(shape.written(name, &rows.text)), Effect::Put(other_shape.written(&other, &more.text))];
        let script =
            format!("{{{}}} {{{}}}", shape.put("$rows", ":put", name), other_shape.put("$more", ":put", &other));
        let list = |values: Vec<Vec<DataValue>>| DataValue::List(values.into_iter().map(DataValue::List).collect());
        let parameters =
            [("rows".to_string(), list(rows.values)), ("more".to_string(), list(more.values))].into_iter().collect();
        self.push(format!("put into {name} and {other}"), Action::Script(script, parameters), effects);
    }

    /// More rows than the commit log takes; some come after all others.
    fn put_many(&mut self, name: &str, shape: &Shape) {
        let appends = self.random.random_ratio(1, 3);
        let count = if appends && self.random.random_ratio(1, 3) { APPENDED_ROWS } else { MANY_ROWS };
        let from = if appends { self.next_key } else { self.random.random_range(0..2 * KEYS) };
        self.next_key = self.next_key.max(from + count);
        let (script, row) = shape.many(name, self.steps.len() as i64);
        let rows = Arc::new((from..from + count).map(row).collect());
        let parameters = [("from".to_string(), from.into()), ("to".to_string(), (from + count).into())];
        let effects = vec![Effect::Put(shape.written(name, &rows))];
        let words = format!("put {count} from {from} into {name}");
        self.push(words, Action::Script(script, parameters.into_iter().collect()), effects);
    }

    /// Few rows with more bytes than the commit log takes.
    fn put_long(&mut self, name: &str, shape: &Shape) {
        let mut rows = self.rows(shape, 40);
        if shape.values.is_empty() {
            return self.put_few(name, shape);
        }
        for (number, row) in rows.values.iter_mut().enumerate() {
            *row.last_mut().expect("there are values") = format!("{number} {}", "long ".repeat(6000)).into();
        }
        let rows = Rows::new(shape, rows.values);
        let effects = vec![Effect::Put(shape.written(name, &rows.text))];
        self.with_rows(format!("put long texts into {name}"), shape.put("$rows", ":put", name), rows, effects);
    }

    /// Rows put into one relation and removed from another, at once.
    fn import(&mut self, name: &str, shape: &Shape) {
        let count = self.random.random_range(1..200);
        let rows = self.rows(shape, count);
        let mut effects = vec![Effect::Put(shape.written(name, &rows.text))];
        let mut data = BTreeMap::from([(name.to_string(), (shape.headers(), rows.values))]);
        let (other, other_shape) = self.relation().expect("there is one");
        if other != name {
            let rows = self.rows(other_shape, 5);
            // Names that begin with '-' come first.
            effects.insert(0, Effect::Remove(other_shape.written(&other, &rows.text)));
            data.insert(format!("-{other}"), (other_shape.headers(), rows.values));
        }
        self.push(format!("import into {name}, out of {other}"), Action::Import(data), effects);
    }

    fn hold(&mut self, name: &str, shape: &Shape) {
        let commits = self.random.random_ratio(3, 4);
        let (mut scripts, mut effects) = (vec![], vec![]);
        let (other, other_shape) = self.relation().expect("there is one");
        for (name, shape) in [(name, shape), (&other, other_shape)] {
            let rows = self.rows(shape, 2);
            effects.push(Effect::Put(shape.written(name, &rows.text)));
            let list = DataValue::List(rows.values.into_iter().map(DataValue::List).collect());
            scripts.push((shape.put("$rows", ":put", name), BTreeMap::from([("rows".to_string(), list)])));
        }
        let words = format!("hold a transaction on {name} and {other}, {}", if commits { "commit" } else { "abort" });
        self.push(words, Action::Held(scripts, commits), effects);
    }

    /// A change of the catalog.
    fn define(&mut self, drawn: u32, name: &str, shape: &'static Shape) {
        let has_index = !self.state[name].indices.is_empty();
        let (relation, index) = (name.to_string(), "i".to_string());
        match (drawn % 5, has_index, self.free_name()) {
            (0, _, Some(free)) => {
                let shape = SHAPES.choose(&mut self.random).expect("there are shapes");
                match self.random.random() {
                    true => self.create(&free, shape),
                    false => self.create_with_rows(&free, shape),
                }
            }
            (1, false, _) => {
                let effects = vec![Effect::Index { name: relation, columns: shape.columns(), index }];
                self.script(
                    format!("make an index on {name}"),
                    format!("::index create {name}:i {{{}}}", shape.index),
                    effects,
                );
            }
            (1, true, _) | (2, true, _) => {
                let effects = vec![Effect::Unindex { name: relation, index }];
                self.script(format!("drop the index of {name}"), format!("::index drop {name}:i"), effects);
            }
            (2, false, _) if self.state.len() > 2 => {
                self.script(format!("drop {name}"), format!("::remove {name}"), vec![Effect::Drop { name: relation }]);
            }
            (3, _, Some(free)) => {
                self.shapes.insert(free.clone(), shape);
                let effects = vec![Effect::Rename { name: relation, to: free.clone() }];
                self.script(format!("rename {name} to {free}"), format!("::rename {name} -> {free}"), effects);
            }
            (4, false, _) => self.replace(name, shape),
            _ => self.put_few(name, shape),
        }
    }

    fn create_with_rows(&mut self, name: &str, shape: &'static Shape) {
        self.shapes.insert(name.to_string(), shape);
        let rows = self.rows(shape, 20);
        let effects = vec![
            Effect::Create { name: name.to_string(), columns: shape.columns() },
            Effect::Put(shape.written(name, &rows.text)),
        ];
        let script = format!("?[{}] <- $rows :create {name} {{{}}}", shape.columns(), shape.spec);
        self.with_rows(format!("create {name} with rows"), script, rows, effects);
    }

    fn replace(&mut self, name: &str, shape: &Shape) {
        let rows = self.rows(shape, 20);
        let effects = vec![
            Effect::Replace { name: name.to_string(), columns: shape.columns() },
            Effect::Put(shape.written(name, &rows.text)),
        ];
        let script = format!("?[{}] <- $rows :replace {name} {{{}}}", shape.columns(), shape.spec);
        self.with_rows(format!("replace {name}"), script, rows, effects);
    }

    fn back_up(&mut self) {
        let number = self.backups;
        self.backups += 1;
        self.push(format!("back up as {number}"), Action::Backup(number), vec![]);
        self.steps.last_mut().expect("just pushed").backup = Some(number);
    }

    /// Into a relation of the same columns without an index, if there is one.
    fn import_from_backup(&mut self) {
        let fits = |(name, shape): &&(&str, usize)| {
            let known = self.state.get(*name);
            self.source.contains_key(*name)
                && known.is_some_and(|known| known.indices.is_empty() && known.columns == SHAPES[*shape].columns())
        };
        let Some((name, shape)) = SOURCE_SHAPES.iter().find(fits) else { return self.back_up() };
        let shape = &SHAPES[*shape];
        let rows = self.source[*name].rows.iter().map(|(key, value)| (key.clone(), value.clone())).collect();
        let effects = vec![Effect::Put(shape.written(name, &Arc::new(rows)))];
        self.push(format!("import {name} from a backup"), Action::ImportFromBackup(name.to_string()), effects);
    }

    /// Random rows with different keys.
    fn rows(&mut self, shape: &Shape, count: usize) -> Rows {
        let mut rows = BTreeMap::new();
        while rows.len() < count {
            let key: Vec<DataValue> = shape.keys.iter().map(|column| self.key(column)).collect();
            let values: Vec<DataValue> = shape.values.iter().map(|column| self.value(column)).collect();
            rows.insert(key, values);
            if shape.keys == ["k"] && count > KEYS as usize / 2 {
                // There are few keys: these rows come one after the other.
                let from = self.random.random_range(0..KEYS);
                let all = (from..from + count as i64).map(|k| (vec![k.into()], vec![self.value("v")]));
                rows = all.collect();
            }
        }
        Rows::new(shape, rows.into_iter().map(|(key, values)| [key, values].concat()).collect())
    }

    fn key(&mut self, column: &str) -> DataValue {
        let number = self.random.random_range(0..KEYS);
        match column {
            "b" => format!("text {number}").into(),
            "at" => DataValue::List(vec![number.into(), self.random.random_ratio(3, 4).into()]),
            _ => number.into(),
        }
    }

    fn value(&mut self, column: &str) -> DataValue {
        let number: i64 = self.random.random_range(-1000..1_000_000);
        match (column, self.random.random_range(0..20)) {
            ("c", 0..4) => number.into(),
            ("c", 4..7) => (number as f64 / 8.0).into(),
            ("c", 7..9) => DataValue::Null,
            ("c", 9..12) => DataValue::List(vec![number.into(), format!("in a list {number}").into()]),
            ("c", 12..14) => (number % 2 == 0).into(),
            (_, 19) => format!("{number} {}", "0123456789".repeat(self.random.random_range(100..1000))).into(),
            (_, 14..19) => format!("{number} {}", "some text ".repeat(9)).into(),
            _ => format!("text {number}").into(),
        }
    }
}

impl Rows {
    fn new(shape: &Shape, values: Vec<Vec<DataValue>>) -> Self {
        let keys = shape.keys.len();
        let text = |row: &Vec<DataValue>| {
            let stored: Vec<DataValue> =
                shape.headers().iter().zip(row).map(|(column, value)| stored(column, value)).collect();
            (shown(&stored[..keys]), shown(&stored[keys..]))
        };
        Rows { text: Arc::new(values.iter().map(text).collect()), values }
    }
}

/// A value as its column has it.
fn stored(column: &str, value: &DataValue) -> DataValue {
    match (column, value.get_slice()) {
        ("at", Some([at, DataValue::Bool(asserts)])) => {
            DataValue::Validity(Validity::from((at.get_int().expect("a time is an integer"), *asserts)))
        }
        _ => value.clone(),
    }
}

impl Shape {
    fn headers(&self) -> Vec<String> {
        self.keys.iter().chain(self.values).map(|name| name.to_string()).collect()
    }

    fn columns(&self) -> String {
        self.headers().join(", ")
    }

    /// Rows for a relation of this shape.
    fn written(&self, name: &str, rows: &Arc<Vec<TextRow>>) -> Written {
        Written { name: name.to_string(), columns: self.columns(), rows: rows.clone() }
    }

    /// A script that writes rows.
    fn put(&self, rows: &str, operation: &str, name: &str) -> String {
        let (columns, keys, values) = (self.columns(), self.keys.join(", "), self.values.join(", "));
        let arrow = if values.is_empty() { "" } else { " => " };
        format!("?[{columns}] <- {rows} {operation} {name} {{{keys}{arrow}{values}}}")
    }

    /// A script that puts the rows of many numbers, and the row of a number.
    fn many(&self, name: &str, mark: i64) -> (String, impl Fn(i64) -> TextRow + use<>) {
        let numbers = "i in int_range($from, $to)";
        let (rules, made): (String, MadeRow) = match self.spec {
            "k: Int => v: String" => {
                (format!("k = i, v = '{mark} many'"), |i, mark| (vec![i.into()], vec![format!("{mark} many").into()]))
            }
            "a: Int, b: String => c" => {
                (format!("a = i, b = 'many', c = {mark}"), |i, mark| (vec![i.into(), "many".into()], vec![mark.into()]))
            }
            "fr: Int, to: Int" => (format!("fr = i, to = {mark}"), |i, mark| (vec![i.into(), mark.into()], vec![])),
            _ => (format!("id = i, at = [{mark}, true], w = 'many'"), |i, mark| {
                (vec![i.into(), DataValue::Validity(Validity::from((mark, true)))], vec!["many".into()])
            }),
        };
        let (columns, keys, values) = (self.columns(), self.keys.join(", "), self.values.join(", "));
        let arrow = if values.is_empty() { "" } else { " => " };
        let script = format!("?[{columns}] := {numbers}, {rules} :put {name} {{{keys}{arrow}{values}}}");
        let row = move |i| {
            let (key, values) = made(i, mark);
            (shown(&key), shown(&values))
        };
        (script, row)
    }
}
