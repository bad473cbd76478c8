//! The workloads of bench `pokec` on this build and on another in one process, by turns of some milliseconds, on one thread in memory.
//!
//! What runs for minutes, one after the other, may meet a machine of another pace; what takes turns meets the same. Both are asked the same
//! questions, and what they take is added up. `make bench-report` compiles this with CozoDB 0.7.6 as the other build. In the workspace
//! the other build is this one: then the figures show how far they may be trusted.
//!
//! `COZO_BENCH_POKEC_SIZE` is how large the network is (`tiny`), `COZO_BENCH_SECONDS` how long a question is asked for (4).

use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use cozo_benches::figures::Figures;
use cozo_benches::pokec::database::{self, BATCH_ROWS, CREATE, batches, friend_rows};
use cozo_benches::pokec::truth::{Row, user_row};
use cozo_benches::pokec::{Network, Size, questions, source};
use cozo_benches::settings::{exit_code, number, setting};
use rand::rngs::Xoshiro256PlusPlus as Random;
use rand::{RngExt, SeedableRng};

#[cfg(not(feature = "other"))]
use cozo as other_build;
use cozo as this_build;
#[cfg(feature = "other")]
use cozo_reference as other_build;

/// How many questions of a kind are asked at least.
const LEAST: u64 = 20;

/// A turn is as many questions as take the slower build so long, or one.
const TURN: Duration = Duration::from_millis(10);

/// One of the two builds.
trait Build {
    /// How long it takes to import rows into relations with these columns.
    fn import(&self, relations: &[&str], columns: &[&str], rows: &[Row]) -> Duration;

    /// How many rows a script answers.
    fn run(&self, script: &str, parameters: &[(&'static str, i64)]) -> usize;
}

macro_rules! build {
    ($module:ident, $library:ident) => {
        mod $module {
            use std::collections::BTreeMap;
            use std::time::{Duration, Instant};

            use super::$library::{DataValue, DbInstance, NamedRows, ScriptMutability};
            use super::{Build, Row};

            pub struct Database(DbInstance);

            impl Database {
                pub fn new() -> Result<Database, String> {
                    DbInstance::new("mem", "", "").map(Database).map_err(|error| format!("{error:?}"))
                }
            }

            /// A value of the network: an integer, a text, or null.
            fn value(value: &cozo::DataValue) -> DataValue {
                let int = value.get_int().map(DataValue::from);
                int.or_else(|| value.get_str().map(DataValue::from)).unwrap_or(DataValue::Null)
            }

            impl Build for Database {
                fn import(&self, relations: &[&str], columns: &[&str], rows: &[Row]) -> Duration {
                    let columns = || columns.iter().map(ToString::to_string).collect();
                    let rows = || rows.iter().map(|row| row.iter().map(value).collect()).collect();
                    let named = |name: &&str| (name.to_string(), NamedRows::new(columns(), rows()));
                    let relations: BTreeMap<_, _> = relations.iter().map(named).collect();
                    let start = Instant::now();
                    self.0.import_relations(relations).unwrap_or_else(|error| panic!("{error:?}"));
                    start.elapsed()
                }

                fn run(&self, script: &str, parameters: &[(&'static str, i64)]) -> usize {
                    let value = |(name, value): &(&str, i64)| (name.to_string(), DataValue::from(*value));
                    let parameters = parameters.iter().map(value).collect();
                    let answer = self.0.run_script(script, parameters, ScriptMutability::Mutable);
                    answer.unwrap_or_else(|error| panic!("{error:?}\n{script}")).rows.len()
                }
            }
        }
    };
}

build!(ours, this_build);
build!(other, other_build);

/// Draws what a question is for.
type Draw<'a> = Box<dyn Fn(&mut Random) -> Vec<(&'static str, i64)> + 'a>;

/// A question of which each time is for something else.
struct Test<'a> {
    name: String,
    script: String,
    parameters: Draw<'a>,
}

fn main() -> ExitCode {
    exit_code(measure())
}

fn measure() -> Result<(), String> {
    let size: Size = setting("POKEC_SIZE").unwrap_or_else(|| "tiny".to_string()).parse()?;
    let seconds = Duration::from_secs(number("SECONDS", 4)? as u64);
    let cache = setting("CACHE").unwrap_or_else(|| format!("{}/pokec", env!("CARGO_TARGET_TMPDIR")));
    let network = source::generated(&size, Path::new(&cache)).network;
    let (ours, other) = (ours::Database::new()?, other::Database::new()?);
    let builds: [&dyn Build; 2] = [&ours, &other];
    let systems = ["mem", &setting("OTHER").unwrap_or_else(|| "the other".to_string())];
    let mut figures = Figures::new("turns", size.name.clone());

    let (rows, took) = import(builds, &network);
    for (system, took) in systems.iter().zip(took) {
        figures.add(system, "import, 300 rows at a time", "rows/s", rows as f64 / took.as_secs_f64());
    }
    for test in tests(&network) {
        let (asked, took) = turns(builds, &test, seconds);
        for (system, took) in systems.iter().zip(took) {
            figures.add(system, &test.name, "ms", took.as_secs_f64() * 1e3 / asked as f64);
        }
    }
    figures.publish()
}

/// Imports the network batch by batch; how many rows, and how long each took.
fn import(builds: [&dyn Build; 2], network: &Network) -> (usize, [Duration; 2]) {
    for build in builds {
        build.run(CREATE, &[]);
    }
    let mut took = [Duration::ZERO; 2];
    let mut put = |relations: &[&str], columns: &[&str], rows: Vec<Row>| {
        let each = builds.map(|build| build.import(relations, columns, &rows));
        took = [took[0] + each[0], took[1] + each[1]];
    };
    for users in batches(network.users.iter().map(user_row), BATCH_ROWS) {
        put(&["user"], &["uid", "cmpl_pct", "gender", "age"], users);
    }
    for friendships in batches(friend_rows(network), BATCH_ROWS) {
        put(&["friends", "friends.rev"], &["fr", "to"], friendships);
    }
    (database::rows(network), took)
}

/// What only reads comes first.
fn tests(network: &Network) -> Vec<Test<'_>> {
    let users = network.users.len();
    let uid = move |random: &mut Random| i64::from(network.users[random.random_range(0..users)].uid);
    let expansions = questions::expansions().into_iter().filter(|question| !question.name.ends_with("_filter"));
    let mut tests = vec![];
    for (group, questions) in [
        ("", vec![questions::read()]),
        ("expand/", expansions.collect()),
        ("pattern/", questions::patterns()),
        ("aggregation/", questions::aggregations()),
    ] {
        tests.extend(questions.into_iter().map(|question| Test {
            name: format!("{group}{}", question.name),
            script: question.script,
            parameters: match question.of_user {
                true => Box::new(move |random| vec![("id", uid(random))]),
                false => Box::new(|_| vec![]),
            },
        }));
    }
    let new = users as i64 + 1..users as i64 * 11;
    let writes: [(&str, &str, Draw<'_>); 3] = [
        ("write", questions::WRITE, Box::new(move |random| vec![("id", random.random_range(new.clone()))])),
        (
            "update",
            questions::UPDATE,
            Box::new(move |random| vec![("id", uid(random)), ("n", random.random_range(0..100))]),
        ),
        ("edge_write", questions::WRITE_EDGE, Box::new(move |random| vec![("i", uid(random)), ("j", uid(random))])),
    ];
    let write = |(name, script, parameters): (&str, &str, _)| Test {
        name: name.to_string(),
        script: script.to_string(),
        parameters,
    };
    tests.extend(writes.into_iter().map(write));
    tests
}

/// Asks both by turns: how many questions each was asked, and how long each took for them.
fn turns(builds: [&dyn Build; 2], test: &Test, seconds: Duration) -> (u64, [Duration; 2]) {
    let mut random = Random::seed_from_u64(7);
    let (mut asked, mut took, mut at_a_time) = (0, [Duration::ZERO; 2], 1);
    let mut first = 0;
    let start = Instant::now();
    while start.elapsed() < seconds || asked < LEAST {
        let questions: Vec<_> = (0..at_a_time).map(|_| (test.parameters)(&mut random)).collect();
        let mut rows = [0; 2];
        let mut slowest = Duration::ZERO;
        // Whoever begins pays for what the other left in the caches.
        for side in [first, 1 - first] {
            let begin = Instant::now();
            rows[side] = questions.iter().map(|parameters| builds[side].run(&test.script, parameters)).sum();
            let elapsed = begin.elapsed();
            took[side] += elapsed;
            slowest = slowest.max(elapsed);
        }
        assert_eq!(rows[0], rows[1], "rows that both answer to {}", test.script);
        asked += questions.len() as u64;
        first = 1 - first;
        if slowest < TURN {
            at_a_time *= 2;
        }
    }
    (asked, took)
}
