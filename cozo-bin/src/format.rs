//! The formats of data files, which of them a file has, and how text begins.

use std::path::Path;

use clap::ValueEnum;
use cozo::data_file::{is_gzip, without_gzip};

use crate::error::CliError;

/// The text without the mark for the order of bytes that some editors begin UTF-8 with.
pub fn without_mark(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}

/// A format of tables in files.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum FileFormat {
    /// Values separated by commas, below a header
    Csv,
    /// Values separated by tabs, below a header
    Tsv,
    /// A JSON object a line
    Jsonl,
    /// A JSON array of objects
    Json,
    /// Parquet
    Parquet,
    /// Arrow IPC, also called Feather
    Arrow,
}

impl FileFormat {
    /// The format that is asked for, else the one that the extension of the file says.
    pub fn of(asked: Option<FileFormat>, path: &Path) -> Result<Self, CliError> {
        let name = path.to_string_lossy();
        let extension =
            Path::new(without_gzip(&name)).extension().map(|extension| extension.to_string_lossy().to_lowercase());
        let format = asked.or(match extension.as_deref() {
            Some("csv") => Some(FileFormat::Csv),
            Some("tsv") => Some(FileFormat::Tsv),
            Some("jsonl" | "ndjson") => Some(FileFormat::Jsonl),
            Some("json") => Some(FileFormat::Json),
            Some("parquet" | "pq") => Some(FileFormat::Parquet),
            Some("arrow" | "arrows" | "feather" | "ipc") => Some(FileFormat::Arrow),
            _ => None,
        });
        match format {
            #[cfg(not(feature = "arrow"))]
            Some(FileFormat::Parquet | FileFormat::Arrow) => Err(CliError::WithoutArrow),
            // The binary formats compress by themselves, and are not read from front to back.
            Some(format) if is_gzip(&name) && !format.is_text() => Err(CliError::Compressed(name.into_owned())),
            Some(format) => Ok(format),
            None => Err(CliError::DataFormat(path.display().to_string())),
        }
    }

    /// Whether people can read it.
    pub fn is_text(self) -> bool {
        !matches!(self, FileFormat::Parquet | FileFormat::Arrow)
    }
}
