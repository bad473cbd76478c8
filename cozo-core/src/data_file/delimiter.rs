//! Finds the delimiter of a CSV file by its first records.

use csv::{ByteRecord, ReaderBuilder};

/// The delimiters that are looked for. Of two that fit alike, the first is taken.
const DELIMITERS: [u8; 4] = [b',', b';', b'\t', b'|'];

/// The number of bytes from the start of a file that [`find_delimiter`] needs at most.
pub const START_BYTES: usize = 64 * 1024;

/// The number of records that are compared.
const RECORDS: usize = 100;

/// The delimiter of a file that starts with `start`. It divides the first record; if several do, the one is taken by
/// which all records have the same number of fields, and then the one with the most fields. A file of one column has
/// a comma.
pub fn find_delimiter(start: &[u8]) -> u8 {
    let mut best = (false, 1);
    let mut found = DELIMITERS[0];
    for delimiter in DELIMITERS {
        let candidate = fields(start, delimiter);
        if candidate.1 > 1 && candidate > best {
            (best, found) = (candidate, delimiter);
        }
    }
    found
}

/// Whether all records have the same number of fields, and how many the first one has.
fn fields(start: &[u8], delimiter: u8) -> (bool, usize) {
    let mut reader = ReaderBuilder::new().delimiter(delimiter).has_headers(false).flexible(true).from_reader(start);
    let mut record = ByteRecord::new();
    let mut counts = vec![];
    while counts.len() <= RECORDS && reader.read_byte_record(&mut record).unwrap_or(false) {
        counts.push(record.len());
    }
    // The last record may be cut off.
    if counts.len() > 1 && start.len() >= START_BYTES {
        counts.pop();
    }
    let first = counts.first().copied().unwrap_or(0);
    (counts.iter().all(|count| *count == first), first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delimiters_are_found_by_the_first_records() {
        for (start, delimiter) in [
            ("a,b\n1,2\n", b','),
            ("a;b\n1,5;2,5\n", b';'),
            ("a\tb\n1\t2;3\n", b'\t'),
            ("a|b|c\n1|2|3\n", b'|'),
            ("\"a;b\",c\n\"1;2\",3\n", b','),
            ("\"a\nx;y\";c\n1;2\n", b';'),
            ("a;b,c\n1;2\n3;4\n", b';'),
            ("a;b;c,d\n1;2;3,4\n", b';'),
            ("text\nhello, you; there\n", b','),
            ("a,b\n1\n", b','),
            ("", b','),
        ] {
            assert_eq!(char::from(find_delimiter(start.as_bytes())), char::from(delimiter), "{start:?}");
        }
    }
}
