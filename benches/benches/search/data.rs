//! What is searched: made from fixed seeds, and written as files for the peers.

use std::collections::HashMap;
use std::path::Path;

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

/// Elements of a vector.
pub const DIM: usize = 64;
/// How often each question is asked.
pub const QUERIES: usize = 200;
/// Words of a shingle.
pub const SHINGLE: usize = 3;
/// The file of the figures in the folder for the peers.
pub const FIGURES: &str = "figures.json";

const CLUSTERS: usize = 500;
const VOCABULARY: usize = 100_000;
/// Texts that were made from one another.
const COPIES: usize = 5;
/// The greatest share of words that a copy has replaced; each replaces up to three shingles.
const GREATEST_CHANGE: f64 = 0.3;
const SEED: u64 = 7;

/// Vectors, and queries for them.
pub struct Vectors {
    /// What is searched, by key.
    pub points: Vec<Vec<f32>>,
    /// Vectors near some of them.
    pub queries: Vec<Vec<f32>>,
}

impl Vectors {
    /// Vectors around centres.
    pub fn clustered(count: usize) -> Vectors {
        let random = &mut StdRng::seed_from_u64(SEED);
        let centres: Vec<Vec<f32>> =
            (0..CLUSTERS).map(|_| (0..DIM).map(|_| random.random::<f32>()).collect()).collect();
        let mut near = |some: &[Vec<f32>], by| {
            let from = random.random_range(0..some.len());
            moved(random, &some[from], by)
        };
        let points: Vec<Vec<f32>> = (0..count).map(|_| near(&centres, 0.3)).collect();
        let queries = (0..QUERIES).map(|_| near(&points, 0.2)).collect();
        Vectors { points, queries }
    }

    /// Writes the elements as little-endian bytes into `NAME.f32`, and the queries into `NAME-queries.f32`.
    pub fn write(&self, folder: &Path, name: &str) -> std::io::Result<()> {
        let bytes = |rows: &[Vec<f32>]| rows.iter().flatten().flat_map(|x| x.to_le_bytes()).collect::<Vec<u8>>();
        std::fs::write(folder.join(format!("{name}.f32")), bytes(&self.points))?;
        std::fs::write(folder.join(format!("{name}-queries.f32")), bytes(&self.queries))
    }
}

/// A vector at a distance of up to half of `by` in each element.
pub fn moved(random: &mut StdRng, from: &[f32], by: f32) -> Vec<f32> {
    from.iter().map(|x| x + by * (random.random::<f32>() - 0.5)).collect()
}

/// The tag of a row, by which filters choose: 0 to 999, each as frequent.
pub fn tag(k: usize) -> usize {
    k * 7919 % 1000
}

/// Texts of 6 to 20 words; the n-th word is n times as rare as the first.
pub fn zipf(count: usize) -> Vec<String> {
    let random = &mut StdRng::seed_from_u64(SEED);
    let mut sums: Vec<f64> = vec![];
    for n in 1..=VOCABULARY {
        sums.push(sums.last().unwrap_or(&0.0) + 1.0 / n as f64);
    }
    let total = sums[VOCABULARY - 1];
    let mut text = || {
        let mut words = vec![];
        for _ in 0..random.random_range(6..=20) {
            let drawn = random.random::<f64>() * total;
            words.push(format!("w{}", sums.partition_point(|sum| *sum < drawn)));
        }
        words.join(" ")
    };
    (0..count).map(|_| text()).collect()
}

/// Texts of 30 to 60 words. Every fifth is new, and the four behind it have some of its words replaced by others.
pub fn alike(count: usize) -> Vec<String> {
    let random = &mut StdRng::seed_from_u64(SEED);
    let word = |random: &mut StdRng| format!("w{}", random.random_range(0..VOCABULARY));
    let mut texts = vec![];
    let mut base: Vec<String> = vec![];
    for i in 0..count {
        let change = GREATEST_CHANGE * random.random::<f64>();
        if i % COPIES == 0 {
            base = (0..random.random_range(30..=60)).map(|_| word(random)).collect();
            texts.push(base.join(" "));
        } else {
            let mut copy = base.clone();
            copy.iter_mut().filter(|_| random.random_bool(change)).for_each(|known| *known = String::new());
            copy.iter_mut().filter(|known| known.is_empty()).for_each(|known| *known = word(random));
            texts.push(copy.join(" "));
        }
    }
    texts
}

/// All pairs of different texts that have a shingle in common, with the exact Jaccard similarity of their shingles.
pub fn similarities(texts: &[String]) -> HashMap<(usize, usize), f64> {
    let mut with_shingle: HashMap<&str, Vec<usize>> = HashMap::new();
    let mut sizes = vec![];
    for (k, text) in texts.iter().enumerate() {
        let mut shingles = shingles(text);
        shingles.sort_unstable();
        shingles.dedup();
        sizes.push(shingles.len());
        shingles.into_iter().for_each(|shingle| with_shingle.entry(shingle).or_default().push(k));
    }
    let mut common: HashMap<(usize, usize), usize> = HashMap::new();
    for texts in with_shingle.values() {
        for a in texts {
            texts.iter().filter(|b| a != *b).for_each(|b| *common.entry((*a, *b)).or_default() += 1);
        }
    }
    common.into_iter().map(|((a, b), n)| ((a, b), n as f64 / (sizes[a] + sizes[b] - n) as f64)).collect()
}

/// The runs of words of a text, with repetitions.
fn shingles(text: &str) -> Vec<&str> {
    let begins: Vec<usize> = std::iter::once(0).chain(text.match_indices(' ').map(|(at, _)| at + 1)).collect();
    let end_of = |last: usize| begins.get(last + 1).map_or(text.len(), |next| next - 1);
    let last_begin = begins.len().saturating_sub(SHINGLE);
    (0..=last_begin).map(|i| &text[begins[i]..end_of((i + SHINGLE - 1).min(begins.len() - 1))]).collect()
}

/// Writes texts, a line each, into `NAME.txt`.
pub fn write_texts(folder: &Path, name: &str, texts: &[String]) -> std::io::Result<()> {
    std::fs::write(folder.join(format!("{name}.txt")), texts.join("\n"))
}

/// Makes the folder for the peers, without the figures of another run.
pub fn clear(folder: &Path) -> std::io::Result<()> {
    std::fs::create_dir_all(folder)?;
    let figures = folder.join(FIGURES);
    if figures.exists() { std::fs::remove_file(figures) } else { Ok(()) }
}
