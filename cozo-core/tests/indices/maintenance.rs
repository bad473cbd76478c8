//! Random writes of every kind, to a relation with indices and to the same relation without: the relations stay the same,
//! and every index is at any time what it would be if it were built anew.

use std::collections::BTreeMap;

use cozo::{DataValue, DbInstance, NamedRows};
use rand::rngs::StdRng;
use rand::seq::{IndexedRandom, SliceRandom};
use rand::{RngExt, SeedableRng};

use super::common::{code, rows};

/// A relation `r` of random width, in two databases.
struct Fixture {
    random: StdRng,
    columns: Vec<String>,
    keys: usize,
    /// The columns of each index in full.
    indices: BTreeMap<String, Vec<String>>,
    indexed: DbInstance,
    plain: DbInstance,
}

impl Fixture {
    fn new(seed: u64) -> Self {
        let mut random = StdRng::seed_from_u64(seed);
        let (keys, values) = (random.random_range(1..=3), random.random_range(0..=3));
        let columns: Vec<String> = (0..keys + values).map(|column| format!("c{column}")).collect();
        let fixture = Fixture {
            random,
            columns,
            keys,
            indices: BTreeMap::new(),
            indexed: DbInstance::default(),
            plain: DbInstance::default(),
        };
        let spec = fixture.spec(fixture.columns.len());
        fixture.both(&format!(":create r {spec}"));
        fixture
    }

    /// `{keys => values}`, the values only as far as they are among the first so many columns.
    fn spec(&self, width: usize) -> String {
        let (keys, values) = self.columns[..width].split_at(self.keys);
        format!("{{{} => {}}}", keys.join(", "), values.join(", "))
    }

    /// Runs a script in both databases: they answer, or refuse, alike.
    fn both(&self, script: &str) {
        let answer = |db: &DbInstance| db.run_default(script).map(|rows| rows.rows).map_err(code);
        assert_eq!(answer(&self.indexed), answer(&self.plain), "{script}");
    }

    fn value(&mut self) -> DataValue {
        let values = [DataValue::Null, 0.into(), 1.into(), 1.0.into(), 2.into(), "a".into(), "b".into(), true.into()];
        values.choose(&mut self.random).expect("there are some").clone()
    }

    fn rows(&mut self, width: usize) -> Vec<Vec<DataValue>> {
        let count = self.random.random_range(1..=6);
        (0..count).map(|_| (0..width).map(|_| self.value()).collect()).collect()
    }

    /// A query that writes.
    fn write(&mut self) -> String {
        let all = self.columns.len();
        let op = *["put", "put", "put", "insert", "update", "rm", "delete"].choose(&mut self.random).expect("some");
        let width = match op {
            "rm" | "delete" => self.keys,
            "update" => self.random.random_range(self.keys..=all),
            _ => all,
        };
        let (head, rows) = (self.columns[..width].join(", "), self.rows(width));
        let rows = DataValue::List(rows.into_iter().map(DataValue::List).collect());
        let returning = if self.random.random_bool(0.3) { ":returning" } else { "" };
        format!("?[{head}] <- {rows} :{op} r {} {returning}", self.spec(width))
    }

    fn import(&mut self) {
        let removes = self.random.random_bool(0.3);
        let width = if removes { self.keys } else { self.columns.len() };
        let name = if removes { "-r" } else { "r" };
        let data = NamedRows::new(self.columns[..width].to_vec(), self.rows(width));
        for db in [&self.indexed, &self.plain] {
            db.import_relations(BTreeMap::from([(name.to_string(), data.clone())])).unwrap();
        }
    }

    /// Writes of a transaction held open; some fail, and it may be given up.
    fn held(&mut self) {
        let scripts: Vec<String> = (0..self.random.random_range(1..5)).map(|_| self.write()).collect();
        let commits = self.random.random_bool(0.7);
        for db in [&self.indexed, &self.plain] {
            let transaction = db.multi_transaction(true);
            for script in &scripts {
                drop(transaction.run_script(script, BTreeMap::new()));
            }
            if commits { transaction.commit().unwrap() } else { transaction.abort().unwrap() }
        }
    }

    /// Some of the columns in any order.
    fn some_columns(&mut self) -> Vec<String> {
        let mut listed = self.columns.clone();
        listed.shuffle(&mut self.random);
        listed.truncate(self.random.random_range(1..=self.columns.len()));
        listed
    }

    fn create_index(&mut self) -> Option<String> {
        let name = format!("i{}", self.random.random_range(0..4));
        let listed = self.some_columns();
        if self.indices.contains_key(&name) {
            return None;
        }
        let rest = self.columns[..self.keys].iter().filter(|key| !listed.contains(key)).cloned();
        self.indices.insert(name.clone(), listed.iter().cloned().chain(rest).collect());
        Some(format!("::index create r:{name} {{{}}}", listed.join(", ")))
    }

    fn drop_index(&mut self) -> Option<String> {
        let names: Vec<String> = self.indices.keys().cloned().collect();
        let name = names.choose(&mut self.random)?.clone();
        self.indices.remove(&name);
        Some(format!("::index drop r:{name}"))
    }

    /// Changes the indices in a script that writes too; the other database gets the writes alone.
    fn change_indices(&mut self) {
        let (first, second) = (self.import_like_write(), self.import_like_write());
        let change = if self.random.random_bool(0.6) { self.create_index() } else { self.drop_index() };
        let change = change.map(|op| format!("{{{op}}}")).unwrap_or_default();
        rows(&self.indexed, &format!("{{{first}}} {change} {{{second}}}"));
        rows(&self.plain, &format!("{{{first}}} {{{second}}}"));
    }

    /// A write that cannot fail.
    fn import_like_write(&mut self) -> String {
        let all = self.columns.len();
        let rows = DataValue::List(self.rows(all).into_iter().map(DataValue::List).collect());
        format!("?[{}] <- {rows} :put r {}", self.columns.join(", "), self.spec(all))
    }

    fn step(&mut self) {
        match self.random.random_range(0..10) {
            0..=2 => {
                let script = self.write();
                self.both(&script);
            }
            3 => self.import(),
            4 => {
                let script = format!("{{{}}} {{{}}} {{{}}}", self.write(), self.write(), self.write());
                self.both(&script);
            }
            5 => {
                let script = format!(
                    "{{{}}} %ignore_error {{{}}} {{{}}}",
                    self.import_like_write(),
                    self.write(),
                    self.import_like_write()
                );
                self.both(&script);
            }
            6 => self.held(),
            7 => {
                self.both("::rename r -> s");
                self.both("::rename s -> r");
            }
            8 => self.change_indices(),
            _ => {
                let name = self.create_index();
                name.iter().for_each(|op| drop(rows(&self.indexed, op)));
            }
        }
    }

    /// Relations are equal, and indices have what follows from them.
    fn check(&self) {
        let all = self.columns.join(", ");
        self.both(&format!("?[{all}] := *r[{all}]"));
        for (name, columns) in &self.indices {
            let columns = columns.join(", ");
            let entries = rows(&self.indexed, &format!("?[{columns}] := *r:{name}[{columns}]"));
            assert_eq!(entries, rows(&self.indexed, &format!("?[{columns}] := *r[{all}]")), "{name} {{{columns}}}");
        }
    }

    /// Queries that bind some columns, by a constant or by a rule, answer alike.
    fn check_queries(&mut self) {
        for _ in 0..20 {
            let (mut body, mut used) = (vec![], vec![]);
            let bound = self.some_columns();
            for column in &self.columns.clone() {
                if !bound.contains(column) {
                    if self.random.random_bool(0.7) {
                        body.push(column.clone());
                        used.push(column.clone());
                    }
                } else if self.random.random_bool(0.5) {
                    body.push(format!("{column}: {}", self.value()));
                } else {
                    body.push(format!("{column}: x"));
                }
            }
            let values = DataValue::List((0..3).map(|_| vec![self.value()].into()).collect());
            let atom = format!("*r{{{}}}", body.join(", "));
            let head: Vec<String> = std::iter::once("x".to_string()).chain(used.clone()).collect();
            self.both(&format!("v[x] <- {values} ?[{}] := v[x], {atom}", head.join(", ")));
            self.both(&format!("v[x] <- {values} ?[count(x)] := v[x], {atom}"));
            if used.is_empty() {
                self.both(&format!("v[x] <- {values} ?[x] := v[x], not {atom}"));
            }
        }
    }
}

#[test]
fn indices_follow_random_writes() {
    for seed in 0..25 {
        let mut fixture = Fixture::new(seed);
        for _ in 0..20 {
            fixture.step();
            fixture.check();
        }
        fixture.check_queries();
    }
}

/// The test above would prove little if its writes failed, or left nothing.
#[test]
fn random_writes_leave_rows() {
    let left = |seed: u64| {
        let mut fixture = Fixture::new(seed);
        (0..25).for_each(|_| fixture.step());
        rows(&fixture.indexed, "?[count(c0)] := *r{c0}")[0][0].get_int().expect("a count") as usize
            + fixture.indices.len()
    };
    assert!((0..20).map(left).sum::<usize>() > 200);
}
