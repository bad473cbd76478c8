//! A file of rows on disk.

use std::fs::File;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use super::error::SpillError;
use super::space::SpillSpace;
use crate::budget::{Budget, Usage};

/// A file without a name. It is written at its end and read anywhere, by any number of threads. The system frees it when it is
/// dropped, or when the process ends in whatever way.
#[derive(Debug)]
pub struct SpillFile {
    file: OnceLock<File>,
    /// The bytes so far.
    end: AtomicU64,
    space: Arc<SpillSpace>,
    /// Counts the bytes for the query.
    usage: Arc<Usage>,
    /// The bytes of the query that stay in memory instead.
    hold_bytes: usize,
}

/// Where bytes lie.
#[derive(Clone, Debug)]
pub enum BlockPlace {
    /// In the file.
    Disk(Extent),
    /// In memory, as there was room.
    Memory(Arc<Held>),
}

/// Bytes that are held in memory.
#[derive(Debug)]
pub struct Held {
    /// The bytes.
    pub bytes: Box<[u8]>,
    usage: Arc<Usage>,
}

impl Drop for Held {
    fn drop(&mut self) {
        self.usage.let_go(self.bytes.len());
    }
}

/// Where bytes lie in a file.
#[derive(Clone, Debug)]
pub struct Extent {
    /// Their first position.
    pub offset: u64,
    /// Their number.
    pub len: usize,
}

impl SpillFile {
    /// A file of a query with this budget. The system creates it when something is written.
    pub fn new(space: &Arc<SpillSpace>, budget: &Budget) -> Arc<Self> {
        let (space, usage, hold_bytes) = (space.clone(), budget.usage().clone(), budget.hold_bytes());
        Arc::new(SpillFile { file: OnceLock::new(), end: AtomicU64::new(0), space, usage, hold_bytes })
    }

    /// The file, created if it is not there.
    fn file(&self) -> Result<&File, SpillError> {
        if let Some(file) = self.file.get() {
            return Ok(file);
        }
        let folder = self.space.folder();
        let failed = |error: std::io::Error| SpillError::of("written", folder, &error);
        let created = tempfile::tempfile_in(folder).map_err(failed)?;
        Ok(self.file.get_or_init(|| created))
    }

    /// The bytes so far.
    pub fn len(&self) -> u64 {
        self.end.load(Ordering::Relaxed)
    }

    /// Appends bytes.
    pub(super) fn append(&self, bytes: &[u8]) -> Result<BlockPlace, SpillError> {
        if self.usage.hold(bytes.len(), self.hold_bytes) {
            return Ok(BlockPlace::Memory(Arc::new(Held { bytes: bytes.into(), usage: self.usage.clone() })));
        }
        let (file, len) = (self.file()?, bytes.len() as u64);
        self.space.take(len)?;
        self.usage.add_disk(len);
        let offset = self.end.fetch_add(len, Ordering::Relaxed);
        write_at(file, bytes, offset).map_err(|error| SpillError::of("written", self.space.folder(), &error))?;
        Ok(BlockPlace::Disk(Extent { offset, len: bytes.len() }))
    }

    /// Reads bytes that were appended to the file into `buffer`, and `padding` zero bytes after them.
    pub(super) fn read(&self, extent: &Extent, buffer: &mut Vec<u8>, padding: usize) -> Result<(), SpillError> {
        buffer.clear();
        buffer.resize(extent.len + padding, 0);
        read_at(self.file()?, &mut buffer[..extent.len], extent.offset)
            .map_err(|error| SpillError::of("read", self.space.folder(), &error))
    }
}

impl Drop for SpillFile {
    fn drop(&mut self) {
        let bytes = self.end.load(Ordering::Relaxed);
        self.space.give_back(bytes);
        self.usage.remove_disk(bytes);
    }
}

#[cfg(unix)]
fn write_at(file: &File, bytes: &[u8], offset: u64) -> std::io::Result<()> {
    std::os::unix::fs::FileExt::write_all_at(file, bytes, offset)
}

#[cfg(unix)]
fn read_at(file: &File, bytes: &mut [u8], offset: u64) -> std::io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, bytes, offset)
}

#[cfg(windows)]
fn write_at(file: &File, mut bytes: &[u8], mut offset: u64) -> std::io::Result<()> {
    while !bytes.is_empty() {
        let written = std::os::windows::fs::FileExt::seek_write(file, bytes, offset)?;
        if written == 0 {
            return Err(std::io::ErrorKind::WriteZero.into());
        }
        (bytes, offset) = (&bytes[written..], offset + written as u64);
    }
    Ok(())
}

#[cfg(windows)]
fn read_at(file: &File, mut bytes: &mut [u8], mut offset: u64) -> std::io::Result<()> {
    while !bytes.is_empty() {
        let read = std::os::windows::fs::FileExt::seek_read(file, bytes, offset)?;
        if read == 0 {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
        (bytes, offset) = (&mut bytes[read..], offset + read as u64);
    }
    Ok(())
}
