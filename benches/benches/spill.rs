//! Queries whose intermediate results outgrow `query_memory_mb`: with memory enough, and with a small limit.
//!
//! `COZO_BENCH_SPILL_SCALE` is the scale of the data (0.02; 1 has thirty million groups and two hundred million pairs), and
//! `COZO_BENCH_SPILL_MB` the limit at scale 1 in megabytes (256), which shrinks and grows with the scale. `COZO_BENCH_SECONDS` is the
//! time limit of a query (600), and `COZO_BENCH_THREADS` the number of threads that it may use (2). Arguments choose the cases
//! whose names contain one of them. Into `COZO_BENCH_SPILL_CSV` go the files for other systems.
//!
//! Each measurement is a process of its own: this program, started again. All data is in memory. A query that fails is told, and has no
//! figure. A wrong answer ends the bench.

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

/// How the two runs of a case ended.
struct Measured {
    case: &'static Case,
    enough: Result<Run, String>,
    limited: Result<Run, String>,
}

fn measure() -> Result<(), String> {
    let scale: Scale = setting("SPILL_SCALE")
        .map_or(Ok(Scale(0.02)), |text| text.parse())
        .map_err(|error| format!("COZO_BENCH_SPILL_SCALE: {error}"))?;
    let limit_mb = ((number("SPILL_MB", 256)? as f64 * scale.0).round() as u64).max(1);
    let scratch = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).map_err(|error| error.to_string())?;
    let folder = scratch.path().to_path_buf();
    let settings = Settings { scale, folder, seconds: number("SECONDS", 600)? as u64, threads: number("THREADS", 2)? };
    let answers = answers(&settings)?;
    if let Some(folder) = setting("SPILL_CSV") {
        let written = export::write(scale, limit_mb, &settings.inputs(), &answers, Path::new(&folder));
        written.map_err(|error| format!("{folder}: {error}"))?;
    }
    let mut all = vec![];
    for (case, expected) in answers {
        let checked = |limit_mb| {
            let run = spawn(case, &settings, limit_mb);
            match &run {
                Ok(run) if run.answer != expected => {
                    Err(format!("a wrong answer to {}: {:?}, and not {expected:?}", case.name, run.answer))
                }
                _ => Ok(run),
            }
        };
        eprintln!("{}: {}", case.name, case.what);
        all.push(Measured { case, enough: checked(None)?, limited: checked(Some(limit_mb))? });
    }
    println!("{}", table(&all, scale, limit_mb, settings.threads));
    figures(&all, scale, limit_mb, settings.threads).record()
}

/// The cases that are wanted with their answers. The social network is written if one needs it.
fn answers(settings: &Settings) -> Result<Vec<(&'static Case, Vec<i64>)>, String> {
    let names: Vec<String> = std::env::args().skip(1).filter(|argument| !argument.starts_with('-')).collect();
    let is_wanted = |case: &&Case| names.is_empty() || names.iter().any(|name| case.name.contains(name.as_str()));
    let cases: Vec<&Case> = CASES.iter().filter(is_wanted).collect();
    let inputs = settings.inputs();
    if cases.iter().any(|case| case.name == "distinct") {
        let cache = setting("CACHE").map_or(PathBuf::from(env!("CARGO_TARGET_TMPDIR")), PathBuf::from);
        network::prepare(&inputs, &cache).map_err(|error| format!("the social network: {error}"))?;
    }
    cases.into_iter().map(|case| Ok((case, (case.answer)(&inputs)?))).collect()
}

fn title(scale: Scale, limit_mb: u64, threads: usize) -> String {
    format!("scale {}, limit {limit_mb} MB, {threads} threads", scale.0)
}

/// A row for each case, and below it why queries failed.
fn table(all: &[Measured], scale: Scale, limit_mb: u64, threads: usize) -> String {
    let mut text = format!("\nspill: {}\n\n", title(scale, limit_mb, threads));
    text += &format!("{:<16} {:>10} {:>10} {:>8}", "", "enough, s", "limit, s", "ratio");
    text += &format!(" {:>10} {:>28} {:>28}\n", "data, MB", "enough: MB above, kept", "limit: MB above, kept");
    let mut failures = String::new();
    for Measured { case, enough, limited } in all {
        let seconds = |run: &Result<Run, String>| shown(run.as_ref().ok().map(|run| run.seconds), 3);
        let memory = |run: &Result<Run, String>| match run {
            Ok(run) => format!("{:.0}, {:.0}", run.peak_mb, run.kept_mb),
            Err(_) => String::new(),
        };
        let ratio =
            enough.as_ref().ok().zip(limited.as_ref().ok()).map(|(enough, limited)| limited.seconds / enough.seconds);
        let data = enough.as_ref().or(limited.as_ref()).ok().map(|run| format!("{:.0}", run.data_mb));
        text += &format!("{:<16} {:>10} {:>10}", case.name, seconds(enough), seconds(limited));
        text += &format!(
            " {:>8} {:>10}",
            ratio.map_or(String::new(), |ratio| format!("{ratio:.2}")),
            data.unwrap_or_default()
        );
        text += &format!(" {:>28} {:>28}\n", memory(enough), memory(limited));
        for (limit, run) in [("memory enough", enough), ("the limit", limited)] {
            if let Err(error) = run {
                failures += &format!("{} fails with {limit}: {}\n", case.name, first_line(error));
            }
        }
    }
    if failures.is_empty() { text } else { format!("{text}\n{failures}") }
}

/// A figure, or that there is none.
fn shown(value: Option<f64>, digits: usize) -> String {
    value.map_or("fails".to_string(), |value| format!("{value:.digits$}"))
}

/// The line of an error that says what happened; the first is its code.
fn first_line(error: &str) -> String {
    error.lines().filter(|line| !line.trim().is_empty()).take(2).map(str::trim).collect::<Vec<_>>().join(" ")
}

fn figures(all: &[Measured], scale: Scale, limit_mb: u64, threads: usize) -> Figures {
    let mut figures = Figures::new("spill", title(scale, limit_mb, threads));
    let limited = format!("mem, {limit_mb} MB");
    for measured in all {
        for (system, run) in [("mem", &measured.enough), (limited.as_str(), &measured.limited)] {
            let Ok(run) = run else { continue };
            figures.add(system, measured.case.name, "s", run.seconds);
            figures.add(system, &format!("{}, memory above the data", measured.case.name), "MB", run.peak_mb);
        }
    }
    figures
}
