//! Shingles: hashes of windows of tokens. Texts are alike as far as they have the same shingles.
//!
//! The hash is XXH3 with 64 bits and seed 0, of the crate `twox-hash`, which `parquet` brings along. It is fast for short texts, and its
//! results are specified: hashes that an index stores are the same on every platform and in every version. Its quality makes up for the
//! simple functions of `minhash`.

use twox_hash::XxHash3_64;

use crate::budget::{self, Stop};
use crate::text::analyzer::Tokens;

/// The hash of a shingle that is no text, such as the encoded element of a list.
pub fn hash_of_bytes(bytes: &[u8]) -> u64 {
    XxHash3_64::oneshot(bytes)
}

/// Makes shingles of one text after the other.
#[derive(Debug)]
pub struct Shingles {
    n_gram: usize,
    /// The hashes of tokens, eight bytes each. A window of tokens is a slice, which cannot be mistaken for other tokens.
    tokens: Vec<u8>,
    hashes: Vec<u64>,
}

impl Shingles {
    /// For shingles of `n_gram` tokens, one at least.
    pub fn new(n_gram: usize) -> Shingles {
        Shingles { n_gram: n_gram.max(1), tokens: vec![], hashes: vec![] }
    }

    /// The distinct shingles of a text, in ascending order. A text of at most `n_gram` tokens is one shingle, even without a token.
    pub fn of(&mut self, tokens: &Tokens) -> Result<&[u64], Stop> {
        let _until_the_end = budget::temporary();
        budget::make_room(tokens.len() * 2 * size_of::<u64>())?;
        self.tokens.clear();
        self.tokens.extend(tokens.iter().flat_map(|token| hash_of_bytes(token.text.as_bytes()).to_le_bytes()));
        self.hashes.clear();
        let window = self.n_gram.min(tokens.len()) * size_of::<u64>();
        for start in (0..=self.tokens.len() - window).step_by(size_of::<u64>()) {
            budget::step(window / budget::BYTES_PER_STEP + 1)?;
            self.hashes.push(hash_of_bytes(&self.tokens[start..start + window]));
        }
        self.hashes.sort_unstable();
        self.hashes.dedup();
        Ok(&self.hashes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::Analyzer;

    fn shingles(text: &str, n_gram: usize) -> Vec<u64> {
        let analyzer = Analyzer::new(("Simple", &[]), &[]).expect("the analyzer exists");
        let mut tokens = Tokens::default();
        analyzer.tokens(text, &mut tokens).expect("there is no budget");
        Shingles::new(n_gram).of(&tokens).expect("there is no budget").to_vec()
    }

    #[test]
    fn windows_are_counted_once() {
        let table = [
            ("", 1, 1),
            ("", 3, 1),
            ("a", 3, 1),
            ("a b c", 3, 1),
            ("a b c d", 3, 2),
            ("a b c d", 1, 4),
            ("a b a b a b", 2, 2),
            ("a a a a", 2, 1),
            ("a a a a", 4, 1),
        ];
        for (text, n_gram, count) in table {
            assert_eq!(shingles(text, n_gram).len(), count, "{text:?} by {n_gram}");
        }
    }

    #[test]
    fn the_bounds_of_tokens_matter_and_their_order() {
        assert_ne!(shingles("ab c", 2), shingles("a bc", 2));
        assert_ne!(shingles("a b", 2), shingles("b a", 2));
        assert_eq!(shingles("a b", 1), shingles("b, a!", 1));
        assert_ne!(shingles("a", 1), shingles("b", 1));
    }

    /// These are stored. The numbers are from the reference implementation of XXH3.
    #[test]
    fn hashes_never_change() {
        assert_eq!(hash_of_bytes(b""), 0x2d06_8005_38d3_94c2);
        assert_eq!(shingles("a", 1), [hash_of_bytes(&hash_of_bytes(b"a").to_le_bytes())]);
        assert_eq!(shingles("a", 1), [A]);
        assert_eq!(shingles("the quick brown fox", 3), FOX);
    }

    const A: u64 = 0x85d6_11bb_010d_6b42;
    const FOX: [u64; 2] = [0xdd22_8714_4e58_625f, 0xe585_fa37_75b8_336a];
}
