//! Bands and rows: how a signature is divided, so that similar sets share a band and others do not.
//!
//! Sets of similarity `s` share one of `b` bands of `r` hashes with the probability `P(s) = 1 - (1 - s^r)^b`. For a threshold `t`, false
//! positives weigh `∫₀ᵗ P(s) ds` and false negatives `∫ₜ¹ (1 - P(s)) ds`. The choice is the pair of the least weighted sum, and equals
//! that of the Python library `datasketch` (see "Mining of Massive Datasets", chapter 3).

/// The most hash functions of an index.
const MAX_PERMUTATIONS: usize = 4096;

/// The intervals of the numerical integration, an even number. The choice is then that of an exact integration for all parameters
/// that have been compared.
const INTERVALS: usize = 256;

/// How many bands a signature has, and how many hashes a band has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LshParameters {
    /// The number of bands.
    pub bands: usize,
    /// The number of hashes in a band.
    pub rows: usize,
}

/// Parameters of an index for which there are no bands.
#[derive(Clone, Debug, PartialEq, thiserror::Error, miette::Diagnostic)]
#[diagnostic(code(text::bad_lsh_option))]
pub enum LshError {
    /// There are too many hash functions, or none.
    #[error("an index has 1 to {MAX_PERMUTATIONS} hash functions, not {0}")]
    #[diagnostic(help("give 'n_perm' another value; 200 is usual"))]
    Permutations(usize),
    /// The threshold is no similarity.
    #[error("the threshold of similarity is between 0 and 1, not {0}")]
    #[diagnostic(help("give 'target_threshold' another value, such as 0.7"))]
    Threshold(f64),
    /// A weight is negative or not finite, or both are zero.
    #[error("the weights of false positives and negatives are not {0} and {1}")]
    #[diagnostic(help("give both weights values of at least 0, one of them greater than 0"))]
    Weights(f64, f64),
}

impl LshParameters {
    /// The best parameters with `permutations` hash functions or fewer.
    pub fn choose(
        permutations: usize,
        threshold: f64,
        false_positive_weight: f64,
        false_negative_weight: f64,
    ) -> Result<LshParameters, LshError> {
        if !(1..=MAX_PERMUTATIONS).contains(&permutations) {
            return Err(LshError::Permutations(permutations));
        }
        if !(0.0..=1.0).contains(&threshold) {
            return Err(LshError::Threshold(threshold));
        }
        let weights = [false_positive_weight, false_negative_weight];
        if weights.iter().any(|weight| !weight.is_finite() || *weight < 0.0) || weights == [0.0, 0.0] {
            return Err(LshError::Weights(false_positive_weight, false_negative_weight));
        }
        let error = |parameters: &LshParameters| {
            let [false_positives, false_negatives] = parameters.errors(threshold);
            false_positives * false_positive_weight + false_negatives * false_negative_weight
        };
        let all = LshParameters::all(permutations);
        let best = all.map(|parameters| (error(&parameters), parameters)).reduce(|best, next| {
            // The first of equal ones, as in datasketch.
            if next.0 < best.0 { next } else { best }
        });
        Ok(best.expect("there is one hash function at least").1)
    }

    /// Weights of false positives and negatives with which [`LshParameters::choose`] makes this choice, if there are any.
    pub fn weights(self, permutations: usize, threshold: f64) -> Option<[f64; 2]> {
        let own = self.errors(threshold);
        // The weights of false positives, to 1 for false negatives, with which no other choice has a smaller sum.
        let (mut low, mut high) = (0.0_f64, f64::INFINITY);
        for other in LshParameters::all(permutations) {
            let other = other.errors(threshold);
            let (slope, rest) = (own[0] - other[0], other[1] - own[1]);
            if slope > 0.0 {
                high = high.min(rest / slope);
            } else if slope < 0.0 {
                low = low.max(rest / slope);
            }
        }
        let between = if high.is_finite() { (low + high) / 2.0 } else { low * 2.0 };
        let is_right =
            |weights: &[f64; 2]| LshParameters::choose(permutations, threshold, weights[0], weights[1]) == Ok(self);
        [[1.0, 1.0], [between, 1.0], [1.0, 0.0], [0.0, 1.0]].into_iter().find(is_right)
    }

    /// All parameters with so many hash functions or fewer.
    fn all(permutations: usize) -> impl Iterator<Item = LshParameters> {
        let rows = move |bands| (1..=permutations / bands).map(move |rows| LshParameters { bands, rows });
        (1..=permutations).flat_map(rows)
    }

    /// The integrals of false positives and of false negatives.
    fn errors(self, threshold: f64) -> [f64; 2] {
        let found = |s| self.probability(s);
        [integral(found, 0.0, threshold), integral(|s| 1.0 - found(s), threshold, 1.0)]
    }

    /// The number of hash functions.
    pub fn hashes(self) -> usize {
        self.bands * self.rows
    }

    /// The probability that sets of a similarity share a band.
    pub fn probability(self, similarity: f64) -> f64 {
        1.0 - (1.0 - similarity.powi(self.rows as i32)).powi(self.bands as i32)
    }
}

/// The integral of a function by Simpson's rule.
fn integral(function: impl Fn(f64) -> f64, from: f64, to: f64) -> f64 {
    let width = (to - from) / INTERVALS as f64;
    let inner: f64 = (1..INTERVALS)
        .map(|i| {
            let weight = if i % 2 == 1 { 4.0 } else { 2.0 };
            weight * function(from + width * i as f64)
        })
        .sum();
    (function(from) + inner + function(to)) * width / 3.0
}
