//! What the environment asks of the benches.

use std::path::Path;
use std::process::ExitCode;

use cozo::DbInstance;

/// The engines that whole workloads run on, if the environment names no others.
pub const ENGINES: [&str; 3] = ["mem", "sqlite", "rocksdb"];

/// The value of `COZO_BENCH_` with a name.
pub fn setting(name: &str) -> Option<String> {
    std::env::var(format!("COZO_BENCH_{name}")).ok().filter(|value| !value.is_empty())
}

/// `COZO_BENCH_` with a name as a number above zero. The error says what it should have been.
pub fn number(name: &str, default: usize) -> Result<usize, String> {
    let Some(text) = setting(name) else { return Ok(default) };
    let number = text.replace('_', "").parse().ok().filter(|number| *number > 0);
    number.ok_or_else(|| format!("COZO_BENCH_{name} is '{text}', and should be a number above zero"))
}

/// What `COZO_BENCH_ENGINE` chooses of the engines and the peers that stand beside them: all unless it lists some.
pub fn systems(peers: &[&'static str]) -> Result<Vec<&'static str>, String> {
    let known: Vec<&'static str> = ENGINES.iter().chain(peers).copied().collect();
    let Some(text) = setting("ENGINE") else { return Ok(known) };
    let find = |name: &str| known.iter().copied().find(|system| *system == name.trim());
    text.split(',')
        .map(|name| find(name).ok_or_else(|| format!("COZO_BENCH_ENGINE has '{name}'; there are {}", known.join(", "))))
        .collect()
}

/// How a bench ends; what failed goes to standard error.
pub fn exit_code(outcome: Result<(), String>) -> ExitCode {
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}

/// Opens a new database in a folder, with `COZO_BENCH_OPTIONS`.
pub fn open(engine: &str, folder: &Path) -> Result<DbInstance, String> {
    DbInstance::new(engine, folder.join("database"), &setting("OPTIONS").unwrap_or_default())
        .map_err(|error| format!("the engine '{engine}' does not open: {error}"))
}

/// How many bytes the files below a folder take on the disk.
pub fn disk_bytes(folder: &Path) -> std::io::Result<u64> {
    let mut bytes = 0;
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let data = entry.metadata()?;
        bytes += if data.is_dir() { disk_bytes(&entry.path())? } else { allocated(&data) };
    }
    Ok(bytes)
}

/// Files made large in advance take no more than what was written.
#[cfg(unix)]
fn allocated(data: &std::fs::Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::blocks(data) * 512
}

#[cfg(not(unix))]
fn allocated(data: &std::fs::Metadata) -> u64 {
    data.len()
}
