//! Millions of records of five integers, on one thread, in memory: the experiment of WhiteDB.
//!
//! `COZO_BENCH_RECORDS` is how many records there are (ten million, as WhiteDB had), a tenth as many look-ups, and as many
//! strings. With the cargo feature `peers` SQLite does the same in memory. What is 1 record, string, or look-up stands as `ns`.

use std::process::ExitCode;

use cozo::DbInstance;
use cozo_benches::figures::Figures;
use cozo_benches::memory::memory;
use cozo_benches::records::{Records, Size, database::Database, run};
use cozo_benches::settings::{exit_code, number};

fn main() -> ExitCode {
    exit_code(measure())
}

fn measure() -> Result<(), String> {
    // The experiment is about one thread.
    let one_thread = rayon::ThreadPoolBuilder::new().num_threads(1).build_global();
    one_thread.map_err(|error| error.to_string())?;
    let size = Size::of(number("RECORDS", 10_000_000)?);
    let mut figures =
        Figures::new("records", format!("{} records, {} look-ups, one thread", size.records, size.lookups));
    add(&mut figures, "mem", &mut Database::new(DbInstance::default()), size);
    #[cfg(feature = "peers")]
    add(&mut figures, "SQLite", &mut cozo_benches::records::sqlite::Sqlite::in_memory(), size);
    figures.publish()
}

fn add(figures: &mut Figures, system: &str, records: &mut dyn Records, size: Size) {
    let before = memory();
    for (step, elapsed, number) in run(records, size) {
        figures.add(system, step, "s", elapsed.as_secs_f64());
        figures.add(system, step, "ns", elapsed.as_secs_f64() * 1e9 / number as f64);
    }
    if let (Some(before), Some(after)) = (before, memory()) {
        figures.add(system, "held at the end", "MB", after.now_mb - before.now_mb);
    }
}
