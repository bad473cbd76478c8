//! What random choices are made of. Only roots and divisions are computed: they are exact on every machine, so that a
//! network is the same everywhere.

use rand::rngs::Xoshiro256PlusPlus;
use rand::{RngExt, SeedableRng};

/// The source of random numbers.
pub type Random = Xoshiro256PlusPlus;

/// All networks are made from this seed.
const SEED: u64 = 20_210_620;

/// So many rounds of drawing pairs are tried: where nearly all possible pairs are there, the rest would not be found.
const ROUNDS: usize = 50;

/// The random numbers of one part of the network.
pub fn random(part: u64) -> Random {
    Random::seed_from_u64(SEED ^ part.wrapping_mul(0x9E37_79B9_7F4A_7C15))
}

/// A place below `number`; the place r is drawn in proportion to `1 / √r`.
pub fn skewed(random: &mut Random, number: u32) -> u32 {
    let u: f64 = random.random();
    ((u * u * f64::from(number)) as u32).min(number - 1)
}

/// A size of at least 1 that is at least x with the probability `x^(-4/3)`, and at most `most`: few are large.
pub fn heavy(random: &mut Random, most: f64) -> f64 {
    let root = random.random::<f64>().max(f64::MIN_POSITIVE).sqrt();
    (1.0 / (root * root.sqrt())).min(most)
}

/// A number of at least 1; each further one is half as likely.
pub fn halving(random: &mut Random) -> u32 {
    1 + random.random::<u32>().leading_zeros()
}

/// One of a list, all alike.
pub fn one_of(random: &mut Random, list: &[u32]) -> Option<u32> {
    (!list.is_empty()).then(|| list[random.random_range(0..list.len())])
}

/// So many different pairs, ascending. `draw` gives one, or none if what it has drawn is no pair.
pub fn pairs(wanted: usize, mut draw: impl FnMut() -> Option<(u32, u32)>) -> Vec<(u32, u32)> {
    let mut drawn: Vec<(u32, u32)> = Vec::with_capacity(wanted);
    for _ in 0..ROUNDS {
        if drawn.len() == wanted {
            break;
        }
        drawn.extend((drawn.len()..wanted).filter_map(|_| draw()));
        // Stable, because it finds what is sorted already.
        drawn.sort();
        drawn.dedup();
    }
    drawn
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_as_many_as_wanted_or_possible() {
        let mut random = random(1);
        let mut draw = || Some((random.random_range(0..10), random.random_range(0..10)));
        assert_eq!(pairs(60, &mut draw).len(), 60);
        assert_eq!(pairs(1000, &mut draw).len(), 100);
    }

    #[test]
    fn few_are_large() {
        let mut random = random(2);
        let mut sizes: Vec<f64> = (0..10_000).map(|_| heavy(&mut random, 200.0)).collect();
        sizes.sort_by(f64::total_cmp);
        assert!(sizes[0] >= 1.0 && sizes[9_999] == 200.0);
        assert!((1.5..2.0).contains(&sizes[5_000]), "the median is {}", sizes[5_000]);
        let of_the_first_tenth = (0..10_000).filter(|_| skewed(&mut random, 1_000) < 100).count();
        assert!((2_900..3_400).contains(&of_the_first_tenth), "{of_the_first_tenth} and not the root of a tenth");
        let ones = (0..10_000).filter(|_| halving(&mut random) == 1).count();
        assert!((4_800..5_200).contains(&ones), "{ones} and not half");
    }
}
