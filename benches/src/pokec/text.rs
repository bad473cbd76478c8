//! Lines of text files, plain or compressed by gzip.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::Path;

use flate2::read::MultiGzDecoder;

const BUFFER_BYTES: usize = 1 << 20;

/// Reads a file; one that ends in `.gz` is decompressed.
pub fn open(path: &Path) -> io::Result<Box<dyn BufRead>> {
    let file =
        File::open(path).map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", path.display())))?;
    Ok(match path.extension().is_some_and(|extension| extension == "gz") {
        true => Box::new(BufReader::with_capacity(BUFFER_BYTES, MultiGzDecoder::new(file))),
        false => Box::new(BufReader::with_capacity(BUFFER_BYTES, file)),
    })
}

/// Gives each line without its end to `take`, which need not be text in UTF-8. What `take` has to complain about comes back
/// as an error with the number of the line and its begin.
pub fn each_line(mut text: impl BufRead, mut take: impl FnMut(&[u8]) -> Result<(), String>) -> io::Result<()> {
    let mut line = Vec::new();
    for number in 1.. {
        line.clear();
        if text.read_until(b'\n', &mut line)? == 0 {
            break;
        }
        let content = line.trim_ascii_end();
        take(content).map_err(|complaint| {
            let begin = String::from_utf8_lossy(&content[..content.len().min(100)]).into_owned();
            io::Error::new(io::ErrorKind::InvalidData, format!("line {number}: {complaint}: {begin}"))
        })?;
    }
    Ok(())
}

/// A number written in decimal digits.
pub fn number<T: std::str::FromStr>(text: &[u8]) -> Option<T> {
    std::str::from_utf8(text).ok()?.trim().parse().ok()
}
