//! Building texts piece by piece within the budget of a script.

use std::fmt;
use std::io;

use crate::budget::{BYTES_PER_STEP, Stop, make_room, step};

/// The number of bytes appended between two checks of the budget.
const BYTES_UNASKED: usize = 1 << 16;

/// A growing text. It makes room before it grows.
///
/// The builder implements both `Write` traits. A write without room fails, and [`TextBuilder::finish`] returns the reason.
#[derive(Default)]
pub struct TextBuilder {
    text: String,
    /// The number of bytes appended since the last check.
    unasked: usize,
    stopped: Option<Stop>,
}

impl TextBuilder {
    /// An empty text with room for `bytes` bytes.
    pub fn with_capacity(bytes: usize) -> Result<Self, Stop> {
        make_room(bytes)?;
        Ok(TextBuilder { text: String::with_capacity(bytes), ..TextBuilder::default() })
    }

    /// Appends a piece.
    #[inline]
    pub fn push_str(&mut self, piece: &str) -> Result<(), Stop> {
        self.reserve(piece.len())?;
        self.text.push_str(piece);
        Ok(())
    }

    /// Appends a character.
    #[inline]
    pub fn push(&mut self, character: char) -> Result<(), Stop> {
        self.reserve(character.len_utf8())?;
        self.text.push(character);
        Ok(())
    }

    #[inline]
    fn reserve(&mut self, bytes: usize) -> Result<(), Stop> {
        self.unasked += bytes;
        if self.unasked > BYTES_UNASKED || self.text.capacity() - self.text.len() < bytes {
            self.ask(bytes)?;
        }
        Ok(())
    }

    #[cold]
    fn ask(&mut self, bytes: usize) -> Result<(), Stop> {
        step(std::mem::take(&mut self.unasked) / BYTES_PER_STEP)?;
        let (length, capacity) = (self.text.len(), self.text.capacity());
        if capacity - length < bytes {
            let wanted = (length + bytes).max(2 * capacity);
            make_room(wanted - capacity)?;
            self.text.reserve_exact(wanted - length);
        }
        Ok(())
    }

    /// The text, or the reason why the script must stop if a write failed.
    pub fn finish(self) -> Result<String, Stop> {
        self.stopped.map_or(Ok(self.text), Err)
    }
}

impl fmt::Write for TextBuilder {
    fn write_str(&mut self, piece: &str) -> fmt::Result {
        self.push_str(piece).map_err(|stop| {
            self.stopped = Some(stop);
            fmt::Error
        })
    }
}

/// For writers of JSON, which write whole characters.
impl io::Write for TextBuilder {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let piece = std::str::from_utf8(bytes).map_err(io::Error::other)?;
        fmt::Write::write_str(self, piece).map_err(io::Error::other)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::budget::{Budget, Interrupt};

    #[test]
    fn a_text_grows_as_far_as_there_is_room() {
        let budget = Budget::new(Interrupt::default(), 0.0, 1 << 20);
        let _entered = budget.enter();
        let mut text = TextBuilder::default();
        let pieces = (0..).take_while(|_| fmt::Write::write_str(&mut text, "twelve bytes").is_ok()).count();
        assert!((1 << 19..1 << 20).contains(&(pieces * 12)), "{pieces}");
        assert_eq!(text.finish(), Err(Stop::OutOfMemory { limit_mb: 1 }));
    }
}
