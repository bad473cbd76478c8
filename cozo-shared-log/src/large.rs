//! Entries that are larger than a slot: their chunks are blobs, and the slot says where.
//!
//! ```text
//! slot 17: Pointer { length }     chunks/00000000000000000017-AUTHOR-0000, -0001, ...
//! ```
//!
//! The names start with the number, so that truncation finds them, those of failed appends included.

use crate::{
    frame::{self, Author, Frame, HEADER, Kind},
    medium::{Medium, Outcome},
};
use std::{io::Read, time::Instant};

const FOLDER: &str = "chunks/";

fn chunk_path(number: u64, author: Author, index: usize) -> String {
    format!("{FOLDER}{number:020}-{}-{index:06}", author.hex())
}

/// The frame for the slot. If the entry is large, its chunks are stored first.
pub fn store(medium: &dyn Medium, number: u64, author: Author, entry: &[u8], until: Instant) -> Outcome<Vec<u8>> {
    let most = medium.largest_slot() - HEADER;
    if entry.len() <= most {
        return Ok(frame::encode(author, Kind::Whole, number, entry));
    }
    for (index, chunk) in entry.chunks(most).enumerate() {
        let framed = frame::encode(author, Kind::Chunk, number, chunk);
        medium.put_blob(&chunk_path(number, author, index), &mut &framed[..], until)?;
    }
    Ok(frame::encode(author, Kind::Pointer, number, &(entry.len() as u64).to_le_bytes()))
}

/// The entry that a pointer stands for. The inner error says what is damaged.
pub fn load(medium: &dyn Medium, number: u64, pointer: &Frame<'_>, until: Instant) -> Outcome<Result<Vec<u8>, String>> {
    let Ok(length) = pointer.content.try_into().map(u64::from_le_bytes) else {
        return Ok(Err("its length is no number".into()));
    };
    let mut entry = Vec::new();
    for index in 0.. {
        if entry.len() as u64 >= length {
            break;
        }
        let Some(mut content) = medium.get_blob(&chunk_path(number, pointer.author, index), until)? else {
            return Ok(Err(format!("its chunk {index} is missing")));
        };
        let mut framed = Vec::new();
        if let Err(error) = content.read_to_end(&mut framed) {
            return Err(crate::medium::Failure::Lost(error.to_string()));
        }
        match frame::decode(number, &framed) {
            Ok(chunk) if chunk.kind == Kind::Chunk && !chunk.content.is_empty() => {
                entry.extend_from_slice(chunk.content)
            }
            Ok(_) => return Ok(Err(format!("its chunk {index} is something else"))),
            Err(what) => return Ok(Err(format!("chunk {index}: {what}"))),
        }
    }
    Ok(if entry.len() as u64 == length { Ok(entry) } else { Err("its chunks are too long".into()) })
}

/// Removes the chunks of entries before a number.
pub fn remove_before(medium: &dyn Medium, first: u64, until: Instant) -> Outcome<()> {
    for path in medium.list_blobs(FOLDER, until)? {
        let number = path[FOLDER.len()..].split('-').next().and_then(|number| number.parse::<u64>().ok());
        if number.is_some_and(|number| number < first) {
            medium.remove_blob(&path, until)?;
        }
    }
    Ok(())
}

/// Removes the chunks of an append that did not get its number. What fails here is removed by the next truncation.
pub fn discard(medium: &dyn Medium, number: u64, author: Author, entry: &[u8], until: Instant) {
    let most = medium.largest_slot() - HEADER;
    if entry.len() > most {
        for index in 0..entry.len().div_ceil(most) {
            if medium.remove_blob(&chunk_path(number, author, index), until).is_err() {
                return;
            }
        }
    }
}
