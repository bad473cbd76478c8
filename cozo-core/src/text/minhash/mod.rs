//! MinHash: short signatures of sets, whose equal places estimate the Jaccard similarity of the sets (A. Broder, 1997).
//!
//! A hash function orders all shingles, and the probability that two sets have the same first shingle is their similarity. A signature
//! holds the least hash by each of its functions. Bands of it are the keys of an index (see `parameters`).
//!
//! **Signatures are stored. Functions, hashes and keys never change.**

mod parameters;

pub use parameters::{LshError, LshParameters};

use crate::text::shingles::hash_of_bytes;

/// The sequence of constants begins here: the fractional digits of pi in hexadecimal.
const SEED: u64 = 0x243f_6a88_85a3_08d3;

/// The key of a band: its number, and the hash of its rows, both with the most significant byte first.
type BandKey = [u8; 10];

/// Makes signatures.
#[derive(Clone, Debug)]
pub struct MinHasher {
    /// The functions `h -> (h * multiplier + addend) >> 32`, which permute the hashes of shingles before the shift.
    functions: Vec<(u64, u64)>,
}

/// The least hashes of a set of shingles.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signature(Vec<u32>);

impl MinHasher {
    /// The first `count` functions. A signature by fewer functions is the beginning of one by more.
    pub fn new(count: usize) -> MinHasher {
        let mut state = SEED;
        let functions = (0..count).map(|_| (split_mix(&mut state) | 1, split_mix(&mut state)));
        MinHasher { functions: functions.collect() }
    }

    /// The signature of a set of shingles.
    pub fn signature(&self, shingles: &[u64]) -> Signature {
        let least = |&(multiplier, addend): &(u64, u64)| {
            let hashes = shingles.iter().map(|shingle| shingle.wrapping_mul(multiplier).wrapping_add(addend));
            (hashes.min().unwrap_or(u64::MAX) >> 32) as u32
        };
        Signature(self.functions.iter().map(least).collect())
    }
}

/// The next number of the generator SplitMix64 (Steele, Lea, Flood, 2014).
fn split_mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

impl Signature {
    /// The signature as an index stores it: four bytes for each function, the least significant first.
    pub fn to_bytes(&self) -> Vec<u8> {
        self.0.iter().flat_map(|hash| hash.to_le_bytes()).collect()
    }

    /// The signature of stored bytes. None if they are not a multiple of four.
    pub fn from_bytes(bytes: &[u8]) -> Option<Signature> {
        let (hashes, rest) = bytes.as_chunks::<4>();
        rest.is_empty().then(|| Signature(hashes.iter().map(|hash| u32::from_le_bytes(*hash)).collect()))
    }

    /// The keys of the bands. Sets that share one are candidates for being alike.
    pub fn band_keys(&self, parameters: LshParameters) -> impl Iterator<Item = BandKey> + '_ {
        let bands = self.0.chunks_exact(parameters.rows).take(parameters.bands);
        let mut rows = Vec::with_capacity(parameters.rows * 4);
        bands.enumerate().map(move |(band, hashes)| {
            rows.clear();
            rows.extend(hashes.iter().flat_map(|hash| hash.to_le_bytes()));
            let mut key = [0; 10];
            key[..2].copy_from_slice(&u16::try_from(band).unwrap_or(u16::MAX).to_be_bytes());
            key[2..].copy_from_slice(&hash_of_bytes(&rows).to_be_bytes());
            key
        })
    }

    /// An estimate of the Jaccard similarity of the two sets: the share of equal hashes. Its standard deviation for a similarity of
    /// `s` and signatures of `n` hashes is `sqrt(s * (1 - s) / n)`.
    pub fn similarity(&self, other: &Signature) -> f64 {
        let equal = self.0.iter().zip(&other.0).filter(|(a, b)| a == b).count();
        equal as f64 / self.0.len().max(other.0.len()).max(1) as f64
    }
}

#[cfg(test)]
mod tests;
