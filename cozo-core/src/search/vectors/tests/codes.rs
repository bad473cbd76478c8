//! Indexes of codes, which read the original vectors of their candidates.

use super::*;

struct Rows<'a>(&'a [Vec<f32>]);

impl Originals for Rows<'_> {
    fn read(&self, nodes: &[u32], take: &mut dyn FnMut(u32, VectorRef<'_>)) {
        assert!(nodes.is_sorted_by(|a, b| a < b));
        nodes.iter().for_each(|node| take(*node, self.0[*node as usize].as_slice().into()));
    }
}

#[test]
fn codes_find_what_vectors_find() {
    let (rows, queries) = (random_rows(6000, 24), random_rows(60, 24));
    for metric in [Metric::L2, Metric::Cosine, Metric::InnerProduct] {
        let options = GraphOptions { metric, ..L2 };
        let plain = build(&rows, options);
        let coded = build(&rows, GraphOptions { quantization: Quantization::Int8, ..options });
        assert!(coded.memory_bytes() < plain.memory_bytes());
        let (mut of_plain, mut of_coded, mut scratch) = (0.0, 0.0, Scratch::default());
        for to in &queries {
            let nearest = nearest(metric, &rows, to, 10, |_| true);
            let asked = VectorQuery { originals: Some(&Rows(&rows)), ..query(to, 10, 60) };
            let found = coded.search(asked, &mut scratch).expect("no budget");
            assert_eq!(found.way, SearchWay::Graph);
            of_plain += recall(&plain.search(query(to, 10, 60), &mut scratch).expect("no budget").hits, &nearest);
            of_coded += recall(&found.hits, &nearest);
            for hit in found.hits {
                let exact = distance(metric, to, &rows[hit.node as usize]);
                assert!((hit.distance - exact).abs() < 1e-4 * (1.0 + exact.abs()), "{hit:?} {exact}");
            }
        }
        assert!(of_coded > of_plain - 0.6, "{metric:?}: {of_coded} {of_plain}");
    }
}

#[test]
fn codes_take_a_quarter_of_large_vectors() {
    let rows = random_rows(2100, 128);
    let of = |quantization| VectorIndex::flat(vectors(&rows, Precision::F32), GraphOptions { quantization, ..L2 });
    assert!(of(Quantization::Int8).memory_bytes() as f64 <= 0.28 * of(Quantization::None).memory_bytes() as f64);
}

#[test]
fn originals_may_be_missing() {
    struct Even<'a>(Rows<'a>);
    impl Originals for Even<'_> {
        fn read(&self, nodes: &[u32], take: &mut dyn FnMut(u32, VectorRef<'_>)) {
            self.0.read(nodes, &mut |node, vector| {
                if node % 2 == 0 {
                    take(node, vector)
                }
            });
        }
    }
    let rows: Vec<Vec<f32>> = (0..6).map(|i| vec![i as f32, 1.0]).collect();
    let index =
        VectorIndex::flat(vectors(&rows, Precision::F32), GraphOptions { quantization: Quantization::Int8, ..L2 });
    let asked = VectorQuery { originals: Some(&Even(Rows(&rows))), ..query(&[0.0, 1.0], 10, 10) };
    let hits = index.search(asked, &mut Scratch::default()).expect("no budget").hits;
    assert_eq!(hits.iter().map(|hit| (hit.node, hit.distance)).collect::<Vec<_>>(), [(0, 0.0), (2, 4.0), (4, 16.0)]);
    let hits = index.search(query(&[0.0, 1.0], 2, 10), &mut Scratch::default()).expect("no budget").hits;
    assert!(hits[0].node == 0 && (hits[1].distance - 1.0).abs() < 0.1, "distances of codes");
}

#[test]
fn vectors_of_zeros_and_odd_ones_have_codes() {
    let rows = [vec![0.0, 0.0], vec![f32::NAN, 1.0], vec![1e-45, 0.0], vec![1.0, f32::INFINITY], vec![3e38, -3e38]];
    for metric in [Metric::L2, Metric::Cosine, Metric::InnerProduct] {
        let options = GraphOptions { quantization: Quantization::Int8, metric, ..L2 };
        let index = VectorIndex::flat(vectors(&rows, Precision::F32), options);
        let asked = VectorQuery { originals: Some(&Rows(&rows)), ..query(&[1.0, 0.0], 10, 10) };
        let hits = index.search(asked, &mut Scratch::default()).expect("no budget").hits;
        assert_eq!(hits.len(), 5);
        assert!(hits.is_sorted_by_key(|hit| hit.distance.is_nan()));
    }
}
