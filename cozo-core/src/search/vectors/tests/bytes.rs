//! Indexes as bytes.

use super::*;

fn indexes() -> Vec<VectorIndex> {
    let mut rows = random_rows(2200, 4);
    rows[5] = vec![f32::INFINITY, 0.0, 0.0, 0.0];
    rows[7] = rows[6].clone();
    let small = GraphOptions { m: 3, ef_construction: 8, ..L2 };
    let double = VectorIndex::build(vectors(&rows, Precision::F64), small).expect("no budget");
    let coded = GraphOptions { quantization: Quantization::Int8, metric: Metric::Cosine, ..small };
    vec![build(&rows, small), double, build(&rows, coded), build(&rows[..3], L2), build(&[], L2)]
}

#[test]
fn an_index_survives_as_bytes() {
    for index in indexes() {
        let bytes = index.to_bytes();
        let read = VectorIndex::from_bytes(&bytes).expect("the bytes are whole");
        assert!(read == index && read.to_bytes() == bytes);
    }
}

#[test]
fn cut_bytes_are_refused() {
    for index in indexes() {
        let bytes = index.to_bytes();
        for len in (0..bytes.len()).step_by(1 + bytes.len() / 500) {
            assert!(VectorIndex::from_bytes(&bytes[..len]).is_err());
        }
        assert!(VectorIndex::from_bytes(&[bytes.as_slice(), &[0]].concat()).is_err());
    }
}

#[test]
fn damaged_bytes_never_panic() {
    let mut numbers = Numbers(1);
    for index in indexes() {
        let bytes = index.to_bytes();
        for _ in 0..400 {
            let mut damaged = bytes.clone();
            for _ in 0..1 + numbers.below(4) {
                // The head is hit as often as the rest.
                let limit = if numbers.below(2) == 0 { 60.min(bytes.len()) } else { bytes.len() };
                let at = numbers.below(limit);
                damaged[at] ^= 1 << numbers.below(8);
            }
            if let Ok(read) = VectorIndex::from_bytes(&damaged) {
                let to = vec![0.5; read.dim().min(1000)];
                let found = read.search(query(&to, 5, 10), &mut Scratch::default()).expect("no budget");
                assert_eq!(found.hits.len(), 5.min(read.len()));
                read.verify();
            }
        }
    }
}
