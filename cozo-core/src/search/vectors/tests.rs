//! Tests of whole indexes against exact searches over the plain formulas.

mod bytes;
mod codes;
mod exact;
mod filters;
mod graphs;
mod merges;

use super::ways::SearchCosts;
use super::*;

/// Numbers without pattern, always the same.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut x = self.0;
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ (x >> 31)
    }

    fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit as u64) as usize
    }

    /// About normally distributed around 0.
    fn float(&mut self) -> f32 {
        (0..6).map(|_| (self.next() >> 40) as f32 / (1 << 24) as f32).sum::<f32>() - 3.0
    }

    fn row(&mut self, dim: usize) -> Vec<f32> {
        (0..dim).map(|_| self.float()).collect()
    }
}

const L2: GraphOptions = GraphOptions {
    metric: Metric::L2,
    quantization: Quantization::None,
    m: 8,
    ef_construction: 60,
    extend_candidates: false,
    keep_pruned_connections: false,
};

fn random_rows(count: usize, dim: usize) -> Vec<Vec<f32>> {
    let mut numbers = Numbers(count as u64);
    (0..count).map(|_| numbers.row(dim)).collect()
}

/// Rows around few centers, in the order of the centers.
fn clustered_rows(count: usize, dim: usize, centers: usize) -> Vec<Vec<f32>> {
    let mut numbers = Numbers(7);
    let centers: Vec<Vec<f32>> = (0..centers).map(|_| numbers.row(dim).iter().map(|x| x * 50.0).collect()).collect();
    let center = |i: usize| &centers[i * centers.len() / count];
    (0..count).map(|i| numbers.row(dim).iter().zip(center(i)).map(|(x, center)| x + center).collect()).collect()
}

fn vectors(rows: &[Vec<f32>], precision: Precision) -> Vectors {
    let dim = rows.first().map_or(3, Vec::len);
    let mut vectors = Vectors::with_capacity(dim, precision, rows.len());
    for row in rows {
        vectors.push(row.as_slice().into()).expect("all have one length");
    }
    vectors
}

fn build(rows: &[Vec<f32>], options: GraphOptions) -> VectorIndex {
    let index = VectorIndex::build(vectors(rows, Precision::F32), options).expect("no budget");
    assert_eq!(index.verify(), []);
    index
}

fn query(vector: &[f32], k: usize, ef: usize) -> VectorQuery<'_> {
    VectorQuery { vector: vector.into(), k, ef, radius: None, allowed: None, originals: None }
}

fn distance(metric: Metric, a: &[f32], b: &[f32]) -> f64 {
    let sum = |f: fn(f64, f64) -> f64| a.iter().zip(b).map(|(a, b)| f(f64::from(*a), f64::from(*b))).sum::<f64>();
    let dot = sum(|a, b| a * b);
    match metric {
        Metric::L2 => sum(|a, b| (a - b) * (a - b)),
        Metric::InnerProduct => 1.0 - dot,
        Metric::Cosine => 1.0 - dot / (sum(|a, _| a * a) * sum(|_, b| b * b)).sqrt(),
    }
}

/// The `k` nearest of the rows that are allowed, with their distances.
fn nearest(
    metric: Metric,
    rows: &[Vec<f32>],
    to: &[f32],
    k: usize,
    is_allowed: impl Fn(usize) -> bool,
) -> Vec<(u32, f64)> {
    let allowed = (0..rows.len()).filter(|node| is_allowed(*node));
    let mut all: Vec<(u32, f64)> = allowed.map(|node| (node as u32, distance(metric, to, &rows[node]))).collect();
    all.sort_by(|a, b| {
        a.1.is_nan().cmp(&b.1.is_nan()).then(a.1.partial_cmp(&b.1).unwrap_or(a.0.cmp(&b.0))).then(a.0.cmp(&b.0))
    });
    all.truncate(k);
    all
}

/// The share of the wanted hits that were found: those at most as far away as the last of the nearest.
fn recall(found: &[Hit], nearest: &[(u32, f64)]) -> f64 {
    assert_eq!(found.len(), nearest.len());
    let bound = nearest.last().map_or(0.0, |(_, distance)| distance + distance.abs() * 1e-5 + 1e-6);
    let good = found.iter().filter(|hit| hit.distance <= bound || hit.distance.is_nan()).count();
    good as f64 / nearest.len().max(1) as f64
}

/// The mean recall of walks through the graph, however few nodes it has.
fn mean_recall(index: &VectorIndex, rows: &[Vec<f32>], queries: &[Vec<f32>], ef: usize) -> f64 {
    let (metric, mut scratch) = (index.options().metric, Scratch::default());
    let costs = SearchCosts::new(1, rows.len(), rows.len(), ef);
    assert!(index.has_graph());
    let recalls = queries.iter().map(|to| {
        let (prepared, _) = index.space.query(to.as_slice().into());
        let way = index.walk(None, prepared.probe(), ef, costs, &mut scratch, &mut 0);
        index.add_twins(None, &mut scratch);
        assert_eq!(way, SearchWay::Graph);
        let found = index.hits(&query(to, 10, ef), prepared.probe(), &scratch.list);
        recall(&found, &nearest(metric, rows, to, 10, |_| true))
    });
    recalls.sum::<f64>() / queries.len() as f64
}
