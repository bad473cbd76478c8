//! Patterns over a social network: the nine queries of LSQB, each a count, on a generated network of the shape of LDBC's SNB.
//!
//! `COZO_BENCH_PATTERNS_SCALE` is the scale (0.1; 1 has three million messages). `COZO_BENCH_ENGINE` lists engines (`mem`),
//! `COZO_BENCH_PATTERNS_INDICES` whether there are reverse indices (`without,with`), and `COZO_BENCH_THREADS` is the number of threads
//! that a query may use (2). `COZO_BENCH_SECONDS` is the time limit of a query (60); one that takes longer has no figure. Arguments
//! such as `q3` choose queries. Into `COZO_BENCH_PATTERNS_CSV` the network is written, for other databases.
//!
//! Each count is compared with one that the arrays of the network give, in each run; a wrong one ends the bench.

use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use cozo::DbInstance;
use cozo_benches::figures::Figures;
use cozo_benches::patterns::queries::{QUERIES, Query};
use cozo_benches::patterns::{Scale, SocialNetwork, database, export, generate, truth};
use cozo_benches::settings::{exit_code, number, open, setting, systems};

/// So often a query is asked; the median counts.
const RUNS: usize = 3;

/// A query that takes longer is asked once.
const SLOW: Duration = Duration::from_secs(5);

fn main() -> ExitCode {
    exit_code(measure())
}

/// The network, what is asked about it, and what was measured.
struct Bench {
    network: SocialNetwork,
    /// The queries with the right counts.
    asked: Vec<(&'static Query, i64)>,
    limit: Duration,
    figures: Figures,
}

fn measure() -> Result<(), String> {
    let threads = number("THREADS", 2)?;
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build_global();
    pool.map_err(|error| error.to_string())?;
    let mut bench = Bench::prepare(threads)?;
    let modes = setting("PATTERNS_INDICES").unwrap_or("without,with".to_string());
    let [without, with] = ["without", "with"].map(|mode| modes.split(',').any(|wanted| wanted.trim() == mode));
    if !without && !with {
        return Err(format!("COZO_BENCH_PATTERNS_INDICES is '{modes}', and should be `without`, `with` or both"));
    }
    for engine in if setting("ENGINE").is_some() { systems(&[])? } else { vec!["mem"] } {
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).map_err(|error| error.to_string())?;
        let db = bench.loaded(engine, folder.path())?;
        if without {
            bench.ask(&db, engine)?;
        }
        if with {
            bench.index(&db, engine)?;
        }
    }
    bench.figures.publish()
}

impl Bench {
    /// Generates the network, counts, and writes the files that are wanted.
    fn prepare(threads: usize) -> Result<Bench, String> {
        let scale: Scale = setting("PATTERNS_SCALE")
            .map_or(Ok(Scale(0.1)), |text| text.parse())
            .map_err(|error| format!("COZO_BENCH_PATTERNS_SCALE: {error}"))?;
        let limit = Duration::from_secs(number("SECONDS", 60)? as u64);
        let network = generate::network(scale);
        if let Some(folder) = setting("PATTERNS_CSV") {
            export::write(&network, Path::new(&folder)).map_err(|error| format!("{folder}: {error}"))?;
        }
        let names: Vec<String> = std::env::args().skip(1).filter(|argument| !argument.starts_with('-')).collect();
        let is_wanted = |query: &Query| names.is_empty() || names.iter().any(|name| name == query.name);
        let asked = QUERIES.iter().zip(truth::counts(&network)).filter(|(query, _)| is_wanted(query)).collect();
        let title = format!(
            "LSQB, scale {}: {} persons, {} messages, {} rows in all; {threads} threads",
            scale.0,
            network.persons.len(),
            network.messages.len(),
            database::rows(&network)
        );
        Ok(Bench { network, asked, limit, figures: Figures::new("patterns", title) })
    }

    /// A database with the network.
    fn loaded(&mut self, engine: &str, folder: &Path) -> Result<DbInstance, String> {
        let db = open(engine, folder)?;
        let start = Instant::now();
        database::load(&db, &self.network).map_err(|error| format!("{engine}: {error:?}"))?;
        let rate = database::rows(&self.network) as f64 / start.elapsed().as_secs_f64();
        self.figures.add(engine, "load", "rows/s", rate);
        Ok(db)
    }

    /// Makes reverse indices, and asks again.
    fn index(&mut self, db: &DbInstance, engine: &str) -> Result<(), String> {
        let system = format!("{engine}, indices");
        let start = Instant::now();
        database::index(db).map_err(|error| format!("{system}: {error:?}"))?;
        self.figures.add(&system, "make indices", "s", start.elapsed().as_secs_f64());
        self.ask(db, &system)
    }

    fn ask(&mut self, db: &DbInstance, system: &str) -> Result<(), String> {
        for (query, expected) in &self.asked {
            let mut durations = Vec::with_capacity(RUNS);
            while durations.len() < RUNS && durations.first().is_none_or(|first| *first < SLOW) {
                let Some(duration) = timed(db, query, *expected, self.limit)? else { break };
                durations.push(duration);
            }
            durations.sort_unstable();
            match durations.get(durations.len() / 2) {
                Some(median) => self.figures.add(system, query.name, "ms", median.as_secs_f64() * 1e3),
                None => println!("{system}: {} takes over {} s", query.name, self.limit.as_secs()),
            }
        }
        Ok(())
    }
}

/// How long a query takes, whose count is checked; nothing if that is longer than it may.
fn timed(db: &DbInstance, query: &Query, expected: i64, limit: Duration) -> Result<Option<Duration>, String> {
    let script = format!("{}:timeout {}", query.script, limit.as_secs());
    let start = Instant::now();
    let answer = db.run_default(&script);
    let duration = start.elapsed();
    let rows = match answer {
        Ok(answer) => answer.rows,
        Err(error) => {
            let message = format!("{error:?}");
            // Nothing but the time limit stops it.
            return if message.contains("eval::killed") { Ok(None) } else { Err(format!("{}: {message}", query.name)) };
        }
    };
    let count = rows.first().and_then(|row| row.first()).and_then(|count| count.get_int());
    match count == Some(expected) {
        true => Ok(Some(duration)),
        false => Err(format!("a wrong answer to {}: {count:?}, and not {expected}", query.name)),
    }
}
