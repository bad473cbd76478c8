//! The files of a pattern, and files that are compressed by gzip.

use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use flate2::bufread::MultiGzDecoder;

/// The first bytes of a file of gzip.
const GZIP_MAGIC: &[u8] = &[0x1f, 0x8b];

/// The size of the buffer from which gzip is read.
const BUFFER_BYTES: usize = 64 * 1024;

/// A pattern that stands for no files.
#[derive(Debug, Clone, thiserror::Error)]
pub enum PatternError {
    /// No file has such a name.
    #[error("no file fits the pattern '{0}'")]
    NoFile(String),
    /// The pattern itself is wrong.
    #[error("bad pattern: {0}")]
    Pattern(String),
    /// A folder cannot be listed.
    #[error("{0}")]
    Unreadable(String),
}

/// The files of a path, sorted. In the path `*` stands for any part of a name, `?` for a character, `[ab]` for one of
/// several, and `**` for any folders. A path of a file that exists, and one without these signs, is that file.
pub fn files_of(path: &str) -> Result<Vec<PathBuf>, PatternError> {
    if !path.contains(['*', '?', '[']) || Path::new(path).exists() {
        return Ok(vec![PathBuf::from(path)]);
    }
    let found = glob::glob(path).map_err(|error| PatternError::Pattern(error.to_string()))?;
    let mut files = vec![];
    for file in found {
        let file = file.map_err(|error| PatternError::Unreadable(error.to_string()))?;
        if !file.is_dir() {
            files.push(file);
        }
    }
    files.sort();
    if files.is_empty() { Err(PatternError::NoFile(path.to_string())) } else { Ok(files) }
}

/// Whether a path or address names a file of gzip.
pub fn is_gzip(path: &str) -> bool {
    without_gzip(path).len() < path.len()
}

/// The path without the extension `.gz`.
pub fn without_gzip(path: &str) -> &str {
    let end = path.len().saturating_sub(".gz".len());
    match path.get(end..) {
        Some(extension) if extension.eq_ignore_ascii_case(".gz") => &path[..end],
        _ => path,
    }
}

/// The bytes of a file, decompressed if its name and its first bytes say that it is compressed. A server may have
/// decompressed it before.
pub fn decompressed<'a>(path: &str, reader: impl Read + 'a) -> io::Result<Box<dyn Read + 'a>> {
    if !is_gzip(path) {
        return Ok(Box::new(reader));
    }
    let mut buffered = BufReader::with_capacity(BUFFER_BYTES, reader);
    match buffered.fill_buf()?.starts_with(GZIP_MAGIC) {
        true => Ok(Box::new(MultiGzDecoder::new(buffered))),
        false => Ok(Box::new(buffered)),
    }
}
