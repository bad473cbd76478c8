//! Searches in memory: vectors in clusters, texts of words as frequent as in a language (Zipf), near-duplicates.
//!
//! | part | what is measured | setting (default) |
//! |---|---|---|
//! | `vectors` | building an index, searching it without and with filters, and its recall | `COZO_BENCH_VECTORS` (50,000) |
//! | `exact` | the nearest of all vectors by a scan, without and with the same filters, beside a memory copy | the same |
//! | `online` | building an index beside ten threads that read and two that write | the same |
//! | `few` | as `vectors`, so few that CozoDB 0.7.6 can be asked | `COZO_BENCH_FEW_VECTORS` (5,000) |
//! | `texts` | building an index, common and rare words | `COZO_BENCH_TEXTS` (100,000) |
//! | `alike` | an index of near-duplicates, its precision and recall | `COZO_BENCH_ALIKE` (20,000) |
//!
//! `COZO_BENCH_PARTS` lists the parts to measure, such as `exact,texts`. A folder in `COZO_BENCH_SEARCH_DIR` gets the data and the
//! figures as files, with which `benches/search/run.sh` asks peers the same and prints all figures side by side.

mod alike;
mod data;
mod database;
mod exact;
mod online;
mod texts;
mod vectors;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use cozo_benches::figures::Figures;
use cozo_benches::settings::{exit_code, number, setting};

use crate::data::Vectors;

const PARTS: [&str; 6] = ["vectors", "exact", "online", "few", "texts", "alike"];

fn main() -> ExitCode {
    exit_code(measure())
}

fn measure() -> Result<(), String> {
    let parts = parts()?;
    let folder = setting("SEARCH_DIR").map(PathBuf::from);
    let folder = folder.as_deref();
    if let Some(folder) = folder {
        data::clear(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    }
    if ["vectors", "exact", "online"].iter().any(|part| parts.contains(part)) {
        let many = Vectors::clustered(number("VECTORS", 50_000)?);
        write(folder, "vectors", |folder, name| many.write(folder, name))?;
        if parts.contains(&"vectors") {
            publish(vectors::measure("vectors", &many)?, folder)?;
        }
        if parts.contains(&"exact") {
            publish(exact::measure(&many)?, folder)?;
        }
        if parts.contains(&"online") {
            publish(online::measure(&many)?, folder)?;
        }
    }
    if parts.contains(&"few") {
        let few = Vectors::clustered(number("FEW_VECTORS", 5_000)?);
        write(folder, "few", |folder, name| few.write(folder, name))?;
        publish(vectors::measure("few", &few)?, folder)?;
    }
    if parts.contains(&"texts") {
        let texts = data::zipf(number("TEXTS", 100_000)?);
        write(folder, "texts", |folder, name| data::write_texts(folder, name, &texts))?;
        publish(texts::measure(&texts)?, folder)?;
    }
    if parts.contains(&"alike") {
        let texts = data::alike(number("ALIKE", 20_000)?);
        write(folder, "alike", |folder, name| data::write_texts(folder, name, &texts))?;
        publish(alike::measure(&texts)?, folder)?;
    }
    Ok(())
}

/// The parts that `COZO_BENCH_PARTS` lists: all unless it lists some.
fn parts() -> Result<Vec<&'static str>, String> {
    let Some(text) = setting("PARTS") else { return Ok(PARTS.to_vec()) };
    let find = |name: &str| PARTS.iter().copied().find(|part| *part == name.trim());
    let known = |name: &str| format!("COZO_BENCH_PARTS has '{name}'; there are {}", PARTS.join(", "));
    text.split(',').map(|name| find(name).ok_or_else(|| known(name))).collect()
}

/// Writes the data of a part into the folder for the peers, if there is one.
fn write(
    folder: Option<&Path>,
    name: &str,
    into: impl FnOnce(&Path, &str) -> std::io::Result<()>,
) -> Result<(), String> {
    folder.map_or(Ok(()), |folder| into(folder, name).map_err(|error| format!("{}: {error}", folder.display())))
}

/// Prints the figures of a part, and writes them into the folder for the peers.
fn publish(figures: Figures, folder: Option<&Path>) -> Result<(), String> {
    figures.publish()?;
    folder.map_or(Ok(()), |folder| figures.append_to(&folder.join(data::FIGURES)))
}
