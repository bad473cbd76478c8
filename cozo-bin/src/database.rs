//! Which database a command opens: by what is at its path, or as the arguments say.
//!
//! | engine | path | database |
//! |---|---|---|
//! | not given | not given | in memory |
//! | not given | an SQLite file, or nothing | SQLite |
//! | not given | a folder | RocksDB |
//! | given | given | of that engine |
//! | given | not given | of that engine, at `cozo.db` |
//!
//! The engine says what is wrong with a file or a folder that is none of its databases.

use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;
use cozo::storage::ENGINES;
#[cfg(feature = "server")]
use cozo::storage::{Options, StorageError};
use cozo::{DbInstance, PointInTime};

use crate::error::CliError;
use crate::{output, threads};

/// The engine that keeps nothing on disk.
pub const MEM: &str = "mem";

const SQLITE: &str = "sqlite";
const ROCKSDB: &str = "rocksdb";

/// Where the database of a named engine is by default.
const DEFAULT_PATH: &str = "cozo.db";

/// Which database to open, on the command line.
#[derive(Args)]
pub struct DatabaseArguments {
    /// The storage engine: mem, sqlite or rocksdb; by default that of the database at the path, sqlite if there is none, and
    /// mem without a path
    #[arg(long, value_name = "NAME")]
    engine: Option<String>,
    /// The file or folder of the database
    #[arg(short, long, value_name = "PATH")]
    path: Option<PathBuf>,
    /// The options of the engine, a JSON object
    #[arg(short, long, value_name = "JSON", default_value = "{}")]
    config: String,
    /// The log that the database shares with other processes: a folder, or an address such as etcd://127.0.0.1:2379/app
    #[arg(long, value_name = "ADDRESS")]
    shared: Option<String>,
}

impl DatabaseArguments {
    /// The database that they mean.
    pub fn find(&self) -> Result<Database, CliError> {
        self.find_at(None)
    }

    /// The same where a command also takes the path by itself.
    pub fn find_at(&self, path: Option<&Path>) -> Result<Database, CliError> {
        let path = path.or(self.path.as_deref());
        let engine = match (&self.engine, path) {
            (Some(engine), _) => engine.clone(),
            (None, Some(path)) => engine_at(path)?.to_string(),
            (None, None) => MEM.to_string(),
        };
        let config = with_log(&self.config, self.shared.as_deref());
        Ok(Database { engine, path: path.map(Path::to_path_buf), config })
    }

    /// The address of the shared log, and the database apart from it.
    pub fn find_apart(&self) -> Result<(String, Database), CliError> {
        let database = Database { config: self.config.clone(), ..self.find()? };
        Ok((self.shared.clone().unwrap_or_default(), database))
    }
}

/// Options with the address of a shared log. What is wrong with the others, opening the database says.
fn with_log(config: &str, address: Option<&str>) -> String {
    let (Some(address), Ok(serde_json::Value::Object(mut options))) = (address, serde_json::from_str(config)) else {
        return config.to_string();
    };
    options.insert("shared".to_string(), address.into());
    serde_json::Value::Object(options).to_string()
}

/// The engine for a path: that of what is there, or that of a new database.
pub fn engine_at(path: &Path) -> Result<&'static str, CliError> {
    let is_folder = fs::metadata(path).is_ok_and(|found| found.is_dir());
    match is_folder {
        false => Ok(SQLITE),
        true if ENGINES.iter().any(|engine| engine.name == ROCKSDB) => Ok(ROCKSDB),
        true => Err(CliError::WithoutRocksDb(path.display().to_string())),
    }
}

/// A database that is not open yet.
pub struct Database {
    engine: String,
    path: Option<PathBuf>,
    config: String,
}

impl Database {
    /// The database at a path, with these options.
    pub fn at(path: &Path, engine: Option<&str>, config: &str) -> Result<Self, CliError> {
        let engine = engine.map_or_else(|| engine_at(path), Ok)?.to_string();
        Ok(Database { engine, path: Some(path.to_path_buf()), config: config.to_string() })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        self.path.as_deref().unwrap_or(Path::new(DEFAULT_PATH))
    }

    /// Whether what is written is gone when the program ends.
    pub fn forgets(&self) -> bool {
        self.engine == MEM && self.log().is_none()
    }

    /// The address of its shared log.
    fn log(&self) -> Option<String> {
        let options: serde_json::Value = serde_json::from_str(&self.config).ok()?;
        options["shared"].as_str().map(str::to_string)
    }

    /// Whether nothing is there yet.
    pub fn is_new(&self) -> bool {
        // What cannot be looked at may be there; opening it says what is wrong.
        self.engine != MEM && self.path().try_exists().is_ok_and(|exists| !exists)
    }

    /// Its options.
    #[cfg(feature = "server")]
    pub fn options(&self) -> Result<Options, StorageError> {
        Options::parse(&self.config)
    }

    /// Opens it, and makes it first if it is not there. What is missing of it is said.
    pub fn open(&self) -> miette::Result<DbInstance> {
        threads::try_one()?;
        let db = DbInstance::new(&self.engine, self.path(), &self.config)?;
        db.warnings().iter().for_each(|warning| output::note(format_args!("warning: {warning}")));
        Ok(db)
    }

    /// Fills it, which must be empty, with what a shared log had at a point in time.
    pub fn restore_from_log(&self, address: &str, point: PointInTime) -> miette::Result<(u64, Option<i64>)> {
        threads::try_one()?;
        cozo::restore_from_log(&self.engine, self.path(), &self.config, address, point)
    }

    /// Opens it if it is there: at a mistyped path none shall be made.
    pub fn open_existing(&self) -> miette::Result<DbInstance> {
        if self.forgets() {
            return Err(CliError::NothingInMem.into());
        }
        if self.is_new() {
            return Err(CliError::NoDatabase(self.path().display().to_string()).into());
        }
        self.open()
    }

    /// Opens it to read from it. Scripts need none: where none is named they have an empty one.
    pub fn open_to_read(&self) -> miette::Result<DbInstance> {
        match self.forgets() && self.path.is_none() {
            true => self.open(),
            false => self.open_existing(),
        }
    }

    /// What it is, for people.
    pub fn describe(&self) -> String {
        match (self.engine == MEM, &self.path) {
            (true, _) if !self.forgets() => {
                // What follows may be a secret.
                let log = self.log().unwrap_or_default();
                format!("the shared log {}", log.split('?').next().unwrap_or_default())
            }
            (true, None) => "in memory: nothing is kept".to_string(),
            (true, Some(path)) => format!("in memory: nothing is kept, and '{}' is not used", path.display()),
            (false, _) => {
                let new = if self.is_new() { "new " } else { "" };
                format!("{new}{} database '{}'", self.engine, self.path().display())
            }
        }
    }

    /// The file with the token of a server of this database.
    #[cfg(feature = "server")]
    pub fn token_file(&self) -> PathBuf {
        let mut file = self.path().as_os_str().to_owned();
        file.push(format!(".{}.cozo_auth", self.engine));
        file.into()
    }

    /// Removes it where it was made for nothing. What cannot be removed is left: why it was made for nothing matters more.
    pub fn remove(&self) {
        let path = self.path();
        if path.is_dir() {
            let _ = fs::remove_dir_all(path);
            return;
        }
        for file in self.files() {
            let _ = fs::remove_file(file);
        }
    }

    /// The file of an SQLite database, and what SQLite and its engine put beside it.
    fn files(&self) -> Vec<PathBuf> {
        let path = self.path();
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let is_ours = |file: &PathBuf| {
            let file = file.file_name().unwrap_or_default().to_string_lossy();
            let suffix = file.strip_prefix(&*name);
            suffix
                .is_some_and(|suffix| ["", "-wal", "-shm", "-lock"].contains(&suffix) || suffix.starts_with("-commits"))
        };
        let entries = fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
        entries.map(|entry| entry.path()).filter(is_ours).collect()
    }
}
