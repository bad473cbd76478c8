//! The frame of an entry: who wrote it, which number it has, and whether it is whole.
//!
//! ```text
//! 0      4        5     6        8       16      24      32      40     44
//! magic  version  kind  (zero)   writer  nonce   number  length  crc32  content
//! ```
//!
//! Numbers are little endian. The checksum covers all but itself.

use rand::random;
use std::{
    process,
    sync::atomic::{AtomicU64, Ordering},
};

const MAGIC: &[u8; 4] = b"CzSL";
const VERSION: u8 = 1;
const CHECKSUM_AT: usize = 40;
/// The length of a frame without its content.
pub const HEADER: usize = 44;

/// Who appended an entry: a writer, and which of its appends. No two appends have the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Author {
    writer: u64,
    nonce: u64,
}

impl Author {
    /// The author as a part of the name of a blob.
    pub fn hex(self) -> String {
        format!("{:016x}{:016x}", self.writer, self.nonce)
    }
}

/// Hands out authors.
#[derive(Debug)]
pub struct Writer {
    id: u64,
    next: AtomicU64,
}

impl Writer {
    /// A writer like no other.
    pub fn new() -> Writer {
        Writer { id: random(), next: AtomicU64::new(0) }
    }

    /// The author of one more append. A forked process has the same writer, but another number of its own.
    pub fn author(&self) -> Author {
        Author { writer: self.id.wrapping_add(process::id().into()), nonce: self.next.fetch_add(1, Ordering::Relaxed) }
    }
}

/// What the content of a frame is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    /// The entry itself.
    Whole = 0,
    /// How long the entry is; it lies in chunks.
    Pointer = 1,
    /// A chunk of an entry.
    Chunk = 2,
}

/// A frame whose checksum was right.
#[derive(Debug)]
pub struct Frame<'a> {
    pub author: Author,
    pub kind: Kind,
    pub content: &'a [u8],
}

/// Puts a frame around a content.
pub fn encode(author: Author, kind: Kind, number: u64, content: &[u8]) -> Vec<u8> {
    let mut frame = Vec::with_capacity(HEADER + content.len());
    frame.extend_from_slice(MAGIC);
    frame.extend_from_slice(&[VERSION, kind as u8, 0, 0]);
    for field in [author.writer, author.nonce, number, content.len() as u64] {
        frame.extend_from_slice(&field.to_le_bytes());
    }
    let checksum = checksum(&frame, content);
    frame.extend_from_slice(&checksum.to_le_bytes());
    frame.extend_from_slice(content);
    frame
}

/// Reads and checks a frame. The error says what is wrong.
pub fn decode(number: u64, frame: &[u8]) -> Result<Frame<'_>, String> {
    let Some((header, content)) = frame.split_at_checked(HEADER) else {
        return Err(format!("{} bytes are less than a header", frame.len()));
    };
    if &header[..4] != MAGIC {
        return Err("it does not start as an entry does".into());
    }
    if header[4] != VERSION {
        return Err(format!("its format has version {}, and this program reads version {VERSION}", header[4]));
    }
    let field = |at: usize| header[at..].iter().take(8).rev().fold(0, |sum, &byte| sum << 8 | u64::from(byte));
    if field(32) != content.len() as u64 {
        return Err(format!("it has {} bytes instead of {}", content.len(), field(32)));
    }
    if (field(36) >> 32) as u32 != checksum(&header[..CHECKSUM_AT], content) {
        return Err("its checksum is wrong".into());
    }
    if field(24) != number {
        return Err(format!("it says that it is entry {}", field(24)));
    }
    let kind = match header[5] {
        0 => Kind::Whole,
        1 => Kind::Pointer,
        2 => Kind::Chunk,
        other => return Err(format!("its kind {other} is unknown")),
    };
    Ok(Frame { author: Author { writer: field(8), nonce: field(16) }, kind, content })
}

fn checksum(header: &[u8], content: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(header);
    hasher.update(content);
    hasher.finalize()
}
