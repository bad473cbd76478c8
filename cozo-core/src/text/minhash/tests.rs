//! Signatures, bands and estimates.

#![allow(clippy::unwrap_used)]

use super::*;

/// Two sets of so many shingles each, that have so many together.
fn sets(size: u64, common: u64, seed: u64) -> (Vec<u64>, Vec<u64>) {
    let element = |i: u64| hash_of_bytes(&(seed << 32 | i).to_le_bytes());
    ((0..size).map(element).collect(), (size - common..2 * size - common).map(element).collect())
}

#[test]
fn estimates_are_close_to_the_similarity() {
    let hasher = MinHasher::new(256);
    for (size, common) in [(100, 0), (100, 100), (100, 50), (1000, 900), (1000, 100), (30, 20), (3, 1), (1, 1), (1, 0)]
    {
        let truth = common as f64 / (2 * size - common) as f64;
        let rounds = 40;
        let estimates = (0..rounds).map(|seed| {
            let (a, b) = sets(size, common, seed);
            hasher.signature(&a).similarity(&hasher.signature(&b))
        });
        let mean = estimates.sum::<f64>() / rounds as f64;
        let deviation = (truth * (1.0 - truth) / 256.0 / rounds as f64).sqrt();
        assert!((mean - truth).abs() <= 4.0 * deviation, "{size} {common}: {mean}, not {truth} by {deviation}");
    }
}

/// The share of pairs that have a band in common is the one that the parameters were chosen by.
#[test]
fn bands_are_shared_as_often_as_they_should() {
    let parameters = LshParameters::choose(128, 0.5, 1.0, 1.0).unwrap();
    let hasher = MinHasher::new(parameters.hashes());
    for (size, common) in [(60, 20), (60, 40), (60, 50)] {
        let expected = parameters.probability(common as f64 / (2 * size - common) as f64);
        let found = (0..400).filter(|seed| {
            let (a, b) = sets(size, common, *seed);
            let (a, b) = (hasher.signature(&a), hasher.signature(&b));
            let keys: Vec<BandKey> = a.band_keys(parameters).collect();
            b.band_keys(parameters).any(|key| keys.contains(&key))
        });
        let found = found.count() as f64 / 400.0;
        assert!((found - expected).abs() < 0.1, "{size} {common}: {found}, not {expected}");
    }
}

#[test]
fn bytes_come_back() {
    let signature = MinHasher::new(5).signature(&[1, 2, 3]);
    let bytes = signature.to_bytes();
    assert_eq!(bytes.len(), 20);
    assert_eq!(Signature::from_bytes(&bytes), Some(signature));
    assert_eq!(Signature::from_bytes(&bytes[1..]), None);
    assert_eq!(Signature::from_bytes(&[]), Some(Signature(vec![])));
}

#[test]
fn bands_have_keys_of_their_own() {
    let parameters = LshParameters { bands: 3, rows: 2 };
    let same = Signature(vec![7; 6]);
    let keys: Vec<BandKey> = same.band_keys(parameters).collect();
    assert_eq!(keys.len(), 3);
    assert!(keys[0] < keys[1] && keys[1] < keys[2] && keys[0][2..] == keys[1][2..]);
    assert_eq!(Signature(vec![]).similarity(&Signature(vec![])), 0.0);
}

/// Signatures and keys are stored, so they are the same in every version. The numbers are those of a program in Python.
#[test]
fn signatures_never_change() {
    let hasher = MinHasher::new(4);
    let shingles = ["a", "b", "c"].map(|text| hash_of_bytes(text.as_bytes()));
    let signature = hasher.signature(&shingles);
    assert_eq!(signature.0, [2138653056, 155201747, 601426834, 244028299]);
    assert_eq!(hasher.signature(&[]).0, [u32::MAX; 4]);
    assert_eq!(MinHasher::new(2).signature(&shingles).0, signature.0[..2]);
    let keys: Vec<BandKey> = signature.band_keys(LshParameters { bands: 2, rows: 2 }).collect();
    assert_eq!(keys, [[0, 0, 143, 57, 151, 108, 166, 112, 126, 216], [0, 1, 92, 153, 185, 134, 235, 109, 27, 246]]);
}

#[test]
fn parameters_are_those_of_datasketch() {
    for (permutations, threshold, positives, negatives, bands, rows) in DATASKETCH {
        let found = LshParameters::choose(permutations, threshold, positives, negatives).unwrap();
        assert_eq!(found, LshParameters { bands, rows }, "{permutations} {threshold} {positives} {negatives}");
        // The same weights are not found, but some that mean the same.
        let [positives, negatives] = found.weights(permutations, threshold).unwrap();
        assert_eq!(LshParameters::choose(permutations, threshold, positives, negatives), Ok(found));
    }
}

#[test]
fn wrong_options_are_refused() {
    let table = [
        (0, 0.5, 1.0, 1.0, "1 to 4096 hash functions, not 0"),
        (5000, 0.5, 1.0, 1.0, "1 to 4096 hash functions, not 5000"),
        (100, -0.1, 1.0, 1.0, "between 0 and 1, not -0.1"),
        (100, 1.5, 1.0, 1.0, "between 0 and 1, not 1.5"),
        (100, f64::NAN, 1.0, 1.0, "between 0 and 1, not NaN"),
        (100, 0.5, -1.0, 1.0, "are not -1 and 1"),
        (100, 0.5, 0.0, 0.0, "are not 0 and 0"),
        (100, 0.5, f64::INFINITY, 1.0, "are not inf and 1"),
    ];
    for (permutations, threshold, positives, negatives, message) in table {
        let error = LshParameters::choose(permutations, threshold, positives, negatives).unwrap_err().to_string();
        assert!(error.contains(message), "{error}");
    }
    for threshold in [0.0, 1.0] {
        assert!(LshParameters::choose(50, threshold, 1.0, 1.0).unwrap().hashes() <= 50);
    }
    assert_eq!(LshParameters::choose(1, 0.5, 1.0, 1.0), Ok(LshParameters { bands: 1, rows: 1 }));
    assert_eq!(LshParameters { bands: 7, rows: 9 }.weights(50, 0.5), None);
}

/// Hash functions, threshold, weights of false positives and negatives; bands and rows by `_optimal_param` of datasketch 2.0.0.
/// A sample of 288 that have been compared: 64, 128, 200 and 256 functions, thresholds from 0.1 to 0.95.
const DATASKETCH: [(usize, f64, f64, f64, usize, usize); 42] = [
    (64, 0.15, 0.3, 0.7, 14, 1),
    (64, 0.15, 0.9, 0.1, 21, 3),
    (64, 0.25, 0.3, 0.7, 28, 2),
    (64, 0.3, 0.9, 0.1, 16, 4),
    (64, 0.35, 0.1, 0.9, 23, 2),
    (64, 0.5, 0.1, 0.9, 21, 3),
    (64, 0.5, 0.5, 0.5, 14, 4),
    (64, 0.7, 0.1, 0.9, 12, 5),
    (64, 0.9, 0.9, 0.1, 2, 32),
    (64, 0.95, 0.1, 0.9, 3, 19),
    (64, 0.95, 0.5, 0.5, 2, 32),
    (128, 0.15, 0.1, 0.9, 23, 1),
    (128, 0.2, 0.1, 0.9, 64, 2),
    (128, 0.4, 0.9, 0.1, 21, 6),
    (128, 0.55, 0.3, 0.7, 25, 5),
    (128, 0.65, 0.3, 0.7, 18, 7),
    (128, 0.65, 0.9, 0.1, 10, 12),
    (128, 0.7, 0.1, 0.9, 20, 6),
    (128, 0.85, 0.5, 0.5, 8, 16),
    (128, 0.9, 0.1, 0.9, 8, 16),
    (200, 0.2, 0.9, 0.1, 50, 4),
    (200, 0.5, 0.5, 0.5, 33, 6),
    (200, 0.6, 0.3, 0.7, 29, 6),
    (200, 0.65, 0.1, 0.9, 32, 6),
    (200, 0.75, 0.3, 0.7, 20, 10),
    (200, 0.75, 0.9, 0.1, 11, 18),
    (200, 0.8, 0.3, 0.7, 16, 12),
    (200, 0.8, 0.9, 0.1, 9, 22),
    (200, 0.9, 0.5, 0.5, 8, 25),
    (200, 0.95, 0.3, 0.7, 5, 39),
    (256, 0.1, 0.9, 0.1, 85, 3),
    (256, 0.15, 0.3, 0.7, 80, 2),
    (256, 0.2, 0.3, 0.7, 44, 2),
    (256, 0.4, 0.3, 0.7, 58, 4),
    (256, 0.4, 0.5, 0.5, 51, 5),
    (256, 0.4, 0.9, 0.1, 36, 7),
    (256, 0.55, 0.1, 0.9, 51, 5),
    (256, 0.7, 0.3, 0.7, 28, 9),
    (256, 0.85, 0.5, 0.5, 13, 19),
    (256, 0.85, 0.9, 0.1, 8, 31),
    (256, 0.9, 0.1, 0.9, 13, 19),
    (256, 0.9, 0.9, 0.1, 6, 42),
];
