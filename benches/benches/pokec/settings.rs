//! What the environment and the command line ask for.

use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::thread::available_parallelism;

use cozo::DbInstance;
use cozo_benches::pokec::Size;
use cozo_benches::pokec::source::{self, Sourced};
use cozo_benches::settings::setting;
use regex::Regex;
use tempfile::TempDir;

/// What is measured, on what.
pub struct Settings {
    /// `COZO_BENCH_POKEC_SIZE`.
    pub size: Size,
    /// `COZO_BENCH_ENGINE`.
    pub engine: String,
    /// `COZO_BENCH_OPTIONS`, the options that the database is opened with.
    pub options: String,
    /// `COZO_BENCH_THREADS`, how many threads ask at a time.
    pub threads: Vec<usize>,
    /// `COZO_BENCH_POKEC_DIR`, where the real data is.
    real_folder: Option<PathBuf>,
    /// `COZO_BENCH_CACHE`, where generated data is kept.
    cache_folder: PathBuf,
    /// `COZO_BENCH_POKEC_CSV`, where the network is written for others.
    pub csv_folder: Option<PathBuf>,
    /// Only what this finds is measured.
    filter: Option<Regex>,
    /// Everything is run once, to see that it works.
    pub once: bool,
}

impl Settings {
    /// Reads them; the error says which is wrong.
    pub fn read() -> Result<Settings, String> {
        let arguments: Vec<String> = std::env::args().skip(1).collect();
        let filter = filter_of(&arguments).map(Regex::new).transpose();
        let given = |flag: &str| arguments.iter().any(|argument| argument == flag);
        Ok(Settings {
            size: setting("POKEC_SIZE").unwrap_or_else(|| "tiny".to_string()).parse()?,
            engine: setting("ENGINE").unwrap_or_else(|| "mem".to_string()),
            options: setting("OPTIONS").unwrap_or_default(),
            threads: threads()?,
            real_folder: setting("POKEC_DIR").map(PathBuf::from),
            cache_folder: setting("CACHE").map_or_else(|| scratch_folder().join("pokec"), PathBuf::from),
            csv_folder: setting("POKEC_CSV").map(PathBuf::from),
            filter: filter.map_err(|error| error.to_string())?,
            once: given("--test") || !given("--bench"),
        })
    }

    /// Whether something is to be measured.
    pub fn wants(&self, id: &str) -> bool {
        self.filter.as_ref().is_none_or(|filter| filter.is_match(id))
    }

    /// How often what takes long is measured.
    pub fn repeats(&self) -> usize {
        match self.size.users {
            _ if self.once => 1,
            0..50_000 => 5,
            50_000..500_000 => 3,
            _ => 1,
        }
    }

    /// Reads or makes the network.
    pub fn network(&self) -> Result<Sourced, String> {
        match &self.real_folder {
            Some(folder) => source::real(&self.size, folder).map_err(|error| error.to_string()),
            None => Ok(source::generated(&self.size, &self.cache_folder)),
        }
    }

    /// A new database.
    pub fn database(&self) -> Result<Scratch, String> {
        let folder = tempfile::Builder::new().prefix("cozo-bench-").tempdir_in(scratch_folder());
        let folder = folder.map_err(|error| format!("no scratch folder can be made: {error}"))?;
        let db = DbInstance::new(&self.engine, folder.path().join("database"), &self.options)
            .map_err(|error| format!("the engine '{}' does not open: {error}", self.engine))?;
        Ok(Scratch { db, folder })
    }
}

/// A database in a folder that is removed with it.
pub struct Scratch {
    /// The database; it is closed before its folder goes.
    pub db: DbInstance,
    /// The folder.
    pub folder: TempDir,
}

/// Below the target directory, so that databases are written to the disk that the build is on.
fn scratch_folder() -> &'static Path {
    Path::new(env!("CARGO_TARGET_TMPDIR"))
}

/// One thread, and one for each processor, unless others are asked for.
fn threads() -> Result<Vec<usize>, String> {
    let Some(text) = setting("THREADS") else {
        let mut threads = vec![1, available_parallelism().map_or(1, usize::from)];
        threads.dedup();
        return Ok(threads);
    };
    let number = |part: &str| usize::from_str(part.trim()).ok().filter(|number| *number > 0);
    let threads: Option<Vec<usize>> = text.split(',').map(number).collect();
    threads.ok_or_else(|| format!("COZO_BENCH_THREADS is '{text}', and should be a list of numbers such as 1,2,8"))
}

/// The filter among the arguments, which criterion sees, too: the first that is neither a flag nor the value of one.
fn filter_of(arguments: &[String]) -> Option<&str> {
    const WITHOUT_VALUE: [&str; 9] =
        ["--bench", "--test", "--exact", "--list", "--noplot", "-n", "--quick", "--quiet", "--verbose"];
    let is_value = |place: usize| {
        place > 0 && arguments[place - 1].starts_with('-') && !WITHOUT_VALUE.contains(&arguments[place - 1].as_str())
    };
    let mut places = (0..arguments.len()).filter(|place| !arguments[*place].starts_with('-'));
    places.find(|place| !is_value(*place)).map(|place| arguments[place].as_str())
}
