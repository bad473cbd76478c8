//! What can go wrong around the database: files, arguments, formats.

use std::io;
use std::path::Path;

/// A request that the command line refuses.
#[derive(Debug, thiserror::Error, miette::Diagnostic)]
pub enum CliError {
    /// A file cannot be read or written.
    #[error("cannot {action} '{path}'")]
    #[diagnostic(code(cli::file), help("check the path, and that this user may use the file"))]
    File {
        /// Read or write.
        action: &'static str,
        /// The file.
        path: String,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// A file given to `cozo run` is not a script.
    #[error("cannot read the script '{path}'")]
    #[diagnostic(
        code(cli::file),
        help("the files of 'cozo run' are scripts; to open the database '{path}', write --path '{path}'")
    )]
    Script {
        /// The file.
        path: String,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// Standard output or input is gone.
    #[error("cannot use the terminal or pipe")]
    #[diagnostic(
        code(cli::stream),
        help("run it in a terminal, or see why the program at the other end of the pipe has ended")
    )]
    Stream(#[from] io::Error),
    /// The system does not give the process a second thread.
    #[error("there are no threads to work with")]
    #[diagnostic(
        code(cli::no_threads),
        help("raise the limit of threads (ulimit -u) or of memory (ulimit -v), or end other programs")
    )]
    NoThreads(#[source] io::Error),
    /// The data of a file does not fit in memory.
    #[error("there is not enough memory")]
    #[diagnostic(
        code(cli::no_memory),
        help("divide the file, or 'cozo import' a file of CSV, JSON Lines, Parquet or Arrow")
    )]
    NoMemory,
    /// A signal stopped the command.
    #[error("stopped by {signal}: {outcome}")]
    #[diagnostic(code(cli::stopped), help("run it again to go on"))]
    Stopped {
        /// The signal.
        signal: &'static str,
        /// How things are left.
        outcome: &'static str,
    },
    /// A parameter that does not have the form `NAME=JSON`.
    #[error("bad parameter '{given}': {reason}")]
    #[diagnostic(code(cli::parameter), help("write NAME=JSON, e.g. n=3 or 'name=\"Ann\"': strings need their quotes"))]
    Parameter {
        /// What was given.
        given: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A `--load` that does not have the form `RELATION=FILE`.
    #[error("bad load '{0}'")]
    #[diagnostic(
        code(cli::load),
        help("write RELATION=FILE, e.g. trip=trips.csv or 'trip {{id: Int => km: Float}}=trips.csv'")
    )]
    Load(String),
    /// A text that cannot be the name of a relation.
    #[error("'{0}' is not the name of a relation")]
    #[diagnostic(
        code(cli::relation_name),
        help("names begin with a letter, then come letters, digits, _ and parts after dots, e.g. trip or city.trip_2")
    )]
    RelationName(String),
    /// An index, which cannot be loaded into.
    #[error("'{index}' is an index")]
    #[diagnostic(code(cli::is_index), help("import into '{relation}': its indices follow it"))]
    IsIndex {
        /// What was named.
        index: String,
        /// The relation before the colon.
        relation: String,
    },
    /// Columns of a relation that are not between braces.
    #[error("the columns in '{0}' do not end with '}}'")]
    #[diagnostic(code(cli::columns), help("write 'name {{key: Type => column: Type}}', or the name alone"))]
    Columns(String),
    /// The columns that were given are not those of the relation.
    #[error("the relation '{relation}' is there, with other columns")]
    #[diagnostic(
        code(cli::other_columns),
        help("it has {{{found}}}: leave the braces out to fill it, or name another relation")
    )]
    OtherColumns {
        /// The relation.
        relation: String,
        /// Its columns.
        found: String,
    },
    /// A backup is restored into the mem engine, which forgets it when the program ends.
    #[error("the mem engine keeps nothing after this program")]
    #[diagnostic(code(cli::restore_into_nothing), help("name the path of a new database, e.g. --path new.db"))]
    RestoreIntoNothing,
    /// A point in time of a shared log cannot be read.
    #[error("'{0}' is neither the number of an entry nor a time")]
    #[diagnostic(
        code(cli::no_point_in_time),
        help("write a number, as 'cozo log' shows it, or a time with its zone, such as 2026-11-29T12:00:00Z")
    )]
    NoPointInTime(String),
    /// A command reads from the mem engine, which begins empty.
    #[error("the mem engine has nothing to read")]
    #[diagnostic(code(cli::nothing_in_mem), help("name the path of a database, e.g. --path app.db"))]
    NothingInMem,
    /// A database that is to be read does not exist.
    #[error("there is no database at '{0}'")]
    #[diagnostic(
        code(cli::no_database),
        help("name the path of one that is there; 'cozo run', 'repl' and 'import' make new ones")
    )]
    NoDatabase(String),
    /// A folder, which this build cannot open.
    #[error("'{0}' is a folder, and this build has no engine for databases in folders")]
    #[diagnostic(
        code(cli::without_rocksdb),
        help("use a build with the feature 'storage-rocksdb', or name a file: it becomes an SQLite database")
    )]
    WithoutRocksDb(String),
    /// A file of data with an unknown extension.
    #[error("cannot tell the format of '{0}'")]
    #[diagnostic(
        code(cli::data_format),
        help("data files end in .csv, .tsv, .jsonl, .json, .parquet or .arrow; --format names the format of others")
    )]
    DataFormat(String),
    /// A format that was left out of this program.
    #[cfg(not(feature = "arrow"))]
    #[error("this build knows nothing of Parquet and Arrow")]
    #[diagnostic(code(cli::without_arrow), help("build it with the feature 'arrow', or use CSV or JSON Lines"))]
    WithoutArrow,
    /// The server was left out of this program.
    #[cfg(not(feature = "server"))]
    #[error("this build has no server")]
    #[diagnostic(
        code(cli::without_server),
        help(
            "build it with the feature 'server': cargo install --locked --path cozo-bin --no-default-features --features server"
        )
    )]
    WithoutServer,
    /// A Parquet or Arrow file that is damaged, or has types without a counterpart.
    #[cfg(feature = "arrow")]
    #[error("cannot read '{path}': {reason}")]
    #[diagnostic(
        code(cli::unreadable),
        help("--format names the format of a file, if it is not what the extension says")
    )]
    Unreadable {
        /// The file.
        path: String,
        /// What is wrong with it.
        reason: String,
    },
    /// Columns that cannot be written as Arrow.
    #[cfg(feature = "arrow")]
    #[error("cannot write: {0}")]
    #[diagnostic(
        code(cli::arrow),
        help("convert the column in the query, for instance with to_string or json, or export to jsonl")
    )]
    Arrow(String),
    /// A binary format would go to standard output.
    #[error("only text goes to standard output")]
    #[diagnostic(code(cli::not_to_stdout), help("name a file, or choose --format csv, tsv, jsonl or json"))]
    NotToStdout,
    /// A script with several results cannot be one table.
    #[error("the script has several results")]
    #[diagnostic(code(cli::several_results), help("export them one by one"))]
    SeveralResults,
    /// A record of a data file that does not fit.
    #[error("bad record {record} in '{path}'{line}: {reason}")]
    #[diagnostic(code(cli::bad_record), help("mend the file and load it again: rows with the same keys are replaced"))]
    Record {
        /// The file.
        path: String,
        /// The record, from 1; a header does not count.
        record: u64,
        /// The line at which it begins, as the end of a phrase, if records are lines.
        line: String,
        /// What is wrong.
        reason: String,
    },
    /// A data file without any column.
    #[error("there are no columns in '{0}'")]
    #[diagnostic(
        code(cli::no_columns),
        help("a CSV file begins with a header, a JSON Lines file has an object a line")
    )]
    NoColumns(String),
    /// The relation has columns that the file lacks.
    #[error("'{path}' has no column '{column}' for the relation '{relation}'")]
    #[diagnostic(code(cli::missing_column), help("the columns in the file: {found}"))]
    MissingColumn {
        /// The file.
        path: String,
        /// The relation.
        relation: String,
        /// The column.
        column: String,
        /// Those that are there.
        found: String,
    },
    /// Headers that CozoScript does not allow as names, or that occur twice.
    #[error("headers in '{path}' cannot be the names of columns: {columns}")]
    #[diagnostic(
        code(cli::column_name),
        help("--rename behind the file makes them {names}; --rename OLD=NEW,... names single ones")
    )]
    ColumnName {
        /// The file.
        path: String,
        /// The headers.
        columns: String,
        /// What they would be renamed to.
        names: String,
    },
    /// A `--rename` that is no `OLD=NEW`, of a column that is not there, or to a text that cannot be a name.
    #[error("bad rename '{given}'")]
    #[diagnostic(
        code(cli::rename),
        help(
            "write OLD=NEW,... where NEW has letters, digits and _, or --rename alone behind the file; the columns: {found}"
        )
    )]
    Rename {
        /// What was given.
        given: String,
        /// The columns that are there.
        found: String,
    },
    /// Several files that are not one table.
    #[error("'{path}' has other columns than '{first}'")]
    #[diagnostic(
        code(cli::other_headers),
        help("'{first}' has {expected}; '{path}' has {found}: import them one by one")
    )]
    OtherHeaders {
        /// The file.
        path: String,
        /// Its columns.
        found: String,
        /// The file before.
        first: String,
        /// The columns of that.
        expected: String,
    },
    /// Files of text beside binary ones.
    #[error("files of text and of Parquet or Arrow cannot be read as one table")]
    #[diagnostic(code(cli::mixed_formats), help("import them one after the other into the same relation"))]
    MixedFormats,
    /// A pattern that matches no file.
    #[error("{reason}")]
    #[diagnostic(code(cli::pattern), help("* stands for any part of a name, ? for a character, ** for any folders"))]
    Pattern {
        /// What is wrong.
        reason: String,
    },
    /// A binary format below gzip.
    #[error("'{0}' is Parquet or Arrow within gzip")]
    #[diagnostic(code(cli::compressed), help("leave .gz off: these formats compress by themselves"))]
    Compressed(String),
    /// A text that is not the address of a server.
    #[error("'{0}' is not the address of a server")]
    #[diagnostic(
        code(remote::url),
        help("write --url http://HOST:PORT, or https://HOST:PORT where the server has a certificate")
    )]
    Url(String),
    /// A server does not answer, or does not answer like a server of this database.
    #[error("cannot use the server at {url}: {reason}")]
    #[diagnostic(code(remote::unreachable), help("'cozo server' starts one"))]
    Unreachable {
        /// The address.
        url: String,
        /// Why.
        reason: String,
    },
    /// A server that wants another token.
    #[error("the server at {0} does not accept the token")]
    #[diagnostic(code(remote::token), help("give it with --token TOKEN or in the variable COZO_AUTH_TOKEN"))]
    NoToken(String),
    /// A script on a server that was interrupted here.
    #[error("the script is no longer waited for")]
    #[diagnostic(code(remote::not_waited_for), help("it may still run there: ::running lists it, ::kill N stops it"))]
    NotWaitedFor,
    /// Something that a server does not do for its clients.
    #[error("that cannot be done from here")]
    #[diagnostic(code(remote::not_remotely), help("{0}"))]
    NotRemotely(&'static str),
    /// A lock file that cannot be read.
    #[error("'{path}' is not a lock file of cargo: {reason}")]
    #[diagnostic(code(cli::lockfile), help("give the path of a Cargo.lock: cozo demo path/to/Cargo.lock"))]
    Lockfile {
        /// The file.
        path: String,
        /// What is wrong.
        reason: String,
    },
    /// No lock file anywhere.
    #[error("there is no Cargo.lock in this directory or above")]
    #[diagnostic(code(cli::no_lockfile), help("give the path of one: cozo demo path/to/Cargo.lock"))]
    NoLockfile,
    /// The server cannot have its address.
    #[cfg(feature = "server")]
    #[error("cannot listen on {address}")]
    #[diagnostic(code(server::listen), help("--bind and --port choose another address; port 0 is any that is free"))]
    Listen {
        /// The address.
        address: String,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// A certificate or key that cannot be used.
    #[cfg(feature = "server")]
    #[error("cannot use '{path}' for TLS: {reason}")]
    #[diagnostic(
        code(server::tls),
        help("--tls-cert takes the certificates, --tls-key their private key, in PEM format")
    )]
    Tls {
        /// The file.
        path: String,
        /// What is wrong.
        reason: String,
    },
    /// A file without a token.
    #[cfg(feature = "server")]
    #[error("there is no token in '{0}'")]
    #[diagnostic(code(server::empty_token), help("write one into the file, or remove it to have one made"))]
    EmptyToken(String),
    /// A meta command of the REPL that was not understood.
    #[error("{0}")]
    #[diagnostic(code(repl::usage), help("%help lists the commands"))]
    Usage(String),
    /// `%set` has no value, or a value that is not JSON.
    #[error("bad parameter '{given}': {reason}")]
    #[diagnostic(
        code(repl::parameter),
        help("write %set KEY JSON, e.g. %set n 3 or %set name \"Ann\": strings need their quotes")
    )]
    SetParameter {
        /// What was given.
        given: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The line editor or the signal handler cannot be set up.
    #[error("the terminal cannot be set up: {0}")]
    #[diagnostic(code(repl::terminal), help("pipe scripts into 'cozo repl', or use 'cozo run'"))]
    Terminal(String),
}

impl CliError {
    /// A file that cannot be read.
    pub fn reading(path: &Path) -> impl FnOnce(io::Error) -> CliError + use<> {
        CliError::on_file("read", path)
    }

    /// A file that cannot be written.
    pub fn writing(path: &Path) -> impl FnOnce(io::Error) -> CliError + use<> {
        CliError::on_file("write", path)
    }

    /// What Arrow does not take.
    #[cfg(feature = "arrow")]
    pub fn arrow(error: arrow_schema::ArrowError) -> CliError {
        CliError::Arrow(error.to_string())
    }

    fn on_file(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> CliError + use<> {
        let path = path.display().to_string();
        move |source| CliError::File { action, path, source }
    }
}

/// Whether standard output takes nothing, or standard input gives nothing.
pub fn is_of_stream(report: &miette::Report) -> bool {
    matches!(report.downcast_ref::<CliError>(), Some(CliError::Stream(_)))
}

/// Whether the reader of our output has gone away, which is no error of ours.
pub fn is_broken_pipe(report: &miette::Report) -> bool {
    let broken = |error: &io::Error| error.kind() == io::ErrorKind::BrokenPipe;
    matches!(report.downcast_ref::<CliError>(), Some(CliError::Stream(error)) if broken(error))
}
