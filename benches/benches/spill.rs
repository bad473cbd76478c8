//! Queries whose intermediate results outgrow `query_memory_mb`: with memory enough, and with a small limit.
//!
//! `COZO_BENCH_SPILL_SCALE` is the scale of the data (0.02; 1 has thirty million groups and two hundred million pairs),
//! and `COZO_BENCH_SPILL_MB` the limit at scale 1 in megabytes (256), which shrinks and grows with the scale.
//! `COZO_BENCH_SPILL_RUNS` chooses the runs (`enough,limit`), and arguments the cases whose names contain one of them.
//! `COZO_BENCH_SECONDS` is the time limit of a query (600), and `COZO_BENCH_THREADS` the number of threads that it may
//! use (2). Into `COZO_BENCH_SPILL_CSV` go the files for other systems.
//!
//! Each measurement is a process of its own: this program, started again. All data is in memory. A query that fails is
//! told, and has no figure. A wrong answer ends the bench.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use cozo_benches::figures::Figures;
use cozo_benches::settings::{exit_code, number, setting};
use cozo_benches::spill::process::{Run, Settings, run_asked, spawn};
use cozo_benches::spill::queries::{CASES, Case};
use cozo_benches::spill::{Scale, export, network};

fn main() -> ExitCode {
    exit_code(run_asked().unwrap_or_else(measure))
}

/// How a run ended, if it was wanted.
type Outcome = Option<Result<Run, String>>;

/// A case with its right answer, and how its runs with memory enough and with the limit ended.
struct Measured {
    case: &'static Case,
    expected: Vec<i64>,
    enough: Outcome,
    limited: Outcome,
}

struct Bench {
    settings: Settings,
    limit_mb: u64,
    /// Whether runs with memory enough and runs with the limit are wanted.
    wanted: [bool; 2],
    cases: Vec<Measured>,
}

fn measure() -> Result<(), String> {
    let scratch = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).map_err(|error| error.to_string())?;
    let mut bench = Bench::prepare(scratch.path())?;
    if let Some(folder) = setting("SPILL_CSV") {
        let answers: Vec<_> = bench.cases.iter().map(|measured| (measured.case, &measured.expected[..])).collect();
        let Settings { scale, .. } = bench.settings;
        let written = export::write(scale, bench.limit_mb, &bench.settings.inputs(), &answers, Path::new(&folder));
        written.map_err(|error| format!("{folder}: {error}"))?;
    }
    bench.run()?;
    println!("{}", bench.table());
    bench.figures().record()
}

impl Bench {
    /// Reads the environment, chooses the cases, and computes their answers. Files of the social network are written
    /// into the folder if a case needs them.
    fn prepare(folder: &Path) -> Result<Bench, String> {
        let scale: Scale = setting("SPILL_SCALE")
            .map_or(Ok(Scale(0.02)), |text| text.parse())
            .map_err(|error| format!("COZO_BENCH_SPILL_SCALE: {error}"))?;
        let limit_mb = ((number("SPILL_MB", 256)? as f64 * scale.0).round() as u64).max(1);
        let (seconds, threads) = (number("SECONDS", 600)? as u64, number("THREADS", 2)?);
        let settings = Settings { scale, folder: folder.to_path_buf(), seconds, threads };
        let runs = setting("SPILL_RUNS").unwrap_or("enough,limit".to_string());
        let wanted = ["enough", "limit"].map(|name| runs.split(',').any(|run| run.trim() == name));
        if wanted == [false, false] {
            return Err(format!("COZO_BENCH_SPILL_RUNS is '{runs}', and should be `enough`, `limit` or both"));
        }
        let inputs = settings.inputs();
        let names: Vec<String> = std::env::args().skip(1).filter(|argument| !argument.starts_with('-')).collect();
        let is_wanted = |case: &&Case| names.is_empty() || names.iter().any(|name| case.name.contains(name.as_str()));
        let mut cases = vec![];
        for case in CASES.iter().filter(is_wanted) {
            if case.name == "distinct" {
                let cache = setting("CACHE").map_or(PathBuf::from(env!("CARGO_TARGET_TMPDIR")), PathBuf::from);
                network::prepare(&inputs, &cache).map_err(|error| format!("the social network: {error}"))?;
            }
            cases.push(Measured { case, expected: (case.answer)(&inputs)?, enough: None, limited: None });
        }
        Ok(Bench { settings, limit_mb, wanted, cases })
    }

    /// Runs everything that is wanted, one process after the other.
    fn run(&mut self) -> Result<(), String> {
        let limits = [None, Some(self.limit_mb)];
        for Measured { case, expected, enough, limited } in &mut self.cases {
            for ((outcome, limit_mb), wanted) in [enough, limited].into_iter().zip(limits).zip(self.wanted) {
                if !wanted {
                    continue;
                }
                let run = spawn(case, &self.settings, limit_mb);
                let limit = limit_mb.map_or("memory enough".to_string(), |limit| format!("{limit} MB"));
                match &run {
                    Ok(run) if run.answer != *expected => {
                        return Err(format!("a wrong answer to {}: {:?}, and not {expected:?}", case.name, run.answer));
                    }
                    Ok(run) => eprintln!("{} ({}) with {limit}: {:.3} s", case.name, case.what, run.seconds),
                    Err(error) => eprintln!("{} ({}) fails with {limit}: {}", case.name, case.what, brief(error)),
                }
                *outcome = Some(run);
            }
        }
        Ok(())
    }

    fn title(&self) -> String {
        let Settings { scale, threads, .. } = &self.settings;
        format!("scale {}, limit {} MB, {threads} threads", scale.0, self.limit_mb)
    }

    /// A row for each case.
    fn table(&self) -> String {
        let heads = ["enough, s", "limit, s", "ratio", "data, MB", "enough, MB above", "limit, MB above"];
        let row = |name: &str, cells: &[String]| {
            let cells: String = cells.iter().map(|cell| format!(" {cell:>17}")).collect();
            format!("{name:<16}{cells}\n")
        };
        let mut text = format!("\nspill: {}\n\n{}", self.title(), row("", &heads.map(String::from)));
        for Measured { case, enough, limited, .. } in &self.cases {
            let (some_enough, some_limited) = (finished(enough), finished(limited));
            let ratio = some_enough.zip(some_limited).map(|(enough, limited)| limited.seconds / enough.seconds);
            let data = some_enough.or(some_limited).map(|run| format!("{:.0}", run.data_mb));
            let cells = [
                cell(enough, |run| format!("{:.3}", run.seconds)),
                cell(limited, |run| format!("{:.3}", run.seconds)),
                ratio.map_or(String::new(), |ratio| format!("{ratio:.2}")),
                data.unwrap_or_default(),
                cell(enough, |run| format!("{:.0}", run.peak_mb)),
                cell(limited, |run| format!("{:.0}", run.peak_mb)),
            ];
            text += &row(case.name, &cells);
        }
        text
    }

    fn figures(&self) -> Figures {
        let mut figures = Figures::new("spill", self.title());
        for Measured { case, enough, limited, .. } in &self.cases {
            let with_limit = format!("{}, {} MB", case.name, self.limit_mb);
            for (test, outcome) in [(case.name, enough), (with_limit.as_str(), limited)] {
                let Some(run) = finished(outcome) else { continue };
                figures.add("mem", test, "s", run.seconds);
                figures.add("mem", &format!("{test}, memory above the data"), "MB", run.peak_mb);
            }
        }
        figures
    }
}

fn finished(outcome: &Outcome) -> Option<&Run> {
    outcome.as_ref()?.as_ref().ok()
}

/// A figure of a run, or that the run failed.
fn cell(outcome: &Outcome, figure: impl Fn(&Run) -> String) -> String {
    match outcome {
        None => String::new(),
        Some(Ok(run)) => figure(run),
        Some(Err(_)) => "fails".to_string(),
    }
}

/// The code of an error, and what happened.
fn brief(error: &str) -> String {
    let message = error.split('╭').next().unwrap_or(error);
    message.split_whitespace().collect::<Vec<_>>().join(" ")
}
