//! Pieces of what a rule reads at a time where all of it exceeds the memory.

/// A part of the numbers: those of which the hash lies in one of several equal parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    pub nth: u32,
    pub of: u32,
}

impl Piece {
    /// All numbers.
    pub const WHOLE: Piece = Piece { nth: 0, of: 1 };

    /// Whether a number is in this part.
    #[inline]
    pub fn has(self, number: i64) -> bool {
        // Multiplication by an odd number spreads neighbours (Fibonacci hashing).
        let hash = || (number as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
        self.of == 1 || (hash() * u64::from(self.of)) >> 32 == u64::from(self.nth)
    }

    /// The next part, if there is one.
    pub fn next(self) -> Option<Piece> {
        (self.nth + 1 < self.of).then_some(Piece { nth: self.nth + 1, ..self })
    }
}
