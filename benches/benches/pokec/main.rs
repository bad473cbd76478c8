//! The Pokec benchmark of graph databases: import, backup, point reads and writes, aggregations, expansions, patterns,
//! triangles and PageRank on a social network.
//!
//! `COZO_BENCH_POKEC_SIZE` is `tiny` (the default), `small`, `medium`, or numbers of users and friendships such as
//! `2000x24000`; `COZO_BENCH_ENGINE` is the engine (`mem`) and `COZO_BENCH_OPTIONS` its options; `COZO_BENCH_THREADS` lists
//! numbers of threads (1 and all processors). `COZO_BENCH_POKEC_DIR` has the real data, see [`cozo_benches::pokec`];
//! without it a network of the same shape is generated and kept in `COZO_BENCH_CACHE`. Into `COZO_BENCH_POKEC_CSV` the network is
//! written, for other databases.
//!
//! Each answer is compared with one worked out from the data alone before it is timed; a wrong one ends the run.

mod latency;
mod loading;
#[cfg(feature = "peers")]
mod peers;
mod report;
mod settings;
mod throughput;

use std::process::ExitCode;
use std::time::Instant;

use cozo_benches::pokec::{Network, export, questions};
use cozo_benches::short_runs;
use criterion::Criterion;
use rand::rngs::Xoshiro256PlusPlus as Random;
use rand::{RngExt, SeedableRng};

use report::Report;
use settings::Settings;

/// For so many users each question is checked.
const CHECKED: usize = 10;

/// So many users each question is asked about in turn.
const ASKED: usize = 200;

/// What all groups share.
struct Bench {
    settings: Settings,
    network: Network,
    /// The places of users that answers are checked for.
    checked: Vec<u32>,
    /// The places of users that are asked about.
    asked: Vec<u32>,
    criterion: Criterion,
    report: Report,
    title: String,
}

impl Bench {
    /// Reads the settings and the network. Whether the engine opens is tried first, which is quicker.
    fn prepare() -> Result<Bench, String> {
        let settings = Settings::read()?;
        settings.database()?;
        let start = Instant::now();
        let sourced = settings.network()?;
        let network = sourced.network;
        let title = format!(
            "pokec {}: {} users, {} friendships ({}, in {:.1} s); engine {} {}",
            settings.size.name,
            network.users.len(),
            network.targets().len(),
            sourced.origin,
            start.elapsed().as_secs_f64(),
            settings.engine,
            settings.options
        );
        let title = title.trim_end().to_string();
        if network.places().is_empty() {
            return Err(format!("{title}: without users there is nothing to ask"));
        }
        let mut random = Random::seed_from_u64(42);
        let asked: Vec<u32> = (0..ASKED).map(|_| random.random_range(network.places())).collect();
        let checked = asked[..CHECKED].to_vec();
        let criterion = short_runs().configure_from_args();
        Ok(Bench { settings, network, checked, asked, criterion, report: Report::default(), title })
    }

    /// Runs all groups; those that write come last.
    fn run(&mut self) -> Result<(), String> {
        println!("{}", self.title);
        if let Some(folder) = &self.settings.csv_folder {
            export::write_csv(&self.network, folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        }
        let scratch = loading::imports(self)?;
        let db = &scratch.db;
        latency::questions(self, db, "aggregation", &questions::aggregations());
        latency::questions(self, db, "expand", &questions::expansions());
        latency::questions(self, db, "neighbours", &questions::neighbours());
        latency::questions(self, db, "pattern", &questions::patterns());
        latency::questions(self, db, "triangles", &questions::all_triangles());
        latency::page_rank(self, db);
        loading::backups(self, &scratch)?;
        throughput::mixtures(self, db);
        #[cfg(feature = "peers")]
        if self.settings.engine == "mem" {
            // Once, beside the engine that is asked first.
            peers::measure(self, db)?;
        }
        self.criterion.final_summary();
        println!("{}", self.report.render(&self.title));
        self.report.figures(&self.title, &self.settings.engine).record()
    }
}

fn main() -> ExitCode {
    match Bench::prepare().and_then(|mut bench| bench.run()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}
